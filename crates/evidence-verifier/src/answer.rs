//! What the page is answered.

use evidence_view::verdict::{Report, Verdict};
use serde::Serialize;

use crate::question::Refused;

/// An answer: a JSON document, and bytes where a file was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The JSON document.
    pub document: Vec<u8>,
    /// The bytes of a file or a table.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// An answer without bytes.
    pub(crate) fn of(document: &impl Serialize) -> Answer {
        Answer::with(document, Vec::new())
    }

    /// An answer with bytes.
    pub(crate) fn with(document: &impl Serialize, bytes: Vec<u8>) -> Answer {
        // Text, numbers and lists do not fail to be written into memory.
        Answer { document: serde_json::to_vec(document).unwrap_or_default(), bytes }
    }

    /// Why there is none.
    pub(crate) fn refused(Refused { message, help }: &Refused) -> Answer {
        Answer::of(&Refusal { error: message, help })
    }
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
    help: &'a str,
}

/// Whether the page is what it was when it was written.
#[derive(Debug, Serialize)]
pub(crate) struct PageAnswer {
    /// The SHA-256 of the page; absent where the browser or an extension has changed it.
    pub(crate) sha256: Option<String>,
}

/// The verdict, and what a verified bundle says about itself.
#[derive(Debug, Serialize)]
pub(crate) struct Verified<'a> {
    /// In words.
    pub(crate) verdict: Verdict,
    /// For programs: what `evidence verify --json` prints.
    pub(crate) report: Report<'a>,
    /// What can be looked at, if the bundle is verified.
    pub(crate) contents: Option<Contents>,
}

/// What can be looked at.
#[derive(Debug, Serialize)]
pub(crate) struct Contents {
    pub(crate) bundle_id: String,
    pub(crate) tool_version: String,
    /// The results by control; absent where they are of an unknown form.
    pub(crate) controls: Option<Vec<ControlCounts>>,
    pub(crate) checks: usize,
    /// The number of members of the population; absent where it is of an unknown form.
    pub(crate) members: Option<usize>,
    pub(crate) files: usize,
    pub(crate) has_report: bool,
    /// What filters can choose from.
    pub(crate) rules: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) kinds: Vec<String>,
}

/// A control and how many of its checks have which status.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ControlCounts {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) criteria: String,
    /// The code of the status.
    pub(crate) status: &'static str,
    pub(crate) reason: String,
    pub(crate) counts: String,
}

/// Rows that match.
#[derive(Debug, Serialize)]
pub(crate) struct Page<T> {
    /// How many match.
    pub(crate) found: usize,
    /// Those that are shown.
    pub(crate) rows: Vec<T>,
}

/// A check that is shown.
#[derive(Debug, Serialize)]
pub(crate) struct CheckShown {
    pub(crate) control: String,
    pub(crate) criteria: String,
    pub(crate) source: String,
    pub(crate) rule: String,
    pub(crate) subject: String,
    pub(crate) status: &'static str,
    pub(crate) reason: String,
    pub(crate) title: String,
    pub(crate) expected: String,
    pub(crate) actual: String,
    /// Paths of files of the bundle.
    pub(crate) evidence: Vec<String>,
    /// The hash that decides its place in a sample.
    pub(crate) sha256: Option<String>,
}

/// A member of the population that is shown.
#[derive(Debug, Serialize)]
pub(crate) struct MemberShown {
    pub(crate) source: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) default_branch: String,
    pub(crate) archived: Option<bool>,
    pub(crate) visibility: String,
    pub(crate) in_scope: bool,
    pub(crate) reason: String,
    pub(crate) sha256: Option<String>,
}

/// A file that is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileShown {
    pub(crate) path: String,
    pub(crate) size: u64,
}

/// A file that is shown.
#[derive(Debug, Serialize)]
pub(crate) struct FileText {
    pub(crate) path: String,
    pub(crate) size: usize,
    pub(crate) sha256: String,
    /// Its text, with deceptive characters escaped; absent if it is too large to be shown or not UTF-8.
    pub(crate) text: Option<String>,
}
