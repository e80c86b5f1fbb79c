//! Judges the workspace directory's observations again.

use std::sync::Arc;

use super::facts::Artifact;
use super::group::{Judged, Row};
use crate::altcloud::{ListingJudge, OF_ADMIN_ROLES, OF_USER_LIFECYCLE, OF_USERS};
use crate::inspection::Judgement;
use crate::rule::Settings;

/// What follows from the rows of one group.
pub(super) fn judged(rows: &[Row], settings: &Settings) -> Judged {
    let judgements = rows.iter().flat_map(|row| match &row.artifact {
        Some(Artifact::TwoStep(record)) => {
            let judged = record.listings.iter().flat_map(|listing| {
                let subject = listing.domain.as_deref().map_or_else(|| row.subject.clone(), Into::into);
                let verdict = |judge: &&ListingJudge| {
                    let verdict = (judge.judge)(record, listing, settings)?;
                    Some(Judgement { rule: judge.rule, subject: Arc::clone(&subject), verdict })
                };
                OF_USERS.iter().filter_map(verdict).collect::<Vec<_>>()
            });
            judged.collect()
        }
        Some(Artifact::AdminRoles(record)) => row.judged_by(OF_ADMIN_ROLES, &**record, settings),
        Some(Artifact::UserLifecycle(record)) => row.judged_by(OF_USER_LIFECYCLE, &**record, settings),
        _ => Vec::new(),
    });
    Judged { judgements: judgements.collect(), exempt: None }
}
