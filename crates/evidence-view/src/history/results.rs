//! The results of one bundle, for the parts of the fold.

use std::collections::BTreeMap;

use evidence_bundle::Status;

/// The results of a bundle: of each rule and subject the worst, by the position of the subject.
pub(super) type Results = BTreeMap<(u32, u32, usize), Found>;

/// The result of a check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) control: u32,
    /// The name of the subject in this bundle.
    pub(super) subject: u32,
    pub(super) status: Status,
    pub(super) reason: u32,
}
