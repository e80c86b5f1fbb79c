//! Rules over the users, who are listed once for the customer or once for each domain.

use super::record::{TwoStepVerification, UserListing};
use crate::rule::{Rule, Settings, Verdict};

/// A rule over the users of a listing.
#[derive(Debug)]
pub struct ListingJudge {
    /// The rule.
    pub rule: &'static Rule,
    /// Its verdict on the users of one listing; `None` if a part was not read, which has its own observation.
    pub judge: fn(&TwoStepVerification, &UserListing, &Settings) -> Option<Verdict>,
}
