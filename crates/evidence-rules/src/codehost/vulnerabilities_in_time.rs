//! Known vulnerabilities are repaired within the promised time.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use jiff::Timestamp;

use super::security::{OpenAlert, SecurityFacts};
use super::vulnerability_alerts::VULNERABILITY_ALERTS_OFF;
use crate::age::is_older;
use crate::rule::setting::Setting;
use crate::rule::{Judge, Reason, Rule, Settings, Status, Verdict, reason};
use crate::several::{One, Several, Words};

/// Known vulnerabilities are repaired within the promised time.
pub static VULNERABILITIES_IN_TIME: Rule = Rule {
    code: "vulnerabilities-in-time",
    title: "Vulnerabilities repaired in time",
    version: 1,
    kind: "repository",
    expected: "no vulnerability alert is open for more than {critical_days one day|# days} if it is critical, or {high_days one day|# \
               days} if it is high",
    reads: "the organization's open vulnerability alerts of high and critical severity: repository, number, severity and time",
    not_checked: "alerts that were closed, and whether they were repaired or dismissed; severities below high; what the host does not \
                  report",
    permission: "Use a token of an organization owner or security manager, and give it read access to `Dependabot alerts`.",
    improvement: None,
    settings: &[&CRITICAL_DAYS, &HIGH_DAYS],
    hints: &[],
    reasons: &[&VULNERABILITY_OVERDUE, &OPEN_ALERTS_NOT_VISIBLE],
};

/// How long a critical alert may be open.
pub static CRITICAL_DAYS: Setting = days("critical_days", 30);

/// How long a high alert may be open.
pub static HIGH_DAYS: Setting = days("high_days", 60);

const fn days(name: &'static str, default: u64) -> Setting {
    Setting { rule: "vulnerabilities-in-time", name, default, minimum: 1, maximum: 366, recommended: None }
}

/// An alert is open for too long.
pub static VULNERABILITY_OVERDUE: Reason =
    Reason::new("vulnerability_overdue", "Vulnerability open for too long").advice(
        High,
        Misconfigured,
        "Update the dependency, or dismiss the alert with the reason if the code is not affected: critical alerts within \
         {critical_days one day|# days}, high ones within {high_days one day|# days}.",
    );

/// The host does not show the open alerts.
pub static OPEN_ALERTS_NOT_VISIBLE: Reason =
    Reason::new("open_alerts_not_visible", "Open alerts not visible to this token").advice(
        Medium,
        Partial,
        "Use a token of an organization owner or security manager and, for a fine-grained token, give it read access to \
         `Dependabot alerts`.",
    );

/// The judgement. What was not read although it was asked for has its own observation.
pub static JUDGE: Judge<SecurityFacts> = Judge {
    rule: &VULNERABILITIES_IN_TIME,
    judge: |facts, settings| match facts.record.vulnerability_alerts.value() {
        None if facts.unread => None,
        enabled => Some(judge(facts, enabled.copied(), settings)),
    },
};

static WORDS: Words = Words {
    fails: &VULNERABILITY_OVERDUE,
    failed: "open alerts are overdue",
    open: "open alerts have no time that can be read",
    good: "open alerts are within the time",
    none: "no open alert of high or critical severity",
};

