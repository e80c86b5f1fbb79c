//! The hands of a clock for simulations with several waiters.
//!
//! A simulation moves the hands, and each waiter wakes when they pass its deadline. They never move by
//! themselves: only the simulation knows when every part of it waits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::oneshot;

/// The hands of a clock.
#[derive(Debug)]
pub struct VirtualTime {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    now: Timestamp,
    waiting: Vec<(Timestamp, oneshot::Sender<()>)>,
}

impl VirtualTime {
    /// Hands that show `start`.
    pub fn new(start: Timestamp) -> VirtualTime {
        VirtualTime { state: Mutex::new(State { now: start, waiting: Vec::new() }) }
    }

    /// The time that they show.
    pub fn now(&self) -> Timestamp {
        self.lock().now
    }

    /// Waits until they show `deadline`. The wait begins with this call, not with the first poll.
    pub fn wait_until(&self, deadline: Timestamp) -> impl Future<Output = ()> + Send + use<> {
        self.lock().wait_until(deadline)
    }

    /// Waits for this long, from the time that they show at this call.
    pub fn wait_for(&self, duration: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut state = self.lock();
        let deadline = state.now.checked_add(duration).unwrap_or(Timestamp::MAX);
        state.wait_until(deadline)
    }

    /// The earliest pending deadline.
    pub fn next(&self) -> Option<Timestamp> {
        let mut state = self.lock();
        state.waiting.retain(|(_, wake)| !wake.is_closed());
        state.waiting.iter().map(|(deadline, _)| *deadline).min()
    }

    /// Moves them to `time`, never back, and returns how many waits that ended.
    pub fn move_to(&self, time: Timestamp) -> usize {
        let mut state = self.lock();
        state.now = state.now.max(time);
        let now = state.now;
        let over: Vec<_> = state.waiting.extract_if(.., |(deadline, _)| *deadline <= now).collect();
        drop(state);
        over.into_iter().filter_map(|(_, wake)| wake.send(()).ok()).count()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wait_until(&mut self, deadline: Timestamp) -> impl Future<Output = ()> + Send + use<> {
        let (wake, woken) = oneshot::channel();
        // If the deadline has passed, dropping the sender wakes the waiter.
        if deadline > self.now {
            self.waiting.push((deadline, wake));
        }
        async move { drop(woken.await) }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn waits_end_in_the_order_of_their_times() {
        let hands = VirtualTime::new(at(0));
        let (mut later, mut sooner) = (Box::pin(hands.wait_until(at(60))), Box::pin(hands.wait_until(at(1))));
        assert!(hands.wait_until(at(0)).now_or_never().is_some(), "its time has come");
        assert_eq!(hands.next(), Some(at(1)));
        assert_eq!((hands.move_to(at(1)), hands.now()), (1, at(1)));
        assert!(sooner.as_mut().now_or_never().is_some());
        assert!(later.as_mut().now_or_never().is_none());
        assert_eq!((hands.move_to(at(0)), hands.now()), (0, at(1)), "never back");
        let shorter = hands.wait_for(Duration::from_secs(5));
        assert_eq!((hands.next(), hands.move_to(at(6))), (Some(at(6)), 1), "from the time they show");
        assert!(shorter.now_or_never().is_some());
        drop(later);
        assert_eq!((hands.next(), hands.move_to(at(60))), (None, 0), "nobody waits any more");
    }
}
