//! The pages of the host's settings, and the ruleset that protects the branches of a whole organization.

use evidence_os::shell;
use url::Url;

use crate::source::place::{Place, Remedy, segment};
use evidence_rules::codehost::artifact::{PEOPLE, PROTECTION, SECURITY};
use evidence_rules::codehost::{
    BRANCH_PROTECTION, CHANGES_APPROVED, DEFAULT_PERMISSION, NO_DIRECT_PUSH, TWO_FACTOR_REQUIRED,
    VULNERABILITIES_IN_TIME, branch_protection as branch,
};
use evidence_rules::rule::Reason;

/// The reasons that the ruleset removes.
const BY_RULESET: [&Reason; 4] = [
    &branch::BRANCH_UNPROTECTED,
    &branch::REVIEWS_NOT_REQUIRED,
    &branch::STATUS_CHECKS_NOT_CONFIGURED,
    &branch::ADMINS_NOT_ENFORCED,
];

/// A ruleset that fulfils the rule in every repository.
const RULESET: &str = r#"{
  "name": "Reviews and checks",
  "target": "branch",
  "enforcement": "active",
  "bypass_actors": [],
  "conditions": {
    "ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []},
    "repository_name": {"include": ["~ALL"], "exclude": []}
  },
  "rules": [
    {"type": "pull_request", "parameters": {
      "required_approving_review_count": 1,
      "dismiss_stale_reviews_on_push": false,
      "require_code_owner_review": false,
      "require_last_push_approval": false,
      "required_review_thread_resolution": false}},
    {"type": "required_status_checks", "parameters": {
      "strict_required_status_checks_policy": false,
      "required_status_checks": [{"context": "CHECK"}]}}
  ]
}"#;

/// The page of a repository's branches, of a repository, or of the organization's settings.
pub(super) fn page(place: &Place<'_>) -> Option<String> {
    let web = web_of(place.api_url)?;
    Some(match place.subject.split_once('/') {
        Some((owner, name)) => {
            let repository = format!("{web}/{}/{}", segment(owner), segment(name));
            if PROTECTION.serves(place.rule) {
                format!("{repository}/settings/branches")
            } else if place.rule == VULNERABILITIES_IN_TIME.code {
                format!("{repository}/security/dependabot")
            } else if place.rule == CHANGES_APPROVED.code {
                format!("{repository}/pulls?q=is%3Apr+is%3Amerged")
            } else if place.rule == NO_DIRECT_PUSH.code {
                format!("{repository}/activity")
            } else if SECURITY.serves(place.rule) {
                format!("{repository}/settings/security_analysis")
            } else {
                repository
            }
        }
        None if place.rule == TWO_FACTOR_REQUIRED.code => {
            format!("{web}/organizations/{}/settings/security", segment(place.subject))
        }
        None if place.rule == DEFAULT_PERMISSION.code => {
            format!("{web}/organizations/{}/settings/member_privileges", segment(place.subject))
        }
        None if PEOPLE.serves(place.rule) => format!("{web}/orgs/{}/people", segment(place.subject)),
        None => format!("{web}/orgs/{}/repositories", segment(place.subject)),
    })
}

/// The organization's ruleset, for branches that lack protection.
pub(super) fn remedy(place: &Place<'_>, reason: &str) -> Option<Remedy> {
    let (owner, _) = place.subject.split_once('/')?;
    if place.rule != BRANCH_PROTECTION.code || !BY_RULESET.iter().any(|known| known.code == reason) {
        return None;
    }
    let web = web_of(place.api_url)?;
    let host = Url::parse(&web).ok()?.host_str().map(str::to_string)?;
    let host =
        if host == "github.com" { String::new() } else { format!("--hostname {} ", shell::word(&host)) };
    let owner = segment(owner);
    Some(Remedy {
        title: "One organization ruleset",
        note: "It applies to the default branch of every repository, and needs GitHub Team or Enterprise. Replace \
               CHECK with the name of a status check that runs in every repository: without it, nothing can be merged.",
        page: format!("{web}/organizations/{owner}/settings/rules"),
        command: format!("gh api {host}--method POST /orgs/{owner}/rulesets --input -"),
        input: RULESET,
    })
}

/// The address of the pages for people: on GitHub Enterprise Server, the API has a path of the same host; in the cloud, it
/// has a host of its own.
pub(super) fn web(api_url: &Url) -> String {
    let host = api_url.host_str().unwrap_or_default();
    let tenant = host.strip_prefix("api.").filter(|rest| *rest == "github.com" || rest.ends_with(".ghe.com"));
    if let Some(web) = tenant {
        return format!("https://{web}");
    }
    let path = api_url.path().trim_end_matches('/');
    format!("{}{}", api_url.origin().ascii_serialization(), path.strip_suffix("/api/v3").unwrap_or(path))
}

