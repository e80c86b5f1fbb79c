//! The text of a wait.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::format::duration;
use super::style::YELLOW;
use crate::observation::SourceName;
use evidence_http::WaitReason;

/// Rounded up, since "0 s" is not a wait.
pub(super) fn whole_seconds(left: SignedDuration) -> SignedDuration {
    SignedDuration::from_secs(left.as_secs() + i64::from(left.subsec_nanos() > 0))
}

/// `HTTP 502; attempt 2 of 5, retry in 4 s`
pub(super) fn again_text(text: &str, attempt: u32, of: u32, wait: Duration) -> String {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    format!("{text}; attempt {attempt} of {of}, retry in {}", duration(whole_seconds(wait)))
}

/// `waiting 12 min 05 s until 14:30:00Z: the host asked for a pause`
pub(super) fn wait_text(reason: WaitReason, until: Timestamp, left: SignedDuration) -> String {
    let what = match reason {
        WaitReason::PrimaryLimit => "the hourly limit is nearly used up",
        WaitReason::SecondaryLimit => "the host asked for a pause",
        WaitReason::HostFault => "the host is down and said when to retry",
        WaitReason::Throttled => "the host asks for fewer requests",
        WaitReason::Pace => "this minute's requests are used up",
    };
    format!("waiting {} until {}: {what}", duration(whole_seconds(left)), until.strftime("%H:%M:%SZ"))
}

/// The line of a wait, where no bar shows it.
pub(super) fn wait_line(source: SourceName, text: &str) -> String {
    format!("  {:<9} {YELLOW}{:<5}{YELLOW:#}  {text} (Ctrl-C stops)", source.id(), "wait")
}
