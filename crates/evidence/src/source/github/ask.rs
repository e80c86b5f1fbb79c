//! Makes the calls for one observation, in order. `interpret` interprets the answers.

use std::collections::HashSet;

use super::answer::{RefusalMeaning, said, says_disabled};
use super::api::Api;
use super::calls::{BRANCH, CodeownersLocation, ERRORS, PLACES, PROTECTION, REPOSITORY, RULES, RULESET};
use super::directories::Directories;
use super::interpret::{self, RepositoryName};
use super::owners::{self, CodeownersReading, FoundFile};
use super::wire::{Contents, File, NotAFile, Repository};
use crate::observation::{Observation, Seen};
use evidence_http::retry::Class;
use evidence_http::{Answered, CallError, FailureKind, Meta, RequestFailure};
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{Classic, Rules, Unread};
use evidence_rules::codehost::default_owners::unknown_owners as unknown_owners_in;
use evidence_rules::codehost::record::{BranchState, Ruleset};

/// Additional results of reading the classic rule.
pub(super) struct ClassicReading {
    pub(super) classic: Classic,
    /// The answer was "Not Found", which may refer to the repository.
    pub(super) may_be_missing: bool,
    /// The host redirected the request, and the answer names this repository's owner.
    pub(super) renamed: bool,
}

/// Whether to request the branch before its classic rule: in the last run the host reported that there is no rule,
/// which cannot be revalidated, and the kept answer about the branch can.
pub(super) fn begins_with_branch(api: &Api<'_>, target: RepositoryName<'_>, branch: &str) -> bool {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    api.is_kept(&BRANCH, &parameters) && !api.is_kept(&PROTECTION, &parameters)
}

/// Reads the classic rule of a branch. `may_be_empty`: the repository is not known to have content. `branch_first`: see
/// [`begins_with_branch`].
pub(super) async fn classic(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
    may_be_empty: bool,
    branch_first: bool,
) -> (Observation, ClassicReading) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let (mut may_be_missing, mut renamed) = (false, false);
    if branch_first && has_no_rule(api, branch, &parameters).await {
        let (observation, classic) = interpret::unprotected(target, branch);
        return (observation, ClassicReading { classic, may_be_missing, renamed });
    }
    let (mut observation, mut classic);
    match api.ask(&PROTECTION, &parameters).await {
        Err(CallError::Failed(failure)) => {
            let seen = interpret::failed("branch protection", &failure);
            (observation, classic) = interpret::classic_unread(target, seen, Vec::new());
        }
        Ok(Answered { value, meta }) => {
            renamed = meta.redirected_to.is_some();
            (observation, classic) = interpret::protection_shown(target, value, &meta);
        }
        Err(CallError::Refused(refused)) => {
            may_be_missing = said(&refused) == RefusalMeaning::NotFound;
            if api.keeps_answers()
                && said(&refused) == RefusalMeaning::Unprotected
                && !says_disabled(&refused)
                && !branch_first
            {
                // Kept for the next run; the result does not matter now.
                let _ = has_no_rule(api, branch, &parameters).await;
            }
            (observation, classic) = interpret::protection_refused(target, branch, &refused);
        }
    }
    if may_be_empty && (may_be_missing || matches!(classic, Classic::NoBranch(_))) {
        let seen = match is_empty(api, target).await {
            Ok(true) => Some(interpret::empty()),
            // The branch does not exist, but it is unknown whether the repository is empty.
            Err(failure) if !may_be_missing => Some(interpret::failed("branch protection", &failure)),
            Ok(false) | Err(_) => None,
        };
        if let Some(seen) = seen {
            may_be_missing = false;
            (observation, classic) = interpret::classic_unread(target, seen, Vec::new());
        }
    }
    (observation, ClassicReading { classic, may_be_missing, renamed })
}

/// Whether the host's record of the branch reports no classic rule. `false` without an answer.
async fn has_no_rule(api: &Api<'_>, branch: &str, parameters: &[(&str, &str)]) -> bool {
    // Boxed: this is rarely requested, but would enlarge the future of every observation.
    match Box::pin(api.ask(&BRANCH, parameters)).await {
        Ok(Answered { value, meta }) => {
            let is_it = meta.redirected_to.is_none() && value.name.value().is_some_and(|name| name == branch);
            is_it && value.has_classic_rule() == Some(false)
        }
        Err(CallError::Refused(_) | CallError::Failed(_)) => false,
    }
}

