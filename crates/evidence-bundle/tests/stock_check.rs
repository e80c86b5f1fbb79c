//! The check with stock tools: the commands of the documents, against good and hostile archives.
//!
//! `corpus` says what is hostile. The commands need GNU tar; with another `tar` they may refuse good bundles, and never
//! accept a hostile archive. They are for Linux, those with a detached signature for macOS too.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "support/corpus/mod.rs"]
mod corpus;
mod support;

#[path = "support/stock.rs"]
mod stock;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use corpus::{Archive, Verdict};
use evidence_bundle::detached::ArchiveDigest;
use evidence_bundle::{Expectations, Limits, TrustRoot, UntrustedBundle, by_hand};
use stock::{BUNDLE, is_good, is_good_by_hand, is_refused, is_there, macos};
use support::key;

/// Runs a check for every archive, each in its own directory with the bundle and the key, on two threads. Returns the
/// names of the wrong results.
fn wrong(archives: &[Archive], check: impl Fn(&Path, &Archive) -> bool + Sync) -> Vec<&str> {
    let half = |first: usize| {
        let archives = archives.iter().skip(first).step_by(2);
        let wrong = archives.filter(|archive| {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(BUNDLE), &archive.bytes).unwrap();
            fs::write(directory.path().join("key.pub.pem"), key().public_key().to_spki_pem()).unwrap();
            !check(directory.path(), archive)
        });
        wrong.map(|archive| archive.name.as_str()).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        [half(0), odd.join().unwrap()].concat()
    })
}

/// Whether the output is the right one for an archive.
fn is_right(output: &Output, archive: &Archive) -> bool {
    match archive.verdict {
        Verdict::Good => is_good(output),
        Verdict::Hostile => is_refused(output),
        Verdict::Unjudged => true,
    }
}

/// Whether everything that the commands need is installed.
fn tools_are_there() -> bool {
    ["openssl", "gzip", "sha256sum", "cmp", "timeout"].into_iter().all(is_there)
}

#[test]
fn the_corpus_is_large_and_its_names_are_unique() {
    let archives = corpus::archives();
    let count = |verdict| archives.iter().filter(|archive| archive.verdict == verdict).count();
    assert!(count(Verdict::Hostile) >= 300 && count(Verdict::Good) >= 10, "{}", archives.len());
    let names: BTreeSet<&str> = archives.iter().map(|archive| archive.name.as_str()).collect();
    assert_eq!(names.len(), archives.len());
    let contents: BTreeSet<&[u8]> = archives.iter().map(|archive| archive.bytes.as_slice()).collect();
    assert_eq!(contents.len(), archives.len());
    assert!(archives.iter().all(|archive| !archive.hides.contains(['\t', '\n'])));
}

#[test]
fn the_library_accepts_exactly_the_good() {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key().public_key());
    for Archive { name, verdict, bytes, .. } in corpus::archives() {
        let bundle = UntrustedBundle::new(bytes.as_slice());
        let result = bundle.verify(&trust, &Expectations::default(), &Limits::DEFAULT);
        assert_eq!(result.is_ok(), verdict == Verdict::Good, "{name}: {result:?}");
    }
}

#[test]
fn the_commands_accept_the_good_and_refuse_the_hostile() {
    let commands = stock::documented();
    assert_eq!(commands, by_hand::COMMANDS, "{}", stock::FORMAT);
    if !tools_are_there() || !is_there("tar") {
        return;
    }
    let archives = corpus::archives();
    for shell in ["bash", "zsh"].into_iter().filter(|shell| is_there(shell)) {
        let wrong = wrong(&archives, |directory, archive| {
            is_right(&stock::check(shell, &commands, None, directory), archive)
        });
        assert!(wrong.is_empty(), "{shell}: {} of {}: {wrong:#?}", wrong.len(), archives.len());
    }
}

/// Neither bsdtar nor busybox can pack the same bytes again.
#[test]
fn the_commands_refuse_everything_with_another_tar() {
    if !tools_are_there() {
        return;
    }
    let archives = corpus::archives();
    for program in ["bsdtar", "busybox"] {
        let Some(tar) = stock::tar(program) else { continue };
        let wrong = wrong(&archives, |directory, _| {
            is_refused(&stock::check("sh", by_hand::COMMANDS, Some(tar.path()), directory))
        });
        assert!(wrong.is_empty(), "{program}: {} of {}: {wrong:#?}", wrong.len(), archives.len());
    }
}

