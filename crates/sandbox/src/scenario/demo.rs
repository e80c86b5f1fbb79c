//! The organization of the demo and most tests: fourteen repositories, each with a different situation.

use crate::codehost::{
    Actors, Body, Change, CodeHost, Fault, FaultKind, File, Organization, Protection, Repository, Role, Token,
};

/// An owner's classic token with `read:org`. The scenario lets it see private repositories, which on the real host
/// requires a scope with write access: the demo is about the results, not about scopes.
pub const DEMO_TOKEN: &str = "ghp_SandboxDemoOwnerTokenNotARealSecret1";
/// A member's classic token: the two-factor setting is `null`, classic protection 'Not Found'.
pub const DEMO_MEMBER_TOKEN: &str = "ghp_SandboxDemoMembrTokenNotARealSecret2";
/// A token with scopes that grant write access.
pub const DEMO_WRITE_TOKEN: &str = "ghp_SandboxDemoWriteTokenNotARealSecret3";
/// A token that expires soon: the answers contain its expiry.
pub const DEMO_EXPIRING_TOKEN: &str = "ghp_SandboxDemoExpirTokenNotARealSecret4";
/// An owner's fine-grained token, bound to the organization, with the three permissions needed for reading.
pub const DEMO_FINE_GRAINED_TOKEN: &str =
    "github_pat_SandboxDemoFineGrained_ThisIsNotARealSecretButItIsAsLongAsARealOneWouldBe012345678";
/// A secret in a comment of `infra`'s CODEOWNERS. It must not reach any bundle.
pub const DEMO_SECRET: &str = "ghp_9fK2mQx7Lp4Rt8Vw3Zs6Yb1Nc5Hd0Jg7Tu2E";

pub(super) fn fine_grained() -> Token {
    Token::fine_grained(DEMO_FINE_GRAINED_TOKEN)
        .resource_owner("acme")
        .permissions([
            "administration:read",
            "contents:read",
            "members:read",
            "metadata:read",
            "pull_requests:read",
        ])
        .expires("2027-03-31 22:00:00 UTC")
}

/// A rule with all good settings.
fn strong() -> Protection {
    Protection::new()
        .reviews(2)
        .dismiss_stale_reviews()
        .code_owner_reviews()
        .status_checks(["ci/build", "ci/test"])
        .strict()
        .enforce_admins(true)
}

/// A file of more than a megabyte: one line for each of many directories.
fn large_code_owners() -> String {
    let mut text = String::from("* @acme/legacy\n");
    for number in 0..32_000 {
        text.push_str(&format!("/modules/module-{number:05}/ @acme/legacy\n"));
    }
    text
}

