//! What the observations of a run share: whether a listed repository still exists, and the organization's rulesets.
//!
//! Observations run concurrently and finish in any order, yet two runs that read the same must make the same requests. So
//! the observation that comes first in order makes a shared request, and the others wait for it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OnceCell};

use crate::observation::Seen;
use evidence_http::{Asked, Meta};
use evidence_rules::codehost::record::Ruleset;
use evidence_rules::codehost::security::OpenAlert;

/// Why there is nothing to read, if a repository is gone, and the requests that tell.
pub(super) type Gone = (Option<Seen>, Vec<Asked>);

/// See the module.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// The repositories whose protection is being read.
    under_way: HashSet<Arc<str>>,
    /// The repositories about which every answer was "Not Found", with the request that tells why.
    unseen: HashMap<Arc<str>, Arc<OnceCell<Gone>>>,
    /// Whether a repository is being tried: it comes before every observation.
    trying: bool,
    /// The number of the next observation in order that has no result yet.
    next: usize,
    /// The observations after it that have one.
    ahead: BTreeSet<usize>,
    /// The organization's rulesets by id; `None` if one could not be read, so that everyone asks.
    rulesets: HashMap<u64, Option<Arc<(Ruleset, Meta)>>>,
    /// How many requests the list of people took.
    people_requests: Option<u64>,
    /// How many pull requests the host's search counts as merged in each repository, and how many requests that took.
    merged: Option<(BTreeMap<String, u64>, u64)>,
    /// The open alerts of each repository, and how many requests the list took.
    alerts: Option<(BTreeMap<String, Vec<OpenAlert>>, u64)>,
}

/// Who reads a ruleset of the organization.
pub(super) enum Turn {
    /// It was read.
    Read(Arc<(Ruleset, Meta)>),
    /// The caller, for all.
    ForAll,
    /// The caller, for itself.
    Alone,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The list of people took this many requests.
    pub(super) fn asked_for_people(&self, requests: u64) {
        self.state().people_requests = Some(requests);
    }

    /// How many requests the list of people took, once it was read.
    pub(super) fn people_requests(&self) -> Option<u64> {
        self.state().people_requests
    }

    /// The open alerts of each repository, in lower case.
    pub(super) fn alerts(&self, repositories: BTreeMap<String, Vec<OpenAlert>>, requests: u64) {
        self.state().alerts = Some((repositories, requests));
    }

    /// The open alerts of a repository, if they were read.
    pub(super) fn alerts_of(&self, subject: &str) -> Option<Vec<OpenAlert>> {
        let state = self.state();
        let (repositories, _) = state.alerts.as_ref()?;
        Some(repositories.get(&subject.to_ascii_lowercase()).cloned().unwrap_or_default())
    }

    /// How many requests the list of open alerts took.
    pub(super) fn alert_requests(&self) -> Option<u64> {
        self.state().alerts.as_ref().map(|(_, requests)| *requests)
    }

    /// The host's search counts so many merged pull requests in each repository, in lower case.
    pub(super) fn merged(&self, repositories: BTreeMap<String, u64>, requests: u64) {
        self.state().merged = Some((repositories, requests));
    }

    /// How many merged pull requests the host's search counts in a repository, if it was asked.
    pub(super) fn merged_of(&self, subject: &str) -> Option<u64> {
        let state = self.state();
        let (repositories, _) = state.merged.as_ref()?;
        Some(repositories.get(&subject.to_ascii_lowercase()).copied().unwrap_or(0))
    }

    /// How many requests that took, and how many pull requests it counts.
    pub(super) fn merged_total(&self) -> Option<(u64, u64)> {
        let state = self.state();
        let (repositories, requests) = state.merged.as_ref()?;
        Some((*requests, repositories.values().sum()))
    }

    /// The protection of a repository is being read from now on.
    pub(super) fn begin(&self, subject: &Arc<str>) {
        self.state().under_way.insert(Arc::clone(subject));
    }

