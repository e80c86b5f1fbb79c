//! The artifacts of a bundle as a list that can be searched, and any file of it as it is.

use std::io::Read;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::document::ArtifactRecord;
use evidence_bundle::path::MANIFEST;
use http::StatusCode;

use super::reading::{First, Neat as _, SHOWN, each_artifact};
use super::words::{self, Moment, number, size};
use super::{Frame, page};
use crate::api::App;
use crate::api::input::{Id, Inside, Parameters};
use crate::error::Error;
use crate::principal::Principal;
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
    /// How many to skip for the next part.
    next: Option<u64>,
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
    let skipped = u64::from(parameters.number("skip")?.unwrap_or_default());
    parameters.end()?;
    let search: String = search.trim().chars().take(SEARCH_CHARACTERS).collect();
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
                    if found.total >= skipped {
                        found.artifacts.push(artifact);
                    }
                    found.total = found.total.saturating_add(1);
                }
            });
            found.known = read.is_some();
        }
        Ok(())
    };
    let found = app.service.viewer(&principal).await?.inspect(&principal, &bundle, look).await?;
    let First { items, more } = found.artifacts;
    let next = (more > 0).then(|| skipped.saturating_add(SHOWN as u64));
    let artifacts_page = ArtifactsPage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        search,
        found: number(found.total),
        known: found.known,
        artifacts: items.into_iter().map(with_moment).collect(),
        next,
        later: skipped > 0,
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
    text: Text,
    /// What the manifest says, if it is an artifact.
    artifact: Option<(ArtifactRecord, Option<Moment>)>,
}

/// What there is to read in a file.
enum Text {
    Shown(String),
    TooLarge,
    /// Bytes that are no UTF-8.
    None,
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
    Inside(id, path): Inside,
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
                    let mut artifact = artifact;
                    artifact.neaten();
                    file.artifact = Some(artifact);
                }
            });
        }
        Ok(())
    };
    let file = app.service.viewer(&principal).await?.inspect(&principal, &bundle, look).await?;
    let bytes = file.size.ok_or(Error::NotFound("file in this bundle"))?;
    let whole = u64::try_from(file.bytes.len()).is_ok_and(|shown| shown == bytes);
    let text = match (whole, str::from_utf8(&file.bytes)) {
        (true, Ok(text)) => Text::Shown(words::neat_lines(text)),
        (true, Err(_)) => Text::None,
        (false, _) => Text::TooLarge,
    };
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
