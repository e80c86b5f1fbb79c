//! What the host hides: the bypass list of a ruleset above the organization, and the classic rule.

use super::*;

/// Whom a ruleset applies to that hides its list, by its owner and the token's user.
#[test]
fn above_the_organization_nothing_is_concluded() {
    for (source, viewers) in [
        (json!("Repository"), "uuuh"),
        (json!("Organization"), "uuuh"),
        (json!("Enterprise"), "uuuu"),
        (json!("enterprise"), "uuuu"),
        (json!("Galaxy"), "uuuu"),
        (Value::Null, "uuuh"),
    ] {
        for (viewer, expected) in
            [READER, ADMINISTRATOR, OWNER_ELSEWHERE, OWNER].into_iter().zip(viewers.chars())
        {
            let mut rules = vec![review(1, 1), check(1, "build")];
            rules.iter_mut().for_each(|rule| rule.ruleset_source_type = read(source.clone()));
            let answer = read::<Ruleset>(json!({"id": 1, "current_user_can_bypass": "never"}));
            let rules = Rules::Shown(rules);
            let facts = BranchFacts {
                rules,
                rulesets: [(1, Ok(answer))].into(),
                viewer,
                ..BranchFacts::unprotected("main")
            };
            let expected = if expected == 'h' { &shared::OK } else { &BYPASS_NOT_VISIBLE };
            assert_eq!(judge(&facts).reason, expected, "{source} {viewer:?}");
            assert_eq!(is_of_organization(&facts, 1), source == json!("Organization"));
            assert!(!is_of_organization(&facts, 2));
        }
    }
}

/// What the branch itself says, where the classic rule is hidden.
#[test]
fn the_branch_itself_decides_only_without_other_rules() {
    let states = [
        (None, 'D'),
        (Some(json!({"name": "main", "protected": false})), 'U'),
        (Some(json!({"name": "main", "protected": true})), 'D'),
        (Some(json!({"name": "main", "protected": true, "protection": {"enabled": false}})), 'U'),
        (Some(json!({"name": "main", "protected": false, "protection": {"enabled": false}})), 'U'),
        (Some(json!({"name": "main", "protected": true, "protection": {"enabled": true}})), 'D'),
        (Some(json!({"name": "main", "protected": true, "protection": {"enabled": null}})), 'D'),
    ];
    let hidden = || Classic::Unread(unread(&shared::PERMISSION_DENIED));
    for (state, expected) in states {
        let facts = |rules| BranchFacts {
            classic: hidden(),
            state: state.clone().map(read),
            rules: Rules::Shown(rules),
            ..BranchFacts::unprotected("main")
        };
        let verdict = judge(&facts(vec![deletion()]));
        assert_eq!((verdict.status, verdict.reason), verdict_of(expected), "{state:?}");
        assert_eq!(judge(&facts(vec![review(1, 1)])).reason, &shared::PERMISSION_DENIED, "{state:?}");
    }
    let named = json!({"name": "main", "protected": true, "protection":
        {"enabled": true, "required_status_checks": {"contexts": ["a", "b"]}}});
    let facts =
        BranchFacts { classic: hidden(), state: Some(read(named)), ..BranchFacts::unprotected("main") };
    let actual = judge(&facts).actual.unwrap();
    assert!(actual.ends_with("a branch protection rule with 2 required status checks: a, b"), "{actual}");
    // (the classic rule, the rules, whether to request the branch)
    for (classic, rules, wanted) in [
        (hidden(), Rules::Shown(vec![deletion()]), true),
        (hidden(), Rules::Shown(Vec::new()), true),
        (hidden(), Rules::Shown(vec![review(1, 0)]), false),
        (hidden(), Rules::Unread(unread(&shared::PERMISSION_DENIED)), false),
        (hidden(), Rules::NotAsked, false),
        (Classic::Unread(unread(&PLAN_LIMIT)), Rules::Shown(Vec::new()), false),
        (Classic::Unread(unread(&shared::HOST_ERROR)), Rules::Shown(Vec::new()), false),
        (Classic::Absent("none".to_string()), Rules::Shown(Vec::new()), false),
        (classic(1, &["a"], true), Rules::Shown(Vec::new()), false),
    ] {
        let facts = BranchFacts { classic, rules, ..BranchFacts::unprotected("main") };
        assert_eq!(wants_branch(&facts), wanted, "{facts:?}");
        assert!(!wants_branch(&BranchFacts { other_default: Some("trunk".to_string()), ..facts }));
    }
}
