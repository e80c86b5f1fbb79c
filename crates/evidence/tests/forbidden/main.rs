//! Forbidden data, tested with the real binary: every kind of credential, in every form, in every field that an
//! outsider can set; ten thousand clean artifacts; and the collector's own credentials under every kind of failure.
//!
//! A seed generates the secrets from their documented formats, so failures are reproducible. By default the tests run
//! part of the table; `EVIDENCE_FORBIDDEN=full` runs all of it, and `EVIDENCE_FORBIDDEN_SEED` changes the secrets. Each
//! test prints its figures (`--nocapture`).

// The shared code is test code, which clippy only recognises in functions marked `#[test]`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

#[path = "../cli/common.rs"]
#[allow(dead_code, reason = "shared with the tests of the commands, which use all of it")]
mod common;

mod boundary;
mod clean;
mod estate;
mod fields;
mod forms;
mod kinds;
mod list;
mod markers;
mod ordinary;
mod own;
mod planted;
mod search;
mod tap;
#[path = "../../../evidence-screen/src/screen/tests/template.rs"]
mod template;

/// Whether to run the whole table.
fn full() -> bool {
    match std::env::var("EVIDENCE_FORBIDDEN").as_deref() {
        Err(_) => false,
        Ok("full") => true,
        Ok(other) => panic!("EVIDENCE_FORBIDDEN is {other:?}: it can be full, or absent"),
    }
}

fn random() -> fastrand::Rng {
    let seed = std::env::var("EVIDENCE_FORBIDDEN_SEED").ok();
    let seed = seed.map(|text| text.parse().expect("EVIDENCE_FORBIDDEN_SEED is a number"));
    fastrand::Rng::with_seed(seed.unwrap_or(20_261_121))
}
