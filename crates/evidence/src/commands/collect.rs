//! `evidence collect`: the specification's six steps and the optional upload, from top to bottom.

mod options;

use std::cell::Cell;
use std::sync::Arc;

use evidence_bundle::document::{Counts, Warning};

use self::options::{check_resume, documents_env, resumable};
use super::next::next;
use super::notify::Notifier;
use super::trust;
use super::upload;
use crate::assemble::{self, ManifestContext, RunInfo};
use crate::cause;
use crate::cli::{CollectArgs, FailOn};
use crate::collection::{self, Collection, Connected};
use crate::config::{Config, ConfigFile};
use crate::deliver::{Delivery, OutputDirectory};
use crate::env::Env;
use crate::error::Error;
use crate::evaluate::ControlResult;
use crate::exit::Exit;
use crate::finding::group::Findings;
use crate::interrupt::Interrupt;
use crate::origin::Origin;
use crate::people::PeopleMap;
use crate::previous::{self, Series};
use crate::report::{Event, Quiet, Reporter, Terminal};
use crate::retention;
use crate::signing::{self, LoadedKey};
use crate::source::{ConnectError, ConnectErrorKind, RunContext, Session};
use crate::spool::Spool;
use crate::waivers::{self, Accepted, Gate, Waivers};
use evidence_http::{Budgets, Proxy, recorded};
use evidence_screen::{self, Screen};
use evidence_text::saturating_u64;

/// The warnings that depend on this machine and not on what the sources answer: a reproducible bundle has none of them.
const OF_THE_RUN: [&str; 4] =
    ["clock_skewed", "endpoint_given_up", "signing_key_readable", "signing_key_unchecked"];

/// The maximum number of reasons listed when no evidence could be collected.
const REASONS_SHOWN: usize = 5;

/// What a run shares with others beside it.
pub(super) struct Beside<'a> {
    /// Who is told of the run.
    pub(super) reporter: Arc<dyn Reporter>,
    /// Raised when the user stops all of them.
    pub(super) interrupt: &'a Interrupt,
    /// The limits of the credentials that they use.
    pub(super) budgets: Budgets,
    /// The organization, if the configuration is a template.
    pub(super) organization: Option<&'a str>,
}

/// Runs the command.
pub(super) fn run(args: &CollectArgs, env: &Env, arguments: &[String]) -> Result<Exit, Error> {
    let reporter: Arc<dyn Reporter> =
        if args.quiet { Arc::new(Quiet::default()) } else { Arc::new(Terminal::new(args.verbose)) };
    let interrupt = Interrupt::watch().map_err(Error::System)?;
    let budgets = Budgets::default();
    let beside = Beside { reporter, interrupt: &interrupt, budgets, organization: None };
    let mut notifier = None;
    let outcome = collect(args, env, arguments, &beside, &mut notifier);
    if let Some(notifier) = notifier {
        let exit = outcome.as_ref().map_or_else(Error::exit, |exit| *exit);
        notifier.send(exit, env, &*beside.reporter);
    }
    outcome
}

