//! The requests behind evidence, for the tables of checks, artifacts and events.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use evidence_bundle::document::{EvidenceReference, ObservationRecord};
use evidence_bundle::path::OBSERVATIONS;

use crate::documents::{Documents, rows};

/// The columns about requests. A check with several pieces of evidence has one of each, in their order.
pub(super) const COLUMNS: [&str; 4] = ["collected_at", "request", "http_status", "request_id"];

/// The answered request of each observation, by the hash of the evidence: the lists are long, and names take most of their
/// room.
pub(super) struct Requests(BTreeMap<u64, Box<str>>);

/// Separates the four texts of a request.
const SEPARATOR: char = '\n';

impl Requests {
    pub(super) fn read(documents: &dyn Documents) -> io::Result<Requests> {
        let mut requests = BTreeMap::new();
        rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
            let Some(last) = observation.answered() else { return Ok(()) };
            let plain = |text: &str| text.replace(SEPARATOR, " ");
            let texts = [
                plain(&last.at),
                plain(&format!("{} {}", last.method, last.path)),
                last.status.map(|status| status.to_string()).unwrap_or_default(),
                plain(last.request_id.as_deref().unwrap_or_default()),
            ];
            let key = match &observation.artifact {
                Some(artifact) => hash(artifact),
                None => hash(&observation.id),
            };
            requests.insert(key, texts.join("\n").into_boxed_str());
            Ok(())
        })?;
        Ok(Requests(requests))
    }

    /// The cells of [`COLUMNS`] after the first for this artifact: its time is in the manifest.
    pub(super) fn of_artifact(&self, path: &str) -> [&str; 3] {
        let mut texts = self.texts(path).skip(1);
        std::array::from_fn(|_| texts.next().unwrap_or_default())
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(&hash(name)).map_or("", |texts| texts).split(SEPARATOR)
    }

    /// The cells of [`COLUMNS`] for this evidence.
    pub(super) fn of(&self, evidence: &[EvidenceReference]) -> [String; 4] {
        let mut cells: [Vec<&str>; 4] = Default::default();
        for reference in evidence {
            let mut texts = self.texts(reference.id.as_ref().unwrap_or(&reference.filename));
            cells.iter_mut().for_each(|cell| cell.push(texts.next().unwrap_or_default()));
        }
        cells.map(
            |texts| if texts.iter().all(|text| text.is_empty()) { String::new() } else { texts.join("; ") },
        )
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
