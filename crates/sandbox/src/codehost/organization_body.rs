//! Accounts as JSON: organizations as the caller's role sees them, the caller itself, the entry page.

use super::access::Who;
use super::reply::{Reply, docs};
use super::world::World;
use super::{Organization, Role};
use crate::json::{self, Object};
use base64::Engine as _;

/// The base of web pages. A reserved name, so that nothing here leads to a real account.
pub(super) const WEB: &str = "https://codehost.example";

/// An id in the form of the newer node ids.
pub(super) fn node_id(prefix: &str, id: u64) -> String {
    let packed = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(id.to_be_bytes());
    format!("{prefix}_kgDO{packed}")
}

/// An account inside other objects.
pub(super) fn simple_account(o: &mut Object<'_>, url: &str, login: &str, id: u64, organization: bool) {
    let number = id.to_string();
    o.str("login", login);
    o.id("id", id);
    o.str("node_id", &node_id(if organization { "O" } else { "U" }, id));
    o.text("avatar_url", &["https://avatars.codehost.example/u/", &number, "?v=4"]);
    o.str("gravatar_id", "");
    let base = json::escaped(&[url, "/users/", login].concat());
    o.joined("url", &[&base]);
    o.text("html_url", &[WEB, "/", login]);
    for (key, rest) in [
        ("followers_url", "/followers"),
        ("following_url", "/following{/other_user}"),
        ("gists_url", "/gists{/gist_id}"),
        ("starred_url", "/starred{/owner}{/repo}"),
        ("subscriptions_url", "/subscriptions"),
        ("organizations_url", "/orgs"),
        ("repos_url", "/repos"),
        ("events_url", "/events{/privacy}"),
        ("received_events_url", "/received_events"),
    ] {
        o.joined(key, &[&base, rest]);
    }
    let kind = match organization {
        true => "Organization",
        false if login.ends_with("[bot]") => "Bot",
        false => "User",
    };
    o.str("type", kind);
    o.str("user_view_type", "public");
    o.bool("site_admin", false);
}

/// The id of an account that has only a login here.
pub(super) fn account_id(login: &str) -> u64 {
    login.bytes().fold(583_000, |sum, byte| (sum * 31 + u64::from(byte)) % 90_000_000)
}

/// `GET /orgs/{org}`. Owners see everything; members see `null` for the most important settings; everyone else gets
/// 200 too, without those members.
pub(super) fn organization(world: &World, organization: &Organization, who: &Who) -> Vec<u8> {
    let view = who.view(organization);
    let (url, login, id) = (world.url.as_str(), organization.login.as_str(), organization.number());
    let (public, private) = counts(world, organization);
    json::object(|o| {
        let number = id.to_string();
        o.str("login", login);
        o.id("id", id);
        o.str("node_id", &node_id("O", id));
        o.text("url", &[url, "/orgs/", login]);
        for (key, rest) in [
            ("repos_url", "/repos"),
            ("events_url", "/events"),
            ("hooks_url", "/hooks"),
            ("issues_url", "/issues"),
            ("members_url", "/members{/member}"),
            ("public_members_url", "/public_members{/member}"),
        ] {
            o.text(key, &[url, "/orgs/", login, rest]);
        }
        o.text("avatar_url", &["https://avatars.codehost.example/u/", &number, "?v=4"]);
        o.str_or_null("description", organization.description.as_deref());
        o.str("name", &organization.name);
        o.null("company");
        o.text("blog", &["https://www.", login, ".example"]);
        o.str("location", "Earth");
        o.text("email", &["hello@", login, ".example"]);
        o.null("twitter_username");
        o.bool("is_verified", false);
        o.bool("has_organization_projects", true);
        o.bool("has_repository_projects", true);
        o.id("public_repos", public);
        o.num("public_gists", 0);
        o.num("followers", 12);
        o.num("following", 0);
        o.text("html_url", &[WEB, "/", login]);
        o.str("created_at", "2018-03-09T16:56:17Z");
        o.str("updated_at", "2026-10-20T08:44:26Z");
        o.null("archived_at");
        o.str("type", "Organization");
        if view != Role::Outsider {
            inside(o, organization, private, view == Role::Owner);
        }
    })
}

