//! No one pushes to the branch past pull requests.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::High;
use evidence_text::{counted, saturating_u64};

use super::changes::{ACCOUNT_NOT_VISIBLE, ChangesFacts};
use crate::rule::{Judge, Reason, Rule, Status, Verdict, reason};
use crate::several::{One, Several, Words};

/// No one pushes to the branch past pull requests.
pub static NO_DIRECT_PUSH: Rule = Rule {
    code: "no-direct-push",
    title: "Direct pushes",
    version: 1,
    kind: "repository",
    expected: "nothing was pushed to the branch in the period, except by merging a pull request",
    reads: "the activity of the branch in the period: kind, time, account and commits of each push",
    not_checked: "pushes by the accounts in `exempt_pushers`, which `actual` counts; what was pushed; other branches",
    permission: "Give a fine-grained token or an app read access to `Contents`.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&PUSHED_DIRECTLY],
};

/// Someone pushed to the branch.
pub static PUSHED_DIRECTLY: Reason = Reason::new("pushed_directly", "Pushed past pull requests").advice(
    High,
    Misconfigured,
    "Review these pushes now and record the result. Require a pull request for the branch, for administrators too; name a program \
     that must push, such as one that releases, in `exempt_pushers`.",
);

/// The judgement. What was not read although it was asked for has its own observation.
pub static JUDGE: Judge<ChangesFacts> = Judge { rule: &NO_DIRECT_PUSH, judge: |facts, _| judge(facts) };

static WORDS: Words = Words {
    fails: &PUSHED_DIRECTLY,
    failed: "pushes went past pull requests",
    open: "entries of the activity cannot be judged",
    good: "pushes",
    none: "no direct push in the period",
};

fn judge(facts: &ChangesFacts) -> Option<Verdict> {
    if let Some(verdict) = facts.without_branch() {
        return Some(verdict);
    }
    let Some(pushes) = facts.record.pushes.value() else {
        let unknown =
            || Verdict::unknown(&reason::NO_EVIDENCE, "the activity of the branch was not asked for");
        return (!facts.pushes_unread).then(unknown);
    };
    let (mut several, mut exempt) = (Several::default(), Vec::new());
    for push in pushes {
        let known = ["push", "force_push"].contains(&push.kind.as_str());
        let actor = push.actor.as_deref();
        if actor.is_some_and(|actor| facts.exempt.iter().any(|name| name.eq_ignore_ascii_case(actor))) {
            exempt.push(push);
            continue;
        }
        let one = match (known, actor) {
            (true, Some(_)) => One::Failed,
            (true, None) => One::Open(&ACCOUNT_NOT_VISIBLE),
            // A word that is new may mean anything.
            (false, _) => One::Open(&reason::NO_EVIDENCE),
        };
        let who = actor.unwrap_or("an unknown account");
        several.add(&format!("{} by {who} at {}", push.kind.replace('_', " "), push.at), one);
    }
    let verdict = several.judge(&WORDS);
    let verdict = match verdict.status {
        Status::NotApplicable => Verdict::pass(verdict.actual.unwrap_or_default()),
        _ => verdict,
    };
    if exempt.is_empty() {
        return Some(verdict);
    }
    let actual = verdict.actual.unwrap_or_default();
    let count = counted(saturating_u64(exempt.len()), "push", "pushes");
    Some(Verdict { actual: Some(format!("{actual}; {count} by accounts that may")), ..verdict })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codehost::changes::{Changes, Push};
    use crate::field::Field;

    #[test]
    fn the_whole_domain() {
        let push = |kind: &str, actor: Option<&str>| Push {
            kind: kind.to_string(),
            actor: actor.map(str::to_string),
            at: "2026-11-20T12:00:00Z".to_string(),
            ..Push::default()
        };
        for (pushes, expected) in [
            (vec![], ("ok", "no direct push in the period")),
            (
                vec![push("push", Some("mia"))],
                (
                    "pushed_directly",
                    "1 of 1 pushes went past pull requests: push by mia at 2026-11-20T12:00:00Z",
                ),
            ),
            (
                vec![push("force_push", Some("mia"))],
                (
                    "pushed_directly",
                    "1 of 1 pushes went past pull requests: force push by mia at 2026-11-20T12:00:00Z",
                ),
            ),
            (
                vec![push("push", Some("Release-Bot"))],
                ("ok", "no direct push in the period; 1 push by accounts that may"),
            ),
            (
                vec![push("push", None)],
                (
                    "account_not_visible",
                    "1 of 1 entries of the activity cannot be judged: push by an unknown account at 2026-11-20T12:00:00Z",
                ),
            ),
            (
                vec![push("teleport", Some("mia"))],
                (
                    "no_evidence",
                    "1 of 1 entries of the activity cannot be judged: teleport by mia at 2026-11-20T12:00:00Z",
                ),
            ),
            (
                vec![push("push", None), push("push", Some("mia")), push("push", Some("release-bot"))],
                (
                    "pushed_directly",
                    "1 of 2 pushes went past pull requests: push by mia at 2026-11-20T12:00:00Z; 1 of 2 entries of the activity cannot be judged: push by an unknown account at 2026-11-20T12:00:00Z; 1 push by accounts that may",
                ),
            ),
        ] {
            let record = Changes { pushes: Field::Value(pushes), ..Changes::default() };
            let exempt = vec!["release-bot".to_string()];
            let verdict = judge(&ChangesFacts { record, exempt, ..ChangesFacts::default() }).unwrap();
            assert_eq!((verdict.reason.code, verdict.actual.as_deref().unwrap()), expected);
        }
        for unread in [false, true] {
            let facts = ChangesFacts { pushes_unread: unread, ..ChangesFacts::default() };
            assert_eq!(judge(&facts).map(|verdict| verdict.reason.code), (!unread).then_some("no_evidence"));
        }
        let elsewhere = ChangesFacts { other_default: Some("trunk".to_string()), ..ChangesFacts::default() };
        assert_eq!(judge(&elsewhere).unwrap().reason.code, "default_branch_differs");
    }
}
