use super::*;
use evidence_http::Budget;

/// One request about each subject.
const ONE: PerHundred = PerHundred { requests: 100, counted: 100 };

fn now() -> Timestamp {
    "2026-11-21T09:00:00Z".parse().unwrap()
}

fn standing(remaining: Option<u64>, per_minute: u64) -> Standing {
    let next = now().checked_add(SignedDuration::from_secs(1_801)).unwrap();
    Standing {
        now: now(),
        sent: 0,
        in_flight: 32,
        latency: Some(SignedDuration::from_millis(250)),
        per_minute,
        left_in_minute: per_minute,
        minute_ends: SignedDuration::from_secs(60),
        budget: remaining.map(|now| Budget { now, then: 4_900, next }),
    }
}

/// A source without queries.
fn alone(requests: Standing) -> Standings {
    Standings { requests, queries: None }
}

fn seconds(forecast: &Forecast) -> (i128, u64) {
    ((forecast.after.as_millis() + 999) / 1_000, forecast.waits)
}

#[test]
fn the_limit_decides_when_there_are_more_requests_than_it_leaves() {
    let table = [
        // requests, remaining, pace → seconds, waits
        (96, None, 900, 1, 0),
        (960, Some(4_900), 0, 8, 0),
        (900, Some(4_900), 900, 8, 0),
        (1_800, Some(4_900), 900, 68, 0),
        // A second after the reset, plus one answer.
        (4_901, Some(4_900), 0, 1_801 + 1, 1),
        (4_900 * 2, Some(4_900), 0, 1_801 + 39, 1),
        (4_900 * 2 + 1, Some(4_900), 0, 1_801 + 3_601 + 1, 2),
        (10, Some(0), 0, 1_801 + 1, 1),
    ];
    for (requests, remaining, pace, after, waits) in table {
        let plan = Plan {
            requests_minimum: 1,
            requests_maximum: requests,
            work: vec![Work { subjects: requests, usual: ONE, ..Work::default() }],
            standings: Some(alone(standing(remaining, pace))),
            ..Plan::default()
        };
        let Range { least, usual, most } = of(&plan, now());
        assert_eq!((seconds(&usual), usual), ((after, waits), most), "{requests}, {remaining:?}, {pace}");
        assert!(least.after <= usual.after);
        assert_eq!(usual.done, now().checked_add(usual.after).unwrap());
    }
}

/// The usual number is between the two others; a host that is slow makes the run slow.
#[test]
fn a_plan_without_limits() {
    let plan = Plan { requests_minimum: 320, requests_maximum: 640, ..Plan::default() };
    let Range { least, usual, most } = of(&plan, now());
    assert_eq!((seconds(&least), least, seconds(&most)), ((4, 0), usual, (7, 0)));
    let slow = Standing { latency: Some(SignedDuration::from_millis(2_900)), ..standing(None, 0) };
    let slow = of(&Plan { standings: Some(alone(slow)), ..plan }, now());
    assert_eq!(seconds(&slow.least), (29, 0));
}

/// Two kinds of work, of which the first turns out to take twice the requests that were assumed.
#[test]
fn what_is_measured_replaces_what_was_assumed() {
    let work = Work { subjects: 1_000, usual: ONE, ..Work::default() };
    let mut outlook = Outlook::new(now(), 10);
    // Two observations come before.
    outlook.expect(2_002, &[work, work]);
    (0..2).for_each(|_| outlook.observed(Measured::default()));
    let mut standing = standing(Some(1_000_000), 0);
    standing.sent = 10;
    let rounds = |outlook: &mut Outlook, standing: &Standing| {
        outlook.forecast(Some(&alone(*standing)), now()).unwrap().after.as_millis() / 250 * 32
    };
    assert_eq!(rounds(&mut outlook, &standing), 2_016);
    for _ in 0..500 {
        outlook.observed(Measured { sent: 2, counted: 2, ..Measured::default() });
    }
    standing.sent = 1_010;
    // About 1,000 for the other half, and 1,000 for the second kind.
    assert!(
        (1_940..=2_016).contains(&rounds(&mut outlook, &standing)),
        "{}",
        rounds(&mut outlook, &standing)
    );
    // Requests of observations that are not complete are not sent again.
    standing.sent = 1_010 + 320;
    assert!(
        (1_620..=1_696).contains(&rounds(&mut outlook, &standing)),
        "{}",
        rounds(&mut outlook, &standing)
    );
    for _ in 0..1_500 {
        outlook.observed(Measured { sent: 1, counted: 1, ..Measured::default() });
    }
    assert_eq!(outlook.forecast(Some(&alone(standing)), now()), None, "nothing is left");
}

