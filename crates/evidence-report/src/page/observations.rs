//! The observations behind the listed checks, with their requests.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome, SourceRun};
use evidence_bundle::path::OBSERVATIONS;
use evidence_bundle::text::saturating_u64;
use evidence_view::words::{counted, grouped};
use evidence_view::{ListLengths, sanitized};

use super::checks::{INCOMPLETE_LIST, POPULATION_INCOMPLETE, Sections};
use super::evidence::Key;
use super::missing::Gathered;
use super::room::{self, Room};
use super::text;
use crate::documents::{Documents, rows};

/// The most requests listed per observation.
const REQUESTS: usize = 20;

/// The most requests named that listed a population.
const LISTINGS: usize = 20;

/// The kind of the connection test's row.
const CONNECTION: &str = "connection";

/// The section about requests.
#[derive(Default)]
pub(super) struct Observations {
    pub(super) listed: Vec<Observation>,
    /// How many observations behind the checks are not listed, because the page has no room for them.
    pub(super) left_out: u64,
    /// The number of all observations.
    pub(super) all: u64,
    /// The number of requests that they name, each once.
    pub(super) requests: u64,
    /// How often they name one. An answer that serves several observations is named in each.
    pub(super) named: u64,
    /// The requests that listed the populations.
    pub(super) listings: Vec<String>,
    /// How many more there are.
    pub(super) more_listings: u64,
    /// How long the lists are that auditors draw samples from.
    pub(super) lists: ListLengths,
}

