use super::*;

fn waiver(subjects: &[&str], globs: &[&str]) -> WaiverRecord<()> {
    let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    WaiverRecord {
        id: "W-1".to_owned(),
        control: None,
        rule: "rule".to_owned(),
        source: "codehost".to_owned(),
        subjects: all(subjects),
        globs: all(globs),
        reasons: Vec::new(),
        reason: "because it is so".to_owned(),
        owner: "jane".to_owned(),
        approved_by: "john".to_owned(),
        approved_at: "2026-11-02".to_owned(),
        expires_at: "2027-01-31".to_owned(),
        ticket: None,
        compensating: None,
        compensating_check: None,
        self_approved: false,
        state: WaiverState::Unused,
        matches: (),
    }
}

fn checks(rows: &[(&str, &str, Status, &str)]) -> SortedChecks {
    let mut checks = Checks::default();
    for (rule, subject, status, reason) in rows {
        let (control, source) = ("CC7.2", "codehost");
        checks.add(NamedCheck { control, source, rule, subject, status: *status, reason });
    }
    checks.sorted()
}

fn at(time: &str) -> i64 {
    time::parse(time).unwrap()
}

fn state(waiver: &WaiverRecord<()>, checks: &SortedChecks, time: &str) -> WaiverState {
    Applying::new(checks, at(time)).apply(waiver).unwrap().state
}

#[test]
fn a_day_has_one_form() {
    assert_eq!(day("2026-11-02"), Some(at("2026-11-02T00:00:00Z")));
    assert_eq!(day("2028-02-29"), Some(at("2028-02-29T00:00:00Z")));
    for other in
        ["2027-02-29", "2026-2-1", "2026-11-02T00:00:00Z", "+026-11-02", "2026-11-02 ", "", "２026-11-02"]
    {
        assert_eq!(day(other), None, "{other}");
    }
}

#[test]
fn a_star_stays_inside_its_component() {
    for (glob, subject, expected) in [
        ("acme/web", "ACME/Web", true),
        ("acme/*", "acme/web", true),
        ("acme/*", "acme/web/main", false),
        ("acme/*", "acme/", true),
        ("acme/*", "acme", false),
        ("*", "acme", true),
        ("*", "acme/web", false),
        ("*/*", "acme/web", true),
        ("acme/poc-*", "acme/poc-1", true),
        ("acme/poc-*", "acme/poc-", true),
        ("acme/poc-*", "acme/po", false),
        ("acme/*-*-x", "acme/a-b-c-x", true),
        ("acme/*b*b", "acme/ab", false),
        ("acme/*b*b", "acme/abb", true),
        ("acme/a*a", "acme/a", false),
        ("acme/*ab", "acme/aab", true),
        ("acme/*x*y*", "acme/yx", false),
        ("acme/é*", "acme/éa", true),
        ("", "", true),
    ] {
        assert_eq!(glob_matches(glob, subject), expected, "{glob} {subject}");
    }
}

/// Every status, with every relation of a waiver to its check.
#[test]
fn the_whole_domain() {
    use WaiverState::{Applied, Expired, NotMatched, NotNeeded, NotYetValid, Unused};
    let during = "2026-12-01T12:00:00Z";
    for (status, expected) in [
        (Status::Fail, Applied),
        (Status::Pass, NotNeeded),
        (Status::NotVerifiable, NotMatched),
        (Status::NotApplicable, NotMatched),
    ] {
        let checks =
            checks(&[("rule", "acme/web", status, "broken"), ("other", "acme/api", Status::Fail, "broken")]);
        let exact = waiver(&["acme/web"], &[]);
        assert_eq!(state(&exact, &checks, during), expected, "{status}");
        assert_eq!(state(&waiver(&["Acme/WEB"], &[]), &checks, during), expected, "another case");
        assert_eq!(state(&waiver(&[], &["acme/w*"]), &checks, during), expected, "a glob");
        assert_eq!(state(&waiver(&["acme/none"], &["x*"]), &checks, during), Unused);
        assert_eq!(state(&waiver(&["acme/api"], &[]), &checks, during), Unused, "another rule");
        let of = |change: fn(&mut WaiverRecord<()>)| {
            let mut changed = waiver(&["acme/web"], &[]);
            change(&mut changed);
            changed
        };
        let other_source = of(|waiver| waiver.source = "cloud".to_owned());
        assert_eq!(state(&other_source, &checks, during), Unused);
        assert_eq!(state(&of(|waiver| waiver.control = Some("CC6.1".to_owned())), &checks, during), Unused);
        assert_eq!(state(&of(|waiver| waiver.control = Some("CC7.2".to_owned())), &checks, during), expected);
        let right = of(|waiver| waiver.reasons = vec!["other".to_owned(), "broken".to_owned()]);
        assert_eq!(state(&right, &checks, during), expected);
        let wrong = of(|waiver| waiver.reasons = vec!["other".to_owned()]);
        assert_eq!(
            state(&wrong, &checks, during),
            if status == Status::Fail { NotMatched } else { expected }
        );
        // Both days belong to it, in UTC.
        for (time, expected) in [
            ("2026-11-01T23:59:59Z", NotYetValid),
            ("2026-11-02T00:00:00Z", expected),
            ("2027-01-31T00:00:00Z", expected),
            ("2027-01-31T23:59:59Z", expected),
            ("2027-02-01T00:00:00Z", Expired),
        ] {
            assert_eq!(state(&exact, &checks, time), expected, "{status} {time}");
            assert_eq!(
                state(&waiver(&["acme/none"], &[]), &checks, time),
                match expected {
                    Expired | NotYetValid => expected,
                    _ => Unused,
                }
            );
        }
    }
}

