//! Interprets the code host's answers: the decision table for branch protection and CODEOWNERS.
//!
//! Nothing here sends a request, and only `answer` compares the host's messages. The host says "Not Found" both if
//! there is nothing and if the token lacks access; the two differ in whether the host shows the repository itself.

use std::sync::Arc;

use evidence_bundle::document::Warning;
use evidence_bundle::path::encode_component;

use super::NAME;
use super::answer::{Denial, RefusalMeaning, said};
use crate::observation::{ArtifactKind, Failed, Inspection, Observation, Seen};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Meta, Refused, RequestFailure};
use evidence_rules::codehost as rules;
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{
    BRANCH_MISSING, BRANCH_UNPROTECTED, BranchFacts, Classic, DEFAULT_BRANCH_DIFFERS, RULESET_ID, Rules,
    Unread,
};
use evidence_rules::codehost::record::{
    BranchProtection, BranchRule, BranchRules, BranchState, OrganizationSettings, Ruleset,
};
use evidence_rules::rule::{Verdict, reason};

/// The request got no answer.
pub(super) fn failed(what: &str, failure: &RequestFailure) -> Seen {
    let failed = Failed::of(failure);
    Seen::Failed(Failed { message: format!("{what}: {}", failed.message), ..failed })
}

/// A repository by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepositoryName<'a> {
    /// `owner/name`, shared by everything about the repository.
    subject: &'a Arc<str>,
    pub(super) owner: &'a str,
    pub(super) name: &'a str,
}