/// One observation behind a listed check.
pub(super) struct Observation {
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) kind: String,
    pub(super) outcome: &'static str,
    pub(super) detail: String,
    /// The artifact and its checksum.
    pub(super) artifact: Option<String>,
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
        saturating_u64(self.listed.len())
    }

    /// Reads the observations, and links the evidence of every listed check to its row.
    ///
    /// Passes each observation to `missing` too.
    pub(super) fn read(
        documents: &dyn Documents,
        sections: &mut Sections,
        missing: &mut Gathered,
    ) -> io::Result<Observations> {
        let mut wanted: BTreeMap<Key, Option<(usize, String)>> = BTreeMap::new();
        for (_, group) in sections.groups_mut() {
            let evidence = group.rows.iter().flat_map(|row| &row.evidence);
            wanted.extend(evidence.map(|evidence| (evidence.key.clone(), None)));
        }
        let mut observations = Observations::default();
        let mut requests = BTreeSet::new();
        let mut room = Room::new(room::OBSERVATIONS);
        rows(documents, OBSERVATIONS, "observations", |observation: ObservationRecord| {
            observations.all += 1;
            observations.name(&observation, &mut requests);
            observations.lists.take(&observation);
            missing.take(&observation);
            let artifact = observation.artifact.as_ref().map(|path| Key::Artifact(path.clone()));
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
        observations.requests = saturating_u64(requests.len());
        for (_, group) in sections.groups_mut() {
            for evidence in group.rows.iter_mut().flat_map(|row| &mut row.evidence) {
                evidence.observation = wanted.get(&evidence.key).cloned().flatten();
            }
        }
        Ok(observations)
    }

    /// Notes the requests of an observation.
    fn name(&mut self, observation: &ObservationRecord, requests: &mut BTreeSet<u64>) {
        let listing = observation.outcome == Outcome::Listed && observation.kind != CONNECTION;
        for asked in &observation.requests {
            self.named = self.named.saturating_add(1);
            let mut hasher = DefaultHasher::new();
            (&observation.source, &asked.method, &asked.path, &asked.request_id, &asked.at).hash(&mut hasher);
            requests.insert(hasher.finish());
            if listing && self.listings.len() < LISTINGS {
                let call = format!("{}: {} {}", observation.source, asked.method, asked.path);
                self.listings.push(sanitized(&call));
            } else if listing {
                self.more_listings = self.more_listings.saturating_add(1);
            }
        }
    }

    /// How the requests that were sent and those that the observations name add up, in sentences.
    pub(super) fn reconciled(&self, runs: &[SourceRun]) -> String {
        // A sum of which one part is not recorded is not known.
        let sum = |count: fn(&SourceRun) -> Option<u64>| {
            runs.iter().map(count).try_fold(0_u64, |sum, count| Some(sum.saturating_add(count?)))
        };
        match sum(|run| run.requests).zip(sum(|run| run.retries)) {
            Some((sent, retries)) => reconciled(sent, retries, self.requests, self.named),
            None => format!(
                "The observations name {}. A reproducible run does not record how many were sent.",
                counted(self.requests, "request")
            ),
        }
    }
}

fn reconciled(sent: u64, retries: u64, requests: u64, named: u64) -> String {
    let were = |count: u64| if count == 1 { "was" } else { "were" };
    let mut text = format!("{} {} sent", counted(sent, "request"), were(sent));
    let first = sent.saturating_sub(retries);
    if requests == sent && retries == 0 {
        text.push_str(", and the observations name every one.");
    } else {
        text.push_str(&format!(": the observations name {}", grouped(requests)));
        if retries > 0 {
            text.push_str(&format!(
                ", and {} {} repeated attempts of these",
                grouped(retries),
                were(retries)
            ));
        }
        match first.checked_sub(requests) {
            None => {
                let kept = requests.saturating_sub(first);
                text.push_str(&format!(
                    "; {} of the named {} not sent by this run, which resumed an interrupted one",
                    grouped(kept),
                    were(kept)
                ));
            }
            Some(0) => {}
            Some(rest) => text.push_str(&format!(
                "; the other {} read no evidence: the connection test, a redirect, or a question about limits",
                grouped(rest)
            )),
        }
        text.push('.');
    }
    if named > requests {
        let more = grouped(named.saturating_sub(requests));
        text.push_str(&format!(
            " An answer that serves several observations is named in each: {more} names repeat a request."
        ));
    }
    text
}

impl Observation {
    /// The artifact's name in pieces, with possible line breaks between them.
    pub(super) fn pieces(&self) -> Vec<&str> {
        self.artifact.as_deref().map(text::pieces).unwrap_or_default()
    }

    fn fits(&self, room: &mut Room) -> bool {
        let artifact = self.artifact.iter().flat_map(|path| [path.as_str(), path]);
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
            detail: match observation.reason.as_deref() {
                Some(POPULATION_INCOMPLETE) => INCOMPLETE_LIST.to_owned(),
                _ => sanitized(observation.detail.as_deref().unwrap_or_default()),
            },
            artifact: observation.artifact.as_deref().map(sanitized),
            more: saturating_u64(observation.requests.len().saturating_sub(REQUESTS)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_add_up_in_words() {
        for (counts, text) in [
            ((72, 0, 72, 72), "72 requests were sent, and the observations name every one."),
            (
                (73, 0, 72, 72),
                "73 requests were sent: the observations name 72; the other 1 read no evidence: the connection test, \
                 a redirect, or a question about limits.",
            ),
            (
                (52, 2, 50, 50),
                "52 requests were sent: the observations name 50, and 2 were repeated attempts of these.",
            ),
            (
                (5, 0, 7, 7),
                "5 requests were sent: the observations name 7; 2 of the named were not sent by this run, which \
                 resumed an interrupted one.",
            ),
            (
                (1, 0, 1, 3),
                "1 request was sent, and the observations name every one. An answer that serves several observations \
                 is named in each: 2 names repeat a request.",
            ),
            (
                (u64::MAX, u64::MAX, 0, 0),
                "18,446,744,073,709,551,615 requests were sent: the observations name 0, and \
                 18,446,744,073,709,551,615 were repeated attempts of these.",
            ),
        ] {
            let (sent, retries, requests, named) = counts;
            assert_eq!(reconciled(sent, retries, requests, named), text);
        }
    }
}
