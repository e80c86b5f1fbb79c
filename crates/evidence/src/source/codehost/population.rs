//! The repositories in scope: those of the configuration, or what discovery lists, as far as the list can be believed.

mod discovery;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::OnceCell;

use self::discovery::Discovery;
use super::config::Repositories;
use super::exclusion::Exclusion;
use super::look::RepositoryName;
use super::{CodeHostSession, names, wire};
use crate::observation::{Failed, Observation, Seen};
use crate::rule::reason;
use crate::source::{CollectionItem, Member};
use evidence_http::{Asked, recorded};

/// What documents call a member of the population.
const REPOSITORY: &str = "repository";

/// Why one is not in scope that the configuration leaves out.
const EXCLUDED: &str = "excluded";

/// What documents call the listing that brings them.
const LISTING: &str = "repository_listing";

/// What `X-GitHub-SSO: partial-results` says.
pub(super) const PARTIAL: &str =
    "the host omitted repositories from the list: the token is not authorized for single sign-on";

/// A repository in scope.
#[derive(Debug, Clone)]
pub(super) struct ScopedRepository {
    /// Owner and name: what everything about it is called, shared by all of it.
    pub(super) subject: Arc<str>,
    pub(super) origin: Origin,
}

/// How it is known that a repository is there.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// Discovery listed it.
    Discovered(Details),
    /// Only the configuration names it. The host is asked at most once, by whichever look needs it first.
    Named(Arc<OnceCell<Itself>>),
}

/// The answer about a repository itself, and what was asked.
#[derive(Debug)]
pub(super) struct Itself {
    pub(super) details: Result<Details, Seen>,
    pub(super) requests: Vec<Asked>,
}

/// What is known of a repository itself: nothing, for the reason that was seen, or something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) details: Result<&'a Details, &'a Seen>,
    /// The requests behind it; none if discovery has brought it.
    pub(super) requests: &'a [Asked],
}

impl Known<'_> {
    /// The observation of a look at `what`, with these requests behind it too. If nothing is known, it says so instead.
    pub(super) fn behind(self, mut observation: Observation, what: &str) -> Observation {
        observation.requests.splice(0..0, self.requests.iter().cloned());
        let Err(seen) = self.details else { return observation };
        observation.seen = seen.clone();
        match &mut observation.seen {
            Seen::Failed(Failed { message: text, .. })
            | Seen::Denied { detail: text, .. }
            | Seen::Nothing { detail: text, .. } => *text = format!("{what}: {text}"),
            Seen::Artifact { .. } | Seen::Withheld { .. } => {}
        }
        observation
    }
}

/// The names that a listing has shown so far.
#[derive(Default)]
pub(super) struct Names {
    /// Of repositories, in lower case.
    repositories: HashSet<String>,
    /// Of branches and the like: nearly all repositories share them.
    others: HashSet<Arc<str>>,
}

impl Names {
    /// One copy of `name`, however many repositories have it.
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.others.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.others.insert(Arc::clone(&name));
        name
    }
}

/// What the host says of a repository itself.
#[derive(Debug, Clone)]
pub(super) struct Details {
    pub(super) archived: bool,
    pub(super) default_branch: Option<Arc<str>>,
    /// The token's user administers it.
    pub(super) administered: bool,
    /// Its size does not show that it holds something.
    pub(super) may_be_empty: bool,
}

impl Details {
    pub(super) fn of(repository: &wire::Repository, names: &mut Names) -> Details {
        // The name becomes part of an address.
        let default_branch = repository.default_branch.as_deref().filter(|name| names::is_branch(name));
        Details {
            archived: repository.archived.unwrap_or(false),
            default_branch: default_branch.map(|name| names.shared(name)),
            administered: repository.permissions.as_ref().and_then(|found| found.admin).unwrap_or(false),
            may_be_empty: repository.size.is_none_or(|size| size == 0),
        }
    }
}

impl ScopedRepository {
    pub(super) fn target(&self) -> RepositoryName<'_> {
        RepositoryName::new(&self.subject)
    }
}

/// The repositories in scope, and what could not be found out about them.
pub(super) struct Population {
    pub(super) discovered: Option<u64>,
    pub(super) repositories: Vec<ScopedRepository>,
    /// Everything that was found, in the order of the names.
    pub(super) members: Vec<Member>,
    pub(super) found: Vec<CollectionItem>,
}

impl CodeHostSession {
    /// The repositories in scope: those of the configuration, or what discovery lists.
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
                let mut take = |page| discovery.add(page);
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

    /// The repository as it is looked at, if its name may become part of a path and of a call.
    pub(super) fn scoped(
        &self,
        repository: &wire::Repository,
        names: &mut Names,
    ) -> Result<ScopedRepository, Failed> {
        let name = self.accept(self.full_name(repository).as_deref(), &mut names.repositories)?;
        let origin = Origin::Discovered(Details::of(repository, names));
        Ok(ScopedRepository { subject: self.subject(&name), origin })
    }

    fn full_name(&self, repository: &wire::Repository) -> Option<String> {
        match (&repository.full_name, &repository.name) {
            (Some(full_name), _) => Some(full_name.clone()),
            (None, Some(name)) => Some(format!("{}/{name}", self.config.org)),
            (None, None) => None,
        }
    }

    /// A pattern that leaves nothing out is likely misspelt, and what it was meant for is collected.
    fn excluded_nothing(&self, exclusion: &Exclusion<'_>) -> impl Iterator<Item = CollectionItem> {
        let org = &self.config.org;
        exclusion.unused().map(move |pattern| {
            let text = format!("the exclusion {org}/{pattern} matches no repository");
            CollectionItem::Warned(self.warning("exclude_matches_nothing", text))
        })
    }

    /// What the organization says that it has.
    pub(super) fn host_totals(&self) -> Vec<(&'static str, u64)> {
        let totals = [
            ("public_repos", self.counts.public_repos),
            ("total_private_repos", self.counts.total_private_repos),
        ];
        totals.into_iter().filter_map(|(name, count)| Some((name, count?))).collect()
    }

    /// If the organization says that it has more repositories than were listed: that in words, and how many more.
    pub(super) fn unlisted(&self, listed: u64) -> Option<(String, u64)> {
        let (public, private) = (self.counts.public_repos, self.counts.total_private_repos);
        let told = public.unwrap_or(0).saturating_add(private.unwrap_or(0));
        let unlisted = told.checked_sub(listed).filter(|unlisted| *unlisted > 0)?;
        let text = format!("the token lists {listed} repositories, but the organization reports {told}");
        Some((text, unlisted))
    }

    /// The repository's name, if it may become part of a path and of a call.
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

    /// A part of the population is unknown: for everything that is looked at in repositories, something was not read.
    fn undiscovered(&self, found: &mut Vec<CollectionItem>, problem: &Failed) {
        for topic in self.topics() {
            found.push(self.unread(topic.kind(), Seen::Failed(problem.clone())));
        }
    }
}

/// A name that can be part of a path and a file name without becoming another one.
fn is_repository_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && name != "."
        && name != ".."
}
