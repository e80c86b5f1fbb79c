//! What several topics have in common.

mod about;
mod listings;
mod shapes;

use super::administrators::{ASSIGNMENTS, ROLES};
use super::lifecycle::ACTIVITIES;
use crate::source::google::host::listing::Paged;
use crate::source::google::users::{USERS, USERS_OF_DOMAIN};

/// The budget has room for a page of the largest size, and for every realistic listing.
#[test]
fn bounds_fit_each_other() {
    fn check<T>(paged: &Paged<T>, pages: usize, honest: usize) {
        let (limit, budget) = (paged.call.limit, paged.budget);
        assert!(limit < budget && honest * 5 < limit, "{}: {limit} {budget}", paged.call.name);
        assert!(pages * honest < budget, "{}: {pages} {honest} {budget}", paged.call.name);
        assert!(pages <= usize::try_from(paged.pages).unwrap());
    }
    check(&USERS, 1_200, 190_000);
    check(&USERS_OF_DOMAIN, 1_200, 190_000);
    check(&ROLES, 8, 20_000);
    check(&ASSIGNMENTS, 500, 50_000);
    check(&ACTIVITIES, 100, 500_000);
}
