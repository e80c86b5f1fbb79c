//! Collection with scripted sessions: tests the order of sources and the handling of excluded artifacts.

use std::time::Duration;

use evidence_bundle::document::{Identity, Status};
use evidence_bundle::write::Listed as _;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::*;
use crate::evaluate::Basis;
use crate::evaluate::MADE_UP as RULE;
use crate::observation::{ArtifactKind, Inspection, Observation, Seen};
use crate::report::Quiet;
use crate::source::{CollectionItem, ConnectErrorKind, Plan, SessionSummary};
use evidence_http::Meta;
use evidence_rules::framework::{Control, Mapping};
use evidence_rules::rule::{Verdict, reason};

const TORTOISE: SourceName = SourceName::new("tortoise");
const HARE: SourceName = SourceName::new("hare");
const SECRET: &str = "a-credential-of-this-run";

static ASKED: &[&Rule] = &[&RULE];
static NOTE: ArtifactKind = ArtifactKind { name: "note", rules: &[&RULE] };
static FRAMEWORK: Framework = Framework {
    id: "made_up",
    name: "Made up",
    criteria: &[],
    controls: &[Control {
        id: "C1",
        title: "made up",
        about: "",
        rules: &[Mapping { rule: &RULE, criteria: &["C"], why: "", also: "", opt_in: false }],
    }],
};

#[derive(Clone, Copy)]
enum Step {
    /// Observe these files (name and text) and judge each of these subjects by them. The verdict is always a pass, so
    /// that only the engine can change it.
    Observe(&'static [(&'static str, &'static str)], &'static [&'static str]),
    Pause,
}

struct Scripted {
    name: SourceName,
    steps: &'static [Step],
}

impl Session for Scripted {
    fn name(&self) -> SourceName {
        self.name
    }

    fn rules(&self) -> &[&'static Rule] {
        ASKED
    }

    fn organization(&self) -> &str {
        "acme"
    }

    fn warnings(&self) -> &[Warning] {
        &[]
    }

    fn identity(&self) -> String {
        String::new()
    }

    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        async { Ok(Plan::default()) }.boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        let name = self.name;
        stream::iter(self.steps)
            .filter_map(move |step| async move {
                match *step {
                    Step::Pause => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        None
                    }
                    Step::Observe(files, subjects) => {
                        let observations = files.iter().map(|(file, text)| {
                            let meta = Meta { path: (*file).into(), status: 200, ..Meta::default() };
                            let seen = Seen::artifact(name, file, text, None, &meta);
                            Observation::new(name, &NOTE, *file, seen)
                        });
                        let inspection = Inspection::of(observations.collect());
                        Some(CollectionItem::Inspected(subjects.iter().fold(
                            inspection,
                            |inspection, subject| {
                                inspection.judged(&RULE, *subject, Verdict::pass("all good"))
                            },
                        )))
                    }
                }
            })
            .boxed()
    }

    fn account(&self) -> SessionSummary {
        SessionSummary {
            given_up: Vec::new(),
            api_url: String::new(),
            identity: Identity { login: None, id: None, scopes: String::new(), app: None },
            requests: 0,
            retries: 0,
            revalidated: 0,
            resumed: None,
            rate_limit: None,
            paused_seconds: 0,
            bulk: None,
        }
    }
}

fn session(name: SourceName, steps: &'static [Step]) -> Connected {
    Connected::Session(Box::new(Scripted { name, steps }), Vec::new())
}

