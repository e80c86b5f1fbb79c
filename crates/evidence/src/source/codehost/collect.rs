//! The collection: what is looked at, and in which order it comes out.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::backlog::Backlog;
use super::look::{self, Look, RepositoryName};
use super::population::{Population, ScopedRepository, Witness};
use super::rules;
use super::topic::Topic;
use super::{CodeHostSession, artifact, ask, calls};
use crate::number::saturating_u64;
use crate::observation::{Inspection, Seen};
use crate::report::format::counted;
use crate::source::{CollectionItem, Configured as _};
use evidence_http::CallError;
use evidence_http::retry::Class;

/// How many looks may be prepared per request in flight. One slow answer holds back the results behind it, not the
/// requests: with a window as large as the limit of requests it would hold back both.
const WINDOW_PER_REQUEST: usize = 4;

/// One look to make.
#[derive(Debug, Clone)]
struct Task {
    repository: ScopedRepository,
    topic: Topic,
}

impl CodeHostSession {
    pub(super) fn organization_found(&self) -> Option<CollectionItem> {
        self.config.collects(&artifact::ORGANIZATION_SETTINGS).then(|| {
            let inspection = look::organization(&self.config.org, &self.settings, &self.meta);
            CollectionItem::Inspected(inspection)
        })
    }

    pub(super) async fn collect_repositories(
        &self,
    ) -> impl stream::Stream<Item = CollectionItem> + Send + '_ {
        let Population { discovered, repositories, found } = self.population().await;
        let topics: Vec<Topic> = self.topics().collect();
        let in_scope = saturating_u64(repositories.len());
        let per_repository = saturating_u64(topics.len());
        let found_by =
            if discovered.is_some() { "found by discovery" } else { "listed in the configuration" };
        let population = CollectionItem::Population {
            discovered,
            in_scope,
            expected: in_scope.saturating_mul(per_repository),
            text: if per_repository == 0 {
                String::new()
            } else {
                format!("{} {found_by}", counted(in_scope, "repository", "repositories"))
            },
        };
        let repositories = Arc::new(repositories);
        let tasks = topics.into_iter().flat_map(move |topic| {
            let repositories = Arc::clone(&repositories);
            (0..repositories.len())
                .filter_map(move |index| repositories.get(index).cloned())
                .map(move |repository| Task { repository, topic })
        });
        let window = self.config.max_concurrency.get().saturating_mul(WINDOW_PER_REQUEST);
        let backlog = Arc::new(Backlog::new(self.config.max_concurrency.get()));
        let taken = Arc::clone(&backlog);
        let looks = stream::iter(tasks.enumerate()).map(move |(number, task)| {
            let backlog = Arc::clone(&backlog);
            async move {
                backlog.enter(number).await;
                let found = self.look(task).await;
                backlog.add(found.weight());
                found
            }
        });
        let looks = looks.buffered(window).inspect(move |found| taken.take(found.weight()));
        stream::iter(std::iter::once(population).chain(found)).chain(looks)
    }

    async fn look(&self, task: Task) -> CollectionItem {
        let Task { repository, topic } = task;
        let look = match &repository.witness {
            None => self.fresh_look(&repository, topic).await,
            Some(witness) => self.witnessed_look(&repository, topic, witness).await,
        };
        let exempt = repository.archived.then_some(&rules::reason::ARCHIVED);
        let inspection = look.inspection(topic.kind(), repository.subject);
        CollectionItem::Inspected(Inspection { exempt, ..inspection })
    }

    async fn fresh_look(&self, repository: &ScopedRepository, topic: Topic) -> Look {
        let (api, target) = (self.api(), repository.target());
        match topic {
            Topic::Protection => ask::protection(&api, target, &self.config.branch).await,
            Topic::Codeowners => ask::codeowners(&api, target).await,
        }
    }

    async fn look_once(&self, repository: &ScopedRepository, topic: Topic, witness: &Witness) -> Look {
        let cell = match topic {
            Topic::Protection => &witness.protection,
            Topic::Codeowners => &witness.codeowners,
        };
        cell.get_or_init(|| self.fresh_look(repository, topic)).await.clone()
    }

    /// A look at a repository that only the configuration names. "Not Found" is settled by the other answers about
    /// it: does any of them show that it is there?
    async fn witnessed_look(&self, repository: &ScopedRepository, topic: Topic, witness: &Witness) -> Look {
        let mut look = self.look_once(repository, topic, witness).await;
        if look.exists {
            return look;
        }
        // The other look will be made anyway, so it is asked first.
        let other = topic.other();
        if self.wants(other) && self.look_once(repository, other, witness).await.shows_repository() {
            return look;
        }
        match witness.visible.get_or_init(|| self.visible(repository)).await {
            Ok(true) => return look,
            Ok(false) => {}
            Err(other) => {
                look.seen = other.seen.clone();
                look.warnings.extend(other.warnings.iter().cloned());
                return look;
            }
        }
        look.seen = Seen::Failed(look::repository_not_found(topic.name()));
        look
    }

    /// Whether the host shows the repository. Where it says neither yes nor no, nothing follows for either.
    async fn visible(&self, repository: &ScopedRepository) -> Result<bool, Look> {
        let RepositoryName { owner, name } = repository.target();
        match self.api().ask(&calls::REPOSITORY, &[("owner", owner), ("repo", name)]).await {
            Ok(_) => Ok(true),
            Err(CallError::Refused(refused)) if refused.class == Class::NotFound => Ok(false),
            Err(CallError::Refused(refused)) => {
                Err(look::denied(repository.target(), "repository", &refused))
            }
            Err(CallError::Failed(failure)) => Err(Look::failed("repository", &failure)),
        }
    }
}
