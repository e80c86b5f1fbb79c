//! No one rewrites or deletes the branch.

use std::collections::BTreeMap;

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::facts::{BranchFacts, Classic, Rules};
use super::judge::by_layers;
use super::layers::{Demanded, Layer, Layers};
use super::system::{Hold, classic_hold, ruleset_hold};
use crate::codehost::record::Switch;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// No one rewrites or deletes the branch.
pub static HISTORY_PROTECTED: Rule = Rule {
    code: "history-protected",
    title: "Protected history",
    version: 1,
    kind: "repository",
    expected: "force pushes to the branch and its deletion are blocked, for administrators too",
    reads: "`allow_force_pushes` and `allow_deletions` of the classic protection of the branch, and the rules \
            `non_fast_forward` and `deletion` of the rulesets that apply to it",
    not_checked: "teams, apps, single users and deploy keys that may bypass a ruleset; tags; any other branch; what was pushed",
    permission: "Give a fine-grained token \
                 `Administration: read` and `Metadata: read` on this repository, and make its user an \
                 administrator of it: the host shows branch protection only to administrators.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&HISTORY_UNPROTECTED, &ALLOW_FORCE_PUSHES_NOT_VISIBLE, &ALLOW_DELETIONS_NOT_VISIBLE],
};

/// Force pushes or deletions are possible.
pub static HISTORY_UNPROTECTED: Reason =
    Reason::new("history_unprotected", "Branch can be rewritten or deleted").advice(
        High,
        Misconfigured,
        "In the branch protection rule, turn off \"Allow force pushes\" and \"Allow deletions\"; or add a ruleset with \
         \"Block force pushes\" and \"Restrict deletions\", without a bypass for administrators.",
    );

const OLD_SERVER: &str =
    "Check the setting by hand: the host's answer about the branch protection rule does not contain it.";

/// The host does not show whether force pushes are allowed.
pub static ALLOW_FORCE_PUSHES_NOT_VISIBLE: Reason =
    Reason::new("allow_force_pushes_not_visible", "Force pushes: setting not visible")
        .advice(Medium, Partial, OLD_SERVER);

/// The host does not show whether deletions are allowed.
pub static ALLOW_DELETIONS_NOT_VISIBLE: Reason =
    Reason::new("allow_deletions_not_visible", "Deletions: setting not visible")
        .advice(Medium, Partial, OLD_SERVER);

/// The judgement; none if the part of the classic rule that it needs was not kept.
pub static JUDGE: Judge<BranchFacts> = Judge { rule: &HISTORY_PROTECTED, judge: |facts, _| judge(facts) };

/// The types of rules that block force pushes and deletions.
const BLOCKS: [&str; 2] = ["non_fast_forward", "deletion"];

fn judge(facts: &BranchFacts) -> Option<Verdict> {
    by_layers(facts, &HISTORY_UNPROTECTED, [&HISTORY_UNPROTECTED; 2], layers, words)
}

/// The ruleset whose bypass list can still change the verdict.
pub(super) fn next_ruleset(facts: &BranchFacts) -> Option<u64> {
    (!facts.lacks_history()).then(|| layers(facts).next_ruleset(facts))?
}

fn layers(facts: &BranchFacts) -> Layers<'_, 2> {
    let mut layers = Layers { all: Vec::new(), unread: facts.unread() };
    if let (Classic::Shown(protection), Some(history)) = (&facts.classic, &facts.history) {
        let demands = [
            is_blocked(&history.allow_force_pushes, &ALLOW_FORCE_PUSHES_NOT_VISIBLE),
            is_blocked(&history.allow_deletions, &ALLOW_DELETIONS_NOT_VISIBLE),
        ];
        layers.all.push(Layer { ruleset: None, demands, hold: classic_hold(protection) });
    }
    if let Rules::Shown(rules) = &facts.rules {
        let mut found: BTreeMap<Option<u64>, Layer<2>> = BTreeMap::new();
        for rule in rules {
            let kind = rule.kind.value().map_or("", String::as_str);
            let Some(number) = BLOCKS.iter().position(|block| *block == kind) else { continue };
            let id = rule.ruleset_id.value().copied();
            let layer = found.entry(id).or_insert_with(|| Layer {
                ruleset: id,
                demands: [Ok(false), Ok(false)],
                hold: ruleset_hold(rule, facts),
            });
            if let Some(demand) = layer.demands.get_mut(number) {
                *demand = Ok(true);
            }
        }
        layers.all.extend(found.into_values());
    }
    layers
}