fn inside(o: &mut Object<'_>, organization: &Organization, private: u64, owner: bool) {
    o.id("total_private_repos", private);
    o.id("owned_private_repos", private);
    if owner {
        o.num("private_gists", 0);
        o.num("disk_usage", 183_542);
        o.num("collaborators", 3);
        o.text("billing_email", &["billing@", &organization.login, ".example"]);
        o.str("default_repository_permission", &organization.default_repository_permission);
        o.bool("members_can_create_repositories", organization.members_can_create_repositories);
        o.bool("two_factor_requirement_enabled", organization.two_factor);
    } else {
        for hidden in
            ["private_gists", "disk_usage", "collaborators", "billing_email", "default_repository_permission"]
        {
            o.null(hidden);
        }
        o.bool("members_can_create_repositories", organization.members_can_create_repositories);
        o.null("two_factor_requirement_enabled");
    }
    // Servers from before 2022 send none of these, not even to owners.
    if let Some(public) = organization.members_can_create_public_repositories {
        let create = organization.members_can_create_repositories;
        let kind = match (create, public) {
            (false, _) => "none",
            (true, true) => "all",
            (true, false) => "private",
        };
        o.str("members_allowed_repository_creation_type", kind);
        o.bool("members_can_create_public_repositories", create && public);
        o.bool("members_can_create_private_repositories", create);
        o.bool("members_can_create_internal_repositories", false);
        o.bool("members_can_create_pages", true);
        o.bool("members_can_fork_private_repositories", false);
        o.bool("web_commit_signoff_required", false);
        o.bool("deploy_keys_enabled_for_repositories", true);
        o.bool("members_can_create_public_pages", true);
        o.bool("members_can_create_private_pages", true);
        if owner {
            for setting in [
                "advanced_security_enabled_for_new_repositories",
                "dependabot_alerts_enabled_for_new_repositories",
                "dependabot_security_updates_enabled_for_new_repositories",
                "dependency_graph_enabled_for_new_repositories",
                "secret_scanning_enabled_for_new_repositories",
                "secret_scanning_push_protection_enabled_for_new_repositories",
                "secret_scanning_push_protection_custom_link_enabled",
                "secret_scanning_validity_checks_enabled",
            ] {
                o.bool(setting, false);
            }
            o.null("secret_scanning_push_protection_custom_link");
        }
    }
    o.object("plan", |o| {
        o.str("name", &organization.plan);
        o.num("space", 976_562_499);
        o.num("private_repos", 999_999);
        o.num("filled_seats", 42);
        o.num("seats", 50);
    });
}

fn counts(world: &World, organization: &Organization) -> (u64, u64) {
    let owned = world.host.repositories.iter().filter(|r| r.owner.eq_ignore_ascii_case(&organization.login));
    let (mut public, mut private) = (0, 0);
    for repository in owned {
        *(if repository.is_private() { &mut private } else { &mut public }) += 1;
    }
    if let Some(fleet) = &organization.fleet {
        let hidden = fleet.private_count();
        private += hidden;
        public += u64::from(fleet.count()) - hidden;
    }
    (public, private)
}

/// `GET /user`.
pub(super) fn user(world: &World, who: &Who) -> Result<Reply, Reply> {
    let Some(token) = who.token() else {
        return Err(Reply::error(401, "Requires authentication", docs::USER));
    };
    if token.kind == super::TokenKind::App {
        return Err(Reply::error(403, "Resource not accessible by integration", docs::USER));
    }
    Ok(Reply::json(json::object(|o| {
        simple_account(o, &world.url, &token.login, token.user_id(), false);
        o.str("name", "Octo Auditor");
        for unset in
            ["company", "location", "email", "hireable", "bio", "twitter_username", "notification_email"]
        {
            o.null(unset);
        }
        o.str("blog", "");
        o.num("public_repos", 2);
        o.num("public_gists", 0);
        o.num("followers", 1);
        o.num("following", 0);
        o.str("created_at", "2019-05-14T09:12:44Z");
        o.str("updated_at", "2026-09-02T07:31:05Z");
        if token.has_scope("user") {
            o.num("private_gists", 0);
            o.num("total_private_repos", 0);
            o.num("owned_private_repos", 0);
            o.num("disk_usage", 128);
            o.num("collaborators", 0);
            o.bool("two_factor_authentication", true);
            o.object("plan", |o| {
                o.str("name", "free");
                o.num("space", 976_562_499);
                o.num("collaborators", 0);
                o.num("private_repos", 10_000);
            });
        }
    })))
}

/// `GET /`: some clients look here first.
pub(super) fn root(url: &str) -> Vec<u8> {
    json::object(|o| {
        o.text("current_user_url", &[url, "/user"]);
        o.text("organization_url", &[url, "/orgs/{org}"]);
        o.text("organization_repositories_url", &[url, "/orgs/{org}/repos{?type,page,per_page,sort}"]);
        o.text("rate_limit_url", &[url, "/rate_limit"]);
        o.text("repository_url", &[url, "/repos/{owner}/{repo}"]);
        o.text("user_url", &[url, "/users/{user}"]);
    })
}
