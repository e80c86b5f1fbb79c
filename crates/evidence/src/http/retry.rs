//! What an answer means, and whether to ask again.
//!
//! Pure: [`classify`] turns the status, a few headers and the host's message into a [`Class`], and [`verdict`] turns
//! the class and the number of attempts into what to do. Neither sends, waits nor reads a clock, so both are tested
//! over their whole domain. A message is compared as a whole phrase or from its beginning and without regard to
//! case; nothing is concluded from a number that happens to occur in a text.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::Offset;

/// How often one request is sent before it counts as failed, the first time included.
pub const MAXIMUM_ATTEMPTS: u32 = 5;

/// The longest wait a verdict asks for. A primary limit resets within the hour, so nothing honest takes longer.
pub const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

/// The wait after a secondary limit that does not say how long; it doubles with every attempt.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

/// The wait after the first fault of the host or the connection; it doubles with every attempt.
const FAULT_WAIT: Duration = Duration::from_secs(1);

/// The parts of an answer that decide what it means.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The `Retry-After` header as sent: seconds or an HTTP date.
    pub retry_after: Option<&'a str>,
    /// The number in `X-RateLimit-Remaining`.
    pub remaining: Option<u64>,
    /// The number in `X-RateLimit-Reset`: seconds since 1970, by the host's clock.
    pub reset: Option<i64>,
    /// The `Date` header in seconds since 1970 (see [`http_date`]).
    pub date: Option<i64>,
    /// Whether `X-GitHub-SSO` begins with `required`.
    pub sso_required: bool,
    /// `message` of an error document.
    pub message: Option<&'a str>,
    /// `documentation_url` of an error document.
    pub documentation_url: Option<&'a str>,
    /// Whether the content type is the one that was asked for: JSON, or for a file's raw content whatever the host
    /// sends. Error documents are always JSON.
    pub is_json: bool,
}

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
    /// 403 that is not a rate limit: it will be the same however often it is asked.
    Forbidden(Refusal),
    /// 404 from the host itself. Its message tells which of many reasons it is.
    NotFound,
    /// 410: the version of the API is retired.
    Gone,
    /// 451, or 403 with the same message: the repository is blocked, for example after a copyright complaint.
    Blocked,
    /// The requests of this hour are used up; `reset` (seconds since 1970, by the host's clock) is when there are
    /// new ones, if the host said so.
    PrimaryLimit {
        /// When the limit resets.
        reset: Option<i64>,
    },
    /// The host was asked too much at once; it may say how many seconds to wait.
    SecondaryLimit {
        /// Seconds to wait.
        retry_after: Option<u64>,
    },
    /// The host or something before it failed: 408, any 5xx, or an answer that is not the kind that was asked for,
    /// such as an error page in HTML. A 503 may say how many seconds to wait.
    HostFault {
        /// Seconds to wait.
        retry_after: Option<u64>,
    },
    /// No usable answer arrived: refused or reset connection, time-out, truncated body. [`classify`] never returns
    /// this, since there is nothing to classify.
    Transport,
    /// Any other status: the host says something this client did not expect and cannot act on.
    Unexpected,
}

/// Why the host refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The token may not see this. Also what a text means that is not known here.
    Permission,
    /// The plan of the organization does not include the feature.
    PlanLimit,
    /// The token is not authorized for the organization's single sign-on.
    SsoRequired,
    /// A policy of the organization or the host shuts this token or address out: IP allow list, ban of classic
    /// tokens, lifetime of tokens, restriction of applications, suspended account. Every request fails alike.
    OrganizationPolicy,
    /// Too many bad credentials; even good ones are refused for a time, and asking again prolongs it.
    LoginAttempts,
    /// The file is too large for the JSON form and must be read raw (older hosts).
    TooLarge,
    /// Not the host's own answer: a page of text or HTML from a proxy, or the host's refusal of a request it takes
    /// for a robot's. It says nothing about what the token may see.
    Intermediary,
}

/// What to do about an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The answer stands, good or bad: asking again would not change it.
    Accept,
    /// There is no usable answer and the attempts are used up.
    GiveUp,
    /// Ask again after this time.
    RetryAfter(Duration),
    /// Ask again after the primary limit has reset (see `quota`, which knows when).
    WaitForReset,
}

/// What an answer means. Total: every status has a class.
pub fn classify(answer: &Answer<'_>) -> Class {
    match answer.status {
        200 if !answer.is_json => Class::HostFault { retry_after: None },
        200 | 204 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        304 => Class::NotModified,
        401 => Class::Unauthorized,
        403 | 429 => classify_refusal(answer),
        // The host says "not found" in JSON. A page that says so is a wrong address or a proxy, and reading it as
        // "there is no such file" would invent a finding.
        404 if !answer.is_json => Class::HostFault { retry_after: None },
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after: retry_after_seconds(answer) },
        410 => Class::Gone,
        451 => Class::Blocked,
        _ => Class::Unexpected,
    }
}

/// A 403 or 429: one of the limits, or a refusal.
///
/// The order is the point. What the host says in words comes first, then `Retry-After`, then the counter: a refusal
/// that happened to spend the last request also has zero remaining, and must not be waited for and asked again.
fn classify_refusal(answer: &Answer<'_>) -> Class {
    let retry_after = retry_after_seconds(answer);
    if says_secondary_limit(answer) {
        return Class::SecondaryLimit { retry_after };
    }
    if says_primary_limit(answer) {
        return Class::PrimaryLimit { reset: answer.reset.or_else(|| after_date(answer, retry_after)) };
    }
    if answer.retry_after.is_some() {
        return Class::SecondaryLimit { retry_after };
    }
    if let Some(refusal) = known_refusal(answer) {
        return refusal;
    }
    if answer.remaining == Some(0) {
        return Class::PrimaryLimit { reset: answer.reset };
    }
    if answer.status == 429 {
        return Class::SecondaryLimit { retry_after };
    }
    Class::Forbidden(if answer.is_json { Refusal::Permission } else { Refusal::Intermediary })
}

