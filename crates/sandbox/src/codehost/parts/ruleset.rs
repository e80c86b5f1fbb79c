//! Rulesets as answers: the rules for a branch, and a single ruleset.

use super::super::access::Who;
use super::super::organization::lacks_plan;
use super::super::organization_body::{WEB, node_id};
use super::super::paging::Page;
use super::super::part::{Asked, Part};
use super::super::permission::Endpoint;
use super::super::reply::{Reply, UPGRADE};
use super::super::ruleset::{Bypass, BypassMode, Enforcement, Level, Patterns, Ruleset, Target};
use super::super::state::MAXIMUM_PAGE_SIZE;
use super::super::world::World;
use super::super::{Organization, Permission, Repository};
use crate::json::{self, Object};
use serde_json::{Map, Value};

/// `GET …/rules/branches/{branch}`
pub(super) static RULES: Part = Part {
    name: "rules",
    path: &["rules", "branches", "*"],
    documentation: "https://docs.github.com/rest/repos/rules#get-rules-for-a-branch",
    permissions: "metadata=read",
    refused_as: Some(Endpoint::Rules),
    newer: true,
    answer: rules,
};

/// `GET …/rulesets/{id}`
pub(super) static RULESET: Part = Part {
    name: "ruleset",
    path: &["rulesets", "*"],
    documentation: "https://docs.github.com/rest/repos/rules#get-a-repository-ruleset",
    permissions: "metadata=read",
    refused_as: Some(Endpoint::Ruleset),
    newer: true,
    answer: ruleset,
};

struct Placed<'a> {
    level: Level,
    source: String,
    ruleset: &'a Ruleset,
}

/// Every ruleset for a repository, enforced or not.
fn placed<'a>(
    world: &'a World,
    organization: Option<&'a Organization>,
    repository: &'a Repository,
) -> impl Iterator<Item = Placed<'a>> {
    // The host's order is not known; this one goes from the top level down.
    let enterprise = world.host.enterprise_rulesets.iter().map(|(slug, ruleset)| Placed {
        level: Level::Enterprise,
        source: slug.clone(),
        ruleset,
    });
    let organization = organization.into_iter().flat_map(|organization| {
        organization.rulesets.iter().map(|ruleset| Placed {
            level: Level::Organization,
            source: organization.login.clone(),
            ruleset,
        })
    });
    let above = enterprise
        .chain(organization)
        .filter(|placed| placed.ruleset.repositories.hold(&repository.name, |_| false));
    above.chain(repository.rulesets.iter().map(|ruleset| Placed {
        level: Level::Repository,
        source: format!("{}/{}", repository.owner, repository.name),
        ruleset,
    }))
}

/// Whether a ruleset protects a branch, whatever it requires.
pub(super) fn protects(
    world: &World,
    organization: Option<&Organization>,
    repository: &Repository,
    branch: &str,
) -> bool {
    repository.rules.get(branch).is_some_and(|rules| !rules.is_empty())
        || placed(world, organization, repository).any(|placed| {
            placed.ruleset.target == Target::Branch
                && placed.ruleset.holds_for(branch, &repository.default_branch)
                && !placed.ruleset.rules.is_empty()
        })
}

fn refused(
    organization: Option<&Organization>,
    repository: &Repository,
    who: &Who,
    documentation: &str,
) -> Result<(), Reply> {
    who.permitted(repository, "metadata", documentation)?;
    if lacks_plan(organization, repository) {
        return Err(Reply::error(403, UPGRADE, documentation));
    }
    Ok(())
}

/// Every active rule for a branch of that name.
fn branch_rules(
    world: &World,
    organization: Option<&Organization>,
    repository: &Repository,
    branch: &str,
) -> Vec<Value> {
    let mut rules = Vec::new();
    for Placed { level, source, ruleset } in placed(world, organization, repository) {
        if !ruleset.holds_for(branch, &repository.default_branch) {
            continue;
        }
        rules.extend(ruleset.rules.iter().map(|rule| {
            let mut shown = Map::new();
            for key in ["type", "parameters"] {
                if let Some(value) = rule.get(key) {
                    shown.insert(key.to_owned(), value.clone());
                }
            }
            shown.insert("ruleset_source_type".to_owned(), level.name().into());
            shown.insert("ruleset_source".to_owned(), source.as_str().into());
            shown.insert("ruleset_id".to_owned(), ruleset.id.into());
            Value::Object(shown)
        }));
    }
    rules.extend(repository.rules.get(branch).into_iter().flatten().cloned());
    rules
}

/// `GET …/rules/branches/{branch}`: every active rule for that name; the branch need not exist.
fn rules(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, organization, repository, parameter: branch, who, call, .. } = *asked;
    refused(organization, repository, who, RULES.documentation)?;
    let rules = branch_rules(world, organization, repository, branch);
    let page = Page::of(call, MAXIMUM_PAGE_SIZE);
    let shown = rules.get(page.range(rules.len(), call.shift)).unwrap_or_default();
    let reply =
        Reply::json(json::array(|a| shown.iter().for_each(|rule| a.raw(rule.to_string().as_bytes()))));
    let base = format!("{}{}", call.origin, call.path_and_query.split('?').next().unwrap_or_default());
    Ok(match page.link(&base, &call.query, rules.len()) {
        Some(link) => reply.header(hyper::header::LINK, link),
        None => reply,
    })
}

