//! What a client tells while it works. No answer depends on it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::circuit::GivenUp;
use super::reply::RequestFailure;

/// Listens to a client, to as much of it as it cares for.
pub trait Watch: Send + Sync {
    /// Everybody who asks this host waits; said again as the time passes.
    fn waiting(&self, _reason: WaitReason, _until: Timestamp, _left: SignedDuration) {}

    /// The wait that was last said is over.
    fn wait_over(&self) {}

    /// Questions of this kind are not asked any more.
    fn given_up(&self, _given_up: &GivenUp) {}

    /// Whether it listens to [`Watch::exchanged`] at all.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// A request has an answer or failed.
    fn exchanged(&self, _exchanged: Exchanged<'_>) {}

    /// An attempt to ask this host failed, and there will be another after this wait.
    fn again(&self, _host: &str, _failure: &RequestFailure, _wait: Duration) {}

    /// So many bytes of a file have left.
    fn sent(&self, _bytes: u64) {}
}

/// One attempt at a request, and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct Exchanged<'a> {
    /// Its method.
    pub method: &'static str,
    /// Path and query, or the name of the action.
    pub path: &'a str,
    /// Status and message, or what went wrong.
    pub result: &'a str,
    /// Which attempt it was.
    pub attempt: u32,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// The hourly limit is nearly used up.
    PrimaryLimit,
    /// The host asked for a rest.
    SecondaryLimit,
    /// The host is down and said for how long.
    HostFault,
    /// The host was asked too fast and said for how long to wait.
    Throttled,
    /// The pace of requests: this minute has as many as the host tolerates.
    Pace,
}
