//! The population, built from discovery page by page. Only what the collection needs is kept of a page.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{EXCLUDED, Names, PARTIAL, Population, REPOSITORY, ScopedRepository};
use crate::observation::{Failed, Seen};
use crate::rule::reason;
use crate::source::codehost::api::RepositoryListing;
use crate::source::codehost::exclusion::Exclusion;
use crate::source::codehost::{CodeHostSession, interpret, rules, wire};
use crate::source::{CollectionItem, Member};
use evidence_http::CallError;

/// The result of the pages so far.
pub(super) struct Discovery<'a> {
    session: &'a CodeHostSession,
    exclusion: Exclusion<'a>,
    ids: HashSet<u64>,
    names: Names,
    repositories: Vec<ScopedRepository>,
    members: Vec<Member>,
    found: Vec<CollectionItem>,
    discovered: u64,
    repeated: u64,
}

impl<'a> Discovery<'a> {
    pub(super) fn new(session: &'a CodeHostSession) -> Discovery<'a> {
        Discovery {
            session,
            exclusion: Exclusion::new(&session.config.exclude),
            ids: HashSet::new(),
            names: Names::default(),
            repositories: Vec::new(),
            members: Vec::new(),
            found: Vec::new(),
            discovered: 0,
            repeated: 0,
        }
    }

    /// Adds a page that was read at this time.
    pub(super) fn add(&mut self, page: Vec<wire::Repository>, at: Timestamp) {
        page.into_iter().for_each(|repository| self.add_repository(repository, at));
    }

    fn add_repository(&mut self, repository: wire::Repository, at: Timestamp) {
        if repository.id.is_some_and(|id| !self.ids.insert(id)) {
            // Pages that shifted while they were read show a repository twice.
            self.repeated += 1;
            return;
        }
        let known = repository.id.is_none() && self.is_known(&repository);
        match self.session.scoped(&repository, &mut self.names, at) {
            // Without an id, a repeated name is the same repository on two pages that shifted.
            Err(_) if known => {
                self.repeated += 1;
                return;
            }
            Ok(scoped) => {
                let excluded = self.exclusion.excludes(scoped.target().name);
                self.members.push(Member {
                    id: repository.id.map(|id| id.to_string()),
                    archived: repository.archived,
                    default_branch: repository.default_branch.map(|name| self.names.shared(&name)),
                    visibility: repository.visibility.map(|name| self.names.shared(&name)),
                    out_of_scope: excluded.then_some(EXCLUDED),
                    ..Member::new(REPOSITORY, Arc::clone(&scoped.subject))
                });
                if !excluded {
                    self.repositories.push(scoped);
                }
            }
            Err(problem) => self.session.undiscovered(&mut self.found, &problem),
        }
        self.discovered += 1;
    }

    fn is_known(&self, repository: &wire::Repository) -> bool {
        let full_name = self.session.full_name(repository);
        let name = full_name.as_deref().and_then(|full_name| full_name.split_once('/'));
        name.is_some_and(|(_, name)| self.names.repositories.contains(&name.to_ascii_lowercase()))
    }

    /// The population, after every readable page was added.
    pub(super) fn end(self, listing: &RepositoryListing) -> Population {
        let Discovery { session, exclusion, mut repositories, mut members, mut found, .. } = self;
        let (discovered, repeated) = (self.discovered, self.repeated);
        repositories.sort_by(|a, b| a.target().name.cmp(b.target().name));
        members.sort_by(|a, b| a.name.cmp(&b.name));
        found.extend(session.excluded_nothing(&exclusion));
        for (page, problem) in &listing.problems {
            let mut problem = match problem {
                CallError::Refused(refused) => interpret::refused_failure("refused", refused),
                CallError::Failed(failure) => Failed::of(failure),
            };
            problem.message = format!("repository discovery, page {page}: {}", problem.message);
            session.undiscovered(&mut found, &problem);
        }
        let mut lacking = Vec::new();
        if listing.partial {
            found.push(CollectionItem::Warned(session.warning("partial_listing", PARTIAL.to_string())));
            lacking.push(PARTIAL.to_string());
        }
        let mut failed = !listing.problems.is_empty();
        if !failed && let Some((text, unlisted)) = session.unlisted(discovered) {
            let text = format!("{text}: {unlisted} missing from this bundle");
            if repeated > 0 {
                // If some repositories appear twice, others were missed: a collection error, unrelated to the token's
                // permissions.
                let message = format!("repository discovery: {repeated} listed twice, and {text}");
                let problem = Failed { reason: &reason::HOST_ERROR, message, status: None, request_id: None };
                session.undiscovered(&mut found, &problem);
                failed = true;
            } else {
                found.push(CollectionItem::Warned(session.warning("incomplete_listing", text.clone())));
                lacking.push(text);
            }
        }
        // A failure has already left every rule undecided.
        if !failed && !lacking.is_empty() {
            let (reason, detail) = (&rules::reason::POPULATION_INCOMPLETE, lacking.join("; "));
            let seen = Seen::Denied { reason, detail };
            found.extend(session.topics().map(|topic| session.unread(topic.kind(), seen.clone())));
        }
        Population { discovered: Some(discovered), repositories, members, found }
    }
}
