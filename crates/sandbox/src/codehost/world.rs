//! The state with indexes for organizations, repositories, tokens and listings.

use super::app::Issued;
use super::{CodeHost, Fleet, Organization, Repository, Token};
use crate::lock::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// One version of the state, with its indexes. No `Debug`: its keys are tokens.
pub(super) struct World {
    pub(super) host: CodeHost,
    /// The base URL of the API in bodies: origin and base path.
    pub(super) url: String,
    /// The actual base URL, for links and redirects.
    pub(super) own_url: String,
    organizations: HashMap<String, usize>,
    made: Vec<Arc<Repository>>,
    by_name: HashMap<String, usize>,
    by_id: HashMap<u64, usize>,
    moved: HashMap<String, usize>,
    tokens: HashMap<String, Arc<Token>>,
    /// The tokens that apps got.
    pub(super) issued: Arc<Issued>,
    listings: Mutex<HashMap<String, Arc<Vec<Slot>>>>,
}

/// The origin of a repository in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The state, at this index.
    Made(usize),
    /// The organization's fleet, with this number.
    Fleet(u32),
}

/// The result of looking up a repository by its path.
pub(super) enum RepositoryLookup {
    Here(Arc<Repository>),
    /// It was renamed; this is its id.
    Moved(u64),
    Nothing,
}

impl World {
    pub(super) fn new(host: CodeHost, url: &str, issued: Arc<Issued>) -> Self {
        let organizations =
            host.organizations.iter().enumerate().map(|(at, o)| (o.login.to_lowercase(), at)).collect();
        let name = |repository: &Repository| key(&repository.owner, &repository.name);
        let by_name = host.repositories.iter().enumerate().map(|(at, r)| (name(r), at)).collect();
        let by_id = host.repositories.iter().enumerate().map(|(at, r)| (r.number(), at)).collect();
        let mut moved = HashMap::new();
        for (at, repository) in host.repositories.iter().enumerate() {
            for (owner, name) in &repository.previous {
                moved.insert(key(owner, name), at);
            }
        }
        let tokens =
            host.tokens.iter().map(|token| (token.secret.clone(), Arc::new(token.clone()))).collect();
        let made = host.repositories.iter().cloned().map(Arc::new).collect();
        let own_url = url.to_owned();
        let url = host.public_url.clone().unwrap_or_else(|| own_url.clone());
        Self {
            host,
            url,
            own_url,
            organizations,
            made,
            by_name,
            by_id,
            moved,
            tokens,
            issued,
            listings: Mutex::default(),
        }
    }

    pub(super) fn token(&self, secret: &str) -> Option<&Arc<Token>> {
        self.tokens.get(secret)
    }

    pub(super) fn organization(&self, login: &str) -> Option<&Organization> {
        self.organizations.get(&login.to_lowercase()).and_then(|at| self.host.organizations.get(*at))
    }

    pub(super) fn organization_by_id(&self, id: &str) -> Option<&Organization> {
        let id: u64 = id.parse().ok()?;
        self.host.organizations.iter().find(|organization| organization.number() == id)
    }

    pub(super) fn repository(&self, owner: &str, name: &str) -> RepositoryLookup {
        let key = key(owner, name);
        if let Some(repository) = self.by_name.get(&key).and_then(|at| self.made.get(*at)) {
            return RepositoryLookup::Here(repository.clone());
        }
        if let Some(repository) = self.moved.get(&key).and_then(|at| self.host.repositories.get(*at)) {
            return RepositoryLookup::Moved(repository.number());
        }
        let fleet = self.organization(owner).and_then(|organization| organization.fleet.as_ref());
        match fleet.and_then(|fleet| fleet.by_name(name)) {
            Some(repository) => RepositoryLookup::Here(Arc::new(repository)),
            None => RepositoryLookup::Nothing,
        }
    }

    pub(super) fn repository_by_id(&self, id: &str) -> Option<Arc<Repository>> {
        let id: u64 = id.parse().ok()?;
        if let Some(repository) = self.by_id.get(&id).and_then(|at| self.made.get(*at)) {
            return Some(repository.clone());
        }
        let fleets = self.host.organizations.iter().filter_map(|organization| organization.fleet.as_ref());
        fleets.filter_map(|fleet| fleet.by_id(id)).next().map(Arc::new)
    }

    /// The repositories of an organization that pass the filter, in order; cached under the key.
    pub(super) fn listing(
        &self,
        organization: &Organization,
        cache_key: String,
        order: Order,
        filter: impl Fn(&Listed) -> bool,
    ) -> Arc<Vec<Slot>> {
        if let Some(known) = lock(&self.listings).get(&cache_key) {
            return known.clone();
        }
        let mut rows: Vec<(String, u64, Slot)> = Vec::new();
        for (at, repository) in self.host.repositories.iter().enumerate() {
            let listed =
                Listed { slot: Slot::Made(at), private: repository.is_private(), fork: repository.fork };
            if repository.owner.eq_ignore_ascii_case(&organization.login) && filter(&listed) {
                rows.push((repository.name.to_lowercase(), repository.number(), listed.slot));
            }
        }
        if let Some(fleet) = &organization.fleet {
            for number in 0..fleet.count() {
                let listed =
                    Listed { slot: Slot::Fleet(number), private: fleet.is_private(number), fork: false };
                if filter(&listed) {
                    rows.push((Fleet::name(number), fleet.id(number), listed.slot));
                }
            }
        }
        match order.by_name {
            true => rows.sort_unstable_by(|a, b| a.0.cmp(&b.0)),
            false => rows.sort_unstable_by_key(|row| row.1),
        }
        if order.descending {
            rows.reverse();
        }
        let slots = Arc::new(rows.into_iter().map(|(_, _, slot)| slot).collect::<Vec<_>>());
        lock(&self.listings).insert(cache_key, slots.clone());
        slots
    }

    pub(super) fn at(&self, organization: &Organization, slot: Slot) -> Option<Arc<Repository>> {
        match slot {
            Slot::Made(at) => self.made.get(at).cloned(),
            Slot::Fleet(number) => {
                organization.fleet.as_ref().map(|fleet| Arc::new(fleet.repository(number)))
            }
        }
    }

    pub(super) fn made(&self, slot: Slot) -> Option<&Repository> {
        match slot {
            Slot::Made(at) => self.host.repositories.get(at),
            Slot::Fleet(_) => None,
        }
    }
}

/// The data that a listing's filter uses.
pub(super) struct Listed {
    pub(super) slot: Slot,
    pub(super) private: bool,
    pub(super) fork: bool,
}

/// The order of a listing. Creation, update and push have the same order here: that of the ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) by_name: bool,
    pub(super) descending: bool,
}

/// Compares owners and names without regard to case.
fn key(owner: &str, name: &str) -> String {
    format!("{}/{}", owner.to_lowercase(), name.to_lowercase())
}
