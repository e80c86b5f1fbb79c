//! The host looks for leaked credentials in the repository.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::security::{RepositorySecurity, SecurityFacts, must_be_enabled};
use crate::rule::{Judge, Reason, Rule, Verdict};

/// The host looks for leaked credentials in the repository.
pub static SECRET_SCANNING: Rule = Rule {
    code: "secret-scanning",
    title: "Secret scanning",
    version: 1,
    kind: "repository",
    expected: "secret scanning is enabled",
    reads: "`security_and_analysis.secret_scanning.status` in the host's record of the repository",
    not_checked: "whether anyone handles what is found; patterns of the organization's own; other tools that look for secrets",
    permission: "Use a token of a user who administers the repositories, and give it read access to `Administration`.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&SECRET_SCANNING_OFF, &SECRET_SCANNING_NOT_VISIBLE],
};

/// Secret scanning off
pub static SECRET_SCANNING_OFF: Reason = Reason::new("secret_scanning_off", "Secret scanning off").advice(
    High,
    Misconfigured,
    "In the repository's settings, under Advanced Security, enable secret scanning; or enable it for all repositories in the organization's security configuration.",
);

/// The host does not show the setting to this token.
pub static SECRET_SCANNING_NOT_VISIBLE: Reason =
    Reason::new("secret_scanning_not_visible", "Secret scanning not visible to this token").advice(
        Medium,
        Partial,
        "Use a token of a user who administers the repository and, for a fine-grained token, give it read access to `Administration`: \
         the host shows the setting to no one else.",
    );

/// The judgement.
pub static JUDGE: Judge<SecurityFacts> =
    Judge { rule: &SECRET_SCANNING, judge: |facts, _| Some(judge(&facts.record)) };

/// Passes if the feature is enabled. A missing key is not "disabled" (prowler#12729, pvtr-github-repo-scanner#354).
pub fn judge(security: &RepositorySecurity) -> Verdict {
    must_be_enabled(
        security,
        ("secret_scanning", |features| &features.secret_scanning),
        (&SECRET_SCANNING_OFF, &SECRET_SCANNING_NOT_VISIBLE),
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
            |section, feature| section.secret_scanning = feature,
            ["secret_scanning_off", "secret_scanning_not_visible"],
        );
    }
}
