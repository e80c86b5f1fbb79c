//! A repository that a query asks for, and the errors about it.

use super::super::access::{Who, policy};
use super::super::organization_body::node_number;
use super::super::reply::{Reply, docs};
use super::super::world::World;
use super::super::{Organization, Repository};
use serde_json::{Value, json};
use std::sync::Arc;

/// An error of a field.
pub(super) struct Problem {
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) path: Vec<Value>,
}

/// A repository that is asked for.
pub(super) struct Subject<'a> {
    pub(super) who: &'a Who,
    pub(super) organization: Option<&'a Organization>,
    pub(super) repository: Arc<Repository>,
    index: usize,
}

impl Subject<'_> {
    pub(super) fn problem(&self, kind: &'static str, message: &str, place: &[&str]) -> Problem {
        let path = [json!("nodes"), json!(self.index)].into_iter();
        let path = path.chain(place.iter().map(|part| json!(part))).collect();
        Problem { kind, message: message.to_owned(), path }
    }
}

/// The repository with this id, if the caller may know of it.
pub(super) fn subject<'a>(
    world: &'a World,
    who: &'a Who,
    id: &str,
    index: usize,
) -> Result<Subject<'a>, Problem> {
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
    Ok(Subject { who, organization, repository, index })
}

/// The message of a refusal by the other interface.
pub(super) fn text(refused: &Reply) -> String {
    let body: Value = serde_json::from_slice(&refused.body).unwrap_or_default();
    body.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The type of an error for a status of the other interface.
pub(super) fn kind(status: u16) -> &'static str {
    match status {
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        _ => "INTERNAL",
    }
}
