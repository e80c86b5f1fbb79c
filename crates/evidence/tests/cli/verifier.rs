//! `evidence verifier`: the page as a file. `ci/verifier.sh` tests the page's verdicts in a browser.

use std::fs;

use crate::common::{Lab, acme};

#[test]
fn the_page_is_written_or_printed() {
    let lab = Lab::new(acme());
    let run = lab.run(&["verifier", "-o", "verify.html"]);
    if verifier_page::page().is_none() {
        eprintln!("SKIPPED: this build has no verifier page");
        run.exits(1).says("this build of evidence has no verifier page");
        return;
    }
    assert_eq!(run.exits(0).all(), "");
    let written = fs::read_to_string(lab.path("verify.html")).unwrap();
    assert!(written.starts_with("<!doctype html>") && written.len() < 1_200_000, "{} bytes", written.len());
    let printed = lab.run(&["verifier"]).exits(0);
    assert!((printed.stdout == written) && printed.stderr.is_empty());
    lab.run(&["verifier", "-o", "none/verify.html"]).exits(1).says("cannot write none/verify.html");
}
