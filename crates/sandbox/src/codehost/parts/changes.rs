//! Pull requests and their reviews, the activity of a branch, and the search that counts: as the host answers, with titles
//! and texts, which no evidence may hold.

use hyper::header;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;

use super::super::access::Who;
use super::super::change::{Change, Pushed};
use super::super::organization_body::{account_id, node_id, simple_account};
use super::super::paging::Page;
use super::super::part::{Asked, Part};
use super::super::permission::Endpoint;
use super::super::reply::Reply;
use super::super::repository::Repository;
use super::super::world::World;
use crate::json::{self, Object};
use crate::server::Call;
use crate::sha1;

/// `GET …/pulls`
pub(super) static PULLS: Part = Part {
    name: "pulls",
    path: &["pulls"],
    documentation: "https://docs.github.com/rest/pulls/pulls#list-pull-requests",
    permissions: "pull_requests=read",
    refused_as: Some(Endpoint::Pulls),
    newer: false,
    answer: pulls,
};

/// `GET …/pulls/{number}/reviews`
pub(super) static REVIEWS: Part = Part {
    name: "reviews",
    path: &["pulls", "*", "reviews"],
    documentation: "https://docs.github.com/rest/pulls/reviews#list-reviews-for-a-pull-request",
    permissions: "pull_requests=read",
    refused_as: Some(Endpoint::Reviews),
    newer: false,
    answer: reviews,
};

/// `GET …/activity`
pub(super) static ACTIVITY: Part = Part {
    name: "activity",
    path: &["activity"],
    documentation: "https://docs.github.com/rest/repos/repos#list-repository-activities",
    permissions: "contents=read",
    refused_as: Some(Endpoint::Activity),
    newer: true,
    answer: activity,
};

const SEARCH: &str = "https://docs.github.com/rest/search/search#search-issues-and-pull-requests";

/// How many results of a search are shown.
const SHOWN: usize = 1_000;

/// A time so many minutes ago, as the host writes it.
fn ago(call: &Call, minutes: i64) -> String {
    let at = call.now.as_second() - minutes * 60;
    Timestamp::from_second(at).unwrap_or_default().to_string()
}

/// A parameter of the query, decoded.
fn decoded(call: &Call, name: &str) -> String {
    let value = call.parameter(name).unwrap_or_default().replace('+', " ");
    percent_decode_str(&value).decode_utf8_lossy().into_owned()
}

fn pulls(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, repository, who, call, .. } = *asked;
    who.permitted(repository, "pull_requests", PULLS.documentation)?;
    let mut closed: Vec<&Change> = repository.changes.iter().collect();
    closed.sort_by_key(|change| change.updated);
    let page = Page::of(call, world.host.page_size);
    let body = json::array(|a| {
        for change in closed.get(page.range(closed.len(), call.shift)).unwrap_or_default() {
            a.object(|o| pull(o, world, call, repository, change));
        }
    });
    Ok(paged(world, call, page, closed.len(), Reply::json(body)))
}

fn paged(world: &World, call: &Call, page: Page, length: usize, reply: Reply) -> Reply {
    let base = format!("{}{}", world.own_url, call.path);
    match page.link(&base, &call.query, length) {
        Some(link) => reply.header(header::LINK, link),
        None => reply,
    }
}

fn account(o: &mut Object<'_>, world: &World, key: &str, login: Option<&str>) {
    match login {
        None => o.null(key),
        Some(login) => o.object(key, |o| {
            simple_account(o, &world.url, login, account_id(login), false);
        }),
    }
}

fn pull(o: &mut Object<'_>, world: &World, call: &Call, repository: &Repository, change: &Change) {
    let full = format!("{}/{}", repository.owner, repository.name);
    let number = change.number.to_string();
    o.text("url", &[&world.url, "/repos/", &full, "/pulls/", &number]);
    o.id("id", account_id(&format!("{full}#{number}")));
    o.str("node_id", &node_id("PR", change.number));
    o.id("number", change.number);
    o.str("state", "closed");
    o.bool("locked", false);
    o.str("title", "Rotate the staging credentials MARKER-TITLE");
    account(o, world, "user", change.author.as_deref());
    o.str("body", "Asked for by the customer. MARKER-BODY");
    o.array("labels", |a| a.object(|o| o.str("name", "MARKER-LABEL")));
    o.str("created_at", &ago(call, change.merged + 600));
    o.str("updated_at", &ago(call, change.updated));
    o.str("closed_at", &ago(call, change.merged));
    if change.is_merged {
        o.str("merged_at", &ago(call, change.merged));
        o.str("merge_commit_sha", &change.commit(&full));
    } else {
        o.null("merged_at");
        o.null("merge_commit_sha");
    }
    for (key, name, sha) in
        [("head", "feature", change.head(&full)), ("base", change.base.as_str(), sha1::name_id(&full))]
    {
        o.object(key, |o| {
            o.text("label", &[&repository.owner, ":", name]);
            o.str("ref", name);
            o.str("sha", &sha);
            o.object("repo", |o| {
                o.str("full_name", &full);
                o.str("description", "MARKER-DESCRIPTION");
            });
        });
    }
}

