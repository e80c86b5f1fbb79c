//! The plan of a collection, for a dry run.

use super::session::{AccountState, CloudSession, OpenAccount};
use super::topic::AccountPlan;
use crate::source::{Plan, estimate};
use evidence_text::saturating_u64;

/// The plan of a collection of every account.
pub(super) async fn plan(session: &CloudSession) -> Plan {
    let mut plan = Plan::default();
    let mut requests = 1 + u64::from(session.config.role.is_some());
    requests += saturating_u64(session.config.accounts.len()) + session.organization.requests();
    let (mut more_requests, mut log_groups) = (0, 0);
    for state in &session.accounts {
        let account = match state {
            AccountState::Open(open) => of_account(open).await,
            AccountState::Unread { failed, .. } => {
                plan.failed.push(failed.message.clone());
                continue;
            }
        };
        requests += account.requests;
        more_requests += account.more_requests;
        log_groups += account.log_groups;
        plan.failed.extend(account.failed);
        for (kind, count) in account.artifacts {
            match plan.artifacts.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, all)) => *all += count,
                None => plan.artifacts.push((kind, count)),
            }
        }
    }
    // A refused setting is not an artifact; the warnings have reported it.
    plan.artifacts.retain(|(_, count)| *count > 0);
    plan.requests_minimum = requests;
    plan.requests_maximum = requests + more_requests;
    plan.estimated_bytes = estimate::DOCUMENTS
        + plan.artifact_count() * estimate::CLOUD_ARTIFACT
        + log_groups * estimate::LOG_GROUP;
    plan
}

async fn of_account(OpenAccount { account, answers }: &OpenAccount) -> AccountPlan {
    let mut plan = AccountPlan::default();
    for (_, answers) in answers {
        answers.plan(account, &mut plan).await;
    }
    plan.failed.iter_mut().for_each(|text| text.insert_str(0, &account.label));
    plan
}
