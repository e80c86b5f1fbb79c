//! The directory: people, roles and role assignments.

use super::fields::Selection;
use super::paging::Page;
use super::person::Person;
use super::refusal::Refusal;
use super::role::{Assignment, SUPER};
use super::shape::etag;
use super::{Workspace, person_body};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The parameters of a query, decoded.
pub(super) type Query = HashMap<String, String>;

/// The members of a listing: its rows (absent if empty), and the token of the next page if there is one.
pub(super) fn listing(kind: &str, rows: (&str, Vec<Value>), next: Option<String>) -> Value {
    let (name, rows) = rows;
    let tag = etag(&Value::from(rows.clone()).to_string());
    let mut body = Map::from_iter([("kind".to_owned(), kind.into()), ("etag".to_owned(), tag.into())]);
    if !rows.is_empty() {
        body.insert(name.to_owned(), rows.into());
    }
    if let Some(next) = next {
        body.insert("nextPageToken".to_owned(), next.into());
    }
    Value::Object(body)
}

/// Keeps only the members in `fields`.
pub(super) fn reduce(query: &Query, levels: &[&[&str]], body: Value) -> Result<Value, Refusal> {
    let Some(text) = query.get("fields").filter(|text| !text.is_empty()) else { return Ok(body) };
    let wrong = |what: &str| Refusal::parameter("fields", &format!("Invalid field selection {what}"));
    let selection = Selection::parse(text).ok_or_else(|| wrong(text))?;
    match selection.unknown(levels) {
        Some(name) => Err(wrong(name)),
        None => Ok(selection.apply(body)),
    }
}

/// `users.list`.
pub(super) fn users(workspace: &Workspace, start: Timestamp, query: &Query) -> Result<Value, Refusal> {
    let text = |name: &str| query.get(name).map(String::as_str);
    let domain = text("domain");
    match (text("customer"), domain) {
        (None, None) => return Err(Refusal::bad_request()),
        (_, Some(domain)) if !workspace.domains.iter().any(|known| known.eq_ignore_ascii_case(domain)) => {
            return Err(Refusal::domain_not_found());
        }
        (Some(customer), _) if !workspace.is_customer(customer) => return Err(Refusal::invalid_input()),
        _ => {}
    }
    let deleted = text("showDeleted") == Some("true");
    let full = matches!(text("projection"), Some("full"));
    let search = text("query").map(Search::parse).unwrap_or_else(|| Ok(Search::default()))?;
    let mut found: Vec<&Person> = workspace
        .people
        .iter()
        .filter(|person| person.deleted.is_some() == deleted)
        .filter(|person| domain.is_none_or(|domain| person.domain().eq_ignore_ascii_case(domain)))
        .filter(|person| search.matches(person))
        .collect();
    match text("orderBy") {
        None => {}
        Some("email") => found.sort_by_cached_key(|person| person.email.to_lowercase()),
        Some("familyName") => found.sort_by_cached_key(|person| person.family.to_lowercase()),
        Some("givenName") => found.sort_by_cached_key(|person| person.given.to_lowercase()),
        Some(other) => return Err(Refusal::parameter("orderBy", &format!("Invalid value '{other}'."))),
    }
    if text("sortOrder") == Some("DESCENDING") {
        found.reverse();
    }
    let name = format!("users {domain:?} {:?} {:?} {deleted}", text("query"), text("orderBy"));
    let (rows, next) = Page::of(query, name, (100, 500), workspace.page_size)?.cut(&found);
    let rows = rows.iter().map(|person| person_body::body(workspace, person, start, full)).collect();
    let body = listing("admin#directory#users", ("users", rows), next);
    const TOP: &[&str] = &["etag", "kind", "nextPageToken", "trigger_event", "users"];
    reduce(query, &[TOP, person_body::MEMBERS], body)
}

/// `roles.list`.
pub(super) fn roles(workspace: &Workspace, customer: &str, query: &Query) -> Result<Value, Refusal> {
    workspace.check_customer(customer)?;
    let page = Page::of(query, "roles".to_owned(), (100, 100), workspace.page_size)?;
    let (rows, next) = page.cut(&workspace.roles);
    let rows = rows.iter().map(super::AdminRole::body).collect();
    const ROW: &[&str] = &[
        "etag",
        "isSuperAdminRole",
        "isSystemRole",
        "kind",
        "roleDescription",
        "roleId",
        "roleName",
        "rolePrivileges",
    ];
    reduce(query, &[ITEMS, ROW], listing("admin#directory#roles", ("items", rows), next))
}

/// The members of a listing with rows called `items`.
pub(super) const ITEMS: &[&str] = &["etag", "items", "kind", "nextPageToken"];

