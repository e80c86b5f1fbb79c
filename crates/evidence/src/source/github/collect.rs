//! The collection: which observations to make, and in which order to return them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::future::{BoxFuture, poll_fn};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, Stream, StreamExt as _};

use super::host::Host;
use super::observe::{self, Task};
use super::plan;
use super::population::{self, Found, Population};
use super::preflight::Preflight;
use super::reorder_buffer::ReorderBuffer;
use super::repository::ScopedRepository;
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
    let known = preflight.preflight_result(topic, &host.config.org).await;
    let found = match known {
        Some(found) => found,
        None => observe::organization(host, topic).await?,
    };
    Some(CollectionItem::Inspected(found))
}

/// The population, and the observations of its repositories. These are read while a repository is tried and while the
/// host's own count is read again, but nothing is returned before the population is known.
async fn repositories<'a>(
    host: &'a Host,
    preflight: &'a Preflight,
) -> impl Stream<Item = CollectionItem> + Send + 'a {
    let mut trial = Beside::new(preflight.try_one(host));
    let mut found = trial.during(population::find(host, preflight)).await;
    let (population, ready, observed) = loop {
        let repositories = match &found {
            Found::Known(population) => Arc::clone(&population.repositories),
            Found::Listed(listing) => listing.repositories(),
        };
        if let Some(bulk) = &host.bulk {
            bulk.begin(&repositories);
        }
        let mut observed = Observed::new(host, preflight, repositories);
        let known = async {
            let outdated = match &mut found {
                Found::Known(_) => false,
                Found::Listed(listing) => trial.during(listing.is_outdated()).await,
            };
            if !outdated {
                trial.end().await;
            }
            outdated
        };
        let (outdated, ready) = observed.meanwhile(known).await;
        found = match found {
            Found::Known(population) => break (population, ready, observed),
            Found::Listed(listing) if !outdated => break (listing.population(), ready, observed),
            Found::Listed(listing) => {
                trial.during(observed.keep(ready, preflight)).await;
                host.shared.restart();
                Found::Listed(Box::new(trial.during(listing.again()).await))
            }
        };
    };
    let Observed { made, buffer, .. } = observed;
    let made = stream::iter(ready).chain(made).map(move |made| {
        buffer.take(made.item.weight());
        made.item
    });
    stream::iter(trial.done.into_iter().flatten().chain(first(host, population))).chain(made)
}

/// The population, and what finding it showed.
fn first(host: &Host, population: Population) -> impl Iterator<Item = CollectionItem> + use<> {
    let Population { discovered, repositories, members, scope, found } = population;
    let in_scope = saturating_u64(repositories.len());
    let per_repository = saturating_u64(topics::of_repositories(&host.config).count());
    let found_by = if discovered.is_some() { "found by discovery" } else { "listed in the configuration" };
    let excluded = members.iter().filter(|member| member.out_of_scope.is_some()).count();
    let asked = repositories.iter().filter(|repository| repository.is_asked()).count();
    let exempt = repositories.iter().filter(|repository| repository.is_exempt()).count();
    let work = plan::work(host, saturating_u64(asked));
    let undiscovered = found.iter().filter(|item| item.is_inspection()).count();
    let population = CollectionItem::Population {
        discovered,
        expected: in_scope.saturating_mul(per_repository).saturating_add(saturating_u64(undiscovered)),
        work,
        members,
        scope,
        text: if per_repository == 0 {
            String::new()
        } else {
            let excluded = match excluded {
                0 => String::new(),
                excluded => format!(", {} excluded", thousands(saturating_u64(excluded))),
            };
            let exempt = match exempt {
                0 => String::new(),
                exempt => format!(", {} archived or disabled", thousands(saturating_u64(exempt))),
            };
            format!("{} {found_by}{excluded}{exempt}", counted(in_scope, "repository", "repositories"))
        },
    };
    std::iter::once(population).chain(found)
}

/// An observation that was made.
struct Made {
    topic: &'static Topic,
    subject: Arc<str>,
    item: CollectionItem,
}

