//! Limits the memory for results that wait for an earlier one.
//!
//! Results are returned in order, but answers arrive in any order and pile up behind a slow one. Most are small, but a
//! CODEOWNERS file can have 3 MB. So an observation starts only while the waiting results are below a limit. The next observation in
//! order may always start, so this cannot deadlock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{Mutex, Notify};

/// The size of waiting results, in bytes, above which no further observation starts. Observations that are running come on top: at
/// most `max_concurrency` times the largest artifact.
const BOUND: u64 = 16 * 1024 * 1024;

/// The results waiting to be returned.
#[derive(Debug)]
pub(super) struct ReorderBuffer {
    bytes: AtomicU64,
    /// The number of running observations, whose results have an unknown size.
    under_way: AtomicUsize,
    /// The maximum number of running observations: that of requests in flight, since each observation makes one request at a time.
    at_once: usize,
    /// The number of returned results, which is the number of the next observation in order.
    out: AtomicUsize,
    /// Observations start in order, so that the next one is never behind another.
    turn: Mutex<()>,
    changed: Notify,
}

impl ReorderBuffer {
    /// An empty buffer.
    pub(super) fn new(at_once: usize) -> ReorderBuffer {
        let (bytes, under_way, out) = (AtomicU64::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        ReorderBuffer { bytes, under_way, at_once, out, turn: Mutex::new(()), changed: Notify::new() }
    }

    /// Waits until the observation with this number may start.
    pub(super) async fn enter(&self, number: usize) {
        let _turn = self.turn.lock().await;
        loop {
            let is_next = self.out.load(Ordering::Relaxed) == number;
            let has_room = self.bytes.load(Ordering::Relaxed) < BOUND
                && self.under_way.load(Ordering::Relaxed) < self.at_once;
            if is_next || has_room {
                self.under_way.fetch_add(1, Ordering::Relaxed);
                return;
            }
            self.changed.notified().await;
        }
    }

    /// An observation that was started has a result, which now waits.
    pub(super) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// The next result was returned.
    pub(super) fn take(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.out.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn a_pile_holds_back_everybody_but_the_next() {
        let buffer = ReorderBuffer::new(2);
        assert!(buffer.enter(5).now_or_never().is_some());
        assert!(buffer.enter(6).now_or_never().is_some());
        assert!(buffer.enter(7).now_or_never().is_none(), "two are under way");
        buffer.add(0);
        buffer.add(BOUND);
        assert!(buffer.enter(5).now_or_never().is_none());
        assert!(buffer.enter(0).now_or_never().is_some(), "the next one always starts");
        buffer.take(0);
        assert!(buffer.enter(0).now_or_never().is_none());
        assert!(buffer.enter(1).now_or_never().is_some());
        buffer.add(0);
        buffer.add(0);
        buffer.take(BOUND);
        assert!(buffer.enter(5).now_or_never().is_some());
    }
}
