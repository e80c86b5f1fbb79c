//! The audit trail is complete and cannot be changed unseen.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;
use evidence_text::single_line;

use super::{AUDIT_TRAIL_MISSING, AuditTrail, TrailFacts};
use crate::cloud::record::Trail;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// The records of the trail are protected.
pub static TRAIL_INTEGRITY: Rule = Rule {
    code: "trail-integrity",
    title: "Integrity of the audit trail",
    version: 1,
    kind: "account",
    expected: "a trail with log file validation, an encryption key of its own and delivery to a log group; of the trails that pass \
               `audit-trail` the best counts, and if none passes, the best of all",
    reads: "`LogFileValidationEnabled`, `KmsKeyId` and `CloudWatchLogsLogGroupArn` of the account's trails, and whether each passes \
            `audit-trail`",
    not_checked: "who can write to or delete from the bucket; the policy of the key; alarms on the log group; whether anyone validates \
                  the files",
    permission: "Allow `cloudtrail:DescribeTrails`, `cloudtrail:GetTrailStatus` and `cloudtrail:GetEventSelectors` to the user or role \
                 that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&TRAIL_INTEGRITY_INCOMPLETE],
};

/// The best trail lacks a protection.
pub static TRAIL_INTEGRITY_INCOMPLETE: Reason =
    Reason::new("trail_integrity_incomplete", "Audit trail not fully protected").advice(
        Medium,
        Misconfigured,
        "Turn on what this result names as missing in the settings of the trail: log file validation, encryption with a key of the \
         account, delivery to a log group.",
    );

/// How the records of a trail are protected. What the provider does not name is not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Integrity {
    validation: bool,
    own_key: bool,
    log_group: bool,
}

impl Integrity {
    /// The protections that the listing names.
    pub fn of(trail: &Trail) -> Integrity {
        let named = |field: &Field<String>| field.value().is_some_and(|text| !text.trim().is_empty());
        Integrity {
            validation: trail.log_file_validation_enabled.value() == Some(&true),
            own_key: named(&trail.kms_key_id),
            log_group: named(&trail.cloud_watch_logs_log_group_arn),
        }
    }

    fn parts(self) -> [(bool, &'static str); 3] {
        [
            (self.validation, "log file validation"),
            (self.own_key, "a key of its own"),
            (self.log_group, "delivery to a log group"),
        ]
    }

    fn missing(self) -> Vec<&'static str> {
        self.parts().into_iter().filter(|(is_set, _)| !is_set).map(|(_, words)| words).collect()
    }

    fn is_full(self) -> bool {
        self.missing().is_empty()
    }
}

/// The judgement.
pub static JUDGE: Judge<AuditTrail> = Judge { rule: &TRAIL_INTEGRITY, judge: |facts, _| Some(judge(facts)) };

