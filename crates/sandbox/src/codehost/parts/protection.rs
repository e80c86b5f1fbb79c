//! Branches: classic protection with all its refusals, and the branch itself.

use super::super::organization::lacks_plan;
use super::super::organization_body::{WEB, account_id, node_id, simple_account};
use super::super::part::{Asked, Part};
use super::super::permission::Endpoint;
use super::super::reply::{Reply, UPGRADE};
use super::super::world::World;
use super::super::{Actors, Organization, Protection, Repository, Reviews, StatusChecks};
use super::ruleset::protects;
use crate::json::{self, Object};
use crate::sha1;

/// `GET …/branches/{branch}/protection`
pub(super) static PROTECTION: Part = Part {
    name: "protection",
    path: &["branches", "*", "protection"],
    documentation: "https://docs.github.com/rest/branches/branch-protection#get-branch-protection",
    permissions: "administration=read",
    refused_as: Some(Endpoint::Protection),
    newer: false,
    answer: protection,
};

// The permission for it is not known for certain.
/// `GET …/branches/{branch}`
pub(super) static BRANCH: Part = Part {
    name: "branch",
    path: &["branches", "*"],
    documentation: "https://docs.github.com/rest/branches/branches#get-a-branch",
    permissions: "contents=read",
    refused_as: Some(Endpoint::Branch),
    newer: false,
    answer: branch,
};

/// `GET …/branches/{branch}/protection`.
fn protection(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, organization, repository, parameter: branch, who, .. } = *asked;
    let refuse = |status, message: &str| Err(Reply::error(status, message, PROTECTION.documentation));
    if who.token().is_none() {
        return refuse(401, "Requires authentication");
    }
    who.permitted(repository, "administration", PROTECTION.documentation)?;
    // Only administrators see it: others get the same 404 as for a missing rule.
    if !who.administers(organization, repository) {
        return refuse(404, "Not Found");
    }
    if lacks_plan(organization, repository) {
        return refuse(403, UPGRADE);
    }
    if repository.protection_disabled {
        return refuse(404, "Branch protection has been disabled on this repository.");
    }
    if !repository.has_branch(branch) {
        return refuse(404, "Branch not found");
    }
    let Some(rule) = repository.protections.get(branch) else { return refuse(404, "Branch not protected") };
    if let Some(body) = &rule.body {
        return Ok(Reply::json(body.to_string()));
    }
    let base =
        format!("{}/repos/{}/{}/branches/{branch}/protection", world.url, repository.owner, repository.name);
    Ok(Reply::json(json::object(|o| fill(o, world, rule, &base, repository))))
}

fn fill(o: &mut Object<'_>, world: &World, rule: &Protection, base: &str, repository: &Repository) {
    o.str("url", base);
    if let Some(checks) = &rule.status_checks {
        o.object("required_status_checks", |o| status_checks(o, checks, base));
    }
    if let Some(allowed) = &rule.restrictions {
        o.object("restrictions", |o| {
            o.text("url", &[base, "/restrictions"]);
            o.text("users_url", &[base, "/restrictions/users"]);
            o.text("teams_url", &[base, "/restrictions/teams"]);
            o.text("apps_url", &[base, "/restrictions/apps"]);
            actors(o, world, allowed, &repository.owner);
        });
    }
    if let Some(demanded) = &rule.reviews {
        o.object("required_pull_request_reviews", |o| reviews(o, world, demanded, base, repository));
    }
    for (key, enabled) in [("required_signatures", rule.signatures), ("enforce_admins", rule.enforce_admins)]
    {
        o.object(key, |o| {
            o.text("url", &[base, "/", key]);
            o.bool("enabled", enabled);
        });
    }
    for (key, enabled) in [
        ("required_linear_history", rule.linear_history),
        ("allow_force_pushes", rule.force_pushes),
        ("allow_deletions", rule.deletions),
        ("block_creations", rule.block_creations),
        ("required_conversation_resolution", rule.conversation_resolution),
        ("lock_branch", rule.lock),
        ("allow_fork_syncing", rule.fork_syncing),
    ] {
        o.object(key, |o| o.bool("enabled", enabled));
    }
}

fn status_checks(o: &mut Object<'_>, checks: &StatusChecks, base: &str) {
    o.text("url", &[base, "/required_status_checks"]);
    o.bool("strict", checks.strict);
    o.array("contexts", |a| checks.contexts.iter().for_each(|context| a.str(context)));
    o.text("contexts_url", &[base, "/required_status_checks/contexts"]);
    o.array("checks", |a| {
        for context in &checks.contexts {
            a.object(|o| {
                o.str("context", context);
                // Here, names with a slash come from the host's own runner, others from anywhere.
                if context.starts_with("ci/") {
                    o.num("app_id", 15_368);
                } else {
                    o.null("app_id");
                }
            });
        }
    });
}

fn reviews(o: &mut Object<'_>, world: &World, demanded: &Reviews, base: &str, repository: &Repository) {
    let base = format!("{base}/required_pull_request_reviews");
    o.str("url", &base);
    o.bool("dismiss_stale_reviews", demanded.dismiss_stale);
    o.bool("require_code_owner_reviews", demanded.code_owners);
    o.bool("require_last_push_approval", demanded.last_push_approval);
    if let Some(count) = demanded.count {
        o.id("required_approving_review_count", u64::from(count));
    }
    if let Some(allowed) = &demanded.dismissal_restrictions {
        let base = base.replace("/required_pull_request_reviews", "/dismissal_restrictions");
        o.object("dismissal_restrictions", |o| {
            o.str("url", &base);
            o.text("users_url", &[&base, "/users"]);
            o.text("teams_url", &[&base, "/teams"]);
            actors(o, world, allowed, &repository.owner);
        });
    }
    if let Some(allowed) = &demanded.bypass_allowances {
        o.object("bypass_pull_request_allowances", |o| actors(o, world, allowed, &repository.owner));
    }
}

