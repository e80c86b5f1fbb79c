//! At least one trail records and delivers the management events of all regions.

pub mod delivery;
pub mod integrity;
pub mod selection;

use evidence_bundle::document::Category::{Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::{Critical, High, Medium};

use self::integrity::Integrity;
use crate::cloud::record::TrailStatus;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict, reason};
use evidence_text::single_line;

/// Actions in the account are recorded.
pub static AUDIT_TRAIL: Rule = Rule {
    code: "audit-trail",
    title: "Audit trail",
    version: 1,
    kind: "account",
    expected: "at least one trail that covers all regions, is logging, delivers, and records all management events",
    reads: "the trails of every configured region with their status and, where they are not the default, their event selectors",
    not_checked: "data events and insights; event data stores; who can write to the bucket; whether anyone reads the events",
    permission: "Allow `cloudtrail:DescribeTrails`, `cloudtrail:GetTrailStatus` and `cloudtrail:GetEventSelectors` to \
                 the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &AUDIT_TRAIL_MISSING,
        &AUDIT_TRAIL_NOT_LOGGING,
        &AUDIT_TRAIL_NOT_MULTI_REGION,
        &TRAIL_NOT_DELIVERING,
        &MANAGEMENT_EVENTS_NOT_RECORDED,
        &DELIVERY_UNCONFIRMED,
    ],
};

/// The account has no trail.
pub static AUDIT_TRAIL_MISSING: Reason = Reason::new("audit_trail_missing", "No audit trail").advice(
    Critical,
    Missing,
    "Create a trail that applies to all regions and delivers to a bucket with restricted write \
                      access.",
);

/// No trail is logging.
pub static AUDIT_TRAIL_NOT_LOGGING: Reason = Reason::new(
    "audit_trail_not_logging",
    "Audit trail not logging",
)
.advice(Critical, Misconfigured, "Start logging on a trail that applies to all regions.");

/// Every trail that is logging covers only one region.
pub static AUDIT_TRAIL_NOT_MULTI_REGION: Reason =
    Reason::new("audit_trail_not_multi_region", "Audit trail does not cover all regions").advice(
        High,
        Misconfigured,
        "Apply a logging trail to all regions; otherwise activity in other regions is not recorded.",
    );

/// Every multi-region trail that is logging fails to deliver, or has delivered nothing in more than a day.
pub static TRAIL_NOT_DELIVERING: Reason = Reason::new("trail_not_delivering", "Audit trail not delivering")
    .advice(
        Critical,
        Misconfigured,
        "Correct what this result names: the trail's bucket must exist and its policy must let the trail \
                      write, as must the policy of its encryption key.",
    );

/// Every trail that would otherwise pass omits management events.
pub static MANAGEMENT_EVENTS_NOT_RECORDED: Reason =
    Reason::new("management_events_not_recorded", "Audit trail leaves out management events").advice(
        High,
        Misconfigured,
        "Set the trail's event selectors to record management events, both reads and writes.",
    );

/// No delivery for a day, and nothing says that one failed.
pub static DELIVERY_UNCONFIRMED: Reason =
    Reason::new("delivery_unconfirmed", "Delivery of the audit trail not confirmed").advice(
        Medium,
        Partial,
        "Turn on log file validation, so that the trail delivers a digest every hour even if nothing \
                      happens, and collect again after an hour.",
    );

/// The maximum number of trails named in a sentence.
const NAMED: usize = 3;

/// The judgement.
pub static JUDGE: Judge<AuditTrail> = Judge { rule: &AUDIT_TRAIL, judge: |facts, _| Some(facts.judge()) };

