//! The repositories in scope: the configured ones, or those that discovery lists, as far as the list is trustworthy.

mod discovery;

use std::sync::Arc;

pub(super) use self::discovery::remedy;
use self::discovery::{Compared, Discovery};
use super::config::Repositories;
use super::exclusion::{EXCLUDED, Exclusion};
use super::host::Host;
use super::named::NamedRepository;
use super::names::{MEMBER, NAME};
use super::preflight::Preflight;
use super::repositories::{FirstPage, RepositoryListing};
use super::repository::{self, Origin, ScopedRepository};
use super::topics::organization::answer::{ORGANIZATION, RepositoryCounts};
use super::{repositories, topics};
use crate::observation::{ArtifactKind, Failed, Observation, Seen};
use crate::source::{CollectionItem, Member, PopulationScope};
use evidence_bundle::document::Scope;
use evidence_http::{Asked, recorded};
use evidence_text::saturating_u64;
use evidence_view::scope;

/// The name of the repository listing in documents.
const LISTING: &str = "repository_listing";

/// The repositories in scope, and the problems of finding them.
pub(super) struct Population {
    pub(super) discovered: Option<u64>,
    pub(super) repositories: Arc<Vec<ScopedRepository>>,
    /// Every member, in the order of names.
    pub(super) members: Vec<Member>,
    pub(super) scope: PopulationScope,
    pub(super) found: Vec<CollectionItem>,
}

/// How often a listing that contradicts the organization's own count is read again.
const REREADS: u32 = 2;

/// The repositories in scope, as far as they are known at once.
pub(super) enum Found<'a> {
    /// Those that the configuration names.
    Known(Population),
    /// Those that discovery lists, before the list is compared with the host's own count.
    Listed(Listing<'a>),
}

/// The repositories in scope: the configured ones, or those that discovery lists.
pub(super) async fn find<'a>(host: &'a Host, preflight: &Preflight) -> Found<'a> {
    if topics::of_repositories(&host.config).next().is_none() {
        let (repositories, members, found) = Default::default();
        let org = host.config.org.as_str();
        let scope = PopulationScope::new(Scope::Whole, org, scope::ORGANIZATION, 0);
        return Found::Known(Population { discovered: None, repositories, members, scope, found });
    }
    match &host.config.repos {
        Repositories::Listed(names) => {
            let mut exclusion = Exclusion::new(&host.config.exclude);
            let excluded = names.iter().filter(|name| exclusion.excludes(name)).map(|name| Member {
                out_of_scope: Some(EXCLUDED),
                ..Member::new(MEMBER, repository::named(&host.config.org, name))
            });
            let excluded: Vec<Member> = excluded.collect();
            let repositories: Vec<ScopedRepository> =
                preflight.named.iter().map(|named| named.scoped.clone()).collect();
            let is_shown = |repository: &&ScopedRepository| matches!(repository.origin, Origin::Shown(_));
            let listed = repositories.iter().filter(is_shown).count();
            let members = preflight.named.iter().map(|named| named.member.clone()).chain(excluded).collect();
            let found = preflight.named.iter().flat_map(NamedRepository::found);
            let found = found.chain(excluded_nothing(host, &exclusion)).collect();
            let scope = extent(host, Scope::Chosen, saturating_u64(listed), &host.organization.counts);
            let repositories = Arc::new(repositories);
            Found::Known(Population { discovered: None, repositories, members, scope, found })
        }
        Repositories::All => {
            let counts = host.organization.counts.clone();
            Found::Listed(Listing::read(host, preflight.first_page(host), counts, Vec::new(), 0).await)
        }
    }
}

/// The repositories that the host lists. If it counts a different number, the count and the list are read again:
/// repositories come and go while a long list is read.
pub(super) struct Listing<'a> {
    host: &'a Host,
    discovery: Discovery<'a>,
    pages: RepositoryListing,
    counts: RepositoryCounts,
    requests: Vec<Asked>,
    rereads: u32,
}

