//! What changed since the previous bundle, in a few lines.

use evidence_text::saturating_u64;

use crate::difference::{CheckDifference, Class, Difference};
use crate::sanitize::sanitized;
use crate::words::{self, counted, grouped};

/// How many new failures are named.
const NAMED: usize = 3;

/// What changed since the previous bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// What would make the other lines misleading, if anything: they come first.
    pub cautions: Vec<String>,
    /// How many checks are new failures: a regression, or a first failure.
    pub new: u64,
    /// How many failed and pass.
    pub repaired: u64,
    /// The other changes, which are neither, each as a text.
    pub apart: Vec<String>,
    /// The first new failures, fit to print.
    pub named: Vec<String>,
}

impl Since {
    /// The lines about this difference.
    pub fn of(difference: &Difference<'_>) -> Since {
        let all = |class| difference.checks.iter().filter(move |check| check.class == class);
        let count = |class| saturating_u64(all(class).count());
        let failing = |class| saturating_u64(all(class).filter(|check| check.failing()).count());
        let failures = || difference.checks.iter().filter(|check| is_new(check));
        let (new, repaired) = (saturating_u64(failures().count()), count(Class::Repaired));
        let caution = |(class, plural, singular): (Class, &str, &str)| {
            let failing = failing(class);
            let words = if failing == 1 { singular } else { plural };
            (failing > new.saturating_add(repaired))
                .then(|| format!("{} {words}", counted(failing, "failing check")))
        };
        let apart = |(class, word): (Class, &str)| {
            let (count, failing) = (count(class), failing(class));
            let failing = match (class, failing) {
                (_, 0) => String::new(),
                (_, all) if all == count => " (failing)".to_owned(),
                (_, some) => format!(" ({} failing)", grouped(some)),
            };
            (count > 0).then(|| format!("{} {word}{failing}", grouped(count)))
        };
        Since {
            cautions: [
                (Class::LeftScope, "left the scope", "left the scope"),
                (Class::LostSight, "can no longer be verified", "can no longer be verified"),
                (Class::Gone, "are gone", "is gone"),
            ]
            .into_iter()
            .filter_map(caution)
            .collect(),
            new,
            repaired,
            apart: [
                (Class::LeftScope, "left the scope"),
                (Class::EnteredScope, "came into the scope"),
                (Class::LostSight, "no longer verifiable"),
                (Class::SeenAgain, "verifiable again"),
                (Class::Gone, "gone"),
                (Class::Added, "added"),
                (Class::NoLongerApplies, "no longer applicable"),
                (Class::Applies, "applicable now"),
            ]
            .into_iter()
            .filter_map(apart)
            .collect(),
            named: failures().take(NAMED).filter_map(name).collect(),
        }
    }

    /// The counts, such as `3 new, 2 repaired; 1 gone`.
    pub fn counts(&self) -> String {
        if self.new == 0 && self.repaired == 0 && self.apart.is_empty() {
            return "no change".to_owned();
        }
        let mut text = format!("{} new, {} repaired", grouped(self.new), grouped(self.repaired));
        if !self.apart.is_empty() {
            text.push_str(&format!("; {}", self.apart.join(", ")));
        }
        text
    }
}

/// Whether it is a new failure.
fn is_new(check: &CheckDifference<'_>) -> bool {
    matches!(check.class, Class::Regression | Class::FirstFailure)
}

fn name(check: &CheckDifference<'_>) -> Option<String> {
    check
        .to
        .map(|check| format!("{}: {}", sanitized(&check.subject), sanitized(&words::reason(&check.reason))))
}

#[cfg(test)]
mod tests {
    use evidence_bundle::Status;

    use super::*;
    use crate::difference::CheckState;

    fn state(subject: &str, status: Status) -> CheckState {
        let (source, rule) = ("codehost".into(), "branch-protection".into());
        CheckState { source, rule, subject: subject.into(), status, reason: "branch_unprotected".into() }
    }

    #[test]
    fn what_left_is_said_first_and_never_counts_as_repaired() {
        let (fail, pass) = (state("acme/w\u{202e}", Status::Fail), state("acme/api", Status::Pass));
        let of = |rows: &[(Class, Option<&CheckState>, Option<&CheckState>, usize)]| {
            let rows = rows.iter().map(|(class, from, to, count)| {
                (CheckDifference { class: *class, from: *from, to: *to }, *count)
            });
            let checks = rows.flat_map(|(row, count)| std::iter::repeat_n(row, count)).collect();
            Since::of(&Difference { checks, unchanged: 9 })
        };
        assert_eq!(of(&[]).counts(), "no change");
        assert_eq!(of(&[(Class::OtherReason, Some(&fail), Some(&fail), 2)]).counts(), "no change");
        let since = of(&[
            (Class::LeftScope, Some(&fail), None, 1_999),
            (Class::LeftScope, Some(&pass), None, 1),
            (Class::Repaired, Some(&fail), Some(&pass), 2),
            (Class::Regression, Some(&pass), Some(&fail), 2),
            (Class::FirstFailure, None, Some(&fail), 2),
            (Class::Gone, Some(&fail), None, 1),
            (Class::LostSight, Some(&pass), None, 1),
        ]);
        assert_eq!(since.cautions, ["1,999 failing checks left the scope"]);
        assert_eq!(
            since.counts(),
            "4 new, 2 repaired; 2,000 left the scope (1,999 failing), 1 no longer verifiable, 1 gone (failing)"
        );
        assert_eq!(since.named, ["acme/w\\u{202e}: Branch not protected"; NAMED]);
        let gone = of(&[(Class::Gone, Some(&fail), None, 1)]);
        assert_eq!((gone.cautions, gone.repaired), (vec!["1 failing check is gone".to_owned()], 0));
    }
}
