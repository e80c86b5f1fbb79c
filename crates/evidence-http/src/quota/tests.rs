use super::*;
use proptest::prelude::*;

const START: i64 = 1_782_587_558;
const THRESHOLD: u64 = 100;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(START + seconds).unwrap()
}

/// An answer at `date` (all times in seconds after the start) with a limit of 5,000.
fn reading(remaining: u64, reset: i64, date: i64) -> QuotaReading {
    QuotaReading {
        limit: Some(5_000),
        remaining: Some(remaining),
        reset: Some(START + reset),
        date: Some(START + date),
    }
}

fn observed(readings: &[QuotaReading], now: i64) -> Quota {
    let mut quota = Quota::new();
    readings.iter().for_each(|reading| quota.observe(*reading, at(now)));
    quota
}

fn admit(quota: &mut Quota, now: i64) -> Admit {
    quota.admit(at(now), 0, THRESHOLD, true)
}

#[test]
fn nothing_known_is_no_limit() {
    let mut quota = Quota::new();
    assert_eq!(quota.admit(at(0), 1_000, THRESHOLD, true), Admit::Go);
    quota.observe(QuotaReading { date: Some(START), ..QuotaReading::default() }, at(0));
    assert_eq!(quota.admit(at(0), 1_000, THRESHOLD, true), Admit::Go);
    assert!(!quota.is_limited());
    assert_eq!((quota.last(), quota.tightest(at(0))), (None, None));
}

#[test]
fn stops_below_the_threshold_and_goes_on_after_the_reset() {
    let mut quota = observed(&[reading(100, 600, 0)], 0);
    assert_eq!(admit(&mut quota, 0), Admit::Go);
    quota.observe(reading(99, 600, 0), at(0));
    assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(601)));
    assert_eq!(admit(&mut quota, 600), Admit::WaitUntil(at(601)));
    assert_eq!(admit(&mut quota, 601), Admit::Go);
    quota.observe(reading(4_999, 4_200, 601), at(601));
    assert_eq!(admit(&mut quota, 601), Admit::Go);
}

#[test]
fn counts_what_is_in_flight() {
    let mut quota = observed(&[reading(131, 600, 0)], 0);
    assert_eq!(quota.admit(at(0), 31, THRESHOLD, true), Admit::Go);
    assert_eq!(quota.admit(at(0), 32, THRESHOLD, true), Admit::WaitUntil(at(601)));
    assert_eq!(quota.admit(at(0), u64::MAX, THRESHOLD, true), Admit::WaitUntil(at(601)));
}

/// Recorded from a real host: within nine seconds the counter rises and the reset moves.
#[test]
fn the_smallest_of_several_counters_decides() {
    let mut quota = observed(&[reading(50, 3_000, 0), reading(4_998, 3_111, 0)], 0);
    assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(3_001)));
    assert_eq!(quota.last().unwrap().remaining, 4_998);
    assert_eq!(quota.tightest(at(0)).unwrap().remaining, 50);
    // A window that is over does not count.
    assert_eq!(admit(&mut quota, 3_001), Admit::Go);
    assert_eq!(quota.tightest(at(3_001)).unwrap().remaining, 4_998);
}

#[test]
fn the_latest_reset_of_all_that_bind() {
    let mut quota = observed(&[reading(50, 3_000, 0), reading(60, 3_111, 0)], 0);
    assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(3_112)));
}

#[test]
fn answers_out_of_order_do_not_raise_the_number() {
    let mut quota = observed(&[reading(98, 600, 0), reading(130, 600, 0)], 0);
    assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(601)));
    assert_eq!(quota.last().unwrap().remaining, 98);
}

#[test]
fn a_reset_in_the_past_waits_one_second() {
    for past in [0, -1, -3_600, i64::MIN / 2] {
        let mut quota = observed(&[reading(0, past, 0)], 0);
        quota.refused(Some(START + past), at(0));
        assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(1)), "{past}");
        assert_eq!(admit(&mut quota, 1), Admit::Go, "{past}");
    }
}

#[test]
fn the_host_clock_decides() {
    for skew in [-86_400, -30, 30, 86_400] {
        // The host says, by its own clock, that the window ends in ten minutes.
        let mut quota = observed(&[reading(0, skew + 600, skew)], 0);
        assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(601)), "{skew}");
        // The quota remembers the difference for answers without a date.
        quota.observe(QuotaReading { date: None, ..reading(0, skew + 900, skew) }, at(100));
        assert_eq!(admit(&mut quota, 100), Admit::WaitUntil(at(901)), "{skew}");
    }
}

#[test]
fn never_waits_much_longer_than_an_hour() {
    for reset in [3_660, 86_400, i64::MAX - START] {
        let mut quota = observed(&[reading(0, reset, 0)], 0);
        assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(LONGEST_WAIT_SECONDS)), "{reset}");
        assert_eq!(admit(&mut quota, LONGEST_WAIT_SECONDS), Admit::Go, "{reset}");
    }
}