/// `GET …/rulesets/{id}`: including those of the organization and the enterprise, unless the caller excludes
/// them.
fn ruleset(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, organization, repository, parameter: id, who, call, .. } = *asked;
    refused(organization, repository, who, RULESET.documentation)?;
    let parents = call.parameter("includes_parents") != Some("false");
    let admin = who.permission(organization, repository) == Permission::Admin;
    let found = placed(world, organization, repository).find(|placed| {
        placed.ruleset.id.to_string() == id
            && placed.ruleset.shown
            && (parents || placed.level == Level::Repository)
            // "Anyone with read access to a repository can view the active rulesets"; the documentation does not
            // mention others.
            && (admin || placed.ruleset.enforcement == Enforcement::Active)
    });
    let Some(placed) = found else { return Err(Reply::not_found(RULESET.documentation)) };
    let shown = placed
        .ruleset
        .bypass_shown
        .unwrap_or_else(|| who.changes_rulesets(placed.level, organization, repository));
    let user = match &placed.ruleset.user_bypass {
        Some(said) => said.as_deref(),
        None => who.token().map(|_| user_bypass(placed.ruleset, who, organization, repository)),
    };
    Ok(Reply::json(json::object(|o| fill(o, world, repository, &placed, shown, user))))
}

fn fill(
    o: &mut Object<'_>,
    world: &World,
    repository: &Repository,
    placed: &Placed<'_>,
    bypass_shown: bool,
    user_bypass: Option<&str>,
) {
    let Placed { level, source, ruleset } = placed;
    o.id("id", ruleset.id);
    o.str("name", &ruleset.name);
    o.str("target", ruleset.target.name());
    o.str("source_type", level.name());
    o.str("source", source);
    o.str("enforcement", ruleset.enforcement.name());
    o.object("conditions", |o| {
        if ruleset.target != Target::Repository {
            o.object("ref_name", |o| patterns(o, &ruleset.branches));
        }
        if *level != Level::Repository {
            o.object("repository_name", |o| {
                patterns(o, &ruleset.repositories);
                o.bool("protected", true);
            });
        }
    });
    o.array("rules", |a| ruleset.rules.iter().for_each(|rule| a.raw(rule.to_string().as_bytes())));
    o.str("node_id", &node_id("RRS", ruleset.id));
    o.str("created_at", "2026-07-07T19:47:51.339+02:00");
    o.str("updated_at", "2026-07-15T01:42:31.570+02:00");
    // Absent if hidden: an empty list would mean that no one may bypass.
    if bypass_shown {
        o.array("bypass_actors", |a| {
            for actor in &ruleset.bypass {
                a.object(|o| {
                    match actor.id {
                        Some(id) => o.id("actor_id", id),
                        None => o.null("actor_id"),
                    }
                    o.str("actor_type", &actor.kind);
                    if let Some(mode) = actor.mode {
                        o.str("bypass_mode", mode.name());
                    }
                });
            }
        });
    }
    if let Some(word) = user_bypass {
        o.str("current_user_can_bypass", word);
    }
    let (full, id) = (format!("{}/{}", repository.owner, repository.name), ruleset.id.to_string());
    o.object("_links", |o| {
        o.object("self", |o| o.text("href", &[&world.url, "/repos/", &full, "/rulesets/", &id]));
        match level {
            Level::Repository => o.object("html", |o| o.text("href", &[WEB, "/", &full, "/rules/", &id])),
            Level::Organization => o.object("html", |o| {
                o.text("href", &[WEB, "/organizations/", source, "/settings/rules/", &id]);
            }),
            Level::Enterprise => o.null("html"),
        }
    });
}

fn patterns(o: &mut Object<'_>, patterns: &Patterns) {
    o.array("exclude", |a| patterns.exclude.iter().for_each(|name| a.str(name)));
    o.array("include", |a| patterns.include.iter().for_each(|name| a.str(name)));
}

/// The value of `current_user_can_bypass`. A role includes higher ones; teams, apps and keys are not this user.
fn user_bypass(
    ruleset: &Ruleset,
    who: &Who,
    organization: Option<&Organization>,
    repository: &Repository,
) -> &'static str {
    let role = who.permission(organization, repository);
    let is_user = |actor: &&Bypass| match (actor.kind.as_str(), actor.id) {
        ("RepositoryRole", Some(5)) => role >= Permission::Admin,
        ("RepositoryRole", Some(4)) => role >= Permission::Push,
        ("RepositoryRole", Some(2)) => role >= Permission::Maintain,
        ("OrganizationAdmin", _) => who.owns(),
        ("User", Some(id)) => who.token().is_some_and(|token| token.user_id() == id),
        _ => false,
    };
    // Which mode applies to a user with several is not known; here the widest does.
    let modes = ruleset.bypass.iter().filter(is_user).map(|actor| actor.mode.unwrap_or(BypassMode::Always));
    modes
        .map(|mode| match mode {
            BypassMode::PullRequest => (1, "pull_requests_only"),
            BypassMode::Always => (2, "always"),
            BypassMode::Exempt => (3, "exempt"),
        })
        .max()
        .map_or("never", |(_, word)| word)
}
