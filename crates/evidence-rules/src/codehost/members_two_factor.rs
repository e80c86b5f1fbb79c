//! Every member of the organization has a second factor.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::High;
use evidence_text::{counted, saturating_u64};

use super::people::{MEMBERS_NOT_VISIBLE, People, Role};
use super::two_factor::TWO_FACTOR_NOT_VISIBLE;
use crate::rule::{Judge, Reason, Rule, Status, Verdict};
use crate::several::{One, Several, Words};

/// Every member of the organization has a second factor.
pub static MEMBERS_TWO_FACTOR: Rule = Rule {
    code: "members-two-factor",
    title: "Second factor of members",
    version: 1,
    kind: "organization",
    expected: "every member of the organization has a second factor",
    reads: "the lists of owners, members and outside collaborators, those of the accounts without two-factor authentication, and \
            the host's own count of members",
    not_checked: "the kind of factor; outside collaborators, whom `actual` counts; accounts of an identity provider, which has its \
                  own second factor; keys and tokens, which need none",
    permission: "Use a token whose user is an organization owner and, for a fine-grained token, give it read access to `Members`.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&MEMBER_WITHOUT_TWO_FACTOR, &MEMBERS_NOT_VISIBLE],
};

/// A member has no second factor.
pub static MEMBER_WITHOUT_TWO_FACTOR: Reason =
    Reason::new("member_without_two_factor", "Member without a second factor").advice(
        High,
        Misconfigured,
        "Ask these members to enable two-factor authentication, or require it for everyone in the organization's settings, under \
         Authentication security.",
    );

/// The judgement.
pub static JUDGE: Judge<People> = Judge { rule: &MEMBERS_TWO_FACTOR, judge: |people, _| Some(judge(people)) };

static WORDS: Words = Words {
    fails: &MEMBER_WITHOUT_TWO_FACTOR,
    failed: "members have no second factor",
    open: "members whose second factor is not visible",
    good: "members have a second factor",
    none: "no member",
};

fn judge(people: &People) -> Verdict {
    let mut several = Several::default();
    for person in people.members() {
        several.add(
            &person.login,
            match person.two_factor.value() {
                Some(true) => One::Good,
                Some(false) => One::Failed,
                None => One::Open(&TWO_FACTOR_NOT_VISIBLE),
            },
        );
    }
    let mut verdict = several.judge(&WORDS);
    if verdict.status != Status::Fail
        && let Some(gap) = people.gap()
    {
        verdict = gap;
    }
    let actual = verdict.actual.unwrap_or_default();
    Verdict { actual: Some(format!("{actual}{}", outsiders(people))), ..verdict }
}

/// What is known of the outside collaborators, who do not count.
fn outsiders(people: &People) -> String {
    if !people.outside_collaborators_shown {
        return "; the outside collaborators are not visible".to_string();
    }
    let count = saturating_u64(people.with(Role::OutsideCollaborator).count());
    let without = |has: Option<bool>| {
        saturating_u64(
            people
                .with(Role::OutsideCollaborator)
                .filter(|one| one.two_factor.value().copied() == has)
                .count(),
        )
    };
    let all = counted(count, "outside collaborator", "outside collaborators");
    match (count, without(Some(false)), without(None)) {
        (0, ..) => "; no outside collaborator".to_string(),
        (_, 0, 0) => format!("; {all} with a second factor"),
        (_, 0, hidden) => format!("; {all}, of which the second factor of {hidden} is not visible"),
        (_, without, _) => format!("; {all}, {without} without a second factor"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codehost::people::Person;
    use crate::field::Field;

    fn person(role: Role, two_factor: Option<bool>) -> Person {
        let two_factor = two_factor.map_or(Field::Absent, Field::Value);
        Person { id: 1, login: format!("{role:?}-{two_factor:?}"), role, two_factor }
    }

    /// Every state of one owner, one member and one outsider, in every state of the list.
    #[test]
    fn the_whole_domain() {
        let states = [Some(true), Some(false), None];
        for owner in states {
            for member in states {
                for outsider in states {
                    for (total, seen) in
                        [(Some(2), true), (Some(3), true), (Some(1), true), (None, true), (Some(2), false)]
                    {
                        let people = People {
                            people: vec![
                                person(Role::Owner, owner),
                                person(Role::Member, member),
                                person(Role::OutsideCollaborator, outsider),
                            ],
                            members_total: total.map_or(Field::Absent, Field::Value),
                            seen_by_owner: seen,
                            outside_collaborators_shown: true,
                        };
                        let expected = match (owner, member, total, seen) {
                            (Some(false), ..) | (_, Some(false), ..) => "member_without_two_factor",
                            (.., false) => "members_not_visible",
                            (_, _, Some(1 | 3) | None, _) => "population_incomplete",
                            (None, ..) | (_, None, ..) => "two_factor_not_visible",
                            _ => "ok",
                        };
                        let verdict = judge(&people);
                        assert_eq!(verdict.reason.code, expected, "{people:?}");
                        let actual = verdict.actual.unwrap();
                        let words = match outsider {
                            Some(true) => "; 1 outside collaborator with a second factor",
                            Some(false) => "; 1 outside collaborator, 1 without a second factor",
                            None => {
                                "; 1 outside collaborator, of which the second factor of 1 is not visible"
                            }
                        };
                        assert!(actual.ends_with(words), "{actual}");
                        // It survives its artifact.
                        let again = serde_json::from_str(&serde_json::to_string(&people).unwrap()).unwrap();
                        assert_eq!(people, again);
                    }
                }
            }
        }
        // An empty list from someone who is no owner proves nothing (comp PR#2521).
        let nothing = judge(&People { members_total: Field::Value(0), ..People::default() });
        assert_eq!(nothing.reason.code, "members_not_visible");
        assert!(nothing.actual.unwrap().ends_with("; the outside collaborators are not visible"));
    }
}