/// One run, from the configuration to the upload. Sets the notifier once the configuration is valid.
pub(super) fn collect(
    args: &CollectArgs,
    env: &Env,
    arguments: &[String],
    beside: &Beside<'_>,
    notifier: &mut Option<Notifier>,
) -> Result<Exit, Error> {
    let started = env.started();
    let (reporter, interrupt) = (&beside.reporter, beside.interrupt);
    let failed = |source| Error::Spool { directory: args.output.clone(), source };

    // 1. Validate the configuration, and everything else that can be checked before the first request.
    let env = &documents_env(args, env)?;
    let file = ConfigFile::new(args.config.as_deref(), &[]);
    let config = match beside.organization {
        Some(organization) => Config::load_for(organization, file, env),
        None => Config::load(file, env),
    };
    let config = config.map_err(Error::Config)?;
    *notifier = Notifier::of(&config, args.dry_run);
    let waivers = config.waivers.as_ref().map(|path| Waivers::load(path, config.framework, env));
    let waivers = waivers.transpose().map_err(Error::Config)?;
    let sources: Vec<&str> = config.sources.iter().map(|source| source.kind().name.id()).collect();
    let map = config.people.as_ref().map(|path| PeopleMap::load(path, &sources));
    let map = map.transpose().map_err(Error::Config)?;
    let controls = assemble::controls(&config);
    reporter.event(Event::Source { path: &config.path, framework: config.framework, controls: &controls });
    let signing = signing::load(&config.bundle.signing, env).map_err(Error::Signing)?;
    let trust = trust::own(&signing.key.public_key(), &config.bundle.signing)?;
    let upload = upload::intended(args, &config, env, &**reporter)?;
    check_resume(args, &config)?;
    let mut origins: Vec<Origin> = config.sources.iter().flat_map(|source| source.origins(env)).collect();
    file.check_origins(&origins).map_err(Error::Config)?;
    Proxy::from_env(env).check(origins.iter().map(|origin| &origin.url)).map_err(Error::Proxy)?;
    let screen = Arc::new(evidence_screen::shared().clone());
    let credentials = credentials(&config, env)?;
    screen.learn(credentials);
    screen.learn(&signing.secrets);
    // The platform's key is in the environment whether or not an upload was requested.
    let platform = config.upload.as_ref().and_then(|upload| env.secret(&upload.api_key_env).ok().flatten());
    screen.learn(platform.iter().map(|key| key.text().trim()));
    if let Some(waivers) = &waivers {
        waivers.check(&screen).map_err(Error::Config)?;
    }
    reporter.screen(&screen);
    origins.extend(upload.as_ref().map(|target| target.origin(env)));
    reporter.event(Event::Origins(&origins));
    let mut own_warnings = own_warnings(&signing, env);
    own_warnings.extend(assemble::uncollected(&config).into_iter().map(|error| Warning {
        code: "control_not_collected".to_string(),
        message: error.message,
        source: None,
        subject: Some(error.subject),
    }));
    own_warnings.extend(waivers.iter().flat_map(Waivers::warnings));
    own_warnings.iter().for_each(|warning| reporter.event(Event::Warning(warning)));

    let surroundings = RunContext {
        env: env.clone(),
        reporter: Arc::clone(reporter),
        screen: Arc::clone(&screen),
        dry_run: args.dry_run,
        resume: args.resume,
        cache_secret: Arc::new(signing.cache_secret()),
        budgets: beside.budgets.clone(),
    };

    let uploading = upload::UploadContext { env, interrupt, screen: &screen, reporter };
    let ask_platform = |dry_run| match &upload {
        Some(target) => upload::check(target, &signing.key.public_key().key_id(), dry_run, &uploading),
        None => Ok(()),
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::System)?;
    if args.dry_run {
        let outcome = runtime.block_on(interruptible(interrupt, dry_run(&config, &surroundings)));
        runtime.shutdown_background();
        let exit = outcome?;
        if let Some(waivers) = &waivers {
            for expiry in waivers::expiries(waivers, started.as_second()) {
                reporter.event(Event::Warning(&expiry.warning()));
            }
        }
        ask_platform(true)?;
        return Ok(exit);
    }
    ask_platform(false)?;
    let _directory = OutputDirectory::prepare(&args.output)?;
    let mut spool = Spool::new(&args.output).map_err(failed)?;

    // 2. Test the connections, and 3. collect the artifacts.
    let collecting = Cell::new(false);
    let gathered = runtime.block_on(interruptible(interrupt, async {
        let connected = connect(&config, &surroundings).await?;
        collecting.set(true);
        let organization = organization(&config, &connected);
        let gathered = collection::gather(
            &connected,
            config.framework,
            map.as_ref(),
            &screen,
            &mut spool,
            env,
            &**reporter,
        )
        .await;
        Ok((gathered.map_err(failed)?, organization, connected))
    }));
    // Dropping the runtime would wait for a pending name resolution, even after Ctrl-C.
    runtime.shutdown_background();
    if gathered.is_err() {
        reporter.event(Event::Stopped);
    }
    let (mut collection, organization, connected) = gathered.map_err(|error| match collecting.get() {
        true => resumable(error, args, &config, arguments),
        false => error,
    })?;
    if !collection.answered && !collection.errors.is_empty() {
        return Err(Error::NothingCollected { reasons: reasons(&collection), exit: outcome(&collection) });
    }
    collection.warnings.extend(own_warnings);
    if env.is_reproducible() {
        collection.warnings.retain(|warning| !OF_THE_RUN.contains(&warning.code.as_str()));
    }
    collection.errors.extend(assemble::uncollected(&config));

    // 4. Normalize, and 5. generate hints.
    let exit = outcome(&collection);
    let results = assemble::judge(&config, &collection);
    let context = RunInfo {
        started,
        command: arguments.iter().map(|argument| screen.redact(argument).into_owned()).collect(),
        exit_code: exit.code(),
    };
    assemble::observed(&mut spool, &config, env, &collection, &organization, &screen).map_err(failed)?;
    assemble::normalized(&mut spool, &config, &collection, &results).map_err(failed)?;
    assemble::hints(&mut spool, &config, &collection).map_err(failed)?;
    let accepted = waivers.as_ref().map(|waivers| {
        let at = env.fixed_time().unwrap_or(started.as_second());
        let with_path = !env.is_reproducible();
        waivers::document(&mut spool, waivers, &collection, &results, at, with_path)
    });
    let accepted = accepted.transpose().map_err(failed)?;
    assemble::run(&mut spool, &config, env, &collection, &screen, &context).map_err(failed)?;
    let findings = Findings::of(&controls, &collection, &config.settings);
    let causes = cause::of_collection(&collection, &connected, &findings.groups);
    // The documents about the checks are written, and the manifest does not contain checks.
    drop(std::mem::take(&mut collection.checks));

    // 6. Create the bundle.
    let series = Series {
        directory: &args.output,
        organization: &organization,
        framework: config.framework.id,
        trust: &trust,
        fixed_time: env.fixed_time(),
    };
    let previous = series.newest();
    let manifest = ManifestContext {
        organization: &organization,
        key: &signing.key,
        previous: previous.as_ref().map(|previous| &previous.record),
    };
    let delivery = Delivery {
        directory: &args.output,
        key: &signing.key,
        organization: &organization,
        reproducible: env.is_reproducible(),
        limit: config.bundle.max_size_bytes,
        detached_signature: config.bundle.detached_signature,
        interrupt,
    };
    let delivered = delivery.deliver(&mut spool, env.document_time(), |spool, created_at| {
        assemble::last(spool, &config, &collection, &manifest, created_at)
    });
    let delivered = delivered.map_err(|error| resumable(error, args, &config, arguments))?;
    connected.iter().filter_map(Connected::session).for_each(Session::delivered);
    let artifacts = spool.items().iter().filter(|item| item.is_artifact()).count();
    let key = signing.key.public_key();
    let next = next(&delivered.path, &config.path, &config.bundle.signing, &key, env);
    let shown = previous.filter(|_| !args.quiet);
    let since = shown.and_then(|previous| previous::since(&previous, &delivered.path, &trust));
    reporter.event(Event::Judged {
        scopes: &collection.populations,
        results: &results,
        findings: &findings,
        waivers: accepted.as_ref(),
        since: since.as_ref(),
        show: &next.show,
    });
    reporter.event(Event::Delivered {
        path: &delivered.path,
        signature: delivered.signature.as_deref(),
        bundle_id: &delivered.bundle_id,
        checksums_sha256: &delivered.checksums_sha256,
        bytes: delivered.bytes,
        artifacts: saturating_u64(artifacts),
        controls: &controls,
        complete: collection.is_complete(),
        check: [&next.verify, &next.show],
        upload: &next.upload,
    });
    reporter.event(Event::Incomplete(&causes));
    let exit = match exit {
        Exit::Success => gate(args, &results, accepted.as_ref(), &**reporter),
        exit => exit,
    };
    // Only a run that ends with 0 replaces older bundles.
    let keep = config.bundle.keep.filter(|_| exit == Exit::Success);
    let prune = || keep.into_iter().for_each(|keep| retention::prune(&series, keep, &**reporter));
    let Some(target) = upload else {
        prune();
        return Ok(exit);
    };

    // 7. Upload, if requested.
    let new = upload::NewBundle {
        bundle: &delivered.path,
        complete: collection.is_complete(),
        key,
        again: next.upload,
    };
    upload::collected(&target, &new, &uploading)?;
    prune();
    Ok(exit)
}

