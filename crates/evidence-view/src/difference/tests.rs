use super::*;
use Class::{
    Added, Applies, EnteredScope, FirstFailure, Gone, LeftScope, LostSight, NoLongerApplies, OtherReason,
    Regression, Repaired, SeenAgain,
};
use Status::{Fail, NotApplicable, NotVerifiable, Pass};

const RULE: &str = "branch-protection";

fn check(subject: &str, status: Status, reason: &str) -> CheckState {
    CheckState {
        source: "codehost".into(),
        rule: RULE.into(),
        subject: subject.into(),
        status,
        reason: reason.into(),
    }
}

fn member(name: &str, id: Option<&str>, in_scope: bool) -> MemberState {
    MemberState { source: "codehost".into(), name: name.into(), id: id.map(Into::into), in_scope }
}

fn population(scope: Scope, listed: u64, host_total: Option<u64>) -> SourcePopulation {
    SourcePopulation {
        source: "codehost".to_owned(),
        scope,
        organization: "acme".to_owned(),
        kind: "repository".to_owned(),
        listed,
        in_scope: listed,
        host_total,
        host_totals: BTreeMap::new(),
        members: listed,
    }
}

/// A bundle over these checks. `acme/other` passes on every side, so that the rule is known to be examined.
fn bundle(scope: Scope, checks: Vec<CheckState>, members: Vec<MemberState>) -> Snapshot {
    let mut snapshot = Snapshot { sources: vec![population(scope, 2, None)], ..Snapshot::default() };
    snapshot.checks.rows = checks;
    snapshot.checks.rows.push(check("acme/other", Pass, "ok"));
    snapshot.members.rows = members;
    snapshot
}

/// The state of `acme/web` in a bundle, for every state that there is.
fn states() -> Vec<(&'static str, Snapshot)> {
    let web = |in_scope| vec![member("acme/web", Some("7"), in_scope)];
    let judged = |status, reason| bundle(Scope::Whole, vec![check("acme/web", status, reason)], web(true));
    vec![
        ("pass", judged(Pass, "ok")),
        ("fail", judged(Fail, "branch_unprotected")),
        ("not_verifiable", judged(NotVerifiable, "permission_denied")),
        ("not_applicable", judged(NotApplicable, "empty_repository")),
        ("archived", judged(NotApplicable, "archived")),
        ("excluded", bundle(Scope::Chosen, vec![], web(false))),
        ("not named", bundle(Scope::Chosen, vec![], vec![])),
        ("deleted", bundle(Scope::Whole, vec![], vec![])),
        ("hidden", bundle(Scope::Partial, vec![], vec![])),
        ("unconfirmed", bundle(Scope::Unconfirmed, vec![], vec![])),
        ("unreached", bundle(Scope::Unreached, vec![], vec![])),
    ]
}

#[test]
fn every_pair_of_states_has_its_class() {
    let names: Vec<&str> = states().iter().map(|(name, _)| *name).collect();
    // A row is the state before, a column the state after, in the order of `states`.
    let out = [LeftScope, LeftScope, LeftScope, Gone, LostSight, LostSight, LostSight].map(Some);
    let row = |judged: [Option<Class>; 4]| judged.into_iter().chain(out).collect::<Vec<_>>();
    let absent = |class: [Class; 4]| class.map(Some).into_iter().chain([None; 7]).collect::<Vec<_>>();
    let table = [
        row([None, Some(Regression), Some(LostSight), Some(NoLongerApplies)]),
        row([Some(Repaired), None, Some(LostSight), Some(NoLongerApplies)]),
        row([Some(SeenAgain), Some(SeenAgain), None, Some(SeenAgain)]),
        row([Some(Applies), Some(FirstFailure), Some(LostSight), None]),
        absent([EnteredScope; 4]),
        absent([EnteredScope; 4]),
        absent([EnteredScope; 4]),
        absent([Added, FirstFailure, Added, Added]),
        absent([SeenAgain; 4]),
        absent([SeenAgain; 4]),
        absent([SeenAgain; 4]),
    ];
    // An archived repository keeps its check: to be empty is then another reason for not applying.
    for (was, expected) in states().into_iter().zip(&table) {
        for (is, class) in states().into_iter().zip(expected) {
            let found = difference(&was.1, &is.1);
            let classes: Vec<Class> = found.checks.iter().map(|check| check.class).collect();
            let place = format!("{} then {}: {names:?}", was.0, is.0);
            assert_eq!(classes, class.iter().copied().collect::<Vec<_>>(), "{place}");
            // The mirror image differs in the same checks.
            assert_eq!(difference(&is.1, &was.1).checks.len(), classes.len(), "{place}");
        }
    }
}