/// Passes if the trail that counts has every protection.
///
/// A trail whose status is not known may be the one that counts, as may one in a region that was not read: the verdict is
/// one that holds whichever it is.
pub fn judge(facts: &AuditTrail) -> Verdict {
    let (good, others): (Vec<_>, Vec<_>) = facts.trails.iter().partition(|trail| trail.is_good());
    let open: Vec<&TrailFacts> = others.iter().copied().filter(|trail| trail.may_pass()).collect();
    let full = |trails: &[&TrailFacts]| trails.iter().any(|trail| trail.integrity.is_full());
    let counting: Vec<&TrailFacts> =
        if good.is_empty() { facts.trails.iter().collect() } else { good.clone() };
    let best = counting.iter().min_by_key(|trail| trail.integrity.missing().len());
    let of_best = |best: &TrailFacts| match best.integrity.missing() {
        missing if missing.is_empty() => {
            let parts = best.integrity.parts().map(|(_, words)| words);
            format!("the trail {} has {}", single_line(&best.name), parts.join(", "))
        }
        missing => format!("the trail {} lacks {}", single_line(&best.name), missing.join(", ")),
    };
    let actual = best.map_or_else(|| "there is no trail".to_string(), |best| of_best(best));
    if full(&good) {
        return Verdict::pass(actual);
    }
    if let Some((what, reason)) = facts.unread.first() {
        return Verdict::unknown(reason, format!("{actual}; not read: {what}"));
    }
    let is_undecided = match good.is_empty() {
        false => full(&open),
        true => full(&counting) && open.iter().any(|trail| !trail.integrity.is_full()),
    };
    if let Some((reason, words)) = open.iter().find_map(|trail| trail.open()).filter(|_| is_undecided) {
        return Verdict::unknown(reason, format!("{actual}; another trail may count: {words}"));
    }
    match best {
        None => Verdict::fail(&AUDIT_TRAIL_MISSING, actual),
        Some(best) if best.integrity.is_full() => Verdict::pass(actual),
        Some(_) => Verdict::fail(&TRAIL_INTEGRITY_INCOMPLETE, actual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::trail::Criterion;
    use crate::rule::{Status, reason};

    fn trail(name: &str, logs: Criterion, integrity: Integrity) -> TrailFacts {
        let met = || Criterion::Met(String::new());
        TrailFacts {
            name: name.to_string(),
            logs,
            covers_all_regions: met(),
            delivers: met(),
            records: met(),
            integrity,
        }
    }

    const FULL: Integrity = Integrity { validation: true, own_key: true, log_group: true };

    /// Every form of the three fields.
    #[test]
    fn absent_is_not_set() {
        let flags = [Field::Absent, Field::Null, Field::Value(false), Field::Value(true)];
        let texts =
            [Field::Absent, Field::Null, Field::Value(" ".to_string()), Field::Value("arn".to_string())];
        for (a, validation) in flags.iter().enumerate() {
            for (b, key) in texts.iter().enumerate() {
                for (c, group) in texts.iter().enumerate() {
                    let record = Trail {
                        log_file_validation_enabled: validation.clone(),
                        kms_key_id: key.clone(),
                        cloud_watch_logs_log_group_arn: group.clone(),
                        ..Trail::default()
                    };
                    let expected = Integrity { validation: a == 3, own_key: b == 3, log_group: c == 3 };
                    assert_eq!(Integrity::of(&record), expected, "{record:?}");
                    let met = Criterion::Met(String::new());
                    let facts = AuditTrail {
                        trails: vec![trail("main", met, Integrity::of(&record))],
                        unread: Vec::new(),
                    };
                    let verdict = judge(&facts);
                    let code = if expected == FULL { "ok" } else { "trail_integrity_incomplete" };
                    assert_eq!(verdict.reason.code, code, "{record:?}");
                }
            }
        }
    }

    /// Every set of up to two of the six kinds of trails, with and without a region that was not read, compared with what
    /// holds in every world: an open trail passes `audit-trail` or not, an unread region has any trail or none.
    #[test]
    fn the_verdict_holds_whichever_trail_counts() {
        let states = || {
            [
                Criterion::Met(String::new()),
                Criterion::Failed(String::new()),
                Criterion::Open(&reason::PERMISSION_DENIED, "status not read".to_string()),
            ]
        };
        let kinds: Vec<TrailFacts> = states()
            .into_iter()
            .flat_map(|state| {
                [FULL, Integrity::default()].map(|integrity| trail("a", state.clone(), integrity))
            })
            .collect();
        let mut sets: Vec<Vec<TrailFacts>> = vec![Vec::new()];
        sets.extend(kinds.iter().map(|one| vec![one.clone()]));
        sets.extend(kinds.iter().flat_map(|one| kinds.iter().map(|other| vec![one.clone(), other.clone()])));
        for trails in sets {
            for unread in [false, true] {
                let facts = AuditTrail {
                    trails: trails.clone(),
                    unread: unread
                        .then(|| ("the trails of eu-west-1".to_string(), &reason::PERMISSION_DENIED))
                        .into_iter()
                        .collect(),
                };
                let found = judge(&facts);
                let expected = worlds(&trails, unread);
                assert_eq!(found.status, expected, "{facts:?}");
            }
        }
    }

    /// The status that every world gives, or not verifiable.
    fn worlds(trails: &[TrailFacts], unread: bool) -> Status {
        let hidden: Vec<Option<(bool, bool)>> = match unread {
            false => vec![None],
            true => {
                vec![None, Some((true, true)), Some((true, false)), Some((false, true)), Some((false, false))]
            }
        };
        let mut seen = Vec::new();
        for more in hidden {
            for world in 0..1_usize << trails.len() {
                let mut all: Vec<(bool, bool)> = Vec::new();
                for (index, trail) in trails.iter().enumerate() {
                    let passes = match trail.logs {
                        Criterion::Met(_) => true,
                        Criterion::Failed(_) => false,
                        Criterion::Open(..) => world & (1 << index) != 0,
                    };
                    all.push((passes, trail.integrity.is_full()));
                }
                all.extend(more);
                let passing: Vec<_> = all.iter().filter(|(passes, _)| *passes).collect();
                let counting = if passing.is_empty() { all.iter().collect() } else { passing };
                seen.push(counting.iter().any(|(_, full)| *full));
            }
        }
        match (seen.contains(&true), seen.contains(&false)) {
            (true, true) => Status::NotVerifiable,
            (true, false) => Status::Pass,
            _ => Status::Fail,
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let met = || Criterion::Met(String::new());
        let some = Integrity { own_key: true, ..Integrity::default() };
        let facts = AuditTrail {
            trails: vec![trail("bare", met(), Integrity::default()), trail("main", met(), some)],
            unread: Vec::new(),
        };
        let actual = judge(&facts).actual.unwrap();
        assert_eq!(actual, "the trail main lacks log file validation, delivery to a log group");
        assert_eq!(judge(&AuditTrail::default()).reason.code, "audit_trail_missing");
    }
}
