//! Judges the workspace directory's observations again.

use super::facts::Artifact;
use super::group::{Judged, Row};
use crate::altcloud::{OF_ADMIN_ROLES, OF_USER_LIFECYCLE, TWO_STEP_VERIFICATION, two_step};
use crate::inspection::Judgement;
use crate::rule::Settings;

/// What follows from the rows of one group.
pub(super) fn judged(rows: &[Row], settings: &Settings) -> Judged {
    let judgements = rows.iter().flat_map(|row| match &row.artifact {
        Some(Artifact::TwoStep(record)) => {
            let judged = record.listings.iter().filter_map(|listing| {
                let subject = listing.domain.as_deref().map_or_else(|| row.subject.clone(), Into::into);
                let verdict = two_step::judge(record, listing)?;
                Some(Judgement { rule: &TWO_STEP_VERIFICATION, subject, verdict })
            });
            judged.collect()
        }
        Some(Artifact::AdminRoles(record)) => row.judged_by(OF_ADMIN_ROLES, &**record, settings),
        Some(Artifact::UserLifecycle(record)) => row.judged_by(OF_USER_LIFECYCLE, &**record, settings),
        _ => Vec::new(),
    });
    Judged { judgements: judgements.collect(), exempt: None }
}
