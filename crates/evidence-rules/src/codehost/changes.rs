//! The changes of a period to the checked branch: merged pull requests with their reviews, and pushes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::branch_protection::DEFAULT_BRANCH_DIFFERS;
use crate::field::Field;
use crate::rule::{Reason, Verdict};

/// `changes_total.json`: how many pull requests the host's own search counts as merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesTotal {
    /// From when.
    pub from: String,
    /// Until when: an hour before the run, because the index of the search lags.
    pub to: String,
    /// In the whole organization.
    pub total: u64,
    /// In each repository that has any.
    pub repositories: Vec<RepositoryTotal>,
}

/// A repository of [`ChangesTotal`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryTotal {
    /// The repository.
    pub repository: String,
    /// How many pull requests were merged.
    pub merged: u64,
}

/// `repo_{owner}_{repo}_changes.json`. No title, text, label, file or message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The beginning of the period.
    pub from: String,
    /// Its end.
    pub to: String,
    /// How many pull requests the host's search counts as merged until `total_to`, into any branch; absent if not told.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub total: Field<u64>,
    /// How many were listed until then, into any branch.
    pub listed: u64,
    /// Until when these two were counted.
    pub total_to: String,
    /// Whether a push dismisses approvals of the branch; only if it decides, and `null` if the host does not show it.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub stale_approvals_dismissed: Field<bool>,
    /// The pull requests that were merged into the branch, by number; absent if they were not read.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub changes: Field<Vec<Change>>,
    /// What reached the branch by another way; absent if it was not read.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub pushes: Field<Vec<Push>>,
}

/// A merged pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number.
    pub number: u64,
    /// Who opened it; `null` for a deleted account.
    pub author: Option<Account>,
    /// Who merged it, if the activity of the branch shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<String>,
    /// When it was merged.
    pub merged_at: String,
    /// The commit that was merged into the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The last commit of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The reviews that approve, ask for changes, or were dismissed, in their order.
    pub reviews: Vec<Review>,
}

/// An account of a person or a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The login.
    pub login: String,
    /// `User`, `Bot` or another type; empty if the host does not say.
    #[serde(rename = "type", default)]
    pub kind: String,
}

/// A review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// By whom; `null` for a deleted account.
    pub by: Option<Account>,
    /// `APPROVED`, `CHANGES_REQUESTED` or `DISMISSED`.
    pub state: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// On which commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A push to the branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Push {
    /// Who pushed; `null` for a deleted account.
    pub actor: Option<String>,
    /// `push`, `force_push`, or a word that this version does not know.
    pub kind: String,
    /// When.
    pub at: String,
    /// The commit before.
    pub before: String,
    /// The commit after.
    pub after: String,
}

/// The changes, and what decides beside them.
#[derive(Debug, Default)]
pub struct ChangesFacts {
    /// The record.
    pub record: Changes,
    /// The default branch, if no branch is configured and the default is known to differ.
    pub other_default: Option<String>,
    /// Whether the pull requests were asked for and not shown.
    pub changes_unread: bool,
    /// Whether the activity was asked for and not shown.
    pub pushes_unread: bool,
    /// The accounts that may push.
    pub exempt: Vec<String>,
}

impl ChangesFacts {
    /// The verdict if the branch that was looked at is not the one that is used.
    pub(super) fn without_branch(&self) -> Option<Verdict> {
        let default = self.other_default.as_ref()?;
        let text = format!("the default branch is {default}, and no branch is configured");
        Some(Verdict::unknown(&DEFAULT_BRANCH_DIFFERS, text))
    }
}

/// A time of the host.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Who did something is not known.
pub static ACCOUNT_NOT_VISIBLE: Reason =
    Reason::new("account_not_visible", "Account deleted or not visible").advice(
        evidence_bundle::document::Severity::Low,
        evidence_bundle::document::Category::Partial,
        "Look at the change on the host: the account that made or approved it was deleted, or is not shown to this token.",
    );
