//! The collection: which observations to make, and in which order to return them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::host::Host;
use super::observe::{self, Task};
use super::population::{Population, population};
use super::preflight::Preflight;
use super::reorder_buffer::ReorderBuffer;
use super::topic::Topic;
use super::topics;
use crate::source::CollectionItem;
use evidence_text::saturating_u64;
use evidence_text::{counted, thousands};

/// How many observations may be prepared per request in flight. A slow answer should hold back only the results behind it;
/// with a window as small as the number of requests, it would hold back the requests too.
const WINDOW_PER_REQUEST: usize = 4;

/// Yields every item in the specification's order: the organization, the population, and each topic of its repositories.
pub(super) fn collect<'a>(host: &'a Host, preflight: &'a Preflight) -> BoxStream<'a, CollectionItem> {
    let topics: Vec<&'static Topic> = topics::of_organization(&host.config).collect();
    let organization = stream::iter(topics).filter_map(move |topic| organization(host, preflight, topic));
    organization.chain(stream::once(repositories(host, preflight)).flatten()).boxed()
}

async fn organization(host: &Host, preflight: &Preflight, topic: &'static Topic) -> Option<CollectionItem> {
    let known = preflight.preflight_result(topic, &host.config.org);
    let found = match known {
        Some(found) => found,
        None => observe::organization(host, topic).await?,
    };
    Some(CollectionItem::Inspected(found))
}

async fn repositories<'a>(
    host: &'a Host,
    preflight: &'a Preflight,
) -> impl stream::Stream<Item = CollectionItem> + Send + 'a {
    let Population { discovered, repositories, members, scope, found } = population(host, preflight).await;
    let topics: Vec<&'static Topic> = topics::of_repositories(&host.config).collect();
    let in_scope = saturating_u64(repositories.len());
    let per_repository = saturating_u64(topics.len());
    let found_by = if discovered.is_some() { "found by discovery" } else { "listed in the configuration" };
    let excluded = members.iter().filter(|member| member.out_of_scope.is_some()).count();
    let undiscovered = found.iter().filter(|item| item.is_inspection()).count();
    let population = CollectionItem::Population {
        discovered,
        expected: in_scope.saturating_mul(per_repository).saturating_add(saturating_u64(undiscovered)),
        members,
        scope,
        text: if per_repository == 0 {
            String::new()
        } else {
            let excluded = match excluded {
                0 => String::new(),
                excluded => format!(", {} excluded", thousands(saturating_u64(excluded))),
            };
            format!("{} {found_by}{excluded}", counted(in_scope, "repository", "repositories"))
        },
    };
    let repositories = Arc::new(repositories);
    let tasks = topics.into_iter().flat_map(move |topic| {
        let repositories = Arc::clone(&repositories);
        (0..repositories.len())
            .filter_map(move |index| repositories.get(index).cloned())
            .map(move |repository| Task { repository, topic })
    });
    let window = host.config.max_concurrency.get().saturating_mul(WINDOW_PER_REQUEST);
    let buffer = Arc::new(ReorderBuffer::new(host.config.max_concurrency.get()));
    let taken = Arc::clone(&buffer);
    let observed = stream::iter(tasks.enumerate()).map(move |(number, task)| {
        let buffer = Arc::clone(&buffer);
        async move {
            buffer.enter(number).await;
            let known = preflight.preflight_result(task.topic, &task.repository.subject);
            let found = CollectionItem::Inspected(match known {
                Some(found) => found,
                None => observe::repository(host, task, Some(number)).await,
            });
            host.shared.done(number);
            buffer.add(found.weight());
            found
        }
    });
    let observed = observed.buffered(window).inspect(move |found| taken.take(found.weight()));
    stream::iter(std::iter::once(population).chain(found)).chain(observed)
}
