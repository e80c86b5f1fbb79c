//! The repositories in scope: the configured ones, or those that discovery lists, as far as the list is trustworthy.

mod discovery;

use std::collections::HashSet;

pub(super) use self::discovery::remedy;
use self::discovery::{Compared, Discovery};
use super::calls::ORGANIZATION;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::named::NamedRepository;
use super::repository::{Details, Names, Origin, ScopedRepository};
use super::wire::RepositoryCounts;
use super::{CodeHostSession, MEMBER, NAME, names, wire};
use crate::observation::{Failed, Seen};
use crate::source::{CollectionItem, Member, PopulationScope};
use evidence_bundle::document::Scope;
use evidence_http::recorded;
use evidence_rules::rule::reason;
use evidence_text::saturating_u64;
use evidence_view::scope;
use jiff::Timestamp;

/// The code for a repository that the configuration excludes.
const EXCLUDED: &str = "excluded";

/// The name of the repository listing in documents.
const LISTING: &str = "repository_listing";

/// The repositories in scope, and the problems of finding them.
pub(super) struct Population {
    pub(super) discovered: Option<u64>,
    pub(super) repositories: Vec<ScopedRepository>,
    /// Every member, in the order of names.
    pub(super) members: Vec<Member>,
    pub(super) scope: PopulationScope,
    pub(super) found: Vec<CollectionItem>,
}

/// How often a listing that contradicts the organization's own count is read again.
const REREADS: u32 = 2;

impl CodeHostSession {
    /// The repositories in scope: the configured ones, or those that discovery lists.
    pub(super) async fn population(&self) -> Population {
        if self.topics().next().is_none() {
            let (repositories, members, found) = Default::default();
            let org = self.config.org.as_str();
            let scope = PopulationScope::new(Scope::Whole, org, scope::ORGANIZATION, 0);
            return Population { discovered: None, repositories, members, scope, found };
        }
        match &self.config.repos {
            Repositories::Listed(names) => {
                let mut exclusion = Exclusion::new(&self.config.exclude);
                let excluded = names.iter().filter(|name| exclusion.excludes(name)).map(|name| Member {
                    out_of_scope: Some(EXCLUDED),
                    ..Member::new(MEMBER, self.subject(name))
                });
                let excluded: Vec<Member> = excluded.collect();
                let repositories: Vec<ScopedRepository> =
                    self.named.iter().map(|named| named.scoped.clone()).collect();
                let is_shown = |repository: &&ScopedRepository| matches!(repository.origin, Origin::Shown(_));
                let listed = repositories.iter().filter(is_shown).count();
                let members = self.named.iter().map(|named| named.member.clone()).chain(excluded).collect();
                let found = self.named.iter().flat_map(NamedRepository::found);
                let found = found.chain(self.excluded_nothing(&exclusion)).collect();
                let scope = self.extent(Scope::Chosen, saturating_u64(listed), &self.counts);
                Population { discovered: None, repositories, members, scope, found }
            }
            Repositories::All => {
                let (mut population, requests) = recorded(self.discovered()).await;
                let subject = self.config.org.as_str().into();
                let listed = CollectionItem::Listed { kind: LISTING, subject, requests };
                population.found.insert(0, listed);
                population
            }
        }
    }

    /// The repositories that the host lists. If it counts a different number, the count and the list are read again:
    /// repositories come and go while a long list is read.
    async fn discovered(&self) -> Population {
        let mut counts = self.counts.clone();
        let mut first = self.first_page().await;
        let mut rereads = 0;
        loop {
            let mut discovery = Discovery::new(self);
            let mut take = |page, at| discovery.add(page, at);
            let listing = self.api().listing(first, &mut take).await;
            let several = listing.pages_read > 1;
            if several || discovery.compared(&counts) == Compared::Differs {
                counts = self.counts_again().await.unwrap_or(counts);
            }
            let reread = match discovery.compared(&counts) {
                Compared::Agrees | Compared::Unknown => false,
                // On a single page, no repository can be missed between two pages.
                Compared::Differs => several || counts.total() < Some(discovery.listed()),
            };
            if !reread || !listing.problems.is_empty() || listing.partial || rereads >= REREADS {
                return discovery.end(&listing, &counts);
            }
            rereads += 1;
            first = self.api().first_page().await;
        }
    }