/// The organization `acme`.
pub fn demo_organization() -> CodeHost {
    let repository = |name: &str| Repository::new("acme", name);
    let owners = |text: &str| File::text(text);
    CodeHost::new()
        .organization(
            Organization::new("acme")
                .name("Acme")
                .description("Everything a coyote needs")
                .two_factor(true)
                .default_repository_permission("read")
                .members_can_create_repositories(true)
                .members_can_create_public_repositories(false),
        )
        .token(Token::classic(DEMO_TOKEN).login("olivia-owner").scopes(["read:org"]).sees_private(true))
        .token(Token::classic(DEMO_MEMBER_TOKEN).login("max-member").role(Role::Member).scopes(["read:org"]))
        .token(
            Token::classic(DEMO_WRITE_TOKEN).login("olivia-owner").scopes(["repo", "read:org", "workflow"]),
        )
        .token(
            Token::classic(DEMO_EXPIRING_TOKEN)
                .login("olivia-owner")
                .scopes(["read:org"])
                .sees_private(true)
                .expires("2026-11-24 09:00:00 +0100"),
        )
        .token(fine_grained().login("olivia-owner"))
        // Everything right.
        .repository(
            repository("storefront")
                .language("TypeScript")
                .description("The shop")
                .vulnerability_alerts(true)
                .open_alert(3, "high", 20)
                .protection("main", strong())
                .file("CODEOWNERS", owners("# Everything\n*  @acme/web\n/checkout/  @acme/payments\n")),
        )
        // Also right: owners in the second location, people named in the rule, and a check that only looks like a
        // secret.
        .repository(
            repository("payments")
                .private(true)
                .language("Rust")
                .description("Moves money")
                .change(Change::new(12, Some("mia-member"), 72).approved_by("mona"))
                .protection(
                    "main",
                    strong()
                        .status_checks(["ci/build", "ci/test", "ci/api-key-check: 0a1b2c3d4e5f"])
                        .dismissal_restrictions(Actors::new().user("olivia-owner").team("payments")),
                )
                .file(
                    ".github/CODEOWNERS",
                    owners("*  @acme/payments\n*.md  @acme/writers docs@acme.example\n"),
                ),
        )
        // One review where two are better; its first answers are temporary failures.
        .repository(
            repository("mobile-app")
                .language("Kotlin")
                .protection("main", strong().reviews(1))
                .file(".github/CODEOWNERS", owners("* @acme/mobile\n")),
        )
        .fault(
            Fault::on("/repos/acme/mobile-app/branches/main/protection")
                .times(2)
                .kind(FaultKind::Status(502, Body::Html)),
        )
        // No checks at all, and no owners.
        .repository(
            repository("docs-site")
                .language("MDX")
                .protection("main", Protection::new().reviews(1).enforce_admins(true)),
        )
        // An empty section for checks, and a default rule inside a comment.
        .repository(
            repository("data-pipeline")
                .private(true)
                .language("Python")
                .protection("main", strong().status_checks(Vec::<String>::new()))
                .file("CODEOWNERS", owners("# *  @acme/data\n/etl/  @acme/data\n")),
        )
        // Administrators are exempt, and the default rule names no one.
        .repository(
            repository("internal-tools")
                .private(true)
                .language("Go")
                .protection("main", strong().enforce_admins(false))
                .file("CODEOWNERS", owners("*\n")),
        )
        // Unprotected, and a directory in place of the file.
        .repository(repository("prototype").language("Ruby").file("CODEOWNERS", File::directory()))
        // Its branch has another name, and its owners take more than a megabyte.
        .repository(
            repository("legacy-billing")
                .private(true)
                .language("Java")
                .default_branch("master")
                .protection("master", strong())
                .file("CODEOWNERS", owners(&large_code_owners())),
        )
        .repository(
            repository("old-website")
                .archived(true)
                .language("PHP")
                .protection("main", Protection::new().reviews(1))
                .file("CODEOWNERS", owners("* @acme/web\n")),
        )
        .repository(repository("new-service").private(true).empty())
        .repository(
            repository("finance-reports").plan_limited().file("CODEOWNERS", owners("* @acme/finance\n")),
        )
        // The token's user does not administer it.
        .repository(
            repository("security-tooling")
                .private(true)
                .language("Rust")
                .admin(false)
                .protection("main", strong())
                .file("CODEOWNERS", owners("* @acme/security\n")),
        )
        .repository(repository("infra").private(true).language("HCL").protection("main", strong()).file(
            ".github/CODEOWNERS",
            owners(&format!("# deploys use {DEMO_SECRET} until the vault is ready\n* @acme/platform\n")),
        ))
        .repository(repository("partner-mirror").fork(true).blocked("dmca"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_form_of_real_ones() {
        for token in [DEMO_TOKEN, DEMO_MEMBER_TOKEN, DEMO_WRITE_TOKEN, DEMO_EXPIRING_TOKEN, DEMO_SECRET] {
            let rest = token.strip_prefix("ghp_").unwrap();
            assert!(
                rest.len() == 36 && rest.chars().all(|c| c.is_ascii_alphanumeric()),
                "{} {}",
                token,
                rest.len()
            );
        }
        let rest = DEMO_FINE_GRAINED_TOKEN.strip_prefix("github_pat_").unwrap();
        assert_eq!(rest.len(), 82);
    }

    #[test]
    fn the_large_file_is_large() {
        let size = large_code_owners().len();
        assert!(size > (1 << 20) && size < 3_000_000, "{size}");
    }
}