/// Answers of an interrupted run take no time, and say nothing about how many requests the others take.
#[test]
fn what_an_interrupted_run_read_takes_no_request() {
    let work = Work { subjects: 1_000, resumed: 400, usual: ONE, ..Work::default() };
    let mut outlook = Outlook::new(now(), 0);
    outlook.expect(1_000, &[work]);
    let standing = standing(None, 0);
    let rounds = |outlook: &mut Outlook| {
        outlook.forecast(Some(&alone(standing)), now()).unwrap().after.as_millis() / 250 * 32
    };
    assert_eq!(rounds(&mut outlook), 608);
    (0..200).for_each(|_| outlook.observed(Measured { resumed: 1, ..Measured::default() }));
    assert_eq!(rounds(&mut outlook), 608);
    // Some of it must be asked again.
    let rest = PerHundred { requests: 50, counted: 0 };
    let mut outlook = Outlook::new(now(), 0);
    outlook.expect(1_000, &[Work { rest, ..work }]);
    assert_eq!(rounds(&mut outlook), 800);
    (0..200).for_each(|_| outlook.observed(Measured { resumed: 1, ..Measured::default() }));
    assert_eq!(rounds(&mut outlook), 640, "fewer than was assumed");
}

/// Answers that did not change are not counted, for the second kind only as assumed.
#[test]
fn unchanged_answers_do_not_wait_for_the_limit() {
    let usual = PerHundred { requests: 100, counted: 0 };
    let free = Work { subjects: 3_000, usual, ..Work::default() };
    let mut outlook = Outlook::new(now(), 0);
    outlook.expect(6_000, &[free, free]);
    let standing = standing(Some(1_000), 0);
    assert_eq!(outlook.forecast(Some(&alone(standing)), now()).unwrap().waits, 0);
    (0..100).for_each(|_| outlook.observed(Measured { sent: 1, counted: 1, ..Measured::default() }));
    assert_eq!(outlook.forecast(Some(&alone(standing)), now()).unwrap().waits, 1);
}

/// A source that does not say what it will ask goes on as fast as so far.
#[test]
fn without_known_requests_the_rate_goes_on() {
    let at = |seconds: i64| now().checked_add(SignedDuration::from_secs(seconds)).unwrap();
    let mut outlook = Outlook::new(now(), 0);
    outlook.observed(Measured::default());
    assert_eq!(outlook.forecast(None, at(10)), None, "the number is not known");
    outlook.expect(30, &[]);
    (0..9).for_each(|_| outlook.observed(Measured::default()));
    assert_eq!(outlook.forecast(None, at(2)), None, "too early");
    let forecast = outlook.forecast(None, at(20)).unwrap();
    assert_eq!((seconds(&forecast), forecast.done), ((42, 0), at(62)));
}

/// What the client knows after this many queries of a second each.
fn queries(sent: u64) -> Queries {
    let measured = (sent > 0).then_some(SignedDuration::from_secs(1));
    let standing = Standing { sent, latency: measured, budget: None, ..standing(None, 55) };
    Queries { standing, page: 50, points: 2 * sent }
}

/// In bulk the host's time for queries decides, until it answers no more of them.
#[test]
fn queries_are_forecast_until_they_are_given_up() {
    let in_bulk = Some(PerHundred { requests: 4, counted: 4 });
    let work = Work { subjects: 10_000, usual: ONE, in_bulk, ..Work::default() };
    let at = |queries: Option<Queries>, sent: u64| Standings {
        requests: Standing { sent, ..standing(Some(4_900), 900) },
        queries,
    };
    let plan = Plan {
        requests_minimum: 202,
        requests_maximum: 20_202,
        requests_before: 2,
        work: vec![work],
        standings: Some(at(Some(queries(0)), 2)),
        ..Plan::default()
    };
    let Range { least, usual, most } = of(&plan, now());
    // 200 queries at 44 a minute, as is assumed; one by one, 4,900 requests an hour.
    let four_minutes = SignedDuration::from_secs(4 * 60)..SignedDuration::from_secs(5 * 60);
    assert!(four_minutes.contains(&usual.after) && least.after <= usual.after, "{usual:?}");
    assert_eq!((usual.waits, most.waits), (0, 4));
    let mut outlook = Outlook::new(now(), 2);
    outlook.expect(10_000, &[work]);
    for page in 0..100 {
        // The other queries of the minute are under way.
        let measured = Measured { queries: 1, ..Measured::default() };
        outlook.observed(measured);
        (0..47).for_each(|_| outlook.observed(Measured::default()));
        (0..2).for_each(|_| outlook.observed(Measured { sent: 1, counted: 1, ..Measured::default() }));
        assert_eq!(outlook.queried, page + 1);
    }
    let half = outlook.forecast(Some(&at(Some(queries(100)), 202)), now()).unwrap();
    // As measured, 55 a minute.
    assert_eq!((half.after.as_secs(), half.waits), (63, 0));
    let ahead = outlook.forecast(Some(&at(Some(queries(150)), 202)), now()).unwrap();
    assert!(ahead.after < SignedDuration::from_secs(5), "{ahead:?}");
    // The other 5,000 repositories one by one: the hour allows 4,900.
    let without = outlook.forecast(Some(&at(None, 202)), now()).unwrap();
    assert_eq!(without.waits, 1);
}
