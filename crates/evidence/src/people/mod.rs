//! People over all sources: who left the directory, and what the other sources say of them.
//!
//! The lists are those that the sources made as artifacts. What each says of the people of the map becomes an artifact of the
//! directory, and the rule is judged from that alone, so that whoever has the bundle can judge again.

mod map;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use self::map::{MapRow, PeopleMap};
use crate::observation::{Inspection, Observation, Seen, SourceName};
use crate::source::CollectionItem;
use evidence_http::Meta;
use evidence_rules::accounts::Accounts;
use evidence_rules::altcloud::OF_LEAVERS;
use evidence_rules::altcloud::artifact::LEAVERS;
use evidence_rules::altcloud::leavers::{AccountState, Leavers, MappedAccount, MappedPerson};
use evidence_rules::codehost::people::People;
use evidence_rules::rule::Settings;

/// The source that says who left.
pub(crate) const DIRECTORY: &str = "altcloud";

/// The lists of people that the sources made.
#[derive(Debug, Default)]
pub(crate) struct PeopleSeen(BTreeMap<&'static str, SourcePeople>);

/// The people of one source.
#[derive(Debug, Default)]
struct SourcePeople {
    /// Whether a list was read, and every list to its end.
    lists: u64,
    partial: bool,
    /// Whether they can sign in, by the id and by the login in lower case.
    accounts: BTreeMap<String, Vec<Option<bool>>>,
}

impl PeopleSeen {
    /// Notes the lists of people among what a source yielded.
    pub(crate) fn take(&mut self, source: SourceName, item: &CollectionItem) {
        let CollectionItem::Inspected(inspection) = item else { return };
        for observation in &inspection.observations {
            let is_list = ["people", "account_people", "directory_people"].contains(&observation.kind.name);
            // The list of an account of the cloud is made of this report.
            let is_basis = observation.kind.name == "credential_report";
            match &observation.seen {
                Seen::Artifact { artifact, .. } if is_list => {
                    self.0.entry(source.id()).or_default().add(observation.kind.name, artifact.bytes());
                }
                Seen::Artifact { .. } => {}
                Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Failed(_) | Seen::Withheld { .. } => {
                    if is_list || is_basis {
                        self.0.entry(source.id()).or_default().partial = true;
                    }
                }
            }
        }
    }

    /// What a source says of an account of the map.
    fn state(&self, source: &str, account: &str) -> AccountState {
        let Some(people) = self.0.get(source) else { return AccountState::Unknown };
        match people.accounts.get(&account.to_lowercase()) {
            Some(found) if found.contains(&Some(true)) => AccountState::Active,
            Some(found) if found.contains(&None) => AccountState::Unknown,
            Some(_) => AccountState::Suspended,
            None if people.lists > 0 && !people.partial => AccountState::Gone,
            None => AccountState::Unknown,
        }
    }
}

impl SourcePeople {
    fn add(&mut self, kind: &str, list: &[u8]) {
        self.lists = self.lists.saturating_add(1);
        let mut note = |names: [String; 2], active: Option<bool>| {
            let [id, login] = names.map(|name| name.to_lowercase());
            if id != login {
                self.accounts.entry(login).or_default().push(active);
            }
            self.accounts.entry(id).or_default().push(active);
        };
        let is_complete = if kind == "people" {
            let Ok(list) = serde_json::from_slice::<People>(list) else { return self.partial = true };
            // The code host has no suspended accounts.
            list.people.iter().for_each(|one| note([one.id.to_string(), one.login.clone()], Some(true)));
            list.is_complete()
        } else {
            let Ok(list) = serde_json::from_slice::<Accounts>(list) else { return self.partial = true };
            for one in &list.people {
                note([one.id.clone(), one.login.clone()], one.suspended.value().map(|suspended| !suspended));
            }
            list.complete
        };
        self.partial |= !is_complete;
    }
}

/// What the sources say of the people of the map, and the verdict.
pub(crate) fn leavers(
    map: &PeopleMap,
    seen: &PeopleSeen,
    source: SourceName,
    organization: &str,
    now: Timestamp,
) -> CollectionItem {
    let person = |row: &MapRow| {
        let mut person = MappedPerson { line: row.line, ..MappedPerson::default() };
        for (source, account) in map.sources.iter().zip(&row.accounts) {
            let Some(account) = account else { continue };
            let (source, account) = (source.clone(), account.clone());
            let found = MappedAccount { state: seen.state(&source, &account), source, account };
            if found.source == DIRECTORY {
                person.directory = Some(found);
            } else {
                person.accounts.push(found);
            }
        }
        person
    };
    let record = Leavers { people: map.people.iter().map(person).collect() };
    let meta = Meta { status: 200, received_at: now, ..Meta::default() };
    let seen = Seen::artifact(source, "leavers.json", &record, None, &meta);
    let observation = Observation::new(source, &LEAVERS, organization, seen);
    let inspection = Inspection::from(observation);
    CollectionItem::Inspected(inspection.judged_by(
        OF_LEAVERS,
        &organization.into(),
        &record,
        &Settings::default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn seen(lists: &[(&'static str, &str, Value)]) -> PeopleSeen {
        let mut seen = PeopleSeen::default();
        for (source, kind, list) in lists {
            seen.0.entry(*source).or_default().add(kind, list.to_string().as_bytes());
        }
        seen
    }

    /// What each list says of those in it and of others, complete or not.
    #[test]
    fn what_the_lists_say() {
        use AccountState::{Active, Gone, Suspended, Unknown};
        let code = |total: u64| {
            json!({"people": [{"id": 7, "login": "Mia", "role": "owner"}], "members_total": total,
                "seen_by_owner": true, "outside_collaborators_shown": true})
        };
        let account = |id: &str, login: &str, suspended: Value| json!({"id": id, "login": login, "role": "user", "suspended": suspended});
        let list = |complete: bool, people: Value| json!({"complete": complete, "people": people});
        for (total, other) in [(1, Gone), (2, Unknown)] {
            let seen = seen(&[("codehost", "people", code(total))]);
            for (name, expected) in [("mia", Active), ("7", Active), ("max", other)] {
                assert_eq!(seen.state("codehost", name), expected, "{name}");
            }
            assert_eq!(seen.state("cloud", "mia"), Unknown);
        }
        let users = json!([account("1/mia", "mia", json!(true)), account("1/max", "max", json!(null))]);
        let more = json!([account("2/mia", "mia", json!(false))]);
        let both = seen(&[
            ("cloud", "account_people", list(true, users.clone())),
            ("cloud", "account_people", list(true, more)),
        ]);
        // A name without an account means every account.
        for (name, expected) in
            [("mia", Active), ("1/mia", Suspended), ("2/mia", Active), ("max", Unknown), ("2/max", Gone)]
        {
            assert_eq!(both.state("cloud", name), expected, "{name}");
        }
        let part = seen(&[("altcloud", "directory_people", list(false, users))]);
        assert_eq!((part.state("altcloud", "mia"), part.state("altcloud", "nobody")), (Suspended, Unknown));
        let broken = seen(&[("altcloud", "directory_people", json!([]))]);
        assert_eq!(broken.state("altcloud", "mia"), Unknown);
    }
}