/// The exit code of a run that is otherwise successful: that of the gate, if one is given and not met.
fn gate(
    args: &CollectArgs,
    results: &[ControlResult],
    accepted: Option<&Accepted>,
    reporter: &dyn Reporter,
) -> Exit {
    let Some(fail_on) = args.fail_on else { return Exit::Success };
    let sum = |count: fn(&Counts) -> u64| results.iter().map(|result| count(&result.counts)).sum::<u64>();
    let failed = sum(|counts| counts.fail);
    let accepted = accepted.filter(|_| !args.ignore_waivers);
    let waived = accepted.map_or(0, |accepted| accepted.summary.failed_waived);
    let not_verifiable = sum(|counts| counts.not_verifiable);
    let gate = Gate { failed: failed.saturating_sub(waived), waived, not_verifiable };
    match gate.refusal(fail_on == FailOn::NotVerifiable) {
        Some(refusal) => {
            reporter.event(Event::Gate(&refusal));
            Exit::Differs
        }
        None => Exit::Success,
    }
}

/// The exit code of the collection. A source that could not be connected outweighs a missing artifact, which outweighs
/// an excluded one. Non-compliance is not an error.
fn outcome(collection: &Collection) -> Exit {
    if collection.unconnected {
        Exit::Connection
    } else if !collection.errors.is_empty() || collection.lacking {
        Exit::Collection
    } else if !collection.excluded.is_empty() {
        Exit::Policy
    } else {
        Exit::Success
    }
}

