//! The requests behind evidence, for the tables of checks, artifacts and events.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use evidence_bundle::document::{EvidenceReference, ObservationRecord};
use evidence_bundle::path::OBSERVATIONS;

use crate::documents::{Documents, rows};

/// The columns about requests. A check with several pieces of evidence has one of each, in their order.
pub(crate) const COLUMNS: [&str; 4] = ["collected_at", "request", "http_status", "request_id"];

/// Separates the four texts of a request.
const SEPARATOR: char = '\n';

/// The size of a block of texts.
const BLOCK: usize = 256 << 10;

/// The answered request of each observation, by the hash of the evidence: the lists are long, and names take most of their
/// room.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The hash of the evidence, the block, and the place of the texts in it.
    places: Vec<(u64, u32, u32)>,
    /// The texts, each ended by a NUL. They never grow, so that no list is moved.
    blocks: Vec<String>,
}

/// The requests while the observations pass by.
#[derive(Debug, Default)]
pub(crate) struct Gathering(Requests);

impl Gathering {
    /// Adds the answered request of an observation.
    pub(crate) fn add(&mut self, observation: &ObservationRecord) {
        let Some(last) = observation.answered() else { return };
        let evidence = observation.artifact.as_ref().unwrap_or(&observation.id);
        let status = last.status.map(|status| status.to_string()).unwrap_or_default();
        let call = [last.method.as_str(), " ", &last.path].map(plain).concat();
        let texts = [
            &plain(&last.at),
            call.as_str(),
            &status,
            &plain(last.request_id.as_deref().unwrap_or_default()),
        ];
        let Gathering(Requests { places, blocks }) = self;
        let length = texts.iter().map(|text| text.len() + 1).sum::<usize>();
        if blocks.last().is_none_or(|block| block.len() + length > block.capacity()) {
            blocks.push(String::with_capacity(BLOCK.max(length)));
        }
        let number = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        let Some(block) = blocks.last_mut() else { return };
        places.push((hash(evidence), number - 1, u32::try_from(block.len()).unwrap_or(u32::MAX)));
        for (index, text) in texts.iter().enumerate() {
            block.push_str(text);
            block.push(if index == 3 { '\0' } else { SEPARATOR });
        }
    }

    /// All of them.
    pub(crate) fn end(self) -> Requests {
        let Gathering(mut requests) = self;
        // Of two with the same hash, the last one counts.
        requests.places.sort_by_key(|(hash, ..)| *hash);
        requests
    }
}

/// The text without the characters that separate texts.
fn plain(text: &str) -> Cow<'_, str> {
    match text.contains([SEPARATOR, '\0']) {
        true => text.replace([SEPARATOR, '\0'], " ").into(),
        false => text.into(),
    }
}

impl Requests {
    pub(crate) fn read(documents: &dyn Documents) -> io::Result<Requests> {
        let mut requests = Gathering::default();
        rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
            requests.add(&observation);
            Ok(())
        })?;
        Ok(requests.end())
    }

    /// The cells of [`COLUMNS`] after the first for this artifact: its time is in the manifest.
    pub(crate) fn of_artifact(&self, path: &str) -> [&str; 3] {
        let [_, rest @ ..] = self.texts(path);
        rest
    }

    fn texts(&self, name: &str) -> [&str; 4] {
        let hash = hash(name);
        let end = self.places.partition_point(|(other, ..)| *other <= hash);
        let place = end.checked_sub(1).and_then(|last| self.places.get(last));
        let texts = place.filter(|(other, ..)| *other == hash).and_then(|(_, block, at)| {
            let texts = self.blocks.get(usize::try_from(*block).ok()?)?.get(usize::try_from(*at).ok()?..)?;
            texts.split_once('\0').map(|(texts, _)| texts)
        });
        let mut texts = texts.unwrap_or_default().split(SEPARATOR);
        std::array::from_fn(|_| texts.next().unwrap_or_default())
    }

    /// The cells of [`COLUMNS`] for this evidence.
    pub(crate) fn of(&self, evidence: &[EvidenceReference]) -> [Cow<'_, str>; 4] {
        let texts =
            |reference: &EvidenceReference| self.texts(reference.id.as_ref().unwrap_or(&reference.filename));
        if let [reference] = evidence {
            return texts(reference).map(Cow::Borrowed);
        }
        let mut cells: [Vec<&str>; 4] = Default::default();
        for reference in evidence {
            cells.iter_mut().zip(texts(reference)).for_each(|(cell, text)| cell.push(text));
        }
        cells.map(|texts| match texts.iter().all(|text| text.is_empty()) {
            true => Cow::Borrowed(""),
            false => texts.join("; ").into(),
        })
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
