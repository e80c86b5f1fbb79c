//! The endpoints: combine a route, a caller and the state into an answer. Read-only: a write is refused.

use super::access::{Who, partial_results, policy};
use super::paging::Page;
use super::part::{Asked, AskedOfOrganization};
use super::parts::changes;
use super::reply::{Reply, docs};
use super::routes::{OrganizationPath, Part, RepositoryPath, Route};
use super::version::{VERSIONS, version};
use super::world::{Order, RepositoryLookup, World};
use super::{Endpoint, Organization, Repository};
use super::{app_endpoints, contents, organization_body, repository_body};
use crate::json;
use crate::server::Call;
use bytes::Bytes;
use hyper::header::{self, HeaderName};
use std::sync::Arc;

/// Refuses a write. The answer depends on what the host would check first.
pub(super) fn write(world: &World, who: &Who, route: &Route) -> Reply {
    let archived = |repository: &Repository| repository.archived;
    match (who.token(), route) {
        (None, _) => Reply::error(401, "Requires authentication", docs::REST),
        (Some(token), _) if !token.kind.has_scopes() => {
            Reply::error(403, "Resource not accessible by personal access token", docs::REST)
        }
        (Some(token), Route::Repository(place, _))
            if token.has_scope("repo") || token.has_scope("public_repo") =>
        {
            match find(world, who, place, docs::REST) {
                Ok((repository, _)) if archived(&repository) => {
                    Reply::error(403, "Repository was archived so is read-only.", docs::REST)
                }
                Ok(_) => Reply::error(403, "Must have admin rights to Repository.", docs::REST),
                Err(reply) => reply,
            }
        }
        _ => Reply::not_found(docs::REST),
    }
}

/// The answer, or the refusal.
pub(super) fn read(world: &World, who: &Who, route: &Route, call: &Call) -> Result<Reply, Reply> {
    match route {
        Route::Root => Ok(Reply::json(organization_body::root(&world.url))),
        Route::User => organization_body::user(world, who),
        Route::RateLimit => Err(Reply::error(404, "Rate limiting is not enabled.", docs::RATE)),
        Route::Organization(account) => {
            let organization = account_of(world, who, account, docs::ORGANIZATION)?;
            Ok(Reply::json(organization_body::organization(world, organization, who))
                .header(header::LAST_MODIFIED, "Tue, 20 Oct 2026 08:44:26 GMT"))
        }
        Route::OrganizationRepositories(account) => {
            let organization = account_of(world, who, account, docs::LISTING)?;
            Ok(listing(world, organization, who, call))
        }
        Route::OrganizationPart(account, part) => {
            let organization = account_of(world, who, account, part.documentation)?;
            (part.answer)(&AskedOfOrganization { world, organization, who, call })
        }
        Route::Search => changes::search(world, who, call),
        Route::Installations => app_endpoints::installations(world, who, call),
        Route::Installation(whose) => app_endpoints::installation(world, who, whose),
        Route::AccessTokens(number) => app_endpoints::issue(world, who, number, call),
        Route::Repository(place, part) => part_of(world, who, place, part, call),
        Route::Nothing => Err(Reply::not_found(docs::REST)),
    }
}

fn account_of<'a>(
    world: &'a World,
    who: &Who,
    account: &OrganizationPath,
    documentation: &str,
) -> Result<&'a Organization, Reply> {
    let found = match account {
        OrganizationPath::Login(login) => world.organization(login),
        OrganizationPath::Id(id) => world.organization_by_id(id),
    };
    let organization = found.ok_or_else(|| Reply::not_found(documentation))?;
    policy(organization, who, documentation)?;
    Ok(organization)
}

fn listing(world: &World, organization: &Organization, who: &Who, call: &Call) -> Reply {
    let kind = call.parameter("type").unwrap_or("all");
    let by_name = call.parameter("sort") == Some("full_name");
    let descending = match call.parameter("direction") {
        Some("asc") => false,
        Some("desc") => true,
        _ => !by_name,
    };
    let thinned = partial_results(organization, who);
    let secret = who.token().map_or("", |token| &token.secret);
    let key = format!("{} {kind} {by_name} {descending} {secret}", organization.login);
    let slots = world.listing(organization, key, Order { by_name, descending }, |listed| {
        let of_kind = match kind {
            "public" => !listed.private,
            "private" => listed.private,
            "forks" => listed.fork,
            "sources" => !listed.fork,
            _ => true,
        };
        let name = world.made(listed.slot).map_or("", |repository| repository.name.as_str());
        of_kind
            && !(thinned && listed.private)
            && who.sees_one(Some(organization), &organization.login, name, listed.private)
    });
    let page = Page::of(call, world.host.page_size);
    let range = page.range(slots.len(), call.shift);
    let new = version(call).is_ok_and(|version| version == VERSIONS[1]);
    let body = json::array(|a| {
        for slot in slots.get(range).unwrap_or_default() {
            if let Some(repository) = world.at(organization, *slot) {
                a.object(|o| repository_body::listed(o, world, Some(organization), &repository, who, new));
            }
        }
    });
    let mut reply = Reply::json(body);
    reply.worth_keeping = true;
    let base = format!("{}/organizations/{}/repos", world.own_url, organization.number());
    if let Some(link) = page.link(&base, &call.query, slots.len()) {
        reply = reply.header(header::LINK, link);
    }
    if thinned {
        let value = format!("partial-results; organizations={}", organization.number());
        reply = reply.header(HeaderName::from_static("x-github-sso"), value);
    }
    reply
}

