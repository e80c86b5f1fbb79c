//! The people of the organization: owners, members and outside collaborators, and who of them has a second factor.
//!
//! The host shows the second factor only to owners, as a filter of these lists; and to whoever is no member it shows the
//! public members alone, without saying so. So the list is called complete only if the host answers as to an owner, and
//! if it counts as many members as it lists.

use std::collections::{BTreeMap, BTreeSet};

use evidence_http::{Answered, Call, CallError, Meta, ParseError, recorded};
use evidence_text::saturating_u64;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::json::Object;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::github::host::answer::says_owners_only;
use crate::source::github::host::api::{Api, JSON, MIB, page_number};
use crate::source::github::host::{Host, refusal};
use crate::source::github::names::NAME;
use crate::source::github::topic::{Inspect, Requests, Topic};
use evidence_rules::codehost::OF_PEOPLE;
use evidence_rules::codehost::artifact::PEOPLE;
use evidence_rules::codehost::people::{People, Person, Role};
use evidence_rules::field::Field;
use evidence_rules::inspection::Facts;
use evidence_rules::listed::of_people;

/// The people.
pub(crate) static TOPIC: Topic = Topic {
    name: "people",
    kind: &PEOPLE,
    asks_for_its_artifact: true,
    // The connection test reads them, so a dry run knows how many pages there are.
    requests: |host| {
        let known = host.shared.people_requests().unwrap_or(LISTS);
        Requests { least: known, most: known, usual: [0; 3], in_bulk: None }
    },
    kept_as: || [None, None],
    inspect: Inspect::Organization { by: inspect, warned: false },
};

/// A page of each list: owners, members, both without a second factor, outsiders, those without a second factor; and the
/// host's own count.
const LISTS: u64 = 6;

/// The most pages of a list: 100,000 people.
const MOST_PAGES: u64 = 1_000;

/// A page of the members.
pub(crate) static MEMBERS: Call<Vec<Account>> = Call {
    name: "/orgs/{org}/members?role={role}&filter={filter}&per_page=100",
    purpose: "`members-two-factor` and `owners-count`",
    times: "once per 100 owners, once per 100 other members, and once per 100 members without a second factor; with \
            `framework: tsc_2017`",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse,
    subject: None,
    keep: None,
};

/// A page of the outside collaborators.
pub(crate) static OUTSIDERS: Call<Vec<Account>> = Call {
    name: "/orgs/{org}/outside_collaborators?filter={filter}&per_page=100",
    purpose: "`members-two-factor`: the others with access",
    times: "once per 100 of them, and once per 100 without a second factor; with `framework: tsc_2017`",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse,
    subject: None,
    keep: None,
};

/// The first member alone: the address of the last page says how many there are.
pub(crate) static MEMBERS_TOTAL: Call<Vec<Account>> = Call {
    name: "/orgs/{org}/members?per_page=1",
    purpose: "the host's own count of members",
    times: "once, with `framework: tsc_2017`",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse,
    subject: None,
    keep: None,
};

/// An account in a list, without everything else that the host sends of it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Account {
    id: u64,
    login: String,
}

fn parse(bytes: &[u8]) -> Result<Vec<Account>, ParseError> {
    Ok(Object::all(serde_json::from_slice(bytes)?))
}

fn inspect(host: &Host) -> BoxFuture<'_, Inspection> {
    observe(host).boxed()
}

async fn observe(host: &Host) -> Inspection {
    let owns = host.organization.settings.two_factor_requirement_enabled.value().is_some();
    let (found, requests) = recorded(read(&host.api(), owns)).await;
    host.shared.asked_for_people(saturating_u64(requests.len()));
    let (seen, people) = match found {
        Ok((people, meta)) => (Seen::artifact(NAME, "people.json", &people, None, &meta), people),
        Err(seen) => (seen, People::default()),
    };
    let facts = if seen.path().is_some() { of_people(&people) } else { Facts::new() };
    let observation =
        Observation { requests, facts, ..Observation::new(NAME, &PEOPLE, host.config.org.as_str(), seen) };
    let subject = std::sync::Arc::clone(&observation.subject);
    Inspection::from(observation).judged_by(OF_PEOPLE, &subject, &people, &host.config.rule_settings)
}

/// Reads the lists. `owns`: the host answers as to an owner of the organization.
async fn read(api: &Api<'_>, owns: bool) -> Result<(People, Meta), Seen> {
    let unread = |problem| refusal::unread_of_organization("members", problem);
    let (owners, meta) = list(api, &MEMBERS, "admin", "all").await.map_err(unread)?;
    let (members, _) = list(api, &MEMBERS, "member", "all").await.map_err(unread)?;
    let without = optional(list(api, &MEMBERS, "all", "2fa_disabled").await)?;
    let outsiders = optional(list(api, &OUTSIDERS, "", "all").await)?;
    let of_outsiders = match outsiders {
        Some(_) => optional(list(api, &OUTSIDERS, "", "2fa_disabled").await)?,
        None => None,
    };
    let members_total = Field::Value(total(api).await.map_err(unread)?);
    let seen_by_owner = owns || without.is_some();
    let outside_collaborators_shown = outsiders.is_some();
    let mut people = BTreeMap::new();
    // Who changed the role meanwhile is in two lists, and counts once, with the higher role.
    let lists = [
        (Role::Owner, Some(owners), &without),
        (Role::Member, Some(members), &without),
        (Role::OutsideCollaborator, outsiders, &of_outsiders),
    ];
    for (role, accounts, without) in lists {
        let without: Option<BTreeSet<u64>> =
            without.as_ref().map(|accounts| accounts.iter().map(|account| account.id).collect());
        for Account { id, login } in accounts.into_iter().flatten() {
            let has = without.as_ref().map(|without| !without.contains(&id));
            let two_factor = has.map_or(Field::Absent, Field::Value);
            people.entry(id).or_insert(Person { id, login, role, two_factor });
        }
    }
    let mut people: Vec<Person> = people.into_values().collect();
    people.sort_by(|one, other| (one.role, &one.login).cmp(&(other.role, &other.login)));
    Ok((People { people, members_total, seen_by_owner, outside_collaborators_shown }, meta))
}

async fn list(
    api: &Api<'_>,
    call: &Call<Vec<Account>>,
    role: &str,
    filter: &str,
) -> Result<(Vec<Account>, Meta), CallError> {
    let parameters = [("org", api.organization), ("role", role), ("filter", filter)];
    api.pages_up_to(call, &parameters, MOST_PAGES).await
}

/// A list that the host shows only to some; `None` if it refuses this token.
fn optional(found: Result<(Vec<Account>, Meta), CallError>) -> Result<Option<Vec<Account>>, Seen> {
    match found {
        Ok((accounts, _)) => Ok(Some(accounts)),
        Err(CallError::Refused(refused)) if says_owners_only(&refused) => Ok(None),
        Err(problem) => match refusal::unread_of_organization("people", problem) {
            Seen::Denied { .. } => Ok(None),
            seen => Err(seen),
        },
    }
}

/// The host's own count of members.
async fn total(api: &Api<'_>) -> Result<u64, CallError> {
    let Answered { value, meta } = api.ask(&MEMBERS_TOTAL, &[("org", api.organization)]).await?;
    let last = api.link(&meta, "last")?.as_ref().and_then(page_number);
    Ok(last.unwrap_or(saturating_u64(value.len())))
}
