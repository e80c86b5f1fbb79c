//! What the writer refuses, what the reader returns, and the form of documents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

use std::io::{self, Read};
use std::time::Duration;

use evidence_bundle::checksums::{LineError, ListError, Row, render};
use evidence_bundle::document::{
    Counts, Document, FallibleRows, Hints, Manifest, Normalized, Population, Rows, RunRecord, row_json,
    schema, write_json,
};
use evidence_bundle::path::{Collision, PathError, REQUIRED};
use evidence_bundle::read::{Row as BundleRow, Sink};
use evidence_bundle::text::Chain;
use evidence_bundle::write::WriteError;
use evidence_bundle::{
    BundlePath, ChecksumList, Entry, Expectations, Failure, Limits, Reason, SigningKey, Status, TrustRoot,
    UnsignedBundle, UntrustedBundle, VerifiedBundle,
};
use serde_json::value::RawValue;
use support::{CREATED_AT, File};

fn verdict(bundle: impl Read, trust: &TrustRoot) -> Result<VerifiedBundle, Failure> {
    UntrustedBundle::new(bundle).verify(trust, &Expectations::default(), &Limits::default())
}

fn trusting() -> TrustRoot {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", support::key().public_key());
    trust
}

fn entry(path: &str, size: u64) -> Entry {
    Entry { path: BundlePath::new(path).unwrap(), sha256: [0; 32], size }
}

fn required() -> Vec<Entry> {
    evidence_bundle::path::REQUIRED.iter().map(|path| entry(path, 1)).collect()
}

#[test]
fn the_writer_refuses_what_a_verifier_would() {
    let with = |extra: &[&str]| {
        let mut entries = required();
        entries.extend(extra.iter().map(|path| entry(path, 1)));
        entries.reverse();
        UnsignedBundle::new(CREATED_AT, entries)
    };
    assert!(with(&[]).is_ok());
    assert!(with(&["sources/codehost/b", "derived/a", "sources/codehost/a"]).is_ok());
    for extra in [
        &["sources/codehost/a", "sources/codehost/A"][..],
        &["sources/codehost/a", "sources/codehost/a"],
        &["sources/codehost/a", "sources/codehost/a/b"],
        &["checksums.sha256"],
        &["signature.sig"],
        &["README.md"],
    ] {
        assert!(matches!(with(extra), Err(WriteError::List(_))), "{extra:?}");
    }
    for missing in 0..4 {
        let mut entries = required();
        entries.remove(missing);
        assert!(matches!(UnsignedBundle::new(CREATED_AT, entries), Err(WriteError::List(_))));
    }
    assert!(matches!(UnsignedBundle::new(-1, required()), Err(WriteError::Time { .. })));
    let mut entries = required();
    entries.push(entry("sources/codehost/large", 1 << 33));
    assert!(matches!(UnsignedBundle::new(0, entries), Err(WriteError::EntryTooLarge { .. })));
    // The largest numbers that fit into a header.
    let mut entries = required();
    entries.push(entry("sources/codehost/large", (1 << 33) - 1));
    assert!(UnsignedBundle::new((1 << 33) - 1, entries).is_ok());
    assert!(matches!(UnsignedBundle::new(1 << 33, required()), Err(WriteError::Time { .. })));
}

#[test]
fn a_signed_bundle_says_what_will_be_written() {
    let files = support::small_files();
    let signed = support::signed(&files, &support::key());
    assert_eq!(signed.created_at(), CREATED_AT);
    assert!(support::key().public_key().verifies(signed.checksums(), signed.signature()));
    let listed: Vec<(&str, u64)> =
        signed.entries().iter().map(|entry| (entry.path.as_str(), entry.size)).collect();
    let list = ChecksumList::parse(signed.checksums().to_vec(), 100).unwrap();
    assert!(list.rows().map(|row| row.path).eq(listed.iter().map(|(path, _)| *path)));
    for (path, size) in listed {
        let (_, contents) = files.iter().find(|(name, _)| name == path).unwrap();
        assert_eq!(contents.len() as u64, size, "{path}");
    }
}