    /// The organization's repository counts, read again; `None` if the request fails.
    async fn counts_again(&self) -> Option<RepositoryCounts> {
        let answered = self.api().ask(&ORGANIZATION, &[("org", &self.config.org)]).await.ok()?;
        Some(answered.value.counts)
    }

    /// The repository in scope, if its name is safe as part of a path and a URL.
    pub(super) fn scoped(
        &self,
        repository: &wire::Repository,
        names: &mut Names,
        listed_at: Timestamp,
    ) -> Result<ScopedRepository, Failed> {
        let name = self.accept(self.full_name(repository).as_deref(), &mut names.repositories)?;
        let origin = Origin::Shown(Details::of(repository, names, listed_at));
        Ok(ScopedRepository { subject: self.subject(&name), origin })
    }

    fn full_name(&self, repository: &wire::Repository) -> Option<String> {
        match (&repository.full_name, &repository.name) {
            (Some(full_name), _) => Some(full_name.clone()),
            (None, Some(name)) => Some(format!("{}/{name}", self.config.org)),
            (None, None) => None,
        }
    }

    /// Warns of patterns that match nothing: they are probably misspelt, and the intended repositories are collected.
    fn excluded_nothing(&self, exclusion: &Exclusion<'_>) -> impl Iterator<Item = CollectionItem> {
        let org = &self.config.org;
        exclusion.unused().map(move |pattern| {
            let text = format!("the exclusion {org}/{pattern} matches no repository");
            CollectionItem::Warned(self.warning("exclude_matches_nothing", text))
        })
    }

    /// The scope of `listed` repositories beside the organization's own counts.
    pub(super) fn extent(&self, scope: Scope, listed: u64, counts: &RepositoryCounts) -> PopulationScope {
        let totals =
            [("public_repos", counts.public_repos), ("total_private_repos", counts.total_private_repos)];
        PopulationScope {
            host_total: counts.total(),
            host_totals: totals.into_iter().filter_map(|(name, count)| Some((name, count?))).collect(),
            ..PopulationScope::new(scope, self.config.org.as_str(), MEMBER, listed)
        }
    }

    /// The scope in a sentence.
    pub(super) fn in_words(&self, scope: &PopulationScope, in_scope: u64) -> String {
        scope::sentence(&scope.clone().record(NAME, in_scope, scope.listed))
    }

    /// Whether a list with this scope makes the bundle incomplete.
    pub(super) fn is_incomplete(&self, scope: Scope) -> bool {
        scope.is_incomplete(self.config.accept_unconfirmed)
    }

    /// The repository's name, if it is safe as part of a path and a URL.
    fn accept(&self, full_name: Option<&str>, names: &mut HashSet<String>) -> Result<Box<str>, Failed> {
        let problem = |text: String| Failed {
            reason: &reason::HOST_ERROR,
            message: format!("repository discovery: {text}"),
            status: Some(200),
            request_id: None,
        };
        let full_name =
            full_name.ok_or_else(|| problem("the host listed a repository without a name".into()))?;
        let shown = evidence_http::single_line(full_name);
        let valid = full_name.split_once('/').filter(|(_, name)| names::is_repository(name));
        let Some((owner, name)) = valid else {
            return Err(problem(format!("the host listed a repository with an invalid name: {shown}")));
        };
        if !owner.eq_ignore_ascii_case(&self.config.org) {
            return Err(problem(format!("the host listed {shown}, which belongs to another organization")));
        }
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(problem(format!("the host listed {shown} twice with different ids")));
        }
        Ok(name.into())
    }

    /// Records that a part of the population is unknown, for every topic.
    fn undiscovered(&self, found: &mut Vec<CollectionItem>, problem: &Failed) {
        for topic in self.topics() {
            found.push(self.unread(topic.kind(), Seen::Failed(problem.clone())));
        }
    }
}
