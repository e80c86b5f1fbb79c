//! The answers to the page.

use evidence_bundle::document::Counts;
use evidence_view::sanitized;
use evidence_view::verdict::{Report, Verdict};
use serde::Serialize;

use crate::question::Refused;

/// An answer: a JSON document, and bytes if the question was for a file.
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
        // Serializing texts, numbers and lists into memory never fails.
        Answer { document: serde_json::to_vec(document).unwrap_or_default(), bytes }
    }

    /// A refusal, with its reason.
    pub(crate) fn refused(Refused { message, help }: &Refused) -> Answer {
        // A message can name a file.
        Answer::of(&Refusal { error: &sanitized(message), help })
    }
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
    help: &'a str,
}

/// Whether the page is unchanged since it was written.
#[derive(Debug, Serialize)]
pub(crate) struct PageAnswer {
    /// The SHA-256 of the page; absent if the browser or an extension has changed it.
    pub(crate) sha256: Option<String>,
}

/// The verdict, and what a verified bundle says about itself.
#[derive(Debug, Serialize)]
pub(crate) struct Verified<'a> {
    /// The verdict as text.
    pub(crate) verdict: Verdict,
    /// The name of the bundle's file, safe to show.
    pub(crate) name: String,
    /// The same report that `evidence verify --json` prints.
    pub(crate) report: Report<'a>,
    /// An index of the contents, if the bundle is verified.
    pub(crate) contents: Option<Contents>,
}

/// An index of a verified bundle.
#[derive(Debug, Serialize)]
pub(crate) struct Contents {
    pub(crate) bundle_id: String,
    pub(crate) tool_version: String,
    /// The results by criterion; absent if they have an unknown form.
    pub(crate) criteria: Option<Vec<CriterionCounts>>,
    /// The results by control; absent if they have an unknown form.
    pub(crate) controls: Option<Vec<ControlCounts>>,
    /// The scope of each source.
    pub(crate) scopes: Vec<ScopeShown>,
    /// Whether the signer says that everything requested was read.
    pub(crate) complete: bool,
    pub(crate) checks: usize,
    /// The number of members of the population; absent if it has an unknown form.
    pub(crate) members: Option<usize>,
    pub(crate) files: usize,
    /// What the signer says about it.
    pub(crate) organization: String,
    pub(crate) framework: String,
    pub(crate) created_at: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) excluded: Vec<String>,
    pub(crate) errors: Vec<String>,
    /// The choices of filters.
    pub(crate) rules: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) kinds: Vec<String>,
}

/// The scope of a source.
#[derive(Debug, Serialize)]
pub(crate) struct ScopeShown {
    pub(crate) source: String,
    pub(crate) sentence: String,
    /// `whole`, `chosen`, `partial`, `unconfirmed` or `unreached`.
    pub(crate) scope: &'static str,
    pub(crate) kind: String,
    pub(crate) listed: u64,
    pub(crate) in_scope: u64,
    /// How many the host counts, if it reports that.
    pub(crate) host_total: Option<u64>,
}

/// A criterion with the counts of the checks that are commonly filed under it, by status.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CriterionCounts {
    pub(crate) id: String,
    /// The rules of its checks.
    pub(crate) rules: String,
    /// The code of the most urgent status.
    pub(crate) status: &'static str,
    pub(crate) counts: Counts,
}

/// A control with the counts of its checks by status.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ControlCounts {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) criteria: String,
    /// The code of the status.
    pub(crate) status: &'static str,
    pub(crate) reason: String,
    pub(crate) counts: Counts,
}

/// A report made from the documents of a bundle.
#[derive(Debug, Serialize)]
pub(crate) struct ReportMade {
    /// How the signer's report compares with it: `absent`, `same` or `different`.
    pub(crate) signed: &'static str,
    /// Whether the bundle names the version of this page, so that a difference cannot come from the version.
    pub(crate) same_version: bool,
}

/// Matching rows.
#[derive(Debug, Serialize)]
pub(crate) struct Page<T> {
    /// The number of matches.
    pub(crate) found: usize,
    /// The rows to show.
    pub(crate) rows: Vec<T>,
}

/// A check to show.
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
    /// The hash that decides its position in a sample.
    pub(crate) sha256: Option<String>,
}

/// A member of the population to show.
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

/// A file in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileShown {
    pub(crate) path: String,
    pub(crate) size: u64,
}

/// A file to show.
#[derive(Debug, Serialize)]
pub(crate) struct FileText {
    pub(crate) path: String,
    pub(crate) size: usize,
    pub(crate) sha256: String,
    /// Its text, with deceptive characters escaped; absent if it is too large or not UTF-8.
    pub(crate) text: Option<String>,
    /// The text that it holds in base64, such as that of a CODEOWNERS file.
    pub(crate) decoded: Option<String>,
}