/// People, teams and apps in full, like on the host: logins, avatars and more.
fn actors(o: &mut Object<'_>, world: &World, actors: &Actors, owner: &str) {
    let url = world.url.as_str();
    o.array("users", |a| {
        for login in &actors.users {
            a.object(|o| simple_account(o, url, login, account_id(login), false));
        }
    });
    o.array("teams", |a| {
        for slug in &actors.teams {
            let id = account_id(slug);
            let org =
                world.organization(owner).map_or_else(|| account_id(owner), Organization::number).to_string();
            let number = id.to_string();
            let base = [url, "/organizations/", &org, "/team/", &number].concat();
            a.object(|o| {
                o.str("name", slug);
                o.id("id", id);
                o.str("node_id", &node_id("T", id));
                o.str("slug", slug);
                o.text("description", &["The ", slug, " team"]);
                o.str("type", "organization");
                o.str("privacy", "closed");
                o.str("notification_setting", "notifications_enabled");
                o.str("url", &base);
                o.text("html_url", &[WEB, "/orgs/", owner, "/teams/", slug]);
                o.text("members_url", &[&base, "/members{/member}"]);
                o.text("repositories_url", &[&base, "/repos"]);
                o.str("permission", "pull");
                o.null("parent");
            });
        }
    });
    o.array("apps", |a| {
        for slug in &actors.apps {
            let id = account_id(slug);
            a.object(|o| {
                o.id("id", id);
                o.str("slug", slug);
                o.str("node_id", &node_id("A", id));
                o.object("owner", |o| simple_account(o, url, owner, account_id(owner), true));
                o.str("name", slug);
                o.null("description");
                o.text("external_url", &["https://", slug, ".example"]);
                o.text("html_url", &[WEB, "/apps/", slug]);
                o.str("created_at", "2021-02-03T10:11:12Z");
                o.str("updated_at", "2025-02-03T10:11:12Z");
                o.object("permissions", |o| {
                    o.str("checks", "write");
                    o.str("metadata", "read");
                });
                o.array("events", |a| a.str("push"));
            });
        }
    });
}

/// `GET …/branches/{branch}`: with the whole commit, including names and addresses.
fn branch(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, organization, repository, parameter: branch, who, .. } = *asked;
    who.permitted(repository, "contents", BRANCH.documentation)?;
    if !repository.has_branch(branch) {
        return Err(Reply::error(404, "Branch not found", BRANCH.documentation));
    }
    let full = format!("{}/{}", repository.owner, repository.name);
    let base = format!("{}/repos/{full}", world.url);
    let sha = sha1::name_id(&format!("{full} {branch}"));
    let rule = repository.protections.get(branch).filter(|_| !repository.protection_disabled);
    let ruled = protects(world, organization, repository, branch);
    Ok(Reply::json(json::object(|o| {
        o.str("name", branch);
        o.object("commit", |o| commit(o, world, &base, &full, &sha));
        o.object("_links", |o| {
            o.text("self", &[&base, "/branches/", branch]);
            o.text("html", &[WEB, "/", &full, "/tree/", branch]);
        });
        // Also true with a ruleset, while the section below covers only classic rules.
        o.bool("protected", rule.is_some() || ruled);
        o.object("protection", |o| {
            o.bool("enabled", rule.is_some());
            let contexts = rule.and_then(|rule| rule.status_checks.as_ref()).map(|checks| &checks.contexts);
            o.object("required_status_checks", |o| {
                o.str("enforcement_level", if contexts.is_some() { "everyone" } else { "off" });
                let contexts = contexts.cloned().unwrap_or_default();
                o.array("contexts", |a| contexts.iter().for_each(|context| a.str(context)));
                o.array("checks", |a| {
                    for context in &contexts {
                        a.object(|o| {
                            o.str("context", context);
                            o.null("app_id");
                        });
                    }
                });
            });
        });
        o.text("protection_url", &[&base, "/branches/", branch, "/protection"]);
    })))
}

fn commit(o: &mut Object<'_>, world: &World, base: &str, full: &str, sha: &str) {
    let person = |o: &mut Object<'_>| {
        o.str("name", "Mona Contributor");
        o.str("email", "mona@acme.example");
        o.str("date", "2026-10-30T15:04:05Z");
    };
    o.str("sha", sha);
    o.str("node_id", &node_id("C", account_id(sha)));
    o.object("commit", |o| {
        o.object("author", person);
        o.object("committer", person);
        o.str("message", "Rotate the staging credentials\n\nAsked for by the customer; see the ticket.");
        o.object("tree", |o| {
            let tree = sha1::name_id(&format!("{full} tree"));
            o.str("sha", &tree);
            o.text("url", &[base, "/git/trees/", &tree]);
        });
        o.text("url", &[base, "/git/commits/", sha]);
        o.num("comment_count", 0);
        o.object("verification", |o| {
            o.bool("verified", false);
            o.str("reason", "unsigned");
            o.null("signature");
            o.null("payload");
            o.null("verified_at");
        });
    });
    o.text("url", &[base, "/commits/", sha]);
    o.text("html_url", &[WEB, "/", full, "/commit/", sha]);
    o.text("comments_url", &[base, "/commits/", sha, "/comments"]);
    for role in ["author", "committer"] {
        o.object(role, |o| simple_account(o, &world.url, "mona", account_id("mona"), false));
    }
    o.array("parents", |_| {});
}
