//! An answer that is read on its own, as if there were no other: for the fuzzer.

use crate::source::google::host::listing::{Listing, Page};
use crate::source::google::users::{Users, Whose};
use evidence_http::Meta;
use evidence_rules::altcloud::record::User;

/// Its customer.
pub(super) const ORGANIZATION: &str = "acme.example";

/// A listing with a single page.
pub(super) fn listing<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, pages: 1, meta: Some(Meta::default()), problem: None, requests: Vec::new() }
}

/// The users of the customer.
pub(super) fn users(page: Page<User>) -> Users {
    let customer = Whose::Customer { id: "my_customer".to_string(), name: ORGANIZATION.to_string() };
    Users { parts: vec![(customer, listing(page.items))] }
}