/// The repository of a path, if this caller may know of it.
fn find<'a>(
    world: &'a World,
    who: &Who,
    place: &RepositoryPath,
    documentation: &str,
) -> Result<(Arc<Repository>, Option<&'a Organization>), Reply> {
    let missing = || Reply::not_found(documentation);
    let repository = match place {
        RepositoryPath::Id(id) => world.repository_by_id(id).ok_or_else(missing)?,
        RepositoryPath::Name { owner, name } => match world.repository(owner, name) {
            RepositoryLookup::Here(repository) => repository,
            RepositoryLookup::Moved(id) => {
                return Err(Reply::moved(&format!("{}/repositories/{id}", world.own_url)));
            }
            RepositoryLookup::Nothing => return Err(missing()),
        },
    };
    let organization = world.organization(&repository.owner);
    if let Some(organization) = organization {
        policy(organization, who, documentation)?;
    }
    if repository.vanished || !who.sees(organization, &repository) {
        return Err(missing());
    }
    Ok((repository, organization))
}

fn part_of(
    world: &World,
    who: &Who,
    place: &RepositoryPath,
    part: &Part,
    call: &Call,
) -> Result<Reply, Reply> {
    let (documentation, endpoint) = match part {
        Part::Itself => (docs::REPOSITORY, Some(Endpoint::Repository)),
        Part::Known(known, _) => (known.documentation, known.refused_as),
        Part::Contents(_) | Part::ContentsSlash => (docs::CONTENTS, Some(Endpoint::Contents)),
        Part::Nothing => (docs::REST, None),
    };
    let (repository, organization) = match find(world, who, place, documentation) {
        Ok(found) => found,
        Err(mut refusal) if refusal.status == 301 => {
            // A redirect keeps what comes after the repository.
            let rest: Vec<&str> = call.path.splitn(5, '/').skip(4).collect();
            if let (Some(rest), RepositoryPath::Name { owner, name }) = (rest.first(), place)
                && let RepositoryLookup::Moved(id) = world.repository(owner, name)
            {
                refusal = Reply::moved(&format!("{}/repositories/{id}/{rest}", world.own_url));
            }
            return Err(refusal);
        }
        Err(refusal) => return Err(refusal),
    };
    blocked(&repository, part)?;
    if let Some((status, message)) = endpoint.and_then(|endpoint| repository.refusals.get(&endpoint)) {
        return Err(Reply::error(*status, message, documentation));
    }
    let newer = matches!(part, Part::Known(known, _) if known.newer);
    if world.host.old_server && newer {
        return Err(Reply::not_found(docs::REST));
    }
    match part {
        Part::Itself => {
            who.permitted(&repository, "metadata", documentation)?;
            let new = version(call).is_ok_and(|version| version == VERSIONS[1]);
            Ok(Reply::json(json::object(|o| {
                repository_body::full(o, world, organization, &repository, who, new);
            })))
        }
        Part::Known(known, parameter) => {
            let repository = &*repository;
            (known.answer)(&Asked { world, organization, repository, who, call, parameter })
        }
        Part::Contents(path) => contents::contents(world, &repository, path, who, call),
        Part::ContentsSlash => {
            let target = format!("{}{}", call.origin, call.path_and_query.trim_end_matches('/'));
            let mut reply = Reply::json(Bytes::new()).header(header::LOCATION, target);
            (reply.status, reply.content_type) = (302, "text/html");
            Err(reply)
        }
        Part::Nothing => Err(Reply::not_found(docs::REST)),
    }
}

fn blocked(repository: &Repository, part: &Part) -> Result<(), Reply> {
    let reason = match &repository.blocked {
        Some(reason) => reason.as_str(),
        // The answer for a disabled repository is not known for certain; here it is listed, and its contents are
        // refused.
        None if repository.disabled && *part != Part::Itself => "unavailable",
        None => return Ok(()),
    };
    let body = json::object(|o| {
        o.str("message", "Repository access blocked");
        o.object("block", |o| {
            o.str("reason", reason);
            o.str("created_at", "2026-03-02T11:20:31Z");
            if reason == "dmca" {
                o.str("html_url", "https://github.com/github/dmca/blob/master/2026/03/2026-03-02-notice.md");
            } else {
                o.null("html_url");
            }
        });
    });
    Err(Reply { status: if reason == "dmca" { 451 } else { 403 }, ..Reply::json(body) })
}