/// Every refusal says what is wrong, and keeps its cause as the source.
#[test]
fn the_error_says_why_nothing_was_written() {
    let path = || "sources/codehost/a".to_owned();
    let cause = || io::Error::other("no room");
    let list = ChecksumList::parse(Vec::new(), 1).unwrap_err();
    for (error, text, source) in [
        (WriteError::List(list.clone()), "do not form a valid bundle", Some(list.to_string())),
        (WriteError::Time { created_at: -1 }, "the time -1", None),
        (WriteError::EntryTooLarge { path: path(), size: 7 }, "a has 7 bytes", None),
        (WriteError::SelfCheck, "does not verify", None),
        (WriteError::Read { path: path(), source: cause() }, "read sources", Some("no room".to_owned())),
        (WriteError::SizeChanged { path: path(), listed: 7 }, "listed size, 7 bytes", None),
        (WriteError::ContentsChanged { path: path() }, "changed after", None),
        (cause().into(), "could not write", Some("no room".to_owned())),
        (
            WriteError::TooLarge {
                actual: 8,
                limit: 7,
                largest: Vec::new(),
                documents: 4,
                documents_bytes: 6,
            },
            "8 bytes",
            None,
        ),
    ] {
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(std::error::Error::source(&error).map(ToString::to_string), source, "{error}");
    }
}

/// Every rule for the paths of a list, with enough files after it that the count alone does not reveal a missing one.
#[test]
fn a_list_with_other_paths_than_a_bundle_has_is_refused() {
    let good: Vec<&str> = REQUIRED.into_iter().chain(["sources/a/b", "sources/a/c"]).collect();
    let parse = |paths: &[&str]| {
        let rows = paths.iter().map(|path| Row { sha256: [7; 32], path });
        ChecksumList::parse(render(rows), 100)
    };
    assert!(parse(&good).is_ok_and(|list| !list.is_empty() && list.len() == good.len()));
    let refused = |paths: &[&str], error: ListError, text: &str| {
        assert_eq!(parse(paths).unwrap_err(), error, "{paths:?}");
        assert_eq!(Chain(&error).to_string(), text);
    };
    for (index, path) in REQUIRED.into_iter().enumerate() {
        let text = format!("{path} is not at its position in the list");
        let mut without = good.clone();
        without.remove(index);
        refused(&without, ListError::Required { path }, &text);
        let mut other = good.clone();
        other[index] = "sources/a/a";
        refused(&other, ListError::Required { path }, &text);
        if index > 0 {
            let mut swapped = good.clone();
            swapped.swap(index - 1, index);
            let path = REQUIRED[index - 1];
            refused(
                &swapped,
                ListError::Required { path },
                &format!("{path} is not at its position in the list"),
            );
        }
    }
    let with = |last: [&'static str; 2]| REQUIRED.into_iter().chain(last).collect::<Vec<_>>();
    let order = |path: &str| ListError::Order { path: path.to_owned() };
    let text = "sources/a/b is out of order or listed twice";
    refused(&with(["sources/a/c", "sources/a/b"]), order("sources/a/b"), text);
    refused(&with(["sources/a/b", "sources/a/b"]), order("sources/a/b"), text);
    let no_place = ListError::NoPlace { path: "sources/b".to_owned() };
    refused(&with(["sources/a/b", "sources/b"]), no_place, "sources/b has no place in a bundle");
    let source = PathError::Traversal;
    let text = "line 9 of the list: a component of the path is . or ..";
    refused(&with(["sources/a/b", "sources/a/../c"]), ListError::Path { line: 9, source }, text);
    let collision = Collision { first: "sources/a/B".to_owned(), second: "sources/a/b".to_owned() };
    let text = "sources/a/B and sources/a/b cannot both exist on every file system";
    refused(&with(["sources/a/B", "sources/a/b"]), ListError::Collision(collision), text);
}

/// A signal during a read is not an error of the file.
#[test]
fn a_read_that_is_interrupted_goes_on() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(buffer) }
        }
    }
    let bundle = support::bundle(&support::small_files());
    let verdict = verdict(Interrupted(&bundle, false), &trusting());
    assert!(verdict.is_ok(), "{verdict:?}");
}

/// More compressed bytes than any buffer holds.
#[test]
fn a_bundle_larger_than_the_buffers_verifies() {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let artifact = ("sources/codehost/noise.json".to_owned(), (0..500_000).map(|_| noise()).collect());
    let files = support::with_manifest(support::with_documents(vec![artifact]), &support::key());
    let bundle = support::bundle(&files);
    assert!(bundle.len() > 450_000);
    let verdict = verdict(bundle.as_slice(), &trusting());
    assert!(verdict.is_ok(), "{verdict:?}");
}

