//! The estimated sizes of a bundle's parts for a dry run, in compressed bytes, including their rows in the documents.
//!
//! Measured on generated organizations, accounts and directories with regular names. `cargo test -p evidence --test cli
//! estimates -- --include-ignored --nocapture` prints each estimate next to the size of the collected bundle, and fails
//! if one is more than twice the other.

/// The documents of a bundle with one source and no artifacts.
pub(super) const DOCUMENTS: u64 = 12_000;
/// An artifact about a repository.
pub(super) const REPOSITORY_ARTIFACT: u64 = 500;
/// An artifact of a cloud account.
pub(super) const CLOUD_ARTIFACT: u64 = 200;
/// A log group in the artifact of its region.
pub(super) const LOG_GROUP: u64 = 14;
/// Roles, a few events and the rest of a directory.
pub(super) const DIRECTORY: u64 = 3_000;
/// A user of a directory in its artifacts.
pub(super) const DIRECTORY_USER: u64 = 50;
