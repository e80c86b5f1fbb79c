//! The meaning of refusals, failures and redirects that every call about a repository shares.
//!
//! Nothing here sends a request, and only `answer` compares the host's messages. The host says "Not Found" both if
//! there is nothing and if the token lacks access; the two differ in whether the host shows the repository itself.

use evidence_bundle::document::Warning;

use super::super::subject::RepositoryName;
use super::answer::{Denial, RefusalMeaning, meaning};
use crate::observation::{Failed, Observation, Seen};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{CallError, Meta, Refused, RequestFailure};
use evidence_rules::codehost as rules;
use evidence_rules::rule::{Reason, reason};

/// The request got no answer.
pub(crate) fn failed(what: &str, failure: &RequestFailure) -> Seen {
    let failed = Failed::of(failure);
    Seen::Failed(Failed { message: format!("{what}: {}", failed.message), ..failed })
}

/// The result of an unsuccessful call that is one of several about a repository. The first of them gives the warnings.
pub(crate) fn unread(what: &str, target: RepositoryName<'_>, problem: CallError) -> Seen {
    match problem {
        CallError::Failed(failure) => failed(what, &failure),
        CallError::Refused(refused) => denied(target, what, &refused).0,
    }
}

/// The result of an unsuccessful call about the organization.
pub(crate) fn unread_of_organization(what: &str, problem: CallError) -> Seen {
    let refused = match problem {
        CallError::Failed(failure) => return failed(what, &failure),
        CallError::Refused(refused) => refused,
    };
    let denial = match meaning(&refused) {
        RefusalMeaning::Denied(denial) => denial,
        RefusalMeaning::TooLarge | RefusalMeaning::LockedOut | RefusalMeaning::Nothing => {
            return Seen::Failed(refused_failure(what, &refused));
        }
        // The organization was shown, so the token may not see this part of it.
        RefusalMeaning::NotFound
        | RefusalMeaning::NotFoundElsewhere
        | RefusalMeaning::Unprotected
        | RefusalMeaning::NoBranch
        | RefusalMeaning::Empty => Denial::Permission,
    };
    Seen::Denied { reason: reason_of(denial), detail: format!("{what}: {}", refused.text()) }
}

/// The reason of a denial.
fn reason_of(denial: Denial) -> &'static Reason {
    match denial {
        Denial::Blocked => &rules::reason::BLOCKED,
        Denial::PlanLimit => &rules::reason::PLAN_LIMIT,
        Denial::SsoRequired => &rules::reason::SSO_REQUIRED,
        Denial::Permission | Denial::OrganizationPolicy => &reason::PERMISSION_DENIED,
    }
}

/// The host has disabled the repository.
pub(crate) fn disabled() -> Seen {
    let detail = "the host has disabled the repository".to_string();
    Seen::Nothing { reason: &rules::reason::REPOSITORY_DISABLED, detail }
}

/// The host shows the repository as archived: nothing can be changed in it, so it is not asked.
pub(crate) fn archived() -> Seen {
    let detail = "the host shows the repository as archived".to_string();
    Seen::Nothing { reason: &rules::reason::ARCHIVED, detail }
}

/// Whether the answer was "Not Found", which may refer to the repository.
pub(crate) fn is_not_found(observation: &Observation) -> bool {
    let refused =
        matches!(&observation.seen, Seen::Denied { reason, .. } if **reason == reason::PERMISSION_DENIED);
    refused && observation.requests.last().is_some_and(|asked| asked.status == Some(404))
}

/// The result of an observation about `what`.
pub(crate) fn about(what: &str, mut seen: Seen) -> Seen {
    match &mut seen {
        Seen::Failed(Failed { message: text, .. })
        | Seen::Denied { detail: text, .. }
        | Seen::Nothing { detail: text, .. } => *text = format!("{what}: {text}"),
        Seen::Artifact { .. } | Seen::Withheld { .. } => {}
    }
    seen
}

