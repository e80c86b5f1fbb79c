//! The population, built from discovery page by page. Only what the collection needs is kept of a page.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Population, excluded_nothing, extent, in_words, is_incomplete, undiscovered, unread};
use crate::observation::{Failed, Seen};
use crate::source::github::exclusion::Selection;
use crate::source::github::host::{Host, refusal};
use crate::source::github::names::{self, MEMBER};
use crate::source::github::repositories::{self, RepositoryListing};
use crate::source::github::repository::{Names, Repository, ScopedRepository};
use crate::source::github::topics;
use crate::source::github::topics::organization::answer::RepositoryCounts;
use crate::source::{CollectionItem, Member, PopulationScope};
use evidence_bundle::document::Scope;
use evidence_http::CallError;
use evidence_rules::codehost as rules;
use evidence_text::saturating_u64;

/// The result of the pages so far.
pub(super) struct Discovery<'a> {
    host: &'a Host,
    selection: Selection<'a>,
    ids: HashSet<u64>,
    names: Names,
    repositories: Arc<Vec<ScopedRepository>>,
    members: Vec<Member>,
    found: Vec<CollectionItem>,
    discovered: u64,
    /// How many of them are public.
    public: u64,
    /// How many of them the host lists without their visibility.
    unclassified: u64,
    /// Whether the host listed one of them twice, as pages that shift do: others may be missing from the list.
    repeated: bool,
}

