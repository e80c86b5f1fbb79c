//! A CODEOWNERS file assigns an owner to every file.

use evidence_bundle::document::Category::{Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::Medium;

use crate::rule::{Advice, Reason, Rule, Verdict};
use crate::source::codehost::codeowners::{CodeOwners, DefaultRule};

/// A CODEOWNERS file assigns an owner to every file.
pub static CODEOWNERS_DEFAULT_RULE: Rule = Rule {
    code: "codeowners-default-rule",
    expected: "a CODEOWNERS file in the root or in .github/ with a default rule that has an owner",
    permission: "Give a fine-grained token `Contents: read` on this repository.",
    improvement: None,
    reasons: &[
        &CODEOWNERS_MISSING,
        &CODEOWNERS_NO_OWNER,
        &CODEOWNERS_NO_DEFAULT_RULE,
        &CODEOWNERS_NOT_A_FILE,
        &CODEOWNERS_TOO_LARGE,
    ],
};

/// There is no CODEOWNERS file.
pub static CODEOWNERS_MISSING: Reason = Reason {
    code: "codeowners_missing",
    advice: Some(Advice {
        severity: Medium,
        category: Missing,
        title: "there is no CODEOWNERS file",
        remediation: "Add .github/CODEOWNERS with a line `* @organization/team`. A file in docs/ does not count.",
    }),
};

/// The CODEOWNERS file assigns no owner.
pub static CODEOWNERS_NO_OWNER: Reason = Reason {
    code: "codeowners_no_owner",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the CODEOWNERS file assigns no owner",
        remediation: "Add at least one line with a user or team, beginning with a default rule: `* \
                      @organization/team`.",
    }),
};

/// The CODEOWNERS file has no default rule in force.
pub static CODEOWNERS_NO_DEFAULT_RULE: Reason = Reason {
    code: "codeowners_no_default_rule",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the CODEOWNERS file does not cover all files",
        remediation: "Add a default rule as the first line: `* @organization/team`.",
    }),
};

/// Something else than a file has the name CODEOWNERS.
pub static CODEOWNERS_NOT_A_FILE: Reason = Reason {
    code: "codeowners_not_a_file",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "CODEOWNERS is not a file",
        remediation: "Replace it with a regular file at .github/CODEOWNERS.",
    }),
};

/// The CODEOWNERS file is so large that the host does not load it.
pub static CODEOWNERS_TOO_LARGE: Reason = Reason {
    code: "codeowners_too_large",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the CODEOWNERS file is too large for the host to load",
        remediation: "Keep the file under 3 MB: the host ignores a larger one.",
    }),
};

/// Passes when the file assigns at least one team or user, and a default rule with an owner covers all files.
pub fn judge(path: &str, owners: &CodeOwners) -> Verdict {
    if owners.owner_count() == 0 {
        return Verdict::fail(&CODEOWNERS_NO_OWNER, format!("{path} assigns no owner"));
    }
    match owners.default_rule() {
        DefaultRule::Covers { line, owners } => {
            let noun = if owners == 1 { "owner" } else { "owners" };
            Verdict::pass(format!("{path} line {line}: default rule with {owners} {noun}"))
        }
        DefaultRule::CancelledBy { line, by } => Verdict::fail(
            &CODEOWNERS_NO_DEFAULT_RULE,
            format!("{path} line {line}: default rule, overridden by line {by}, which names no owner"),
        ),
        DefaultRule::Missing => {
            Verdict::fail(&CODEOWNERS_NO_DEFAULT_RULE, format!("{path} has no default rule"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason as shared};

    /// Each form that the judgement distinguishes, with its description.
    #[test]
    fn every_form_of_a_file() {
        let (ok, no_owner, no_default) = (&shared::OK, &CODEOWNERS_NO_OWNER, &CODEOWNERS_NO_DEFAULT_RULE);
        for (text, status, expected, said) in [
            ("", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("# nobody\n*\n", Status::Fail, no_owner, "CODEOWNERS assigns no owner"),
            ("/docs @acme/docs\n", Status::Fail, no_default, "CODEOWNERS has no default rule"),
            ("* @acme/all\n", Status::Pass, ok, "CODEOWNERS line 1: default rule with 1 owner"),
            (
                "# All\n* @acme/all @acme/more\n",
                Status::Pass,
                ok,
                "CODEOWNERS line 2: default rule with 2 owners",
            ),
            (
                "* @acme/all\n*\n",
                Status::Fail,
                no_default,
                "CODEOWNERS line 1: default rule, overridden by line 2, which names no owner",
            ),
        ] {
            let verdict = judge("CODEOWNERS", &CodeOwners::parse(text.as_bytes()));
            assert_eq!((verdict.status, verdict.reason), (status, expected), "{text}");
            assert_eq!(verdict.actual.as_deref(), Some(said), "{text}");
        }
    }
}
