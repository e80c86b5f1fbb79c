//! Changes to the branch require a review and status checks, also from administrators; and the further rules about the
//! protection of one branch.
//!
//! `choice` names the branch, `rule` declares the rule and its reasons, `facts` holds what is known, `system` the requirements of each rule and whom
//! they apply to, `layers` what follows from several of them, `reviewers` the teams that must approve, `judge` the verdict.
//! `history` and `stale_approvals` are rules of their own.

mod choice;
mod facts;
pub mod history;
mod judge;
mod layers;
mod reviewers;
mod rule;
pub mod stale_approvals;
mod system;

pub use self::choice::branch_of;
pub use self::facts::{BranchFacts, Classic, RULESET_ID, Rules, Unread, Viewer};
pub use self::judge::{JUDGE, judge, passes_alone, reduced, wants_branch};
pub use self::rule::*;
pub use self::system::is_of_organization;

use crate::codehost::reason::PLAN_LIMIT;
use crate::rule::{Judge, Rule, Settings, Status, reason as shared};

/// The ruleset whose bypass list can still change a verdict.
type Next = fn(&BranchFacts, &Settings) -> Option<u64>;

/// Every rule about the protection of a branch, and the ruleset that it needs next.
static EVERY: [(&Judge<BranchFacts>, Next); 3] = [
    (&JUDGE, judge::next_ruleset),
    (&history::JUDGE, |facts, _| history::next_ruleset(facts)),
    (&stale_approvals::JUDGE, |facts, _| stale_approvals::next_ruleset(facts)),
];

/// Whether rulesets can change the verdict of a rule that `wanted` names: not if it passes by the classic rule, nor if
/// nothing more can be read.
pub fn wants_rules(facts: &BranchFacts, settings: &Settings, wanted: impl Fn(&'static Rule) -> bool) -> bool {
    if facts.other_default.is_some() {
        return false;
    }
    match &facts.classic {
        Classic::Empty | Classic::NoBranch(_) => false,
        Classic::Absent(_) => true,
        Classic::Shown(_) => EVERY.iter().filter(|(judge, _)| wanted(judge.rule)).any(|(judge, _)| {
            (judge.judge)(facts, settings).is_some_and(|verdict| verdict.status != Status::Pass)
        }),
        // A token without access to the classic rule may have access to rulesets, and a plan that lacks one may have
        // the other. A failure or another owner's repository ends the observation.
        Classic::Unread(Unread { reason, refused, .. }) => {
            *refused && [&shared::PERMISSION_DENIED, &PLAN_LIMIT].contains(reason)
        }
    }
}

/// The ruleset whose bypass list can still change the verdict of a rule that `wanted` names.
pub fn next_ruleset(
    facts: &BranchFacts,
    settings: &Settings,
    wanted: impl Fn(&'static Rule) -> bool,
) -> Option<u64> {
    EVERY.iter().filter(|(judge, _)| wanted(judge.rule)).find_map(|(_, next)| next(facts, settings))
}

#[cfg(test)]
mod tests;
