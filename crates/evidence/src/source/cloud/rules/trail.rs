//! At least one trail that covers all regions is logging.

use evidence_bundle::document::Category::{Misconfigured, Missing};
use evidence_bundle::document::Severity::{Critical, High};

use super::super::record::TrailStatus;
use crate::rule::{Advice, Reason, Rule, Verdict, reason};
use evidence_http::single_line;

/// What is done in the account is recorded.
pub static AUDIT_TRAIL: Rule = Rule {
    code: "audit-trail",
    expected: "at least one trail that covers all regions and is logging",
    permission: "Allow `cloudtrail:DescribeTrails` and `cloudtrail:GetTrailStatus` to the user or role that collects.",
    improvement: None,
    reasons: &[&AUDIT_TRAIL_MISSING, &AUDIT_TRAIL_NOT_LOGGING, &AUDIT_TRAIL_NOT_MULTI_REGION],
};

/// There is no trail.
pub static AUDIT_TRAIL_MISSING: Reason = Reason {
    code: "audit_trail_missing",
    advice: Some(Advice {
        severity: Critical,
        category: Missing,
        title: "there is no audit trail",
        remediation: "Create a trail that applies to all regions and delivers to a bucket with restricted write \
                      access.",
    }),
};

/// No trail is logging.
pub static AUDIT_TRAIL_NOT_LOGGING: Reason = Reason {
    code: "audit_trail_not_logging",
    advice: Some(Advice {
        severity: Critical,
        category: Misconfigured,
        title: "no audit trail is logging",
        remediation: "Start logging on a trail that applies to all regions.",
    }),
};

/// Every trail that is logging covers only one region.
pub static AUDIT_TRAIL_NOT_MULTI_REGION: Reason = Reason {
    code: "audit_trail_not_multi_region",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "no audit trail that covers all regions is logging",
        remediation: "Apply a logging trail to all regions; otherwise activity in other regions is not recorded.",
    }),
};

/// How many trails are named in a sentence.
const NAMED: usize = 3;

/// What is known of the account's trails.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct AuditTrail {
    /// The trails in scope.
    pub(in super::super) trails: Vec<TrailFacts>,
    /// What else could not be read, in words, and why: a region's trails, a trail that the configuration names.
    pub(in super::super) unread: Vec<(String, &'static Reason)>,
}

/// What is known of one trail.
#[derive(Debug, Clone)]
pub(in super::super) struct TrailFacts {
    pub(in super::super) name: String,
    /// Whether it covers all regions; `None` if the provider did not report it.
    pub(in super::super) multi_region: Option<bool>,
    pub(in super::super) logging: Logging,
    /// Why the latest delivery failed, if it did.
    pub(in super::super) delivery_error: Option<String>,
}

/// Whether a trail is logging.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Logging {
    /// It is.
    On,
    /// It is not.
    Off,
    /// The status was read and does not say.
    NotTold,
    /// The status was not read.
    NotRead(&'static Reason),
}

impl Logging {
    /// What a trail's status says.
    pub(in super::super) fn of(status: &TrailStatus) -> Logging {
        match status.is_logging.value() {
            Some(true) => Logging::On,
            Some(false) => Logging::Off,
            None => Logging::NotTold,
        }
    }
}

impl AuditTrail {
    /// Passes when a trail that covers all regions is logging.
    pub(in super::super) fn judge(&self) -> Verdict {
        let good =
            |trail: &&TrailFacts| trail.multi_region == Some(true) && matches!(trail.logging, Logging::On);
        if let Some(trail) = self.trails.iter().find(good) {
            let mut actual =
                format!("the trail {} covers all regions and is logging", single_line(&trail.name));
            if let Some(error) = &trail.delivery_error {
                actual.push_str(&format!("; its latest delivery failed: {}", single_line(error)));
            }
            return Verdict::pass(actual);
        }
        // A trail that passes may be where nobody could look.
        if let Some((reason, actual)) = self.unknown() {
            return Verdict::unknown(reason, actual);
        }
        if self.trails.is_empty() {
            return Verdict::fail(&AUDIT_TRAIL_MISSING, "there is no trail");
        }
        let on: Vec<_> = self.trails.iter().filter(|trail| matches!(trail.logging, Logging::On)).collect();
        if on.is_empty() {
            let actual = format!("not logging: {}", names(&self.trails.iter().collect::<Vec<_>>()));
            return Verdict::fail(&AUDIT_TRAIL_NOT_LOGGING, actual);
        }
        let actual = format!("logging in one region only: {}", names(&on));
        Verdict::fail(&AUDIT_TRAIL_NOT_MULTI_REGION, actual)
    }
}

