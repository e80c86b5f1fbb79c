//! Counters: each user's remaining requests of the hour, and lock-outs for a minute.

use super::limits::{Limits, Reset};
use crate::clock::prose_date;
use crate::json;
use crate::lock::lock;
use crate::server::Call;
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

/// The user in a fault's limit message.
pub(crate) const USER_IN_LIMIT_MESSAGES: u64 = 583_231;

const HOUR: i64 = 3600;
const MINUTE: SignedDuration = SignedDuration::from_secs(60);
/// The host's own time for queries in a minute.
const TIME_PER_MINUTE: Duration = Duration::from_secs(60);
const ANONYMOUS_LIMIT: u64 = 60;
const SUPPORT: &str = "If you reach out to GitHub Support for help, please include the request ID";
const SCRAPING: &str = "For more on scraping GitHub and how it may affect your rights, please review our Terms of Service \
    (https://docs.github.com/en/site-policy/github-terms/github-terms-of-service)";

/// The counters of all users.
#[derive(Debug, Default)]
pub(super) struct Quota {
    users: Mutex<HashMap<String, User>>,
}

#[derive(Debug)]
struct User {
    limit: u64,
    remaining: u64,
    reset: i64,
    blocked_until: Option<Timestamp>,
    /// Arrivals of the last minute, by endpoint.
    recent: HashMap<&'static str, VecDeque<Timestamp>>,
    /// The host's time for the queries of the last minute.
    time: VecDeque<(Timestamp, Duration)>,
}

/// The numbers for the headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) limit: u64,
    pub(super) remaining: u64,
    pub(super) reset: i64,
}

impl Standing {
    /// `GET /rate_limit`. The newer version has no top-level `rate`.
    pub(super) fn body(self, new: bool) -> Vec<u8> {
        let fill = |o: &mut json::Object<'_>, limit: u64, remaining: u64, reset: i64| {
            o.id("limit", limit);
            o.id("used", limit.saturating_sub(remaining));
            o.id("remaining", remaining);
            o.num("reset", reset);
        };
        json::object(|o| {
            o.object("resources", |o| {
                o.object("core", |o| fill(o, self.limit, self.remaining, self.reset));
                for (name, limit) in [
                    ("search", 30),
                    ("graphql", 5000),
                    ("integration_manifest", 5000),
                    ("source_import", 100),
                    ("code_scanning_upload", 1000),
                    ("actions_runner_registration", 10_000),
                    ("scim", 15_000),
                    ("dependency_snapshots", 100),
                    ("audit_log", 1750),
                    ("code_search", 10),
                ] {
                    o.object(name, |o| fill(o, limit, limit, self.reset));
                }
            });
            if !new {
                o.object("rate", |o| fill(o, self.limit, self.remaining, self.reset));
            }
        })
    }
}

/// Whether a request is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuotaDecision {
    Admitted,
    Primary,
    Secondary,
}

/// The name under which requests without a credential are counted.
pub(super) const ANONYMOUS: &str = "";

impl Quota {
    pub(super) fn restart(&self) {
        lock(&self.users).clear();
    }

