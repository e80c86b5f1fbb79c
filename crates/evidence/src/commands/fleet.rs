//! `evidence fleet`: collects many organizations with one configuration, and lists what became of each.
//!
//! An organization is a run of its own, with its own folder, bundle and exit code; they share the limits of the
//! credential. Nothing coordinates several machines: each takes its part, and the list of each names everything.

mod reporter;
pub(super) mod verify;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use evidence_bundle::key::SigningKey;
use evidence_bundle::time;
use evidence_bundle::trust::TrustRoot;
use evidence_http::Budgets;
use evidence_os::file;
use evidence_text::shown::counted;
use evidence_text::{Safe, safe, saturating_u64};
use sha2::{Digest as _, Sha256};

use self::reporter::{Bundle, OneRun};
use super::collect::{self, Beside};
use super::failure::print_error;
use super::notify::Notifier;
use super::trust;
use crate::cli::{CollectArgs, FleetArgs};
use crate::config::{Config, ConfigFile};
use crate::console;
use crate::day;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::fleet::{FILE_NAME, Fleet, Organization, Outcome, SIGNATURE_SUFFIX, severity};
use crate::interrupt::Interrupt;
use crate::previous::Series;
use crate::report::style::{BOLD, GREEN, RED, Style, YELLOW};
use crate::report::{Quiet, Reporter};
use crate::signing;
use crate::source::RunContext;
use crate::source::github::config::CodeHostConfig;
use crate::source::github::fleet::{Found, State, find};
use crate::source::github::names;
use crate::temporary;

/// Stands for the organizations of an app while its configuration is checked.
const ANY_NAME: &str = "organization";

/// How much of a file is hashed at a time.
const PIECE: usize = 64 * 1024;

/// What all runs of a fleet have in common.
struct Common<'a> {
    args: &'a FleetArgs,
    env: &'a Env,
    arguments: &'a [String],
    interrupt: &'a Interrupt,
    budgets: Budgets,
    key: SigningKey,
    trust: TrustRoot,
    framework: &'static str,
    /// A complete bundle since then is not collected again, in Unix seconds.
    since: i64,
    /// Whether a source keeps its answers, so that an interrupted run goes on.
    resume: bool,
}

/// Runs the command.
pub(super) fn run(args: &FleetArgs, env: &Env, arguments: &[String]) -> Result<Exit, Error> {
    let names = organizations(args)?;
    let since = since(args, env)?;
    // The first name stands for all: the template is checked as a whole before the first request.
    let first = names.first().map_or(ANY_NAME, String::as_str);
    let file = ConfigFile::new(args.config.as_deref(), &[]);
    let config = Config::load_for(first, file, env).map_err(Error::Config)?;
    let Some(code_host) = config.source::<CodeHostConfig>() else {
        return Err(Error::Usage {
            message: "a fleet needs sources.codehost: its organizations are those of the code host"
                .to_string(),
            help: "collect other sources with `evidence collect`".to_string(),
        });
    };
    let signing = signing::load(&config.bundle.signing, env).map_err(Error::Signing)?;
    let interrupt = Interrupt::watch().map_err(Error::System)?;
    let budgets = Budgets::default();
    let found = look_up(code_host, &names, env, &signing.cache_secret(), &budgets, &interrupt)?;
    let created = |source| Error::Output { directory: args.output.clone(), source };
    file::create_directory(&args.output).map_err(created)?;
    temporary::sweep(&args.output);
    let common = Common {
        args,
        env,
        arguments,
        interrupt: &interrupt,
        budgets,
        trust: trust::own(&signing.key.public_key(), &config.bundle.signing)?,
        key: signing.key,
        framework: config.framework.id,
        since,
        resume: config.sources.iter().any(|source| source.keeps_records()),
    };
    let (mut rows, mine) = common.sorted_out(found);
    common.head(&rows, mine.len());
    let (collected, worst) = common.collect_all(&mine);
    if let Some(exit) = interrupt.raised() {
        return Err(Error::Interrupted {
            exit,
            help: Some("run the same command again: it skips what is finished".into()),
        });
    }
    let exits = rows.iter().filter_map(|row| row.exit_code).filter_map(exit_of);
    let worst = exits.chain([worst]).max_by_key(|exit| severity(*exit)).unwrap_or(Exit::Success);
    rows.extend(collected);
    rows.sort_by_key(|row| row.organization.to_ascii_lowercase());
    let stamp = time::format(env.clock.now().as_second()).unwrap_or_default();
    let since = time::format(since).unwrap_or_default();
    let fleet = Fleet { organizations: rows, ..Fleet::new(stamp, common.framework, since, args.shard) };
    common.write(&fleet).map_err(|source| Error::Output { directory: args.output.clone(), source })?;
    common.tail(&fleet);
    if let Some(notifier) = Notifier::of(&config, false) {
        notifier.send(worst, env, &Quiet::default());
    }
    Ok(worst)
}

