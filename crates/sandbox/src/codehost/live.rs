//! The state while it is served: the gate, the endpoints, and the common headers.

use super::CodeHost;
use super::Token;
use super::access::Who;
use super::endpoints::{read, write};
use super::graphql;
use super::quota::{Quota, QuotaDecision, Standing, primary_limit_body, secondary_limit_body};
use super::reply::{Reply, docs};
use super::routes::Route;
use super::version::{VERSIONS, version};
use super::world::World;
use crate::clock::{Clock, http_date};
use crate::lock::lock;
use crate::server::{Answer, Backend, Call, Identity, Settings, State, identity_etag};
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// How many bytes of compressed listing pages to cache.
const KEPT_BYTES: usize = 64 << 20;

/// The backend. No `Debug`: its keys are tokens.
pub(crate) struct Live {
    world: RwLock<Arc<World>>,
    quota: Quota,
    clock: Clock,
    bad_logins: AtomicU64,
    usual: HeaderMap,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    pages: HashMap<String, (Bytes, String)>,
}

impl Live {
    pub(super) fn new(host: CodeHost, url: &str, clock: Clock) -> Self {
        Self {
            world: RwLock::new(Arc::new(World::new(host, url, Arc::default()))),
            quota: Quota::default(),
            clock,
            bad_logins: AtomicU64::new(0),
            usual: usual_headers(),
            kept: Mutex::default(),
        }
    }

