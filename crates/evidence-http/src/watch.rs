//! Progress that a client reports. No answer depends on it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::circuit::GivenUp;
use super::reply::RequestFailure;

/// Receives events of a client; every method is optional.
pub trait Watch: Send + Sync {
    /// All requests to this host wait; repeated while the wait lasts.
    fn waiting(&self, _reason: WaitReason, _until: Timestamp, _left: SignedDuration) {}

    /// The last reported wait is over.
    fn wait_over(&self) {}

    /// The client gave up questions of this kind.
    fn given_up(&self, _given_up: &GivenUp) {}

    /// Whether it uses [`Watch::exchanged`] at all.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// A request has an answer or failed.
    fn exchanged(&self, _exchanged: Exchanged<'_>) {}

    /// An attempt failed, and the next one follows after this wait.
    fn again(&self, _host: &str, _failure: &RequestFailure, _wait: Duration) {}

    /// This many bytes of a file were sent.
    fn sent(&self, _bytes: u64) {}
}

/// One attempt at a request, and its result.
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

/// The reason for a wait.
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
    /// The pace of requests: this minute already has as many as the host tolerates.
    Pace,
}
