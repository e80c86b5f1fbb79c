//! Asking for what one look needs: which calls it takes, and in which order. What they mean is decided in `look`.

use super::answer::{RefusalMeaning, said};
use super::api::Api;
use super::calls::{CodeownersLocation, PLACES, PROTECTION};
use super::look::{self, Look, RepositoryName};
use super::wire::{Contents, File, NotAFile};
use evidence_http::{Answered, CallError, FailureKind, Meta, RequestFailure};

/// The branch protection.
pub(super) async fn protection(api: &Api<'_>, target: RepositoryName<'_>, branch: &str) -> Look {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    match api.ask(&PROTECTION, &parameters).await {
        Err(CallError::Failed(failure)) => Look::failed("branch protection", &failure),
        Ok(Answered { value, meta }) => look::protection_shown(target, value, &meta),
        Err(CallError::Refused(refused)) => look::protection_refused(target, branch, &refused),
    }
}

/// The file of code owners, from the first place that has one.
pub(super) async fn codeowners(api: &Api<'_>, target: RepositoryName<'_>) -> Look {
    let mut other: Option<(&str, NotAFile)> = None;
    let mut exists = false;
    let mut warnings = Vec::new();
    for place in &PLACES {
        match api.ask(&place.record, &[("owner", target.owner), ("repo", target.name)]).await {
            Err(CallError::Failed(failure)) => return Look::failed("CODEOWNERS", &failure),
            Ok(Answered { value, meta }) => {
                exists = true;
                warnings.extend(look::moved(target, &meta));
                match value {
                    Contents::File(file) => {
                        if let Some(look) = look::foreign(target, &meta, file.url.as_deref()) {
                            return look;
                        }
                        let mut look = match look::file_shown(target, place.path, &file, &meta) {
                            Some(look) => look,
                            None => raw(api, target, place, Some(&file), &meta).await,
                        };
                        look.warnings.extend(warnings);
                        return look;
                    }
                    Contents::Other(what) => {
                        other.get_or_insert((place.path, what));
                    }
                }
            }
            Err(CallError::Refused(refused)) => match said(&refused) {
                RefusalMeaning::NotFound | RefusalMeaning::Unprotected | RefusalMeaning::NoBranch => {}
                RefusalMeaning::NotFoundElsewhere => return look::elsewhere(target, &refused.meta),
                // Only a repository that is there can be empty.
                RefusalMeaning::Empty => {
                    return Look::new(look::missing("CODEOWNERS not found: the repository is empty"));
                }
                RefusalMeaning::TooLarge => {
                    let mut look = raw(api, target, place, None, &refused.meta).await;
                    look.warnings.extend(warnings);
                    return look;
                }
                RefusalMeaning::Denied(_) | RefusalMeaning::LockedOut | RefusalMeaning::Nothing => {
                    return look::denied(target, "CODEOWNERS", &refused);
                }
            },
        }
    }
    Look { warnings, exists, ..Look::new(look::no_file(other)) }
}

/// The file's own bytes: for files of 1 to 3 MB, whose content the record leaves out.
async fn raw(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    place: &CodeownersLocation,
    file: Option<&File>,
    meta: &Meta,
) -> Look {
    let size = file.and_then(|file| file.size);
    match api.ask_raw(&place.raw, &[("owner", target.owner), ("repo", target.name)], size).await {
        Ok(raw) => look::codeowners_artifact(target, place.path, file, raw.value, &raw.meta),
        Err(CallError::Refused(refused)) => match said(&refused) {
            RefusalMeaning::NotFound
            | RefusalMeaning::NotFoundElsewhere
            | RefusalMeaning::Unprotected
            | RefusalMeaning::NoBranch
            | RefusalMeaning::Empty => {
                Look::new(look::broken(meta, format!("{} disappeared between two requests", place.path)))
            }
            RefusalMeaning::TooLarge
            | RefusalMeaning::Denied(_)
            | RefusalMeaning::LockedOut
            | RefusalMeaning::Nothing => look::denied(target, "CODEOWNERS", &refused),
        },
        // Of a file whose size the host has reported, it is not an answer.
        Err(CallError::Failed(RequestFailure { kind: FailureKind::TooLarge { .. }, .. }))
            if size.is_none() =>
        {
            look::too_large(place.path, None)
        }
        Err(CallError::Failed(failure)) => Look::failed("CODEOWNERS", &failure),
    }
}
