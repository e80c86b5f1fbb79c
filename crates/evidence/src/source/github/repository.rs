//! A repository in scope: its name, and what the host shows of it.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::interpret::RepositoryName;
use super::{names, wire};
use crate::observation::Seen;
use evidence_http::Asked;
use evidence_rules::codehost as rules;
use evidence_rules::rule::Reason;

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
    /// The host listed it, or answered for it by its name.
    Shown(Details),
    /// Only the configuration names it.
    Hidden(Arc<Hidden>),
}

/// Why the host did not show a repository, and the requests for it.
#[derive(Debug)]
pub(super) struct Hidden {
    pub(super) seen: Seen,
    pub(super) requests: Vec<Asked>,
}

/// The names in a listing so far.
#[derive(Default)]
pub(super) struct Names {
    /// Names of repositories, in lower case.
    pub(super) repositories: HashSet<String>,
    /// Other names, such as branches, which nearly all repositories share.
    others: HashSet<Arc<str>>,
}

impl Names {
    /// A shared copy of `name`.
    pub(super) fn shared(&mut self, name: &str) -> Arc<str> {
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
    /// When the host showed it.
    pub(super) listed_at: Timestamp,
}

impl Details {
    pub(super) fn of(repository: &wire::Repository, names: &mut Names, listed_at: Timestamp) -> Details {
        // The name becomes part of a URL.
        let default_branch = repository.default_branch.as_deref().filter(|name| names::is_branch(name));
        Details {
            archived: repository.archived.unwrap_or(false),
            disabled: repository.disabled.unwrap_or(false),
            default_branch: default_branch.map(|name| names.shared(name)),
            administered: repository.permissions.as_ref().and_then(|found| found.admin).unwrap_or(false),
            may_be_empty: repository.size.is_none_or(|size| size == 0),
            listed_at,
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
