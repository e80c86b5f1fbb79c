//! The CODEOWNERS file of every repository.

pub(crate) mod contents;
mod directories;
pub(crate) mod errors;
pub(crate) mod listing;
pub(crate) mod places;
mod reading;

use std::collections::HashSet;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::contents::{Contents, File, NotAFile};
use self::directories::Directories;
use self::places::{CodeownersLocation, PLACES};
use self::reading::{CodeownersReading, FoundFile};
use crate::observation::Inspection;
use crate::source::github::host::answer::{RefusalMeaning, meaning};
use crate::source::github::host::api::Api;
use crate::source::github::host::bulk::FromPage;
use crate::source::github::host::bulk::owners::ShownOwners;
use crate::source::github::host::bulk::query::CODEOWNERS_FILES;
use crate::source::github::host::{Host, refusal, with_requests};
use crate::source::github::repository::{RepositoryDetails, ScopedRepository};
use crate::source::github::subject::{RepositoryName, example};
use crate::source::github::topic::{InBulk, Inspect, Look, Requests, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_http::{Answered, CallError, FailureKind, Meta, RequestFailure, recorded};
use evidence_rules::codehost::artifact::{CODEOWNERS, PROTECTION};
use evidence_rules::codehost::{OF_OWNERS, default_owners};
use evidence_rules::rule::{Settings, Verdict};

/// The CODEOWNERS file.
pub(crate) static TOPIC: Topic = Topic {
    name: "CODEOWNERS",
    kind: &CODEOWNERS,
    asks_for_its_artifact: true,
    // Three places, and the file's own bytes. With kept answers, instead of the second place, three directories.
    // Usually the file of eight repositories in ten is in the second place, and one in ten has none.
    requests: |host| {
        let keeps = u64::from(host.keeps_answers());
        let errors = u64::from(host.config.codeowners_errors);
        let usual = [200 + 70 * keeps + 90 * errors, 180 + 90 * errors, 90 + 90 * errors];
        let in_bulk = InBulk { kept_as: CODEOWNERS_FILES.kept_as(), usual: 90 * errors, rest: 90 * errors };
        Requests { least: 1, most: 4 + 2 * keeps + errors, usual, in_bulk: Some(in_bulk) }
    },
    kept_as: || {
        let [_, root, _] = &PLACES;
        [root.record.kept_as(), root.directory.kept_as()]
    },
    inspect: Inspect::Repository(inspect),
};

fn inspect<'a>(host: &'a Host, look: Look<'a>) -> BoxFuture<'a, Inspection> {
    observe(host, look).boxed()
}

async fn observe(host: &Host, look: Look<'_>) -> Inspection {
    if let Some(archived) = look.archived(&TOPIC) {
        return archived;
    }
    let Look { repository, details, .. } = look;
    let (target, settings) = (repository.target(), &host.config.rule_settings);
    let mut reading = match in_bulk(host, look).await {
        Some(reading) => reading,
        None => {
            let (mut reading, requests) = recorded(Box::pin(read(&host.api(), target))).await;
            reading.observation.requests = requests;
            reading
        }
    };
    reading.observation.warnings.extend(host.bulk_warning());
    if matches!(reading.found, FoundFile::NotFound) && is_unseen(host, repository, details).await {
        let (gone, requests) = host.gone(repository, details).await;
        reading.observation.requests.extend(requests);
        if let Some(gone) = gone {
            reading.observation.seen = refusal::about(TOPIC.name, gone);
            return reading.observation.into();
        }
    }
    let path = match &reading.found {
        FoundFile::File { path, .. } if host.config.codeowners_errors => path.clone(),
        _ => return reading.judged(target, HashSet::new(), settings),
    };
    let judged = reading.clone().judged(target, HashSet::new(), settings);
    if !default_owners::passes(&judged.judgements) {
        return judged;
    }
    let (observation, unknown) = with_requests(errors::ask(&host.api(), target, &path)).await;
    let mut inspection = match unknown {
        Ok(unknown) => reading.judged(target, unknown, settings),
        // Unknown owners could make a file pass that does not.
        Err(unread) => {
            let verdict = Verdict::unknown(unread.reason, unread.detail);
            Inspection::from(reading.observation).concluded_alike(OF_OWNERS, &repository.subject, &verdict)
        }
    };
    inspection.observations.push(observation);
    inspection
}

/// What a page of many repositories proves about the file.
async fn in_bulk(host: &Host, look: Look<'_>) -> Option<CodeownersReading> {
    let target = look.repository.target();
    let FromPage { node, errors, meta, asked } =
        host.bulk.as_ref()?.owners(look.repository, look.number).await?;
    let full_name = format!("{}/{}", target.owner, target.name);
    let is_it = node.name_with_owner.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(&full_name));
    // An error anywhere in it may be what hides the file in effect.
    if !is_it || errors.touch(&[]) {
        return None;
    }
    let mut reading = match node.proved()? {
        ShownOwners::File { path, content } => {
            reading::codeowners_artifact(target, path, None, content, &meta)
        }
        ShownOwners::Nothing => CodeownersReading::unread(target, reading::no_file(None)),
    };
    reading.observation.requests = asked.to_vec();
    Some(reading)
}