/// The facts about the account's trails.
#[derive(Debug, Clone, Default)]
pub struct AuditTrail {
    /// The trails in scope.
    pub trails: Vec<TrailFacts>,
    /// What else could not be read, and why: a region's trails, or a trail in the configuration.
    pub unread: Vec<(String, &'static Reason)>,
}

/// The facts about one trail.
#[derive(Debug, Clone)]
pub struct TrailFacts {
    /// Its name, as the text of a check has it.
    pub name: String,
    /// Whether it is logging.
    pub logs: Criterion,
    /// Whether it applies to all regions.
    pub covers_all_regions: Criterion,
    /// Whether it delivers.
    pub delivers: Criterion,
    /// Whether it records all management events.
    pub records: Criterion,
    /// How its records are protected.
    pub integrity: Integrity,
}

/// Whether a trail meets a criterion. The text is for people, and may be empty if it does.
#[derive(Debug, Clone)]
pub enum Criterion {
    /// The trail meets it.
    Met(String),
    /// The trail certainly does not meet it.
    Failed(String),
    /// Unknown, for this reason.
    Open(&'static Reason, String),
}

impl Criterion {
    /// The criterion is that `field` is true; `not_met` and `not_told` are the texts for false and unknown.
    fn of(field: &Field<bool>, not_met: &str, not_told: &str) -> Criterion {
        match field.value() {
            Some(true) => Criterion::Met(String::new()),
            Some(false) => Criterion::Failed(not_met.to_string()),
            None => Criterion::Open(&reason::NO_EVIDENCE, not_told.to_string()),
        }
    }

    /// Whether a trail covers all regions, according to the listing.
    pub fn all_regions(is_multi_region: &Field<bool>) -> Criterion {
        Criterion::of(is_multi_region, "", "regions not reported")
    }

    /// Whether a trail is logging, according to its status.
    pub fn logging(status: &TrailStatus) -> Criterion {
        Criterion::of(&status.is_logging, "", "logging not reported")
    }
}

/// A criterion that a trail must meet to pass.
struct Step {
    criterion: fn(&TrailFacts) -> &Criterion,
    /// The reason if no trail meets it.
    reason: &'static Reason,
    /// The text about the trails that fail it.
    words: &'static str,
}

/// The criteria in order: a failing check has the reason of the first one that no trail meets.
static STEPS: [Step; 4] = [
    Step { criterion: |trail| &trail.logs, reason: &AUDIT_TRAIL_NOT_LOGGING, words: "not logging" },
    Step {
        criterion: |trail| &trail.covers_all_regions,
        reason: &AUDIT_TRAIL_NOT_MULTI_REGION,
        words: "covering one region only",
    },
    Step {
        criterion: |trail| &trail.delivers,
        reason: &TRAIL_NOT_DELIVERING,
        words: "logging but not delivering",
    },
    Step {
        criterion: |trail| &trail.records,
        reason: &MANAGEMENT_EVENTS_NOT_RECORDED,
        words: "recording too little",
    },
];

impl AuditTrail {
    /// Passes if one trail meets all criteria.
    pub fn judge(&self) -> Verdict {
        if let Some(trail) = self.trails.iter().find(|trail| trail.is_good()) {
            let mut actual =
                format!("the trail {} covers all regions, is logging and delivers", single_line(&trail.name));
            if let Criterion::Met(note) = &trail.delivers
                && !note.is_empty()
            {
                actual.push_str(&format!(" ({note})"));
            }
            if let Criterion::Met(note) = &trail.records
                && !note.is_empty()
            {
                actual.push_str(&format!("; it records management events {note}"));
            }
            return Verdict::pass(actual);
        }
        // An unknown criterion cannot rescue a trail that fails a different criterion.
        let mut left: Vec<&TrailFacts> = self.trails.iter().collect();
        let none = "there is no trail; event data stores and telemetry rules are not read";
        let mut failed = (&AUDIT_TRAIL_MISSING, none.to_string());
        for Step { criterion, reason, words } in &STEPS {
            let may_meet = |trail: &&TrailFacts| !matches!(criterion(trail), Criterion::Failed(_));
            let (remaining, out): (Vec<_>, Vec<_>) = left.into_iter().partition(may_meet);
            left = remaining;
            if left.is_empty() && !out.is_empty() {
                failed = (*reason, format!("{words}: {}", names(&out, |trail| criterion(trail).words())));
            }
        }
        // A passing trail may be where the run could not read.
        match self.unknown(&left) {
            Some((reason, actual)) => Verdict::unknown(reason, actual),
            None => Verdict::fail(failed.0, failed.1),
        }
    }

