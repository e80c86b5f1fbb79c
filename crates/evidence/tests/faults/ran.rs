//! A run up to its documents, and what two runs have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Once};

use evidence::assemble;
use evidence::collection::{self, Connected};
use evidence::config::Config;
use evidence::env::{Clock, Env};
use evidence::evaluate::Status;
use evidence::report::{Event, Reporter};
use evidence::screen::Screen;
use evidence::source::{ConnectError, Surroundings};
use evidence::spool::Spool;

/// TLS is not used here, but the client wants to know whose it would be.
pub(crate) fn provider() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

struct Silent;

impl Reporter for Silent {
    fn event(&self, _event: Event<'_>) {}

    fn wants_debug(&self) -> bool {
        false
    }

    fn screen(&self, _screen: &Arc<Screen>) {}
}

/// A check, without what it was read from: rule and subject.
pub(crate) type Question = (String, String);

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    /// `sources/` and `derived/`, byte for byte. No file of theirs holds a time or a request's id, so that nothing has
    /// to be left out before two runs are compared.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// A question may have several answers: each page of a listing that is missing is one.
    pub(crate) checks: BTreeMap<Question, Vec<(Status, String)>>,
    /// Code, subject, message.
    pub(crate) errors: Vec<(String, String, String)>,
    /// Codes.
    pub(crate) warnings: BTreeSet<String>,
    pub(crate) retries: u64,
}

impl Ran {
    /// The artifacts' paths.
    pub(crate) fn artifacts(&self) -> BTreeSet<&str> {
        self.files.keys().map(String::as_str).filter(|path| path.starts_with("sources/")).collect()
    }

    /// Checks that say `pass`, `fail` or `not_applicable` and did not say so in `truth`: each is a lie.
    pub(crate) fn lies(&self, truth: &Ran) -> Vec<String> {
        let known = |question: &Question| truth.checks.get(question).map_or(&[][..], Vec::as_slice);
        let mut lies = Vec::new();
        for (question, verdicts) in &self.checks {
            for (status, reason) in verdicts {
                let told = known(question).iter().any(|(known, _)| known == status);
                if *status != Status::NotVerifiable && !told {
                    lies.push(format!(
                        "{question:?} is {status:?} ({reason}), and was {:?}",
                        known(question)
                    ));
                }
            }
        }
        // A check that is nowhere says that all is well, unless something says why.
        let missing = truth.checks.keys().filter(|question| !self.checks.contains_key(*question)).count();
        let said = !self.errors.is_empty() || self.warnings.contains("incomplete_listing");
        if missing > 0 && !said {
            lies.push(format!("{missing} checks are missing, and nothing says so"));
        }
        lies
    }

    /// Artifacts with other bytes than in `truth`.
    pub(crate) fn altered(&self, truth: &Ran) -> Vec<&str> {
        self.artifacts()
            .into_iter()
            .filter(|path| self.files[*path] != *truth.files.get(*path).unwrap_or(&Vec::new()))
            .collect()
    }

    /// Artifacts of `truth` that are not here.
    pub(crate) fn lost<'a>(&self, truth: &'a Ran) -> BTreeSet<&'a str> {
        truth.artifacts().into_iter().filter(|path| !self.files.contains_key(*path)).collect()
    }
}

/// Connects, collects, judges, and writes the documents; `sources` is the text below `sources:`.
pub(crate) fn run(
    controls: &str,
    sources: &str,
    variables: &[(&str, &str)],
    clock: Clock,
) -> Result<Ran, ConnectError> {
    provider();
    let env = Env::new(variables.iter().copied(), clock);
    let text = format!(
        "framework: soc2_type1\ncontrols: {controls}\nsources:\n{sources}bundle:\n  signing:\n    private_key_path: \
         key.pem\n"
    );
    let config = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &env)
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let surroundings = Surroundings { env: env.clone(), reporter: Arc::new(Silent), dry_run: false };
    let directory = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(directory.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let collection = runtime.block_on(async {
        let source = evidence::source::from_config(&config, &surroundings).remove(0);
        let secrets = source.credentials()?;
        let screen = Arc::new(Screen::new(&secrets.iter().map(String::as_str).collect::<Vec<_>>()));
        let session = Connected::Session(source.connect(Arc::clone(&screen)).await?);
        Ok(collection::gather(&[session], &screen, &mut spool, &env, &Silent).await.unwrap())
    });
    runtime.shutdown_background();
    let collection = collection?;
    let results = assemble::judge(&config, &collection);
    assemble::normalized(&mut spool, &config, &collection, &results).unwrap();
    assemble::hints(&mut spool, &collection).unwrap();
    let reader = spool.reader().unwrap();
    let mut files = BTreeMap::new();
    for item in reader.items() {
        let mut bytes = Vec::new();
        reader.content(item).read_to_end(&mut bytes).unwrap();
        assert!(files.insert(item.path.to_string(), bytes).is_none(), "{} twice", item.path);
    }
    let mut checks: BTreeMap<Question, Vec<(Status, String)>> = BTreeMap::new();
    for check in &collection.checks {
        let question = (check.rule.code.to_string(), check.subject.to_string());
        let verdict = (check.verdict.status, check.verdict.reason.code.to_string());
        // A verdict that rests on nothing is one that says so.
        if check.verdict.status == Status::Pass {
            assert!(!check.evidence.numbers().is_empty(), "{question:?} passes without evidence");
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
        retries: collection.sources.iter().map(|source| source.retries).sum(),
    })
}
