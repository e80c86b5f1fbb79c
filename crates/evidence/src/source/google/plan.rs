//! The plan of a collection, for a dry run.

use futures_util::future::join_all;

use super::observe::plan_gaps;
use super::session::AltCloudSession;
use super::users;
use crate::source::{Plan, estimate};
use evidence_rules::altcloud::artifact::USER_ACTIVITY;
use evidence_text::saturating_u64;

/// The plan of a collection. Only a page names the next one, so counting requires reading everything but the log.
pub(super) async fn plan(AltCloudSession { host, users, answers, .. }: &AltCloudSession) -> Plan {
    let mut plan = Plan::default();
    let users = users::read(host, users).await;
    plan_gaps(&mut plan, users.gaps());
    let parts = join_all(answers.iter().map(|(_, answers)| answers.plan(host))).await;
    let (mut longer, mut further) = (0_u64, 0_u64);
    for ((topic, _), part) in answers.iter().zip(parts) {
        plan.artifacts.push((topic.name, 1));
        if *topic.kind == USER_ACTIVITY {
            plan.artifacts.push(("people", 1));
        }
        plan.failed.extend(part.gaps.failed);
        plan.unreadable.extend(part.gaps.unreadable);
        longer = longer.saturating_add(part.longer);
        further = further.saturating_add(part.longer.saturating_mul(part.further_pages));
    }
    // A collection repeats these requests and adds those for the rest of the log.
    let (requests, retries) = host.access.requests();
    let made = requests.saturating_sub(retries);
    plan.requests_minimum = made.saturating_add(longer);
    plan.requests_maximum = made.saturating_add(further);
    let users = saturating_u64(users.all().len());
    plan.estimated_bytes = estimate::DOCUMENTS + estimate::DIRECTORY + users * estimate::DIRECTORY_USER;
    plan
}
