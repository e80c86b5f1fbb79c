//! The pages of a stored query: which repositories are in which, and what is done with one that fails.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use url::Url;

use super::super::super::repository::{Origin, ScopedRepository};
use super::answer::{Errors, Outcome, Page};
use crate::env::Clock;
use crate::forecast::Queries;
use evidence_bundle::document::BulkRecord;
use evidence_http::{Asked, Call, CallError, Client, Meta, Request, Standing, recorded};
use evidence_text::saturating_u64;

/// Repositories per query.
const PAGE: usize = 50;

/// A page of this many that fails is not asked again.
const SMALLEST: usize = 6;

/// After this many smallest pages in a row that fail, the interface is given up.
const PATIENCE: u32 = 3;

/// After this many good pages in a row, pages grow again by a tenth of [`PAGE`].
const GROW_AFTER: u32 = 20;

/// The wait after a page that failed, doubled with each further one in a row.
const WAIT: Duration = Duration::from_secs(1);

/// A repository as a page shows it.
#[derive(Debug)]
pub(crate) struct FromPage<T> {
    pub(crate) node: T,
    pub(crate) errors: Errors,
    /// The answer of the whole page, and the request for it.
    pub(crate) meta: Arc<Meta>,
    pub(crate) asked: Arc<[Asked]>,
}

/// The interface as all pages share it.
pub(super) struct Line {
    client: Client,
    pub(super) url: Url,
    clock: Clock,
    state: Mutex<LineState>,
    queries: AtomicU64,
    points: AtomicU64,
}

struct LineState {
    /// Repositories per page.
    size: usize,
    /// Good pages in a row.
    good: u32,
    /// Pages that failed in a row, and those of them that were the smallest.
    failed: u32,
    hopeless: u32,
    /// Why it is given up.
    given_up: Option<String>,
    /// Whether the reason was taken.
    told: bool,
}

impl Line {
    pub(super) fn new(client: Client, url: Url, clock: Clock) -> Line {
        let state = LineState { size: PAGE, good: 0, failed: 0, hopeless: 0, given_up: None, told: false };
        let (queries, points) = (AtomicU64::new(0), AtomicU64::new(0));
        Line { client, url, clock, state: Mutex::new(state), queries, points }
    }

    fn state(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_given_up(&self) -> bool {
        self.state().given_up.is_some()
    }

    pub(super) fn take_reason(&self) -> Option<String> {
        let mut state = self.state();
        let reason = state.given_up.clone().filter(|_| !state.told)?;
        state.told = true;
        Some(reason)
    }

    pub(super) fn record(&self) -> BulkRecord {
        BulkRecord {
            queries: self.queries.load(Ordering::Relaxed),
            points: self.points.load(Ordering::Relaxed),
            host_seconds: u64::try_from(self.client.host_time().as_secs()).unwrap_or(0),
        }
    }

    /// Where it stands with its limits, unless it was given up.
    pub(super) fn standing(&self) -> Option<Queries> {
        let page = {
            let state = self.state();
            if state.given_up.is_some() {
                return None;
            }
            saturating_u64(state.size)
        };
        let sent = self.queries.load(Ordering::Relaxed);
        let standing = self.client.standing();
        // Each observation under way waits for its page.
        let in_flight = standing.in_flight.div_ceil(page.max(1));
        let standing = Standing { sent, in_flight, ..standing };
        Some(Queries { standing, page, points: self.points.load(Ordering::Relaxed) })
    }

    fn succeeded(&self, points: Option<u64>) {
        self.points.fetch_add(points.unwrap_or(0), Ordering::Relaxed);
        let mut state = self.state();
        (state.failed, state.hopeless) = (0, 0);
        state.good += 1;
        if state.good >= GROW_AFTER {
            state.good = 0;
            state.size = (state.size + PAGE / 10).min(PAGE);
        }
    }

    /// A page of this many was too much. Returns how long to wait before the next.
    fn too_much(&self, repositories: usize, why: &str) -> Duration {
        let mut state = self.state();
        state.good = 0;
        state.size = state.size.min((repositories / 2).max(SMALLEST));
        if repositories <= SMALLEST {
            state.hopeless += 1;
            if state.hopeless >= PATIENCE {
                state.given_up.get_or_insert_with(|| why.to_string());
            }
        }
        let wait = WAIT.saturating_mul(2u32.saturating_pow(state.failed.min(4)));
        state.failed += 1;
        wait
    }

    fn give_up(&self, why: String) {
        self.state().given_up.get_or_insert(why);
    }

    async fn rest(&self, wait: Duration) {
        let until = self.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
        self.clock.sleep_until(until).await;
    }
}

/// The pages of one query.
pub(super) struct Pages<T> {
    state: Mutex<State<T>>,
    changed: Notify,
}

struct State<T> {
    /// The position of the first repository that is in no page yet.
    next: usize,
    /// The repositories in pages, until they are taken.
    repositories: HashMap<Arc<str>, Slot<T>>,
}

enum Slot<T> {
    /// Its page is being read.
    UnderWay,
    Read(FromPage<T>),
    /// The page does not show it.
    Nothing,
}

impl<T> Default for Pages<T> {
    fn default() -> Pages<T> {
        let state = State { next: 0, repositories: HashMap::new() };
        Pages { state: Mutex::new(state), changed: Notify::new() }
    }
}

/// A page to read. If it is dropped, what was not read is nothing.
struct Claim<'a, T> {
    pages: &'a Pages<T>,
    repositories: Vec<ScopedRepository>,
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        let mut state = self.pages.state();
        for repository in &self.repositories {
            if let Some(slot @ Slot::UnderWay) = state.repositories.get_mut(&repository.subject) {
                *slot = Slot::Nothing;
            }
        }
        drop(state);
        self.pages.changed.notify_waiters();
    }
}

