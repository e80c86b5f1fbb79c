//! One directory for each way to be invalid: generated, committed, and refused for the right reason.
//!
//! `UPDATE_GOLDEN=1 cargo test -p evidence-bundle --test bundles` regenerates the directories.
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

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, Reason, TrustRoot, UntrustedBundle};
use serde_json::{Value, json};
use support::hostile::{Case, cases};
use support::raw;

const README: &str = "\
# Bundles that must be refused, and some that must not

One directory per case. `<reason>_fail` and `<reason>_<variant>_fail` must be refused for that reason; `..._ok` must be
accepted; `not-authenticated_exit1` is intact, but verified without a trust root; `newer-version_..._exit1` has a version
that does not exist yet. Each holds `bundle.tar.gz` and `expect.json`: the arguments after `evidence verify bundle.tar.gz` in
that directory, the exit code, and the reason (`null` without one). `key.pub.pem` and `key.pub` are the public half of a
key whose seed is in the test sources: never trust it.

All files are written by `UPDATE_GOLDEN=1 cargo test -p evidence-bundle --test bundles`; without that variable the test
compares them with what it would write. Compressed bytes may differ between releases of the compressor, so archives are
compared unpacked.
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bundles")
}

fn key_files() -> Vec<(&'static str, Vec<u8>)> {
    let (key, other) = (support::key().public_key(), support::other_key().public_key());
    vec![
        ("README.md", README.as_bytes().to_vec()),
        ("key.pub.pem", key.to_spki_pem().into_bytes()),
        ("key.pub", format!("{} test@example.com\n", key.to_openssh()).into_bytes()),
        ("other.pub", format!("{} other@example.com\n", other.to_openssh()).into_bytes()),
    ]
}

fn expectation(case: &Case) -> Vec<u8> {
    let expected = json!({ "args": case.arguments, "exit": case.exit, "reason": case.reason });
    let mut text = serde_json::to_vec_pretty(&expected).unwrap();
    text.push(b'\n');
    text
}

fn write(path: &Path, contents: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

#[test]
fn the_checked_in_bundles_are_what_the_generator_writes() {
    let mut names = BTreeSet::new();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for (name, contents) in key_files() {
        names.insert(name.to_owned());
        if update {
            write(&root().join(name), &contents);
        }
        assert!(fs::read(root().join(name)).unwrap() == contents, "{name}");
    }
    for case in cases() {
        let directory = root().join(case.name);
        assert!(names.insert(case.name.to_owned()), "{} twice", case.name);
        let mut files = case.files.clone();
        files.push(("expect.json", expectation(&case)));
        if update {
            write(&directory.join("bundle.tar.gz"), &case.bundle);
            files.iter().for_each(|(name, contents)| write(&directory.join(name), contents));
        }
        for (name, contents) in files {
            assert!(fs::read(directory.join(name)).unwrap() == contents, "{}/{name}", case.name);
        }
        let stored = fs::read(directory.join("bundle.tar.gz")).unwrap();
        assert!(parts(&stored) == parts(&case.bundle), "{}/bundle.tar.gz", case.name);
    }
    let found = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(found.collect::<BTreeSet<_>>(), names);
}

/// The parts of a bundle that do not depend on the version of the compressor.
fn parts(bundle: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    if bundle[3] == 0 { raw::take_apart(bundle) } else { (bundle[..15].to_vec(), Vec::new(), Vec::new()) }
}

#[test]
fn every_reason_has_a_case() {
    let failed = |case: &Case| case.reason.filter(|_| case.exit == 7);
    let covered: BTreeSet<&str> = cases().iter().filter_map(failed).collect();
    // Whoever knows the rules finds these; this crate does not.
    let judged = [Reason::ChecksIncomplete, Reason::JudgementNotRepeated];
    let all = Reason::ALL.iter().filter(|reason| !judged.contains(reason));
    let all: BTreeSet<&str> = all.map(|reason| reason.code()).collect();
    assert_eq!(covered, all);
    for case in cases() {
        match failed(&case) {
            Some(_) => assert!(case.name.ends_with("_fail"), "{}", case.name),
            None => assert!(case.name.ends_with("_ok") || case.name.ends_with("_exit1"), "{}", case.name),
        }
    }
}

#[test]
fn every_checked_in_bundle_is_judged_as_expected() {
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root()).unwrap() {
        let directory = entry.unwrap().path();
        if !directory.is_dir() {
            continue;
        }
        let expected: Value =
            serde_json::from_slice(&fs::read(directory.join("expect.json")).unwrap()).unwrap();
        let arguments: Vec<&str> =
            expected["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect();
        let (trust, expectations) = understand(&directory, &arguments);
        let bundle = fs::read(directory.join("bundle.tar.gz")).unwrap();
        let bundle = || UntrustedBundle::new(bundle.as_slice());
        let verdict = bundle().verify(&trust, &expectations, &Limits::DEFAULT);
        // The verdict is the same with a sink, however little it reads.
        for bytes in [0, 7, u64::MAX] {
            let shown = bundle().verify_into(&trust, &expectations, &Limits::DEFAULT, &mut Part(bytes));
            match (&verdict, &shown) {
                (Ok(verdict), Ok(shown)) => assert_eq!(verdict, shown),
                (Err(verdict), Err(shown)) => assert_eq!(verdict.to_string(), shown.to_string()),
                _ => wrong.push(format!("{}: {verdict:?} and {shown:?}", directory.display())),
            }
        }
        let (exit, reason) = match &verdict {
            Ok(_) => (0, None),
            Err(Failure::NotWhatWasSigned(error)) => (7, Some(error.reason.code())),
            Err(Failure::NewerVersion(_)) => (1, Some("newer-version")),
            Err(Failure::IntactNotAuthenticated(_) | Failure::CannotJudge(_)) => (1, None),
        };
        let name = directory.file_name().unwrap();
        if json!([exit, reason]) != json!([expected["exit"], expected["reason"]]) {
            wrong.push(format!("{name:?}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads that many bytes of each file.
struct Part(u64);

impl Sink for Part {
    fn contents(&mut self, _: &str, _: u64, contents: &mut dyn Read) -> io::Result<()> {
        io::copy(&mut contents.take(self.0), &mut io::sink()).map(drop)
    }
}

/// Parses the arguments like `evidence verify`.
fn understand(directory: &Path, arguments: &[&str]) -> (TrustRoot, Expectations) {
    let mut trust = TrustRoot::new();
    let mut expectations = Expectations::default();
    for pair in arguments.chunks(2) {
        let (flag, value) = (pair[0], pair[1]);
        let contents = || fs::read(directory.join(value)).unwrap();
        match flag {
            "--public-key" => trust.add_public_keys(value, &contents()).unwrap(),
            "--allowed-signers" => trust.add_allowed_signers(value, &contents()).unwrap(),
            "--revoked-keys" => trust.add_revoked_keys(value, &contents()).unwrap(),
            "--fingerprint" => trust.add_fingerprint(value).unwrap(),
            "--expect-org" => expectations.organization = Some(value.to_owned()),
            "--max-age" => {
                let days: u64 = value.strip_suffix('d').unwrap().parse().unwrap();
                expectations.max_age = Some(Duration::from_secs(days * 86_400));
                expectations.now = Some(support::CREATED_AT + 10 * 86_400);
            }
            _ => panic!("{flag}"),
        }
    }
    (trust, expectations)
}
