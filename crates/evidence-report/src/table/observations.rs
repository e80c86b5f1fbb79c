//! `derived/observations.csv`: a row per request, and one for each observation without any.

use std::borrow::Cow;
use std::io::{self, Write};

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome};
use evidence_bundle::path::{MANIFEST, OBSERVATIONS};
use evidence_view::csv::{Row, Table};

use super::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, rows};

/// `derived/observations.csv`
pub(crate) fn observations(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let origin = Origin::of(documents)?;
    mark(documents, &[OBSERVATIONS, MANIFEST], out)?;
    let mut table = Table::with::<16, ObservationRow<'_>>(out, &ORIGIN)?;
    rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
        let requests: Vec<Option<&AskedRecord>> = match observation.requests.as_slice() {
            [] => vec![None],
            requests => requests.iter().map(Some).collect(),
        };
        requests
            .into_iter()
            .try_for_each(|request| table.row_with(&ObservationRow(&observation, request), &origin.cells()))
    })?;
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
        let optional = |text: &'_ Option<String>| text.clone().unwrap_or_default();
        let asked = |text: fn(&AskedRecord) -> String| request.map(text).unwrap_or_default().into();
        [
            observation.id.as_str().into(),
            observation.source.as_str().into(),
            observation.kind.as_str().into(),
            observation.subject.as_str().into(),
            code(observation.outcome).into(),
            optional(&observation.reason).into(),
            optional(&observation.detail).into(),
            optional(&observation.artifact).into(),
            asked(|asked| asked.at.clone()),
            asked(|asked| asked.method.clone()),
            asked(|asked| asked.path.clone()),
            asked(|asked| asked.status.map(|status| status.to_string()).unwrap_or_default()),
            asked(|asked| asked.etag.clone().unwrap_or_default()),
            asked(|asked| asked.request_id.clone().unwrap_or_default()),
            asked(|asked| asked.message.clone().unwrap_or_default()),
            asked(|asked| asked.permission.clone().unwrap_or_default()),
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
