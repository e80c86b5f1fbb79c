//! What every form of the listing shows: a row, a control, and what is known about the whole.

use std::borrow::Cow;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts, Severity};
use evidence_bundle::read::VerifiedBundle;
use evidence_text::Safe;
use evidence_view::rejudged::Again;
use evidence_view::waivers::Waivers;
use evidence_view::{ControlHead, ListRow};
use tempfile::SpooledTempFile;

use crate::finding::{FindingKey, WorstFirst};

/// The size up to which a list stays in memory before it moves to a temporary file.
const IN_MEMORY: usize = 4 << 20;

/// A check and its control.
pub(super) struct Row<'a> {
    pub(super) control: &'a ControlHead,
    pub(super) check: &'a Check,
    /// Its group.
    pub(super) key: FindingKey,
    /// Its identity, by which a waiver is found.
    pub(super) identity: u64,
    /// How much it matters, if it did not pass.
    pub(super) severity: Option<Severity>,
    /// What to do, if it did not pass.
    pub(super) remediation: Cow<'static, str>,
    /// The page where its setting is changed, if it did not pass.
    pub(super) page: Option<String>,
}

impl Row<'_> {
    /// The criteria under which the evidence is commonly filed.
    pub(super) fn criteria(&self) -> &[String] {
        self.control.criteria(&self.check.rule)
    }
}

/// A control, safe to print, and how many of its checks have each status.
pub(super) struct Control {
    pub(super) id: Safe,
    pub(super) title: Safe,
    pub(super) status: Status,
    pub(super) counts: Counts,
}

/// What a listing is about.
pub(in crate::commands) struct Shown<'a> {
    /// The bundle.
    pub(in crate::commands) bundle: &'a VerifiedBundle,
    /// The framework of the controls.
    pub(in crate::commands) framework: &'a str,
    /// The comparison with the signed results, if these are not the signed ones.
    pub(in crate::commands) again: Option<&'a Again>,
}

impl<'a> Shown<'a> {
    /// The signed results of a bundle.
    pub(in crate::commands) fn of(bundle: &'a VerifiedBundle) -> Shown<'a> {
        Shown { bundle, framework: &bundle.framework, again: None }
    }
}

/// Everything but the checks themselves.
pub(super) struct Summary<'a> {
    pub(super) shown: &'a Shown<'a>,
    pub(super) controls: &'a [Control],
    pub(super) findings: &'a WorstFirst,
    pub(super) found: u64,
    pub(super) hidden: u64,
    pub(super) waivers: Option<&'a Waivers>,
    pub(super) lists: &'a [ListRow],
}

/// A list that may be long, held until the bundle is verified.
pub(super) fn spooled() -> SpooledTempFile {
    SpooledTempFile::new(IN_MEMORY)
}