/// The same for an address in a bundle, which a stranger may have written.
fn web_of(api_url: &str) -> Option<String> {
    Url::parse(api_url).ok().filter(|url| ["http", "https"].contains(&url.scheme())).map(|url| web(&url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_rules::rule::reason;

    #[test]
    fn the_web_address_of_each_kind_of_host() {
        for (api_url, expected) in [
            ("https://api.github.com", Some("https://github.com")),
            ("https://api.github.com/", Some("https://github.com")),
            ("https://api.acme.ghe.com", Some("https://acme.ghe.com")),
            ("https://git.acme.example/api/v3", Some("https://git.acme.example")),
            ("https://git.acme.example:8443/api/v3/", Some("https://git.acme.example:8443")),
            ("https://acme.example/git/api/v3", Some("https://acme.example/git")),
            ("https://user@api.example", Some("https://api.example")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("javascript:alert(1)", None),
            ("ftp://host/api/v3", None),
            ("", None),
        ] {
            assert_eq!(web_of(api_url).as_deref(), expected, "{api_url}");
        }
    }

    #[test]
    fn each_setting_has_its_page() {
        let (two_factor, branch, owners) =
            ("two-factor-required", "branch-protection", "codeowners-default-rule");
        for (rule, subject, expected) in [
            (two_factor, "acme", "/organizations/acme/settings/security"),
            (branch, "acme/web", "/acme/web/settings/branches"),
            (owners, "acme/web", "/acme/web"),
            ("default-permission", "acme", "/organizations/acme/settings/member_privileges"),
            ("secret-scanning", "acme/web", "/acme/web/settings/security_analysis"),
            ("push-protection", "acme/web", "/acme/web/settings/security_analysis"),
            ("vulnerability-alerts", "acme/web", "/acme/web/settings/security_analysis"),
            ("history-protected", "acme/web", "/acme/web/settings/branches"),
            ("stale-approvals-dismissed", "acme/web", "/acme/web/settings/branches"),
            ("members-two-factor", "acme", "/orgs/acme/people"),
            ("owners-count", "acme", "/orgs/acme/people"),
            ("changes-approved", "acme/web", "/acme/web/pulls?q=is%3Apr+is%3Amerged"),
            ("no-direct-push", "acme/web", "/acme/web/activity"),
            ("vulnerabilities-in-time", "acme/web", "/acme/web/security/dependabot"),
            (branch, "acme", "/orgs/acme/repositories"),
            (owners, "acme", "/orgs/acme/repositories"),
            (branch, "acme/a b)/../x?#", "/acme/a%20b%29%2F..%2Fx%3F%23/settings/branches"),
        ] {
            let found = page(&Place { api_url: "https://api.github.com", rule, subject });
            assert_eq!(found, Some(format!("https://github.com{expected}")), "{rule} {subject}");
        }
    }

    #[test]
    fn one_ruleset_for_what_a_ruleset_repairs() {
        let of =
            |api_url, rule, subject, reason: &Reason| remedy(&Place { api_url, rule, subject }, reason.code);
        let rule = BRANCH_PROTECTION.code;
        let found = of("https://api.github.com", rule, "acme/web", &branch::BRANCH_UNPROTECTED).unwrap();
        assert_eq!(found.command, "gh api --method POST /orgs/acme/rulesets --input -");
        assert_eq!(found.page, "https://github.com/organizations/acme/settings/rules");
        let found =
            of("https://git.acme.example/api/v3", rule, "acme/web", &branch::ADMINS_NOT_ENFORCED).unwrap();
        assert!(found.command.starts_with("gh api --hostname git.acme.example --method POST"), "{found:?}");
        assert_eq!(of("https://api.github.com", rule, "acme", &branch::BRANCH_UNPROTECTED), None);
        assert_eq!(of("https://api.github.com", rule, "acme/web", &reason::PERMISSION_DENIED), None);
        assert_eq!(
            of("https://api.github.com", "codeowners-default-rule", "acme/web", &branch::BRANCH_MISSING),
            None
        );
        let ruleset: serde_json::Value = serde_json::from_str(RULESET).unwrap();
        assert_eq!(ruleset["rules"].as_array().map(Vec::len), Some(2));
    }
}
