//! Judges the workspace directory's observations again.

use std::sync::Arc;

use super::facts::Artifact;
use super::group::{Judged, Row};
use crate::age::read_judged_at;
use crate::altcloud::artifact::{ADMINISTRATORS_EFFECTIVE, POLICIES, USER_ACTIVITY};
use crate::altcloud::effective::EffectiveFacts;
use crate::altcloud::inactive_users::Activity;
use crate::altcloud::policies::PolicyFacts;
use crate::altcloud::{
    ListingJudge, OF_ADMIN_ROLES, OF_EFFECTIVE, OF_LEAVERS, OF_POLICIES, OF_USER_ACTIVITY, OF_USER_LIFECYCLE,
    OF_USERS,
};
use crate::inspection::{Judgement, Shown};
use crate::rule::{Reason, Settings};

/// What follows from the rows of one group.
pub(super) fn judged(rows: &[Row], settings: &Settings) -> Judged {
    if let Some(first) = rows.first().filter(|first| *first.kind == USER_ACTIVITY) {
        let judgements = activity(rows).map(|facts| first.judged_by(OF_USER_ACTIVITY, &facts, settings));
        return Judged { judgements: judgements.unwrap_or_default(), exempt: None };
    }
    if let Some(first) = rows.first().filter(|first| *first.kind == ADMINISTRATORS_EFFECTIVE) {
        let record = rows.iter().find_map(|row| match &row.artifact {
            Some(Artifact::AdministratorsEffective(record)) => Some((**record).clone()),
            _ => None,
        });
        let gap = rows.iter().find_map(gap);
        let judgements = first.judged_by(OF_EFFECTIVE, &EffectiveFacts { record, gap }, settings);
        return Judged { judgements, exempt: None };
    }
    if let Some(first) = rows.first().filter(|first| *first.kind == POLICIES) {
        let judgements = policies(rows).map(|facts| first.judged_by(OF_POLICIES, &facts, settings));
        return Judged { judgements: judgements.unwrap_or_default(), exempt: None };
    }
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
        Some(Artifact::Leavers(record)) => row.judged_by(OF_LEAVERS, &**record, settings),
        Some(Artifact::UserLifecycle(record)) => row.judged_by(OF_USER_LIFECYCLE, &**record, settings),
        _ => Vec::new(),
    });
    Judged { judgements: judgements.collect(), exempt: None }
}

/// The policies of a customer, and what was not read of them.
fn policies(rows: &[Row]) -> Option<PolicyFacts> {
    let record = rows.iter().find_map(|row| match &row.artifact {
        Some(Artifact::Policies(record)) => Some((**record).clone()),
        _ => None,
    });
    Some(PolicyFacts { record, at: read_judged_at(&rows.first()?.facts)?, gap: rows.iter().find_map(gap) })
}

/// The users of a customer, and what was not read of them.
fn activity(rows: &[Row]) -> Option<Activity> {
    let mut facts = Activity { users: Vec::new(), at: read_judged_at(&rows.first()?.facts)?, gap: None };
    for row in rows {
        if let Some(Artifact::UserActivity(record)) = &row.artifact {
            facts.users.clone_from(&record.users);
        }
        facts.gap = facts.gap.or_else(|| gap(row));
    }
    Some(facts)
}

/// Why a row has no artifact, and the words for it.
fn gap(row: &Row) -> Option<(&'static Reason, String)> {
    match row.shown() {
        Shown::Nothing(reason, detail) | Shown::Denied(reason, detail) | Shown::Failed(reason, detail) => {
            Some((reason, detail.to_string()))
        }
        Shown::Artifact | Shown::Excluded(_) => None,
    }
}
