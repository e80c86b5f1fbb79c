//! Runs the fuzz targets over the committed seeds, as a regression test for earlier findings.
//!
//! `ci/fuzz.sh` runs the same functions with the fuzzer itself, which needs a nightly toolchain; this test does not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use targets::TARGETS;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The names in a directory, without their extensions.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn every_target_holds_for_its_seeds() {
    for (name, target) in TARGETS {
        let directory = fuzz().join("seeds").join(name);
        let mut verdicts = BTreeSet::new();
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            verdicts.insert(target(&fs::read(&path).unwrap()));
        }
        // If a target accepts all seeds or rejects all, they cover only half of its assertions.
        assert_eq!(verdicts, BTreeSet::from([false, true]), "{name}");
    }
}

#[test]
fn every_target_has_seeds_and_an_executable() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz().join("seeds")), targets);
    assert_eq!(names(&fuzz().join("fuzz_targets")), targets);
}
