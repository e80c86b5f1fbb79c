//! The state of a code host, with its builder and what a test may change while it is served.

use super::app::App;
use super::limits::Limits;
use super::organization::Organization;
use super::repository::Repository;
use super::ruleset::Ruleset;
use super::token::Token;
use crate::clock::VirtualTime;
use crate::fault::Fault;
use crate::server::Settings;
use jiff::Timestamp;
use std::time::Duration;

/// The largest page of the real host.
pub(super) const MAXIMUM_PAGE_SIZE: u64 = 100;

/// The state of a code host.
#[derive(Clone, Debug)]
pub struct CodeHost {
    pub(crate) organizations: Vec<Organization>,
    pub(crate) repositories: Vec<Repository>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) apps: Vec<App>,
    pub(crate) enterprise_rulesets: Vec<(String, Ruleset)>,
    pub(crate) limits: Limits,
    pub(crate) faults: Vec<Fault>,
    pub(crate) latency: Duration,
    pub(crate) clock_offset_seconds: i64,
    pub(crate) hands: VirtualTime,
    pub(crate) page_size: u64,
    pub(crate) base_path: String,
    pub(crate) public_url: Option<String>,
    pub(crate) compression: bool,
    pub(crate) log_limit: usize,
    pub(crate) port: u16,
    pub(crate) login_attempts: Option<u64>,
    pub(crate) old_server: bool,
    pub(crate) incomplete_search: bool,
    pub(crate) refused_for: Duration,
    next_id: u64,
}

impl Default for CodeHost {
    fn default() -> Self {
        Self::new()
    }
}

impl CodeHost {
    /// An empty host: documented limits of a user (5,000 an hour), no latency, no faults.
    pub fn new() -> Self {
        Self {
            organizations: Vec::new(),
            repositories: Vec::new(),
            tokens: Vec::new(),
            apps: Vec::new(),
            enterprise_rulesets: Vec::new(),
            limits: Limits::default(),
            faults: Vec::new(),
            latency: Duration::ZERO,
            clock_offset_seconds: 0,
            hands: VirtualTime::default(),
            page_size: MAXIMUM_PAGE_SIZE,
            base_path: String::new(),
            public_url: None,
            compression: true,
            log_limit: 100_000,
            port: 0,
            login_attempts: None,
            old_server: false,
            incomplete_search: false,
            refused_for: Duration::from_millis(50),
            next_id: 210_000_000,
        }
    }

    /// Adds an organization, or replaces the one with that name.
    pub fn organization(mut self, organization: Organization) -> Self {
        self.put_organization(organization);
        self
    }

    /// Adds a repository, or replaces the one with that name.
    pub fn repository(mut self, repository: Repository) -> Self {
        self.put_repository(repository);
        self
    }

    /// Adds a token, or replaces it.
    pub fn token(mut self, token: Token) -> Self {
        self.put_token(token);
        self
    }

    /// Adds an app, or replaces the one with that id.
    pub fn app(mut self, app: App) -> Self {
        self.put_app(app);
        self
    }

