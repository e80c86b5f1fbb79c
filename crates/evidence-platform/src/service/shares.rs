//! Shares of a scarce resource, fair between organizations.
//!
//! An organization gets another share only while more are free than it holds. Alone it gets half; each later one gets
//! half of the rest, so that even several greedy organizations leave a share to the next. Waiting requests are served
//! organization by organization in turn, so that a long queue delays only its own organization.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::error::Error;
use crate::id::OrganizationId;

/// A limited resource.
#[derive(Debug)]
pub(super) struct Shares {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: HashMap<OrganizationId, usize>,
    /// The queues of the organizations. The first organization that may have a share is served next.
    queues: VecDeque<(OrganizationId, Queue)>,
}

type Queue = VecDeque<oneshot::Sender<Share>>;

/// A share of it, released on drop.
#[derive(Debug)]
pub(super) struct Share {
    of: Arc<Shares>,
    organization: OrganizationId,
}

impl Shares {
    pub(super) fn new(most: usize) -> Arc<Shares> {
        Arc::new(Shares { most: most.max(1), state: Mutex::default() })
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share now.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if none is left for this organization.
    pub(super) fn take(self: &Arc<Shares>, organization: &OrganizationId) -> Result<Share, Error> {
        self.share(&mut self.locked(), organization).ok_or(Error::Busy)
    }

    /// Waits for a share. Dropping the future leaves the queue.
    ///
    /// A queue is not bounded itself: its callers hold a share of another resource while they wait.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`].
    pub(super) async fn wait(self: &Arc<Shares>, organization: &OrganizationId) -> Result<Share, Error> {
        let (waiter, turn) = oneshot::channel();
        {
            let mut state = self.locked();
            match state.queues.iter_mut().find(|(name, _)| name == organization) {
                Some((_, queue)) => queue.push_back(waiter),
                None => state.queues.push_back((organization.clone(), VecDeque::from([waiter]))),
            }
        }
        self.serve();
        turn.await.map_err(|error| Error::internal("a queue was lost", error))
    }

    /// Gives free shares to waiting requests.
    fn serve(self: &Arc<Shares>) {
        let mut served = Vec::new();
        {
            let mut state = self.locked();
            for (_, queue) in &mut state.queues {
                queue.retain(|waiter| !waiter.is_closed());
            }
            state.queues.retain(|(_, queue)| !queue.is_empty());
            while let Some(next) = self.next(&mut state) {
                served.push(next);
            }
        }
        // A waiter that left in the meantime drops its share, which locks the state and serves the next.
        for (waiter, share) in served {
            let _ = waiter.send(share);
        }
    }

    /// Takes the next request from the queues, with its share.
    fn next(self: &Arc<Shares>, state: &mut State) -> Option<(oneshot::Sender<Share>, Share)> {
        let index = state.queues.iter().position(|(name, _)| self.allows(state, name))?;
        let (organization, mut queue) = state.queues.remove(index)?;
        let waiter = queue.pop_front()?;
        let share = self.share(state, &organization)?;
        if !queue.is_empty() {
            state.queues.push_back((organization, queue));
        }
        Some((waiter, share))
    }

    fn share(self: &Arc<Shares>, state: &mut State, organization: &OrganizationId) -> Option<Share> {
        if !self.allows(state, organization) {
            return None;
        }
        let own = state.taken.entry(organization.clone()).or_default();
        *own = own.saturating_add(1);
        Some(Share { of: Arc::clone(self), organization: organization.clone() })
    }

    /// Whether this organization may have another share.
    fn allows(&self, state: &State, organization: &OrganizationId) -> bool {
        let all: usize = state.taken.values().sum();
        let own = state.taken.get(organization).copied().unwrap_or_default();
        self.most.saturating_sub(all) > own
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        {
            let mut state = self.of.locked();
            if let Some(count) = state.taken.get_mut(&self.organization) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    state.taken.remove(&self.organization);
                }
            }
        }
        self.of.serve();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn names() -> [OrganizationId; 4] {
        ["a", "b", "c", "d"].map(|name| OrganizationId::stored(name.to_owned()))
    }

    #[test]
    fn each_gets_half_of_what_others_leave() {
        // The number of shares, and how many each organization gets if all ask in turn for as many as possible.
        for (most, expected) in [
            (1, [1, 0, 0, 0]),
            (2, [1, 1, 0, 0]),
            (3, [2, 1, 0, 0]),
            (4, [2, 1, 1, 0]),
            (16, [8, 4, 2, 1]),
            (64, [32, 16, 8, 4]),
        ] {
            let shares = Shares::new(most);
            let mut held = Vec::new();
            let got = names().map(|name| {
                let own: Vec<_> = std::iter::from_fn(|| shares.take(&name).ok()).collect();
                let count = own.len();
                held.push(own);
                count
            });
            assert_eq!(got, expected, "of {most}");
            drop(held);
            assert!(shares.locked().taken.is_empty());
        }
    }

    #[test]
    fn organizations_that_wait_are_served_in_turn() {
        let [a, b, c, d] = names();
        let shares = Shares::new(1);
        let held = shares.take(&d).unwrap();
        let queue = [&a, &a, &a, &b, &c, &c];
        let mut waiting: Vec<_> = queue.map(|name| (name.clone(), Box::pin(shares.wait(name)))).into();
        for (_, wait) in &mut waiting {
            assert!(wait.now_or_never().is_none());
        }
        // The second request of a leaves.
        drop(waiting.remove(1));
        drop(held);
        let mut served = Vec::new();
        while !waiting.is_empty() {
            let mut ready = waiting
                .iter_mut()
                .enumerate()
                .filter_map(|(index, (_, wait))| wait.now_or_never().map(|share| (index, share.unwrap())));
            let (index, share) = ready.next().unwrap();
            assert!(ready.next().is_none(), "there is one share");
            served.push(waiting.remove(index).0);
            drop(share);
        }
        assert_eq!(served, [&a, &b, &c, &a, &c].map(Clone::clone));
        // A share is not lost if its request leaves before receiving it.
        let held = shares.take(&a).unwrap();
        let mut unfetched = Box::pin(shares.wait(&b));
        assert!((&mut unfetched).now_or_never().is_none());
        drop(held);
        drop(unfetched);
        assert!(shares.locked().taken.is_empty());
    }
}
