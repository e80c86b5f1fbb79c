//! The provider watches every region for attacks.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use serde::{Deserialize, Serialize};

use super::regional::Regions;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Words};

/// Attacks are looked for.
pub static THREAT_DETECTION: Rule = Rule {
    code: "threat-detection",
    title: "Threat detection",
    version: 1,
    kind: "account",
    expected: "GuardDuty has an enabled detector in every configured region that offers the service",
    reads: "the detectors of every configured region and the `Status` of each",
    not_checked: "its findings and whether anyone acts on them; which of its protection plans are on; other services for this \
                  purpose; regions that are not configured",
    permission: "Allow `guardduty:ListDetectors` and `guardduty:GetDetector` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&THREAT_DETECTION_OFF, &STATUS_NOT_VISIBLE],
};

/// A region is not watched.
pub static THREAT_DETECTION_OFF: Reason = Reason::new("threat_detection_off", "Threat detection is off").advice(
    High,
    Misconfigured,
    "Enable GuardDuty in each region that this result names, or for all accounts and regions from the delegated administrator \
     of the organization.",
);

/// A detector does not show its status, or shows an unknown one.
pub static STATUS_NOT_VISIBLE: Reason = Reason::new("status_not_visible", "Status of a detector not reported").advice(
    Medium,
    Partial,
    "Check GuardDuty by hand in each region that this result names: the answer does not say whether its detector is enabled.",
);

/// `detectors_{region}.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Detectors {
    /// The detectors, of which the provider allows one.
    pub detectors: Vec<Detector>,
}

/// A detector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Detector {
    /// Its id.
    pub detector_id: String,
    /// `ENABLED` or `DISABLED`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
}

/// The judgement.
pub static JUDGE: Judge<Regions<Detectors>> =
    Judge { rule: &THREAT_DETECTION, judge: |regions, _| Some(judge(regions)) };

static WORDS: Words = Words {
    fails: &THREAT_DETECTION_OFF,
    failed: "regions have no enabled detector",
    open: "regions may have no enabled detector",
    good: "regions have an enabled detector",
    none: "no configured region offers the service",
};

/// Passes if every region has a detector that is enabled.
pub fn judge(regions: &Regions<Detectors>) -> Verdict {
    regions.judge(&WORDS, |all, region, Detectors { detectors }| {
        let is =
            |word: &str| detectors.iter().any(|one| one.status.value().is_some_and(|status| status == word));
        let disabled = |one: &Detector| one.status.value().is_some_and(|status| status == "DISABLED");
        let one = if is("ENABLED") {
            One::Good
        } else if detectors.iter().all(disabled) {
            One::Failed
        } else {
            One::Open(&STATUS_NOT_VISIBLE)
        };
        all.add(region, one);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::reason::SERVICE_NOT_IN_REGION;
    use crate::rule::{Status, reason};

    type Read = Result<Detectors, &'static Reason>;

    fn detectors(states: &[Field<String>]) -> Read {
        let detector = |status: &Field<String>| Detector { status: status.clone(), ..Detector::default() };
        Ok(Detectors { detectors: states.iter().map(detector).collect() })
    }

    fn judged(reads: Vec<Read>) -> (Status, &'static str) {
        let reads = reads.into_iter().map(|read| ("eu-west-1".to_string(), read));
        let verdict = judge(&Regions(reads.collect()));
        (verdict.status, verdict.reason.code)
    }

    /// Every state of a region beside every other. prowler#2612: a disabled detector is a finding. prowler#2656: a refused
    /// region is one. steampipe-mod-aws-compliance#268: a region that does not offer the service is none.
    #[test]
    fn the_whole_domain() {
        let word = |text: &str| Field::Value(text.to_string());
        let (on, off) = (word("ENABLED"), word("DISABLED"));
        let states: [(Read, Option<u8>, &str); 10] = [
            (detectors(std::slice::from_ref(&on)), Some(0), "ok"),
            (detectors(&[off.clone(), on]), Some(0), "ok"),
            (detectors(&[]), Some(2), "threat_detection_off"),
            (detectors(std::slice::from_ref(&off)), Some(2), "threat_detection_off"),
            (detectors(&[Field::Absent]), Some(1), "status_not_visible"),
            (detectors(&[Field::Null]), Some(1), "status_not_visible"),
            (detectors(&[word("NEW")]), Some(1), "status_not_visible"),
            (detectors(&[off, Field::Absent]), Some(1), "status_not_visible"),
            (Err(&reason::PERMISSION_DENIED), Some(1), "permission_denied"),
            (Err(&SERVICE_NOT_IN_REGION), None, "nothing_in_scope"),
        ];
        for (one, first, reason) in &states {
            let status = |level: Option<u8>| match level {
                None => Status::NotApplicable,
                Some(0) => Status::Pass,
                Some(1) => Status::NotVerifiable,
                Some(_) => Status::Fail,
            };
            assert_eq!(judged(vec![one.clone()]), (status(*first), *reason), "{one:?}");
            for (other, second, _) in &states {
                assert_eq!(
                    judged(vec![one.clone(), other.clone()]).0,
                    status(*first.max(second)),
                    "{one:?} {other:?}"
                );
            }
        }
    }
}