    /// The first unknown, and all of them as text. `left` are the trails that may pass.
    fn unknown(&self, left: &[&TrailFacts]) -> Option<(&'static Reason, String)> {
        let mut words = Vec::new();
        if !self.unread.is_empty() {
            let what: Vec<&str> = self.unread.iter().map(|(what, _)| what.as_str()).collect();
            words.push(format!("not read: {}", what.join(", ")));
        }
        if !left.is_empty() {
            words.push(format!(
                "may pass: {}",
                names(left, |trail| trail.open().map_or("", |(_, words)| words))
            ));
        }
        let reason = self.unread.iter().map(|(_, reason)| *reason).next();
        let reason = reason.or_else(|| left.iter().find_map(|trail| Some(trail.open()?.0)))?;
        Some((reason, words.join("; ")))
    }
}

impl Criterion {
    fn words(&self) -> &str {
        match self {
            Criterion::Met(words) | Criterion::Failed(words) | Criterion::Open(_, words) => words,
        }
    }
}

impl TrailFacts {
    /// Whether the trail meets every criterion, so that the check passes.
    pub fn is_good(&self) -> bool {
        STEPS.iter().all(|step| matches!((step.criterion)(self), Criterion::Met(_)))
    }

    /// Whether it meets every criterion, as far as is known.
    pub(crate) fn may_pass(&self) -> bool {
        !STEPS.iter().any(|step| matches!((step.criterion)(self), Criterion::Failed(_)))
    }