/// A failed bundle is an error without a source; only "cannot judge" has one.
#[test]
fn the_error_says_why_there_is_no_verified_bundle() {
    let bundle = support::bundle(&support::small_files());
    let verify = |bundle: &mut dyn Read, trust: &TrustRoot| {
        let failure = verdict(bundle, trust).unwrap_err();
        let source = std::error::Error::source(&failure).map(ToString::to_string);
        (failure.to_string(), source)
    };
    let mut other = TrustRoot::new();
    other.add_key("another key", SigningKey::from_seed(&[9; 32]).public_key());
    let reported = verify(&mut bundle.as_slice(), &other);
    assert_eq!(
        reported,
        ("signature-invalid: no trusted key made this signature over the list of checksums".to_owned(), None)
    );
    let key = support::key().public_key().key_id();
    let text = format!("signed by a key that you did not name as trusted ({key})");
    assert_eq!(verify(&mut bundle.as_slice(), &TrustRoot::new()), (text, None));
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let reported = verify(&mut Broken, &trusting());
    assert_eq!(reported, ("cannot read the bundle".to_owned(), Some("the disk is gone".to_owned())));
}

#[test]
fn a_bad_line_of_the_list_is_reported_by_its_number() {
    let good =
        String::from_utf8(support::signed(&support::small_files(), &support::key()).checksums().to_vec());
    let good = good.unwrap();
    for line in 1..=8 {
        let with = |change: fn(&str) -> Vec<u8>| {
            let lines = good.split_inclusive('\n').enumerate();
            let lines = lines.map(|(index, text)| match index + 1 == line {
                true => change(text),
                false => text.as_bytes().to_vec(),
            });
            ChecksumList::parse(lines.collect::<Vec<_>>().concat(), 100)
        };
        let at_line = |source| Err(ListError::Line { line, source });
        assert_eq!(with(|text| text.as_bytes()[1..].to_vec()), at_line(LineError::Digest));
        assert_eq!(with(|text| text.to_ascii_uppercase().into_bytes()), at_line(LineError::Digest));
        assert_eq!(with(|text| text.replace("  ", " *").into_bytes()), at_line(LineError::Separator));
        assert_eq!(with(|text| format!("{}\n", &text[..66]).into_bytes()), at_line(LineError::Path));
        assert_eq!(with(|text| text.replace('\n', "\u{e9}\n").into_bytes()), at_line(LineError::Path));
        assert_eq!(with(|text| [&text.as_bytes()[..70], b"\xff\n"].concat()), at_line(LineError::Path));
    }
    for (source, text) in [
        (LineError::Digest, "does not begin with 64 lower-case hex digits"),
        (LineError::Separator, "does not have two spaces after the digest"),
        (LineError::Path, "has no readable path"),
        (LineError::Unended, "does not end in a line feed"),
    ] {
        let error = ListError::Line { line: 3, source };
        assert_eq!(Chain(&error).to_string(), format!("line 3 of the list: it {text}"));
    }
    let unended = ChecksumList::parse(good.trim_end().as_bytes().to_vec(), 100);
    assert_eq!(unended, Err(ListError::Line { line: 8, source: LineError::Unended }));
    let too_many = ChecksumList::parse(good.clone().into_bytes(), 7);
    assert_eq!(too_many, Err(ListError::TooManyFiles { limit: 7 }));
    let list = ChecksumList::parse(good.clone().into_bytes(), 8).unwrap();
    assert_eq!((list.len(), list.is_empty(), list.as_bytes()), (8, false, good.as_bytes()));
    assert_eq!((list.position(list.path(7).unwrap()), list.position("sources/z")), (Some(7), None));
    assert_eq!((list.row(8), list.path(8)), (None, None));
}

