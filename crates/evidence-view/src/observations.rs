//! The observations of a bundle as a searchable list: what was asked of a source, and what came of it.

use std::io;

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome};
use evidence_bundle::read::{Row, Sink};

use crate::rows::Truncated;
use crate::sanitize::{NAMES, Sanitize};

/// A search in the list of observations.
#[derive(Debug)]
pub struct ObservationSearch {
    needle: String,
    skip: u64,
    /// How many observations match.
    pub found: u64,
    /// The first of them, after the skipped ones.
    pub observations: Truncated<ObservationRecord>,
}

impl ObservationSearch {
    /// Finds `text` in subjects, kinds, sources, outcomes and reasons, and the observation with that id; an empty text
    /// matches everything. Skips the first `skip` matches.
    pub fn new(text: &str, skip: u64) -> ObservationSearch {
        let (needle, observations) = (text.to_lowercase(), Truncated::default());
        ObservationSearch { needle, skip, found: 0, observations }
    }

    fn matches(&self, row: &ObservationRecord) -> bool {
        // An id is one observation, not those whose ids begin with it.
        if self.needle.contains(':')
            && row.id.to_lowercase().split(':').next() == self.needle.split(':').next()
        {
            return row.id.to_lowercase() == self.needle;
        }
        let reason = row.reason.as_deref().unwrap_or_default();
        let texts = [row.subject.as_str(), &row.kind, &row.source, reason, outcome_word(row.outcome)];
        texts.iter().any(|text| text.to_lowercase().contains(&self.needle))
    }
}

impl Sink for ObservationSearch {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        let Row::Observation(row) = row else { return Ok(()) };
        if self.matches(row) {
            if self.found >= self.skip {
                self.observations.push_with(|| {
                    let mut kept = row.clone();
                    kept.requests.truncate(NAMES);
                    kept
                });
            }
            self.found = self.found.saturating_add(1);
        }
        Ok(())
    }
}

/// The outcome of an observation, as people say it.
pub fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Artifact => "read",
        Outcome::Nothing => "does not exist",
        Outcome::Denied => "denied",
        Outcome::Failed => "failed",
        Outcome::Excluded => "left out",
        Outcome::NotAsked => "not asked",
        Outcome::Listed => "listed",
    }
}

impl Sanitize for ObservationRecord {
    fn sanitize(&mut self) {
        let ObservationRecord {
            id, source, subject, kind, reason, detail, artifact, facts, requests, ..
        } = self;
        [id, source, subject, kind].into_iter().for_each(Sanitize::sanitize);
        [reason, detail, artifact].into_iter().flatten().for_each(Sanitize::sanitize);
        // Facts are small values for judgements; a page names them only.
        facts.clear();
        requests.iter_mut().for_each(AskedRecord::sanitize);
    }
}