/// Whether a classic rule blocks it: the host names what it allows.
fn is_blocked(allowed: &Field<Switch>, hidden: &'static Reason) -> Demanded {
    let allowed = allowed.value().and_then(|switch| switch.enabled.value());
    allowed.map(|allowed| !allowed).ok_or(hidden)
}

fn words(facts: &BranchFacts, layers: &Layers<'_, 2>) -> String {
    let mut parts = Vec::new();
    if let Classic::Absent(said) = &facts.classic {
        parts.push(said.clone());
    } else if facts.has_classic_rule() == Some(false) {
        parts.push("the host reports no branch protection".to_string());
    }
    let mut found = Vec::new();
    for (number, what) in ["force pushes", "deletions"].into_iter().enumerate() {
        let said = |demand: Demanded| {
            layers.all.iter().any(|layer| layer.demands.get(number).is_some_and(|one| *one == demand))
        };
        let untold = layers.all.iter().any(|layer| layer.demands.get(number).is_some_and(Result::is_err));
        found.push(match (said(Ok(true)), untold, layers.unread.is_empty()) {
            (true, ..) => format!("{what} blocked"),
            (false, true, _) => format!("{what} not reported"),
            (false, false, true) => format!("{what} not blocked"),
            (false, false, false) => format!("{what} not blocked by what was read"),
        });
    }
    found.extend(holds(layers.all.iter().map(|layer| &layer.hold)));
    parts.push(found.join(", "));
    parts.extend(layers.unread.iter().map(|unread| unread.detail.clone()));
    parts.join("; ")
}

