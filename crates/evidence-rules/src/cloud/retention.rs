//! Log groups keep their events long enough.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;

use crate::cloud::record::{LogGroup, RegionLogGroups};
use crate::field::Field;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Recommendation, Rule, Verdict, reason};
use evidence_text::saturating_u64;
use evidence_text::single_line;
use evidence_text::{counted, saturating_i64};

/// Logs are kept long enough.
pub static LOG_RETENTION: Rule = Rule {
    code: "log-retention",
    title: "Log retention",
    version: 1,
    kind: "region",
    expected: "every log group in scope keeps its events for at least {minimum_days} days, or forever",
    reads: "the retention of every log group in scope, in every configured region",
    not_checked: "the contents of log groups; regions that are not configured",
    permission: "Allow `logs:DescribeLogGroups` to the user or role that collects.",
    improvement: Some(Recommendation::new(
        "Log groups that keep their events for less than a year",
        "Set the retention of the log groups to 365 days or more, or let them never expire.",
    )),
    settings: &[&MINIMUM_DAYS],
    hints: &[],
    reasons: &[&LOG_RETENTION_TOO_SHORT, &NO_LOG_GROUPS],
};

/// A log group keeps its events for less than the minimum.
pub static LOG_RETENTION_TOO_SHORT: Reason = Reason::new("log_retention_too_short", "Log retention too short").advice(Medium, Misconfigured, "Set the retention of the log groups that this result names to at least {minimum_days} days{minimum_days recommended}; \
                      or, if they hold no evidence, list only the others in `log_groups`. The retention of a group \
                      of class DELIVERY cannot be set: show instead how long the place that it delivers to keeps \
                      events.");

/// The region has no log group in scope.
pub static NO_LOG_GROUPS: Reason = Reason::new("no_log_groups", "No log groups in scope");

/// The minimum retention to pass, in days. The provider's longest is ten years.
pub static MINIMUM_DAYS: Setting = Setting {
    rule: "log-retention",
    name: "minimum_days",
    default: 90,
    minimum: 90,
    maximum: 3653,
    recommended: Some(365),
};

/// The judgement.
pub static JUDGE: Judge<RegionLogGroups> = Judge {
    rule: &LOG_RETENTION,
    judge: |region, settings| Some(Retention::of(&region.log_groups, settings).judge()),
};

/// The maximum retention of a group of class DELIVERY, in days: the provider sets it and does not allow changes.
const DELIVERY_DAYS: i64 = 2;
/// The maximum number of log groups named in a sentence.
const NAMED: usize = 3;

/// A summary of the log groups in scope of one region. It keeps counts and a few names, because there may be a hundred
/// thousand groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// The minimum, in days.
    minimum: i64,
    /// The recommendation, in days.
    recommended: i64,
    groups: u64,
    /// Groups below the minimum.
    short: u64,
    /// Groups below the recommendation, including those below the minimum.
    improvable: u64,
    /// Groups whose retention is not reported.
    untold: u64,
    /// The shortest retention in days.
    shortest: Option<i64>,
    /// The first groups below the minimum, with their retention.
    named: Vec<(String, String)>,
}

/// How a class of log groups keeps its events.
#[derive(Clone, Copy)]
enum Class {
    /// According to its retention; without one, forever.
    Kept,
    /// For a day or two, whatever its retention: events only pass through on their way to another destination.
    Delivery,
    /// Not documented by the provider, so the meaning of a missing retention is unknown.
    Unknown,
}

impl Class {
    fn of(class: &Field<String>) -> Class {
        match class {
            Field::Absent => Class::Kept,
            Field::Null => Class::Unknown,
            Field::Value(class) => match class.as_str() {
                "STANDARD" | "INFREQUENT_ACCESS" => Class::Kept,
                "DELIVERY" => Class::Delivery,
                _ => Class::Unknown,
            },
        }
    }
}

