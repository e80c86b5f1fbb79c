//! `derived/events.csv`: the events of the logs of accounts, a population to draw samples from.

use std::borrow::Cow;
use std::io::{self, Write};

use evidence_bundle::document::ArtifactRecord;
use evidence_bundle::path::{MANIFEST, OBSERVATIONS};
use evidence_view::csv::{Row, Table, checksum};
use serde::Deserialize;

use super::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, rows};
use crate::requests;
use crate::shared::Shared;

/// `derived/events.csv`
pub(crate) fn events(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    let origin = Origin::of(documents, shared)?;
    let logs = shared.logs(documents)?.to_vec();
    let paths: Vec<&str> =
        logs.iter().map(|log| log.filename.as_str()).chain([MANIFEST, OBSERVATIONS]).collect();
    mark(documents, shared, &paths, out)?;
    let (_, columns) = requests::COLUMNS.split_at(1);
    let mut table = Table::with::<10, EventRow<'_>>(out, &[columns, &ORIGIN].concat())?;
    for log in &logs {
        let requests = shared.requests(documents)?;
        let request = requests.of_artifact(&log.filename);
        let tail = [&request[..], &origin.cells()].concat();
        rows(documents, &log.filename, "events", |event: Event| {
            table.row_with(&EventRow(log, &event), &tail)
        })?;
    }
    table.finish().map(|_| ())
}

/// An event of the log. A field that the host left out is empty.
#[derive(Deserialize)]
struct Event {
    time: Option<String>,
    name: Option<String>,
    #[serde(default)]
    actor: Actor,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Actor {
    email: Option<String>,
    caller_type: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
struct Parameters {
    user_email: Option<String>,
    role_name: Option<String>,
}

/// An event with the artifact that holds it.
struct EventRow<'a>(&'a ArtifactRecord, &'a Event);

impl Row<10> for EventRow<'_> {
    const COLUMNS: [&'static str; 10] = [
        "source",
        "time",
        "event",
        "actor",
        "actor_type",
        "account",
        "role",
        "evidence_file",
        "sha256",
        "collected_at",
    ];

    fn cells(&self) -> [Cow<'_, str>; 10] {
        let EventRow(log, event) = self;
        let text = |text: &Option<String>| Cow::from(text.clone().unwrap_or_default());
        [
            log.source.as_str().into(),
            text(&event.time),
            text(&event.name),
            text(&event.actor.email),
            text(&event.actor.caller_type),
            text(&event.parameters.user_email),
            text(&event.parameters.role_name),
            log.filename.as_str().into(),
            checksum(&log.checksum).into(),
            log.collected_at.as_str().into(),
        ]
    }
}