    fn world(&self) -> Arc<World> {
        self.world.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl State<CodeHost> for Live {
    fn change(&self, change: Box<dyn FnOnce(&mut CodeHost) + '_>) -> Settings {
        let before = self.world();
        let mut host = before.host.clone();
        change(&mut host);
        if host.limits != before.host.limits {
            self.quota.restart();
        }
        if host.clock_offset_seconds != before.host.clock_offset_seconds {
            self.clock.set_offset(host.clock_offset_seconds);
        }
        self.bad_logins.store(0, Ordering::Relaxed);
        let settings = host.settings();
        *lock(&self.kept) = Kept::default();
        *self.world.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(World::new(host, &before.own_url, before.issued.clone()));
        settings
    }

    fn current(&self) -> CodeHost {
        self.world().host.clone()
    }
}

impl Live {
    /// The answer before its headers, and whether it counts against the primary limit.
    fn reply(&self, world: &World, who: &Who, route: &Route, call: &Call) -> (Reply, bool) {
        let attempts = world.host.login_attempts.unwrap_or(u64::MAX);
        if !matches!(who, Who::Anonymous) && self.bad_logins.load(Ordering::Relaxed) >= attempts {
            let message = "Maximum number of login attempts exceeded. Please try again later.";
            return (Reply::error(403, message, docs::REST), true);
        }
        if matches!(who, Who::Unknown) {
            self.bad_logins.fetch_add(1, Ordering::Relaxed);
            return (Reply::error(401, "Bad credentials", docs::REST), true);
        }
        if let Who::Unproven(status, message) = who {
            return (Reply::error(*status, message, docs::REST), true);
        }
        let limits = &world.host.limits;
        let is_query = *route == Route::Graphql;
        let cost = if is_query { graphql::cost(world, call) } else { graphql::Cost::default() };
        match self.quota.admit(&counted_as(who, route), route.endpoint(), limits, call, cost.time) {
            QuotaDecision::Admitted => {}
            QuotaDecision::Primary if *route == Route::Graphql => {
                return (graphql::limited(who.token().map_or(0, Token::user_id)), false);
            }
            QuotaDecision::Primary => {
                let body = primary_limit_body(call, who.token().map(Token::user_id));
                return (Reply { status: 403, ..Reply::json(body) }, false);
            }
            QuotaDecision::Secondary => {
                let status = limits.secondary.status;
                let mut reply = Reply { status, ..Reply::json(secondary_limit_body(call, status, false)) };
                reply.rate_headers = limits.secondary.headers;
                if let Some(seconds) = limits.secondary.retry_after {
                    reply = reply.header(header::RETRY_AFTER, seconds.to_string());
                }
                return (reply, false);
            }
        }
        if who.token().is_some_and(|token| token.suspended) {
            // The exact text is not known for certain.
            return (Reply::error(403, "Sorry. Your account was suspended", docs::REST), true);
        }
        if let Some(reply) = graphql::timed_out(cost) {
            return (reply, true);
        }
        let reply = match call.method.as_str() {
            "GET" | "HEAD" if *route == Route::RateLimit && limits.primary.is_some() => {
                // Not counted, so it reports the same numbers as the next answer's headers.
                let standing = self.quota.charge(who.counted_as(), limits, call, 0);
                Reply::json(standing.body(version(call).is_ok_and(|version| version == VERSIONS[1])))
            }
            "GET" | "HEAD" if matches!(route, Route::AccessTokens(_) | Route::Graphql) => {
                Reply::not_found(docs::REST)
            }
            "GET" | "HEAD" => read(world, who, route, call).unwrap_or_else(|refusal| refusal),
            "POST" if matches!(route, Route::AccessTokens(_) | Route::Graphql) => {
                read(world, who, route, call).unwrap_or_else(|refusal| refusal)
            }
            _ => write(world, who, route),
        };
        (reply, *route != Route::RateLimit)
    }

    fn common(
        &self,
        world: &World,
        who: &Who,
        route: &Route,
        call: &Call,
        answer: &mut Answer,
        standing: Standing,
    ) {
        let mut headers = self.usual.clone();
        let mut put = |name: &'static str, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        put("date", &http_date(call.now));
        let good = answer.status < 300 || answer.status == 304;
        put(
            "vary",
            if good {
                "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With"
            } else {
                "Accept-Encoding, Accept, X-Requested-With"
            },
        );
        if *route == Route::RateLimit {
            put("cache-control", "no-cache");
        } else if good {
            let whose = if who.token().is_some() { "private" } else { "public" };
            put("cache-control", &format!("{whose}, max-age=60, s-maxage=60"));
        }
        if let Some(token) = who.token() {
            if token.kind.has_scopes() {
                put("x-oauth-scopes", &token.scopes_header());
                put("x-accepted-oauth-scopes", route.accepted_scopes());
            } else {
                put("x-accepted-github-permissions", route.accepted_permissions());
            }
            if let Some(expires) = &token.expires {
                put("github-authentication-token-expiration", expires);
            }
        }
        if !world.host.old_server {
            put("x-github-api-version-selected", version(call).unwrap_or(VERSIONS[0]));
        }
        if world.host.limits.rate_headers && world.host.limits.primary.is_some() {
            put("x-ratelimit-limit", &standing.limit.to_string());
            put("x-ratelimit-remaining", &standing.remaining.to_string());
            put("x-ratelimit-used", &standing.limit.saturating_sub(standing.remaining).to_string());
            put("x-ratelimit-reset", &standing.reset.to_string());
            put("x-ratelimit-resource", if *route == Route::Graphql { "graphql" } else { "core" });
        }
        put("x-github-request-id", &call.request_id);
        // Headers that the answer already has take precedence.
        for (name, value) in std::mem::take(&mut answer.headers) {
            if let Some(name) = name {
                headers.insert(name, value);
            }
        }
        answer.headers = headers;
    }

    /// Adds the tag and the common headers, and counts the request.
    fn finish(
        &self,
        world: &World,
        who: &Who,
        route: &Route,
        call: &Call,
        reply: Reply,
        counted: bool,
    ) -> Answer {
        let mut answer = Answer::new(reply.status, reply.body);
        answer.set_static(header::CONTENT_TYPE, reply.content_type);
        answer.set(HeaderName::from_static("x-github-media-type"), &format!("github.v3; {}", reply.media));
        for (name, value) in &reply.headers {
            answer.set(name.clone(), value);
        }
        let mut counted = counted;
        let mut cost = 1;
        if *route == Route::Graphql {
            let graphql::Cost { points, time } = graphql::cost(world, call);
            cost = points;
            // A refusal by a limit takes no time.
            answer.takes = if counted { time } else { Duration::ZERO };
        } else if reply.status == 200 && *route != Route::RateLimit {
            let secret = who.token().map_or("", |token| &token.secret);
            let accept = call.header("accept").unwrap_or_default();
            let etag = match &reply.tag {
                Some(tag) => format!("W/\"{tag}\""),
                None if reply.worth_keeping && world.host.compression && call.accepts_gzip() => {
                    let (gzip, etag) = self.keep(&mut answer, secret, accept, call);
                    answer.gzip = Some(gzip);
                    etag
                }
                None => identity_etag(&answer.body, secret, accept),
            };
            // The time counts only without a tag.
            let unmodified = match call.header("if-none-match") {
                Some(known) => matches_tag(known, &etag),
                None => call.header("if-modified-since").is_some_and(|since| unmodified(&answer, since)),
            };
            if unmodified {
                answer.status = 304;
                answer.body = Bytes::new();
                answer.gzip = None;
                answer.headers.remove(header::CONTENT_TYPE);
                // A 304 is free only with a valid credential.
                counted = counted && who.token().is_none();
            }
            answer.set(header::ETAG, &etag);
        }
        let counted = if counted { cost } else { 0 };
        let standing = self.quota.charge(&counted_as(who, route), &world.host.limits, call, counted);
        self.common(world, who, route, call, &mut answer, standing);
        if !reply.rate_headers {
            for name in ["limit", "remaining", "used", "reset", "resource"] {
                answer.headers.remove(format!("x-ratelimit-{name}"));
            }
        }
        answer
    }

    /// A large page in compressed form with its tag, cached.
    fn keep(&self, answer: &mut Answer, secret: &str, accept: &str, call: &Call) -> (Bytes, String) {
        let key =
            format!("{secret} {accept} {} {} {}", version(call).unwrap_or_default(), call.path, call.query);
        if call.shift == 0
            && let Some((gzip, etag)) = lock(&self.kept).pages.get(&key)
        {
            return (gzip.clone(), etag.clone());
        }
        let etag = identity_etag(&answer.body, secret, accept);
        answer.keep_compressed();
        let gzip = answer.gzip.clone().unwrap_or_default();
        let mut kept = lock(&self.kept);
        if call.shift == 0 && kept.bytes + gzip.len() <= KEPT_BYTES {
            kept.bytes += gzip.len();
            kept.pages.insert(key, (gzip.clone(), etag.clone()));
        }
        (gzip, etag)
    }
}

impl Backend for Live {
    fn identify(&self, call: &Call) -> Identity {
        Who::of(&self.world(), call).identity()
    }

    /// A token for an installation and the stored queries are the only things that a read-only client posts.
    fn is_violation(&self, call: &Call) -> bool {
        match call.method.as_str() {
            "GET" | "HEAD" => false,
            "POST" => match Route::of(&call.path) {
                Route::AccessTokens(_) => false,
                Route::Graphql => !graphql::is_stored(call),
                _ => true,
            },
            _ => true,
        }
    }

    fn answer(&self, call: &Call) -> Answer {
        if call.header("user-agent").is_none_or(|agent| agent.trim().is_empty()) {
            return without_user_agent(call);
        }
        let world = self.world();
        let who = Who::of(&world, call);
        let route = Route::of(&call.path);
        let (mut reply, counted) = match version(call) {
            _ if world.host.old_server => self.reply(&world, &who, &route, call),
            Ok(_) => self.reply(&world, &who, &route, call),
            Err(refusal) => (refusal, true),
        };
        if world.host.old_server {
            reply.without_status();
        }
        self.finish(&world, &who, &route, call, reply, counted)
    }

    fn dress(&self, call: &Call, answer: &mut Answer) {
        let world = self.world();
        let who = Who::of(&world, call);
        let route = Route::of(&call.path);
        let standing = self.quota.charge(&counted_as(&who, &route), &world.host.limits, call, 1);
        self.common(&world, &who, &route, call, answer, standing);
    }
}

/// The name under which limits count a request: the two interfaces have limits of their own.
fn counted_as(who: &Who, route: &Route) -> String {
    let login = who.counted_as();
    match route {
        Route::Graphql if !login.is_empty() => format!("{login} graphql"),
        _ => login.to_owned(),
    }
}

/// Refused before authentication: no limit headers, and not JSON.
fn without_user_agent(call: &Call) -> Answer {
    let mut answer = Answer::new(
        403,
        "\r\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header \
         (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check \
         https://developer.github.com for other possible causes.\r\n",
    );
    answer.set_static(header::CONTENT_TYPE, "text/html");
    answer.set_static(header::CACHE_CONTROL, "no-cache");
    answer.set(header::DATE, &http_date(call.now));
    answer
}

/// Whether the answer has not changed since then, as far as it says when it changed.
fn unmodified(answer: &Answer, since: &str) -> bool {
    let changed = answer.headers.get(header::LAST_MODIFIED).and_then(|changed| changed.to_str().ok());
    let time = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|time| time.timestamp());
    changed.and_then(time).zip(time(since)).is_some_and(|(changed, since)| changed <= since)
}

fn matches_tag(known: &str, etag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.split(',').any(|one| one.trim() == "*" || bare(one) == bare(etag))
}

fn usual_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (
            "access-control-expose-headers",
            "ETag, Link, Location, Retry-After, X-GitHub-OTP, X-RateLimit-Limit, X-RateLimit-Remaining, \
             X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, \
             X-Poll-Interval, X-GitHub-Media-Type, X-GitHub-SSO, X-GitHub-Request-Id, Deprecation, Sunset",
        ),
        ("access-control-allow-origin", "*"),
        ("strict-transport-security", "max-age=31536000; includeSubdomains; preload"),
        ("x-frame-options", "deny"),
        ("x-content-type-options", "nosniff"),
        ("x-xss-protection", "0"),
        ("referrer-policy", "origin-when-cross-origin, strict-origin-when-cross-origin"),
        ("content-security-policy", "default-src 'none'"),
        ("server", "github.com"),
        ("x-github-media-type", "github.v3; format=json"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers
}
