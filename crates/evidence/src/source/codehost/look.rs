//! What the code host's answers mean: the decision table for branch protection and CODEOWNERS.
//!
//! Nothing here asks, and the host's words are compared in `answer` only. "Not Found" is what the host says both when
//! there is nothing and when the token may not look; which of the two it is depends on whether any other answer has shown
//! the repository (see [`Look::shows_repository`]).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use evidence_bundle::document::Warning;
use evidence_bundle::path::encode_component;

use super::answer::{Denial, RefusalMeaning, said};
use super::codeowners::{self, CodeOwners};
use super::record::{BranchProtection, CodeownersFile, OrganizationSettings};
use super::wire::{File, NotAFile};
use super::{NAME, artifact, rules};
use crate::number::saturating_u64;
use crate::observation::{ArtifactKind, Failed, Inspection, Observation, Seen};
use crate::report::format::counted;
use crate::rule::{Rule, Verdict, reason};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Meta, Refused, RequestFailure};

/// What one look at a repository brought.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) seen: Seen,
    pub(super) warnings: Vec<Warning>,
    /// What its rule says of the artifact, if there is one.
    pub(super) verdict: Option<(&'static Rule, Verdict)>,
    /// Nothing that was asked says that the repository may be missing. It is also true of a look that failed, which
    /// proves nothing: [`Look::shows_repository`] says what is proved. If it is false, "Not Found" may mean the
    /// repository.
    pub(super) exists: bool,
}

impl Look {
    pub(super) fn new(seen: Seen) -> Look {
        Look { seen, warnings: Vec::new(), verdict: None, exists: true }
    }

    pub(super) fn failed(what: &str, failure: &RequestFailure) -> Look {
        let failed = Failed::of(failure);
        Look::new(Seen::Failed(Failed { message: format!("{what}: {}", failed.message), ..failed }))
    }

    /// The look and what it shows, as an item of the collection.
    pub(super) fn inspection(self, kind: &'static ArtifactKind, subject: Arc<str>) -> Inspection {
        let Look { seen, warnings, verdict, .. } = self;
        let observation =
            Observation { warnings, ..Observation::new(NAME, kind, Arc::clone(&subject), seen) };
        let inspection = Inspection::from(observation);
        match verdict {
            Some((rule, verdict)) => inspection.judged(rule, subject, verdict),
            None => inspection,
        }
    }

    /// Whether this look proves that the repository is there. One that failed proves nothing.
    pub(super) fn shows_repository(&self) -> bool {
        self.exists && !matches!(self.seen, Seen::Failed(_))
    }
}

/// A repository by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepositoryName<'a> {
    pub(super) owner: &'a str,
    pub(super) name: &'a str,
}

impl RepositoryName<'_> {
    fn subject(self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    fn artifact_name(self, kind: &str) -> String {
        encode_component(&format!("repo_{}_{}_{kind}.json", self.owner, self.name))
    }

    fn warning(self, code: &str, message: String) -> Warning {
        Warning {
            code: code.to_string(),
            message,
            source: Some(NAME.id().to_string()),
            subject: Some(self.subject()),
        }
    }
}

/// The organization settings of the connection test's answer.
pub(super) fn organization(name: &str, settings: &OrganizationSettings, meta: &Meta) -> Inspection {
    let mut look = Look::new(Seen::artifact(NAME, "org_settings.json", settings, None, meta));
    look.verdict = Some((&rules::TWO_FACTOR_REQUIRED, rules::two_factor::judge(settings)));
    look.inspection(&artifact::ORGANIZATION_SETTINGS, name.into())
}

pub(super) fn protection_shown(target: RepositoryName<'_>, value: BranchProtection, meta: &Meta) -> Look {
    let url = value.url.value().map(String::as_str);
    if let Some(look) = foreign(target, meta, url) {
        return look;
    }
    let warnings = moved(target, meta);
    let name = target.artifact_name(artifact::PROTECTION.name);
    let seen = Seen::artifact(NAME, &name, &value, None, meta);
    let verdict = Some((&rules::BRANCH_PROTECTION, rules::branch_protection::judge(&value)));
    Look { seen, warnings, verdict, exists: true }
}

