//! An approval belongs to the commit that is merged.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::Medium;

use super::facts::{BranchFacts, Classic, Rules};
use super::history::holds;
use super::judge::by_layers;
use super::layers::{Demanded, Layer, Layers};
use super::rule::REVIEWS_NOT_REQUIRED;
use super::system::{PULL_REQUEST, System};
use crate::codehost::record::{BranchHistory, BranchProtection, BranchRule};
use crate::rule::{Judge, Reason, Rule, Verdict, reason as shared};

/// An approval belongs to the commit that is merged.
pub static STALE_APPROVALS_DISMISSED: Rule = Rule {
    code: "stale-approvals-dismissed",
    title: "Stale approvals",
    version: 1,
    kind: "repository",
    expected: "a required approval does not survive a later push: a push dismisses approvals, or the last push needs one of its \
               own, for administrators too",
    reads: "`dismiss_stale_reviews` and `require_last_push_approval` of the classic protection of the branch, and the same of \
            the `pull_request` rules of rulesets that apply to it",
    not_checked: "how many approvals are required, which `branch-protection` judges; who approves; people and apps that may skip the \
                  review; any other branch",
    permission: "Give a fine-grained token \
                 `Administration: read` and `Metadata: read` on this repository, and make its user an \
                 administrator of it: the host shows branch protection only to administrators.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &STALE_APPROVALS_KEPT,
        &DISMISS_STALE_REVIEWS_NOT_VISIBLE,
        &REQUIRE_LAST_PUSH_APPROVAL_NOT_VISIBLE,
    ],
};

/// An approval survives later pushes.
pub static STALE_APPROVALS_KEPT: Reason = Reason::new("stale_approvals_kept", "Approvals survive later pushes").advice(
    Medium,
    Misconfigured,
    "In the branch protection rule or the ruleset, turn on \"Dismiss stale pull request approvals when new commits are pushed\" \
     or \"Require approval of the most recent reviewable push\".",
);

const BY_HAND: &str = "Check the setting by hand: the host's answer does not contain it.";

/// The host does not show whether a push dismisses approvals.
pub static DISMISS_STALE_REVIEWS_NOT_VISIBLE: Reason =
    Reason::new("dismiss_stale_reviews_not_visible", "Dismissal of stale approvals: setting not visible")
        .advice(Medium, Partial, BY_HAND);

/// The host does not show whether the last push needs an approval.
pub static REQUIRE_LAST_PUSH_APPROVAL_NOT_VISIBLE: Reason =
    Reason::new("require_last_push_approval_not_visible", "Approval of the last push: setting not visible")
        .advice(Medium, Partial, BY_HAND);

/// The judgement; none if the part of the classic rule that it needs was not kept.
pub static JUDGE: Judge<BranchFacts> =
    Judge { rule: &STALE_APPROVALS_DISMISSED, judge: |facts, _| judge(facts) };

fn judge(facts: &BranchFacts) -> Option<Verdict> {
    by_layers(facts, &REVIEWS_NOT_REQUIRED, [&REVIEWS_NOT_REQUIRED, &STALE_APPROVALS_KEPT], layers, words)
}

/// The ruleset whose bypass list can still change the verdict.
pub(super) fn next_ruleset(facts: &BranchFacts) -> Option<u64> {
    (!facts.lacks_history()).then(|| layers(facts).next_ruleset(facts))?
}

