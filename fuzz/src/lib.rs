//! The fuzz targets, which `cargo test -p evidence --test seeds` also runs over the committed seeds.
//!
//! A target takes any bytes, asserts what must hold for all of them, and returns whether the code under test
//! accepted them: seeds that are all refused would test nothing. No target reads a file, a clock or the network.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a target fails by panicking"
)]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "each target has the one function that the header of its file describes"
)]

pub mod answers;
pub mod bundle;
pub mod checksum_list;
pub mod codeowners;
pub mod configuration;
pub mod link;
pub mod reader;
pub mod trust;

/// A target; returns whether the bytes were accepted.
pub type Target = fn(&[u8]) -> bool;

/// Every target, by the name of its directory of seeds.
pub const TARGETS: &[(&str, Target)] = &[
    ("answers", answers::run),
    ("bundle", bundle::run),
    ("checksum_list", checksum_list::run),
    ("codeowners", codeowners::run),
    ("configuration", configuration::run),
    ("link", link::run),
    ("reader", reader::run),
    ("trust", trust::run),
];
