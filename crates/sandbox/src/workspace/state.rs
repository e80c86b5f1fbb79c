//! The state of a workspace directory, with its builder and what a test may change while it is served.

use super::activity::Activity;
use super::person::Person;
use super::policy::Policy;
use super::refusal::Limit;
use super::role::{AdminRole, Assignment};
use super::service_account::ServiceAccount;
use crate::server::{Settings, engine_options};
use crate::throttle::Throttle;
use std::time::Duration;

/// The state of a workspace directory.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub(crate) customer: String,
    pub(crate) domains: Vec<String>,
    pub(crate) people: Vec<Person>,
    pub(crate) roles: Vec<AdminRole>,
    pub(crate) assignments: Vec<Assignment>,
    /// The groups by their ids, and their members: addresses of people, or ids of groups.
    pub(crate) groups: std::collections::BTreeMap<String, Vec<String>>,
    pub(crate) activities: Vec<Activity>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) units: Vec<String>,
    pub(crate) service_accounts: Vec<ServiceAccount>,
    /// The service account attached to the machine, and the scopes of its tokens.
    pub(crate) attached: Option<(String, Vec<String>)>,
    /// The subjects of the other identity provider that the pool accepts.
    pub(crate) federated: Vec<String>,
    /// Whether the service that signs is switched off.
    pub(crate) iam_disabled: bool,
    pub(crate) throttles: Vec<(Throttle, Limit)>,
    pub(crate) denials: Vec<String>,
    pub(crate) api_disabled: bool,
    pub(crate) page_size: usize,
    pub(crate) token_seconds: i64,
    pub(crate) settings: Settings,
    pub(crate) clock_offset_seconds: i64,
}

engine_options!(Workspace);

impl Workspace {
    /// A customer with these domains (the first is the primary one), the default roles, and no people.
    pub fn new<S: Into<String>>(customer: impl Into<String>, domains: impl IntoIterator<Item = S>) -> Self {
        Self {
            customer: customer.into(),
            domains: domains.into_iter().map(Into::into).collect(),
            people: Vec::new(),
            roles: AdminRole::system(),
            assignments: Vec::new(),
            groups: std::collections::BTreeMap::new(),
            activities: Vec::new(),
            policies: Vec::new(),
            units: Vec::new(),
            service_accounts: Vec::new(),
            attached: None,
            federated: Vec::new(),
            iam_disabled: false,
            throttles: Vec::new(),
            denials: Vec::new(),
            api_disabled: false,
            page_size: usize::MAX,
            token_seconds: 3599,
            settings: Settings {
                log_limit: 100_000,
                refused_for: Duration::from_millis(50),
                compression: true,
                ..Settings::default()
            },
            clock_offset_seconds: 0,
        }
    }

    /// Adds a person, or replaces the one with that address.
    pub fn person(mut self, person: Person) -> Self {
        self.put_person(person);
        self
    }

    /// Adds a custom role, or replaces the one with that name.
    pub fn role(mut self, role: AdminRole) -> Self {
        self.roles.retain(|old| old.name != role.name);
        self.roles.push(role);
        self
    }

    /// Adds an assignment to something other than a person: those of people follow from [`Person::super_admin`]
    /// and [`Person::admin_role`].
    pub fn assignment(mut self, assignment: Assignment) -> Self {
        self.assignments.push(assignment);
        self
    }

    /// Adds a group with these members: addresses of people, ids of groups, or anyone from outside.
    pub fn group<S: Into<String>>(
        mut self,
        id: impl Into<String>,
        members: impl IntoIterator<Item = S>,
    ) -> Self {
        self.groups.insert(id.into(), members.into_iter().map(Into::into).collect());
        self
    }

    /// Adds an entry to the administrators' log.
    pub fn activity(mut self, activity: Activity) -> Self {
        self.activities.push(activity);
        self
    }

    /// Adds a service account, or replaces the one with that address.
    pub fn service_account(mut self, account: ServiceAccount) -> Self {
        self.put_service_account(account);
        self
    }

    /// Attaches a service account to the machine; its tokens have these scopes.
    pub fn attached<S: Into<String>>(
        mut self,
        email: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.attached = Some((email.into(), scopes.into_iter().map(Into::into).collect()));
        self
    }

    /// Accepts tokens of the other identity provider with this subject.
    pub fn federated(mut self, subject: impl Into<String>) -> Self {
        self.federated.push(subject.into());
        self
    }

    /// Whether the service that signs is switched off in the service account's project.
    pub fn iam_disabled(mut self, disabled: bool) -> Self {
        self.iam_disabled = disabled;
        self
    }

    /// Throttles calls, in one of the provider's ways.
    pub fn throttle(mut self, throttle: Throttle, limit: Limit) -> Self {
        self.throttles.push((throttle, limit));
        self
    }

    /// Forbids a call by its path to all callers: `/admin/reports/*`.
    pub fn deny(mut self, path: impl Into<String>) -> Self {
        self.denials.push(path.into());
        self
    }

    /// Whether the interface is disabled in the service account's project: every call is then refused.
    pub fn api_disabled(mut self, disabled: bool) -> Self {
        self.api_disabled = disabled;
        self
    }

    /// The most rows on one page, whatever the caller requests.
    pub fn page_size(mut self, rows: usize) -> Self {
        self.page_size = rows.max(1);
        self
    }

    /// How long an access token is valid, in seconds; 3,599 unless set.
    pub fn token_seconds(mut self, seconds: i64) -> Self {
        self.token_seconds = seconds;
        self
    }

    /// Adds or replaces a person.
    pub fn put_person(&mut self, person: Person) {
        match self.people.iter_mut().find(|old| old.email == person.email) {
            Some(old) => *old = person,
            None => self.people.push(person),
        }
    }

    /// Replaces a person by the result of the function. Does nothing if they do not exist.
    pub fn change_person(&mut self, email: &str, change: impl FnOnce(Person) -> Person) {
        if let Some(place) = self.people.iter_mut().find(|known| known.email == email) {
            *place = change(place.clone());
        }
    }

    /// Removes a person without a log entry.
    pub fn remove_person(&mut self, email: &str) {
        self.people.retain(|person| person.email != email);
    }

    /// Adds or replaces a service account.
    pub fn put_service_account(&mut self, account: ServiceAccount) {
        match self.service_accounts.iter_mut().find(|old| old.email == account.email) {
            Some(old) => *old = account,
            None => self.service_accounts.push(account),
        }
    }

    /// Replaces what is forbidden.
    pub fn set_denials<S: Into<String>>(&mut self, paths: impl IntoIterator<Item = S>) {
        self.denials = paths.into_iter().map(Into::into).collect();
    }

    /// Replaces what is throttled.
    pub fn set_throttles(&mut self, throttles: impl IntoIterator<Item = (Throttle, Limit)>) {
        self.throttles = throttles.into_iter().collect();
    }

    pub(crate) fn find_person(&self, key: &str) -> Option<&Person> {
        self.people.iter().find(|person| person.email.eq_ignore_ascii_case(key) || person.id() == key)
    }
}
