//! Reasons: why a check has its status, and what to do about it.
//!
//! Documents publish a reason's code, and it is never renamed. The reasons here are shared by all sources; a source
//! declares its own next to its rules.

use evidence_bundle::document::Category::{Missing, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use evidence_bundle::document::{Category, Severity};

/// Why a check has its status.
#[derive(Debug, Clone, Copy)]
pub struct Reason {
    /// The code in documents.
    pub code: &'static str,
    /// What to do about a check with this reason, if anything.
    pub advice: Option<Advice>,
}

/// The advice for one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// The urgency.
    pub severity: Severity,
    /// The kind of gap.
    pub category: Category,
    /// A short title of the gap.
    pub title: &'static str,
    /// The remediation.
    pub remediation: &'static str,
}

impl PartialEq for Reason {
    /// Codes are unique: a test compares them all.
    fn eq(&self, other: &Reason) -> bool {
        self.code == other.code
    }
}

impl Eq for Reason {}

/// The reasons shared by all sources.
pub static SHARED: &[&Reason] = &[
    &OK,
    &PERMISSION_DENIED,
    &NOT_FOUND,
    &HOST_ERROR,
    &CONNECTION_FAILED,
    &EXCLUDED_BY_POLICY,
    &NO_EVIDENCE,
];

/// The criteria hold.
pub static OK: Reason = Reason { code: "ok", advice: None };

/// The credentials lack access. The advice is the rule's own: the permission to grant.
pub static PERMISSION_DENIED: Reason = Reason {
    code: "permission_denied",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the credentials cannot read this setting",
        remediation: "Grant the permission to read it.",
    }),
};

/// The setting does not exist, or the credentials cannot see it.
pub static NOT_FOUND: Reason = Reason {
    code: "not_found",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "not found",
        remediation: "Check the name in the configuration, and that the credentials have access to it. Something \
                      deleted during the run needs no action: the next run no longer lists it.",
    }),
};

/// The host gave no usable answer.
pub static HOST_ERROR: Reason = Reason {
    code: "host_error",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the setting could not be read",
        remediation: "Collect again; the bundle's errors show the host's answer.",
    }),
};

/// The source could not be connected, so nothing of it was read.
pub static CONNECTION_FAILED: Reason = Reason {
    code: "connection_failed",
    advice: Some(Advice {
        severity: High,
        category: Missing,
        title: "the source could not be connected",
        remediation: "Correct the cause, which the bundle's errors name, and collect again.",
    }),
};

/// The artifact was excluded because it held forbidden data.
pub static EXCLUDED_BY_POLICY: Reason = Reason {
    code: "excluded_by_policy",
    advice: Some(Advice {
        severity: High,
        category: Partial,
        title: "the artifact held forbidden data and was left out",
        remediation: "Remove the secret where it is stored, revoke it, and collect again.",
    }),
};

/// Nothing to judge: the host omitted the setting from its answer.
pub static NO_EVIDENCE: Reason = Reason {
    code: "no_evidence",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the host's answer omits the setting",
        remediation: "Check the setting by hand: the host's answer does not contain it.",
    }),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_its_code() {
        for (number, one) in SHARED.iter().enumerate() {
            for (other_number, other) in SHARED.iter().enumerate() {
                assert_eq!(one == other, number == other_number, "{} {}", one.code, other.code);
            }
        }
        assert!(OK == Reason { advice: NOT_FOUND.advice, ..OK });
    }
}
