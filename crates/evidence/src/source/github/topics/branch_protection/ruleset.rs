//! A ruleset: who can bypass it.

use crate::json::object;
use crate::observation::{Observation, Seen};
use crate::source::github::host::Host;
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_source;
use crate::source::github::host::kept::json_bytes;
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::shared::Turn;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Answered, Call, Keeping, Meta, ParseError, Subject};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{RULESET_ID, Unread};
use evidence_rules::codehost::record::Ruleset;

/// A ruleset: the only answer that says who can bypass it.
pub(crate) static RULESET: Call<Ruleset> = Call {
    name: "/repos/{owner}/{repo}/rulesets/{ruleset}",
    purpose: "the same: who can bypass a ruleset",
    times: "once for each ruleset of a repository on whose bypass list the result depends; an organization's ruleset \
            once for all repositories, if the user is an organization owner",
    kind: Some("rulesets"),
    media_type: JSON,
    limit: 4 * MIB,
    parse,
    subject: Some(Subject {
        fields: "`id`; `source` of a repository or organization",
        other: |ruleset, about| of_source(&ruleset.source_type, &ruleset.source, about),
    }),
    keep: Some(Keeping::new(8, json_bytes)),
};

/// `GET /repos/{owner}/{repo}/rulesets/{ruleset_id}`
fn parse(bytes: &[u8]) -> Result<Ruleset, ParseError> {
    let ruleset: Ruleset = object(bytes)?;
    if ruleset.id.value().is_some() {
        Ok(ruleset)
    } else {
        Err(ParseError::Shape("no id of a ruleset".to_string()))
    }
}

/// Reads a ruleset. `order` is set for one of the organization, if its owner asks: the answer is then the same for
/// every repository, and the first observation in order reads it for all.
pub(super) async fn ruleset(
    host: &Host,
    target: RepositoryName<'_>,
    id: u64,
    renamed: bool,
    order: Option<Option<usize>>,
) -> (Observation, Result<Ruleset, Unread>) {
    let turn = match order {
        Some(number) => host.shared.turn(id, number).await,
        None => Turn::Alone,
    };
    if let Turn::Read(found) = turn {
        return observed(target, id, Ok(&*found));
    }
    let answer = ask(&host.api(), target, id, renamed).await;
    if matches!(turn, Turn::ForAll) {
        let found = answer.as_ref().ok().filter(|(_, meta)| meta.redirected_to.is_none());
        host.shared.keep(id, found.cloned());
    }
    observed(target, id, answer.as_ref().map_err(Clone::clone))
}

/// Reads a ruleset, which says who can bypass it.
async fn ask(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    id: u64,
    renamed: bool,
) -> Result<(Ruleset, Meta), Seen> {
    let number = id.to_string();
    let parameters = [("owner", target.owner), ("repo", target.name), ("ruleset", number.as_str())];
    match api.ask(&RULESET, &parameters).await {
        Ok(Answered { meta, .. }) if meta.redirected_to.is_some() && !renamed => {
            Err(refusal::redirected(target, &meta).0)
        }
        Ok(Answered { value, meta }) => is_it(id, &value, &meta).map(|()| (value, meta)),
        Err(problem) => Err(refusal::unread(&format!("ruleset {id}"), target, problem)),
    }
}

/// Whether the host returned the ruleset with this id.
fn is_it(id: u64, ruleset: &Ruleset, meta: &Meta) -> Result<(), Seen> {
    if ruleset.id.value() == Some(&id) {
        return Ok(());
    }
    Err(refusal::unusable(meta, format!("ruleset {id}: the host answered with another ruleset")))
}

/// The observation of a ruleset, from the host's answer about it.
fn observed(
    target: RepositoryName<'_>,
    id: u64,
    answer: Result<&(Ruleset, Meta), Seen>,
) -> (Observation, Result<Ruleset, Unread>) {
    let (seen, shown) = match answer {
        Ok((shown, meta)) => {
            let name = target.artifact_name(&format!("{}_{id}", artifact::RULESET.name));
            (Seen::artifact(NAME, &name, shown, None, meta), shown.clone())
        }
        Err(seen) => (seen, Ruleset::default()),
    };
    let mut observation = target.observation(&artifact::RULESET, seen);
    if observation.seen.path().is_none() {
        observation.facts.insert(RULESET_ID.into(), id.into());
    }
    let ruleset = Unread::of(observation.seen.shown()).map_or(Ok(shown), Err);
    (observation, ruleset)
}
