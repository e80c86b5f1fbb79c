//! The text of a wait.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::ending::ending;
use super::style::YELLOW;
use crate::forecast::Forecast;
use crate::observation::SourceName;
use evidence_http::WaitReason;
use evidence_text::shown::duration;
use evidence_text::{Safe, safe};

/// Rounded up, since "0 s" is not a wait.
pub(super) fn whole_seconds(left: SignedDuration) -> SignedDuration {
    SignedDuration::from_secs(left.as_secs() + i64::from(left.subsec_nanos() > 0))
}

/// `HTTP 502; attempt 2 of 5, retry in 4 s`
pub(super) fn again_text(text: &Safe, attempt: u32, of: u32, wait: Duration) -> Safe {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    safe!("{text}; attempt {attempt} of {of}, retry in {}", duration(whole_seconds(wait).as_secs()); text, attempt, of)
}

/// `waiting 12 min 05 s until 14:30:00Z: the host asked for a pause`
pub(crate) fn wait_text(reason: WaitReason, until: Timestamp, left: SignedDuration) -> Safe {
    let what = match reason {
        WaitReason::PrimaryLimit => "the hourly limit is nearly used up",
        WaitReason::SecondaryLimit => "the host asked for a pause",
        WaitReason::HostFault => "the host is down and said when to retry",
        WaitReason::Throttled => "the host asks for fewer requests",
        WaitReason::Pace => "this minute's requests are used up",
    };
    let until = Safe::of(&until.strftime("%H:%M:%SZ").to_string());
    safe!("waiting {} until {until}: {what}", duration(whole_seconds(left).as_secs()); until, what)
}

/// The text with what follows after a wait for the hourly limit: `; then done about 20:35Z, 2 waits left`.
pub(super) fn with_ending(
    text: Safe,
    reason: WaitReason,
    until: Timestamp,
    forecast: Option<Forecast>,
) -> Safe {
    match forecast.filter(|forecast| reason == WaitReason::PrimaryLimit && forecast.done > until) {
        Some(forecast) => {
            // The forecast is from before this wait, and has it among those left.
            let ending = Safe::of(&ending(&forecast, forecast.waits.saturating_sub(1)));
            safe!("{text}; {ending}"; text, ending)
        }
        None => text,
    }
}

/// The line of a wait, where no bar shows it.
pub(super) fn wait_line(source: SourceName, text: &Safe) -> Safe {
    safe!("  {:<9} {YELLOW}{:<5}{YELLOW:#}  {text} (Ctrl-C stops)", source.id(), "wait"; YELLOW, text)
}
