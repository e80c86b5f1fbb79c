//! `derived/observations.csv`: a row per request, and one for each observation without any.

use std::borrow::Cow;
use std::io::{self, Write};

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome};
use evidence_bundle::path::{MANIFEST, OBSERVATIONS};
use evidence_view::csv::{Row, Table};

use super::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, rows};
use crate::requests::Gathering;
use crate::shared::Shared;

/// `derived/observations.csv`
pub(crate) fn observations(
    documents: &dyn Documents,
    shared: &mut Shared,
    out: &mut dyn Write,
) -> io::Result<()> {
    let origin = Origin::of(documents, shared)?;
    mark(documents, shared, &[OBSERVATIONS, MANIFEST], out)?;
    let mut table = Table::with::<16, ObservationRow<'_>>(out, &ORIGIN)?;
    let mut gathering = Gathering::default();
    rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
        gathering.add(&observation);
        let mut add = |request| table.row_with(&ObservationRow(&observation, request), &origin.cells());
        match observation.requests.as_slice() {
            [] => add(None),
            requests => requests.iter().try_for_each(|request| add(Some(request))),
        }
    })?;
    shared.set_requests(gathering.end());
    table.finish().map(|_| ())
}

/// An observation with one of its requests.
struct ObservationRow<'a>(&'a ObservationRecord, Option<&'a AskedRecord>);

impl Row<16> for ObservationRow<'_> {
    const COLUMNS: [&'static str; 16] = [
        "observation",
        "source",
        "kind",
        "subject",
        "outcome",
        "reason",
        "detail",
        "evidence_file",
        "collected_at",
        "method",
        "request",
        "http_status",
        "etag",
        "request_id",
        "message",
        "permission",
    ];

    fn cells(&self) -> [Cow<'_, str>; 16] {
        let ObservationRow(observation, request) = self;
        let request = *request;
        let asked = |text: fn(&AskedRecord) -> &str| Cow::Borrowed(request.map(text).unwrap_or_default());
        let option = |text: fn(&AskedRecord) -> &Option<String>| {
            Cow::Borrowed(request.and_then(|asked| text(asked).as_deref()).unwrap_or_default())
        };
        let status = request.and_then(|asked| asked.status);
        [
            observation.id.as_str().into(),
            observation.source.as_str().into(),
            observation.kind.as_str().into(),
            observation.subject.as_str().into(),
            code(observation.outcome).into(),
            observation.reason.as_deref().unwrap_or_default().into(),
            observation.detail.as_deref().unwrap_or_default().into(),
            observation.artifact.as_deref().unwrap_or_default().into(),
            asked(|asked| &asked.at),
            asked(|asked| &asked.method),
            asked(|asked| &asked.path),
            status.map(|status| status.to_string()).unwrap_or_default().into(),
            option(|asked| &asked.etag),
            option(|asked| &asked.request_id),
            option(|asked| &asked.message),
            option(|asked| &asked.permission),
        ]
    }
}

/// The outcome as the document writes it.
fn code(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Artifact => "artifact",
        Outcome::Nothing => "nothing",
        Outcome::Denied => "denied",
        Outcome::Failed => "failed",
        Outcome::Excluded => "excluded",
        Outcome::NotAsked => "not_asked",
        Outcome::Listed => "listed",
    }
}
