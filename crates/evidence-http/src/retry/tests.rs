use super::*;

const DATE: i64 = 1_782_587_558;

const SECONDARY: Class = Class::SecondaryLimit { retry_after: None };
const FAULT: Class = Class::HostFault { retry_after: None };
const THROTTLED: Class = Class::Throttled { retry_after: None };

#[test]
fn http_dates() {
    assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    assert_eq!(http_date("Sat, 27 Jun 2026 19:12:38 GMT"), Some(DATE));
    // A wrong day of the week is accepted.
    assert_eq!(http_date("Mon, 27 Jun 2026 19:12:38 GMT"), Some(DATE));
    for text in ["", "GMT", "Sat, 32 Jun 2026 19:12:38 GMT", "Sat, 27 Jun 2026 19:12:38 GMT x", "1782590558"]
    {
        assert_eq!(http_date(text), None, "{text}");
    }
}

/// One value of each class.
fn every_class() -> Vec<Class> {
    use RefusalCause::*;
    let refusals = [Permission, LoginAttempts, Intermediary];
    let mut classes: Vec<Class> = refusals.into_iter().map(Class::Forbidden).collect();
    classes.extend([
        Class::Success,
        Class::NotModified,
        Class::Redirect,
        Class::Unauthorized,
        Class::NotFound,
        Class::Gone,
        Class::Blocked,
        Class::PrimaryLimit { reset: None },
        SECONDARY,
        Class::SecondaryLimit { retry_after: Some(0) },
        Class::SecondaryLimit { retry_after: Some(u64::MAX) },
        THROTTLED,
        Class::Throttled { retry_after: Some(u64::MAX) },
        FAULT,
        Class::HostFault { retry_after: Some(5) },
        Class::HostFault { retry_after: Some(u64::MAX) },
        Class::Page,
        Class::Transport,
        Class::Unexpected,
    ]);
    classes
}

#[test]
fn nothing_is_asked_more_than_five_times() {
    for class in every_class() {
        for attempt in 0..=100 {
            let result = decide(class, attempt, 0.5);
            if attempt >= MAXIMUM_ATTEMPTS {
                assert!(
                    matches!(result, RetryDecision::Accept | RetryDecision::GiveUp),
                    "{class:?} {attempt}"
                );
            } else {
                assert_ne!(result, RetryDecision::GiveUp, "{class:?} {attempt}");
            }
            if let RetryDecision::RetryAfter(wait) = result {
                assert!(
                    wait >= Duration::from_secs(1) && wait <= LONGEST_WAIT,
                    "{class:?} {attempt} {wait:?}"
                );
            }
        }
    }
}

#[test]
fn the_waits() {
    let seconds = |seconds| RetryDecision::RetryAfter(Duration::from_secs(seconds));
    let after = |seconds| Class::SecondaryLimit { retry_after: Some(seconds) };
    let table = [
        (FAULT, [seconds(1), seconds(2), seconds(4), seconds(8)]),
        (THROTTLED, [seconds(1), seconds(2), seconds(4), seconds(8)]),
        (Class::Throttled { retry_after: Some(3) }, [seconds(3), seconds(3), seconds(4), seconds(8)]),
        (Class::Page, [seconds(1), seconds(2), seconds(4), seconds(8)]),
        (Class::Transport, [seconds(1), seconds(2), seconds(4), seconds(8)]),
        (Class::HostFault { retry_after: Some(3) }, [seconds(3), seconds(3), seconds(4), seconds(8)]),
        (SECONDARY, [seconds(60), seconds(120), seconds(240), seconds(480)]),
        (after(30), [seconds(30); 4]),
        (after(0), [seconds(1); 4]),
        (after(100_000), [seconds(3_600); 4]),
        (Class::PrimaryLimit { reset: Some(0) }, [RetryDecision::WaitForReset; 4]),
        (Class::NotFound, [RetryDecision::Accept; 4]),
    ];
    for (class, waits) in table {
        for (attempt, expected) in (1..).zip(waits) {
            assert_eq!(decide(class, attempt, 0.0), expected, "{class:?} {attempt}");
        }
    }
}

#[test]
fn jitter_stretches_faults_only() {
    let seconds = Duration::from_secs_f64;
    for (jitter, wait) in [(0.0, 2.0), (0.5, 2.5), (1.0, 3.0), (-7.0, 2.0), (7.0, 3.0), (f64::NAN, 2.0)] {
        assert_eq!(decide(FAULT, 2, jitter), RetryDecision::RetryAfter(seconds(wait)));
        assert_eq!(decide(SECONDARY, 1, jitter), RetryDecision::RetryAfter(seconds(60.0)));
    }
}

#[test]
fn attempts_are_counted_as_configured() {
    for most in 1..=21 {
        let tried =
            (1..100).find(|n| decide_within(most, Class::Transport, *n, 0.0) == RetryDecision::GiveUp);
        assert_eq!(tried, Some(most));
    }
}
