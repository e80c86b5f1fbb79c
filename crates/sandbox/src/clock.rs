//! The host's own clock: the machine's, shifted, or a test's own.

use crate::delay::Delay;
use jiff::{SignedDuration, Timestamp};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A clock that can be wrong (a host two hours off), moved forward (past a limit's window), or a test's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    hands: VirtualTime,
    offset_seconds: Arc<AtomicI64>,
    delay: Arc<Delay>,
}

/// The source of time: the machine, or the hands of a test.
#[derive(Clone, Default)]
pub(crate) struct VirtualTime {
    read: Option<Arc<Read>>,
    wait: Option<Arc<Wait>>,
}

type Read = dyn Fn() -> Timestamp + Send + Sync;

type Wait = dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

impl VirtualTime {
    pub(crate) fn read_by(&mut self, read: impl Fn() -> Timestamp + Send + Sync + 'static) {
        self.read = Some(Arc::new(read));
    }

    pub(crate) fn wait_by<Waiting>(&mut self, wait: impl Fn(Duration) -> Waiting + Send + Sync + 'static)
    where
        Waiting: Future<Output = ()> + Send + 'static,
    {
        self.wait = Some(Arc::new(move |duration| Box::pin(wait(duration))));
    }
}

impl std::fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.read.is_some() { "handed in" } else { "the machine's" })
    }
}

impl Clock {
    pub(crate) fn new(hands: VirtualTime) -> Self {
        Self { hands, ..Self::default() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        let offset = SignedDuration::from_secs(self.offset_seconds.load(Ordering::Relaxed));
        let now = self.hands.read.as_ref().map_or_else(Timestamp::now, |read| read());
        now.checked_add(offset).unwrap_or(now)
    }

    /// Waits for this long.
    pub(crate) async fn sleep(&self, duration: Duration) {
        match &self.hands.wait {
            Some(wait) => wait(duration).await,
            None => self.delay.wait(duration).await,
        }
    }

    pub(crate) fn shift(&self, seconds: i64) {
        self.offset_seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) fn set_offset(&self, seconds: i64) {
        self.offset_seconds.store(seconds, Ordering::Relaxed);
    }
}

/// `Sat, 04 Jan 2025 14:03:14 GMT`.
pub(crate) fn http_date(at: Timestamp) -> String {
    jiff::fmt::rfc2822::DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&at)
        .unwrap_or_else(|_| "Thu, 01 Jan 1970 00:00:00 GMT".to_owned())
}

/// `2025-01-04 14:03:14 UTC`, as the limit messages write it.
pub(crate) fn prose_date(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2025-01-04T14:03:14Z`, as bodies write it.
pub(crate) fn iso_date(epoch_seconds: i64) -> String {
    Timestamp::from_second(epoch_seconds).unwrap_or_default().to_string()
}