/// The names on the command line, valid and each once.
fn organizations(args: &FleetArgs) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for name in args.orgs.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !names::is_organization(name) {
            return Err(Error::Usage {
                message: format!("--orgs: {} is not the name of an organization", Safe::of(name).as_str()),
                help: "separate the names with commas: --orgs acme,acme-labs".to_string(),
            });
        }
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

/// The time of `--since`, or the start of this day, in UTC.
fn since(args: &FleetArgs, env: &Env) -> Result<i64, Error> {
    const DAY: i64 = 86_400;
    let Some(text) = &args.since else {
        return Ok(env.started().as_second().div_euclid(DAY) * DAY);
    };
    let of_day = day::date(text).and_then(|_| time::parse(&format!("{text}T00:00:00Z")));
    let of_time = text.parse::<jiff::Timestamp>().ok().map(|time| time.as_second());
    of_day.or(of_time).ok_or_else(|| Error::Usage {
        message: format!("--since {} is neither a day nor a time", Safe::of(text).as_str()),
        help: "write 2026-11-02, or 2026-11-02T18:30:00Z".to_string(),
    })
}

/// Looks the organizations up.
fn look_up(
    config: &CodeHostConfig,
    names: &[String],
    env: &Env,
    secret: &zeroize::Zeroizing<Vec<u8>>,
    budgets: &Budgets,
    interrupt: &Interrupt,
) -> Result<Vec<Found>, Error> {
    let quiet: Arc<dyn Reporter> = Arc::new(Quiet::default());
    let run = RunContext {
        env: env.clone(),
        reporter: quiet,
        screen: Arc::new(evidence_screen::shared().clone()),
        dry_run: false,
        resume: false,
        cache_secret: Arc::new(secret.clone()),
        budgets: budgets.clone(),
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::System)?;
    let found = runtime.block_on(collect::interruptible(interrupt, async {
        find(config, names, &run).await.map_err(|error| Error::Connect(vec![error]))
    }));
    runtime.shutdown_background();
    found
}

