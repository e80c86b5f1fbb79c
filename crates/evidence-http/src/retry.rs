//! Whether to ask again, and when.
//!
//! Pure: a dialect classifies an answer as a [`Class`], and [`decide`] turns the class and the number of
//! attempts into a decision. It never sends, waits or reads a clock, so the tests cover its whole domain.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::Offset;

/// How often one request is sent before it counts as failed, the first time included.
pub const MAXIMUM_ATTEMPTS: u32 = 5;

/// The longest wait a decision asks for. A primary limit resets within the hour, so nothing honest takes longer.
pub const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// The wait after a secondary limit without a duration; it doubles with every attempt.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

/// The wait after the first fault of the host or the connection; it doubles with every attempt.
const FAULT_WAIT: Duration = Duration::from_secs(1);

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// 200 or 204: a good answer, whatever is left of the limit.
    Success,
    /// 304: what was cached still holds.
    NotModified,
    /// 301, 302, 303, 307 or 308.
    Redirect,
    /// 401: the host does not accept the token.
    Unauthorized,
    /// 403 that is not a rate limit: asking again would not change it.
    Forbidden(RefusalCause),
    /// 404 from the host itself. Its message distinguishes many reasons.
    NotFound,
    /// 410: the version of the API is retired.
    Gone,
    /// 451, or 403 with the same message: the subject is blocked, for example after a copyright complaint.
    Blocked,
    /// The requests of this hour are used up; `reset` (seconds since 1970, by the host's clock) is when there are
    /// new ones, if the host said so.
    PrimaryLimit {
        /// When the limit resets.
        reset: Option<i64>,
    },
    /// Too many requests at once; the host may say how many seconds to wait.
    SecondaryLimit {
        /// Seconds to wait.
        retry_after: Option<u64>,
    },
    /// Too many requests per second, a limit that some providers have. The host may say how many seconds to
    /// wait; otherwise a few are enough.
    Throttled {
        /// Seconds to wait.
        retry_after: Option<u64>,
    },
    /// The host, or a proxy before it, failed: 408 or any 5xx. A 503 may say how many seconds to wait.
    HostFault {
        /// Seconds to wait.
        retry_after: Option<u64>,
    },
    /// 200 or 404 with an answer of the wrong kind, such as the page of a login or of a proxy. It may pass, unless the
    /// host has never answered otherwise: see [`PermanentFailure`](crate::PermanentFailure).
    Page,
    /// No usable answer arrived: refused or reset connection, time-out, truncated body.
    Transport,
    /// Any other status, which this client does not expect and cannot act on.
    Unexpected,
}

/// Why the host refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalCause {
    /// The host does not answer this request. Its message says why; the source interprets it.
    Permission,
    /// Too many bad credentials: the host refuses even good ones for a while, and asking again
    /// prolongs it.
    LoginAttempts,
    /// Not the host's own answer: a page of text or HTML from a proxy, or a refusal by bot protection. It says
    /// nothing about what the token may see.
    Intermediary,
}

/// What to do about an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RetryDecision {
    /// The answer is final, good or bad: asking again would not change it.
    Accept,
    /// There is no usable answer and the attempts are used up.
    GiveUp,
    /// Ask again after this time.
    RetryAfter(Duration),
    /// Ask again after the primary limit has reset (see `quota`, which knows when).
    WaitForReset,
}

/// Decides what to do about an answer of this class.
///
/// `attempt` is how often the request has been sent, this answer included: 1 after the first answer. `jitter` is a
/// random number from 0 to 1, which stretches the waits after faults by up to half, so that requests that failed
/// together do not come back together. A wait for the primary limit counts as one attempt.
pub fn decide(class: Class, attempt: u32, jitter: f64) -> RetryDecision {
    decide_within(MAXIMUM_ATTEMPTS, class, attempt, jitter)
}

/// The same as [`decide`], with `maximum` attempts.
pub fn decide_within(maximum: u32, class: Class, attempt: u32, jitter: f64) -> RetryDecision {
    let attempt = attempt.max(1);
    let wait = match class {
        Class::Success
        | Class::NotModified
        | Class::Redirect
        | Class::Unauthorized
        | Class::Forbidden(_)
        | Class::NotFound
        | Class::Gone
        | Class::Blocked
        | Class::Unexpected => return RetryDecision::Accept,
        _ if attempt >= maximum => return RetryDecision::GiveUp,
        Class::PrimaryLimit { .. } => return RetryDecision::WaitForReset,
        Class::SecondaryLimit { retry_after: Some(seconds) } => asked_for(seconds),
        Class::SecondaryLimit { retry_after: None } => doubled(SECONDARY_WAIT, attempt),
        Class::Throttled { retry_after: Some(seconds) } | Class::HostFault { retry_after: Some(seconds) } => {
            asked_for(seconds).max(backoff(attempt, jitter))
        }
        Class::Throttled { retry_after: None }
        | Class::HostFault { retry_after: None }
        | Class::Page
        | Class::Transport => backoff(attempt, jitter),
    };
    RetryDecision::RetryAfter(wait.min(LONGEST_WAIT))
}

/// The wait that the host asked for. "Now" still means a second: otherwise five attempts would take no time.
fn asked_for(seconds: u64) -> Duration {
    Duration::from_secs(seconds.max(1))
}

fn backoff(attempt: u32, jitter: f64) -> Duration {
    let jitter = if jitter.is_nan() { 0.0 } else { jitter.clamp(0.0, 1.0) };
    doubled(FAULT_WAIT, attempt).mul_f64(1.0 + jitter / 2.0)
}

fn doubled(first: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1))).min(LONGEST_WAIT)
}

/// The seconds that a `Retry-After` asks for, if it can be understood (RFC 9110, section 10.2.3). A date counts from
/// the answer's own `Date`, since the clock of this machine may be wrong; a date in the past is zero seconds.
pub fn retry_after_seconds(text: &str, date: Option<i64>) -> Option<u64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only overflow can fail here.
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let wait = http_date(text)?.saturating_sub(date?);
    Some(u64::try_from(wait).unwrap_or(0))
}

/// Reads an HTTP date in any of the three forms of RFC 9110, section 5.6.7, as seconds since 1970.
pub fn http_date(text: &str) -> Option<i64> {
    // The name of the day is not checked: senders get it wrong, and nothing depends on it.
    const USUAL: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let text = text.trim();
    if let Ok(date) = USUAL.parse_timestamp(text) {
        return Some(date.as_second());
    }
    let (_, date) = text.split_once(", ").or_else(|| text.split_once(' '))?;
    ["%d-%b-%y %H:%M:%S GMT", "%b %e %H:%M:%S %Y"].iter().find_map(|form| {
        let civil: DateTime = strtime::parse(form, date).ok()?.to_datetime().ok()?;
        Offset::UTC.to_timestamp(civil).ok().map(Timestamp::as_second)
    })
}

#[cfg(test)]
mod tests;