/// With a detached signature, every byte of the file is signed; the owner of the key could still hide an entry.
#[test]
fn the_commands_for_macos_refuse_what_was_not_signed() {
    if !["bash", "ssh-keygen", "shasum"].into_iter().all(is_there) {
        return;
    }
    let line = format!("signer namespaces=\"evidence-bundle\" {}\n", key().public_key().to_openssh());
    let archives = corpus::archives();
    let small = archives.iter().find(|archive| archive.name == "good_small").unwrap();
    let check = |tar: &Path, directory: &Path, signed: &[u8]| {
        let mut digest = ArchiveDigest::default();
        digest.write_all(signed).unwrap();
        fs::write(directory.join(format!("{BUNDLE}.sig")), digest.sign(&key()).unwrap()).unwrap();
        fs::write(directory.join("allowed_signers"), &line).unwrap();
        macos("bash", tar, directory)
    };
    for program in ["tar", "bsdtar"] {
        let Some(tar) = stock::tar(program) else { continue };
        // The signature of the good bundle beside another file: a sample, since `ssh-keygen` alone decides.
        let sample = || archives.iter().filter(|archive| archive.verdict != Verdict::Good).step_by(40);
        let sample: Vec<Archive> = sample().map(Archive::clone).collect();
        let wrong_ones =
            wrong(&sample, |directory, _| !is_good_by_hand(&check(tar.path(), directory, &small.bytes)));
        assert!(wrong_ones.is_empty(), "{program}: {wrong_ones:#?}");
        // What the page says of a signer who hides something: links, other types and added files are refused.
        let families = ["good_", "extra_", "duplicate_", "missing_", "mode_"];
        let listed = |archive: &&Archive| families.iter().any(|family| archive.name.starts_with(family));
        let listed: Vec<Archive> = archives.iter().filter(listed).map(Archive::clone).collect();
        let wrong_ones = wrong(&listed, |directory, archive| {
            let output = check(tar.path(), directory, &archive.bytes);
            is_good_by_hand(&output) == (archive.verdict == Verdict::Good)
        });
        assert!(
            wrong_ones.is_empty(),
            "{program}: {} of {}: {wrong_ones:#?}",
            wrong_ones.len(),
            listed.len()
        );
    }
}

#[test]
fn the_script_runs_the_commands() {
    if !tools_are_there() || !is_there("bash") {
        return;
    }
    let archives = corpus::archives();
    let good = archives.iter().filter(|archive| archive.verdict == Verdict::Good);
    let hostile = archives.iter().filter(|archive| archive.verdict == Verdict::Hostile).step_by(40);
    let sample: Vec<Archive> = good.chain(hostile).map(Archive::clone).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stock_check.sh");
    let wrong = wrong(&sample, |directory, archive| {
        let mut command = Command::new("timeout");
        command.args(["10", "bash"]).arg(&script).args([BUNDLE, "key.pub.pem"]).current_dir(directory);
        command.output().unwrap().status.success() == (archive.verdict == Verdict::Good)
    });
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), sample.len());
}

/// Runs the script over a whole folder and prints the names of what it accepts.
const EACH: &str = "\
import contextlib, importlib.util, io, os, sys
spec = importlib.util.spec_from_file_location('stock_check', sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name in sorted(os.listdir(sys.argv[2])):
    if name.endswith('.tar.gz'):
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            module.main(os.path.join(sys.argv[2], name), os.path.join(sys.argv[2], 'key.pub.pem'))
            sys.stderr.write(name + '\\n')
";

/// `EVIDENCE_PYTHON` names an interpreter that has the module `cryptography`.
#[test]
fn the_check_with_python_accepts_exactly_the_good() {
    let python = std::env::var("EVIDENCE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !is_there(&python) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    corpus::write(folder.path()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stock_check.py");
    let mut command = Command::new(python);
    let output = command.args(["-B", "-c", EACH]).arg(script).arg(folder.path()).output().unwrap();
    if output.status.code() == Some(77) {
        eprintln!("SKIPPED: the check with Python: {}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let accepted: BTreeSet<String> =
        String::from_utf8(output.stderr).unwrap().lines().map(str::to_owned).collect();
    let good = corpus::archives().into_iter().filter(|archive| archive.verdict == Verdict::Good);
    assert_eq!(accepted, good.map(|archive| format!("{}.tar.gz", archive.name)).collect());
}