    /// A ruleset of the enterprise that all organizations here belong to.
    pub fn enterprise_ruleset(mut self, enterprise: impl Into<String>, ruleset: Ruleset) -> Self {
        self.enterprise_rulesets.push((enterprise.into(), ruleset));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Every answer takes this long.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// Adds a fault. The first one that matches a request and is not used up applies.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Sets the host's clock off by this much.
    pub fn clock_offset_seconds(mut self, seconds: i64) -> Self {
        self.clock_offset_seconds = seconds;
        self
    }

    /// Uses this clock: windows and lock-outs pass when a test says so, without sleeping.
    pub fn clock(mut self, read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.hands.read_by(read);
        self
    }

    /// Also uses the test's clock for the latency: `wait` completes when that much time has passed on it.
    pub fn waits<Waiting>(mut self, wait: impl Fn(Duration) -> Waiting + Send + Sync + 'static) -> Self
    where
        Waiting: Future<Output = ()> + Send + 'static,
    {
        self.hands.wait_by(wait);
        self
    }

    /// The largest page of a listing, however many entries are requested: 100 unless set.
    pub fn page_size(mut self, entries: u64) -> Self {
        self.page_size = entries.clamp(1, MAXIMUM_PAGE_SIZE);
        self
    }

    /// Serves the API below this path, like a self-hosted server: `/api/v3`.
    pub fn base_path(mut self, path: &str) -> Self {
        self.base_path = path.trim_end_matches('/').to_owned();
        self
    }

    /// The host's own URL in its bodies, as behind a proxy; links between pages keep the requested address. Two runs
    /// then see the same bytes, whatever their ports.
    pub fn public_url(mut self, url: &str) -> Self {
        self.public_url = Some(url.trim_end_matches('/').to_owned());
        self
    }

    /// Whether to compress bodies for clients that accept it. The real host does; a measurement may not want it.
    pub fn compression(mut self, compression: bool) -> Self {
        self.compression = compression;
        self
    }

    /// How many requests the log holds (the oldest go first); 0 for none.
    pub fn log_limit(mut self, requests: usize) -> Self {
        self.log_limit = requests;
        self
    }

    /// The port, instead of any free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The number of bad credentials after which the host refuses all credentials, even good ones. The real number
    /// is not published.
    pub fn login_attempts(mut self, attempts: u64) -> Self {
        self.login_attempts = Some(attempts);
        self
    }

    /// How long [`FaultKind::Refuse`](crate::FaultKind::Refuse) lasts: 50 ms unless set. Long times multiply, since each refuses all
    /// clients.
    pub fn refused_for(mut self, pause: Duration) -> Self {
        self.refused_for = pause;
        self
    }

    /// Searches end before they have found everything, and say so.
    pub fn incomplete_search(mut self) -> Self {
        self.incomplete_search = true;
        self
    }

    /// An older self-hosted server: errors without a status, repositories without a visibility, no rules endpoint,
    /// no API versions.
    pub fn old_server(mut self, old: bool) -> Self {
        self.old_server = old;
        self
    }

    /// Adds or replaces an organization.
    pub fn put_organization(&mut self, mut organization: Organization) {
        let old =
            self.organizations.iter_mut().find(|old| old.login.eq_ignore_ascii_case(&organization.login));
        if let Some(old) = old {
            organization.id = organization.id.or(old.id);
            *old = organization;
            return;
        }
        if organization.id.is_none() {
            organization.id = Some(self.take_id() / 10);
        }
        self.organizations.push(organization);
    }

    /// Adds or replaces a repository. A new one is the newest: first in the default order of listings.
    pub fn put_repository(&mut self, mut repository: Repository) {
        let old = self.repositories.iter_mut().find(|old| old.is(&repository.owner, &repository.name));
        if let Some(old) = old {
            repository.id = repository.id.or(old.id);
            *old = repository;
            return;
        }
        if repository.id.is_none() {
            repository.id = Some(self.take_id());
        }
        self.repositories.push(repository);
    }

    /// Adds or replaces a token.
    pub fn put_token(&mut self, token: Token) {
        self.tokens.retain(|old| old.secret != token.secret);
        self.tokens.push(token);
    }

    /// Adds or replaces an app.
    pub fn put_app(&mut self, app: App) {
        self.apps.retain(|old| old.id != app.id);
        self.apps.push(app);
    }

    /// Deletes a repository.
    pub fn remove_repository(&mut self, owner: &str, name: &str) {
        self.repositories.retain(|repository| !repository.is(owner, name));
    }

    /// Replaces a repository by the result of the function. Does nothing if it does not exist.
    pub fn change_repository(
        &mut self,
        owner: &str,
        name: &str,
        change: impl FnOnce(Repository) -> Repository,
    ) {
        if let Some(place) = self.repositories.iter_mut().find(|repository| repository.is(owner, name)) {
            *place = change(place.clone());
        }
    }

    /// Replaces an organization by the result of the function.
    pub fn change_organization(&mut self, login: &str, change: impl FnOnce(Organization) -> Organization) {
        if let Some(place) =
            self.organizations.iter_mut().find(|known| known.login.eq_ignore_ascii_case(login))
        {
            *place = change(place.clone());
        }
    }

    /// Replaces every token by the result of the function.
    pub fn change_tokens(&mut self, change: impl Fn(Token) -> Token) {
        self.tokens = self.tokens.drain(..).map(change).collect();
    }

    /// Sets the limits and restarts the counters.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Adds a fault.
    pub fn add_fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Removes all faults.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Sets the latency.
    pub fn set_latency(&mut self, latency: Duration) {
        self.latency = latency;
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            faults: self.faults.clone(),
            latency: self.latency,
            base_path: self.base_path.clone(),
            compression: self.compression,
            log_limit: self.log_limit,
            port: self.port,
            max_body: 0,
            refused_for: self.refused_for,
        }
    }

    fn take_id(&mut self) -> u64 {
        self.next_id += 1_379;
        self.next_id
    }
}