/// Discovery listed the repository, and now there is none.
pub(crate) fn gone(listed: &str, gone: &str) -> Seen {
    Seen::Denied { reason: &reason::NOT_FOUND, detail: format!("listed at {listed}, gone at {gone}") }
}

/// The host reports that the repository is empty.
pub(crate) fn empty() -> Seen {
    Seen::Nothing { reason: &rules::reason::EMPTY_REPOSITORY, detail: "the repository is empty".to_string() }
}

/// Interprets refusals that mean the same for every call about a repository. Returns the result and the warnings.
pub(crate) fn denied(target: RepositoryName<'_>, what: &str, refused: &Refused) -> (Seen, Vec<Warning>) {
    let text = refused.text();
    let denial = match meaning(refused) {
        RefusalMeaning::Denied(denial) => denial,
        RefusalMeaning::NotFoundElsewhere => return redirected(target, &refused.meta),
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
    let reason = reason_of(denial);
    let mut warnings = Vec::new();
    if *reason != reason::PERMISSION_DENIED {
        warnings.push(target.warning(reason.code, format!("{what} was not shown: {text}")));
    }
    (Seen::Denied { reason, detail: format!("{what}: {text}") }, warnings)
}

/// A collection error for a refusal.
pub(crate) fn refused_failure(what: &str, refused: &Refused) -> Failed {
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
pub(crate) fn repository_not_found() -> Failed {
    Failed {
        reason: &reason::NOT_FOUND,
        message: "Not Found: the repository does not exist, or the token cannot see it".to_string(),
        status: Some(404),
        request_id: None,
    }
}

/// An answer that says nothing usable.
pub(crate) fn unusable(meta: &Meta, message: String) -> Seen {
    Seen::Failed(Failed {
        reason: &reason::HOST_ERROR,
        message,
        status: Some(meta.status),
        request_id: meta.request_id.clone(),
    })
}

/// Detects a transferred repository, which still answers under its old name. Another owner's settings are not evidence
/// about this organization.
pub(crate) fn other_owner(
    target: RepositoryName<'_>,
    meta: &Meta,
    url: Option<&str>,
) -> Option<(Seen, Vec<Warning>)> {
    let owner = url.and_then(|url| url.split_once("/repos/")).and_then(|(_, rest)| rest.split('/').next());
    of_other_owner(target, meta, owner)
}

/// The same, of an answer that names this owner.
pub(crate) fn of_other_owner(
    target: RepositoryName<'_>,
    meta: &Meta,
    owner: Option<&str>,
) -> Option<(Seen, Vec<Warning>)> {
    meta.redirected_to.as_ref()?;
    let Some(owner) = owner else { return Some(redirected(target, meta)) };
    if owner.eq_ignore_ascii_case(target.owner) {
        return None;
    }
    let owner = evidence_http::single_line(owner);
    let text = format!("the repository was transferred to {owner} and was not collected");
    let warnings = vec![target.warning("repository_transferred", text.clone())];
    Some((Seen::Denied { reason: &reason::NOT_FOUND, detail: text }, warnings))
}

/// The host redirected the request, and the answer does not name its repository, so it proves nothing.
pub(crate) fn redirected(target: RepositoryName<'_>, meta: &Meta) -> (Seen, Vec<Warning>) {
    let text = "the host answers for another repository: this one was renamed or transferred; configure its current \
                name";
    (Seen::Denied { reason: &reason::NOT_FOUND, detail: text.to_string() }, renamed_warning(target, meta))
}

/// A warning about a renamed repository, if the host redirected the request.
pub(crate) fn renamed_warning(target: RepositoryName<'_>, meta: &Meta) -> Vec<Warning> {
    let Some(place) = &meta.redirected_to else { return Vec::new() };
    let text = format!("the host answered from {place}: the repository was renamed");
    vec![target.warning("repository_renamed", text)]
}
