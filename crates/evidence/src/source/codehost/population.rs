//! The repositories in scope: the configured ones, or those that discovery lists, as far as the list is trustworthy.

mod discovery;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::OnceCell;

use self::discovery::Discovery;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::interpret::{self, RepositoryName};
use super::{CodeHostSession, names, rules, wire};
use crate::observation::{Failed, Observation, Seen};
use crate::rule::{Reason, reason};
use crate::source::{CollectionItem, Member};
use evidence_http::{Asked, recorded};

/// The kind of a repository in the population.
const REPOSITORY: &str = "repository";

/// The code for a repository that the configuration excludes.
const EXCLUDED: &str = "excluded";

/// The name of the repository listing in documents.
const LISTING: &str = "repository_listing";

/// The text for `X-GitHub-SSO: partial-results`.
pub(super) const PARTIAL: &str =
    "the host omitted repositories from the list: the token is not authorized for single sign-on";

/// A repository in scope.
#[derive(Debug, Clone)]
pub(super) struct ScopedRepository {
    /// `owner/name`, shared by everything about the repository.
    pub(super) subject: Arc<str>,
    pub(super) origin: Origin,
}

/// How the repository is known.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// Discovery listed it.
    Discovered(Details),
    /// Only the configuration names it. The first observation that needs its details requests them, at most once.
    Named(Arc<OnceCell<Itself>>),
}

/// The host's record of a repository, and the requests for it.
#[derive(Debug)]
pub(super) struct Itself {
    pub(super) details: Result<Details, Seen>,
    pub(super) requests: Vec<Asked>,
}

/// What is known about a repository: its details, or why they could not be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) details: Result<&'a Details, &'a Seen>,
    /// The requests for the details; empty if discovery listed the repository.
    pub(super) requests: &'a [Asked],
}

impl Known<'_> {
    /// Adds these requests to an observation about `what`. If the details are missing, the observation says so instead.
    pub(super) fn behind(self, mut observation: Observation, what: &str) -> Observation {
        observation.requests.splice(0..0, self.requests.iter().cloned());
        let Err(seen) = self.details else { return observation };
        observation.seen = interpret::about(what, seen.clone());
        observation
    }
}

/// The names in a listing so far.
#[derive(Default)]
pub(super) struct Names {
    /// Names of repositories, in lower case.
    repositories: HashSet<String>,
    /// Other names, such as branches, which nearly all repositories share.
    others: HashSet<Arc<str>>,
}

impl Names {
    /// A shared copy of `name`.
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.others.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.others.insert(Arc::clone(&name));
        name
    }
}

/// The details in the host's record of a repository.
#[derive(Debug, Clone)]
pub(super) struct Details {
    pub(super) archived: bool,
    /// Whether the host has disabled it.
    pub(super) disabled: bool,
    pub(super) default_branch: Option<Arc<str>>,
    /// Whether the token's user administers it.
    pub(super) administered: bool,
    /// Whether its size does not prove that it has content.
    pub(super) may_be_empty: bool,
    /// When discovery listed it.
    pub(super) listed_at: Option<Timestamp>,
}

impl Details {
    pub(super) fn of(repository: &wire::Repository, names: &mut Names) -> Details {
        // The name becomes part of a URL.
        let default_branch = repository.default_branch.as_deref().filter(|name| names::is_branch(name));
        Details {
            archived: repository.archived.unwrap_or(false),
            disabled: repository.disabled.unwrap_or(false),
            default_branch: default_branch.map(|name| names.shared(name)),
            administered: repository.permissions.as_ref().and_then(|found| found.admin).unwrap_or(false),
            may_be_empty: repository.size.is_none_or(|size| size == 0),
            listed_at: None,
        }
    }

    /// Why no rule applies to it, if none does.
    pub(super) fn exempt(&self) -> Option<&'static Reason> {
        match (self.disabled, self.archived) {
            (true, _) => Some(&rules::reason::REPOSITORY_DISABLED),
            (false, true) => Some(&rules::reason::ARCHIVED),
            (false, false) => None,
        }
    }
}