/// Whether the repository is empty, determined by requesting a file that is read anyway.
async fn is_empty(api: &Api<'_>, target: RepositoryName<'_>) -> Result<bool, RequestFailure> {
    let [place, ..] = &PLACES;
    match api.ask(&place.record, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(_) => Ok(false),
        Err(CallError::Refused(refused)) => Ok(said(&refused) == RefusalMeaning::Empty),
        Err(CallError::Failed(failure)) => Err(failure),
    }
}

/// Reads the rules of all rulesets for a branch. `renamed`: another answer has shown that this repository was renamed.
pub(super) async fn rules(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
    renamed: bool,
) -> (Observation, Rules) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let seen = match api.pages(&RULES, &parameters).await {
        Ok((_, meta)) if meta.redirected_to.is_some() && !renamed => interpret::elsewhere(target, &meta).0,
        Ok((rules, meta)) => return interpret::rules_shown(target, rules, &meta),
        Err(problem) => unread("branch rules", target, problem),
    };
    let observation = target.observation(&artifact::BRANCH_RULES, seen);
    let rules = Unread::of(observation.seen.shown()).map_or(Rules::NotAsked, Rules::Unread);
    (observation, rules)
}

/// Reads the branch itself, which the host shows to those who may not see its classic rule.
pub(super) async fn branch(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    branch: &str,
) -> (Observation, Option<BranchState>) {
    let parameters = [("owner", target.owner), ("repo", target.name), ("branch", branch)];
    let mut shown = None;
    let seen = match api.ask(&BRANCH, &parameters).await {
        Ok(Answered { meta, .. }) if meta.redirected_to.is_some() => interpret::elsewhere(target, &meta).0,
        Ok(Answered { value, meta }) => {
            let seen = interpret::branch_shown(target, branch, &value, &meta);
            shown = Some(value);
            seen
        }
        Err(problem) => unread("branch", target, problem),
    };
    let observation = target.observation(&artifact::BRANCH, seen);
    let shown = shown.filter(|_| Unread::of(observation.seen.shown()).is_none());
    (observation, shown)
}

/// Reads a ruleset, which says who can bypass it.
pub(super) async fn ruleset(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    id: u64,
    renamed: bool,
) -> Result<(Ruleset, Meta), Seen> {
    let number = id.to_string();
    let parameters = [("owner", target.owner), ("repo", target.name), ("ruleset", number.as_str())];
    match api.ask(&RULESET, &parameters).await {
        Ok(Answered { meta, .. }) if meta.redirected_to.is_some() && !renamed => {
            Err(interpret::elsewhere(target, &meta).0)
        }
        Ok(Answered { value, meta }) => interpret::is_ruleset(id, &value, &meta).map(|()| (value, meta)),
        Err(problem) => Err(unread(&format!("ruleset {id}"), target, problem)),
    }
}

/// The result of an unsuccessful call that is one of several about a repository. The first of them gives the warnings.
fn unread(what: &str, target: RepositoryName<'_>, problem: CallError) -> Seen {
    match problem {
        CallError::Failed(failure) => interpret::failed(what, &failure),
        CallError::Refused(refused) => interpret::denied(target, what, &refused).0,
    }
}

/// Reads the host's record of a repository.
pub(super) async fn repository(
    api: &Api<'_>,
    target: RepositoryName<'_>,
) -> Result<(Repository, Meta), Seen> {
    match api.ask(&REPOSITORY, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(Answered { value, meta }) => Ok((value, meta)),
        Err(CallError::Refused(refused)) if refused.class == Class::NotFound => {
            Err(Seen::Failed(interpret::repository_not_found()))
        }
        Err(CallError::Refused(refused)) => Err(interpret::denied(target, "repository", &refused).0),
        Err(CallError::Failed(failure)) => Err(interpret::failed("repository", &failure)),
    }
}

