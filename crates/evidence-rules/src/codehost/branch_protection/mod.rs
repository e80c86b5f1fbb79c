//! Changes to the branch require a review and status checks, also from administrators.
//!
//! `choice` names the branch, `rule` declares the rule and its reasons, `facts` holds what is known, `system` the requirements of each rule and whom
//! they apply to, `reviewers` the teams that must approve, `judge` the verdict.

mod choice;
mod facts;
mod judge;
mod reviewers;
mod rule;
mod system;

pub use self::choice::branch_of;
pub use self::facts::{BranchFacts, Classic, RULESET_ID, Rules, Unread, Viewer};
pub use self::judge::{JUDGE, judge, next_ruleset, passes_alone, reduced, wants_branch, wants_rules};
pub use self::rule::*;
pub use self::system::is_of_organization;

#[cfg(test)]
mod tests;