fn reviews(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, repository, who, call, parameter, .. } = *asked;
    who.permitted(repository, "pull_requests", REVIEWS.documentation)?;
    let change = repository.changes.iter().find(|change| change.number.to_string() == parameter);
    let change = change.ok_or_else(|| Reply::not_found(REVIEWS.documentation))?;
    let full = format!("{}/{}", repository.owner, repository.name);
    let page = Page::of(call, world.host.page_size);
    let body = json::array(|a| {
        for (number, review) in change.reviews.iter().enumerate() {
            let range = page.range(change.reviews.len(), call.shift);
            if !range.contains(&number) {
                continue;
            }
            a.object(|o| {
                o.id("id", account_id(&format!("{full}#{parameter}/{number}")));
                account(o, world, "user", review.by.as_deref());
                o.str("body", "Looks good. MARKER-REVIEW");
                o.str("state", &review.state);
                o.text("pull_request_url", &[&world.url, "/repos/", &full, "/pulls/", parameter]);
                o.str("author_association", "MEMBER");
                o.str("submitted_at", &ago(call, change.merged + review.before_merge));
                let commit =
                    if review.stale { sha1::name_id(&format!("{full} stale")) } else { change.head(&full) };
                o.str("commit_id", &commit);
            });
        }
    });
    Ok(paged(world, call, page, change.reviews.len(), Reply::json(body)))
}

/// The newest first. The page after is found by a mark in the address, not by its number.
fn activity(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { world, repository, who, call, .. } = *asked;
    who.permitted(repository, "contents", ACTIVITY.documentation)?;
    let name = decoded(call, "ref");
    let branch = name.strip_prefix("refs/heads/").unwrap_or_default();
    let full = format!("{}/{}", repository.owner, repository.name);
    let merges = repository.changes.iter().filter(|change| change.is_merged && change.base == branch);
    let mut entries: Vec<Pushed> = merges
        .map(|change| Pushed {
            actor: change.merged_by.clone(),
            kind: "pr_merge".to_owned(),
            ago: change.merged,
            after: Some(change.commit(&full)),
            branch: branch.to_owned(),
        })
        .chain(repository.pushes.iter().filter(|push| push.branch == branch).cloned())
        .collect();
    entries.sort_by_key(|entry| entry.ago);
    let size = 100.min(usize::try_from(world.host.page_size).unwrap_or(100));
    let start = call.parameter("after").and_then(|mark| mark.parse::<usize>().ok()).unwrap_or(0);
    let body = json::array(|a| {
        for (number, entry) in entries.iter().enumerate().skip(start).take(size) {
            a.object(|o| {
                o.id("id", account_id(&format!("{full} {number}")));
                o.str("node_id", &node_id("PSH", account_id(&full)));
                o.str("before", &sha1::name_id(&format!("{full} before {number}")));
                let after =
                    entry.after.clone().unwrap_or_else(|| sha1::name_id(&format!("{full} after {number}")));
                o.str("after", &after);
                o.text("ref", &["refs/heads/", branch]);
                o.str("timestamp", &ago(call, entry.ago));
                o.str("activity_type", &entry.kind);
                account(o, world, "actor", entry.actor.as_deref());
            });
        }
    });
    let reply = Reply::json(body);
    Ok(if entries.len() > start + size {
        let query =
            call.query.split('&').filter(|pair| !pair.starts_with("after=")).collect::<Vec<_>>().join("&");
        let next = format!("<{}{}?{query}&after={}>; rel=\"next\"", world.own_url, call.path, start + size);
        reply.header(header::LINK, next)
    } else {
        reply
    })
}

/// `GET /search/issues`: merged pull requests of an organization in a span of time.
pub(in super::super) fn search(world: &World, who: &Who, call: &Call) -> Result<Reply, Reply> {
    let query = decoded(call, "q");
    let word = |name: &str| query.split(' ').find_map(|word| word.strip_prefix(name).map(str::to_owned));
    let invalid = || Reply::error(422, "Validation Failed", SEARCH);
    let login = word("org:").ok_or_else(invalid)?;
    let organization = world.organization(&login).ok_or_else(invalid)?;
    if let Some(token) = who.token()
        && !token.kind.has_scopes()
        && !token.has_permission("pull_requests")
    {
        return Err(Reply::error(403, "Resource not accessible by personal access token", SEARCH));
    }
    let merged = word("merged:").ok_or_else(invalid)?;
    let (from, to) = merged.split_once("..").ok_or_else(invalid)?;
    let mut found = Vec::new();
    let own = |repository: &&Repository| repository.owner.eq_ignore_ascii_case(&organization.login);
    for repository in world.host.repositories.iter().filter(own) {
        let within = |change: &&Change| {
            let at = ago(call, change.merged);
            change.is_merged && !change.unindexed && from <= at.as_str() && at.as_str() <= to
        };
        for change in repository.changes.iter().filter(within) {
            found.push((format!("{}/{}", repository.owner, repository.name), change.number));
        }
    }
    let page = Page::of(call, world.host.page_size);
    let shown = found.get(page.range(found.len().min(SHOWN), 0)).unwrap_or_default();
    Ok(Reply::json(json::object(|o| {
        o.id("total_count", found.len() as u64);
        o.bool("incomplete_results", world.host.incomplete_search);
        o.array("items", |a| {
            for (full, number) in shown {
                a.object(|o| {
                    o.text("repository_url", &[&world.url, "/repos/", full]);
                    o.id("number", *number);
                    o.str("title", "Rotate the staging credentials MARKER-SEARCH");
                    o.str("body", "MARKER-SEARCH-BODY");
                });
            }
        });
    })))
}