    /// The first unknown criterion.
    pub(crate) fn open(&self) -> Option<(&'static Reason, &str)> {
        STEPS.iter().find_map(|step| match (step.criterion)(self) {
            Criterion::Open(reason, words) => Some((*reason, words.as_str())),
            Criterion::Met(_) | Criterion::Failed(_) => None,
        })
    }
}

/// The first few trails, each with its text.
fn names<'a>(trails: &[&'a TrailFacts], words: impl Fn(&'a TrailFacts) -> &'a str) -> String {
    let name = |trail: &&'a TrailFacts| match words(trail) {
        "" => single_line(&trail.name),
        words => format!("{} ({words})", single_line(&trail.name)),
    };
    let mut names: Vec<String> = trails.iter().take(NAMED).map(name).collect();
    if trails.len() > NAMED {
        names.push(format!("and {} more", trails.len() - NAMED));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    fn met() -> Criterion {
        Criterion::Met(String::new())
    }

    fn failed(words: &str) -> Criterion {
        Criterion::Failed(words.to_string())
    }

    fn open(reason: &'static Reason) -> Criterion {
        Criterion::Open(reason, "not read".to_string())
    }

    fn trail(
        logs: Criterion,
        covers_all_regions: Criterion,
        delivers: Criterion,
        records: Criterion,
    ) -> TrailFacts {
        TrailFacts {
            name: "main".to_string(),
            logs,
            covers_all_regions,
            delivers,
            records,
            integrity: Integrity::default(),
        }
    }

    /// Each criterion met, failed, or unknown for a reason specific to it.
    fn forms() -> Vec<TrailFacts> {
        let of = |open_reason| [met(), failed(""), open(open_reason)];
        let mut forms = Vec::new();
        for logs in of(&reason::PERMISSION_DENIED) {
            for regions in of(&reason::NO_EVIDENCE) {
                for delivers in of(&DELIVERY_UNCONFIRMED) {
                    for records in of(&reason::HOST_ERROR) {
                        forms.push(trail(logs.clone(), regions.clone(), delivers.clone(), records));
                    }
                }
            }
        }
        forms
    }

    /// Every pair of trails in every form, with and without an unread region, compared with the criteria written as a
    /// formula.
    #[test]
    fn the_whole_domain() {
        let mut sets: Vec<Vec<TrailFacts>> = vec![Vec::new()];
        sets.extend(forms().into_iter().map(|one| vec![one]));
        for one in forms() {
            sets.extend(forms().into_iter().map(|other| vec![one.clone(), other]));
        }
        assert_eq!(sets.len(), 1 + 81 + 81 * 81);
        let criteria = |trail: &TrailFacts| {
            [&trail.logs, &trail.covers_all_regions, &trail.delivers, &trail.records].map(|criterion| {
                match criterion {
                    Criterion::Met(_) => Some(true),
                    Criterion::Failed(_) => Some(false),
                    Criterion::Open(..) => None,
                }
            })
        };
        let not_met = [
            "audit_trail_not_logging",
            "audit_trail_not_multi_region",
            "trail_not_delivering",
            "management_events_not_recorded",
        ];
        let not_known = ["permission_denied", "no_evidence", "delivery_unconfirmed", "host_error"];
        for trails in sets {
            for region_unread in [false, true] {
                let unread = match region_unread {
                    true => vec![("us-west-2".to_string(), &reason::NOT_FOUND)],
                    false => Vec::new(),
                };
                let known: Vec<_> = trails.iter().map(criteria).collect();
                let may_pass = known.iter().find(|trail| !trail.contains(&Some(false)));
                // How many criteria, from the first on, a trail may meet.
                let far =
                    |trail: &[Option<bool>; 4]| trail.iter().take_while(|met| **met != Some(false)).count();
                let expected = if known.contains(&[Some(true); 4]) {
                    (Status::Pass, "ok")
                } else if region_unread {
                    (Status::NotVerifiable, "not_found")
                } else if let Some(open) = may_pass {
                    (Status::NotVerifiable, not_known[open.iter().position(Option::is_none).unwrap()])
                } else {
                    let farthest = known.iter().map(far).max();
                    (Status::Fail, farthest.map_or("audit_trail_missing", |farthest| not_met[farthest]))
                };
                let facts = AuditTrail { trails: trails.clone(), unread };
                let verdict = facts.judge();
                assert_eq!((verdict.status, verdict.reason.code), expected, "{facts:?}");
                assert!(!verdict.improvable && verdict.actual.is_some_and(|actual| !actual.is_empty()));
            }
        }
    }

    #[test]
    fn what_was_found_is_told_and_bounded() {
        let actual = |trails: Vec<TrailFacts>, unread: Vec<(String, &'static Reason)>| {
            AuditTrail { trails, unread }.judge().actual.unwrap()
        };
        let records = Criterion::Met("without the events of kms.amazonaws.com".to_string());
        assert_eq!(
            actual(vec![trail(met(), met(), met(), records)], Vec::new()),
            "the trail main covers all regions, is logging and delivers; it records management events without the \
             events of kms.amazonaws.com"
        );
        let digest = Criterion::Met("no log since a day".to_string());
        assert!(
            actual(vec![trail(met(), met(), digest, met())], Vec::new())
                .ends_with("delivers (no log since a day)")
        );
        assert_eq!(
            actual(Vec::new(), Vec::new()),
            "there is no trail; event data stores and telemetry rules are not read"
        );
        let off = trail(failed(""), met(), met(), met());
        let long = TrailFacts { name: "x".repeat(100_000) + "\u{1b}[31m", ..off.clone() };
        let text = actual(vec![long; 100], Vec::new());
        assert!(text.len() < 400 && text.ends_with("and 97 more"), "{text}");
        assert_eq!(actual(vec![off; 3], Vec::new()), "not logging: main, main, main");
        let silent = trail(met(), met(), failed("the latest delivery failed: AccessDenied"), met());
        assert_eq!(
            actual(vec![silent], Vec::new()),
            "logging but not delivering: main (the latest delivery failed: AccessDenied)"
        );
        let denied = trail(open(&reason::PERMISSION_DENIED), met(), open(&reason::PERMISSION_DENIED), met());
        let unread = ["us-west-2", "us-east-2"]
            .map(|region| (format!("the trails of {region}"), &reason::HOST_ERROR))
            .to_vec();
        assert_eq!(
            actual(vec![denied], unread),
            "not read: the trails of us-west-2, the trails of us-east-2; may pass: main (not read)"
        );
    }
}
