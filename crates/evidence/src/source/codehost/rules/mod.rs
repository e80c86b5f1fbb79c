//! What the code host's evidence must show: its rules, and the pure functions that judge by them.
//!
//! One rule, one file, one heading in the documentation. Nothing here asks the host.

pub mod branch_protection;
pub mod default_owners;
pub mod reason;
pub mod two_factor;

use evidence_bundle::document::Category::Improvement;
use evidence_bundle::document::Severity::Info;

use crate::control::Control;
use crate::rule::{Advice, Rule};

/// All of them, in the order of the controls.
pub static ALL: &[&Rule] = &[&TWO_FACTOR_REQUIRED, &CODEOWNERS_DEFAULT_RULE, &BRANCH_PROTECTION];

/// CC6.1: the organization requires two-factor authentication.
pub static TWO_FACTOR_REQUIRED: Rule = Rule {
    code: "two-factor-required",
    control: Control::Cc6_1,
    expected: "two-factor authentication is required of every member",
    permission: "Collect with a token whose user is an organization owner.",
    improvement: None,
};

/// CC6.6: a CODEOWNERS file assigns an owner to every file.
pub static CODEOWNERS_DEFAULT_RULE: Rule = Rule {
    code: "codeowners-default-rule",
    control: Control::Cc6_6,
    expected: "a CODEOWNERS file in the root or in .github/ with a default rule that has an owner",
    permission: "Give a fine-grained token `Contents: read` on this repository.",
    improvement: None,
};

/// CC7.2: changes to the branch need a review and status checks, from administrators too.
pub static BRANCH_PROTECTION: Rule = Rule {
    code: "branch-protection",
    control: Control::Cc7_2,
    expected: "at least 1 approving review, at least one required status check, enforced for administrators",
    permission: "Branch protection is shown to repository administrators only: give a fine-grained token \
                 `Administration: read` on this repository, and let its user be an administrator of it.",
    improvement: Some(Advice {
        severity: Info,
        category: Improvement,
        title: "one approving review is the minimum",
        remediation: "Require 2 approving reviews in the branch protection rule.",
    }),
};
