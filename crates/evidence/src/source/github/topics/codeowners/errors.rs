//! The problems that the host finds in the CODEOWNERS file in effect: owners that it does not know.

use std::collections::HashSet;

use crate::json::object;
use crate::observation::{Observation, Seen};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::kept::json_bytes;
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use evidence_http::{Answered, Call, Keeping, Meta, ParseError};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::Unread;
use evidence_rules::codehost::default_owners::unknown_owners as unknown_owners_in;
use evidence_rules::codehost::record::CodeownersErrors;

/// The problems that the host finds in the CODEOWNERS file in effect.
pub(crate) static ERRORS: Call<CodeownersErrors> = Call {
    name: "/repos/{owner}/{repo}/codeowners/errors",
    purpose: "`codeowners-default-rule`: owners that the host does not know",
    times: "with `codeowners_errors: true`, once for a repository whose file passes",
    kind: Some("CODEOWNERS errors"),
    media_type: JSON,
    limit: 8 * MIB,
    parse,
    subject: None,
    keep: Some(Keeping::new(9, json_bytes)),
};

/// `GET /repos/{owner}/{repo}/codeowners/errors`
fn parse(bytes: &[u8]) -> Result<CodeownersErrors, ParseError> {
    let errors: CodeownersErrors = object(bytes)?;
    if errors.errors.value().is_some() {
        Ok(errors)
    } else {
        Err(ParseError::Shape("no list of errors".to_string()))
    }
}

/// Reads the owners that the host calls unknown in the file at `path`.
pub(super) async fn ask(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    path: &str,
) -> (Observation, Result<HashSet<(usize, String)>, Unread>) {
    let mut found = HashSet::new();
    let seen = match api.ask(&ERRORS, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(Answered { value, meta }) => {
            found = unknown_owners_in(path, &value);
            shown(target, &value, &meta)
        }
        Err(problem) => refusal::unread("CODEOWNERS errors", target, problem),
    };
    let observation = target.observation(&artifact::CODEOWNERS_ERRORS, seen);
    let found = Unread::of(observation.seen.shown()).map_or(Ok(found), Err);
    (observation, found)
}

/// The problems that the host finds in the CODEOWNERS file.
fn shown(target: RepositoryName<'_>, errors: &CodeownersErrors, meta: &Meta) -> Seen {
    let name = target.artifact_name(artifact::CODEOWNERS_ERRORS.name);
    Seen::artifact(NAME, &name, errors, None, meta)
}