pub(super) fn protection_refused(target: RepositoryName<'_>, branch: &str, refused: &Refused) -> Look {
    let message = refused.message.as_deref().unwrap_or_default().trim();
    let (reason, warning) = match said(refused) {
        RefusalMeaning::Unprotected => (
            &rules::branch_protection::BRANCH_UNPROTECTED,
            format!("branch {branch} has no branch protection ({message})"),
        ),
        RefusalMeaning::NoBranch => {
            (&rules::branch_protection::BRANCH_MISSING, format!("branch {branch} does not exist"))
        }
        RefusalMeaning::NotFoundElsewhere => return elsewhere(target, &refused.meta),
        RefusalMeaning::NotFound | RefusalMeaning::Empty => {
            // The host hides protection from everybody but administrators behind the same words.
            let detail =
                format!("branch protection: {} (the host shows it only to administrators)", refused.text());
            let mut look = Look::new(Seen::Denied { reason: &reason::PERMISSION_DENIED, detail });
            look.exists = false;
            return look;
        }
        RefusalMeaning::TooLarge
        | RefusalMeaning::Denied(_)
        | RefusalMeaning::LockedOut
        | RefusalMeaning::Nothing => {
            return denied(target, "branch protection", refused);
        }
    };
    let mut look = Look::new(Seen::Nothing { reason, detail: format!("{branch}: {message}") });
    look.warnings.push(target.warning(reason.code, warning));
    look
}

/// The repository has no file in any place; `other` is what was found in the place of one.
pub(super) fn no_file(other: Option<(&str, NotAFile)>) -> Seen {
    match other {
        Some((place, what)) => Seen::Nothing {
            reason: &rules::default_owners::CODEOWNERS_NOT_A_FILE,
            detail: format!("{place} is {what}"),
        },
        None => missing("CODEOWNERS not found in the root or in .github/"),
    }
}

pub(super) fn missing(detail: &str) -> Seen {
    Seen::Nothing { reason: &rules::default_owners::CODEOWNERS_MISSING, detail: detail.to_string() }
}

/// What a file's record comes to by itself; `None` if it came without the content.
pub(super) fn file_shown(target: RepositoryName<'_>, place: &str, file: &File, meta: &Meta) -> Option<Look> {
    if file.size.is_some_and(codeowners::is_too_large) {
        return Some(too_large(place, file.size));
    }
    let content = file.content.as_deref().unwrap_or_default();
    let is_base64 = file.encoding.as_deref().is_none_or(|encoding| encoding.eq_ignore_ascii_case("base64"));
    if !is_base64 || (content.is_empty() && file.size.is_some_and(|size| size > 0)) {
        // Over 1 MB the record comes without the content.
        return None;
    }
    // The host breaks the text every 60 characters; a strict decoder would refuse every one of them.
    let stripped: Vec<u8> = content.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let decoded = match BASE64.decode(&stripped) {
        Ok(decoded) => decoded,
        Err(error) => {
            return Some(Look::new(broken(meta, format!("{place}: the content is not base64: {error}"))));
        }
    };
    let length = saturating_u64(decoded.len());
    let said = file.size.filter(|size| *size != length);
    let mut look = codeowners_artifact(target, place, Some(file), decoded, meta);
    if let Some(size) = said {
        // The answer was whole, or it would be no JSON: what was read is judged, and the difference is told.
        let text = format!("{place}: received {length} bytes, but the host reported {size}");
        look.warnings.push(target.warning("codeowners_size_differs", text));
    }
    Some(look)
}

pub(super) fn codeowners_artifact(
    target: RepositoryName<'_>,
    place: &str,
    file: Option<&File>,
    decoded: Vec<u8>,
    meta: &Meta,
) -> Look {
    let owners = CodeOwners::parse(&decoded);
    let size = saturating_u64(decoded.len());
    let record = CodeownersFile {
        name: file.and_then(|file| file.name.clone()).unwrap_or_else(|| "CODEOWNERS".to_string()),
        path: file.and_then(|file| file.path.clone()).unwrap_or_else(|| place.to_string()),
        content: BASE64.encode(&decoded),
        encoding: "base64",
        size,
    };
    let verdict = rules::default_owners::judge(&record.path, &owners);
    let invalid = &owners.invalid;
    let mut warnings = Vec::new();
    if let Some(first) = invalid.first() {
        let count = saturating_u64(invalid.len());
        let lines = counted(count, "invalid line", "invalid lines");
        let text = format!("{place}: the host ignores {lines}, the first is line {}", first.line);
        warnings.push(target.warning("codeowners_invalid_lines", text));
    }
    let name = target.artifact_name(artifact::CODEOWNERS.name);
    let seen = Seen::artifact(NAME, &name, &record, Some(decoded), meta);
    Look { seen, warnings, verdict: Some((&rules::CODEOWNERS_DEFAULT_RULE, verdict)), exists: true }
}