impl Retention {
    /// Counts the groups of a region.
    ///
    /// A group without the field keeps its events forever: the provider documents this, unless the group's class says
    /// otherwise. The provider never sends `null`, zero or negative numbers, so their meaning is unknown.
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a LogGroup>, settings: &Settings) -> Retention {
        let limit = |days| saturating_i64(days);
        let mut facts = Retention {
            minimum: limit(settings.get(&MINIMUM_DAYS)),
            recommended: limit(settings.recommended(&MINIMUM_DAYS)),
            groups: 0,
            short: 0,
            improvable: 0,
            untold: 0,
            shortest: None,
            named: Vec::new(),
        };
        for group in groups {
            facts.groups += 1;
            match (Class::of(&group.log_group_class), &group.retention_in_days) {
                (Class::Delivery, days) => {
                    let days = days.value().copied().filter(|days| (1..=DELIVERY_DAYS).contains(days));
                    facts.add(group, days.unwrap_or(DELIVERY_DAYS), ", class DELIVERY");
                }
                (Class::Kept, Field::Absent) => {}
                (Class::Kept | Class::Unknown, Field::Value(days)) if *days > 0 => {
                    facts.add(group, *days, "")
                }
                (Class::Kept | Class::Unknown, Field::Absent | Field::Null | Field::Value(_)) => {
                    facts.untold += 1
                }
            }
        }
        facts
    }

    /// Adds a group that keeps its events for `days`; `how` adds details.
    fn add(&mut self, group: &LogGroup, days: i64, how: &str) {
        self.shortest = Some(self.shortest.map_or(days, |shortest| shortest.min(days)));
        self.improvable += u64::from(days < self.recommended);
        if days < self.minimum {
            self.short += 1;
            if self.named.len() < NAMED {
                let kept = format!("{}{how}", days_in_words(days));
                self.named.push((single_line(&group.log_group_name), kept));
            }
        }
    }

    /// Passes if every log group keeps its events long enough.
    pub fn judge(&self) -> Verdict {
        let all = counted(self.groups, "log group", "log groups");
        if self.groups == 0 {
            return Verdict::not_applicable(&NO_LOG_GROUPS, "no log group in scope");
        }
        if self.short > 0 {
            let mut names: Vec<String> =
                self.named.iter().map(|(name, kept)| format!("{name} ({kept})")).collect();
            let more = self.short.saturating_sub(saturating_u64(names.len()));
            if more > 0 {
                names.push(format!("and {more} more"));
            }
            let actual = format!(
                "{} of {all} below {} days: {}",
                evidence_text::thousands(self.short),
                self.minimum,
                names.join(", ")
            );
            return Verdict::fail(&LOG_RETENTION_TOO_SHORT, actual);
        }
        if self.untold > 0 {
            let actual = format!("the provider does not report the retention of {} of {all}", self.untold);
            return Verdict::unknown(&reason::NO_EVIDENCE, actual);
        }
        let verdict = Verdict::pass(match self.shortest {
            Some(days) => format!("{all}, the shortest retention is {}", days_in_words(days)),
            None => format!("{all}, kept forever"),
        });
        Verdict { improvable: self.improvable > 0, ..verdict }
    }
}