/// Runs `work` until it finishes or a signal arrives.
pub(super) async fn interruptible<T>(
    interrupt: &Interrupt,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        outcome = work => outcome,
        exit = interrupt.wait() => Err(Error::Interrupted { exit, help: None }),
    }
}

/// Connects every source concurrently. A failed source does not stop the others, unless the error is in the
/// configuration or no source is left. Every failure is reported, not only the first.
async fn connect(config: &Config, run: &RunContext) -> Result<Vec<Connected>, Error> {
    let attempts = config.sources.iter().map(|source| async move {
        let (attempt, asked) = recorded(source.connect(run)).await;
        let attempt = match attempt {
            Ok(session) => Ok((session, asked)),
            Err(error) => Err(error.asked(asked)),
        };
        (source.scope(), attempt)
    });
    let mut connected = Vec::new();
    for (scope, attempt) in futures_util::future::join_all(attempts).await {
        connected.push(match attempt {
            Ok((session, asked)) => Connected::Session(session, asked),
            Err(error) => Connected::Failed(scope, redacted(error, &run.screen)),
        });
    }
    let errors = || connected.iter().filter_map(Connected::error);
    let misconfigured = errors().any(|error| error.kind == ConnectErrorKind::Configuration);
    let none_left = connected.iter().all(|source| source.error().is_some());
    for source in &connected {
        match source {
            Connected::Session(session, _) => report_connection(&**session, &*run.reporter),
            Connected::Failed(..) if misconfigured || none_left => {}
            Connected::Failed(_, error) => run.reporter.event(Event::Unconnected(error)),
        }
    }
    if misconfigured || none_left { Err(Error::Connect(errors().cloned().collect())) } else { Ok(connected) }
}

fn report_connection(session: &dyn Session, reporter: &dyn Reporter) {
    let account = session.account();
    reporter.event(Event::Connected {
        source: session.name(),
        organization: session.organization(),
        api_url: &account.api_url,
        identity: &session.identity(),
        rate_limit: account.rate_limit.as_ref(),
    });
    session.warnings().iter().for_each(|warning| reporter.event(Event::Warning(warning)));
}