impl<'a> RepositoryName<'a> {
    /// The repository named `owner/name`.
    pub(super) fn new(subject: &'a Arc<str>) -> RepositoryName<'a> {
        let (owner, name) = subject.split_once('/').unwrap_or_default();
        RepositoryName { subject, owner, name }
    }

    /// An observation of this repository.
    pub(super) fn observation(self, kind: &'static ArtifactKind, seen: Seen) -> Observation {
        Observation::new(NAME, kind, Arc::clone(self.subject), seen)
    }

    pub(super) fn artifact_name(self, kind: &str) -> String {
        encode_component(&format!("repo_{}_{}_{kind}.json", self.owner, self.name))
    }

    pub(super) fn warning(self, code: &str, message: String) -> Warning {
        Warning {
            code: code.to_string(),
            message,
            source: Some(NAME.id().to_string()),
            subject: Some(self.subject.to_string()),
        }
    }
}

/// The organization settings, from the connection test's answer.
pub(super) fn organization(name: &str, settings: &OrganizationSettings, meta: &Meta) -> Inspection {
    let seen = Seen::artifact(NAME, "org_settings.json", settings, None, meta);
    let observation = Observation::new(NAME, &artifact::ORGANIZATION_SETTINGS, name, seen);
    let subject = Arc::clone(&observation.subject);
    let verdict = rules::two_factor::judge(settings);
    Inspection::from(observation).judged(&rules::TWO_FACTOR_REQUIRED, subject, verdict)
}

/// The classic rule that the host returned.
pub(super) fn protection_shown(
    target: RepositoryName<'_>,
    value: BranchProtection,
    meta: &Meta,
) -> (Observation, Classic) {
    let url = value.url.value().map(String::as_str);
    if let Some((seen, warnings)) = foreign(target, meta, url) {
        return classic_unread(target, seen, warnings);
    }
    let name = target.artifact_name(artifact::PROTECTION.name);
    let seen = Seen::artifact(NAME, &name, &value, None, meta);
    let mut observation = target.observation(&artifact::PROTECTION, seen);
    observation.warnings = moved(target, meta);
    match Unread::of(observation.seen.shown()) {
        Some(unread) => (observation, Classic::Unread(unread)),
        None => (observation, Classic::Shown(Box::new(value))),
    }
}

pub(super) fn classic_unread(
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
pub(super) fn protection_refused(
    target: RepositoryName<'_>,
    branch: &str,
    refused: &Refused,
) -> (Observation, Classic) {
    let detail = format!("{branch}: {}", refused.message.as_deref().unwrap_or_default().trim());
    let (seen, warnings) = match said(refused) {
        RefusalMeaning::Unprotected => (Seen::Nothing { reason: &BRANCH_UNPROTECTED, detail }, Vec::new()),
        RefusalMeaning::NoBranch => (Seen::Nothing { reason: &BRANCH_MISSING, detail }, Vec::new()),
        RefusalMeaning::Empty => (empty(), Vec::new()),
        RefusalMeaning::NotFoundElsewhere => elsewhere(target, &refused.meta),
        RefusalMeaning::NotFound => {
            // The host also sends this to everyone who is not an administrator, to hide protection.
            let detail =
                format!("branch protection: {} (the host shows it only to administrators)", refused.text());
            (Seen::Denied { reason: &reason::PERMISSION_DENIED, detail }, Vec::new())
        }
        RefusalMeaning::TooLarge
        | RefusalMeaning::Denied(_)
        | RefusalMeaning::LockedOut
        | RefusalMeaning::Nothing => denied(target, "branch protection", refused),
    };
    classic_unread(target, seen, warnings)
}

/// The result if the host's record of the branch reports no classic rule. The text is that of the other answer, so that
/// a run reports the same whichever it requested.
pub(super) fn unprotected(target: RepositoryName<'_>, branch: &str) -> (Observation, Classic) {
    let detail = format!("{branch}: Branch not protected");
    classic_unread(target, Seen::Nothing { reason: &BRANCH_UNPROTECTED, detail }, Vec::new())
}

/// The host did not report the default branch, and no branch is configured.
pub(super) fn no_default_branch(target: RepositoryName<'_>) -> Observation {
    let message = "branch protection: the host does not name the repository's default branch".to_string();
    let failed = Failed { reason: &reason::HOST_ERROR, message, status: None, request_id: None };
    target.observation(&artifact::PROTECTION, Seen::Failed(failed))
}

/// The warnings for the manifest: a missing or unprotected branch, or one that is not the default.
pub(super) fn branch_warnings(
    target: RepositoryName<'_>,
    facts: &BranchFacts,
    other_default: Option<&str>,
    verdict: &Verdict,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let (branch, code) = (&facts.branch, verdict.reason.code);
    if *verdict.reason == BRANCH_UNPROTECTED {
        let rulesets = match facts.rules {
            Rules::Shown(_) => ", and no ruleset protects it",
            Rules::Unread(_) if matches!(facts.classic, Classic::Unread(_)) => {
                ": the plan does not offer any"
            }
            Rules::NotAsked | Rules::Unread(_) => "",
        };
        warnings.push(target.warning(code, format!("branch {branch} has no branch protection{rulesets}")));
    }
    if *verdict.reason == BRANCH_MISSING {
        warnings.push(target.warning(code, format!("branch {branch} does not exist")));
    }
    // If this determines the verdict, the check reports it.
    if let Some(default) = other_default.filter(|_| *verdict.reason != DEFAULT_BRANCH_DIFFERS) {
        let text = format!("branch {branch} was checked, but the default branch is {default}");
        warnings.push(target.warning("default_branch_differs", text));
    }
    warnings
}

/// The rules from rulesets that the host returned.
pub(super) fn rules_shown(
    target: RepositoryName<'_>,
    rules: Vec<BranchRule>,
    meta: &Meta,
) -> (Observation, Rules) {
    let name = target.artifact_name(artifact::BRANCH_RULES.name);
    let record = BranchRules { rules };
    let observation =
        target.observation(&artifact::BRANCH_RULES, Seen::artifact(NAME, &name, &record, None, meta));
    match Unread::of(observation.seen.shown()) {
        Some(unread) => (observation, Rules::Unread(unread)),
        None => (observation, Rules::Shown(record.rules)),
    }
}

/// The branch that the host returned.
pub(super) fn branch_shown(
    target: RepositoryName<'_>,
    branch: &str,
    state: &BranchState,
    meta: &Meta,
) -> Seen {
    if state.name.value().is_none_or(|name| name != branch) {
        return broken(meta, format!("branch {branch}: the host answered with another branch"));
    }
    Seen::artifact(NAME, &target.artifact_name(artifact::BRANCH.name), state, None, meta)
}

/// Whether the host returned the ruleset with this id.
pub(super) fn is_ruleset(id: u64, ruleset: &Ruleset, meta: &Meta) -> Result<(), Seen> {
    if ruleset.id.value() == Some(&id) {
        return Ok(());
    }
    Err(broken(meta, format!("ruleset {id}: the host answered with another ruleset")))
}

/// The observation of a ruleset, from the host's answer about it.
pub(super) fn ruleset(
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

/// The host has disabled the repository.
pub(super) fn disabled() -> Seen {
    let detail = "the host has disabled the repository".to_string();
    Seen::Nothing { reason: &rules::reason::REPOSITORY_DISABLED, detail }
}

/// Whether the answer was "Not Found", which may refer to the repository.
pub(super) fn is_not_found(observation: &Observation) -> bool {
    let refused =
        matches!(&observation.seen, Seen::Denied { reason, .. } if **reason == reason::PERMISSION_DENIED);
    refused && observation.requests.last().is_some_and(|asked| asked.status == Some(404))
}

/// The result of an observation about `what`.
pub(super) fn about(what: &str, mut seen: Seen) -> Seen {
    match &mut seen {
        Seen::Failed(Failed { message: text, .. })
        | Seen::Denied { detail: text, .. }
        | Seen::Nothing { detail: text, .. } => *text = format!("{what}: {text}"),
        Seen::Artifact { .. } | Seen::Withheld { .. } => {}
    }
    seen
}

/// Discovery listed the repository, and now there is none.
pub(super) fn gone(listed: &str, gone: &str) -> Seen {
    Seen::Denied { reason: &reason::NOT_FOUND, detail: format!("listed at {listed}, gone at {gone}") }
}

/// The host reports that the repository is empty.
pub(super) fn empty() -> Seen {
    Seen::Nothing { reason: &rules::reason::EMPTY_REPOSITORY, detail: "the repository is empty".to_string() }
}

/// Interprets refusals that mean the same for every call about a repository. Returns the result and the warnings.
pub(super) fn denied(target: RepositoryName<'_>, what: &str, refused: &Refused) -> (Seen, Vec<Warning>) {
    let text = refused.text();
    let denial = match said(refused) {
        RefusalMeaning::Denied(denial) => denial,
        RefusalMeaning::NotFoundElsewhere => return elsewhere(target, &refused.meta),
        // The host hides inaccessible resources behind "Not Found". Its variants have no meaning for this call.
        RefusalMeaning::NotFound
        | RefusalMeaning::Unprotected
        | RefusalMeaning::NoBranch
        | RefusalMeaning::Empty => Denial::Permission,
        RefusalMeaning::TooLarge | RefusalMeaning::LockedOut | RefusalMeaning::Nothing => {
            // Not the host's decision about this repository, or no decision at all.
            return (Seen::Failed(refused_failure(what, refused)), Vec::new());
        }
    };
    let reason = match denial {
        Denial::Blocked => &rules::reason::BLOCKED,
        Denial::PlanLimit => &rules::reason::PLAN_LIMIT,
        Denial::SsoRequired => &rules::reason::SSO_REQUIRED,
        Denial::Permission | Denial::OrganizationPolicy => &reason::PERMISSION_DENIED,
    };
    let mut warnings = Vec::new();
    if *reason != reason::PERMISSION_DENIED {
        warnings.push(target.warning(reason.code, format!("{what} was not shown: {text}")));
    }
    (Seen::Denied { reason, detail: format!("{what}: {text}") }, warnings)
}

/// A collection error for a refusal.
pub(super) fn refused_failure(what: &str, refused: &Refused) -> Failed {
    let reason = match refused.class {
        Class::NotFound => &reason::NOT_FOUND,
        // A proxy's page says nothing about the token's permissions.
        Class::Forbidden(RefusalCause::Intermediary) => &reason::HOST_ERROR,
        Class::Unauthorized | Class::Forbidden(_) => &reason::PERMISSION_DENIED,
        _ => &reason::HOST_ERROR,
    };
    Failed {
        reason,
        message: format!("{what}: {} (HTTP {})", refused.text(), refused.meta.status),
        status: Some(refused.meta.status),
        request_id: refused.meta.request_id.clone(),
    }
}

/// 'Not Found' for a configured repository.
pub(super) fn repository_not_found() -> Failed {
    Failed {
        reason: &reason::NOT_FOUND,
        message: "Not Found: the repository does not exist, or the token cannot see it".to_string(),
        status: Some(404),
        request_id: None,
    }
}

pub(super) fn broken(meta: &Meta, message: String) -> Seen {
    Seen::Failed(Failed {
        reason: &reason::HOST_ERROR,
        message,
        status: Some(meta.status),
        request_id: meta.request_id.clone(),
    })
}

/// Detects a transferred repository, which still answers under its old name. Another owner's settings are not evidence
/// about this organization.
pub(super) fn foreign(
    target: RepositoryName<'_>,
    meta: &Meta,
    url: Option<&str>,
) -> Option<(Seen, Vec<Warning>)> {
    let owner = url.and_then(|url| url.split_once("/repos/")).and_then(|(_, rest)| rest.split('/').next());
    of_other_owner(target, meta, owner)
}

/// The same, of an answer that names this owner.
pub(super) fn of_other_owner(
    target: RepositoryName<'_>,
    meta: &Meta,
    owner: Option<&str>,
) -> Option<(Seen, Vec<Warning>)> {
    meta.redirected_to.as_ref()?;
    let Some(owner) = owner else { return Some(elsewhere(target, meta)) };
    if owner.eq_ignore_ascii_case(target.owner) {
        return None;
    }
    let owner = evidence_http::single_line(owner);
    let text = format!("the repository was transferred to {owner} and was not collected");
    let warnings = vec![target.warning("repository_transferred", text.clone())];
    Some((Seen::Denied { reason: &reason::NOT_FOUND, detail: text }, warnings))
}

/// The host redirected the request, and the answer does not name its repository, so it proves nothing.
pub(super) fn elsewhere(target: RepositoryName<'_>, meta: &Meta) -> (Seen, Vec<Warning>) {
    let text = "the host answers for another repository: this one was renamed or transferred; configure its current \
                name";
    (Seen::Denied { reason: &reason::NOT_FOUND, detail: text.to_string() }, moved(target, meta))
}

pub(super) fn moved(target: RepositoryName<'_>, meta: &Meta) -> Vec<Warning> {
    let Some(place) = &meta.redirected_to else { return Vec::new() };
    let text = format!("the host answered from {place}: the repository was renamed");
    vec![target.warning("repository_renamed", text)]
}