/// Whether an approval is required, and whether it falls with the next push.
fn layers(facts: &BranchFacts) -> Layers<'_, 2> {
    let reviews = |system: &System| system.demands_reviews(1).ok_or(&shared::NO_EVIDENCE);
    let mut layers = Layers { all: Vec::new(), unread: facts.unread() };
    if let (Classic::Shown(protection), Some(history)) = (&facts.classic, &facts.history) {
        let system = System::classic(protection);
        let demands = [reviews(&system), of_classic(protection, history)];
        layers.all.push(Layer { ruleset: None, demands, hold: system.hold });
    }
    if let Rules::Shown(rules) = &facts.rules {
        layers.all.extend(System::rulesets(rules, facts).into_iter().map(|system| {
            let own = |rule: &&BranchRule| rule.ruleset_id.value().copied() == system.ruleset;
            let stale = rules.iter().filter(own).filter_map(of_ruleset);
            Layer {
                ruleset: system.ruleset,
                demands: [reviews(&system), stale.fold(Ok(false), either)],
                hold: system.hold,
            }
        }));
    }
    layers
}

fn of_classic(protection: &BranchProtection, history: &BranchHistory) -> Demanded {
    let Some(reviews) = protection.required_pull_request_reviews.value() else { return Ok(false) };
    let last = history.required_pull_request_reviews.value();
    either(
        reviews.dismiss_stale_reviews.value().copied().ok_or(&DISMISS_STALE_REVIEWS_NOT_VISIBLE),
        last.and_then(|last| last.require_last_push_approval.value())
            .copied()
            .ok_or(&REQUIRE_LAST_PUSH_APPROVAL_NOT_VISIBLE),
    )
}

/// The same of a rule of a ruleset; `None` if it is about something else.
fn of_ruleset(rule: &BranchRule) -> Option<Demanded> {
    if rule.kind.value().is_none_or(|kind| kind != PULL_REQUEST) {
        return None;
    }
    let parameters = rule.parameters.value();
    let dismisses = parameters.and_then(|found| found.dismiss_stale_reviews_on_push.value()).copied();
    let last = parameters.and_then(|found| found.require_last_push_approval.value()).copied();
    Some(either(
        dismisses.ok_or(&DISMISS_STALE_REVIEWS_NOT_VISIBLE),
        last.ok_or(&REQUIRE_LAST_PUSH_APPROVAL_NOT_VISIBLE),
    ))
}

/// One of two that are enough by themselves.
fn either(one: Demanded, other: Demanded) -> Demanded {
    match (one, other) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
        (Ok(false), Ok(false)) => Ok(false),
    }
}