#[test]
fn another_reason_is_no_other_status() {
    let with = |reason| bundle(Scope::Whole, vec![check("acme/web", Fail, reason)], vec![]);
    let (one, two) = (with("branch_unprotected"), with("reviews_not_required"));
    let found = difference(&one, &two);
    assert_eq!((found.checks[0].class, found.checks.len(), found.unchanged), (OtherReason, 1, 1));
    assert_eq!(difference(&one, &one).unchanged, 2);
}

#[test]
fn subjects_are_matched_by_the_identifier() {
    let side = |name: &str, id: Option<&str>, status| {
        let reason = if status == Pass { "ok" } else { "branch_unprotected" };
        bundle(Scope::Whole, vec![check(name, status, reason)], vec![member(name, id, true)])
    };
    let classes = |from: &Snapshot, to: &Snapshot| -> Vec<Class> {
        difference(from, to).checks.iter().map(|check| check.class).collect()
    };
    let failing = side("acme/web", Some("7"), Fail);
    // Renamed and repaired; renamed only; deleted, and another one took the name; no identifier on one side.
    assert_eq!(classes(&failing, &side("acme/site", Some("7"), Pass)), [Repaired]);
    assert_eq!(classes(&failing, &side("acme/site", Some("7"), Fail)), []);
    assert_eq!(classes(&failing, &side("acme/web", Some("8"), Pass)), [Gone, Added]);
    assert_eq!(classes(&failing, &side("acme/web", None, Pass)), [Repaired]);
    // Two that swapped their names.
    let both = |a: (&str, Status), b: (&str, Status)| {
        let checks = vec![check("acme/a", a.1, "x"), check("acme/b", b.1, "x")];
        bundle(
            Scope::Whole,
            checks,
            vec![member("acme/a", Some(a.0), true), member("acme/b", Some(b.0), true)],
        )
    };
    assert_eq!(classes(&both(("1", Fail), ("2", Pass)), &both(("2", Pass), ("1", Fail))), []);
    assert_eq!(
        classes(&both(("1", Fail), ("2", Pass)), &both(("2", Fail), ("1", Pass))),
        [Regression, Repaired]
    );
}

#[test]
fn a_rule_or_a_source_that_one_side_lacks_is_out_of_scope() {
    let web = |checks| bundle(Scope::Whole, checks, vec![member("acme/web", Some("7"), true)]);
    let other = CheckState { rule: "codeowners-default-rule".into(), ..check("acme/web", Fail, "x") };
    let (with, without) = (web(vec![other]), web(vec![]));
    assert_eq!(difference(&with, &without).checks[0].class, LeftScope);
    assert_eq!(difference(&without, &with).checks[0].class, EnteredScope);
    let nothing = Snapshot::default();
    assert!(difference(&with, &nothing).checks.iter().all(|check| check.class == LeftScope));
    assert!(difference(&nothing, &with).checks.iter().all(|check| check.class == EnteredScope));
    // If everything that the host counts was listed, what is missing no longer exists, whatever is excluded.
    let mut chosen = bundle(Scope::Chosen, vec![], vec![]);
    chosen.sources = vec![population(Scope::Chosen, 2, Some(2))];
    let web = web(vec![check("acme/web", Fail, "x")]);
    assert_eq!(difference(&web, &chosen).checks[0].class, Gone);
}
