//! `POST /graphql`: answers the stored queries of `evidence`, and no other, from the same state as all endpoints.
//!
//! The texts are the program's own files: a client that sends anything else does not only read what it says.

mod owners;
mod protection;

use super::access::{Who, policy};
use super::organization_body::node_number;
use super::reply::{Reply, docs};
use super::world::World;
use super::{Organization, Repository};
use crate::server::Call;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The branch's classic rule and rules of rulesets.
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

/// An error of a field.
struct Problem {
    kind: &'static str,
    message: String,
    path: Vec<Value>,
}

/// A repository that is asked for.
struct Subject<'a> {
    world: &'a World,
    who: &'a Who,
    organization: Option<&'a Organization>,
    repository: Arc<Repository>,
    index: usize,
}

impl Subject<'_> {
    fn problem(&self, kind: &'static str, message: &str, place: &[&str]) -> Problem {
        let path = [json!("nodes"), json!(self.index)].into_iter();
        let path = path.chain(place.iter().map(|part| json!(part))).collect();
        Problem { kind, message: message.to_owned(), path }
    }
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
        Stored::BranchProtection => 3,
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
    let mut body = json!({"data": {"rateLimit": {"cost": cost(world, call).points}, "nodes": nodes}});
    if !problems.is_empty() {
        body["errors"] = problems
            .into_iter()
            .map(|problem| json!({"type": problem.kind, "path": problem.path, "message": problem.message}))
            .collect();
    }
    Ok(Reply::json(body.to_string()))
}

fn subject<'a>(world: &'a World, who: &'a Who, id: &str, index: usize) -> Result<Subject<'a>, Problem> {
    let path = vec![json!("nodes"), json!(index)];
    let missing = |path| Problem {
        kind: "NOT_FOUND",
        message: format!("Could not resolve to a node with the global id of '{id}'."),
        path,
    };
    let found = node_number("R", id).and_then(|number| world.repository_by_id(&number.to_string()));
    let Some(repository) = found else { return Err(missing(path)) };
    let organization = world.organization(&repository.owner);
    if let Some(organization) = organization
        && let Err(refused) = policy(organization, who, docs::REST)
    {
        return Err(Problem { kind: "FORBIDDEN", message: text(&refused), path });
    }
    if repository.vanished || !who.sees(organization, &repository) {
        return Err(missing(path));
    }
    if let Err(refused) = who.permitted(&repository, "metadata", docs::REST) {
        return Err(Problem { kind: "FORBIDDEN", message: text(&refused), path });
    }
    // What the host shows of such a repository is not known; here nothing.
    if repository.blocked.is_some() || repository.disabled {
        return Err(Problem { kind: "FORBIDDEN", message: "Repository access blocked".to_owned(), path });
    }
    Ok(Subject { world, who, organization, repository, index })
}

fn node(subject: &Subject<'_>, stored: Stored, variables: &Variables, problems: &mut Vec<Problem>) -> Value {
    let repository = &subject.repository;
    let mut node = json!({
        "__typename": "Repository",
        "id": super::organization_body::node_id("R", repository.number()),
        "nameWithOwner": format!("{}/{}", repository.owner, repository.name),
    });
    match stored {
        Stored::BranchProtection => {
            let plan = !super::organization::lacks_plan(subject.organization, repository);
            node["planFeatures"] = json!({ "codeowners": plan });
            if variables.named {
                let name = variables.branch.strip_prefix("refs/heads/");
                let name = name.filter(|name| repository.has_branch(name));
                node["named"] = protection::branch(subject, name, "named", problems);
            }
            if variables.default {
                let name =
                    Some(repository.default_branch.as_str()).filter(|name| repository.has_branch(name));
                node["default"] = protection::branch(subject, name, "default", problems);
            }
        }
        Stored::Codeowners => owners::fill(&mut node, subject, problems),
    }
    node
}

/// The message of a refusal by the other interface.
fn text(refused: &Reply) -> String {
    let body: Value = serde_json::from_slice(&refused.body).unwrap_or_default();
    body["message"].as_str().unwrap_or_default().to_owned()
}

/// The type of an error for a status of the other interface.
fn kind(status: u16) -> &'static str {
    match status {
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        _ => "INTERNAL",
    }
}
