//! Each answer by itself, without a host: what it comes to is what the collection makes of a listing with this one page.
//!
//! Nothing here decides; the reading is in `wire`, the meaning in `look`.

use jiff::Timestamp;

use super::api::{Listing, Period, Whose};
use super::look::{self, Users};
use super::wire::{self, Page};
use crate::http::{Meta, ParseError};
use crate::source::{Answer, Found};

/// A customer that the answers are about.
const ORGANIZATION: &str = "acme.example";

pub(super) static ANSWERS: &[Answer] = &[
    Answer { call: "users.list", read: users },
    Answer { call: "roles.list", read: roles },
    Answer { call: "roleAssignments.list", read: assignments },
    Answer { call: "activities.list", read: activities },
    Answer { call: "token", read: token },
];

fn users(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let users = of(wire::users(bytes)?);
    let mut found = look::two_step(ORGANIZATION, &users);
    found.extend(look::admin_roles(ORGANIZATION, &users, &listing(Vec::new()), &listing(Vec::new())));
    Ok(found)
}

fn roles(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let (nobody, roles) = (Users { parts: Vec::new() }, listing(wire::roles(bytes)?.items));
    Ok(look::admin_roles(ORGANIZATION, &nobody, &roles, &listing(Vec::new())))
}

fn assignments(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let (nobody, assignments) = (Users { parts: Vec::new() }, listing(wire::assignments(bytes)?.items));
    Ok(look::admin_roles(ORGANIZATION, &nobody, &listing(Vec::new()), &assignments))
}

fn activities(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let parts = vec![("CREATE_USER", listing(wire::activities(bytes)?.items))];
    let period = Period { start: Timestamp::UNIX_EPOCH, end: Timestamp::UNIX_EPOCH };
    Ok(look::lifecycle(ORGANIZATION, period, parts))
}

fn token(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    wire::token(bytes).map(|_| Vec::new())
}

fn of(page: Page<super::record::User>) -> Users {
    let customer = Whose::Customer { id: "my_customer".to_string(), name: ORGANIZATION.to_string() };
    Users { parts: vec![(customer, listing(page.items))] }
}

/// A listing of one page.
fn listing<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, pages: 1, meta: Some(Meta::default()), problem: None }
}