/// Whom the systems apply to, as text.
pub(super) fn holds<'a>(holds: impl Iterator<Item = &'a Hold>) -> impl Iterator<Item = String> {
    holds.map(|hold| hold.words().to_string()).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::facts::Unread;
    use super::super::rule::{BRANCH_MISSING, DEFAULT_BRANCH_DIFFERS};
    use super::*;
    use crate::codehost::reason::PLAN_LIMIT;
    use crate::rule::reason as shared;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn classic(history: Value, admins: Value) -> BranchFacts {
        BranchFacts {
            classic: Classic::Shown(read(json!({"url": "u", "enforce_admins": {"enabled": admins}}))),
            rules: Rules::NotAsked,
            history: Some(read(history)),
            ..BranchFacts::unprotected("main")
        }
    }

    fn ruled(facts: BranchFacts, kinds: &[&str], actors: Option<Value>) -> BranchFacts {
        let rule = |kind: &&str| {
            read(json!({"type": kind, "ruleset_id": 7, "ruleset_source_type": "Organization",
                "ruleset_source": "acme"}))
        };
        let ruleset = actors.map(|actors| (7, Ok(read(json!({"id": 7, "bypass_actors": actors})))));
        BranchFacts {
            rules: Rules::Shown(kinds.iter().map(rule).collect()),
            rulesets: ruleset.into_iter().collect(),
            ..facts
        }
    }

    fn unread(reason: &'static Reason) -> Unread {
        Unread { reason, detail: "not read".to_string(), refused: *reason != shared::HOST_ERROR }
    }

    fn reason_of(facts: &BranchFacts) -> &'static str {
        judge(facts).map_or("none", |verdict| verdict.reason.code)
    }

    /// Every form of both fields of the classic rule, with every form of its switch for administrators.
    #[test]
    fn every_classic_rule() {
        let (blocked, allowed) = (json!({"enabled": false}), json!({"enabled": true}));
        let forms = [
            (blocked, "b"),
            (allowed, "a"),
            (json!({"enabled": null}), "h"),
            (json!({}), "h"),
            (Value::Null, "h"),
        ];
        for (pushes, pushed) in &forms {
            for (deletions, deleted) in &forms {
                for (admins, held) in
                    [(json!(true), "ok"), (json!(false), "admins_not_enforced"), (Value::Null, "no_evidence")]
                {
                    let facts =
                        classic(json!({"allow_force_pushes": pushes, "allow_deletions": deletions}), admins);
                    let expected = match (*pushed, *deleted) {
                        ("a", _) | (_, "a") => "history_unprotected",
                        // Whoever may bypass the rule may do so whatever it says.
                        _ if held == "admins_not_enforced" => held,
                        ("h", _) => "allow_force_pushes_not_visible",
                        (_, "h") => "allow_deletions_not_visible",
                        _ => held,
                    };
                    assert_eq!(reason_of(&facts), expected, "{facts:?}");
                }
            }
        }
        assert_eq!(reason_of(&classic(json!({}), json!(true))), "allow_force_pushes_not_visible");
    }

    /// Rulesets add to the classic rule or stand for it; those of the organization too (prowler#11723).
    #[test]
    fn every_ruleset() {
        let bare = || BranchFacts::unprotected("main");
        let open = || {
            classic(
                json!({"allow_force_pushes": {"enabled": true}, "allow_deletions": {"enabled": false}}),
                json!(true),
            )
        };
        let both = ["non_fast_forward", "deletion"];
        let nobody = || Some(json!([]));
        let administrators = || Some(json!([{"actor_type": "RepositoryRole", "actor_id": 5}]));
        for (facts, expected) in [
            (ruled(bare(), &both, nobody()), "ok"),
            (ruled(bare(), &both, administrators()), "admins_not_enforced"),
            (ruled(bare(), &both, None), "bypass_not_visible"),
            (ruled(bare(), &both, Some(Value::Null)), "bypass_not_visible"),
            (ruled(bare(), &both[..1], nobody()), "history_unprotected"),
            (ruled(bare(), &both[1..], nobody()), "history_unprotected"),
            (ruled(bare(), &["pull_request"], nobody()), "history_unprotected"),
            (ruled(bare(), &[], None), "history_unprotected"),
            // The classic rule gives one of the two, the ruleset the other.
            (ruled(open(), &both[..1], nobody()), "ok"),
            (ruled(open(), &both[..1], administrators()), "admins_not_enforced"),
            (ruled(open(), &both[1..], nobody()), "history_unprotected"),
        ] {
            assert_eq!(reason_of(&facts), expected, "{facts:?}");
        }
        // Each of the two that is asked about can still change the verdict.
        assert_eq!(next_ruleset(&ruled(bare(), &both, None)), Some(7));
        assert_eq!(next_ruleset(&ruled(bare(), &both[..1], None)), None);
        assert_eq!(next_ruleset(&ruled(bare(), &both, nobody())), None);
    }

    #[test]
    fn what_was_not_read_passes_and_fails_nothing() {
        let hidden = |reason| BranchFacts {
            classic: Classic::Unread(unread(reason)),
            ..BranchFacts::unprotected("main")
        };
        let both = ["non_fast_forward", "deletion"];
        for (facts, expected) in [
            (hidden(&shared::PERMISSION_DENIED), "permission_denied"),
            (hidden(&shared::HOST_ERROR), "host_error"),
            (hidden(&shared::NOT_FOUND), "not_found"),
            (ruled(hidden(&shared::PERMISSION_DENIED), &both, Some(json!([]))), "ok"),
            (ruled(hidden(&shared::PERMISSION_DENIED), &both[..1], Some(json!([]))), "permission_denied"),
            (hidden(&PLAN_LIMIT), "plan_limit"),
            (
                BranchFacts { rules: Rules::Unread(unread(&PLAN_LIMIT)), ..hidden(&PLAN_LIMIT) },
                "history_unprotected",
            ),
            (
                BranchFacts {
                    rules: Rules::Unread(unread(&shared::HOST_ERROR)),
                    ..BranchFacts::unprotected("main")
                },
                "host_error",
            ),
            (BranchFacts { classic: Classic::Empty, ..BranchFacts::unprotected("main") }, "empty_repository"),
            (
                BranchFacts {
                    classic: Classic::NoBranch("none".to_string()),
                    ..BranchFacts::unprotected("main")
                },
                BRANCH_MISSING.code,
            ),
            (
                BranchFacts { other_default: Some("trunk".to_string()), ..BranchFacts::unprotected("main") },
                DEFAULT_BRANCH_DIFFERS.code,
            ),
            // The host's record of the branch says that there is no classic rule.
            (
                BranchFacts {
                    state: Some(read(json!({"name": "main", "protected": false}))),
                    ..hidden(&shared::PERMISSION_DENIED)
                },
                "history_unprotected",
            ),
        ] {
            assert_eq!(reason_of(&facts), expected, "{facts:?}");
        }
        let kept = classic(json!({}), json!(true));
        assert!(judge(&BranchFacts { history: None, ..kept }).is_none(), "nothing was kept to judge");
    }
}
