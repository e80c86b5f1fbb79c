//! The titles of reasons and rules.

use std::borrow::Cow;

/// The published reasons. A test compares them with the documentation.
const TITLES: &[(&str, &str)] = &[
    ("ok", "Rule met"),
    ("permission_denied", "Permission denied"),
    ("population_incomplete", "List of repositories incomplete"),
    ("not_found", "Not found"),
    ("host_error", "No usable answer from the host"),
    ("connection_failed", "Source not connected"),
    ("excluded_by_policy", "Evidence left out: it held a credential"),
    ("no_evidence", "Setting missing from the host's answer"),
    // The code host
    ("two_factor_disabled", "Two-factor authentication not required"),
    ("two_factor_not_visible", "Two-factor setting not visible to this token"),
    ("branch_unprotected", "Branch not protected"),
    ("branch_missing", "Branch does not exist"),
    ("default_branch_differs", "Another default branch"),
    ("reviews_not_required", "Approving reviews not required"),
    ("status_checks_not_configured", "Status checks not required"),
    ("admins_not_enforced", "Administrators can bypass branch protection"),
    ("bypass_not_visible", "Bypass list of the ruleset not visible"),
    ("bypass_contradiction", "Host contradicts itself about the bypass list"),
    ("codeowners_missing", "No CODEOWNERS file"),
    ("codeowners_in_docs", "CODEOWNERS only in docs/"),
    ("codeowners_no_owner", "No owner in CODEOWNERS"),
    ("codeowners_no_default_rule", "No default rule in CODEOWNERS"),
    ("codeowners_not_a_file", "CODEOWNERS is not a file"),
    ("codeowners_too_large", "CODEOWNERS file too large"),
    ("plan_limit", "Not available on the organization's plan"),
    ("sso_required", "Token not authorized for single sign-on"),
    ("blocked", "Repository blocked by the host"),
    ("archived", "Repository archived"),
    ("repository_disabled", "Repository disabled by the host"),
    ("empty_repository", "Repository empty"),
    // The cloud
    ("password_policy_missing", "No password policy"),
    ("password_too_short", "Short passwords allowed"),
    ("password_characters_not_required", "Password character types not required"),
    ("audit_trail_missing", "No audit trail"),
    ("audit_trail_not_logging", "Audit trail not logging"),
    ("audit_trail_not_multi_region", "Audit trail does not cover all regions"),
    ("trail_not_delivering", "Audit trail not delivering"),
    ("management_events_not_recorded", "Audit trail leaves out management events"),
    ("delivery_unconfirmed", "Delivery of the audit trail not confirmed"),
    ("no_users", "No users in the account"),
    ("log_retention_too_short", "Log retention too short"),
    ("no_log_groups", "No log groups in scope"),
    ("region_not_enabled", "Region not enabled for these credentials"),
    ("role_not_assumed", "Role in the account not assumed"),
    // The workspace directory
    ("two_step_not_enforced", "Two-step verification not enforced"),
    ("information", "For information"),
    ("two_step_not_visible", "Two-step verification not visible"),
    ("inactive_administrator", "Inactive user has an administrator role"),
    ("too_few_super_administrators", "Too few super administrators"),
    ("too_many_super_administrators", "Too many super administrators"),
    ("group_members_not_read", "Administrator role assigned to a group"),
    ("assignee_not_read", "Administrator outside the users read"),
];

/// The title of a reason; for a code that this version does not know, its words.
pub fn reason(code: &str) -> Cow<'static, str> {
    match TITLES.iter().find(|(known, _)| *known == code) {
        Some((_, title)) => Cow::Borrowed(title),
        None => Cow::Owned(code.replace('_', " ")),
    }
}

/// The rules whose title differs from their code.
const RULES: &[(&str, &str)] = &[
    ("two-factor-required", "Two-factor authentication"),
    ("two-step-verification", "Two-step verification"),
    ("codeowners-default-rule", "Default rule in CODEOWNERS"),
];

/// The title of a rule: the words of its code, beginning with a capital.
pub fn rule(code: &str) -> Cow<'static, str> {
    if let Some((_, title)) = RULES.iter().find(|(known, _)| *known == code) {
        return Cow::Borrowed(title);
    }
    let words = code.replace(['-', '_'], " ");
    let mut rest = words.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_published_reason_has_a_title() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let pages = std::fs::read_dir(format!("{docs}/sources")).unwrap().map(|entry| entry.unwrap().path());
        let pages = pages.chain([format!("{docs}/controls.md").into()]);
        let text = pages.map(|page| std::fs::read_to_string(page).unwrap()).collect::<Vec<_>>().join("\n");
        // The rows of tables of reasons: | `code` | status | ...
        let code = |line: &str| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let code = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
            ["pass", "fail", "not_verifiable", "not_applicable"].contains(&cells.next()?).then_some(code)
        };
        let published: BTreeSet<String> = text.lines().filter_map(code).collect();
        let titled: BTreeSet<String> = TITLES.iter().map(|(code, _)| (*code).to_owned()).collect();
        assert_eq!(titled, published);
        assert_eq!(titled.len(), TITLES.len(), "no code twice");
        assert_eq!(reason("made_up"), "made up");
    }

    #[test]
    fn rules_have_titles() {
        assert_eq!(rule("branch-protection"), "Branch protection");
        assert_eq!(rule("two-factor-required"), "Two-factor authentication");
        assert_eq!(rule(""), "");
    }
}