/// Whether nothing else about a repository was found.
async fn is_unseen(host: &Host, repository: &ScopedRepository, details: &RepositoryDetails) -> bool {
    details.exempt().is_none()
        && (!host.config.collects(&PROTECTION) || host.shared.is_unseen(&repository.subject).await)
}

/// Reads the CODEOWNERS file from the first location that has one.
async fn read(api: &Api<'_>, target: RepositoryName<'_>) -> CodeownersReading {
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
                warnings.extend(refusal::renamed_warning(target, &meta));
                match value {
                    Contents::File(file) => {
                        if let Some((seen, warnings)) =
                            refusal::other_owner(target, &meta, file.url.as_deref())
                        {
                            return CodeownersReading::unread(target, seen).warned(warnings);
                        }
                        let reading = match reading::file_shown(target, place.path, &file, &meta) {
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
            Err(CallError::Refused(refused)) => match meaning(&refused) {
                RefusalMeaning::NotFound | RefusalMeaning::Unprotected | RefusalMeaning::NoBranch => {
                    if api.keeps_answers() && !listed_first {
                        // Kept for the next run; the result does not matter now.
                        directories.lack(place).await;
                    }
                }
                RefusalMeaning::NotFoundElsewhere => {
                    let (seen, warnings) = refusal::redirected(target, &refused.meta);
                    return CodeownersReading::unread(target, seen).warned(warnings);
                }
                RefusalMeaning::Empty => {
                    let reading = CodeownersReading::unread(target, refusal::empty());
                    return CodeownersReading { found: FoundFile::Empty, ..reading };
                }
                RefusalMeaning::TooLarge => {
                    return raw(api, target, place, None, &refused.meta).await.warned(warnings);
                }
                RefusalMeaning::Denied(_) | RefusalMeaning::LockedOut | RefusalMeaning::Nothing => {
                    let (seen, warnings) = refusal::denied(target, "CODEOWNERS", &refused);
                    return CodeownersReading::unread(target, seen).warned(warnings);
                }
            },
        }
    }
    let found = if exists || directories.were_shown() { FoundFile::Unread } else { FoundFile::NotFound };
    CodeownersReading { found, ..CodeownersReading::unread(target, reading::no_file(other)) }.warned(warnings)
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
            Ok(raw) => return reading::codeowners_artifact(target, place.path, file, raw.value, &raw.meta),
            Err(CallError::Refused(refused)) => match meaning(&refused) {
                RefusalMeaning::NotFound
                | RefusalMeaning::NotFoundElsewhere
                | RefusalMeaning::Unprotected
                | RefusalMeaning::NoBranch
                | RefusalMeaning::Empty => {
                    let text = format!("{} disappeared between two requests", place.path);
                    (refusal::unusable(meta, text), Vec::new())
                }
                RefusalMeaning::TooLarge
                | RefusalMeaning::Denied(_)
                | RefusalMeaning::LockedOut
                | RefusalMeaning::Nothing => refusal::denied(target, "CODEOWNERS", &refused),
            },
            // Only without a reported size does this show that the file is too large; else the answer is wrong.
            Err(CallError::Failed(RequestFailure { kind: FailureKind::TooLarge { .. }, .. }))
                if size.is_none() =>
            {
                (reading::too_large(place.path, None), Vec::new())
            }
            Err(CallError::Failed(failure)) => return CodeownersReading::failed(target, &failure),
        };
    CodeownersReading::unread(target, seen).warned(warnings)
}

/// Empty if the file must be read separately, or is not a file.
/// What a record means on its own.
pub(crate) fn offline(contents: Contents) -> Vec<CollectionItem> {
    let Contents::File(file) = contents else { return Vec::new() };
    let reading = reading::file_shown(example(), "CODEOWNERS", &file, &Meta::default());
    reading
        .map(|reading| {
            CollectionItem::Inspected(reading.judged(example(), HashSet::new(), &Settings::default()))
        })
        .into_iter()
        .collect()
}
