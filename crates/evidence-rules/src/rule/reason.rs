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
    /// The title that people read, everywhere.
    pub title: &'static str,
    /// What to do about a check with this reason, if anything.
    pub advice: Option<Advice>,
}

/// The advice for one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Advice {
    /// The urgency.
    pub severity: Severity,
    /// The kind of gap.
    pub category: Category,
    /// The remediation.
    pub remediation: &'static str,
}

impl Reason {
    /// A reason that asks for nothing.
    pub const fn new(code: &'static str, title: &'static str) -> Reason {
        Reason { code, title, advice: None }
    }

    /// The reason with what to do about it.
    pub const fn advice(self, severity: Severity, category: Category, remediation: &'static str) -> Reason {
        Reason { advice: Some(Advice { severity, category, remediation }), ..self }
    }
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
    &NOTHING_IN_SCOPE,
];

/// The criteria hold.
pub static OK: Reason = Reason::new("ok", "Rule met");

/// The credentials lack access. The advice is the rule's own: the permission to grant.
pub static PERMISSION_DENIED: Reason = Reason::new("permission_denied", "Permission denied").advice(
    Medium,
    Partial,
    "Grant the permission to read it.",
);

/// The setting does not exist, or the credentials cannot see it.
pub static NOT_FOUND: Reason = Reason::new("not_found", "Not found").advice(
    Medium,
    Partial,
    "Check the name in the configuration, and that the credentials have access to it. Something \
                      deleted during the run needs no action: the next run no longer lists it.",
);

/// The host gave no usable answer.
pub static HOST_ERROR: Reason = Reason::new("host_error", "No usable answer from the host").advice(
    Medium,
    Partial,
    "Collect again; the bundle's errors show the host's answer.",
);

/// The source could not be connected, so nothing of it was read.
pub static CONNECTION_FAILED: Reason = Reason::new("connection_failed", "Source not connected").advice(
    High,
    Missing,
    "Correct the cause, which the bundle's errors name, and collect again.",
);

/// The artifact was excluded because it held forbidden data.
pub static EXCLUDED_BY_POLICY: Reason = Reason::new(
    "excluded_by_policy",
    "Evidence left out: it held a credential",
)
.advice(High, Partial, "Remove the secret where it is stored, revoke it, and collect again.");

/// Nothing to judge: the host omitted the setting from its answer.
pub static NO_EVIDENCE: Reason = Reason::new("no_evidence", "Setting missing from the host's answer").advice(
    Medium,
    Partial,
    "Check the setting by hand: the host's answer does not contain it.",
);

/// Everything that the rule is about was listed, and there is nothing of it.
pub static NOTHING_IN_SCOPE: Reason = Reason::new("nothing_in_scope", "Nothing that the rule is about");

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