fn judge(facts: &SecurityFacts, enabled: Option<bool>, settings: &Settings) -> Verdict {
    match enabled {
        Some(true) => {}
        // Where nothing is reported, no open alert proves nothing.
        Some(false) => {
            return Verdict::unknown(
                &VULNERABILITY_ALERTS_OFF,
                "vulnerability alerts are disabled, so that none is open",
            );
        }
        None => return Verdict::unknown(&reason::NO_EVIDENCE, "vulnerability alerts were not asked for"),
    }
    let (Some(alerts), Some(now)) = (facts.record.open_alerts.value(), facts.judged_at) else {
        return Verdict::unknown(&OPEN_ALERTS_NOT_VISIBLE, "the open alerts are not visible to this token");
    };
    let mut several = Several::default();
    for OpenAlert { number, severity, created_at } in alerts {
        let limit = match severity.as_str() {
            "critical" => settings.get(&CRITICAL_DAYS),
            "high" => settings.get(&HIGH_DAYS),
            _ => continue,
        };
        let one = match created_at.parse::<Timestamp>() {
            Ok(at) if is_older(at, now, limit) => One::Failed,
            Ok(_) => One::Good,
            Err(_) => One::Open(&reason::NO_EVIDENCE),
        };
        several.add(&format!("#{number} ({severity}, since {created_at})"), one);
    }
    let verdict = several.judge(&WORDS);
    match verdict.status {
        Status::NotApplicable => Verdict::pass(verdict.actual.unwrap_or_default()),
        _ => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codehost::security::RepositorySecurity;
    use crate::field::Field;

    fn facts(enabled: Field<bool>, alerts: Field<Vec<OpenAlert>>, unread: bool) -> SecurityFacts {
        let record = RepositorySecurity {
            vulnerability_alerts: enabled,
            open_alerts: alerts,
            ..RepositorySecurity::default()
        };
        SecurityFacts { record, unread, judged_at: "2026-11-27T09:00:00Z".parse().ok() }
    }

    fn reason_of(facts: &SecurityFacts, settings: &Settings) -> Option<&'static str> {
        (JUDGE.judge)(facts, settings).map(|verdict| verdict.reason.code)
    }

    fn alert(severity: &str, created: &str) -> OpenAlert {
        OpenAlert { number: 7, severity: severity.to_string(), created_at: created.to_string() }
    }

    #[test]
    fn every_age_of_every_severity() {
        let mut stricter = Settings::default();
        stricter.set(&CRITICAL_DAYS, 7);
        stricter.set(&HIGH_DAYS, 31);
        // To the second: 30 days before the run are in time, and one second more is not.
        for (severity, created, expected, stricter_says) in [
            ("critical", "2026-11-27T08:00:00Z", "ok", "ok"),
            ("critical", "2026-11-20T09:00:00Z", "ok", "ok"),
            ("critical", "2026-11-20T08:59:59Z", "ok", "vulnerability_overdue"),
            ("critical", "2026-10-28T09:00:00Z", "ok", "vulnerability_overdue"),
            ("critical", "2026-10-28T08:59:59Z", "vulnerability_overdue", "vulnerability_overdue"),
            ("high", "2026-10-28T08:59:59Z", "ok", "ok"),
            ("high", "2026-09-28T09:00:00Z", "ok", "vulnerability_overdue"),
            ("high", "2026-09-28T08:59:59Z", "vulnerability_overdue", "vulnerability_overdue"),
            ("medium", "2020-01-01T00:00:00Z", "ok", "ok"),
            ("critical", "long ago", "no_evidence", "no_evidence"),
        ] {
            let facts = facts(Field::Value(true), Field::Value(vec![alert(severity, created)]), false);
            assert_eq!(reason_of(&facts, &Settings::default()), Some(expected), "{severity} {created}");
            assert_eq!(reason_of(&facts, &stricter), Some(stricter_says), "{severity} {created}");
        }
        let both = vec![alert("critical", "long ago"), alert("high", "2020-01-01T00:00:00Z")];
        let facts = facts(Field::Value(true), Field::Value(both), false);
        assert_eq!(reason_of(&facts, &Settings::default()), Some("vulnerability_overdue"));
    }

    /// No list is no finding, and no finding is no pass where none are reported (SigComply, Comp AI).
    #[test]
    fn what_is_not_reported_is_not_repaired() {
        for enabled in [Field::Value(true), Field::Value(false), Field::Null, Field::Absent] {
            for alerts in [Field::Value(Vec::new()), Field::Null, Field::Absent] {
                for unread in [false, true] {
                    let expected = match (enabled.value(), alerts.value(), unread) {
                        (None, _, true) => None,
                        (None, ..) => Some("no_evidence"),
                        (Some(false), ..) => Some("vulnerability_alerts_off"),
                        (_, None, _) => Some("open_alerts_not_visible"),
                        _ => Some("ok"),
                    };
                    let facts = facts(enabled.clone(), alerts.clone(), unread);
                    assert_eq!(reason_of(&facts, &Settings::default()), expected, "{facts:?}");
                }
            }
        }
    }
}