fn says_primary_limit(answer: &Answer<'_>) -> bool {
    begins(message(answer), "api rate limit exceeded")
}

fn says_secondary_limit(answer: &Answer<'_>) -> bool {
    let documentation = answer.documentation_url.unwrap_or_default().trim_end_matches('/');
    contains(message(answer), "secondary rate limit")
        || contains(message(answer), "abuse detection")
        || ends(documentation, "secondary-rate-limits")
        || ends(documentation, "#abuse-rate-limits")
}

/// The refusals whose text or header is known.
fn known_refusal(answer: &Answer<'_>) -> Option<Class> {
    let text = message(answer);
    let refusal = if answer.sso_required || contains(text, "organization saml enforcement") {
        Refusal::SsoRequired
    } else if begins(text, "maximum number of login attempts exceeded") {
        Refusal::LoginAttempts
    } else if begins(text, "repository access blocked") {
        return Some(Class::Blocked);
    } else if ORGANIZATION_POLICIES.iter().any(|phrase| contains(text, phrase)) {
        Refusal::OrganizationPolicy
    } else if begins(text, "upgrade to ") {
        Refusal::PlanLimit
    } else if begins(text, "this api returns blobs up to") {
        Refusal::TooLarge
    } else if begins(text, "resource not accessible by ") || begins(text, "must have ") {
        Refusal::Permission
    } else {
        return None;
    };
    Some(Class::Forbidden(refusal))
}

/// Phrases, in lower case, of refusals that shut out a token or an address as a whole.
const ORGANIZATION_POLICIES: &[&str] = &[
    "ip allow list enabled",
    "forbids access via a personal access token",
    "forbids access via a fine-grained personal access token",
    "has enabled oauth app access restrictions",
    "account was suspended",
    "account is suspended",
];

/// What to do about an answer of this class.
///
/// `attempt` is how often the request has been sent, this answer included: 1 after the first answer. `jitter` is a
/// random number from 0 to 1, which stretches the waits after faults by up to half, so that requests that failed
/// together do not come back together. A wait for the primary limit counts as one attempt.
pub fn verdict(class: Class, attempt: u32, jitter: f64) -> Verdict {
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
        | Class::Unexpected => return Verdict::Accept,
        _ if attempt >= MAXIMUM_ATTEMPTS => return Verdict::GiveUp,
        Class::PrimaryLimit { .. } => return Verdict::WaitForReset,
        Class::SecondaryLimit { retry_after: Some(seconds) } => asked_for(seconds),
        Class::SecondaryLimit { retry_after: None } => doubled(SECONDARY_WAIT, attempt),
        Class::HostFault { retry_after: Some(seconds) } => asked_for(seconds).max(backoff(attempt, jitter)),
        Class::HostFault { retry_after: None } | Class::Transport => backoff(attempt, jitter),
    };
    Verdict::RetryAfter(wait.min(LONGEST_WAIT))
}

/// The wait the host asked for. "Now" still means a second: a host that is asked again at once is asked five times
/// in no time.
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

/// The seconds that `Retry-After` asks for, if it can be understood (RFC 9110, section 10.2.3). A date is measured
/// from the answer's own `Date`, since the clock of this machine may be wrong; one in the past is zero seconds.
fn retry_after_seconds(answer: &Answer<'_>) -> Option<u64> {
    let text = answer.retry_after?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only overflow can fail here, and that is a very long time.
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let wait = http_date(text)?.saturating_sub(answer.date?);
    Some(u64::try_from(wait).unwrap_or(0))
}

fn after_date(answer: &Answer<'_>, seconds: Option<u64>) -> Option<i64> {
    Some(answer.date?.saturating_add(i64::try_from(seconds?).unwrap_or(i64::MAX)))
}

/// Reads an HTTP date in any of the three forms of RFC 9110, section 5.6.7, as seconds since 1970.
pub fn http_date(text: &str) -> Option<i64> {
    // The name of the day is not compared with the date: senders get it wrong, and nothing depends on it.
    let text = text.trim();
    let (_, date) = text.split_once(", ").or_else(|| text.split_once(' '))?;
    ["%d %b %Y %H:%M:%S GMT", "%d-%b-%y %H:%M:%S GMT", "%b %e %H:%M:%S %Y"].iter().find_map(|form| {
        let civil: DateTime = strtime::parse(form, date).ok()?.to_datetime().ok()?;
        Offset::UTC.to_timestamp(civil).ok().map(Timestamp::as_second)
    })
}

fn message<'a>(answer: &Answer<'a>) -> &'a str {
    answer.message.unwrap_or_default().trim()
}

/// The texts compared here are ASCII, so bytes are compared; all in one pass, without a copy.
fn begins(text: &str, phrase: &str) -> bool {
    text.as_bytes().get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes()))
}

fn ends(text: &str, phrase: &str) -> bool {
    let start = text.len().checked_sub(phrase.len());
    start
        .and_then(|start| text.as_bytes().get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(phrase.as_bytes()))
}

fn contains(text: &str, phrase: &str) -> bool {
    text.as_bytes().windows(phrase.len()).any(|window| window.eq_ignore_ascii_case(phrase.as_bytes()))
}

#[cfg(test)]
mod tests;