impl ScopedRepository {
    pub(super) fn target(&self) -> RepositoryName<'_> {
        RepositoryName::new(&self.subject)
    }
}

/// The repositories in scope, and the problems of finding them.
pub(super) struct Population {
    pub(super) discovered: Option<u64>,
    pub(super) repositories: Vec<ScopedRepository>,
    /// Every member, in the order of names.
    pub(super) members: Vec<Member>,
    pub(super) found: Vec<CollectionItem>,
}

impl CodeHostSession {
    /// The repositories in scope: the configured ones, or those that discovery lists.
    pub(super) async fn population(&self) -> Population {
        if self.topics().next().is_none() {
            let (repositories, members, found) = Default::default();
            return Population { discovered: None, repositories, members, found };
        }
        match &self.config.repos {
            Repositories::Listed(names) => {
                let mut exclusion = Exclusion::new(&self.config.exclude);
                let (excluded, names): (Vec<_>, Vec<_>) =
                    names.iter().partition(|name| exclusion.excludes(name));
                let repositories = names.into_iter().map(|name| ScopedRepository {
                    subject: self.subject(name),
                    origin: Origin::Named(Arc::default()),
                });
                let repositories: Vec<ScopedRepository> = repositories.collect();
                let named =
                    |repository: &ScopedRepository| Member::new(REPOSITORY, Arc::clone(&repository.subject));
                let excluded = excluded.into_iter().map(|name| Member {
                    out_of_scope: Some(EXCLUDED),
                    ..Member::new(REPOSITORY, self.subject(name))
                });
                let members = repositories.iter().map(named).chain(excluded).collect();
                let found = self.excluded_nothing(&exclusion).collect();
                Population { discovered: None, repositories, members, found }
            }
            Repositories::All => {
                let mut discovery = Discovery::new(self);
                let mut take = |page, at| discovery.add(page, at);
                let listing = async { self.api().listing(self.first_page().await, &mut take).await };
                let (listing, requests) = recorded(listing).await;
                let subject = self.config.org.as_str().into();
                let listed = CollectionItem::Listed { kind: LISTING, subject, requests };
                let mut population = discovery.end(&listing);
                population.found.insert(0, listed);
                population
            }
        }
    }

    /// The repository in scope, if its name is safe as part of a path and a URL.
    pub(super) fn scoped(
        &self,
        repository: &wire::Repository,
        names: &mut Names,
        listed_at: Timestamp,
    ) -> Result<ScopedRepository, Failed> {
        let name = self.accept(self.full_name(repository).as_deref(), &mut names.repositories)?;
        let origin =
            Origin::Discovered(Details { listed_at: Some(listed_at), ..Details::of(repository, names) });
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

    /// The organization's own repository counts.
    pub(super) fn host_totals(&self) -> Vec<(&'static str, u64)> {
        let totals = [
            ("public_repos", self.counts.public_repos),
            ("total_private_repos", self.counts.total_private_repos),
        ];
        totals.into_iter().filter_map(|(name, count)| Some((name, count?))).collect()
    }

    /// If the organization reports more repositories than were listed: a text, and how many more.
    pub(super) fn unlisted(&self, listed: u64) -> Option<(String, u64)> {
        let (public, private) = (self.counts.public_repos, self.counts.total_private_repos);
        let reported = public.unwrap_or(0).saturating_add(private.unwrap_or(0));
        let unlisted = reported.checked_sub(listed).filter(|unlisted| *unlisted > 0)?;
        let text = format!("the token lists {listed} repositories, but the organization reports {reported}");
        Some((text, unlisted))
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
        let valid = full_name.split_once('/').filter(|(_, name)| is_repository_name(name));
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

/// Whether a name can be part of a path and a file name without changing its meaning.
fn is_repository_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && name != "."
        && name != ".."
}
