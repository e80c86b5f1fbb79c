//! Reads the bundles of the format's corpus: the contents of valid ones, and nothing of any other.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::PathBuf;

use evidence_bundle::document::Counts;
use evidence_bundle::{Expectations, Failure, Limits, PublicKey, Status, TrustRoot, VerifiedBundle};
use evidence_view::{
    ArtifactSearch, Comparable, FileContents, FileText, Overview, OverviewReader, Results, Sink, compare,
    timelines,
};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../evidence-bundle/tests/bundles")
}

fn trust() -> TrustRoot {
    let key = fs::read(corpus().join("key.pub.pem")).unwrap();
    let mut trust = TrustRoot::new();
    trust.add_key("test".to_owned(), PublicKey::parse(&key).unwrap());
    trust
}

fn read<T: Sink>(name: &str, trust: &TrustRoot, reader: T) -> Result<(VerifiedBundle, T), Failure> {
    let bundle = File::open(corpus().join(name).join("bundle.tar.gz")).unwrap();
    evidence_view::read(bundle, trust, &Expectations::default(), &Limits::DEFAULT, reader)
}

fn good<T: Sink>(reader: T) -> T {
    read("plain_ok", &trust(), reader).unwrap().1
}

fn overview() -> Overview {
    let (bundle, reader) = read("plain_ok", &trust(), OverviewReader::default()).unwrap();
    reader.overview(bundle)
}

#[test]
fn a_sound_bundle_says_what_its_documents_say() {
    let overview = overview();
    let one_pass = Counts { pass: 1, ..Counts::default() };
    assert_eq!((overview.checks(), overview.hints()), (Some(one_pass), Some(0)));
    assert_eq!((overview.status("CC6.1"), overview.status("CC9.9")), (Some(Status::Pass), None));

    let results = good(Results::default());
    let controls = &results.controls;
    assert_eq!((controls[0].id.as_str(), controls[0].checks.counts()), ("CC6.1", one_pass));
    let groups = controls[0].checks.groups();
    assert_eq!(
        (groups.len(), groups[0].status, &*groups[0].subjects.named),
        (1, Status::Pass, &["acme".to_owned()][..])
    );
    assert_eq!(results.hints.count, 0);
    assert_eq!(results.sources.count(), 1);
    assert!(results.nothing_missing(&overview));

    let all = good(ArtifactSearch::new("", 0));
    let path = all.artifacts.rows[0].filename.clone();
    assert!(all.found == overview.files - 7, "{}", all.found);
    for (text, found) in [("CC6.1", true), ("ORG_", true), ("absent", false)] {
        assert_eq!(good(ArtifactSearch::new(text, 0)).found > 0, found, "{text}");
    }
    let skipped = good(ArtifactSearch::new("", all.found));
    assert!(skipped.found == all.found && skipped.artifacts.is_empty());

    let file = good(FileContents::new(path.clone()));
    assert_eq!(file.artifact.as_ref().unwrap().filename, path);
    assert!(matches!(file.text(), FileText::Whole(_)));
    assert_eq!(good(FileContents::new("absent".to_owned())).size, None);
}

#[test]
fn a_bundle_does_not_differ_from_itself() {
    let (old, mut new) = (overview(), overview());
    let same = compare((&old, good(Comparable::default())), (&new, good(Comparable::default())));
    let checks = &same.checks;
    assert!(same.cautions.is_empty() && checks.groups.is_empty() && checks.unchanged == 1);
    assert!(same.artifacts.is_empty() && same.controls.iter().all(|control| !control.changed()));
    new.framework = "other".to_owned();
    let other = compare((&old, good(Comparable::default())), (&new, good(Comparable::default())));
    assert_eq!(other.cautions.len(), 1, "{:?}", other.cautions);
}

#[test]
fn bundles_of_one_framework_are_one_timeline() {
    struct Row(Overview);
    impl AsRef<Overview> for Row {
        fn as_ref(&self) -> &Overview {
            &self.0
        }
    }
    let row = |framework: &str| Row(Overview { framework: framework.to_owned(), ..overview() });
    let rows = [row("a"), row("b"), row("a"), row("a")];
    let timelines = timelines(&rows, 2, 0);
    assert_eq!(timelines.iter().map(|timeline| timeline.bundles.len()).collect::<Vec<_>>(), [2, 1]);
    assert!(timelines.iter().all(|timeline| timeline.controls.is_empty() && timeline.more_controls == 1));
}

#[test]
fn nothing_is_read_of_what_is_not_verified() {
    let untrusted = read("plain_ok", &TrustRoot::new(), Results::default());
    assert!(matches!(untrusted, Err(Failure::IntactNotAuthenticated(_))));
    let mut refused = 0;
    for entry in fs::read_dir(corpus()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // These are refused because of the expectations in their arguments.
        let expected = ["too-old", "wrong-org", "key-outside-validity", "key-revoked"]
            .iter()
            .any(|case| name.starts_with(case));
        if name.ends_with("_fail") && !expected {
            assert!(read(&name, &trust(), Results::default()).is_err(), "{name}");
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused}");
}