impl<'a> Discovery<'a> {
    pub(super) fn new(host: &'a Host) -> Discovery<'a> {
        Discovery {
            host,
            selection: Selection::new(&host.config),
            ids: HashSet::new(),
            names: Names::default(),
            repositories: Arc::default(),
            members: Vec::new(),
            found: Vec::new(),
            discovered: 0,
            public: 0,
            unclassified: 0,
            repeated: false,
        }
    }

    /// Adds a page that was read at this time.
    pub(super) fn add(&mut self, page: Vec<Repository>, at: Timestamp) {
        page.into_iter().for_each(|repository| self.add_repository(repository, at));
    }

    fn add_repository(&mut self, repository: Repository, at: Timestamp) {
        if repository.id.is_some_and(|id| !self.ids.insert(id)) {
            self.repeated = true;
            return;
        }
        let known = repository.id.is_none() && self.is_known(&repository);
        let visibility = repository.visibility.clone();
        match repositories::scoped(&self.host.config.org, &repository, &mut self.names, at) {
            // Without an id, a repeated name is the same repository on two pages that shifted.
            Err(_) if known => {
                self.repeated = true;
                return;
            }
            Ok(scoped) => {
                let left_out = self.selection.leaves_out(scoped.target().name, &repository);
                self.members.push(Member {
                    id: repository.id.map(|id| id.to_string()),
                    archived: repository.archived,
                    default_branch: repository
                        .default_branch
                        .filter(|name| names::is_branch(name))
                        .map(|name| self.names.shared(&name)),
                    visibility: repository.visibility.map(|name| self.names.shared(&name)),
                    out_of_scope: left_out,
                    ..Member::new(MEMBER, Arc::clone(&scoped.subject))
                });
                if left_out.is_none() {
                    Arc::make_mut(&mut self.repositories).push(scoped);
                }
            }
            Err(problem) => undiscovered(self.host, &mut self.found, &problem),
        }
        self.discovered += 1;
        self.public += u64::from(visibility.as_deref() == Some("public"));
        self.unclassified += u64::from(visibility.is_none());
    }

    fn is_known(&self, repository: &Repository) -> bool {
        let full_name = repositories::full_name(&self.host.config.org, repository);
        let name = full_name.as_deref().and_then(|full_name| full_name.split_once('/'));
        name.is_some_and(|(_, name)| self.names.repositories.contains(&name.to_ascii_lowercase()))
    }

    /// Sorts the repositories, after every readable page was added.
    pub(super) fn sort(&mut self) {
        Arc::make_mut(&mut self.repositories).sort_by(|a, b| a.target().name.cmp(b.target().name));
    }

    /// The repositories in scope.
    pub(super) fn repositories(&self) -> Arc<Vec<ScopedRepository>> {
        Arc::clone(&self.repositories)
    }

    /// How many repositories the pages list.
    pub(super) fn listed(&self) -> u64 {
        self.discovered
    }

    /// The list beside the host's own counts, public and other repositories each.
    pub(super) fn compared(&self, counts: &RepositoryCounts) -> Compared {
        let (Some(public), Some(total)) = (counts.public_repos, counts.total()) else {
            return Compared::Unknown;
        };
        // A server that reports no visibility can be compared by its total alone.
        let same_public = self.unclassified > 0 || self.public == public;
        if same_public && self.discovered == total { Compared::Agrees } else { Compared::Differs }
    }

    /// The population, after every readable page was added and sorted.
    pub(super) fn end(self, listing: &RepositoryListing, counts: &RepositoryCounts) -> Population {
        let compared = self.compared(counts);
        let Discovery { host, selection, repositories, mut members, mut found, discovered, repeated, .. } =
            self;
        members.sort_by(|a, b| a.name.cmp(&b.name));
        found.extend(excluded_nothing(host, &selection.exclusion));
        for (page, problem) in &listing.problems {
            let mut problem = match problem {
                CallError::Refused(refused) => refusal::refused_failure("refused", refused),
                CallError::Failed(failure) => Failed::of(failure),
            };
            problem.message = format!("repository discovery, page {page}: {}", problem.message);
            undiscovered(host, &mut found, &problem);
        }
        let failed = !listing.problems.is_empty();
        let unnamed = found.iter().any(CollectionItem::is_inspection);
        let chosen = host.config.include.is_some() || repositories.len() < members.len();
        let scope = match compared {
            _ if unnamed || listing.partial => Scope::Partial,
            Compared::Differs => Scope::Partial,
            Compared::Unknown => Scope::Unconfirmed,
            Compared::Agrees if chosen => Scope::Chosen,
            Compared::Agrees => Scope::Whole,
        };
        let mut scope = extent(host, scope, saturating_u64(members.len()), counts);
        let same_total = scope.host_total == Some(scope.listed);
        if scope.scope == Scope::Partial && (unnamed || repeated || same_total) {
            // What is missing from an unread or shifted page is not known to be hidden, and counts that agree say nothing.
            scope.host_total = None;
        }
        // A failure has already left every rule undecided.
        if !failed && is_incomplete(host, scope.scope) {
            let sentence = in_words(&scope, saturating_u64(repositories.len()));
            let text = format!("{sentence}. {}", remedy(&scope, listing.partial));
            found.push(CollectionItem::Warned(host.warning(rules::reason::POPULATION_INCOMPLETE.code, text)));
            let seen = Seen::Denied { reason: &rules::reason::POPULATION_INCOMPLETE, detail: sentence };
            found.extend(
                topics::of_repositories(&host.config).map(|topic| unread(host, topic.kind, seen.clone())),
            );
        }
        Population { discovered: Some(discovered), repositories, members, scope, found }
    }
}

/// A list beside the host's own counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Agrees,
    Differs,
    /// The host does not report its counts to this token.
    Unknown,
}

/// What to do about a list that is not known to be whole.
pub(in crate::source::github) fn remedy(scope: &PopulationScope, omitted: bool) -> &'static str {
    match scope.scope {
        _ if omitted => "Authorize the token for the organization's single sign-on",
        Scope::Unconfirmed => {
            "Use a token of an organization owner, who sees the total, or set sources.codehost.accept_unconfirmed: true"
        }
        _ if scope.host_total < Some(scope.listed) => {
            "Run again: the organization changed while it was listed"
        }
        _ => "Give the token access to every repository of the organization",
    }
}
