//! The classic rule of a branch.

use evidence_bundle::document::Warning;
use serde_json::{Value, json};

use super::branch::{self, BRANCH};
use crate::json::object;
use crate::observation::{Failed, Observation, Seen};
use crate::source::github::host::answer::{RefusalMeaning, meaning, says_disabled};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::compare::of_address;
use crate::source::github::host::kept::{json_bytes, map};
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::subject::RepositoryName;
use crate::source::github::topics::codeowners::places::PLACES;
use evidence_http::{Answered, Call, CallError, Keeping, Meta, ParseError, Refused, RequestFailure, Subject};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{
    BRANCH_MISSING, BRANCH_UNPROTECTED, Classic, Unread, passes_alone,
};
use evidence_rules::codehost::record::{BranchHistory, BranchProtection};
use evidence_rules::field::Field;
use evidence_rules::rule::{Settings, reason};

/// The branch protection of one branch.
pub(crate) static PROTECTION: Call<BranchProtection> = Call {
    name: "/repos/{owner}/{repo}/branches/{branch}/protection",
    purpose: "`branch-protection`, `history-protected` and `stale-approvals-dismissed`",
    times: "once per repository",
    kind: Some("branch protection"),
    media_type: JSON,
    // Long lists of people and teams: each entry is under 3 kB and the host allows 100 of each.
    limit: 4 * MIB,
    parse,
    subject: Some(Subject {
        fields: "`url`",
        other: |protection, about| of_address(protection.url.value()?, about),
    }),
    keep: Some(Keeping {
        // A rule that passes alone, or the host's report that there is no rule. Everything else is judged together with
        // rulesets, which are requested anew.
        resumable: |reply| match reply {
            Ok(answered) => passes_alone(&answered.value, &Settings::default()),
            Err(refused) => meaning(refused).is_settled(),
        },
        ..Keeping::new(3, reduced)
    }),
};

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`
///
/// The host omits sections that are not configured, so any object would read as a rule without requirements. A real
/// answer always has its own URL; an object with another URL, or none, is something else.
fn parse(bytes: &[u8]) -> Result<BranchProtection, ParseError> {
    let protection: BranchProtection = object(bytes)?;
    if protection.url.value().is_some_and(|url| url.ends_with("/protection")) {
        Ok(protection)
    } else {
        Err(ParseError::Shape("its url is not that of a branch protection".to_string()))
    }
}

fn reduced(protection: &BranchProtection) -> Vec<u8> {
    let mut kept = map(protection);
    // The newer list is judged, although it is not a field of the artifact.
    // So is what the host says of the branch's history, which has an artifact of its own.
    let BranchHistory { allow_force_pushes, allow_deletions, required_pull_request_reviews: last } =
        BranchHistory::of(protection);
    for (name, switch) in [("allow_force_pushes", allow_force_pushes), ("allow_deletions", allow_deletions)] {
        if !switch.is_absent() {
            kept.insert(name.to_string(), json!(switch));
        }
    }
    if let Field::Value(last) = last
        && let Some(section) = kept.get_mut("required_pull_request_reviews").and_then(Value::as_object_mut)
    {
        section.extend(map(&last));
    }
    if let Field::Value(required) = &protection.required_status_checks
        && let Some(section) = kept.get_mut("required_status_checks").and_then(Value::as_object_mut)
    {
        match &required.checks {
            Field::Absent => {}
            Field::Null => drop(section.insert("checks".to_string(), Value::Null)),
            Field::Value(checks) => {
                let checks = checks.iter().map(|check| json!({ "context": check.context })).collect();
                section.insert("checks".to_string(), Value::Array(checks));
            }
        }
    }
    json_bytes(&kept)
}

/// Additional results of reading the classic rule.
pub(super) struct ClassicReading {
    pub(super) classic: Classic,
    /// The answer was "Not Found", which may refer to the repository.
    pub(super) may_be_missing: bool,
    /// The host redirected the request, and the answer names this repository's owner.
    pub(super) renamed: bool,
    /// What the rule says of the branch's history, if it was shown.
    pub(super) history: Option<(Observation, BranchHistory)>,
}

/// Whether to request the branch before its classic rule: in the last run the host reported that there is no rule,
/// which cannot be revalidated, and the kept answer about the branch can.
pub(super) fn begins_with_branch(api: &Api<'_>, target: RepositoryName<'_>, branch: &str) -> bool {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    api.is_kept(&BRANCH, &parameters) && !api.is_kept(&PROTECTION, &parameters)
}

/// Reads the classic rule of a branch. `may_be_empty`: the repository is not known to have content. `branch_first`: see
/// [`begins_with_branch`].
pub(super) async fn ask(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    name: &str,
    may_be_empty: bool,
    branch_first: bool,
) -> (Observation, ClassicReading) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", name)];
    let (mut may_be_missing, mut renamed) = (false, false);
    if branch_first && branch::has_no_rule(api, name, &parameters).await {
        let (observation, classic) = unprotected(target, name);
        return (observation, ClassicReading { classic, may_be_missing, renamed, history: None });
    }
    let (mut observation, mut classic);
    let mut history = None;
    match api.ask(&PROTECTION, &parameters).await {
        Err(CallError::Failed(failure)) => {
            let seen = refusal::failed("branch protection", &failure);
            (observation, classic) = unread(target, seen, Vec::new());
        }
        Ok(Answered { value, meta }) => {
            renamed = meta.redirected_to.is_some();
            (observation, classic) = shown(target, value, &meta);
            if let Classic::Shown(protection) = &classic {
                history = history_of(target, protection, &meta);
            }
        }
        Err(CallError::Refused(refused)) => {
            may_be_missing = meaning(&refused) == RefusalMeaning::NotFound;
            if api.keeps_answers()
                && meaning(&refused) == RefusalMeaning::Unprotected
                && !says_disabled(&refused)
                && !branch_first
            {
                // Kept for the next run; the result does not matter now.
                let _ = branch::has_no_rule(api, name, &parameters).await;
            }
            (observation, classic) = not_shown(target, name, &refused);
        }
    }
    if may_be_empty && (may_be_missing || matches!(classic, Classic::NoBranch(_))) {
        let seen = match is_empty(api, target).await {
            Ok(true) => Some(refusal::empty()),
            // The branch does not exist, but it is unknown whether the repository is empty.
            Err(failure) if !may_be_missing => Some(refusal::failed("branch protection", &failure)),
            Ok(false) | Err(_) => None,
        };
        if let Some(seen) = seen {
            may_be_missing = false;
            (observation, classic) = unread(target, seen, Vec::new());
        }
    }
    (observation, ClassicReading { classic, may_be_missing, renamed, history })
}

/// What the classic rule says of the branch's history, as an observation of its own.
fn history_of(
    target: RepositoryName<'_>,
    protection: &BranchProtection,
    meta: &Meta,
) -> Option<(Observation, BranchHistory)> {
    let record = BranchHistory::of(protection);
    let name = target.artifact_name(artifact::BRANCH_HISTORY.name);
    let seen = Seen::artifact(NAME, &name, &record, None, meta);
    seen.path().is_some().then(|| (target.observation(&artifact::BRANCH_HISTORY, seen), record))
}

/// Whether the repository is empty, determined by requesting a file that is read anyway.
async fn is_empty(api: &Api<'_>, target: RepositoryName<'_>) -> Result<bool, RequestFailure> {
    let [place, ..] = &PLACES;
    match api.ask(&place.record, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(_) => Ok(false),
        Err(CallError::Refused(refused)) => Ok(meaning(&refused) == RefusalMeaning::Empty),
        Err(CallError::Failed(failure)) => Err(failure),
    }
}

/// The classic rule that the host returned.
pub(super) fn shown(
    target: RepositoryName<'_>,
    value: BranchProtection,
    meta: &Meta,
) -> (Observation, Classic) {
    let url = value.url.value().map(String::as_str);
    if let Some((seen, warnings)) = refusal::other_owner(target, meta, url) {
        return unread(target, seen, warnings);
    }
    let name = target.artifact_name(artifact::PROTECTION.name);
    let seen = Seen::artifact(NAME, &name, &value, None, meta);
    let mut observation = target.observation(&artifact::PROTECTION, seen);
    observation.warnings = refusal::renamed_warning(target, meta);
    match Unread::of(observation.seen.shown()) {
        Some(unread) => (observation, Classic::Unread(unread)),
        None => (observation, Classic::Shown(Box::new(value))),
    }
}

/// What follows if the rule was not shown.
pub(super) fn unread(
    target: RepositoryName<'_>,
    seen: Seen,
    warnings: Vec<Warning>,
) -> (Observation, Classic) {
    let classic = Classic::not_shown(seen.shown());
    // Unreachable: an artifact is handled elsewhere.
    let classic = classic.unwrap_or_else(|| {
        Classic::Unread(Unread {
            reason: &reason::NO_EVIDENCE,
            detail: "branch protection was not read".to_string(),
            refused: false,
        })
    });
    let observation = Observation { warnings, ..target.observation(&artifact::PROTECTION, seen) };
    (observation, classic)
}

/// Interprets a refusal to show the classic rule.
fn not_shown(target: RepositoryName<'_>, branch: &str, refused: &Refused) -> (Observation, Classic) {
    let detail = format!("{branch}: {}", refused.message.as_deref().unwrap_or_default().trim());
    let (seen, warnings) = match meaning(refused) {
        RefusalMeaning::Unprotected => (Seen::Nothing { reason: &BRANCH_UNPROTECTED, detail }, Vec::new()),
        RefusalMeaning::NoBranch => (Seen::Nothing { reason: &BRANCH_MISSING, detail }, Vec::new()),
        RefusalMeaning::Empty => (refusal::empty(), Vec::new()),
        RefusalMeaning::NotFoundElsewhere => refusal::redirected(target, &refused.meta),
        RefusalMeaning::NotFound => {
            // The host also sends this to everyone who is not an administrator, to hide protection.
            let detail =
                format!("branch protection: {} (the host shows it only to administrators)", refused.text());
            (Seen::Denied { reason: &reason::PERMISSION_DENIED, detail }, Vec::new())
        }
        RefusalMeaning::TooLarge
        | RefusalMeaning::Denied(_)
        | RefusalMeaning::LockedOut
        | RefusalMeaning::Nothing => refusal::denied(target, "branch protection", refused),
    };
    unread(target, seen, warnings)
}

/// The result if the host's record of the branch reports no classic rule. The text is that of the other answer, so that
/// a run reports the same whichever it requested.
fn unprotected(target: RepositoryName<'_>, branch: &str) -> (Observation, Classic) {
    let detail = format!("{branch}: Branch not protected");
    unread(target, Seen::Nothing { reason: &BRANCH_UNPROTECTED, detail }, Vec::new())
}

/// The host did not report the default branch, and no branch is configured.
pub(super) fn no_default_branch(target: RepositoryName<'_>) -> Observation {
    let message = "branch protection: the host does not name the repository's default branch".to_string();
    let failed = Failed { reason: &reason::HOST_ERROR, message, status: None, request_id: None };
    target.observation(&artifact::PROTECTION, Seen::Failed(failed))
}