/// The organization that the bundle describes: the first that a configured source names, spelled as its host spells it;
/// else that of the first connected source.
fn organization(config: &Config, connected: &[Connected]) -> String {
    let of_host = |source: &Connected| source.session().map(|session| session.organization().to_string());
    let configured = config.sources.iter().zip(connected).find_map(|(source, connected)| {
        let organization = source.scope().organization?;
        Some(of_host(connected).unwrap_or(organization))
    });
    configured.or_else(|| connected.iter().find_map(of_host)).unwrap_or_default()
}

/// Redacts the error: it quotes the host, and a host may quote the token.
fn redacted(error: ConnectError, screen: &Screen) -> ConnectError {
    let clean = |text: String| screen.redact(&text).into_owned();
    let help = error.help.into_iter().map(clean).collect();
    ConnectError { message: clean(error.message), help, ..error }
}

/// Plans the collection. Ends with the code that the collection would end with, as far as the plan can see.
async fn dry_run(config: &Config, run: &RunContext) -> Result<Exit, Error> {
    let connected = connect(config, run).await?;
    let plans = connected.iter().map(|source| async move {
        match source {
            Connected::Session(session, _) => (session.name(), session.plan().await),
            Connected::Failed(scope, error) => (scope.source, Err(error.clone())),
        }
    });
    let plans = futures_util::future::join_all(plans).await;
    let plans: Vec<_> = plans
        .into_iter()
        .map(|(source, plan)| (source, plan.map_err(|error| redacted(error, &run.screen))))
        .collect();
    run.reporter.event(Event::Planned {
        framework: config.framework,
        plans: &plans,
        missing: &connected.iter().filter_map(Connected::scope).collect::<Vec<_>>(),
        max_size_bytes: config.bundle.max_size_bytes,
        now: run.env.clock.now(),
    });
    let warnings = connected.iter().filter_map(Connected::session).flat_map(Session::warnings);
    let mut causes = cause::of_plans(&plans);
    causes.extend(cause::of_refusals(warnings));
    causes.extend(cause::of_errors(&assemble::uncollected(config)));
    run.reporter.event(Event::Incomplete(&causes));
    Ok(if connected.iter().any(|source| source.error().is_some()) {
        Exit::Connection
    } else if causes.is_empty() {
        Exit::Success
    } else {
        Exit::Collection
    })
}

/// The credentials in use. Reports all that are missing or invalid before the first request to any source.
fn credentials(config: &Config, env: &Env) -> Result<Vec<String>, Error> {
    let (mut credentials, mut errors) = (Vec::new(), Vec::new());
    for source in &config.sources {
        match source.credentials(env) {
            Ok(found) => credentials.extend(found),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(credentials) } else { Err(Error::Connect(errors)) }
}

/// The run's warnings about itself, for the screen and the manifest.
fn own_warnings(signing: &LoadedKey, env: &Env) -> Vec<Warning> {
    let warning = |code: &str, message: String| Warning {
        code: code.to_string(),
        message,
        source: None,
        subject: None,
    };
    let key = signing.warning.as_ref().map(|key| warning(key.code, key.message.clone()));
    let fixed = env.fixed_time().map(|seconds| {
        let time = evidence_bundle::time::format(seconds).unwrap_or_default();
        let text = format!(
            "every time in this bundle is {time}, set with --reproducible: when it was collected is not recorded"
        );
        warning("fixed_time", text)
    });
    key.into_iter().chain(fixed).collect()
}

/// The distinct reasons why nothing was collected.
fn reasons(collection: &Collection) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for error in &collection.errors {
        let reason = format!("{}: {}", error.subject, error.message);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let more = reasons.len().saturating_sub(REASONS_SHOWN);
    reasons.truncate(REASONS_SHOWN);
    if more > 0 {
        reasons.push(format!("and {more} more"));
    }
    reasons
}
