//! What is read about the organization or about each repository: one topic per subject of the rules.

use std::fmt;

use futures_util::future::BoxFuture;

use super::host::{Host, refusal};
use super::repository::{RepositoryDetails, ScopedRepository};
use crate::observation::{ArtifactKind, Inspection};

/// What is read about the organization, or about each repository.
pub(super) struct Topic {
    /// The display name.
    pub(super) name: &'static str,
    /// The kind of its first artifact: its rules decide whether the topic is read, and are undecided if it cannot be.
    pub(super) kind: &'static ArtifactKind,
    /// Whether its artifact needs a request. If so, an archived repository has none.
    pub(super) asks_for_its_artifact: bool,
    /// How many requests a subject takes; an archived repository takes none.
    pub(super) requests: fn(&Host) -> Requests,
    /// The cache's names for its answers: the one for an existing setting, and the one for its absence.
    pub(super) kept_as: fn() -> [Option<u8>; 2],
    /// Reads and judges it.
    pub(super) inspect: Inspect,
}

/// How many requests a topic takes for one subject.
pub(super) struct Requests {
    pub(super) least: u64,
    pub(super) most: u64,
    /// How many a hundred subjects usually take; how many if answers to all are kept from an earlier run; and how many
    /// if an interrupted run has asked about all.
    pub(super) usual: [u64; 3],
    /// What is different if many subjects are read with one query; `None` if this topic has none.
    pub(super) in_bulk: Option<InBulk>,
}

/// The requests beside the queries for many subjects.
pub(super) struct InBulk {
    /// The cache's name for the answers to the queries.
    pub(super) kept_as: Option<u8>,
    /// How many a hundred subjects usually take, and how many if an interrupted run has asked about all.
    pub(super) usual: u64,
    pub(super) rest: u64,
}

/// Reads and judges one subject.
pub(super) enum Inspect {
    /// Once.
    Organization {
        by: for<'a> fn(&'a Host) -> BoxFuture<'a, Inspection>,
        /// Whether the connection test has its own warning about what the token may not see.
        warned: bool,
    },
    /// For every repository in scope that the host shows.
    Repository(for<'a> fn(&'a Host, Look<'a>) -> BoxFuture<'a, Inspection>),
}

/// A repository to inspect.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) repository: &'a ScopedRepository,
    pub(super) details: &'a RepositoryDetails,
    /// Its place in the order of the collection, if it has one.
    pub(super) number: Option<usize>,
}

impl Look<'_> {
    /// The only observation about the topic of an archived repository; `None` if the repository is not archived. No setting
    /// of it has an effect, so nothing is asked.
    pub(super) fn archived(&self, topic: &Topic) -> Option<Inspection> {
        let target = self.repository.target();
        self.details.archived.then(|| target.observation(topic.kind, refusal::archived()).into())
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Topic {
    fn eq(&self, other: &Topic) -> bool {
        self.name == other.name
    }
}
