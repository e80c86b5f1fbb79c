//! Judges `run.json`: its form, and that its sources, counts and times agree with the manifest.

use super::manifest::ManifestFacts;
use super::outcome::Failure;
use super::reason::{Reason, VerifyError};
use super::sink::{Feed, Row};
use super::stream::{Json, Stop};
use crate::document::RunRecord;
use crate::json::Object;
use crate::path::RUN;

/// Reads and judges the record of the run.
pub(super) fn judge(
    contents: &[u8],
    facts: &ManifestFacts,
    feed: Option<Feed<'_>>,
) -> Result<RunRecord, Failure> {
    let mut json = Json::strict(contents, feed);
    json.refuse(facts.format.later(RUN));
    let read = json.value().and_then(|Object(run)| json.end().map(|()| run));
    let run: RunRecord = read.map_err(|stop| failure(stop, facts))?;
    scope(&run, facts)?;
    counts(&run, facts)?;
    times(&run, facts)?;
    let failed = run.sources.iter().any(|source| source.failed > 0);
    if facts.complete && (run.exit_code != 0 || failed) {
        let detail = "the manifest says that nothing is missing, but the run says that something is";
        return Err(error(Reason::CompleteMismatch, detail).into());
    }
    json.pass(Row::Run(&run)).and_then(|()| json.pass(Row::End(RUN))).map_err(|stop| failure(stop, facts))?;
    Ok(run)
}

fn failure(stop: Stop, facts: &ManifestFacts) -> Failure {
    match stop {
        Stop::Refused(refusal) => refusal.into(),
        Stop::Sink(failure) => Failure::CannotJudge(failure),
        Stop::TooLarge(detail) => error(Reason::Limit, detail).into(),
        Stop::Malformed(detail) => {
            let detail = format!("{RUN} is not one of bundle version {}: {detail}", facts.format.version);
            VerifyError::at(Reason::UnsupportedFormat, RUN, detail).into()
        }
    }
}

fn error(reason: Reason, detail: impl std::fmt::Display) -> VerifyError {
    VerifyError::at(reason, RUN, format!("{RUN}: {detail}"))
}

fn scope(run: &RunRecord, facts: &ManifestFacts) -> Result<(), VerifyError> {
    if !run.sources.iter().map(|source| &source.name).eq(&facts.sources) {
        let names: Vec<&str> = run.sources.iter().map(|source| source.name.as_str()).collect();
        let detail = format!("the sources [{}] are not those of the manifest", names.join(", "));
        return Err(error(Reason::ScopeMismatch, detail));
    }
    if run.tool.version != facts.tool_version {
        let detail =
            format!("the version {} is not that of the manifest, {}", run.tool.version, facts.tool_version);
        return Err(error(Reason::ScopeMismatch, detail));
    }
    Ok(())
}

/// Checks that collected artifacts are in the bundle, and excluded ones are named.
fn counts(run: &RunRecord, facts: &ManifestFacts) -> Result<(), VerifyError> {
    for source in &run.sources {
        let parts = [source.collected, source.not_found, source.denied, source.failed, source.excluded];
        if parts.into_iter().fold(0, u64::saturating_add) != source.requested {
            let detail = format!("the counts of {} do not add up to what was requested", source.name);
            return Err(error(Reason::CountMismatch, detail));
        }
        let artifacts = facts.artifacts.get(&source.name).copied().unwrap_or(0);
        if source.collected != artifacts {
            let detail =
                format!("{} collected {}, and the manifest has {artifacts}", source.name, source.collected);
            return Err(error(Reason::CountMismatch, detail));
        }
    }
    // The source of an excluded artifact is not always known: its name may be screened.
    let excluded = run.sources.iter().map(|source| source.excluded).fold(0, u64::saturating_add);
    if excluded != facts.excluded_total {
        let detail = format!("{excluded} were left out, and the manifest names {}", facts.excluded_total);
        return Err(error(Reason::CountMismatch, detail));
    }
    Ok(())
}

/// Checks the order: started, collected, completed, created.
fn times(run: &RunRecord, facts: &ManifestFacts) -> Result<(), VerifyError> {
    let time = |text: &str| {
        crate::time::parse(text).ok_or_else(|| {
            error(Reason::TimeOrder, format_args!("{text} is not an RFC 3339 time in whole seconds of UTC"))
        })
    };
    let (started, completed) = (time(&run.started_at)?, time(&run.completed_at)?);
    let wrong = |what: &str| Err(error(Reason::TimeOrder, what));
    if started > completed {
        return wrong("the run was completed before it was started");
    }
    if u64::try_from(completed - started) != Ok(run.duration_seconds) {
        return wrong("the duration is not the time between start and end");
    }
    match run.source_date_epoch {
        Some(fixed) if (started, completed) != (fixed, fixed) => {
            return wrong("the times of the run are not the one that replaced the clock");
        }
        Some(_) if !facts.fixed_time => {
            return wrong("the clock was replaced, and the manifest does not warn of it");
        }
        None if facts.fixed_time => {
            return wrong("the manifest says that the clock was replaced, and the run does not");
        }
        Some(_) | None => {}
    }
    if completed > facts.created_at {
        return wrong("the bundle was made before the run was completed");
    }
    if let Some((earliest, latest)) = facts.collected {
        if latest > completed {
            return wrong("an artifact was collected after the run was completed");
        }
        // A resumed run takes over what an earlier one collected, and the manifest warns of it.
        if earliest < started && !facts.resumed {
            return wrong("an artifact was collected before the run was started");
        }
    }
    Ok(())
}
