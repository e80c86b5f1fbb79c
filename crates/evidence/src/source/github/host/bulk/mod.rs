//! Reads the facts of many repositories with one stored query, by the host's GraphQL interface.
//!
//! What came back counts. What did not proves nothing, so the topics ask for it by the other interface: a `null`, an error, a
//! list that was cut. Repositories are asked for in the order of the collection, a page at a time. A page that is too much
//! for the host is asked again in parts; if that does not help, everything is read by the other interface.

pub(crate) mod answer;
mod dialect;
pub(crate) mod owners;
mod pages;
pub(crate) mod protection;
pub(crate) mod query;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
use serde::Serialize;
use url::Url;

use self::dialect::QueryDialect;
use self::owners::OwnersNode;
pub(crate) use self::pages::FromPage;
use self::pages::{Line, Pages};
use self::protection::ProtectionNode;
use super::super::repository::ScopedRepository;
use crate::env::Clock;
use crate::forecast::Queries;
use evidence_bundle::document::BulkRecord;
use evidence_http::Client;

/// The host allows a minute of its time in a minute; the rest is for what a client cannot see.
pub(crate) const HOST_TIME_PER_MINUTE: SignedDuration = SignedDuration::from_secs(55);

/// See the module.
pub(crate) struct Bulk {
    line: Line,
    /// The repositories in the order of the collection.
    listed: Mutex<Arc<Vec<ScopedRepository>>>,
    protection: Pages<ProtectionNode>,
    owners: Pages<OwnersNode>,
}

#[derive(Serialize)]
struct BranchVariables<'a> {
    ids: &'a [&'a str],
    branch: String,
    named: bool,
    default: bool,
}

#[derive(Serialize)]
struct Ids<'a> {
    ids: &'a [&'a str],
}

impl Bulk {
    /// The interface beside the one at `base`, for a client that asks that one.
    pub(crate) fn new(client: &Client, base: &Url, clock: Clock) -> Bulk {
        let client = client.beside(Arc::new(QueryDialect), HOST_TIME_PER_MINUTE);
        Bulk {
            line: Line::new(client, query::address(base), clock),
            listed: Mutex::default(),
            protection: Pages::default(),
            owners: Pages::default(),
        }
    }

    /// The repositories to read, in the order of the collection.
    pub(crate) fn begin(&self, repositories: &Arc<Vec<ScopedRepository>>) {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(repositories);
        self.protection.restart();
        self.owners.restart();
    }

    /// The protection of a repository's branch, as far as it is shown. `number`: its place in the order of the collection,
    /// if it has one. `default`: the branch is the default one of each
    /// repository, whose name differs. Of a repository for which another branch is meant, the page shows the wrong one.
    pub(crate) async fn protection(
        &self,
        repository: &ScopedRepository,
        number: Option<usize>,
        branch: &str,
        default: bool,
    ) -> Option<FromPage<ProtectionNode>> {
        let (repositories, position) = self.position(repository, number)?;
        let request = |ids: &[&str]| {
            let branch = if default { String::new() } else { format!("refs/heads/{branch}") };
            let variables = BranchVariables { ids, branch, named: !default, default };
            query::BRANCH_PROTECTION.request(&self.line.url, &variables)
        };
        let call = query::BRANCH_PROTECTION.call;
        self.protection.get(&self.line, &repositories, position, call, request).await
    }

    /// The CODEOWNERS of a repository, as far as it is shown.
    pub(crate) async fn owners(
        &self,
        repository: &ScopedRepository,
        number: Option<usize>,
    ) -> Option<FromPage<OwnersNode>> {
        let (repositories, position) = self.position(repository, number)?;
        let request = |ids: &[&str]| query::CODEOWNERS.request(&self.line.url, &Ids { ids });
        self.owners.get(&self.line, &repositories, position, query::CODEOWNERS.call, request).await
    }

    /// Where a repository is in the order. One that is tried first has no place in it.
    fn position(
        &self,
        repository: &ScopedRepository,
        number: Option<usize>,
    ) -> Option<(Arc<Vec<ScopedRepository>>, usize)> {
        let listed = Arc::clone(&self.listed.lock().unwrap_or_else(PoisonError::into_inner));
        let position = number?.checked_rem(listed.len())?;
        let is_it = listed.get(position).is_some_and(|listed| listed.subject == repository.subject);
        is_it.then_some((listed, position))
    }

    /// Why the interface is no longer asked, the first time that this is called after it was given up.
    pub(crate) fn given_up(&self) -> Option<String> {
        self.line.take_reason()
    }

    /// Where it stands with its limits, unless it was given up.
    pub(crate) fn standing(&self) -> Option<Queries> {
        self.line.standing()
    }

    /// How many queries were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.line.record().queries
    }

    /// What it took.
    pub(crate) fn record(&self) -> BulkRecord {
        self.line.record()
    }
}
