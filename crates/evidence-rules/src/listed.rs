//! How long the lists are that auditors draw samples from: facts of their observations, which documents without the
//! artifacts can show.

use evidence_text::saturating_u64;
use serde_json::Value;

use crate::accounts::Accounts;
use crate::codehost::changes::Changes;
use crate::codehost::people::{People, Role};
use crate::inspection::Facts;

/// How many entries the list has.
pub const ENTRIES: &str = "entries";

/// How many things were listed that the host counts itself: members, or pull requests into any branch.
pub const COUNTED: &str = "entries_counted_by_host";

/// How many the host counts; absent if it does not tell.
pub const HOST_TOTAL: &str = "host_total";

fn facts(entries: usize, counted: Option<u64>, total: Option<u64>) -> Facts {
    let entries = Some((ENTRIES, saturating_u64(entries)));
    let counted = counted.map(|counted| (COUNTED, counted));
    let total = total.map(|total| (HOST_TOTAL, total));
    let all = [entries, counted, total].into_iter().flatten();
    all.map(|(name, number)| (name.into(), Value::from(number))).collect()
}

/// The facts of a list of the people of the code host.
pub fn of_people(people: &People) -> Facts {
    let members = people.people.iter().filter(|person| person.role != Role::OutsideCollaborator);
    let counted = saturating_u64(members.count());
    facts(people.people.len(), Some(counted), people.members_total.value().copied())
}

/// The facts of a list of merged changes; none if they were not read.
pub fn of_changes(changes: &Changes) -> Facts {
    let read = |list: &Vec<_>| facts(list.len(), Some(changes.listed), changes.total.value().copied());
    changes.changes.value().map(read).unwrap_or_default()
}

/// The facts of a list of accounts. Their providers count nothing themselves.
pub fn of_accounts(accounts: &Accounts) -> Facts {
    facts(accounts.people.len(), None, None)
}
