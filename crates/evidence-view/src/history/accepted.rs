//! A waiver of a failure, as text, JSON and pages show it.

use evidence_bundle::document::WaiverState;
use serde::Serialize;

use crate::words::{counted, grouped};

/// A waiver of a failure, in the names of `evidence history --json`. A field is never renamed.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodWaiver))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExceptionWaiver {
    /// Its id in the file.
    pub id: String,
    /// Whether it accepts the failure in the last bundle in which the check fails.
    pub state: Accepted,
    /// Whether it was first approved before or after the first bundle in which the check fails.
    pub approval: Approval,
    /// The first approval that the bundles of the period show.
    pub approved_at: String,
    /// Who approved it last.
    pub approved_by: String,
    /// Its last day, as it was last set.
    pub expires_at: String,
    /// How often its last day moved to a later one while the check failed.
    pub renewals: u64,
    /// In how many bundles it accepts the failure.
    pub bundles: u64,
    /// The first bundle in which it accepts the failure.
    pub first_applied: Option<String>,
    /// The last one.
    pub last_applied: Option<String>,
}

/// Whether a waiver accepts a failure.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodWaiverState))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accepted {
    /// It does.
    Applied,
    /// Its last day was over.
    Expired,
    /// Its first day had not begun.
    NotYetValid,
    /// The bundle has no such waiver any more, or it accepts other failures now.
    Removed,
}

/// When a waiver was first approved, beside the first bundle in which the check fails.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodApproval))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// On an earlier day.
    Before,
    /// On that day.
    SameDay,
    /// On a later day.
    After,
}

impl Accepted {
    pub(super) fn of(state: WaiverState) -> Accepted {
        match state {
            WaiverState::Expired => Accepted::Expired,
            WaiverState::NotYetValid => Accepted::NotYetValid,
            WaiverState::Applied => Accepted::Applied,
            WaiverState::NotMatched | WaiverState::NotNeeded | WaiverState::Unused => Accepted::Removed,
        }
    }
}

impl ExceptionWaiver {
    /// What it did for a failure in this many bundles, in words. Its texts are not sanitized.
    pub fn words(&self, failing: u64) -> String {
        let ExceptionWaiver { id, approved_at, approved_by, expires_at, .. } = self;
        let state = match self.state {
            Accepted::Applied => format!("waived until {expires_at}"),
            Accepted::Expired => format!("expired on {expires_at}"),
            Accepted::NotYetValid => format!("not yet valid, until {expires_at}"),
            Accepted::Removed => format!("no longer listed, was until {expires_at}"),
        };
        let approval = match self.approval {
            Approval::Before => "before the failure was first seen",
            Approval::SameDay => "on the day the failure was first seen",
            Approval::After => "after the failure was first seen",
        };
        let renewed = match self.renewals {
            0 => String::new(),
            1 => ", renewed once".to_owned(),
            times => format!(", renewed {} times", grouped(times)),
        };
        format!(
            "waiver {id}: {state}; first approved {approved_at}, {approval}{renewed}, last by {approved_by}; accepts the failure in {} of {}",
            grouped(self.bundles),
            counted(failing, "failing bundle")
        )
    }
}
