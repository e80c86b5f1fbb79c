//! The host's own clock: the machine's, shifted. Tests move it; nothing here ever sleeps.

use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that can be wrong (a host two hours apart) or moved forward (a limit's window passing).
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    offset_seconds: Arc<AtomicI64>,
}

impl Clock {
    pub(crate) fn now(&self) -> Timestamp {
        let offset = self.offset_seconds.load(Ordering::Relaxed);
        let now = Timestamp::now();
        Timestamp::from_second(now.as_second().saturating_add(offset)).unwrap_or(now)
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
