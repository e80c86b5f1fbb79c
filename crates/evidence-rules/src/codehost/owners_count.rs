//! Few people can change everything, and more than one.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;
use evidence_text::{counted, saturating_u64};

use super::people::{People, Role};
use crate::rule::setting::Setting;
use crate::rule::{Judge, Reason, Rule, Settings, Verdict};

/// Few people can change everything, and more than one.
pub static OWNERS_COUNT: Rule = Rule {
    code: "owners-count",
    title: "Number of owners",
    version: 1,
    kind: "organization",
    expected: "the organization has {minimum} to {maximum} owners",
    reads: "the list of owners, and the host's own count of members",
    not_checked: "who the owners are and whether they need the role; people who administer single repositories; apps that may do the \
                  same; owners of an enterprise",
    permission: "Use a token whose user is an organization owner and, for a fine-grained token, give it read access to `Members`.",
    improvement: None,
    settings: &[&MINIMUM, &MAXIMUM],
    hints: &[],
    reasons: &[&OWNERS_TOO_FEW, &OWNERS_TOO_MANY],
};

/// The smallest number of owners. Its limits and those of the largest number do not overlap.
pub static MINIMUM: Setting =
    Setting { rule: "owners-count", name: "minimum", default: 2, minimum: 1, maximum: 3, recommended: None };

/// The largest number of owners.
pub static MAXIMUM: Setting = Setting {
    rule: "owners-count",
    name: "maximum",
    default: 5,
    minimum: 3,
    maximum: 100,
    recommended: None,
};

/// Too few owners: nobody can stand in for another one.
pub static OWNERS_TOO_FEW: Reason = Reason::new("owners_too_few", "Too few owners").advice(
    Medium,
    Misconfigured,
    "Make another person an owner, so that the organization has at least {minimum}.",
);

/// Too many owners.
pub static OWNERS_TOO_MANY: Reason = Reason::new("owners_too_many", "Too many owners").advice(
    Medium,
    Misconfigured,
    "Make owners who do not need the role members, so that at most {maximum} are left.",
);

/// The judgement.
pub static JUDGE: Judge<People> =
    Judge { rule: &OWNERS_COUNT, judge: |people, settings| Some(judge(people, settings)) };

fn judge(people: &People, settings: &Settings) -> Verdict {
    let owners = saturating_u64(people.with(Role::Owner).count());
    let actual = counted(owners, "owner", "owners");
    // Those who were not listed can only make them more.
    if owners > settings.get(&MAXIMUM) {
        return Verdict::fail(&OWNERS_TOO_MANY, actual);
    }
    if let Some(gap) = people.gap() {
        return gap;
    }
    if owners < settings.get(&MINIMUM) {
        return Verdict::fail(&OWNERS_TOO_FEW, actual);
    }
    Verdict::pass(actual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codehost::people::Person;
    use crate::field::Field;

    #[test]
    fn the_whole_domain() {
        let people = |owners: u64, total: Option<u64>, seen| People {
            people: (0..owners)
                .map(|id| Person {
                    id,
                    login: format!("o{id}"),
                    role: Role::Owner,
                    two_factor: Field::Absent,
                })
                .collect(),
            members_total: total.map_or(Field::Absent, Field::Value),
            seen_by_owner: seen,
            outside_collaborators_shown: true,
        };
        let mut stricter = Settings::default();
        stricter.set(&MINIMUM, 3);
        stricter.set(&MAXIMUM, 4);
        for (settings, least, most) in [(Settings::default(), 2, 5), (stricter, 3, 4)] {
            for owners in 0..8 {
                for (total, seen) in
                    [(Some(owners), true), (Some(owners + 1), true), (None, true), (Some(owners), false)]
                {
                    let expected = match (total == Some(owners), seen) {
                        _ if owners > most => "owners_too_many",
                        (_, false) => "members_not_visible",
                        (false, _) => "population_incomplete",
                        _ if owners < least => "owners_too_few",
                        _ => "ok",
                    };
                    assert_eq!(
                        judge(&people(owners, total, seen), &settings).reason.code,
                        expected,
                        "{owners} {total:?}"
                    );
                }
            }
        }
    }
}
