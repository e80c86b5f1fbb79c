//! The artifacts of a bundle as a list that can be searched, and any file of it as it is.

use std::io::Read;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use evidence_bundle::document::ArtifactRecord;
use evidence_bundle::path::MANIFEST;
use http::StatusCode;

use super::reading::{First, each_artifact};
use super::words::{self, Moment, number, size};
use super::{Frame, page};
use crate::api::App;
use crate::api::input::{Id, Parameters};
use crate::error::Error;
use crate::role::Principal;
use crate::time::Time;

/// Bytes of a file that a page shows.
const FILE_BYTES: usize = 1 << 20;
/// Characters of a search.
const SEARCH_CHARACTERS: usize = 200;

#[derive(Template)]
#[template(path = "artifacts.html")]
struct ArtifactsPage {
    frame: Frame,
    id: String,
    collected: Moment,
    search: String,
    found: String,
    known: bool,
    artifacts: Vec<(ArtifactRecord, Option<Moment>)>,
    /// The last that is shown, if there are more.
    next: Option<String>,
    later: bool,
}

impl ArtifactsPage {
    fn size(&self, bytes: &u64) -> String {
        size(*bytes)
    }
}

/// What the manifest lists, as far as it is asked for.
#[derive(Default)]
struct Found {
    known: bool,
    total: u64,
    artifacts: First<ArtifactRecord>,
}

/// The list.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Invalid`], [`Error::Refused`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn artifacts(
    State(app): State<App>,
    principal: Principal,
    Id(id): Id,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let search = parameters.one("search")?.unwrap_or_default();
    let after = parameters.one("after")?.unwrap_or_default();
    parameters.end()?;
    let search: String = search.trim().chars().take(SEARCH_CHARACTERS).collect();
    let later = !after.is_empty();
    let bundle = app.service.bundle(&principal, &id).await?;
    let needle = search.to_lowercase();
    let look = move |found: &mut Found, path: &str, contents: &mut dyn Read| {
        if path == MANIFEST {
            let read = each_artifact(contents, |artifact| {
                let haystacks =
                    [&artifact.filename, &artifact.subject, &artifact.artifact_type, &artifact.source];
                let matches = haystacks.iter().any(|text| text.to_lowercase().contains(&needle))
                    || artifact.controls.iter().any(|control| control.to_lowercase() == needle);
                if matches {
                    found.total = found.total.saturating_add(1);
                    if artifact.filename > after {
                        found.artifacts.push(artifact);
                    }
                }
            });
            found.known = read.is_some();
        }
        Ok(())
    };
    let found = app.service.inspect(&principal, &bundle, look).await?;
    let First { items, more } = found.artifacts;
    let next = items.last().filter(|_| more > 0).map(|last| last.filename.clone());
    let artifacts_page = ArtifactsPage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        search,
        found: number(found.total),
        known: found.known,
        artifacts: items.into_iter().map(with_moment).collect(),
        next,
        later,
    };
    page(StatusCode::OK, &artifacts_page)
}

/// An artifact and when it was collected, if that is a time.
fn with_moment(artifact: ArtifactRecord) -> (ArtifactRecord, Option<Moment>) {
    let moment = Time::parse(&artifact.collected_at).map(Moment::of);
    (artifact, moment)
}

#[derive(Template)]
#[template(path = "file.html")]
struct FilePage {
    frame: Frame,
    id: String,
    collected: Moment,
    path: String,
    size: String,
    text: Option<String>,
    /// What the manifest says, if it is an artifact.
    artifact: Option<(ArtifactRecord, Option<Moment>)>,
}

#[derive(Default)]
struct File {
    artifact: Option<ArtifactRecord>,
    size: Option<u64>,
    bytes: Vec<u8>,
}

/// One file.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Refused`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn file(
    State(app): State<App>,
    principal: Principal,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let wanted = path.clone();
    let look = move |file: &mut File, path: &str, contents: &mut dyn Read| {
        if path == wanted {
            let limit = u64::try_from(FILE_BYTES).unwrap_or(u64::MAX);
            let shown = (&mut *contents).take(limit).read_to_end(&mut file.bytes)?;
            let rest = std::io::copy(contents, &mut std::io::sink())?;
            file.size = Some(rest.saturating_add(u64::try_from(shown).unwrap_or(u64::MAX)));
        } else if path == MANIFEST {
            // What cannot be read stands in the bundle all the same; the file is shown without it.
            let _ = each_artifact(contents, |artifact| {
                if artifact.filename == wanted {
                    file.artifact = Some(artifact);
                }
            });
        }
        Ok(())
    };
    let file = app.service.inspect(&principal, &bundle, look).await?;
    let bytes = file.size.ok_or(Error::NotFound("file in this bundle"))?;
    let whole = u64::try_from(file.bytes.len()).is_ok_and(|shown| shown == bytes);
    let text = if whole { String::from_utf8(file.bytes).ok() } else { None };
    let artifact = file.artifact.map(with_moment);
    let file_page = FilePage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        path,
        size: size(bytes),
        text,
        artifact,
    };
    page(StatusCode::OK, &file_page)
}
