//! The limits: counted, enforced, and reset after their window.

use crate::client::get;
use sandbox::codehost::{CodeHost, Limits, Organization, Primary, Secondary, Token};
use std::time::{Duration, SystemTime};

fn host(limits: Limits) -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme"))
        .token(Token::classic("t").login("mona"))
        .token(Token::classic("same-user").login("mona"))
        .token(Token::classic("other").login("hubot"))
        .limits(limits)
}

#[test]
fn the_primary_limit_is_counted_and_ends() {
    let server = host(Limits::primary(Primary::new(5000, 3).reset_in(1800))).serve().unwrap();
    for remaining in [2, 1, 0] {
        let answer = get(&server, "t", "/orgs/acme");
        assert_eq!((answer.status, answer.number("x-ratelimit-remaining")), (200, remaining));
        assert_eq!(answer.number("x-ratelimit-used"), 5000 - remaining);
        assert_eq!(
            (answer.number("x-ratelimit-limit"), answer.header("x-ratelimit-resource")),
            (5000, Some("core"))
        );
    }
    // The same user's other token is exhausted too; another user's is not.
    for token in ["t", "same-user"] {
        let refused = get(&server, token, "/orgs/acme");
        assert_eq!((refused.status, refused.number("x-ratelimit-remaining")), (403, 0));
        assert!(
            refused.message().starts_with("API rate limit exceeded for user ID "),
            "{}",
            refused.message()
        );
        assert!(refused.message().contains(refused.header("x-github-request-id").unwrap()));
        assert_eq!(refused.header("retry-after"), None);
    }
    assert_eq!(get(&server, "other", "/orgs/acme").status, 200);
    // Asking for the remaining count is free, and works even now.
    let rate = get(&server, "t", "/rate_limit");
    assert_eq!((rate.status, rate.json()["resources"]["core"]["remaining"].as_i64()), (200, Some(0)));
    assert_eq!(rate.json()["rate"]["limit"], 5000);
    assert_eq!(rate.header("cache-control"), Some("no-cache"));

    server.advance(Duration::from_secs(1801));
    let answer = get(&server, "t", "/orgs/acme");
    assert_eq!((answer.status, answer.number("x-ratelimit-remaining")), (200, 4999));
}

#[test]
fn without_a_token_it_is_the_address_that_is_limited() {
    let server = host(Limits::default()).serve().unwrap();
    for _ in 0..60 {
        assert_eq!(get(&server, "", "/orgs/acme").status, 200);
    }
    let refused = get(&server, "", "/orgs/acme");
    assert_eq!(refused.status, 403);
    assert!(
        refused.message().starts_with("API rate limit exceeded for 127.0.0.1. (But here's the good news")
    );
}

#[test]
fn a_host_without_limits_sends_no_headers() {
    let server = host(Limits::self_hosted()).serve().unwrap();
    let answer = get(&server, "t", "/orgs/acme");
    assert!(!answer.head.to_lowercase().contains("\nx-ratelimit"));
    let rate = get(&server, "t", "/rate_limit");
    assert_eq!((rate.status, rate.message().as_str()), (404, "Rate limiting is not enabled."));
}

#[test]
fn nine_hundred_a_minute_for_one_endpoint() {
    let secondary = Secondary { per_minute: 5, retry_after: Some(60), ..Secondary::default() };
    let server = host(Limits { secondary, enforce: true, ..Limits::default() }).serve().unwrap();
    for _ in 0..5 {
        assert_eq!(get(&server, "t", "/orgs/acme").status, 200);
        assert_eq!(get(&server, "other", "/user").status, 200);
    }
    let refused = get(&server, "t", "/orgs/acme");
    assert_eq!((refused.status, refused.header("retry-after")), (403, Some("60")));
    assert!(
        refused.message().starts_with("You have exceeded a secondary rate limit. Please wait a few minutes")
    );
    assert!(refused.json()["documentation_url"].as_str().unwrap().ends_with("#about-secondary-rate-limits"));
    assert!(refused.number("x-ratelimit-remaining") > 0);
    assert_eq!(get(&server, "t", "/user").status, 403, "the user is locked out, everywhere");

    let secondary =
        Secondary { per_minute: 0, retry_after: None, headers: false, status: 429, ..Secondary::default() };
    server.update(|host| host.set_limits(Limits { secondary, enforce: true, ..Limits::default() }));
    let bare = get(&server, "t", "/orgs/acme");
    assert_eq!(
        (bare.status, bare.header("retry-after"), bare.header("x-ratelimit-limit")),
        (429, None, None)
    );
}

#[test]
fn a_hundred_at_once() {
    let limits =
        Limits { secondary: Secondary { concurrent: 3, ..Secondary::default() }, ..Limits::documented() };
    let server = host(limits).latency(Duration::from_millis(300)).serve().unwrap();
    let before = SystemTime::now();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..5).map(|_| scope.spawn(|| get(&server, "t", "/user").status)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 3, "{statuses:?}");
    assert_eq!(server.highest_concurrency(), 5);

    let counted = server.summary();
    assert_eq!((counted.requests, counted.connections, counted.highest_concurrency), (5, 5, 5));
    let (first, last) = (counted.first_request.unwrap(), counted.last_answer.unwrap());
    // The counters have microseconds, the clock is more precise.
    let before = before - Duration::from_micros(1);
    assert!(before <= first && first < last && last <= SystemTime::now(), "{counted:?}");
    server.clear_log();
    let cleared = server.summary();
    assert_eq!((cleared.requests, cleared.connections, cleared.first_request), (0, 0, None));
}

#[test]
fn a_clock_that_is_wrong() {
    let server = host(Limits::default()).clock_offset_seconds(7200).serve().unwrap();
    let answer = get(&server, "t", "/user");
    let local = jiff::Timestamp::now().as_second();
    let date = jiff::fmt::rfc2822::parse(answer.header("date").unwrap()).unwrap().timestamp().as_second();
    assert!((7190..7210).contains(&(date - local)), "{}", date - local);
    assert!((answer.number("x-ratelimit-reset") - date - 3600).abs() < 5);
}

#[test]
fn a_clock_of_the_tests_own() {
    let seconds = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_800_000_000));
    let hands = seconds.clone();
    let secondary = Secondary { per_minute: 3, retry_after: Some(60), ..Secondary::default() };
    let server = host(Limits { secondary, enforce: true, ..Limits::primary(Primary::new(10, 10)) })
        .clock(move || {
            jiff::Timestamp::from_second(hands.load(std::sync::atomic::Ordering::Relaxed)).unwrap()
        })
        .serve()
        .unwrap();
    let seen = |pass: i64| {
        seconds.fetch_add(pass, std::sync::atomic::Ordering::Relaxed);
        get(&server, "t", "/orgs/acme").status
    };
    assert_eq!([seen(0), seen(10), seen(10), seen(0)], [200, 200, 200, 403], "four in a minute");
    assert_eq!([seen(59), seen(1)], [403, 200], "locked out for a minute");
    assert_eq!(get(&server, "t", "/orgs/acme").header("date"), Some("Fri, 15 Jan 2027 08:01:20 GMT"));
}
