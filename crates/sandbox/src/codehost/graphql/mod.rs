//! `POST /graphql`: answers the stored queries of `evidence`, and no other, from the same state as all endpoints.
//!
//! The texts are the program's own files: a client that sends anything else does not only read what it says.

mod owners;
mod protection;
mod subject;

use self::subject::{Problem, Subject, subject};
use super::access::Who;
use super::reply::{Reply, docs};
use super::world::World;
use crate::server::Call;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The branch's classic rule.
const BRANCH_PROTECTION: &str =
    include_str!("../../../../evidence/src/source/github/host/bulk/queries/branch_protection.graphql");

/// The CODEOWNERS file, and the directories around it.
const CODEOWNERS: &str =
    include_str!("../../../../evidence/src/source/github/host/bulk/queries/codeowners.graphql");

/// The host ends a query after this time.
const LONGEST: Duration = Duration::from_secs(10);

/// More ids than this are an error.
const MOST_IDS: usize = 100;

#[derive(Deserialize)]
struct Question {
    query: String,
    variables: Variables,
}

#[derive(Deserialize)]
struct Variables {
    ids: Vec<String>,
    #[serde(default)]
    branch: String,
    #[serde(default)]
    named: bool,
    #[serde(default)]
    default: bool,
}

/// A stored query.
#[derive(Clone, Copy)]
enum Stored {
    BranchProtection,
    Codeowners,
}

/// What a query costs: points, and the host's time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) points: u64,
    pub(super) time: Duration,
}

fn stored(call: &Call) -> Option<(Stored, Variables)> {
    let Question { query, variables } = serde_json::from_slice(&call.body).ok()?;
    let stored = match query.as_str() {
        BRANCH_PROTECTION => Stored::BranchProtection,
        CODEOWNERS => Stored::Codeowners,
        _ => return None,
    };
    Some((stored, variables))
}

/// Whether a request is a stored query.
pub(super) fn is_stored(call: &Call) -> bool {
    stored(call).is_some()
}

/// What a request will cost.
pub(super) fn cost(world: &World, call: &Call) -> Cost {
    let Some((stored, variables)) = stored(call) else { return Cost { points: 1, ..Cost::default() } };
    let ids = variables.ids.len() as u64;
    // A request for each connection of each repository, a hundred of them are a point.
    let connections = match stored {
        Stored::BranchProtection => 2,
        Stored::Codeowners => 0,
    };
    let points = (1 + ids * connections + 50) / 100;
    let (all, each) = world.host.query_time;
    let time = all + each * u32::try_from(ids).unwrap_or(u32::MAX);
    Cost { points: points.max(1), time: time.min(LONGEST) }
}

/// The answer of a query that used up its time.
pub(super) fn timed_out(cost: Cost) -> Option<Reply> {
    (cost.time >= LONGEST).then(|| {
        let message = "We couldn't respond to your request in time. Sorry about that. Please try resubmitting your \
            request and contact us if the problem persists.";
        Reply { status: 502, ..Reply::json(json!({ "message": message }).to_string()) }
    })
}

/// The answer when the hour's points are used up.
pub(super) fn limited(user: u64) -> Reply {
    let message = format!("API rate limit exceeded for user ID {user}.");
    Reply::json(json!({"errors": [{"type": "RATE_LIMITED", "message": message}]}).to_string())
}

/// The answer, or the refusal.
pub(super) fn answer(world: &World, who: &Who, call: &Call) -> Result<Reply, Reply> {
    if who.token().is_none() {
        return Err(Reply::error(401, "This endpoint requires you to be authenticated.", docs::REST));
    }
    if world.host.old_server {
        return Err(Reply::not_found(docs::REST));
    }
    let Some((stored, variables)) = stored(call) else {
        let message = "the sandbox answers stored queries only";
        return Ok(Reply::json(json!({"errors": [{"message": message}]}).to_string()));
    };
    if variables.ids.len() > MOST_IDS {
        let message = "You may not provide more than 100 node ids.";
        return Ok(Reply::json(
            json!({"data": null, "errors": [{"type": "ARGUMENT_LIMIT", "message": message}]}).to_string(),
        ));
    }
    let mut problems = Vec::new();
    let nodes: Vec<Value> = variables
        .ids
        .iter()
        .enumerate()
        .map(|(index, id)| match subject(world, who, id, index) {
            Ok(subject) => node(&subject, stored, &variables, &mut problems),
            Err(problem) => {
                problems.push(problem);
                Value::Null
            }
        })
        .collect();
    let mut body = Map::new();
    let points = cost(world, call).points;
    body.insert("data".to_owned(), json!({"rateLimit": {"cost": points}, "nodes": nodes}));
    if !problems.is_empty() {
        let shown = |problem: Problem| json!({"type": problem.kind, "path": problem.path, "message": problem.message});
        body.insert("errors".to_owned(), problems.into_iter().map(shown).collect());
    }
    Ok(Reply::json(Value::Object(body).to_string()))
}

fn node(subject: &Subject<'_>, stored: Stored, variables: &Variables, problems: &mut Vec<Problem>) -> Value {
    let repository = &subject.repository;
    let mut node = Map::new();
    let mut put = |name: &str, value: Value| drop(node.insert(name.to_owned(), value));
    put("__typename", json!("Repository"));
    put("id", json!(super::organization_body::node_id("R", repository.number())));
    put("nameWithOwner", json!(format!("{}/{}", repository.owner, repository.name)));
    match stored {
        Stored::BranchProtection => {
            let plan = !super::organization::lacks_plan(subject.organization, repository);
            put("planFeatures", json!({ "codeowners": plan }));
            if variables.named {
                let name = variables.branch.strip_prefix("refs/heads/");
                let name = name.filter(|name| repository.has_branch(name));
                put("named", protection::branch(subject, name, "named", problems));
            }
            if variables.default {
                let name =
                    Some(repository.default_branch.as_str()).filter(|name| repository.has_branch(name));
                put("default", protection::branch(subject, name, "default", problems));
            }
        }
        Stored::Codeowners => owners::fill(&mut put, subject, problems),
    }
    Value::Object(node)
}