    pub(super) fn admit(
        &self,
        login: &str,
        endpoint: &'static str,
        limits: &Limits,
        call: &Call,
        time: Duration,
    ) -> QuotaDecision {
        let mut users = lock(&self.users);
        let user = window(&mut users, login, limits, call.now);
        if limits.enforce {
            let now = call.now;
            if user.blocked_until.is_some_and(|until| until > now) {
                return QuotaDecision::Secondary;
            }
            let recent = user.recent.entry(endpoint).or_default();
            while recent.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
                recent.pop_front();
            }
            recent.push_back(now);
            while user.time.front().is_some_and(|(at, _)| now.duration_since(*at) >= MINUTE) {
                user.time.pop_front();
            }
            user.time.push_back((now, time));
            let time: Duration = user.time.iter().map(|(_, took)| *took).sum();
            if recent.len() as u64 > limits.secondary.per_minute
                || time > TIME_PER_MINUTE
                || call.in_flight > limits.secondary.concurrent
            {
                let pause = limits.secondary.retry_after.unwrap_or(60);
                let pause = SignedDuration::from_secs(i64::try_from(pause).unwrap_or(i64::MAX));
                user.blocked_until = Some(now.checked_add(pause).unwrap_or(Timestamp::MAX));
                return QuotaDecision::Secondary;
            }
        }
        // The rate endpoint answers even if nothing is left.
        if limits.primary.is_some() && user.remaining == 0 && endpoint != "rate_limit" {
            return QuotaDecision::Primary;
        }
        QuotaDecision::Admitted
    }

    /// Counts this many requests or points; none only looks.
    pub(super) fn charge(&self, login: &str, limits: &Limits, call: &Call, counted: u64) -> Standing {
        let mut users = lock(&self.users);
        let user = window(&mut users, login, limits, call.now);
        user.remaining = user.remaining.saturating_sub(counted);
        Standing { limit: user.limit, remaining: user.remaining, reset: user.reset }
    }
}

fn window<'a>(
    users: &'a mut HashMap<String, User>,
    login: &str,
    limits: &Limits,
    now: Timestamp,
) -> &'a mut User {
    let now = now.as_second();
    if !users.contains_key(login) {
        let (limit, remaining, reset) = match &limits.primary {
            Some(primary) if login != ANONYMOUS => {
                let reset = match primary.reset {
                    Reset::In(seconds) => now.saturating_add(seconds),
                    Reset::At(at) => at,
                };
                (primary.limit, primary.remaining, reset)
            }
            Some(_) => (ANONYMOUS_LIMIT, ANONYMOUS_LIMIT, now + HOUR),
            None => (u64::MAX, u64::MAX, now + HOUR),
        };
        let user = User {
            limit,
            remaining,
            reset,
            blocked_until: None,
            recent: HashMap::new(),
            time: VecDeque::new(),
        };
        users.insert(login.to_owned(), user);
    }
    let user = users.entry(login.to_owned()).or_insert_with(|| User {
        limit: 0,
        remaining: 0,
        reset: now,
        blocked_until: None,
        recent: HashMap::new(),
        time: VecDeque::new(),
    });
    if now >= user.reset {
        user.remaining = user.limit;
        user.reset = now + HOUR;
    }
    user
}

/// The body of a refusal when the primary limit is used up. Without a user the limit is on the address, which
/// shows a client that its token was not sent.
pub(crate) fn primary_limit_body(call: &Call, user: Option<u64>) -> String {
    let (id, at) = (&call.request_id, prose_date(call.now));
    let message = match user {
        Some(user) => format!(
            "API rate limit exceeded for user ID {user}. {SUPPORT} {id} and timestamp {at}. {SCRAPING}"
        ),
        None => {
            "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a \
                 higher rate limit. Check out the documentation for more details.)"
                .to_owned()
        }
    };
    serde_json::json!({
        "message": message,
        "documentation_url": "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
        "status": "403",
    })
    .to_string()
}

/// The body of a refusal by a secondary limit, or by its older name.
pub(crate) fn secondary_limit_body(call: &Call, status: u16, old: bool) -> String {
    if old {
        return serde_json::json!({
            "message": "You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.",
            "documentation_url": "https://developer.github.com/v3/#abuse-rate-limits",
        })
        .to_string();
    }
    let (id, at) = (&call.request_id, prose_date(call.now));
    serde_json::json!({
        "message": format!(
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. {SCRAPING}. \
             {SUPPORT} {id} and timestamp {at}."
        ),
        "documentation_url": "https://docs.github.com/free-pro-team@latest/rest/overview/\
            rate-limits-for-the-rest-api#about-secondary-rate-limits",
        "status": status.to_string(),
    })
    .to_string()
}
