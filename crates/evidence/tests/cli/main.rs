//! The real binary against the sandbox's code host: the output for users, for scripts and for auditors.
//!
//! One file per command or subject. Every run starts with an empty environment, in its own directory and against its
//! own port, so the tests depend neither on the machine nor on each other.

// The helpers are test code, which clippy only recognises in functions marked `#[test]`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod common;
#[path = "../../../evidence-bundle/tests/support/sample.rs"]
#[allow(dead_code, unreachable_pub)]
mod made_documents;
#[path = "../../../evidence-bundle/tests/support/stock.rs"]
mod stock;
#[path = "../support/validator.rs"]
mod validator;

mod app;
mod branch_protection;
mod bulk;
mod bundle;
mod causes;
mod changes;
mod codeowners;
mod collect;
mod connections;
mod cookbook;
mod crash;
mod detached;
mod discovery;
mod disk;
mod dry_run;
mod exit_codes;
mod failures;
mod fleet;
mod fleet_of_many;
mod frameworks;
mod history;
mod include;
mod judgement;
mod keep;
mod keys;
mod least_requests;
mod leavers;
mod made;
mod mistakes;
mod named;
mod notify;
mod origins;
mod people;
mod platform_first;
mod preflight;
mod rejudge;
mod report;
mod reproducible;
mod resume;
mod revalidate;
mod revoked;
mod rulesets;
mod sample;
mod secret_files;
mod secrets;
mod security;
mod settings;
mod several_sources;
mod show;
mod signals;
mod since;
mod spelling;
mod texts;
mod trust;
mod truth;
mod two_factor;
mod upload;
mod verifier;
mod verify;
mod waivers;
mod width;
mod year;
mod year_waivers;
