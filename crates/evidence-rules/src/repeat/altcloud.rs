//! Judges the workspace directory's observations again.

use super::facts::Artifact;
use super::group::{Judged, Row};
use crate::altcloud::{
    ADMINISTRATORS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG, administrators, lifecycle, two_step,
};
use crate::inspection::Judgement;

/// What follows from the rows of one group.
pub(super) fn judged(rows: &[Row]) -> Judged {
    let judgements = rows.iter().flat_map(|row| match &row.artifact {
        Some(Artifact::TwoStep(record)) => {
            let judged = record.listings.iter().filter_map(|listing| {
                let subject = listing.domain.as_deref().map_or_else(|| row.subject.clone(), Into::into);
                let verdict = two_step::judge(record, listing)?;
                Some(Judgement { rule: &TWO_STEP_VERIFICATION, subject, verdict })
            });
            judged.collect()
        }
        Some(Artifact::AdminRoles(record)) => administrators::judge(record)
            .map(|verdict| row.judged(&ADMINISTRATORS, verdict))
            .into_iter()
            .collect(),
        Some(Artifact::UserLifecycle(record)) => lifecycle::judge(record)
            .map(|verdict| row.judged(&USER_LIFECYCLE_LOG, verdict))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    });
    Judged { judgements: judgements.collect(), exempt: None }
}