impl Common<'_> {
    /// Rows for what is not collected here, and the organizations that are.
    fn sorted_out(&self, found: Vec<Found>) -> (Vec<Organization>, Vec<Found>) {
        let (mut rows, mut mine) = (Vec::new(), Vec::new());
        for found in found {
            let row = |outcome, exit: Option<Exit>| Organization {
                exit_code: exit.map(Exit::code),
                ..empty_row(&found, outcome)
            };
            let elsewhere = self.args.shard.zip(found.id).is_some_and(|(shard, id)| !shard.has(id));
            match &found.state {
                State::NotAnOrganization => {
                    refused(&found.name, "the host has no organization of this name, or does not show it");
                    rows.push(row(Outcome::NotAnOrganization, Some(Exit::Connection)))
                }
                State::Suspended(since) => {
                    refused(&found.name, &format!("the app's installation is suspended since {since}"));
                    rows.push(row(Outcome::Suspended, Some(Exit::Collection)));
                }
                State::NotInstalled => {
                    refused(&found.name, "the app is not installed there");
                    rows.push(row(Outcome::NotInstalled, Some(Exit::Connection)));
                }
                State::Failed(why) => {
                    refused(&found.name, why);
                    rows.push(row(Outcome::Failed, Some(Exit::Connection)));
                }
                State::Ready if elsewhere => rows.push(row(Outcome::OtherShard, None)),
                State::Ready => mine.push(found),
            }
        }
        (rows, mine)
    }

    /// Collects these organizations, several at a time: their rows, and the worst exit code.
    fn collect_all(&self, mine: &[Found]) -> (Vec<Organization>, Exit) {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results = Mutex::new(Vec::with_capacity(mine.len()));
        let width = mine.iter().map(|found| found.name.len()).max().unwrap_or_default();
        thread::scope(|scope| {
            for _ in 0..usize::from(self.args.workers).min(mine.len()) {
                scope.spawn(|| {
                    while self.interrupt.raised().is_none() {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = mine.get(index) else { break };
                        let (row, exit, note) = self.one(found);
                        if self.interrupt.raised().is_some() && row.bundle.is_none() {
                            break;
                        }
                        let number = done.fetch_add(1, Ordering::Relaxed) + 1;
                        self.line(&row, &note, (number, mine.len()), width);
                        results.lock().unwrap_or_else(PoisonError::into_inner).push((row, exit));
                    }
                });
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let worst = results.iter().map(|(_, exit)| *exit).max_by_key(|exit| severity(*exit));
        (results.into_iter().map(|(row, _)| row).collect(), worst.unwrap_or(Exit::Success))
    }

    /// Collects one organization, unless a complete bundle of it is new enough.
    fn one(&self, found: &Found) -> (Organization, Exit, String) {
        let directory = self.args.output.join(&found.name);
        if let Some((path, id)) = self.finished(&directory, &found.name) {
            let bundle = Bundle { path, bundle_id: id, complete: true, failed: None };
            return self.row(found, Ok(Exit::Success), Some(bundle), "was finished before");
        }
        let args = CollectArgs {
            config: self.args.config.clone(),
            output: directory,
            upload: self.args.upload,
            dry_run: false,
            resume: self.resume,
            fail_on: None,
            ignore_waivers: false,
            reproducible: false,
            verbose: false,
            quiet: true,
        };
        let reporter = Arc::new(OneRun::new(&found.name));
        let beside = Beside {
            reporter: Arc::clone(&reporter) as Arc<dyn Reporter>,
            interrupt: self.interrupt,
            budgets: self.budgets.clone(),
            organization: Some(&found.name),
        };
        // The fleet as a whole notifies.
        let mut notifier = None;
        let env = self.env.clone().starting_now();
        let outcome = collect::collect(&args, &env, self.arguments, &beside, &mut notifier);
        let bundle = reporter.bundle();
        self.row(found, outcome, bundle, "")
    }

    /// The newest bundle in the folder, if it is complete and new enough.
    fn finished(&self, directory: &Path, organization: &str) -> Option<(std::path::PathBuf, String)> {
        let framework = self.framework;
        let series = Series { directory, organization, framework, trust: &self.trust, fixed_time: None };
        let (path, bundle) = series.newest_bundle()?;
        (bundle.complete && bundle.created_at >= self.since).then_some((path, bundle.manifest.bundle_id))
    }

    fn row(
        &self,
        found: &Found,
        outcome: Result<Exit, Error>,
        bundle: Option<Bundle>,
        note: &str,
    ) -> (Organization, Exit, String) {
        let exit = outcome.as_ref().map_or_else(Error::exit, |exit| *exit);
        if let Err(error) = &outcome
            && self.interrupt.raised().is_none()
        {
            let name = Safe::of(&found.name);
            console::note(&safe!("{RED}{name}{RED:#}\n"; RED, name));
            print_error(error);
        }
        let mut row = empty_row(found, Outcome::Failed);
        row.exit_code = Some(exit.code());
        let mut note = note.to_string();
        if let Some(bundle) = bundle {
            row.outcome = if bundle.complete { Outcome::Bundle } else { Outcome::Incomplete };
            row.sha256 = digest(&bundle.path).ok();
            let relative = bundle.path.strip_prefix(&self.args.output).ok();
            // Slashes on every system, because a list may be read elsewhere.
            row.bundle = relative.map(|path| {
                let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
                parts.collect::<Vec<_>>().join("/")
            });
            row.bundle_id = Some(bundle.bundle_id);
            if note.is_empty() {
                note = match bundle.failed {
                    Some(0) => "no failing check".to_string(),
                    Some(1) => "1 failing check".to_string(),
                    Some(failed) => format!("{} failing checks", evidence_text::thousands(failed)),
                    None => String::new(),
                };
            }
        }
        (row, exit, note)
    }

    /// Writes the list and its signature. Each replaces its predecessor as a whole.
    fn write(&self, fleet: &Fleet) -> io::Result<()> {
        let bytes = fleet.to_bytes().map_err(io::Error::other)?;
        let signature = self.key.sign(&bytes);
        let path = self.args.output.join(FILE_NAME);
        // The signature first: a list without its own signature does not verify, and is written again.
        for (name, bytes) in
            [(format!("{FILE_NAME}{SIGNATURE_SUFFIX}"), &signature[..]), (FILE_NAME.to_string(), &bytes[..])]
        {
            let new = temporary::create(&self.args.output)?;
            io::Write::write_all(&mut new.as_file(), bytes)?;
            new.as_file().sync_all()?;
            file::replace(new, &path.with_file_name(name), ())?;
        }
        let _ = file::sync_directory(&self.args.output);
        Ok(())
    }

    fn head(&self, rows: &[Organization], mine: usize) {
        if self.args.quiet {
            return;
        }
        let total = saturating_u64(rows.len() + mine);
        let all = counted(total, "organization", "organizations");
        let here = match self.args.shard {
            Some(shard) => format!("; {mine} in shard {shard}"),
            None => String::new(),
        };
        let workers = self.args.workers;
        let (here, workers) = (Safe::of(&here), u64::from(workers));
        console::note(
            &safe!("{BOLD}Fleet{BOLD:#}  {all}{here}; {workers} at once\n"; BOLD, all, here, workers),
        );
    }

    fn line(&self, row: &Organization, note: &str, (number, of): (usize, usize), width: usize) {
        if self.args.quiet {
            return;
        }
        let (style, word) = (style_of(row.outcome), row.outcome.words());
        let (name, note) = (Safe::of(&row.organization), Safe::of(note));
        let digits = of.to_string().len();
        let pad = Safe::of(&" ".repeat(width.saturating_sub(name.as_str().chars().count())));
        let count = Safe::of(&format!("{number:>digits$}/{of}"));
        let text = safe!(
            "  {count}  {name}{pad}  {style}{word:<10}{style:#}  {note}";
            count, name, pad, style, word, note
        );
        console::note(&safe!("{}\n", text.trimmed()));
    }

    fn tail(&self, fleet: &Fleet) {
        let path = self.args.output.join(FILE_NAME);
        let path = Safe::of(&path.to_string_lossy());
        if self.args.quiet {
            return console::print(&safe!("{path}\n"; path));
        }
        let tally = tally(fleet);
        console::print(&safe!("{BOLD}Fleet{BOLD:#}\n  {tally}\n  signed list  {path}\n"; BOLD, tally, path));
    }
}

/// `48 complete, 2 incomplete, 1 failed`
pub(super) fn tally(fleet: &Fleet) -> Safe {
    let parts = fleet.tally().into_iter().map(|(outcome, count)| {
        let (style, word) = (style_of(outcome), outcome.words());
        safe!("{style}{count} {word}{style:#}"; style, count, word)
    });
    Safe::joined(parts, ", ")
}

fn style_of(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Bundle => GREEN,
        Outcome::Incomplete | Outcome::Suspended => YELLOW,
        Outcome::Failed | Outcome::NotInstalled | Outcome::NotAnOrganization => RED,
        Outcome::OtherShard => Style::default(),
    }
}

fn empty_row(found: &Found, outcome: Outcome) -> Organization {
    Organization {
        organization: found.name.clone(),
        id: found.id,
        installation_id: found.installation,
        outcome,
        exit_code: None,
        bundle: None,
        bundle_id: None,
        sha256: None,
    }
}

/// Says why an organization cannot be collected.
fn refused(name: &str, why: &str) {
    let (name, why) = (Safe::of(name), Safe::of(why));
    console::note(&safe!("  {RED}{name}{RED:#}: {why}\n"; RED, name, why));
}

fn exit_of(code: u8) -> Option<Exit> {
    Exit::ALL.into_iter().find(|exit| exit.code() == code)
}

/// The SHA-256 of a file, in hex.
pub(super) fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher, mut piece) = (File::open(path)?, Sha256::new(), vec![0; PIECE]);
    loop {
        match io::Read::read(&mut file, &mut piece)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            read => hasher.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

/// Whether the path is the list of a fleet and not a bundle.
pub(super) fn is_list(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
        && fs::metadata(path).is_ok_and(|it| it.is_file())
}
