//! The judgement over its whole domain. Every verdict in the tables is written by hand.

mod hidden;

use serde_json::{Value, json};

use super::system::System;
use super::*;
use crate::codehost::reason::{EMPTY_REPOSITORY, PLAN_LIMIT};
use crate::codehost::record::{BranchProtection, BranchRule, Ruleset};
use crate::rule::{Reason, Settings, Status, Verdict, reason as shared};

fn judge(facts: &BranchFacts) -> Verdict {
    super::judge(facts, &Settings::default())
}

fn wants_rules(facts: &BranchFacts) -> bool {
    super::wants_rules(facts, &Settings::default(), |rule| *rule == BRANCH_PROTECTION)
}

fn next_ruleset(facts: &BranchFacts) -> Option<u64> {
    super::next_ruleset(facts, &Settings::default(), |rule| *rule == BRANCH_PROTECTION)
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A classic rule.
fn classic(reviews: u64, contexts: &[&str], admins: bool) -> Classic {
    let protection: BranchProtection = read(json!({
        "url": "https://h/protection",
        "required_pull_request_reviews": {"required_approving_review_count": reviews},
        "required_status_checks": {"contexts": contexts},
        "enforce_admins": {"enabled": admins},
    }));
    Classic::Shown(Box::new(protection))
}

fn unread(reason: &'static Reason) -> Unread {
    let refused = *reason != shared::HOST_ERROR;
    Unread { reason, detail: format!("not read: {}", reason.code), refused }
}

/// A rule of a ruleset.
fn rule(id: u64, kind: &str, parameters: Value) -> BranchRule {
    reduced(read(json!({"type": kind, "ruleset_id": id, "ruleset_source_type": "Repository",
        "ruleset_source": "acme/web", "parameters": parameters})))
}

fn review(id: u64, count: u64) -> BranchRule {
    rule(id, "pull_request", json!({"required_approving_review_count": count}))
}

fn check(id: u64, name: &str) -> BranchRule {
    rule(id, "required_status_checks", json!({"required_status_checks": [{"context": name}]}))
}

fn deletion() -> BranchRule {
    read(json!({"type": "deletion", "ruleset_id": 9}))
}

const OWNER: Viewer = Viewer { administers: true, owns: true };
const ADMINISTRATOR: Viewer = Viewer { administers: true, owns: false };
const OWNER_ELSEWHERE: Viewer = Viewer { administers: false, owns: true };
const READER: Viewer = Viewer { administers: false, owns: false };

/// Whom a ruleset applies to: `h`eld, `b`ypassed, or `u`nknown.
#[test]
fn every_bypass_list_and_every_viewer() {
    let actor =
        |kind: &str, id: i64| json!([{"actor_type": kind, "actor_id": id, "bypass_mode": "pull_request"}]);
    let shown = |actors: Value| Ok(read::<Ruleset>(json!({"id": 1, "bypass_actors": actors})));
    let hidden = |said: &str| Ok(read::<Ruleset>(json!({"id": 1, "current_user_can_bypass": said})));
    let both = |actors: Value, said: &str| {
        Ok(read::<Ruleset>(json!({"id": 1, "bypass_actors": actors, "current_user_can_bypass": said})))
    };
    // (the answer, its meaning for a reader, an administrator, an owner without administration, an owner with it)
    let table: Vec<(Result<Ruleset, Unread>, &str)> = vec![
        (shown(json!([])), "hhhh"),
        (shown(actor("RepositoryRole", 5)), "bbbb"),
        (shown(actor("RepositoryRole", 4)), "bbbb"),
        (shown(actor("RepositoryRole", 2)), "bbbb"),
        (shown(json!([{"actor_type": "RepositoryRole", "actor_id": 5}])), "bbbb"),
        (shown(actor("OrganizationAdmin", 1)), "bbbb"),
        (shown(json!([{"actor_type": "OrganizationAdmin", "actor_id": null}])), "bbbb"),
        (shown(actor("EnterpriseOwner", 0)), "bbbb"),
        (shown(actor("Team", 5)), "hhhh"),
        (shown(actor("Integration", 5)), "hhhh"),
        (shown(actor("DeployKey", 5)), "hhhh"),
        (shown(actor("User", 5)), "hhhh"),
        // A custom role, and unknown values.
        (shown(actor("RepositoryRole", 4711)), "uuuu"),
        (shown(actor("Robot", 1)), "uuuu"),
        (shown(json!([{}])), "uuuu"),
        (both(actor("RepositoryRole", 4711), "never"), "uuuh"),
        (both(actor("RepositoryRole", 4711), "always"), "ubub"),
        (both(actor("Team", 5), "always"), "hhhh"),
        // No one is on the list, and yet someone can.
        (both(json!([]), "always"), "cccc"),
        (both(json!([]), "pull_requests_only"), "cccc"),
        (both(json!([]), "exempt"), "cccc"),
        (both(json!([]), "never"), "hhhh"),
        (both(json!([]), "sometimes"), "hhhh"),
        // Absent is not empty, and neither is null.
        (shown(Value::Null), "uuuu"),
        (Ok(read(json!({"id": 1}))), "uuuu"),
        (hidden("never"), "uuuh"),
        (hidden("always"), "ubub"),
        (hidden("pull_requests_only"), "ubub"),
        (hidden("exempt"), "ubub"),
        (hidden("sometimes"), "uuuu"),
        (Err(unread(&shared::PERMISSION_DENIED)), "uuuu"),
        (Err(unread(&shared::HOST_ERROR)), "uuuu"),
    ];
    for (answer, expected) in table {
        for (viewer, expected) in
            [READER, ADMINISTRATOR, OWNER_ELSEWHERE, OWNER].into_iter().zip(expected.chars())
        {
            let rules = vec![review(1, 1), check(1, "build")];
            let facts = BranchFacts {
                rules: Rules::Shown(rules.clone()),
                rulesets: [(1, answer.clone())].into(),
                viewer,
                ..BranchFacts::unprotected("main")
            };
            let systems = System::rulesets(&rules, &facts);
            let held = match &systems[0].hold {
                super::system::Hold::Held(_) => 'h',
                super::system::Hold::Bypassed(_) => 'b',
                super::system::Hold::Unknown(reason, _) if **reason == BYPASS_CONTRADICTION => 'c',
                super::system::Hold::Unknown(..) => 'u',
            };
            assert_eq!(held, expected, "{answer:?} {viewer:?}");
            let verdict = judge(&facts);
            let reason = match (expected, &answer) {
                ('h', _) => &shared::OK,
                ('b', _) => &ADMINS_NOT_ENFORCED,
                ('c', _) => &BYPASS_CONTRADICTION,
                (_, Err(Unread { refused: false, .. })) => &shared::HOST_ERROR,
                _ => &BYPASS_NOT_VISIBLE,
            };
            assert_eq!(verdict.reason, reason, "{answer:?} {viewer:?}");
        }
    }
}

/// The classic rule × the rules of rulesets × whether the ruleset applies to administrators.
#[test]
fn every_classic_rule_and_every_ruleset() {
    let (deny, fail) = (|| unread(&shared::PERMISSION_DENIED), || unread(&shared::HOST_ERROR));
    // One letter for each column:
    // 1 no ruleset; 2 one without requirements; a review and a check, 3 held, 4 bypassed, 5 unknown; only a review, 6
    // held, 7 bypassed, 8 unknown; only a check, 9 held, 10 bypassed, 11 unknown; 12 refused because of the plan; 13
    // failed.
    let table: [(Classic, &str); 11] = [
        //                                          none full rev chk unread
        (classic(2, &["build"], true), /*         */ "PP PPP PPP PPP PP"),
        (classic(2, &["build"], false), /*        */ "AA PAB AAA AAA LH"),
        (classic(1, &[], true), /*                */ "CC PAB CCC PAB LH"),
        (classic(1, &[], false), /*               */ "CC PAB CCC AAA LH"),
        (classic(0, &["build"], true), /*         */ "RR PAB PAB RRR LH"),
        (Classic::Absent("none".to_string()), /*  */ "UU PAB CCC RRR LH"),
        (Classic::NoBranch("none".to_string()), /**/ "MM MMM MMM MMM MM"),
        (Classic::Empty, /*                       */ "EE EEE EEE EEE EE"),
        (Classic::Unread(deny()), /*              */ "DD PDB DDD DDD DD"),
        (Classic::Unread(unread(&PLAN_LIMIT)), /* */ "LL PLB LLL LLL UL"),
        (Classic::Unread(fail()), /*              */ "HH PHB HHH HHH HH"),
    ];
    let holds = [json!([]), json!([{"actor_type": "RepositoryRole", "actor_id": 5}]), Value::Null];
    for (classic, expected) in table {
        let mut expected = expected.chars().filter(|letter| *letter != ' ');
        let mut expect = |rules: Rules, actors: &Value| {
            let ruleset = read::<Ruleset>(json!({"id": 1, "bypass_actors": actors}));
            let facts = BranchFacts {
                classic: classic.clone(),
                rules: rules.clone(),
                rulesets: [(1, Ok(ruleset))].into(),
                ..BranchFacts::unprotected("main")
            };
            let verdict = judge(&facts);
            let letter = expected.next().unwrap();
            assert_eq!(
                verdict_of(letter),
                (verdict.status, verdict.reason),
                "{classic:?} {rules:?} {actors}"
            );
            assert!(verdict.actual.as_ref().is_some_and(|actual| !actual.is_empty()), "{verdict:?}");
        };
        expect(Rules::Shown(Vec::new()), &Value::Null);
        expect(Rules::Shown(vec![deletion()]), &Value::Null);
        let (review, check) = (review(1, 1), check(1, "test"));
        for rules in [vec![review.clone(), check.clone()], vec![review], vec![check]] {
            for actors in &holds {
                expect(Rules::Shown(rules.clone()), actors);
            }
        }
        expect(Rules::Unread(unread(&PLAN_LIMIT)), &Value::Null);
        expect(Rules::Unread(fail()), &Value::Null);
        assert!(expected.next().is_none());
    }
}

fn verdict_of(letter: char) -> (Status, &'static Reason) {
    let (unknown, fail) = (Status::NotVerifiable, Status::Fail);
    match letter {
        'P' => (Status::Pass, &shared::OK),
        'U' => (fail, &BRANCH_UNPROTECTED),
        'M' => (fail, &BRANCH_MISSING),
        'R' => (fail, &REVIEWS_NOT_REQUIRED),
        'C' => (fail, &STATUS_CHECKS_NOT_CONFIGURED),
        'A' => (fail, &ADMINS_NOT_ENFORCED),
        'B' => (unknown, &BYPASS_NOT_VISIBLE),
        'D' => (unknown, &shared::PERMISSION_DENIED),
        'L' => (unknown, &PLAN_LIMIT),
        'H' => (unknown, &shared::HOST_ERROR),
        'E' => (Status::NotApplicable, &EMPTY_REPOSITORY),
        other => panic!("{other}"),
    }
}

/// Which requests are made.
#[test]
fn a_question_is_asked_if_it_can_change_the_verdict() {
    let table = [
        (classic(2, &["build"], true), false),
        (classic(1, &["build"], true), false),
        (classic(1, &["build"], false), true),
        (classic(0, &["build"], true), true),
        (classic(1, &[], true), true),
        (Classic::Absent("none".to_string()), true),
        (Classic::NoBranch("none".to_string()), false),
        (Classic::Empty, false),
        (Classic::Unread(unread(&shared::PERMISSION_DENIED)), true),
        (Classic::Unread(unread(&PLAN_LIMIT)), true),
        (Classic::Unread(unread(&shared::NOT_FOUND)), false),
        (Classic::Unread(unread(&shared::HOST_ERROR)), false),
    ];
    for (classic, wanted) in table {
        let facts = BranchFacts { classic, rules: Rules::NotAsked, ..BranchFacts::unprotected("main") };
        assert_eq!(wants_rules(&facts), wanted, "{facts:?}");
        let facts = BranchFacts { other_default: Some("trunk".to_string()), ..facts };
        assert!(!wants_rules(&facts), "the default branch decides");
    }
    // (the classic rule, the rules, the rulesets requested in turn while each hides its bypass list)
    let full = |id| vec![review(id, 1), check(id, "build")];
    let absent = || Classic::Absent("none".to_string());
    let table = [
        (absent(), full(3), vec![3]),
        // The one that decides both criteria comes first.
        (absent(), [vec![review(1, 1)], full(3), vec![check(2, "x")]].concat(), vec![3, 1, 2]),
        (absent(), vec![review(1, 1)], vec![]),
        (absent(), vec![review(1, 0), check(1, "build")], vec![]),
        (absent(), vec![deletion()], vec![]),
        (classic(1, &[], true), [full(3), vec![review(2, 2)]].concat(), vec![3]),
        (classic(1, &[], false), vec![check(3, "build")], vec![]),
        (Classic::Unread(unread(&shared::PERMISSION_DENIED)), full(3), vec![3]),
        (Classic::Unread(unread(&shared::PERMISSION_DENIED)), vec![review(3, 1)], vec![]),
        (Classic::NoBranch("none".to_string()), vec![], vec![]),
    ];
    for (classic, rules, expected) in table {
        let mut facts =
            BranchFacts { classic, rules: Rules::Shown(rules), ..BranchFacts::unprotected("main") };
        let mut asked = Vec::new();
        while let Some(id) = next_ruleset(&facts) {
            asked.push(id);
            facts.rulesets.insert(id, Ok(read(json!({ "id": id }))));
        }
        assert_eq!(asked, expected, "{facts:?}");
    }
    // An answer that decides the verdict ends the requests.
    for actors in [json!([]), json!([{"actor_type": "OrganizationAdmin"}])] {
        let (rules, hold) = ([full(1), full(2)].concat(), actors == json!([]));
        let first: Ruleset = read(json!({"id": 1, "bypass_actors": actors}));
        let facts = BranchFacts {
            rules: Rules::Shown(rules),
            rulesets: [(1, Ok(first))].into(),
            ..BranchFacts::unprotected("main")
        };
        assert_eq!(next_ruleset(&facts), if hold { None } else { Some(2) });
    }
}

fn judged(rules: Vec<BranchRule>, free: &[u64]) -> Verdict {
    let bypass = |id: &u64| {
        let actors = json!([{"actor_type": "RepositoryRole", "actor_id": 5}]);
        (*id, Ok(read::<Ruleset>(json!({"id": id, "bypass_actors": actors}))))
    };
    let mut rulesets: std::collections::BTreeMap<u64, Result<Ruleset, Unread>> =
        (1..9).map(|id| (id, Ok(read(json!({"id": id, "bypass_actors": []}))))).collect();
    rulesets.extend(free.iter().map(bypass));
    judge(&BranchFacts { rules: Rules::Shown(rules), rulesets, ..BranchFacts::unprotected("main") })
}

#[test]
fn several_rulesets_add_up() {
    let ok = judged(vec![review(1, 1), check(2, "build")], &[]);
    assert_eq!((ok.status, ok.improvable), (Status::Pass, true));
    let two = judged(vec![review(1, 1), review(2, 3), review(3, 0), check(2, "a"), check(3, "b")], &[]);
    assert_eq!((two.status, two.improvable), (Status::Pass, false));
    let actual = two.actual.unwrap();
    assert!(actual.starts_with("3 approving reviews, 2 required status checks: a, b"), "{actual}");
    // One that administrators can bypass does not matter if another applies to them.
    let full = |id| vec![review(id, 1), check(id, "build")];
    assert_eq!(judged([full(1), full(2)].concat(), &[1]).status, Status::Pass);
    assert_eq!(judged([full(1), full(2)].concat(), &[1, 2]).reason, &ADMINS_NOT_ENFORCED);
    assert_eq!(judged([full(1), vec![review(2, 1)]].concat(), &[1]).reason, &ADMINS_NOT_ENFORCED);
}

#[test]
fn every_form_of_a_rule() {
    let nothing = Value::Null;
    let checks = |list: Value| rule(1, "required_status_checks", json!({ "required_status_checks": list }));
    let workflows = |list: Value| rule(1, "workflows", json!({ "workflows": list }));
    let table = [
        (rule(1, "pull_request", json!({})), check(1, "a"), 'N'),
        (rule(1, "pull_request", nothing.clone()), check(1, "a"), 'N'),
        (review(1, 0), check(1, "a"), 'R'),
        (review(1, 10), check(1, "a"), 'P'),
        (review(1, 1), checks(json!([])), 'C'),
        (review(1, 1), checks(json!([{"context": " "}])), 'C'),
        (review(1, 1), rule(1, "required_status_checks", nothing.clone()), 'N'),
        (review(1, 1), workflows(json!([{"path": ".github/workflows/ci.yml", "repository_id": 1}])), 'P'),
        (review(1, 1), workflows(json!([])), 'C'),
        (review(1, 1), rule(1, "workflows", nothing), 'N'),
        (review(1, 1), rule(1, "code_scanning", json!({})), 'C'),
    ];
    for (first, second, expected) in table {
        let verdict = judged(vec![first.clone(), second.clone()], &[]);
        let expected = if expected == 'N' {
            (Status::NotVerifiable, &shared::NO_EVIDENCE)
        } else {
            verdict_of(expected)
        };
        assert_eq!((verdict.status, verdict.reason), expected, "{first:?} {second:?}");
    }
    // A value that one rule omits may be what is missing elsewhere.
    let untold = rule(2, "pull_request", json!({}));
    let rules = vec![review(1, 1), untold, check(2, "a")];
    assert_eq!(judged(rules.clone(), &[1]).reason, &shared::NO_EVIDENCE);
    assert_eq!(judged(rules, &[1, 2]).reason, &ADMINS_NOT_ENFORCED);
    let said = judged(vec![review(1, 1), workflows(json!([{"path": "ci.yml"}]))], &[]).actual.unwrap();
    assert!(said.contains("1 required status check: workflow ci.yml"), "{said}");
    // A rule without a ruleset id cannot be looked up.
    let mut nameless = vec![review(1, 1), check(1, "a")];
    nameless.iter_mut().for_each(|rule| rule.ruleset_id = crate::field::Field::Absent);
    assert_eq!(judged(nameless, &[]).reason, &BYPASS_NOT_VISIBLE);
}

#[test]
fn another_default_branch_is_neither_a_pass_nor_a_failure() {
    for classic in [classic(2, &["a"], true), classic(0, &[], false), Classic::NoBranch("none".to_string())] {
        let facts = BranchFacts {
            classic,
            other_default: Some("trunk".to_string()),
            ..BranchFacts::unprotected("main")
        };
        let verdict = judge(&facts);
        assert_eq!((verdict.status, verdict.reason), (Status::NotVerifiable, &DEFAULT_BRANCH_DIFFERS));
        assert_eq!(verdict.actual.as_deref(), Some("main was read, but the default branch is trunk"));
    }
}

#[test]
fn who_may_skip_the_review_is_told() {
    let protection: BranchProtection = read(json!({
        "required_pull_request_reviews": {"required_approving_review_count": 1,
            "bypass_pull_request_allowances": {"users": [{"login": "ada"}], "teams": [], "apps": [{"slug": "bot"}]}},
        "required_status_checks": {"contexts": ["build"]},
        "enforce_admins": {"enabled": true},
    }));
    let facts =
        BranchFacts { classic: Classic::Shown(Box::new(protection)), ..BranchFacts::unprotected("main") };
    let verdict = judge(&facts);
    assert_eq!((verdict.status, verdict.hint), (Status::Pass, Some(&PULL_REQUEST_BYPASS_ALLOWED)));
    assert!(verdict.actual.unwrap().ends_with("; ada, bot may skip the review"));
}

fn alone(json: &str) -> Verdict {
    let protection = Box::new(serde_json::from_str(json).unwrap());
    judge(&BranchFacts { classic: Classic::Shown(protection), ..BranchFacts::unprotected("main") })
}

/// The classic rule alone, in every combination of every form of its three sections, compared with the specification's
/// sentence written as a formula.
#[test]
fn the_whole_domain() {
    // (JSON of the section, whether the requirement holds)
    let reviews = [
        ("", Some(false)),
        (r#""required_pull_request_reviews": null,"#, Some(false)),
        (r#""required_pull_request_reviews": {},"#, None),
        (r#""required_pull_request_reviews": {"required_approving_review_count": null},"#, None),
        (r#""required_pull_request_reviews": {"required_approving_review_count": 0},"#, Some(false)),
        (r#""required_pull_request_reviews": {"required_approving_review_count": 1},"#, Some(true)),
        (r#""required_pull_request_reviews": {"required_approving_review_count": 2},"#, Some(true)),
        (r#""required_pull_request_reviews": {"required_approving_review_count": 10},"#, Some(true)),
    ];
    let checks = [
        ("", Some(false)),
        (r#""required_status_checks": null,"#, Some(false)),
        (r#""required_status_checks": {"strict": true},"#, Some(false)),
        (r#""required_status_checks": {"strict": true, "contexts": []},"#, Some(false)),
        (r#""required_status_checks": {"contexts": [], "checks": []},"#, Some(false)),
        (r#""required_status_checks": {"contexts": ["build"]},"#, Some(true)),
        (
            r#""required_status_checks": {"contexts": [], "checks": [{"context": "build", "app_id": null}]},"#,
            Some(true),
        ),
        (r#""required_status_checks": {"checks": [{"context": "build"}]},"#, Some(true)),
    ];
    let admins = [
        ("", None),
        (r#""enforce_admins": null,"#, None),
        (r#""enforce_admins": {},"#, None),
        (r#""enforce_admins": {"enabled": false},"#, Some(false)),
        (r#""enforce_admins": {"enabled": true},"#, Some(true)),
    ];
    for (reviews_json, reviews_hold) in reviews {
        for (checks_json, checks_hold) in checks {
            for (admins_json, admins_hold) in admins {
                let json = format!("{{{reviews_json}{checks_json}{admins_json}\"url\": \"u\"}}");
                let verdict = alone(&json);
                let expected = match (reviews_hold, checks_hold, admins_hold) {
                    (Some(false), _, _) => (Status::Fail, &REVIEWS_NOT_REQUIRED),
                    (_, Some(false), _) => (Status::Fail, &STATUS_CHECKS_NOT_CONFIGURED),
                    (_, _, Some(false)) => (Status::Fail, &ADMINS_NOT_ENFORCED),
                    (Some(true), Some(true), Some(true)) => (Status::Pass, &shared::OK),
                    _ => (Status::NotVerifiable, &shared::NO_EVIDENCE),
                };
                assert_eq!((verdict.status, verdict.reason), expected, "{json}");
                let improvable = expected.0 == Status::Pass && reviews_json.contains(": 1}");
                assert_eq!(verdict.improvable, improvable, "{json}");
            }
        }
    }
}

/// The finding is a readable sentence.
#[test]
fn numbers_are_told_as_one_says_them() {
    let contexts = |names: &str| format!(r#""contexts": [{names}]"#);
    let checks = r#""contexts": [], "checks": [{"context": "build"}, {"context": "test"}]"#;
    for (count, status, said) in [
        (0, contexts(r#""build""#), "no approving review, 1 required status check"),
        (1, contexts(r#""build", "test""#), "1 approving review, 2 required status checks"),
        (2, checks.to_string(), "2 approving reviews, 2 required status checks: build, test"),
    ] {
        let json = format!(
            r#"{{"required_pull_request_reviews": {{"required_approving_review_count": {count}}},
                "required_status_checks": {{{status}}}, "enforce_admins": {{"enabled": true}}}}"#
        );
        let expected = format!("{said}, enforced for administrators");
        assert_eq!(alone(&json).actual.as_deref(), Some(expected.as_str()));
    }
}

/// A classic rule and a ruleset beside it, under a higher number of approvals.
#[test]
fn more_approvals_are_required() {
    let mut settings = Settings::default();
    settings.set(&APPROVALS, 2);
    let rule = |count: Value| {
        let rule: BranchRule = read(json!({
            "type": "pull_request", "ruleset_id": 7, "ruleset_source_type": "Repository",
            "parameters": {"required_approving_review_count": count},
        }));
        Rules::Shown(vec![rule])
    };
    let held: Ruleset = read(json!({"id": 7, "bypass_actors": []}));
    for (classic_count, count, status, reason) in [
        (2, json!(0), Status::Pass, &shared::OK),
        (1, json!(1), Status::Fail, &REVIEWS_NOT_REQUIRED),
        (1, json!(2), Status::Pass, &shared::OK),
        // The number that the host omits may be 2.
        (1, Value::Null, Status::NotVerifiable, &shared::NO_EVIDENCE),
        (2, Value::Null, Status::Pass, &shared::OK),
    ] {
        let facts = BranchFacts {
            classic: classic(classic_count, &["ci"], true),
            rules: rule(count.clone()),
            rulesets: [(7, Ok(held.clone()))].into(),
            ..BranchFacts::unprotected("main")
        };
        let verdict = super::judge(&facts, &settings);
        assert_eq!((verdict.status, verdict.reason), (status, reason), "{classic_count} {count} {verdict:?}");
        assert!(!verdict.improvable);
        let Classic::Shown(protection) = &facts.classic else { panic!() };
        assert_eq!(super::passes_alone(protection, &settings), classic_count >= 2);
    }
    assert!(BRANCH_PROTECTION.expectation(&settings).starts_with("at least 2 approving reviews, "));
}