fn words(facts: &BranchFacts, layers: &Layers<'_, 2>) -> String {
    let mut parts = Vec::new();
    if let Classic::Absent(said) = &facts.classic {
        parts.push(said.clone());
    } else if facts.has_classic_rule() == Some(false) {
        parts.push("the host reports no branch protection".to_string());
    }
    let said = |number: usize, [yes, no, untold]: [&str; 3]| {
        let demands = || layers.all.iter().filter_map(|layer| layer.demands.get(number));
        let words = if demands().any(|demand| *demand == Ok(true)) {
            yes
        } else if demands().any(Result::is_err) || !layers.unread.is_empty() {
            untold
        } else {
            no
        };
        words.to_string()
    };
    let mut found = vec![
        said(0, ["approvals required", "no approval required", "number of approvals not reported"]),
        said(
            1,
            [
                "an approval falls with the next push",
                "an approval survives later pushes",
                "whether an approval survives later pushes is not reported",
            ],
        ),
    ];
    found.extend(holds(layers.all.iter().map(|layer| &layer.hold)));
    parts.push(found.join(", "));
    parts.extend(layers.unread.iter().map(|unread| unread.detail.clone()));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn classic(reviews: Value, last: Value, admins: bool) -> BranchFacts {
        let protection = json!({
            "url": "u", "required_pull_request_reviews": reviews, "enforce_admins": {"enabled": admins},
        });
        BranchFacts {
            classic: Classic::Shown(read(protection)),
            rules: Rules::NotAsked,
            history: Some(read(
                json!({"required_pull_request_reviews": {"require_last_push_approval": last}}),
            )),
            ..BranchFacts::unprotected("main")
        }
    }

    fn ruled(facts: BranchFacts, parameters: Value, actors: Value) -> BranchFacts {
        let rule = json!({"type": "pull_request", "ruleset_id": 7, "ruleset_source_type": "Repository",
            "ruleset_source": "acme/web", "parameters": parameters});
        BranchFacts {
            rules: Rules::Shown(vec![read(rule)]),
            rulesets: [(7, Ok(read(json!({"id": 7, "bypass_actors": actors}))))].into(),
            ..facts
        }
    }

    fn reason_of(facts: &BranchFacts) -> &'static str {
        judge(facts).map_or("none", |verdict| verdict.reason.code)
    }

    /// Every form of both switches, beside a required approval.
    #[test]
    fn every_classic_rule() {
        for dismisses in [json!(true), json!(false), Value::Null] {
            for last in [json!(true), json!(false), Value::Null] {
                for (count, admins) in [(0, true), (1, true), (1, false)] {
                    let reviews =
                        json!({"required_approving_review_count": count, "dismiss_stale_reviews": dismisses});
                    let expected = match (count, dismisses.as_bool(), last.as_bool()) {
                        (0, ..) => "reviews_not_required",
                        (_, Some(true), _) | (_, _, Some(true)) if admins => "ok",
                        (_, Some(false), Some(false)) => "stale_approvals_kept",
                        _ if !admins => "admins_not_enforced",
                        (_, None, _) => "dismiss_stale_reviews_not_visible",
                        (_, _, None) => "require_last_push_approval_not_visible",
                        (_, Some(_), Some(_)) => unreachable!(),
                    };
                    let facts = classic(reviews, last.clone(), admins);
                    assert_eq!(reason_of(&facts), expected, "{facts:?}");
                }
            }
        }
        assert_eq!(reason_of(&classic(Value::Null, Value::Null, true)), "reviews_not_required");
        assert_eq!(
            reason_of(&classic(json!({"dismiss_stale_reviews": true}), json!(false), true)),
            "no_evidence"
        );
        let kept = classic(json!({}), json!(true), true);
        assert!(judge(&BranchFacts { history: None, ..kept }).is_none(), "nothing was kept to judge");
    }

    #[test]
    fn every_ruleset() {
        let bare = || BranchFacts::unprotected("main");
        let rule = |count: u64, dismisses: Value, last: Value| {
            json!({"required_approving_review_count": count, "dismiss_stale_reviews_on_push": dismisses,
                "require_last_push_approval": last})
        };
        let (on, off) = (|| json!(true), || json!(false));
        let administrators = json!([{"actor_type": "OrganizationAdmin"}]);
        let reviewed = json!({"required_approving_review_count": 1, "dismiss_stale_reviews": false});
        for (facts, expected) in [
            (ruled(bare(), rule(1, on(), off()), json!([])), "ok"),
            (ruled(bare(), rule(1, off(), on()), json!([])), "ok"),
            (ruled(bare(), rule(1, off(), off()), json!([])), "stale_approvals_kept"),
            (ruled(bare(), rule(0, on(), on()), json!([])), "reviews_not_required"),
            (ruled(bare(), rule(1, on(), off()), administrators.clone()), "admins_not_enforced"),
            (ruled(bare(), rule(1, on(), off()), Value::Null), "bypass_not_visible"),
            (ruled(bare(), rule(1, Value::Null, off()), json!([])), "dismiss_stale_reviews_not_visible"),
            (ruled(bare(), rule(1, off(), Value::Null), json!([])), "require_last_push_approval_not_visible"),
            // The classic rule requires the approval, and the ruleset dismisses it.
            (ruled(classic(reviewed.clone(), off(), true), rule(0, on(), off()), json!([])), "ok"),
            (
                ruled(classic(reviewed, off(), true), rule(0, on(), off()), administrators),
                "admins_not_enforced",
            ),
            (bare(), "reviews_not_required"),
        ] {
            assert_eq!(reason_of(&facts), expected, "{facts:?}");
        }
    }
}