/// `roleAssignments.list`.
pub(super) fn role_assignments(
    workspace: &Workspace,
    customer: &str,
    query: &Query,
) -> Result<Value, Refusal> {
    workspace.check_customer(customer)?;
    let id = |key: &String| workspace.find_person(key).map_or_else(|| key.clone(), Person::id);
    let who = query.get("userKey").map(id);
    let role = query.get("roleId");
    let mut all = assignments(workspace);
    all.retain(|(assignment, id)| {
        who.as_ref().is_none_or(|who| assignment.is_of(who)) && role.is_none_or(|role| role == id)
    });
    let name = format!("assignments {who:?} {role:?}");
    let (rows, next) = Page::of(query, name, (100, 200), workspace.page_size)?.cut(&all);
    let rows = rows.iter().map(|(assignment, role)| assignment.body(role)).collect();
    const ROW: &[&str] = &[
        "assignedTo",
        "assigneeType",
        "condition",
        "etag",
        "expirationDetails",
        "kind",
        "orgUnitId",
        "roleAssignmentId",
        "roleId",
        "scopeType",
    ];
    reduce(query, &[ITEMS, ROW], listing("admin#directory#roleAssignments", ("items", rows), next))
}

/// `members.list`: the direct members.
pub(super) fn members(workspace: &Workspace, group: &str, query: &Query) -> Result<Value, Refusal> {
    let Some(members) = workspace.groups.get(group) else {
        return Err(Refusal::group_not_found());
    };
    let (rows, next) =
        Page::of(query, format!("members {group}"), (200, 200), workspace.page_size)?.cut(members);
    let row = |member: &String| {
        let person = workspace.find_person(member);
        let is_group = workspace.groups.contains_key(member) || member.starts_with("group-");
        let status = match person {
            Some(person) if person.suspended || person.archived => "SUSPENDED",
            _ => "ACTIVE",
        };
        let mut body = serde_json::json!({
            "kind": "admin#directory#member",
            "etag": etag(member),
            "id": person.map_or_else(|| member.clone(), Person::id),
            "email": "planted-7f3c@acme.example",
            "role": "MEMBER",
            "type": if is_group { "GROUP" } else { "USER" },
        });
        if let Some(body) = body.as_object_mut().filter(|_| !is_group) {
            body.insert("status".to_owned(), status.into());
        }
        body
    };
    let rows = rows.iter().map(row).collect();
    const TOP: &[&str] = &["etag", "kind", "members", "nextPageToken"];
    const ROW: &[&str] = &["delivery_settings", "email", "etag", "id", "kind", "role", "status", "type"];
    reduce(query, &[TOP, ROW], listing("admin#directory#members", ("members", rows), next))
}

impl Workspace {
    pub(super) fn is_customer(&self, customer: &str) -> bool {
        customer == "my_customer" || customer == self.customer
    }

    pub(super) fn check_customer(&self, customer: &str) -> Result<(), Refusal> {
        // Whether another customer's id gets this answer or a 403 is not known for certain.
        if self.is_customer(customer) { Ok(()) } else { Err(Refusal::bad_request()) }
    }

    pub(super) fn domain(&self) -> &str {
        self.domains.first().map_or("", String::as_str)
    }
}

/// The searchable fields.
const SEARCHED: &[&str] = &[
    "email",
    "isAdmin",
    "isArchived",
    "isDelegatedAdmin",
    "isEnforcedIn2Sv",
    "isEnrolledIn2Sv",
    "isSuspended",
    "orgUnitPath",
];

/// `query`: clauses that must all match. Supports only the part of the real language that compares with a whole
/// value, or with the beginning of an address.
#[derive(Debug, Default)]
struct Search(Vec<(String, String)>);

impl Search {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let mut clauses = Vec::new();
        for clause in text.split_whitespace() {
            let (name, value) = clause.split_once(['=', ':']).ok_or_else(Refusal::invalid_input)?;
            if !SEARCHED.contains(&name) {
                return Err(Refusal::invalid_input());
            }
            clauses.push((name.to_owned(), value.trim_matches(['\'', '"']).to_owned()));
        }
        Ok(Self(clauses))
    }

    fn matches(&self, person: &Person) -> bool {
        self.0.iter().all(|(name, value)| {
            let yes = value == "true";
            match name.as_str() {
                "isAdmin" => person.super_admin == yes,
                "isDelegatedAdmin" => person.roles.is_empty() != yes,
                "isSuspended" => person.suspended == yes,
                "isArchived" => person.archived == yes,
                "isEnrolledIn2Sv" => person.enrolled == yes,
                "isEnforcedIn2Sv" => person.enforced == yes,
                "orgUnitPath" => person.unit.starts_with(value.as_str()),
                _ => match value.strip_suffix('*') {
                    Some(start) => person.email.starts_with(start),
                    None => person.email == *value,
                },
            }
        })
    }
}

/// All assignments with the ids of their roles: those of people, then the others. Skips roles that do not exist.
fn assignments(workspace: &Workspace) -> Vec<(Assignment, String)> {
    let people = workspace.people.iter().filter(|person| person.deleted.is_none());
    let of_people = people.flat_map(|person| {
        let first = person.super_admin.then(|| Assignment::of(person, SUPER));
        first.into_iter().chain(person.roles.iter().map(|role| Assignment::of(person, role)))
    });
    of_people
        .chain(workspace.assignments.iter().cloned())
        .filter_map(|assignment| {
            let role = workspace.roles.iter().find(|role| role.name == assignment.role)?;
            Some((assignment, role.id()))
        })
        .collect()
}