    /// The protection of a repository was read. `unseen`: every answer was "Not Found".
    pub(super) fn end(&self, subject: &Arc<str>, unseen: bool) {
        let mut state = self.state();
        state.under_way.remove(subject);
        if unseen {
            state.unseen.entry(Arc::clone(subject)).or_default();
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The request about the repository itself, for a repository that has not been seen.
    pub(super) fn unseen(&self, subject: &Arc<str>) -> Arc<OnceCell<Gone>> {
        Arc::clone(self.state().unseen.entry(Arc::clone(subject)).or_default())
    }

    /// Whether the protection of the repository was "Not Found" too, once it was read.
    pub(super) async fn is_unseen(&self, subject: &Arc<str>) -> bool {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.state();
                if !state.under_way.contains(subject) {
                    return state.unseen.contains_key(subject);
                }
            }
            changed.await;
        }
    }

    /// A repository is being tried from now on, or no longer.
    pub(super) fn trying(&self, trying: bool) {
        self.state().trying = trying;
        self.changed.notify_waiters();
    }

    /// The numbers of the observations begin anew.
    pub(super) fn restart(&self) {
        let mut state = self.state();
        (state.next, state.ahead) = (0, BTreeSet::new());
    }

    /// The observation with this number has a result.
    pub(super) fn done(&self, number: usize) {
        let mut state = self.state();
        state.ahead.insert(number);
        while let State { next, ahead, .. } = &mut *state
            && ahead.remove(next)
        {
            *next += 1;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until a ruleset of the organization was read, or until it is the turn of the observation with this number;
    /// without a number it always is. While a repository is tried, it is the turn of no number.
    pub(super) async fn turn(&self, id: u64, number: Option<usize>) -> Turn {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.state();
                match state.rulesets.get(&id) {
                    Some(Some(found)) => return Turn::Read(Arc::clone(found)),
                    Some(None) => return Turn::Alone,
                    None if number.is_none_or(|number| !state.trying && state.next >= number) => {
                        return Turn::ForAll;
                    }
                    None => {}
                }
            }
            changed.await;
        }
    }

    /// Keeps a ruleset of the organization for all; `None` if it could not be read.
    pub(super) fn keep(&self, id: u64, found: Option<(Ruleset, Meta)>) {
        self.state().rulesets.insert(id, found.map(Arc::new));
        self.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn the_first_in_order_reads_for_all() {
        let shared = Shared::default();
        assert!(shared.turn(7, Some(2)).now_or_never().is_none());
        shared.done(1);
        assert!(shared.turn(7, Some(2)).now_or_never().is_none(), "0 has no result yet");
        shared.done(0);
        assert!(matches!(shared.turn(7, Some(2)).now_or_never(), Some(Turn::ForAll)));
        assert!(shared.turn(7, Some(3)).now_or_never().is_none());
        let mut waiting = Box::pin(shared.turn(7, Some(3)));
        assert!(waiting.as_mut().now_or_never().is_none());
        shared.keep(7, Some(Default::default()));
        assert!(matches!(waiting.now_or_never(), Some(Turn::Read(_))));
        shared.keep(8, None);
        assert!(matches!(shared.turn(8, Some(9)).now_or_never(), Some(Turn::Alone)));
        assert!(matches!(shared.turn(9, None).now_or_never(), Some(Turn::ForAll)));
        shared.trying(true);
        assert!(shared.turn(9, Some(2)).now_or_never().is_none());
        assert!(matches!(shared.turn(9, None).now_or_never(), Some(Turn::ForAll)));
        shared.trying(false);
        assert!(matches!(shared.turn(9, Some(2)).now_or_never(), Some(Turn::ForAll)));
        shared.restart();
        assert!(shared.turn(9, Some(2)).now_or_never().is_none());
    }

    #[test]
    fn what_was_not_found_is_known_once_it_was_read() {
        let (shared, [web, api]) = (Shared::default(), ["acme/web", "acme/api"].map(Arc::<str>::from));
        shared.begin(&web);
        shared.begin(&api);
        let mut waiting = Box::pin(shared.is_unseen(&web));
        assert!(waiting.as_mut().now_or_never().is_none());
        shared.end(&api, false);
        assert!(waiting.as_mut().now_or_never().is_none());
        shared.end(&web, true);
        assert_eq!(waiting.now_or_never(), Some(true));
        assert_eq!(shared.is_unseen(&api).now_or_never(), Some(false));
        assert!(Arc::ptr_eq(&shared.unseen(&web), &shared.unseen(&web)));
    }
}
