//! The observations behind the listed checks, with their requests.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome};
use evidence_bundle::path::OBSERVATIONS;
use evidence_view::sanitized;

use super::checks::Sections;
use super::evidence::Key;
use super::room::{self, Room};
use super::text;
use crate::documents::{Documents, rows};

/// The most requests listed per observation.
const REQUESTS: usize = 20;

/// The section about requests.
pub(super) struct Observations {
    pub(super) listed: Vec<Observation>,
    /// How many observations behind the checks are not listed, because the page has no room for them.
    pub(super) left_out: u64,
    /// The number of all observations.
    pub(super) all: u64,
    /// The number of all requests.
    pub(super) requests: u64,
}

/// One observation behind a listed check.
pub(super) struct Observation {
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) kind: String,
    pub(super) outcome: &'static str,
    pub(super) detail: String,
    /// The artifact and its checksum.
    pub(super) artifact: Option<(String, String)>,
    pub(super) requests: Vec<Request>,
    /// How many of its requests are not listed.
    pub(super) more: u64,
}

/// One request of an observation.
pub(super) struct Request {
    pub(super) call: String,
    pub(super) status: String,
    pub(super) message: String,
    pub(super) at: String,
    pub(super) request_id: String,
}

impl Observations {
    /// How many observations are listed.
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.listed.len()).unwrap_or(u64::MAX)
    }

    /// Reads the observations, and links the evidence of every listed check to its row.
    pub(super) fn read(documents: &dyn Documents, sections: &mut Sections) -> io::Result<Observations> {
        let mut wanted: BTreeMap<Key, Option<(usize, String)>> = BTreeMap::new();
        for (_, group) in sections.groups_mut() {
            let evidence = group.rows.iter().flat_map(|row| &row.evidence);
            wanted.extend(evidence.map(|evidence| (evidence.key.clone(), None)));
        }
        let mut observations = Observations { listed: Vec::new(), left_out: 0, all: 0, requests: 0 };
        let mut room = Room::new(room::OBSERVATIONS);
        rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
            observations.all += 1;
            observations.requests += u64::try_from(observation.requests.len()).unwrap_or(u64::MAX);
            let artifact = observation.artifact.as_ref().map(|file| Key::Artifact(file.filename.clone()));
            let keys = [Some(Key::Observation(observation.id.clone())), artifact];
            if !keys.iter().flatten().any(|key| wanted.contains_key(key)) {
                return Ok(());
            }
            let shown = Observation::new(observation);
            if !shown.fits(&mut room) {
                observations.left_out += 1;
                return Ok(());
            }
            for key in keys.iter().flatten() {
                if let Some(place) = wanted.get_mut(key) {
                    *place = Some((observations.listed.len(), shown.id.clone()));
                }
            }
            observations.listed.push(shown);
            Ok(())
        })?;
        for (_, group) in sections.groups_mut() {
            for evidence in group.rows.iter_mut().flat_map(|row| &mut row.evidence) {
                evidence.observation = wanted.get(&evidence.key).cloned().flatten();
            }
        }
        Ok(observations)
    }
}

impl Observation {
    /// The artifact's name in pieces, with possible line breaks between them.
    pub(super) fn pieces(&self) -> Vec<&str> {
        self.artifact.as_ref().map(|(file, _)| text::pieces(file)).unwrap_or_default()
    }

    fn fits(&self, room: &mut Room) -> bool {
        let artifact = self.artifact.iter().flat_map(|(file, sha256)| [file.as_str(), file, sha256]);
        let requests = self.requests.iter().flat_map(|request| {
            [request.call.as_str(), &request.status, &request.message, &request.at, &request.request_id]
        });
        let texts = [self.id.as_str(), &self.subject, &self.kind, self.outcome, &self.detail];
        let markup = self.requests.len().saturating_mul(150).saturating_add(350);
        room.take(markup, texts.into_iter().chain(artifact).chain(requests))
    }

    fn new(observation: ObservationRecord) -> Observation {
        let outcome = match observation.outcome {
            Outcome::Artifact => "Collected",
            Outcome::Nothing => "Not found",
            Outcome::Denied => "Denied",
            Outcome::Failed => "Failed",
            Outcome::Excluded => "Left out",
            Outcome::NotAsked => "Not asked",
            Outcome::Listed => "Listed",
        };
        Observation {
            id: sanitized(&observation.id),
            subject: sanitized(&observation.subject),
            kind: text::words_of(&observation.kind),
            outcome,
            detail: sanitized(observation.detail.as_deref().unwrap_or_default()),
            artifact: observation.artifact.map(|file| (sanitized(&file.filename), sanitized(&file.checksum))),
            more: u64::try_from(observation.requests.len().saturating_sub(REQUESTS)).unwrap_or(u64::MAX),
            requests: observation.requests.iter().take(REQUESTS).map(Request::new).collect(),
        }
    }
}

impl Request {
    /// The call in pieces, with possible line breaks between them.
    pub(super) fn pieces(&self) -> Vec<&str> {
        text::pieces(&self.call)
    }

    fn new(asked: &AskedRecord) -> Request {
        let text = |text: &Option<String>| sanitized(text.as_deref().unwrap_or_default());
        Request {
            call: sanitized(&format!("{} {}", asked.method, asked.path)),
            status: asked.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string()),
            message: text(&asked.message),
            at: text::time(&asked.at),
            request_id: text(&asked.request_id),
        }
    }
}
