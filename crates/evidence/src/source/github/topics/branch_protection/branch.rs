//! A branch: whether it has a classic rule, as the host says to everyone.

use crate::json::object;
use crate::observation::{Observation, Seen};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_address;
use crate::source::github::host::kept::json_bytes;
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Answered, Call, CallError, Keeping, Meta, ParseError, Subject};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::Unread;
use evidence_rules::codehost::record::BranchState;

/// A branch. Only its name and whether it is protected are kept, because the commit names people.
pub(crate) static BRANCH: Call<BranchState> = Call {
    name: "/repos/{owner}/{repo}/branches/{branch}",
    purpose: "`branch-protection`: whether there is a classic rule, where the host hides the rule; no classic rule, in \
              an answer that has an entity tag",
    times: "once for a repository whose classic protection is hidden and that no ruleset protects, and with \
            `revalidate: true` for one without classic protection",
    kind: Some("branches"),
    media_type: JSON,
    // A commit with a long message and signature.
    limit: 4 * MIB,
    parse,
    subject: Some(Subject {
        fields: "`_links.self`",
        other: |branch, about| of_address(branch.address()?, about),
    }),
    keep: Some(Keeping::new(11, json_bytes)),
};

/// `GET /repos/{owner}/{repo}/branches/{branch}`, without the commit, which names people.
fn parse(bytes: &[u8]) -> Result<BranchState, ParseError> {
    let branch: BranchState = object(bytes)?;
    if branch.name.value().is_some() && branch.protected.value().is_some() {
        Ok(branch)
    } else {
        Err(ParseError::Shape("neither the name nor the protection of a branch".to_string()))
    }
}

/// Reads the branch itself, which the host shows to those who may not see its classic rule.
pub(super) async fn ask(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
) -> (Observation, Option<BranchState>) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let mut shown = None;
    let seen = match api.ask(&BRANCH, &parameters).await {
        Ok(Answered { meta, .. }) if meta.redirected_to.is_some() => refusal::redirected(target, &meta).0,
        Ok(Answered { value, meta }) => {
            let seen = shown_as(target, branch, &value, &meta);
            shown = Some(value);
            seen
        }
        Err(problem) => refusal::unread("branch", target, problem),
    };
    let observation = target.observation(&artifact::BRANCH, seen);
    let shown = shown.filter(|_| Unread::of(observation.seen.shown()).is_none());
    (observation, shown)
}

/// Whether the host's record of the branch reports no classic rule. `false` without an answer.
pub(super) async fn has_no_rule(api: &Api<'_>, branch: &str, parameters: &[(&str, &str)]) -> bool {
    // Boxed: this is rarely requested, but would enlarge the future of every observation.
    match Box::pin(api.ask(&BRANCH, parameters)).await {
        Ok(Answered { value, meta }) => {
            let is_it = meta.redirected_to.is_none() && value.name.value().is_some_and(|name| name == branch);
            is_it && value.has_classic_rule() == Some(false)
        }
        Err(CallError::Refused(_) | CallError::Failed(_)) => false,
    }
}

/// The branch that the host returned.
fn shown_as(target: RepositoryName<'_>, branch: &str, state: &BranchState, meta: &Meta) -> Seen {
    if state.name.value().is_none_or(|name| name != branch) {
        return refusal::unusable(meta, format!("branch {branch}: the host answered with another branch"));
    }
    Seen::artifact(NAME, &target.artifact_name(artifact::BRANCH.name), state, None, meta)
}