/// The collection, and the names in the spool in order of arrival.
fn collected(sources: &[Connected]) -> (Collection, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(directory.path()).unwrap();
    let clock = crate::env::Clock::manual(jiff::Timestamp::UNIX_EPOCH);
    let env = Env::new::<&str, &str>([], clock);
    let screen = Screen::new(&[SECRET]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gathered = runtime
        .block_on(gather(sources, &FRAMEWORK, None, &screen, &mut spool, &env, &Quiet::default()))
        .unwrap();
    let items = spool.items().iter().map(|item| item.path().to_string()).collect();
    (gathered, items)
}

#[test]
fn the_order_of_the_results_does_not_depend_on_who_is_faster() {
    use Step::{Observe, Pause};
    let slow: &[Step] = &[
        Pause,
        Observe(&[("a.json", "slow")], &["a.json"]),
        Pause,
        Observe(&[("b.json", "slow")], &["b.json"]),
    ];
    let fast: &[Step] =
        &[Observe(&[("c.json", "fast")], &["c.json"]), Observe(&[("d.json", "fast")], &["d.json"])];
    let sources = [session(TORTOISE, slow), session(HARE, fast)];
    let (collection, spooled) = collected(&sources);
    let subjects: Vec<&str> = collection.checks.iter().map(|check| &*check.subject).collect();
    assert_eq!(subjects, ["a.json", "b.json", "c.json", "d.json"]);
    let names: Vec<&str> = collection.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["tortoise", "hare"]);
    // Concurrently: the second source did not wait for the first.
    assert_eq!(spooled.first().unwrap(), "sources/hare/c.json");
    // Every check is based on its own artifact.
    for check in &collection.checks {
        let [Basis::Artifact(number)] = check.evidence.all() else { panic!("{check:?}") };
        assert!(spooled[*number as usize].ends_with(&*check.subject));
    }
    assert!(collection.is_complete() && collection.answered && !collection.unconnected);
}

#[test]
fn a_judgement_rests_on_all_its_artifacts_and_on_none_that_was_left_out() {
    use Step::Observe;
    let steps: &[Step] = &[
        Observe(&[("one.json", "first"), ("two.json", "second")], &["both", "each"]),
        Observe(&[("three.json", "third"), ("bad.json", SECRET)], &["tainted"]),
        Observe(&[("four.json", "fourth")], &["alone"]),
    ];
    let (collection, spooled) = collected(&[session(HARE, steps)]);
    let spooled: Vec<&str> = spooled.iter().map(|path| path.trim_start_matches("sources/hare/")).collect();
    assert_eq!(spooled, ["one.json", "two.json", "three.json", "four.json"]);
    let seen: Vec<_> = collection
        .checks
        .iter()
        .map(|check| (&*check.subject, check.verdict.status, check.evidence.all().to_vec()))
        .collect();
    let expected = [
        ("both", Status::Pass, vec![Basis::Artifact(0), Basis::Artifact(1)]),
        ("each", Status::Pass, vec![Basis::Artifact(0), Basis::Artifact(1)]),
        // A judgement is dropped if an artifact it is based on is not in the bundle.
        ("tainted", Status::NotVerifiable, vec![Basis::Artifact(2), Basis::Observation(4)]),
        ("alone", Status::Pass, vec![Basis::Artifact(3)]),
    ];
    assert_eq!(seen, expected);
    assert_eq!(*collection.checks[2].verdict.reason, reason::EXCLUDED_BY_POLICY);
    assert_eq!(collection.excluded.len(), 1);
    assert!(!collection.is_complete());
}

#[test]
fn the_settings_of_an_unconnected_source_are_reported_as_not_read() {
    let scope = Scope {
        source: TORTOISE,
        organization: None,
        kind: "repository",
        subject: "acme".to_string(),
        api_url: "https://tortoise.example".to_string(),
        rules: vec![&RULE],
    };
    let error = ConnectError {
        source: TORTOISE,
        kind: ConnectErrorKind::Connection,
        message: format!("the host does not like {SECRET}"),
        help: Vec::new(),
        requests: 2,
        retries: 1,
        asked: Vec::new(),
    };
    let sources = [
        Connected::Failed(scope, error),
        session(HARE, &[Step::Observe(&[("a.json", "there")], &["a.json"])]),
    ];
    let (collection, spooled) = collected(&sources);
    assert_eq!(spooled, ["sources/hare/a.json"]);
    let [check, other] = collection.checks.as_slice() else { panic!("{:?}", collection.checks) };
    assert_eq!((check.verdict.status, check.source), (Status::NotVerifiable, TORTOISE));
    assert_eq!(*check.verdict.reason, reason::CONNECTION_FAILED);
    assert_eq!((other.verdict.status, other.source), (Status::Pass, HARE));
    let [error] = collection.errors.as_slice() else { panic!("{:?}", collection.errors) };
    assert_eq!((error.code.as_str(), error.source.as_str()), ("connection_failed", "tortoise"));
    assert!(!error.message.contains(SECRET), "{}", error.message);
    assert!(collection.unconnected && !collection.is_complete());
    assert_eq!((collection.sources[0].requests, collection.sources[0].retries), (Some(2), Some(1)));
    assert_eq!(collection.sources[0].failed, 1);
}
