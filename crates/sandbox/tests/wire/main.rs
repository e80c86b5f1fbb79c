//! Tests the sandbox over its real port, with a client that shows every byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of tests, which clippy does not see as tests here"
)]

mod access;
mod answers;
mod client;
mod cloud;
mod cloud_calls;
mod contents;
mod faults;
mod graphql;
mod limits;
mod paging;
mod replay;
mod rulesets;
mod scenarios;
mod signer;
mod workspace;
mod workspace_keyless;
mod workspace_token;