pub(super) fn too_large(place: &str, size: Option<u64>) -> Look {
    let size = size.map_or_else(|| "more than 3 MB".to_string(), |size| format!("{size} bytes"));
    let detail = format!("{place}: {size}, but the host ignores CODEOWNERS files over 3 MB");
    Look::new(Seen::Nothing { reason: &rules::default_owners::CODEOWNERS_TOO_LARGE, detail })
}

/// The refusals that mean the same on every call about a repository.
pub(super) fn denied(target: RepositoryName<'_>, what: &str, refused: &Refused) -> Look {
    let text = refused.text();
    let RefusalMeaning::Denied(denial) = said(refused) else {
        // Not the host's own verdict on this repository, or no verdict at all.
        return Look::new(Seen::Failed(refused_failure(what, refused)));
    };
    let reason = match denial {
        Denial::Blocked => &rules::reason::BLOCKED,
        Denial::PlanLimit => &rules::reason::PLAN_LIMIT,
        Denial::SsoRequired => &rules::reason::SSO_REQUIRED,
        Denial::Permission | Denial::OrganizationPolicy => &reason::PERMISSION_DENIED,
    };
    let mut look = Look::new(Seen::Denied { reason, detail: format!("{what}: {text}") });
    if *reason != reason::PERMISSION_DENIED {
        look.warnings.push(target.warning(reason.code, format!("{what} was not shown: {text}")));
    }
    look
}

/// A refusal as a collection error.
pub(super) fn refused_failure(what: &str, refused: &Refused) -> Failed {
    let reason = match refused.class {
        Class::NotFound => &reason::NOT_FOUND,
        // A page from a proxy says nothing about what the token may see.
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

/// 'Not Found' for a repository that is listed in the configuration and that no answer has shown.
pub(super) fn repository_not_found(what: &str) -> Failed {
    Failed {
        reason: &reason::NOT_FOUND,
        message: format!("{what}: Not Found: the repository does not exist, or the token cannot see it"),
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

/// A transferred repository answers under its old name, from wherever it is now. Settings of somebody else's
/// repository are no evidence about this organization.
pub(super) fn foreign(target: RepositoryName<'_>, meta: &Meta, url: Option<&str>) -> Option<Look> {
    meta.redirected_to.as_ref()?;
    let owner = url.and_then(|url| url.split_once("/repos/")).and_then(|(_, rest)| rest.split('/').next());
    let Some(owner) = owner else { return Some(elsewhere(target, meta)) };
    if owner.eq_ignore_ascii_case(target.owner) {
        return None;
    }
    let owner = evidence_http::single_line(owner);
    let text = format!("the repository was transferred to {owner} and was not collected");
    let mut look = Look::new(Seen::Denied { reason: &reason::NOT_FOUND, detail: text.clone() });
    look.warnings.push(target.warning("repository_transferred", text));
    Some(look)
}

/// An answer from another place that does not say whose repository it is about: nothing follows from it.
pub(super) fn elsewhere(target: RepositoryName<'_>, meta: &Meta) -> Look {
    let text = "the host answers for another repository: this one was renamed or transferred; configure its current \
                name";
    let mut look = Look::new(Seen::Denied { reason: &reason::NOT_FOUND, detail: text.to_string() });
    look.warnings = moved(target, meta);
    look
}

pub(super) fn moved(target: RepositoryName<'_>, meta: &Meta) -> Vec<Warning> {
    let Some(place) = &meta.redirected_to else { return Vec::new() };
    let text = format!("the host answered from {place}: the repository was renamed");
    vec![target.warning("repository_renamed", text)]
}