#[test]
fn a_clock_set_back_does_not_prolong_the_wait() {
    let mut quota = observed(&[reading(0, 3_600, 0)], 0);
    assert_eq!(admit(&mut quota, -86_400), Admit::WaitUntil(at(-86_400 + LONGEST_WAIT_SECONDS)));
    assert_eq!(admit(&mut quota, -86_400 + LONGEST_WAIT_SECONDS), Admit::Go);
}

#[test]
fn small_limits_scale_the_threshold() {
    // (limit, the fewest remaining that are admitted)
    for (limit, fewest) in
        [(5_000, 100), (1_000, 100), (500, 100), (101, 100), (100, 10), (60, 6), (19, 1), (1, 1), (0, 1)]
    {
        for remaining in 0..=limit {
            let mut quota = observed(&[QuotaReading { limit: Some(limit), ..reading(remaining, 600, 0) }], 0);
            let expected = if remaining >= fewest { Admit::Go } else { Admit::WaitUntil(at(601)) };
            assert_eq!(admit(&mut quota, 0), expected, "{limit} {remaining}");
        }
    }
    // Without a known limit, the threshold applies unchanged.
    let unnamed = |remaining| QuotaReading { limit: None, ..reading(remaining, 600, 0) };
    assert_eq!(admit(&mut observed(&[unnamed(100)], 0), 0), Admit::Go);
    assert_eq!(admit(&mut observed(&[unnamed(99)], 0), 0), Admit::WaitUntil(at(601)));
}

/// A host with a limit of 60 per hour, and a caller that wants 200 requests.
#[test]
fn a_small_limit_still_gets_everything_done() {
    let (mut quota, mut now, mut remaining, mut reset, mut done) = (Quota::new(), 0, 60, 3_600, 0);
    let mut waits = 0;
    while done < 200 {
        match admit(&mut quota, now) {
            Admit::Go => {
                if now >= reset {
                    (remaining, reset) = (60, now + 3_600);
                }
                assert!(remaining > 0, "the host would have refused");
                remaining -= 1;
                done += 1;
                quota.observe(QuotaReading { limit: Some(60), ..reading(remaining, reset, now) }, at(now));
            }
            Admit::WaitUntil(when) => {
                assert!(when > at(now));
                now = when.as_second() - START;
                waits += 1;
            }
            Admit::Exhausted { .. } => panic!("it was told to pause"),
        }
    }
    assert_eq!(waits, 3);
}

#[test]
fn without_pause_it_goes_on_until_the_host_refuses() {
    let mut quota = observed(&[reading(0, 600, 0)], 0);
    assert_eq!(quota.admit(at(0), 50, THRESHOLD, false), Admit::Go);
    quota.refused(Some(START + 600), at(0));
    let exhausted = Admit::Exhausted { limit: Some(5_000), reset: Some(START + 600), until: at(601) };
    assert_eq!(quota.admit(at(0), 0, THRESHOLD, false), exhausted);
    assert_eq!(quota.admit(at(600), 0, THRESHOLD, false), exhausted);
    assert_eq!(quota.admit(at(601), 0, THRESHOLD, false), Admit::Go);
}

#[test]
fn a_refusal_without_numbers_waits_a_minute() {
    let mut quota = Quota::new();
    quota.refused(None, at(0));
    assert!(quota.is_limited());
    assert_eq!(admit(&mut quota, 0), Admit::WaitUntil(at(60)));
    assert_eq!(admit(&mut quota, 60), Admit::Go);
}

/// A host whose reset moves with every answer must not fill the memory.
#[test]
fn a_sliding_reset_is_bounded_and_keeps_what_binds() {
    let mut quota = observed(&[reading(7, 3_000, 0)], 0);
    for second in 0..1_000 {
        quota.observe(reading(4_000, second + 3_600, second), at(second));
    }
    assert!(quota.windows.len() <= WINDOWS);
    assert_eq!(quota.tightest(at(1_000)).unwrap().remaining, 7);
}

proptest! {
    /// Whatever the host says and the clock does: a wait is at least a moment and at most the longest one, and
    /// after it, without further news, requests continue.
    #[test]
    fn waits_are_bounded_and_end(
        answers in proptest::collection::vec(
            (
                (proptest::option::of(any::<u64>()), proptest::option::of(0u64..200)),
                (proptest::option::of(any::<i64>()), proptest::option::of(any::<i64>())),
                (-5_000i64..5_000, any::<bool>()),
            ),
            0..20,
        ),
        in_flight in 0u64..50,
        threshold in any::<u64>(),
    ) {
        let mut quota = Quota::new();
        let mut now = 0;
        for ((limit, remaining), (reset, date), (step, refused)) in answers {
            now += step;
            quota.observe(QuotaReading { limit, remaining, reset, date }, at(now));
            if refused {
                quota.refused(reset, at(now));
            }
            let first = quota.admit(at(now), in_flight, threshold, true);
            if let Admit::WaitUntil(when) = first {
                prop_assert!(when > at(now) && when <= at(now + LONGEST_WAIT_SECONDS));
                let mut later = quota.clone();
                prop_assert!(later.admit(at(now + LONGEST_WAIT_SECONDS), 0, threshold, true) == Admit::Go);
            }
        }
    }
}