/// Reads the CODEOWNERS file from the first location that has one.
pub(super) async fn codeowners(api: &Api<'_>, target: RepositoryName<'_>) -> CodeownersReading {
    let mut other: Option<(&str, NotAFile)> = None;
    let mut exists = false;
    let mut warnings = Vec::new();
    let mut directories = Directories::new(api, target);
    for place in &PLACES {
        let listed_first = directories.come_first(place);
        if listed_first && directories.lack(place).await {
            continue;
        }
        match api.ask(&place.record, &[("owner", target.owner), ("repo", target.name)]).await {
            Err(CallError::Failed(failure)) => return CodeownersReading::failed(target, &failure),
            Ok(Answered { value, meta }) => {
                exists = true;
                warnings.extend(interpret::moved(target, &meta));
                match value {
                    Contents::File(file) => {
                        if let Some((seen, warnings)) = interpret::foreign(target, &meta, file.url.as_deref())
                        {
                            return CodeownersReading::unread(target, seen).warned(warnings);
                        }
                        let reading = match owners::file_shown(target, place.path, &file, &meta) {
                            Some(reading) => reading,
                            None => raw(api, target, place, Some(&file), &meta).await,
                        };
                        return reading.warned(warnings);
                    }
                    Contents::Other(what, _) => {
                        other.get_or_insert((place.path, what));
                    }
                }
            }
            Err(CallError::Refused(refused)) => match said(&refused) {
                RefusalMeaning::NotFound | RefusalMeaning::Unprotected | RefusalMeaning::NoBranch => {
                    if api.keeps_answers() && !listed_first {
                        // Kept for the next run; the result does not matter now.
                        directories.lack(place).await;
                    }
                }
                RefusalMeaning::NotFoundElsewhere => {
                    let (seen, warnings) = interpret::elsewhere(target, &refused.meta);
                    return CodeownersReading::unread(target, seen).warned(warnings);
                }
                RefusalMeaning::Empty => {
                    let reading = CodeownersReading::unread(target, interpret::empty());
                    return CodeownersReading { found: FoundFile::Empty, ..reading };
                }
                RefusalMeaning::TooLarge => {
                    return raw(api, target, place, None, &refused.meta).await.warned(warnings);
                }
                RefusalMeaning::Denied(_) | RefusalMeaning::LockedOut | RefusalMeaning::Nothing => {
                    let (seen, warnings) = interpret::denied(target, "CODEOWNERS", &refused);
                    return CodeownersReading::unread(target, seen).warned(warnings);
                }
            },
        }
    }
    let found = if exists || directories.were_shown() { FoundFile::Unread } else { FoundFile::NotFound };
    CodeownersReading { found, ..CodeownersReading::unread(target, owners::no_file(other)) }.warned(warnings)
}

/// Reads the file's own bytes: for files of 1 to 3 MB, whose content the record omits.
async fn raw(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    place: &CodeownersLocation,
    file: Option<&File>,
    meta: &Meta,
) -> CodeownersReading {
    let size = file.and_then(|file| file.size);
    let (seen, warnings) =
        match api.ask_raw(&place.raw, &[("owner", target.owner), ("repo", target.name)], size).await {
            Ok(raw) => return owners::codeowners_artifact(target, place.path, file, raw.value, &raw.meta),
            Err(CallError::Refused(refused)) => match said(&refused) {
                RefusalMeaning::NotFound
                | RefusalMeaning::NotFoundElsewhere
                | RefusalMeaning::Unprotected
                | RefusalMeaning::NoBranch
                | RefusalMeaning::Empty => {
                    let text = format!("{} disappeared between two requests", place.path);
                    (interpret::broken(meta, text), Vec::new())
                }
                RefusalMeaning::TooLarge
                | RefusalMeaning::Denied(_)
                | RefusalMeaning::LockedOut
                | RefusalMeaning::Nothing => interpret::denied(target, "CODEOWNERS", &refused),
            },
            // Only without a reported size does this show that the file is too large; else the answer is wrong.
            Err(CallError::Failed(RequestFailure { kind: FailureKind::TooLarge { .. }, .. }))
                if size.is_none() =>
            {
                (owners::too_large(place.path, None), Vec::new())
            }
            Err(CallError::Failed(failure)) => return CodeownersReading::failed(target, &failure),
        };
    CodeownersReading::unread(target, seen).warned(warnings)
}

/// Reads the owners that the host calls unknown in the file at `path`.
pub(super) async fn unknown_owners(
    api: &Api<'_>,
    target: RepositoryName<'_>,
    path: &str,
) -> (Observation, Result<HashSet<(usize, String)>, Unread>) {
    let mut found = HashSet::new();
    let seen = match api.ask(&ERRORS, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(Answered { value, meta }) => {
            found = unknown_owners_in(path, &value);
            owners::errors_shown(target, &value, &meta)
        }
        Err(problem) => unread("CODEOWNERS errors", target, problem),
    };
    let observation = target.observation(&artifact::CODEOWNERS_ERRORS, seen);
    let found = Unread::of(observation.seen.shown()).map_or(Ok(found), Err);
    (observation, found)
}