#[test]
fn files_that_changed_after_listing_do_not_get_out() {
    let files = support::small_files();
    let signed = support::signed(&files, &support::key());
    let write = |change: fn(&mut Vec<u8>)| {
        let open = |entry: &Entry| {
            let mut contents = support::contents(&files, entry)?.to_vec();
            if entry.path.as_str().starts_with("sources/") {
                change(&mut contents);
            }
            Ok(io::Cursor::new(contents))
        };
        signed.write(io::sink(), None, open)
    };
    assert!(write(|_| ()).is_ok());
    assert!(matches!(write(|contents| contents[0] ^= 1), Err(WriteError::ContentsChanged { .. })));
    assert!(matches!(write(|contents| contents.push(0)), Err(WriteError::SizeChanged { .. })));
    assert!(matches!(write(|contents| _ = contents.pop()), Err(WriteError::SizeChanged { .. })));
    let failed = signed.write(io::sink(), None, |_| Err::<&[u8], _>(io::Error::other("gone")));
    assert!(matches!(failed, Err(WriteError::Read { .. })));
}

/// One disk error and there is no bundle, since later bytes may be anything.
#[test]
fn a_reading_that_fails_ends_the_writing() {
    struct Failing<'a>(&'a [u8], bool);
    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let first = !std::mem::replace(&mut self.1, true);
            if first { Err(io::Error::other("a bad sector")) } else { self.0.read(buffer) }
        }
    }
    let files = support::small_files();
    let signed = support::signed(&files, &support::key());
    let failed =
        signed.write(io::sink(), None, |entry| Ok(Failing(support::contents(&files, entry)?, false)));
    assert!(matches!(failed, Err(WriteError::Read { .. })));
}

#[test]
fn what_is_written_has_left_the_buffer() {
    let files = support::small_files();
    let mut out = io::BufWriter::with_capacity(1 << 20, Vec::new());
    let signed = support::signed(&files, &support::key());
    signed.write(&mut out, None, |entry| support::contents(&files, entry)).unwrap();
    assert!(*out.get_ref() == support::bundle(&files));
}

/// A signal may interrupt any read: it is retried, and the bundle is the same.
#[test]
fn an_interrupted_reading_goes_on() {
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(buffer) }
        }
    }
    let files = support::small_files();
    let signed = support::signed(&files, &support::key());
    let mut out = Vec::new();
    signed.write(&mut out, None, |entry| Ok(Interrupted(support::contents(&files, entry)?, false))).unwrap();
    assert!(out == support::bundle(&files));
}

#[test]
fn a_bundle_over_the_limit_says_its_size_and_its_largest_artifacts() {
    let mut noise = 1_u32;
    // The last one is a document: the largest file, but not an artifact.
    let artifacts: Vec<File> = (1..=8_usize)
        .map(|number| {
            let contents = std::iter::repeat_with(|| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                noise.to_be_bytes()[0]
            });
            let place = if number == 8 { "derived" } else { "sources/codehost" };
            (format!("{place}/{number}"), contents.take(number * 100_000).collect())
        })
        .collect();
    let files = support::with_manifest(support::with_documents(artifacts), &support::key());
    let signed = support::signed(&files, &support::key());
    let actual = signed.write(io::sink(), None, |entry| support::contents(&files, entry)).unwrap();
    let mut out = Vec::new();
    match signed.write(&mut out, Some(actual - 1), |entry| support::contents(&files, entry)) {
        Err(WriteError::TooLarge { actual: reported, limit, largest, documents, documents_bytes }) => {
            assert_eq!((reported, limit), (actual, actual - 1));
            let names: Vec<&str> = largest.iter().map(|(path, _)| path.as_str()).collect();
            let expected = [7, 6, 5, 4, 3].map(|number| format!("sources/codehost/{number}"));
            assert_eq!(names, expected.each_ref().map(String::as_str));
            assert_eq!(largest[0].1, 700_000);
            assert_eq!(documents, 8);
            let of_documents = files.iter().filter(|(path, _)| !path.starts_with("sources/"));
            assert_eq!(documents_bytes, of_documents.map(|(_, contents)| contents.len() as u64).sum::<u64>());
        }
        other => panic!("{other:?}"),
    }
    assert!((out.len() as u64) < actual);
    out.clear();
    assert_eq!(
        signed.write(&mut out, Some(actual), |entry| support::contents(&files, entry)).unwrap(),
        actual
    );
    assert_eq!(out.len() as u64, actual, "at the limit everything is written");
}

/// Keeps every file and the names of the rows.
#[derive(Default)]
struct Everything {
    files: Vec<File>,
    rows: Vec<String>,
}