#[test]
fn a_waiver_of_one_day_and_of_a_leap_day() {
    let checks = checks(&[("rule", "a", Status::Fail, "broken")]);
    let mut one = waiver(&["a"], &[]);
    (one.approved_at, one.expires_at) = ("2028-02-29".to_owned(), "2028-02-29".to_owned());
    for (time, expected) in [
        ("2028-02-28T23:59:59Z", WaiverState::NotYetValid),
        ("2028-02-29T23:59:59Z", WaiverState::Applied),
        ("2028-03-01T00:00:00Z", WaiverState::Expired),
    ] {
        assert_eq!(state(&one, &checks, time), expected);
    }
}

#[test]
fn counts_and_matches_follow_the_results() {
    let checks = checks(&[
        ("rule", "acme/poc-2", Status::Fail, "broken"),
        ("rule", "acme/poc-1", Status::Pass, "ok"),
        ("rule", "acme/web", Status::Fail, "broken"),
        ("other", "acme/web", Status::Fail, "broken"),
        ("rule", "acme/poc-3", Status::Fail, "other"),
    ]);
    let mut applying = Applying::new(&checks, at("2026-12-01T00:00:00Z"));
    let mut poc = waiver(&["ACME/poc-2", "acme/POC-2"], &["acme/poc-*"]);
    poc.reasons = vec!["broken".to_owned()];
    poc.compensating_check = Some(crate::document::CompensatingCheck {
        rule: "other".to_owned(),
        subject: "acme/WEB".to_owned(),
        status: None,
    });
    let applied = applying.apply(&poc).unwrap();
    assert_eq!(
        applied,
        Applied {
            state: WaiverState::Applied,
            named: vec![0, 1, 4],
            compensating: Some(Status::Fail),
            failures: 1,
            twice: None
        }
    );
    assert_eq!(applying.summary(), WaiversSummary { failed: 4, failed_waived: 1, failed_unwaived: 3 });
    assert!(applying.is_accepted(0) && !applying.is_accepted(4));
    // A second waiver for the same failure is noticed; one that is over is not.
    let mut over = waiver(&["acme/poc-2"], &[]);
    over.expires_at = "2026-11-30".to_owned();
    assert_eq!(applying.apply(&over).unwrap().twice, None);
    assert_eq!(applying.apply(&waiver(&["acme/poc-2"], &[])).unwrap().twice, Some(0));
    let mut bad = waiver(&["acme/web"], &[]);
    bad.expires_at = "soon".to_owned();
    assert_eq!(applying.apply(&bad), None);
}

/// 10,000 waivers and 20,000 checks: the time is that of a search per waiver.
#[test]
fn many_waivers_are_applied_in_time() {
    let mut all = Checks::default();
    for number in 0..20_000 {
        let subject = format!("acme/repository-{number}");
        let status = if number % 2 == 0 { Status::Fail } else { Status::Pass };
        let (control, source, rule, reason) = ("CC7.2", "codehost", "rule", "broken");
        all.add(NamedCheck { control, source, rule, subject: &subject, status, reason });
    }
    let checks = all.sorted();
    let run = || {
        let mut applying = Applying::new(&checks, at("2026-12-01T00:00:00Z"));
        let subjects = (0..10_000).map(|number| format!("Acme/Repository-{number}"));
        let states: Vec<WaiverState> =
            subjects.map(|subject| applying.apply(&waiver(&[&subject], &[])).unwrap().state).collect();
        (states, applying.summary())
    };
    let first = run();
    assert_eq!(first.1, WaiversSummary { failed: 10_000, failed_waived: 5_000, failed_unwaived: 5_000 });
    for _ in 0..9 {
        assert_eq!(run(), first);
    }
}

#[test]
fn who_approves_alone_is_noticed() {
    assert!(is_self_approved("Jane.Doe@acme.example", " jane.doe@acme.example "));
    assert!(!is_self_approved("jane", "john"));
}