fn days_in_words(days: i64) -> String {
    if days == 1 { "1 day".to_string() } else { format!("{days} days") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    fn group(name: &str, retention_in_days: Field<i64>) -> LogGroup {
        classed(name, retention_in_days, Field::Absent)
    }

    fn classed(name: &str, retention_in_days: Field<i64>, log_group_class: Field<String>) -> LogGroup {
        LogGroup { log_group_name: name.to_string(), arn: Field::Absent, retention_in_days, log_group_class }
    }

    /// Every set of up to three groups in every form, compared with the criteria written as a formula.
    #[test]
    fn the_whole_domain() {
        let forms = [
            Field::Absent,
            Field::Null,
            Field::Value(i64::MIN),
            Field::Value(-1),
            Field::Value(0),
            Field::Value(1),
            Field::Value(89),
            Field::Value(90),
            Field::Value(364),
            Field::Value(365),
            Field::Value(i64::MAX),
        ];
        let mut sets: Vec<Vec<Field<i64>>> = vec![Vec::new()];
        for size in 0..3 {
            let longer: Vec<_> = sets
                .iter()
                .filter(|set| set.len() == size)
                .flat_map(|set| {
                    forms.iter().map(|form| [set.as_slice(), std::slice::from_ref(form)].concat())
                })
                .collect();
            sets.extend(longer);
        }
        assert_eq!(sets.len(), 1 + 11 + 121 + 1331);
        for set in sets {
            let groups: Vec<LogGroup> = set.iter().map(|days| group("/a", days.clone())).collect();
            let days = |test: &dyn Fn(i64) -> bool| set.iter().any(|d| d.value().is_some_and(|d| test(*d)));
            let untold = set.contains(&Field::Null) || days(&|days| days <= 0);
            let expected = if set.is_empty() {
                (Status::NotApplicable, "no_log_groups")
            } else if days(&|days| (1..90).contains(&days)) {
                (Status::Fail, "log_retention_too_short")
            } else if untold {
                (Status::NotVerifiable, "no_evidence")
            } else {
                (Status::Pass, "ok")
            };
            let verdict = Retention::of(&groups, &Settings::default()).judge();
            assert_eq!((verdict.status, verdict.reason.code), expected, "{set:?}");
            let improvable = expected.0 == Status::Pass && days(&|days| days < 365);
            assert_eq!(verdict.improvable, improvable, "{set:?}");
        }
    }

    /// Every class with every form of retention.
    #[test]
    fn every_class() {
        let class = |class: &str| Field::Value(class.to_string());
        let days = [Field::Absent, Field::Null, Field::Value(0), Field::Value(2), Field::Value(400)];
        let (pass, short, unknown) = ("ok", "log_retention_too_short", "no_evidence");
        // (class, the reason for each retention)
        let table = [
            (Field::Absent, [pass, unknown, unknown, short, pass]),
            (class("STANDARD"), [pass, unknown, unknown, short, pass]),
            (class("INFREQUENT_ACCESS"), [pass, unknown, unknown, short, pass]),
            (class("DELIVERY"), [short; 5]),
            (Field::Null, [unknown, unknown, unknown, short, pass]),
            (class("delivery"), [unknown, unknown, unknown, short, pass]),
            (class("ANOTHER"), [unknown, unknown, unknown, short, pass]),
        ];
        for (class, reasons) in table {
            for (days, reason) in days.iter().zip(reasons) {
                let group = classed("/a", days.clone(), class.clone());
                assert_eq!(
                    Retention::of([&group], &Settings::default()).judge().reason.code,
                    reason,
                    "{group:?}"
                );
            }
        }
        let delivery = classed("/a", Field::Absent, class("DELIVERY"));
        let actual = Retention::of([&delivery], &Settings::default()).judge().actual.unwrap();
        assert_eq!(actual, "1 of 1 log group below 90 days: /a (2 days, class DELIVERY)");
    }

    #[test]
    fn what_was_found_is_counted_and_the_first_are_named() {
        let mut groups: Vec<LogGroup> =
            (0..1_200).map(|number| group(&format!("/{number}"), Field::Value(number % 2 + 1))).collect();
        groups.push(group("/forever", Field::Absent));
        groups[1].log_group_name = "\u{1b}[31m".repeat(10_000);
        let actual = Retention::of(&groups, &Settings::default()).judge().actual.unwrap();
        // An invalid name is not shown even in part.
        assert_eq!(
            actual,
            "1,200 of 1,201 log groups below 90 days: /0 (1 day), … (2 days), /2 (1 day), and 1197 more"
        );
        let actual =
            |groups: &[LogGroup]| Retention::of(groups, &Settings::default()).judge().actual.unwrap();
        assert_eq!(actual(&[group("/a", Field::Value(1))]), "1 of 1 log group below 90 days: /a (1 day)");
        assert_eq!(actual(&[group("/a", Field::Absent)]), "1 log group, kept forever");
        assert_eq!(
            actual(&[group("/a", Field::Value(400)), group("/b", Field::Absent)]),
            "2 log groups, the shortest retention is 400 days"
        );
    }

    #[test]
    fn a_longer_minimum() {
        let mut settings = Settings::default();
        settings.set(&MINIMUM_DAYS, 400);
        let judged = |days| Retention::of([&group("/a", Field::Value(days))], &settings).judge();
        assert_eq!(judged(399).actual.unwrap(), "1 of 1 log group below 400 days: /a (399 days)");
        assert_eq!((judged(400).reason.code, judged(400).improvable), ("ok", false));
        let advice = LOG_RETENTION_TOO_SHORT.advice.unwrap().remediation;
        assert!(settings.fill(&LOG_RETENTION, advice).contains("to at least 400 days; or"));
    }
}