impl Sink for Everything {
    fn row(&mut self, row: BundleRow<'_>) -> io::Result<()> {
        let name = format!("{row:?}");
        self.rows.push(name.split('(').next().unwrap_or_default().to_owned());
        Ok(())
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        self.files.push((path.to_owned(), Vec::with_capacity(usize::try_from(size).unwrap())));
        Ok(true)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.files.last_mut().unwrap().1.extend_from_slice(bytes);
        Ok(())
    }
}

/// Fails at one of its calls.
struct Full(&'static str);

impl Full {
    fn at(&self, call: &str) -> io::Result<()> {
        if self.0 == call { Err(io::Error::other("no room")) } else { Ok(()) }
    }
}

impl Sink for Full {
    fn row(&mut self, _: BundleRow<'_>) -> io::Result<()> {
        self.at("row")
    }

    fn file(&mut self, _: &str, _: u64) -> io::Result<bool> {
        self.at("file").map(|()| true)
    }

    fn bytes(&mut self, _: &[u8]) -> io::Result<()> {
        self.at("bytes")
    }

    fn contents(&mut self, _: &str, _: u64, contents: &mut dyn Read) -> io::Result<()> {
        contents.read_exact(&mut [0; 3])?;
        self.at("contents")
    }
}

#[test]
fn a_sink_receives_every_row_and_file_in_the_one_pass() {
    let files = support::small_files();
    let bundle = support::bundle(&files);
    let none = Expectations::default();
    let verify = |trust: &TrustRoot, sink: &mut dyn Sink| {
        UntrustedBundle::new(bundle.as_slice()).verify_into(trust, &none, &Limits::DEFAULT, sink)
    };
    let mut seen = Everything::default();
    verify(&trusting(), &mut seen).unwrap();
    assert!(seen.files == files);
    for row in [
        "Artifact",
        "Warning",
        "Manifest",
        "Run",
        "Summary",
        "Control",
        "Check",
        "ControlEnd",
        "Observation",
        "Source",
        "Member",
        "Scope",
        "End",
    ] {
        assert!(seen.rows.iter().any(|seen| seen == row), "{row}: {:?}", seen.rows);
    }

    // A sink need not read a file to its end.
    assert!(verify(&trusting(), &mut Full("nowhere")).is_ok());
    for call in ["row", "file", "bytes", "contents"] {
        assert!(matches!(verify(&trusting(), &mut Full(call)), Err(Failure::CannotJudge(_))), "{call}");
        // Without a trust root no sink sees anything of a bundle.
        let untrusted = verify(&TrustRoot::new(), &mut Full(call));
        assert!(matches!(untrusted, Err(Failure::IntactNotAuthenticated(_))), "{call}");
    }
}

#[test]
fn a_verified_bundle_says_what_the_manifest_says() {
    let bundle = support::bundle(&support::small_files());
    let none = Expectations::default();
    let verified =
        UntrustedBundle::new(bundle.as_slice()).verify(&trusting(), &none, &Limits::DEFAULT).unwrap();
    assert_eq!(verified.created_at, CREATED_AT);
    assert_eq!(verified.organization, "acme");
    assert_eq!(verified.controls, ["CC6.1"]);
    assert!(verified.complete);
    assert_eq!((verified.warnings.len(), verified.warnings_total), (1, 1));
    assert_eq!(verified.source_date_epoch, None);
    let list = support::signed(&support::small_files(), &support::key()).checksums().to_vec();
    assert_eq!(verified.checksums_sha256, support::sha256(&list));
}

#[test]
fn without_trust_a_whole_bundle_is_intact_and_a_changed_one_is_refused() {
    let files = support::small_files();
    let verify = |bundle: &[u8]| {
        UntrustedBundle::new(bundle).verify(&TrustRoot::new(), &Expectations::default(), &Limits::DEFAULT)
    };
    match verify(&support::bundle(&files)) {
        Err(Failure::IntactNotAuthenticated(intact)) => {
            assert_eq!(intact.public_key, support::key().public_key());
            assert_eq!(intact.files, 8);
        }
        other => panic!("{other:?}"),
    }
    let mut changed = support::raw::entries(&files, &support::key());
    changed[9].contents[0] ^= 1;
    match verify(&support::raw::gzip(&support::raw::tar(&changed))) {
        Err(Failure::NotWhatWasSigned(error)) => {
            assert_eq!(error.reason, Reason::ChecksumMismatch);
            assert_eq!(error.path.as_deref(), Some("sources/codehost/org_settings.json"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn age_is_judged_with_the_callers_clock_alone() {
    let bundle = support::bundle(&support::small_files());
    let verify = |max_age: u64, now: Option<i64>| {
        let expectations =
            Expectations { max_age: Some(Duration::from_secs(max_age)), now, ..Expectations::default() };
        UntrustedBundle::new(bundle.as_slice()).verify(&trusting(), &expectations, &Limits::DEFAULT)
    };
    let reason = |result| match result {
        Err(Failure::NotWhatWasSigned(error)) => Some(error.reason),
        Ok(_) => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(verify(60, Some(CREATED_AT + 60))), None);
    assert_eq!(reason(verify(60, Some(CREATED_AT + 61))), Some(Reason::TooOld));
    assert_eq!(reason(verify(60, Some(CREATED_AT - 300))), None);
    assert_eq!(reason(verify(60, Some(CREATED_AT - 301))), Some(Reason::TooOld));
    assert!(matches!(verify(60, None), Err(Failure::CannotJudge(_))));
}

#[test]
fn documents_have_one_form_and_unknown_fields_are_refused() {
    let mut text = Vec::new();
    write_json(&mut text, &support::sample::run_record(1)).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("{\n  \"started_at\": \"2026-01-02T03:04:00Z\",\n  \"completed_at\""), "{text}");
    assert!(text.ends_with("  ]\n}\n") && !text.contains('\r'));
    let read: RunRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(read, support::sample::run_record(1));
    let extra = text.replacen('{', "{ \"surprise\": 1,", 1);
    assert!(serde_json::from_str::<RunRecord>(&extra).is_err());
    for text in ["{\"schema_version\":\"1.0\",\"hints\":[],\"x\":1}", "{\"schema_version\":\"1.0\"}", "[]"] {
        assert!(serde_json::from_str::<Hints>(text).is_err());
        assert!(serde_json::from_str::<Normalized>(text).is_err());
        assert!(serde_json::from_str::<Manifest>(text).is_err());
    }
    for document in Document::ALL {
        assert_eq!(schema(document)["additionalProperties"], serde_json::json!(false), "{document:?}");
    }
    let mut counts = Counts::default();
    for (number, status) in (1..).zip(Status::ALL) {
        assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        assert_eq!(status.to_string(), status.as_str());
        (0..number).for_each(|_| counts.add(status));
    }
    assert_eq!((counts.pass, counts.fail, counts.not_verifiable, counts.not_applicable), (1, 2, 3, 4));
}

/// Rows serialized one by one give the same bytes as the whole list.
#[test]
fn a_row_is_written_as_in_its_document() {
    let mut population = support::sample::population();
    population.members.extend(population.members.clone());
    let mut whole = Vec::new();
    write_json(&mut whole, &population).unwrap();
    let rows = population.members.iter().map(|row| RawValue::from_string(row_json(row).unwrap()));
    let (schema_version, sources) = (population.schema_version.clone(), population.sources.clone());
    let mut by_row = Vec::new();
    write_json(&mut by_row, &Population { schema_version, sources, members: FallibleRows::new(rows) })
        .unwrap();
    assert!(population.members.len() > 1);
    assert_eq!(String::from_utf8(by_row).unwrap(), String::from_utf8(whole).unwrap());
}

#[test]
fn rows_stream_once() {
    let hints = Hints { schema_version: "1.0".to_owned(), hints: Rows::new((0..3).map(|number| number * 2)) };
    assert_eq!(serde_json::to_string(&hints).unwrap(), "{\"schema_version\":\"1.0\",\"hints\":[0,2,4]}");
    assert!(serde_json::to_string(&hints).is_err());
    let rows = FallibleRows::new([Ok(1), Err("the spool is gone")].into_iter());
    assert!(serde_json::to_string(&rows).unwrap_err().to_string().contains("the spool is gone"));
}

#[test]
fn the_documentation_lists_exactly_the_reasons() {
    let page = include_str!("../../../docs/bundle-format.md");
    let (_, table) = page.split_once("## Why a bundle is refused").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let codes: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(code, _)| code)
        .collect();
    assert_eq!(codes, Reason::ALL.map(Reason::code));
    assert!(Reason::ALL.iter().all(|reason| reason.meaning().ends_with('.')));
}
