//! A run up to its documents, and the comparison of two runs.

#[path = "../support/files.rs"]
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once};

use clap::Parser as _;
use evidence::assemble;
use evidence::cli::Cli;
use evidence::collection::{self, Connected};
use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::exit::Exit;
use evidence::report::{Event, Reporter};
use evidence::source::{ConnectError, RunContext};
use evidence::spool::Spool;
use evidence_bundle::SigningKey;
use evidence_bundle::document::{Document, Manifest, Normalized, RunRecord};
use evidence_bundle::read::{Expectations, Limits, UntrustedBundle};
use evidence_bundle::trust::TrustRoot;
use evidence_bundle::write::Listed as _;
use evidence_rules::rule::Status;
use evidence_screen::Screen;
use sandbox::Server;
use sha2::Digest as _;

/// The tests do not use TLS, but the client requires a crypto provider.
pub(crate) fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Parallel runs. Time-outs take most of the time.
const WORKERS: usize = 8;

/// The maximum number of failures to print.
const TOLD: usize = 20;

/// Runs `case` for all cases, several in parallel, and panics with the failures. Returns the number of cases.
pub(crate) fn side_by_side<T: Sync>(cases: Vec<T>, case: impl Fn(&T) -> Result<(), String> + Sync) -> usize {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(one) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(what) = case(one) {
                        failed.lock().unwrap().push(what);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    let printed = failed.iter().take(TOLD).cloned().collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} of {} cases:\n{printed}", failed.len(), cases.len());
    cases.len()
}

/// The number of requests that met a fault.
pub(crate) fn injected<Host>(server: &Server<Host>) -> u64 {
    server.faults_injected().values().sum()
}

/// Shared by all runs, because building a screen takes longer than a run. These hosts return no credentials.
static SCREEN: LazyLock<Arc<Screen>> = LazyLock::new(|| Arc::new(Screen::new(&[])));

struct Silent;

impl Reporter for Silent {
    fn event(&self, _event: Event<'_>) {}

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}

/// A check without its evidence: rule and subject.
pub(crate) type Question = (String, String);

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    /// `sources/` and `derived/`, byte for byte. Their files contain neither times nor request ids, so two runs compare
    /// directly.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// A check may have several verdicts: one for each missing page of a listing.
    pub(crate) checks: BTreeMap<Question, Vec<(Status, String)>>,
    /// Code, subject, message.
    pub(crate) errors: Vec<(String, String, String)>,
    /// Codes.
    pub(crate) warnings: BTreeSet<String>,
    pub(crate) retries: u64,
    /// Cached answers that the host confirmed.
    pub(crate) revalidated: u64,
    pub(crate) requests: u64,
}

/// A run's statements about an organization.
#[derive(PartialEq, Eq)]
pub(crate) struct Said<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    checks: &'a BTreeMap<Question, Vec<(Status, String)>>,
    errors: &'a [(String, String, String)],
    warnings: Vec<&'a str>,
}

/// Prints digests in place of the artifacts' bytes.
impl std::fmt::Debug for Said<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digest = |bytes: &Vec<u8>| hex::encode(&sha2::Sha256::digest(bytes)[..4]);
        let files: Vec<String> =
            self.files.iter().map(|(path, bytes)| format!("{path} {}", digest(bytes))).collect();
        let Said { checks, errors, warnings, .. } = self;
        write!(f, "{files:#?}\n{checks:?}\n{errors:?}\n{warnings:?}")
    }
}

/// How a run starts from the previous one, and how it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Course {
    /// The run resumes a killed run.
    pub(crate) resume: bool,
    /// The run is killed after collection, before it delivers anything.
    pub(crate) killed: bool,
}