impl AuditTrail {
    /// The first thing that is not known, and all of it in words.
    fn unknown(&self) -> Option<(&'static Reason, String)> {
        let unread = |trail: &TrailFacts| match trail.logging {
            Logging::NotRead(reason) => Some(reason),
            Logging::On | Logging::Off | Logging::NotTold => None,
        };
        let untold =
            |trail: &&TrailFacts| matches!(trail.logging, Logging::NotTold) || trail.multi_region.is_none();
        let statuses: Vec<_> = self.trails.iter().filter(|trail| unread(trail).is_some()).collect();
        let silent: Vec<_> = self.trails.iter().filter(untold).collect();
        let mut words = Vec::new();
        if !self.unread.is_empty() {
            let what: Vec<&str> = self.unread.iter().map(|(what, _)| what.as_str()).collect();
            words.push(format!("not read: {}", what.join(", ")));
        }
        if !statuses.is_empty() {
            words.push(format!("status not read: {}", names(&statuses)));
        }
        if !silent.is_empty() {
            words.push(format!("incomplete answer: {}", names(&silent)));
        }
        let reason = self.unread.iter().map(|(_, reason)| *reason).next();
        let reason = reason.or_else(|| self.trails.iter().find_map(unread));
        let reason = reason.or((!silent.is_empty()).then_some(&reason::NO_EVIDENCE))?;
        Some((reason, words.join("; ")))
    }
}

fn names(trails: &[&TrailFacts]) -> String {
    let mut names: Vec<String> = trails.iter().take(NAMED).map(|trail| single_line(&trail.name)).collect();
    if trails.len() > NAMED {
        names.push(format!("and {} more", trails.len() - NAMED));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    fn trail(multi_region: Option<bool>, logging: Logging) -> TrailFacts {
        TrailFacts { name: "main".to_string(), multi_region, logging, delivery_error: None }
    }

    fn forms() -> Vec<TrailFacts> {
        let mut forms = Vec::new();
        for multi_region in [Some(true), Some(false), None] {
            let denied = Logging::NotRead(&reason::PERMISSION_DENIED);
            for logging in [Logging::On, Logging::Off, Logging::NotTold, denied] {
                forms.push(trail(multi_region, logging));
            }
        }
        forms
    }

    /// Every pair of every form of a trail, with and without a region that was not read, compared with the criteria
    /// written as a formula.
    #[test]
    fn the_whole_domain() {
        let mut sets: Vec<Vec<TrailFacts>> = vec![Vec::new()];
        sets.extend(forms().into_iter().map(|one| vec![one]));
        for one in forms() {
            sets.extend(forms().into_iter().map(|other| vec![one.clone(), other]));
        }
        assert_eq!(sets.len(), 1 + 12 + 144);
        for trails in sets {
            for region_unread in [false, true] {
                let unread = if region_unread {
                    vec![("us-west-2".to_string(), &reason::HOST_ERROR)]
                } else {
                    Vec::new()
                };
                let on = |trail: &TrailFacts| matches!(trail.logging, Logging::On);
                let passes = trails.iter().any(|trail| on(trail) && trail.multi_region == Some(true));
                let not_read = trails.iter().any(|trail| matches!(trail.logging, Logging::NotRead(_)));
                let not_told = trails
                    .iter()
                    .any(|trail| matches!(trail.logging, Logging::NotTold) || trail.multi_region.is_none());
                let expected = if passes {
                    (Status::Pass, "ok")
                } else if region_unread {
                    (Status::NotVerifiable, "host_error")
                } else if not_read {
                    (Status::NotVerifiable, "permission_denied")
                } else if not_told {
                    (Status::NotVerifiable, "no_evidence")
                } else if trails.is_empty() {
                    (Status::Fail, "audit_trail_missing")
                } else if trails.iter().any(on) {
                    (Status::Fail, "audit_trail_not_multi_region")
                } else {
                    (Status::Fail, "audit_trail_not_logging")
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
        let mut good = trail(Some(true), Logging::On);
        good.delivery_error = Some("AccessDenied".to_string());
        let facts = AuditTrail { trails: vec![good], unread: Vec::new() };
        assert_eq!(
            facts.judge().actual.unwrap(),
            "the trail main covers all regions and is logging; its latest delivery failed: AccessDenied"
        );
        let off = TrailFacts { name: "x".repeat(100_000) + "\u{1b}[31m", ..trail(Some(true), Logging::Off) };
        let facts = AuditTrail { trails: vec![off; 100], unread: Vec::new() };
        let actual = facts.judge().actual.unwrap();
        assert!(actual.len() < 400 && actual.ends_with("and 97 more"), "{actual}");
        let facts = AuditTrail { trails: vec![trail(Some(true), Logging::Off); 3], unread: Vec::new() };
        assert_eq!(facts.judge().actual.unwrap(), "not logging: main, main, main");
        let denied = Logging::NotRead(&reason::PERMISSION_DENIED);
        let unread = ["us-west-2", "us-east-2"]
            .map(|region| (format!("the trails of {region}"), &reason::HOST_ERROR))
            .to_vec();
        let facts = AuditTrail { trails: vec![trail(None, denied)], unread };
        assert_eq!(
            facts.judge().actual.unwrap(),
            "not read: the trails of us-west-2, the trails of us-east-2; status not read: main; incomplete answer: main"
        );
    }
}
