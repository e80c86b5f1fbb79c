//! Forbidden data, proved with the real binary: every kind of credential in every field that a stranger can fill, in
//! every form; ten thousand clean artifacts; and the collector's own credentials in everything that can go wrong.
//!
//! The secrets are made from their documented forms with a seed, so that a failure can be repeated. By default a part
//! of the whole table is run; `EVIDENCE_FORBIDDEN=full` runs all of it, and `EVIDENCE_FORBIDDEN_SEED` changes the
//! secrets. Each test prints its figures (`--nocapture`).

// What the tests share is a test too, and the lints see only functions marked so.
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
mod ordinary;
mod own;
mod planted;
mod search;
mod tap;
#[path = "../../../evidence-screen/src/screen/tests/template.rs"]
mod template;

/// Whether the whole table is wanted.
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