impl Ran {
    /// The run's statements about the organization, without statements about the run itself.
    pub(crate) fn said(&self) -> Said<'_> {
        // The warning about resumed answers is not a statement about the organization.
        let warnings = self.warnings.iter().map(String::as_str).filter(|code| *code != "resumed").collect();
        Said { files: &self.files, checks: &self.checks, errors: &self.errors, warnings }
    }

    /// The artifacts' paths.
    pub(crate) fn artifacts(&self) -> BTreeSet<&str> {
        self.files.keys().map(String::as_str).filter(|path| path.starts_with("sources/")).collect()
    }

    /// Lies: checks that are `pass`, `fail` or `not_applicable` but were not so in `truth`.
    pub(crate) fn lies(&self, truth: &Ran) -> Vec<String> {
        let known = |question: &Question| truth.checks.get(question).map_or(&[][..], Vec::as_slice);
        let mut lies = Vec::new();
        for (question, verdicts) in &self.checks {
            for (status, reason) in verdicts {
                let expected = known(question).iter().any(|(known, _)| known == status);
                if *status != Status::NotVerifiable && !expected {
                    lies.push(format!(
                        "{question:?} is {status:?} ({reason}), and was {:?}",
                        known(question)
                    ));
                }
            }
        }
        // A missing check suggests that all is well, unless an error or a warning explains it.
        let missing = truth.checks.keys().filter(|question| !self.checks.contains_key(*question)).count();
        let said = !self.errors.is_empty() || self.warnings.contains("population_incomplete");
        if missing > 0 && !said {
            lies.push(format!("{missing} checks are missing, and nothing says so"));
        }
        lies
    }

    /// Artifacts whose bytes differ from `truth`.
    pub(crate) fn altered(&self, truth: &Ran) -> Vec<&str> {
        self.artifacts()
            .into_iter()
            .filter(|path| self.files[*path] != *truth.files.get(*path).unwrap_or(&Vec::new()))
            .collect()
    }

    /// Artifacts of `truth` that this run lacks.
    pub(crate) fn lost<'a>(&self, truth: &'a Ran) -> BTreeSet<&'a str> {
        truth.artifacts().into_iter().filter(|path| !self.files.contains_key(*path)).collect()
    }
}

/// Connects, collects, judges, and writes the documents; `sources` is the text below `sources:`.
/// The controls of a run with every rule.
pub(crate) const EVERYTHING: &str = "\"*\"";

pub(crate) fn run(
    controls: &str,
    sources: &str,
    variables: &[(&str, &str)],
    clock: Clock,
) -> Result<Ran, ConnectError> {
    run_on(Course::default(), controls, sources, variables, clock)
}

/// The same for a run that is killed or that resumes a killed one.
pub(crate) fn run_on(
    course: Course,
    controls: &str,
    sources: &str,
    variables: &[(&str, &str)],
    clock: Clock,
) -> Result<Ran, ConnectError> {
    provider();
    let env = Env::new(variables.iter().copied(), clock);
    // Everything that there is, or what the first framework has.
    let framework = if controls == EVERYTHING { "tsc_2017" } else { "soc2_type1" };
    let text = format!(
        "framework: {framework}\ncontrols: {controls}\nsources:\n{sources}bundle:\n  signing:\n    private_key_path: \
         key.pem\n"
    );
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env)
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let surroundings = RunContext {
        env: env.clone(),
        reporter: Arc::new(Silent),
        screen: Arc::clone(&SCREEN),
        dry_run: false,
        resume: course.resume,
        cache_secret: Arc::default(),
        budgets: evidence_http::Budgets::default(),
    };
    let directory = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(directory.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let collection = runtime.block_on(async {
        let session = Connected::Session(config.sources[0].connect(&surroundings).await?, Vec::new());
        let gathered = collection::gather(
            std::slice::from_ref(&session),
            config.framework,
            None,
            &SCREEN,
            &mut spool,
            &env,
            &Silent,
        )
        .await
        .unwrap();
        session.session().filter(|_| !course.killed).inspect(|session| session.delivered());
        Ok(gathered)
    });
    runtime.shutdown_background();
    let collection = collection?;
    let results = assemble::judge(&config, &collection);
    assemble::normalized(&mut spool, &config, &collection, &results).unwrap();
    assemble::hints(&mut spool, &config, &collection).unwrap();
    let reader = spool.reader().unwrap();
    let mut files = BTreeMap::new();
    for item in reader.items().iter() {
        let mut bytes = Vec::new();
        reader.content(item).read_to_end(&mut bytes).unwrap();
        assert!(files.insert(item.path().to_string(), bytes).is_none(), "{} twice", item.path());
    }
    let mut checks: BTreeMap<Question, Vec<(Status, String)>> = BTreeMap::new();
    for check in &collection.checks {
        let question = (check.rule.code.to_string(), check.subject.to_string());
        let verdict = (check.verdict.status, check.verdict.reason.code.to_string());
        // A check without evidence must not pass.
        if check.verdict.status == Status::Pass {
            assert!(!check.evidence.all().is_empty(), "{question:?} passes without evidence");
        }
        checks.entry(question).or_default().push(verdict);
    }
    let errors = collection.errors.iter();
    Ok(Ran {
        files,
        checks,
        errors: errors
            .map(|error| (error.code.clone(), error.subject.clone(), error.message.clone()))
            .collect(),
        warnings: collection.warnings.iter().map(|warning| warning.code.clone()).collect(),
        retries: collection.sources.iter().filter_map(|source| source.retries).sum(),
        revalidated: collection.sources.iter().filter_map(|source| source.revalidated).sum(),
        requests: collection.sources.iter().filter_map(|source| source.requests).sum(),
    })
}

