//! The host refuses pushes that hold credentials.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::security::{RepositorySecurity, SecurityFacts, must_be_enabled};
use crate::rule::{Judge, Reason, Rule, Verdict};

/// The host refuses pushes that hold credentials.
pub static PUSH_PROTECTION: Rule = Rule {
    code: "push-protection",
    title: "Push protection",
    version: 1,
    kind: "repository",
    expected: "push protection of secret scanning is enabled",
    reads: "`security_and_analysis.secret_scanning_push_protection.status` in the host's record of the repository",
    not_checked: "who may bypass it and who did; patterns of the organization's own",
    permission: "Use a token of a user who administers the repositories, and give it read access to `Administration`.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&PUSH_PROTECTION_OFF, &SECRET_SCANNING_PUSH_PROTECTION_NOT_VISIBLE],
};

/// Push protection off
pub static PUSH_PROTECTION_OFF: Reason = Reason::new("push_protection_off", "Push protection off").advice(
    High,
    Misconfigured,
    "In the repository's settings, under Advanced Security, enable push protection; or enable it for all repositories in the organization's security configuration.",
);

/// The host does not show the setting to this token.
pub static SECRET_SCANNING_PUSH_PROTECTION_NOT_VISIBLE: Reason =
    Reason::new("secret_scanning_push_protection_not_visible", "Push protection not visible to this token").advice(
        Medium,
        Partial,
        "Use a token of a user who administers the repository and, for a fine-grained token, give it read access to `Administration`: \
         the host shows the setting to no one else.",
    );

/// The judgement.
pub static JUDGE: Judge<SecurityFacts> =
    Judge { rule: &PUSH_PROTECTION, judge: |facts, _| Some(judge(&facts.record)) };

/// Passes if the feature is enabled. A missing key is not "disabled" (prowler#12729, pvtr-github-repo-scanner#354).
pub fn judge(security: &RepositorySecurity) -> Verdict {
    must_be_enabled(
        security,
        ("secret_scanning_push_protection", |features| &features.secret_scanning_push_protection),
        (&PUSH_PROTECTION_OFF, &SECRET_SCANNING_PUSH_PROTECTION_NOT_VISIBLE),
    )
}

#[cfg(test)]
mod tests {
    use super::super::security::tests::whole_domain;
    use super::*;

    #[test]
    fn the_whole_domain() {
        whole_domain(
            judge,
            |section, feature| section.secret_scanning_push_protection = feature,
            ["push_protection_off", "secret_scanning_push_protection_not_visible"],
        );
    }
}
