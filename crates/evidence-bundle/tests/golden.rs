//! The bytes of the format: golden archives, and writers and readers that are independent of this crate.
//!
//! `UPDATE_GOLDEN=1 cargo test -p evidence-bundle --test golden` regenerates the golden files. A difference is a change
//! of the format and needs a new version of it.
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

use std::path::{Path, PathBuf};
use std::process::Command;

use evidence_bundle::document::{Document, schema};
use support::{File, raw};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn assert_golden(name: &str, actual: &[u8]) {
    let path = data("golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read(&path).unwrap();
    assert!(expected == actual, "{name} differs from the golden file");
}

/// Paths in the name field and in pax records: with a slash that could divide them, and without.
fn long_files() -> Vec<File> {
    let paths = [
        format!("sources/codehost/{}.json", "n".repeat(70)),
        format!("sources/codehost/{}.json", "p".repeat(90)),
        format!("sources/codehost/{}.json", "x".repeat(180)),
        "sources/codehost/empty.json".to_owned(),
        "sources/codehost/full_block.json".to_owned(),
    ];
    let mut artifacts: Vec<File> = paths.into_iter().map(|path| (path.clone(), path.into_bytes())).collect();
    artifacts[3].1.clear();
    artifacts[4].1 = vec![b' '; 1024];
    artifacts.sort();
    support::with_manifest(support::with_documents(artifacts), &support::key())
}

#[test]
fn the_archive_is_the_golden_one() {
    assert_golden("small.tar", &support::tar(&support::small_files()));
    assert_golden("long_paths.tar", &support::tar(&long_files()));
}

#[test]
fn the_schemas_are_the_golden_ones() {
    for document in Document::ALL {
        let name = format!("{}.schema.json", document.path().trim_end_matches(".json").replace('/', "_"));
        let mut text = serde_json::to_vec_pretty(&schema(document)).unwrap();
        text.push(b'\n');
        assert_golden(&name, &text);
    }
}

#[test]
fn a_second_writer_writes_the_same_archive() {
    for files in [support::small_files(), long_files()] {
        assert!(support::tar(&files) == raw::tar(&raw::entries(&files, &support::key())));
    }
}

#[test]
fn two_writes_are_equal_and_canonical() {
    for files in [support::small_files(), long_files()] {
        let bundle = support::bundle(&files);
        assert!(bundle == support::bundle(&files));
        let (header, tar, trailer) = raw::take_apart(&bundle);
        assert_eq!(header, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
        assert!(tar == support::tar(&files));
        assert_eq!(trailer.len(), 8);
    }
}

/// The output of a program, or `None` with a message if it is not installed.
fn output(command: &mut Command) -> Option<String> {
    match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("SKIPPED: {command:?}: {error}");
            None
        }
    }
}

fn listing(files: &[File]) -> Vec<String> {
    let signed = support::signed(files, &support::key());
    let head = [("checksums.sha256", signed.checksums().len()), ("signature.sig", 64)];
    let head = head.into_iter().map(|(path, size)| format!("{path} {size}"));
    head.chain(files.iter().map(|(path, contents)| format!("{path} {}", contents.len()))).collect()
}

#[test]
fn python_lists_what_we_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle.tar.gz");
    let script = "import sys, tarfile\nfor m in tarfile.open(sys.argv[1]):\n    \
                  assert m.isreg() and m.mode == 0o644 and m.uid == m.gid == 0 and m.mtime == 1767323045\n    \
                  print(m.name, m.size)";
    for files in [support::small_files(), long_files()] {
        std::fs::write(&bundle, support::bundle(&files)).unwrap();
        let Some(text) = output(Command::new("python3").args(["-c", script]).arg(&bundle)) else { return };
        assert_eq!(text.lines().collect::<Vec<_>>(), listing(&files));
    }
}

#[test]
fn gnu_tar_lists_what_we_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle.tar.gz");
    for files in [support::small_files(), long_files()] {
        std::fs::write(&bundle, support::bundle(&files)).unwrap();
        let mut tar = Command::new("tar");
        tar.args(["--utc", "--full-time", "-tvzf"]).arg(&bundle);
        let Some(text) = output(&mut tar) else { return };
        let lines: Vec<String> = text
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert_eq!(words[..2], ["-rw-r--r--", "0/0"], "{line}");
                assert_eq!(words[3..5], ["2026-01-02", "03:04:05"], "{line}");
                format!("{} {}", words[5], words[2])
            })
            .collect();
        assert_eq!(lines, listing(&files));
    }
}

#[test]
fn gnu_tar_writes_the_same_bytes() {
    for files in [support::small_files(), long_files()] {
        let directory = tempfile::tempdir().unwrap();
        let signed = support::signed(&files, &support::key());
        let own = [
            ("checksums.sha256".to_owned(), signed.checksums().to_vec()),
            ("signature.sig".to_owned(), signed.signature().to_vec()),
        ];
        let mut tar = Command::new("tar");
        tar.args(["--format=posix", "--pax-option=exthdr.name=pax,delete=atime,delete=ctime"]);
        tar.args(["--owner=0", "--group=0", "--numeric-owner", "--mode=0644", "--mtime=@1767323045"]);
        tar.args(["--blocking-factor=1", "-cf", "out.tar", "--"]).current_dir(directory.path());
        for (path, contents) in own.iter().chain(&files) {
            let file = directory.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, contents).unwrap();
            tar.arg(path);
        }
        if output(&mut tar).is_none() {
            return;
        }
        assert!(std::fs::read(directory.path().join("out.tar")).unwrap() == support::tar(&files));
    }
}