/// A run of the whole command, with its verified bundle.
pub(crate) fn whole(source: &str, variables: &[(&str, &str)], clock: Clock) -> (Exit, Ran) {
    provider();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (config, key, out) = (path("evidence.yaml"), path("key.pem"), path("out"));
    let text = format!(
        "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\nsources:\n{source}bundle:\n  signing:\n    \
         private_key_path: {}\n",
        key.display()
    );
    std::fs::write(&config, text).unwrap();
    let signing = SigningKey::from_seed(&[7; 32]);
    std::fs::write(&key, signing.to_pkcs8_v1_pem().unwrap().as_bytes()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let arguments =
        ["evidence", "collect", "-q", "-c", config.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let arguments = arguments.map(str::to_string);
    let env = Env::new(variables.iter().copied(), clock);
    let exit = evidence::commands::run(Cli::parse_from(&arguments), &env, &arguments);
    let bundle = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    (exit, opened(&bundle, &signing))
}

/// The contents of a bundle; panics if it does not verify.
fn opened(bundle: &Path, signing: &SigningKey) -> Ran {
    let mut trust = TrustRoot::new();
    trust.add_key("the tests' key", signing.public_key());
    let bundle = UntrustedBundle::new(File::open(bundle).unwrap());
    let mut files = files::Files::default();
    bundle.verify_into(&trust, &Expectations::default(), &Limits::default(), &mut files).unwrap();
    let mut files = files.by_path;
    let normalized: Normalized = serde_json::from_slice(&files[Document::Normalized.path()]).unwrap();
    let manifest: Manifest = serde_json::from_slice(&files[Document::Manifest.path()]).unwrap();
    let record: RunRecord = serde_json::from_slice(&files[Document::Run.path()]).unwrap();
    assert_eq!(manifest.complete, manifest.errors.is_empty(), "nothing is left out here");
    let mut checks: BTreeMap<Question, Vec<(Status, String)>> = BTreeMap::new();
    for check in normalized.controls.into_iter().flat_map(|control| control.checks) {
        checks.entry((check.rule, check.subject)).or_default().push((check.status, check.reason));
    }
    files.retain(|path, _| path.starts_with("sources/") || path.starts_with("derived/"));
    Ran {
        files,
        checks,
        errors: manifest.errors.into_iter().map(|error| (error.code, error.subject, error.message)).collect(),
        warnings: manifest.warnings.into_iter().map(|warning| warning.code).collect(),
        retries: record.sources.iter().filter_map(|source| source.retries).sum(),
        revalidated: record.sources.iter().filter_map(|source| source.revalidated).sum(),
        requests: record.sources.iter().filter_map(|source| source.requests).sum(),
    }
}