impl<T> Pages<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The positions are those of another list from now on. What was read stays.
    pub(super) fn restart(&self) {
        self.state().next = 0;
    }

    /// What a page shows of the repository at `position`; `None` if it must be read otherwise. Reads the page unless
    /// another caller has, or does.
    pub(super) async fn get(
        &self,
        line: &Line,
        listed: &[ScopedRepository],
        position: usize,
        call: &Call<Page<T>>,
        request: impl Fn(&[&str]) -> Request + Send + Sync,
    ) -> Option<FromPage<T>>
    where
        T: Send + Sync + 'static,
    {
        let repository = listed.get(position)?;
        // Nothing asks for it, so it would be in no page.
        id(repository)?;
        let subject = &repository.subject;
        loop {
            let changed = self.changed.notified();
            let claim = {
                let mut state = self.state();
                match state.repositories.get(subject) {
                    Some(Slot::UnderWay) => None,
                    Some(Slot::Read(_) | Slot::Nothing) => {
                        return match state.repositories.remove(subject) {
                            Some(Slot::Read(found)) => Some(found),
                            Some(Slot::Nothing | Slot::UnderWay) | None => None,
                        };
                    }
                    None if position < state.next || line.is_given_up() => return None,
                    None => {
                        let repositories = state.claim(listed, position, line.state().size);
                        Some(Claim { pages: self, repositories })
                    }
                }
            };
            match claim {
                Some(claim) => self.read(line, &claim, call, &request).await,
                None => changed.await,
            }
        }
    }

    /// Reads a page, in parts if it is too much.
    async fn read(
        &self,
        line: &Line,
        claim: &Claim<'_, T>,
        call: &Call<Page<T>>,
        request: &(impl Fn(&[&str]) -> Request + Send + Sync),
    ) where
        T: Send + Sync + 'static,
    {
        let mut parts: Vec<&[ScopedRepository]> = vec![&claim.repositories];
        while let Some(part) = parts.pop() {
            if line.is_given_up() {
                return;
            }
            let ids: Vec<&str> = part.iter().filter_map(id).collect();
            line.queries.fetch_add(1, Ordering::Relaxed);
            let began = line.clock.now();
            // On the heap: the future of every observation would contain it.
            let asking = Box::pin(async { line.client.ask(&request(&ids), call).await });
            let (answer, asked) = recorded(asking).await;
            if asked.iter().all(|asked| asked.at < began) {
                // Taken over from the interrupted run, or not sent at all.
                line.queries.fetch_sub(1, Ordering::Relaxed);
            }
            let too_much = match answer {
                Ok(answered) => {
                    let points = answered.value.points();
                    let meta = Arc::new(answered.meta);
                    match answered.value.outcome(part.len()) {
                        Outcome::Nodes(nodes) => {
                            line.succeeded(points);
                            let asked: Arc<[_]> = asked.into();
                            let found = nodes.into_iter().map(|node| {
                                let (node, errors) = node?;
                                let (meta, asked) = (Arc::clone(&meta), Arc::clone(&asked));
                                Some(FromPage { node, errors, meta, asked })
                            });
                            self.fill(part, found);
                            continue;
                        }
                        Outcome::TooMuch(why) => why,
                        Outcome::Refused(why) => {
                            line.give_up(why);
                            return;
                        }
                    }
                }
                Err(CallError::Refused(refused)) => {
                    line.give_up(format!("HTTP {}: {}", refused.meta.status, refused.text()));
                    return;
                }
                Err(CallError::Failed(failure)) => failure.to_string(),
            };
            let wait = line.too_much(part.len(), &too_much);
            if part.len() <= SMALLEST {
                self.fill(part, std::iter::repeat_with(|| None).take(part.len()));
            } else {
                let (first, second) = part.split_at(part.len().div_ceil(2));
                parts.extend([second, first]);
            }
            line.rest(wait).await;
        }
    }

    fn fill(&self, part: &[ScopedRepository], found: impl Iterator<Item = Option<FromPage<T>>>) {
        let mut state = self.state();
        for (repository, found) in part.iter().zip(found) {
            let slot = found.map_or(Slot::Nothing, Slot::Read);
            state.repositories.insert(Arc::clone(&repository.subject), slot);
        }
        drop(state);
        self.changed.notify_waiters();
    }
}

impl<T> State<T> {
    /// The next repositories from `position` on that a query can ask for.
    fn claim(&mut self, listed: &[ScopedRepository], position: usize, size: usize) -> Vec<ScopedRepository> {
        let mut claimed: Vec<ScopedRepository> = Vec::with_capacity(size);
        let mut at = position;
        while let Some(repository) = listed.get(at).filter(|_| claimed.len() < size) {
            at += 1;
            if id(repository).is_some() && !self.repositories.contains_key(&repository.subject) {
                claimed.push(repository.clone());
            }
        }
        self.next = self.next.max(at);
        for repository in &claimed {
            self.repositories.insert(Arc::clone(&repository.subject), Slot::UnderWay);
        }
        claimed
    }
}

/// The id by which a query asks for a repository, unless nothing of it is read.
fn id(repository: &ScopedRepository) -> Option<&str> {
    match &repository.origin {
        Origin::Shown(details) if details.exempt().is_none() => details.node_id.as_deref(),
        Origin::Shown(_) | Origin::Hidden(_) => None,
    }
}
