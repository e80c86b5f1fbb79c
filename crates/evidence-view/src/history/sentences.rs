//! The sentences about a period that text and pages share. What is not covered comes first.

use evidence_bundle::Status;
use evidence_bundle::document::Cadence;
use evidence_text::saturating_u64;

use super::exceptions::span;
use super::model::{Ended, Exception, History, RuleDay};
use crate::words::{counted, counted_as, grouped};

/// What can change, with its name in a sentence.
const KINDS: [(&str, &str); 4] = [
    ("tool", "the tool"),
    ("rules", "the rules"),
    ("configuration", "the configuration"),
    ("key", "the key"),
];

impl History {
    /// What is not covered: intervals without a complete bundle, the longest gap, and what else limits the period.
    pub fn not_covered(&self) -> Vec<String> {
        let coverage = &self.coverage;
        let mut lines = Vec::new();
        if coverage.missing > 0 {
            let verb = if coverage.missing == 1 { "has" } else { "have" };
            lines.push(format!("{} {verb} no bundle", self.intervals(coverage.missing)));
        }
        if coverage.incomplete > 0 {
            let verb = if coverage.incomplete == 1 { "has" } else { "have" };
            lines.push(format!("{} {verb} only incomplete bundles", self.intervals(coverage.incomplete)));
        }
        let gap = &self.longest_gap;
        lines.push(format!(
            "the longest time without a new bundle: {}, from {} to {}",
            span(gap.seconds),
            gap.after,
            gap.before
        ));
        if !self.not_used.is_empty() {
            lines.push(format!(
                "{} not used",
                counted_as(saturating_u64(self.not_used.len()), "file was", "files were")
            ));
        }
        let back_dated = self.inputs.iter().filter(|input| input.back_dated).count();
        if back_dated > 0 {
            let bundles = counted_as(saturating_u64(back_dated), "bundle follows", "bundles follow");
            lines.push(format!("{bundles} a newer one: back-dated, covers no day"));
        }
        let fixed = self.inputs.iter().filter(|input| input.fixed_time).count();
        if fixed > 0 {
            let bundles = counted_as(saturating_u64(fixed), "bundle has", "bundles have");
            lines.push(format!("{bundles} a fixed time and not that of a clock"));
        }
        lines
    }

    /// What is covered.
    pub fn covered(&self) -> String {
        let coverage = &self.coverage;
        let counted = match self.cadence {
            Some(cadence) => format!("expected {}", cadence.words()),
            None => "no cadence is configured, so days are counted".to_owned(),
        };
        let have = if coverage.complete == 1 { "has" } else { "have" };
        format!(
            "{} of {} {have} a complete bundle; {counted}",
            grouped(saturating_u64(coverage.complete)),
            self.intervals(coverage.expected)
        )
    }

    /// A number of the intervals in which bundles are expected.
    pub fn intervals(&self, count: usize) -> String {
        match self.cadence {
            None | Some(Cadence::Daily) => counted(saturating_u64(count), "day"),
            Some(Cadence::Weekly) => counted(saturating_u64(count), "week"),
            Some(Cadence::Hours(hours)) => {
                let noun = if hours == 1 { "hour".to_owned() } else { format!("interval of {hours} hours") };
                let nouns =
                    if hours == 1 { "hours".to_owned() } else { format!("intervals of {hours} hours") };
                counted_as(saturating_u64(count), &noun, &nouns)
            }
        }
    }

    /// The failures in numbers.
    pub fn failures(&self) -> String {
        if self.exceptions.is_empty() {
            return "no failing check was observed".to_owned();
        }
        let ended = |ended: Ended| self.exceptions.iter().filter(|one| one.ended == ended).count();
        let parts = [
            Ended::Open,
            Ended::Repaired,
            Ended::Excluded,
            Ended::Archived,
            Ended::Deleted,
            Ended::OutOfSight,
        ];
        let parts = parts.into_iter().filter_map(|one| match ended(one) {
            0 => None,
            count => Some(format!("{} {}", grouped(saturating_u64(count)), one.words())),
        });
        let all = counted(saturating_u64(self.exceptions.len()), "failure");
        format!("{all}: {}", parts.collect::<Vec<_>>().join(", "))
    }

    /// On how many days a check failed. `None` without a failure.
    pub fn failing_days(&self) -> Option<String> {
        let days = |is_meant: fn(&RuleDay) -> bool| {
            let all = (0..self.dates().len())
                .filter(|day| self.rules.iter().any(|rule| rule.days.get(*day).is_some_and(is_meant)));
            saturating_u64(all.count())
        };
        let failing = days(|day| day.result == Some(Status::Fail));
        let seen = counted(days(|day| day.bundles > 0), "day");
        let verb = if failing == 1 { "has" } else { "have" };
        (failing > 0).then(|| format!("{} of {seen} with a bundle {verb} a failure", grouped(failing)))
    }

    /// The intervals between the first and the last fail in which a check was not seen to fail. `None` without one.
    pub fn unseen(&self, exception: &Exception) -> Option<String> {
        let unseen = exception.unseen;
        (unseen > 0).then(|| format!("not seen in {} of that time", self.intervals(unseen)))
    }

    /// How long the repaired failures lasted. `None` without a failure.
    pub fn repaired(&self) -> Option<String> {
        let all = self.exceptions.len();
        let mut repaired: Vec<_> =
            self.exceptions.iter().filter(|exception| exception.ended == Ended::Repaired).collect();
        repaired.sort_by_key(|exception| exception.duration());
        let of = counted(saturating_u64(all), "failure");
        Some(match repaired.as_slice() {
            _ if all == 0 => return None,
            [] => format!("none of {of} was repaired in the period"),
            [one] => format!("1 of {of} was repaired; it lasted {}", one.duration_words()),
            [shortest, .., longest] => format!(
                "{} of {of} were repaired; the shortest lasted {}, the longest {}",
                grouped(saturating_u64(repaired.len())),
                shortest.duration_words(),
                longest.duration_words()
            ),
        })
    }

    /// Whether tool, rules, configuration and key stayed the same.
    pub fn same(&self) -> String {
        let count = |kind: &str| self.changes.iter().filter(|change| change.change == kind).count();
        let (same, changed): (Vec<_>, Vec<_>) = KINDS.iter().partition(|(kind, _)| count(kind) == 0);
        let same = list(&same.iter().map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>());
        let changed = changed.iter().map(|(kind, name)| match count(kind) {
            1 => format!("{name} once"),
            count => format!("{name} {} times", grouped(saturating_u64(count))),
        });
        let changed = list(&changed.collect::<Vec<_>>());
        let text = match (same.is_empty(), changed.is_empty()) {
            (false, true) => format!("{same} stayed the same through the period"),
            (true, _) => format!("changed: {changed}"),
            (false, false) => format!("{same} stayed the same through the period; changed: {changed}"),
        };
        let mut letters = text.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
    }

    /// What the period cannot say.
    pub const LIMITS: &'static str = "Each bundle shows the state when it was collected, not between two bundles. Bundles outside \
         the period are not looked at, so a failure in the first bundle is open at the start. Times are those that the \
         signers claim.";
}

fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