impl<'a> Listing<'a> {
    async fn read(
        host: &'a Host,
        first: impl Future<Output = FirstPage>,
        counts: RepositoryCounts,
        mut requests: Vec<Asked>,
        rereads: u32,
    ) -> Listing<'a> {
        let mut discovery = Discovery::new(host);
        let read = async {
            let first = first.await;
            let mut take = |page, at| discovery.add(page, at);
            repositories::listing(&host.api(), first, &mut take).await
        };
        let (pages, asked) = recorded(read).await;
        requests.extend(asked);
        discovery.sort();
        Listing { host, discovery, pages, counts, requests, rereads }
    }

    /// The repositories that are listed and in scope, in order.
    pub(super) fn repositories(&self) -> Arc<Vec<ScopedRepository>> {
        self.discovery.repositories()
    }

    /// Compares the list with the host's own count. Returns whether the list must be read again.
    pub(super) async fn is_outdated(&mut self) -> bool {
        let Listing { host, discovery, pages, counts, requests, rereads } = self;
        let several = pages.pages_read > 1;
        if several || discovery.compared(counts) == Compared::Differs {
            let (again, asked) = recorded(counts_again(host)).await;
            requests.extend(asked);
            *counts = again.unwrap_or_else(|| counts.clone());
        }
        let reread = match discovery.compared(counts) {
            Compared::Agrees | Compared::Unknown => false,
            // On a single page, no repository can be missed between two pages.
            Compared::Differs => several || counts.total() < Some(discovery.listed()),
        };
        reread && pages.problems.is_empty() && !pages.partial && *rereads < REREADS
    }

    /// Reads the list again.
    pub(super) async fn again(self) -> Listing<'a> {
        let Listing { host, counts, requests, rereads, .. } = self;
        let first = async { repositories::first_page(&host.api()).await };
        Listing::read(host, first, counts, requests, rereads + 1).await
    }

    /// The population of this list.
    pub(super) fn population(self) -> Population {
        let Listing { host, discovery, pages, counts, requests, .. } = self;
        let mut population = discovery.end(&pages, &counts);
        let subject = host.config.org.as_str().into();
        let listed = CollectionItem::Listed { kind: LISTING, subject, requests };
        population.found.insert(0, listed);
        population
    }
}

/// The organization's repository counts, read again; `None` if the request fails.
async fn counts_again(host: &Host) -> Option<RepositoryCounts> {
    let answered = host.api().ask(&ORGANIZATION, &[("org", &host.config.org)]).await.ok()?;
    Some(answered.value.counts)
}

/// Warns of patterns that match nothing: they are probably misspelt, and the intended repositories are collected.
fn excluded_nothing(host: &Host, exclusion: &Exclusion<'_>) -> impl Iterator<Item = CollectionItem> {
    let org = &host.config.org;
    exclusion.unused().map(move |pattern| {
        let text = format!("the exclusion {org}/{pattern} matches no repository");
        CollectionItem::Warned(host.warning("exclude_matches_nothing", text))
    })
}

/// The scope of `listed` repositories beside the organization's own counts.
pub(super) fn extent(host: &Host, scope: Scope, listed: u64, counts: &RepositoryCounts) -> PopulationScope {
    let totals = [("public_repos", counts.public_repos), ("total_private_repos", counts.total_private_repos)];
    PopulationScope {
        host_total: counts.total(),
        host_totals: totals.into_iter().filter_map(|(name, count)| Some((name, count?))).collect(),
        ..PopulationScope::new(scope, host.config.org.as_str(), MEMBER, listed)
    }
}

/// The scope in a sentence.
pub(super) fn in_words(scope: &PopulationScope, in_scope: u64) -> String {
    scope::sentence(&scope.clone().record(NAME, in_scope, scope.listed))
}

/// Whether a list with this scope makes the bundle incomplete.
pub(super) fn is_incomplete(host: &Host, scope: Scope) -> bool {
    scope.is_incomplete(host.config.accept_unconfirmed)
}

/// Records that a part of the population is unknown, for every topic.
fn undiscovered(host: &Host, found: &mut Vec<CollectionItem>, problem: &Failed) {
    for topic in topics::of_repositories(&host.config) {
        found.push(unread(host, topic.kind, Seen::Failed(problem.clone())));
    }
}

/// Records that nothing is known about the members of a part of the population.
fn unread(host: &Host, kind: &'static ArtifactKind, seen: Seen) -> CollectionItem {
    CollectionItem::Inspected(Observation::new(NAME, kind, host.config.org.as_str(), seen).into())
}