/// The observations of repositories, in order, as they are made.
struct Observed<'a> {
    made: BoxStream<'a, Made>,
    buffer: Arc<ReorderBuffer>,
    /// How many to prepare.
    window: usize,
    /// Whether no further observation begins.
    ended: Arc<AtomicBool>,
}

impl<'a> Observed<'a> {
    fn new(
        host: &'a Host,
        preflight: &'a Preflight,
        repositories: Arc<Vec<ScopedRepository>>,
    ) -> Observed<'a> {
        let topics: Vec<&'static Topic> = topics::of_repositories(&host.config).collect();
        let tasks = topics.into_iter().flat_map(move |topic| {
            let repositories = Arc::clone(&repositories);
            (0..repositories.len())
                .filter_map(move |index| repositories.get(index).cloned())
                .map(move |repository| Task { repository, topic })
        });
        let window = host.config.max_concurrency.get().saturating_mul(WINDOW_PER_REQUEST);
        let buffer = Arc::new(ReorderBuffer::new(host.config.max_concurrency.get()));
        let ended = Arc::new(AtomicBool::new(false));
        let (waiting, goes_on) = (Arc::clone(&buffer), Arc::clone(&ended));
        let tasks = tasks.enumerate().take_while(move |_| !goes_on.load(Ordering::Relaxed));
        let made = stream::iter(tasks).map(move |(number, task)| {
            let buffer = Arc::clone(&waiting);
            async move {
                buffer.enter(number).await;
                let (topic, subject) = (task.topic, Arc::clone(&task.repository.subject));
                let known = preflight.preflight_result(topic, &subject).await;
                let item = CollectionItem::Inspected(match known {
                    Some(found) => found,
                    None => observe::repository(host, task, Some(number)).await,
                });
                host.shared.done(number);
                buffer.add(item.weight());
                Made { topic, subject, item }
            }
        });
        Observed { made: made.buffered(window).fuse().boxed(), buffer, window, ended }
    }

    /// Waits for `work`, and makes observations meanwhile. Returns those that are next in order too.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> (T, Vec<Made>) {
        let (mut work, mut ready) = (pin!(work), Vec::new());
        let output = poll_fn(|context| {
            if let Poll::Ready(output) = work.as_mut().poll(context) {
                return Poll::Ready(output);
            }
            while ready.len() < self.window
                && let Poll::Ready(Some(made)) = self.made.poll_next_unpin(context)
            {
                ready.push(made);
            }
            Poll::Pending
        });
        (output.await, ready)
    }

    /// Waits for the observations that have begun, and keeps them: no request is made twice.
    async fn keep(self, ready: Vec<Made>, preflight: &Preflight) {
        let Observed { made, buffer, ended, .. } = self;
        ended.store(true, Ordering::Relaxed);
        let mut made = stream::iter(ready).chain(made);
        while let Some(Made { topic, subject, item }) = made.next().await {
            buffer.take(item.weight());
            if let CollectionItem::Inspected(found) = item {
                preflight.keep(topic, subject, found);
            }
        }
    }
}

/// Work that goes on beside other work.
struct Beside<'a, T> {
    work: BoxFuture<'a, T>,
    done: Option<T>,
}

impl<'a, T> Beside<'a, T> {
    fn new(work: impl Future<Output = T> + Send + 'a) -> Beside<'a, T> {
        Beside { work: work.boxed(), done: None }
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        if self.done.is_none()
            && let Poll::Ready(output) = self.work.poll_unpin(context)
        {
            self.done = Some(output);
        }
    }

    /// Waits for `other`.
    async fn during<O>(&mut self, other: impl Future<Output = O>) -> O {
        let mut other = pin!(other);
        poll_fn(|context| {
            self.go_on(context);
            other.as_mut().poll(context)
        })
        .await
    }

    /// Waits for the work.
    async fn end(&mut self) {
        poll_fn(|context| {
            self.go_on(context);
            if self.done.is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
