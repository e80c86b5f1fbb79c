//! Collection with made-up sessions: what the hosts are is not the point, but who was faster and what was left out.

use std::time::Duration;

use evidence_bundle::document::{RequestRecord, Status, write_json};
use evidence_bundle::path::BundlePath;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::Serialize;

use super::*;
use crate::control::Control;
use crate::observation::Record;
use crate::report::Quiet;
use crate::rule::{Facts, Rule, Verdict};
use crate::source::{Account, ConnectErrorKind, Plan};

const TORTOISE: SourceName = SourceName::new("tortoise");
const HARE: SourceName = SourceName::new("hare");
const SECRET: &str = "a-credential-of-this-run";

static RULE: Rule = Rule {
    code: "made-up",
    control: Control::Cc7_2,
    expected: "something",
    permission: "Grant it.",
    improvement: None,
};

/// A record that passes, or that is judged with others.
#[derive(Debug, Serialize)]
struct Note {
    text: &'static str,
    #[serde(skip)]
    alone: bool,
}

impl Record for Note {
    fn artifact_type(&self) -> &'static str {
        "note"
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, self)
    }

    fn judge(&self) -> Option<Verdict> {
        self.alone.then(|| Verdict::pass(self.text))
    }
}

/// Facts that pass, so that only the engine can say otherwise.
#[derive(Debug)]
struct AllGood;

impl Facts for AllGood {
    fn judge(&self) -> Verdict {
        Verdict::pass("all good")
    }
}

#[derive(Clone, Copy)]
enum Step {
    /// Look at something: file name, text, whether it is judged alone.
    Look(&'static str, &'static str, bool),
    /// Ask about these files.
    Ask(&'static str, &'static [&'static str]),
    Pause,
}

struct Scripted {
    name: SourceName,
    steps: &'static [Step],
}

fn path(source: SourceName, file: &str) -> BundlePath {
    BundlePath::new(&format!("sources/{}/{file}", source.id())).unwrap()
}

impl Session for Scripted {
    fn name(&self) -> SourceName {
        self.name
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

    fn collect(&self) -> BoxStream<'_, Found> {
        let name = self.name;
        stream::iter(self.steps)
            .filter_map(move |step| async move {
                match *step {
                    Step::Pause => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        None
                    }
                    Step::Look(file, text, alone) => {
                        let artifact = Artifact::new(name, file, Note { text, alone }).unwrap();
                        let request =
                            RequestRecord { path: file.into(), status: 200, etag: None, request_id: None };
                        let at = jiff::Timestamp::UNIX_EPOCH;
                        let seen = Seen::Artifact { artifact: Box::new(artifact), request, at };
                        let subject = file.into();
                        let observation =
                            Observation { source: name, rule: &RULE, subject, exempt: None, seen };
                        Some(Found::Observed(observation, Vec::new()))
                    }
                    Step::Ask(subject, files) => Some(Found::Asked(Question {
                        rule: &RULE,
                        subject: subject.into(),
                        facts: Box::new(AllGood),
                        evidence: files.iter().map(|file| path(name, file)).collect(),
                    })),
                }
            })
            .boxed()
    }

    fn account(&self) -> Account {
        Account {
            given_up: Vec::new(),
            api_url: String::new(),
            identity: Identity { login: None, scopes: String::new() },
            requests: 0,
            retries: 0,
            revalidated: 0,
            taken_over: None,
            rate_limit: None,
            paused_seconds: 0,
        }
    }
}

fn session(name: SourceName, steps: &'static [Step]) -> Connected {
    Connected::Session(Box::new(Scripted { name, steps }))
}

/// The collection, and what is in the spool in the order of arrival.
fn collected(sources: &[Connected]) -> (Collection, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = Spool::new(directory.path()).unwrap();
    let clock = crate::env::Clock::manual(jiff::Timestamp::UNIX_EPOCH);
    let env = Env::new::<&str, &str>([], clock);
    let screen = Screen::new(&[SECRET]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let gathered = runtime.block_on(gather(sources, &screen, &mut spool, &env, &Quiet::default())).unwrap();
    let items = spool.items().iter().map(|item| item.path().to_string()).collect();
    (gathered, items)
}

#[test]
fn the_order_of_the_results_does_not_depend_on_who_is_faster() {
    use Step::{Look, Pause};
    let sources = [
        session(TORTOISE, &[Pause, Look("a.json", "slow", true), Pause, Look("b.json", "slow", true)]),
        session(HARE, &[Look("c.json", "fast", true), Look("d.json", "fast", true)]),
    ];
    let (collection, spooled) = collected(&sources);
    let subjects: Vec<&str> = collection.checks.iter().map(|check| &*check.subject).collect();
    assert_eq!(subjects, ["a.json", "b.json", "c.json", "d.json"]);
    let names: Vec<&str> = collection.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["tortoise", "hare"]);
    // Side by side: the second source did not wait for the first.
    assert_eq!(spooled.first().unwrap(), "sources/hare/c.json");
    // And every check rests on its own artifact.
    for check in &collection.checks {
        let [number] = check.evidence.numbers() else { panic!("{check:?}") };
        assert!(spooled[*number as usize].ends_with(&*check.subject));
    }
    assert!(collection.is_complete() && collection.answered && !collection.unconnected);
}

#[test]
fn a_question_rests_on_all_its_artifacts_and_on_none_that_was_left_out() {
    use Step::{Ask, Look};
    let steps: &[Step] = &[
        Look("one.json", "first", false),
        Look("two.json", "second", false),
        Look("bad.json", SECRET, false),
        Ask("both", &["one.json", "two.json"]),
        Ask("tainted", &["one.json", "bad.json"]),
        Ask("alone", &["two.json"]),
    ];
    let (collection, spooled) = collected(&[session(HARE, steps)]);
    assert_eq!(spooled, ["sources/hare/one.json", "sources/hare/two.json"]);
    let seen: Vec<_> = collection
        .checks
        .iter()
        .map(|check| (&*check.subject, check.verdict.status, check.evidence.numbers().to_vec()))
        .collect();
    let expected = [
        ("both", Status::Pass, vec![0, 1]),
        // What a part that is not in the bundle showed is not used.
        ("tainted", Status::NotVerifiable, vec![0]),
        ("alone", Status::Pass, vec![1]),
    ];
    assert_eq!(seen, expected);
    assert_eq!(*collection.checks[1].verdict.reason, reason::EXCLUDED_BY_POLICY);
    assert_eq!(collection.excluded.len(), 1);
    assert!(!collection.is_complete());
}

#[test]
fn what_an_unconnected_source_would_have_shown_is_told_as_not_read() {
    let scope = Scope {
        source: TORTOISE,
        organization: None,
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
    };
    let sources = [Connected::Failed(scope, error), session(HARE, &[Step::Look("a.json", "there", true)])];
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
    assert_eq!((collection.sources[0].requests, collection.sources[0].retries), (2, 1));
    assert_eq!(collection.sources[0].failed, 1);
}
