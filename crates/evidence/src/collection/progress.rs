//! What one source has asked, and when it will be done.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use evidence_http::Asked;
use jiff::{SignedDuration, Timestamp};

use crate::forecast::{Forecast, Measured, Outlook, Standings, Work};
use crate::source::Session;

/// The time between two forecasts: nobody reads faster.
const BETWEEN_FORECASTS: SignedDuration = SignedDuration::from_secs(1);

/// How many requests to remember: several observations can rest on one.
const REMEMBERED: usize = 64;

/// The progress of a source.
pub(super) struct Progress {
    outlook: Outlook,
    began: Timestamp,
    /// When the last forecast was made.
    last: Timestamp,
    /// The last requests that were counted, hashed. Those of many observations come last again and again.
    counted: Vec<u64>,
}

impl Progress {
    /// A collection that begins now, with its client where it stands.
    pub(super) fn new(now: Timestamp, standings: Option<Standings>) -> Progress {
        let sent = standings.map_or(0, |standings| standings.requests.sent);
        let (last, counted) = (Timestamp::MIN, Vec::with_capacity(REMEMBERED + 1));
        Progress { outlook: Outlook::new(now, sent), began: now, last, counted }
    }

    /// Expects this many observations, the last of them with this work.
    pub(super) fn expect(&mut self, observations: u64, work: &[Work]) {
        self.outlook.expect(observations, work);
    }

    /// Notes requests that belong to no observation.
    pub(super) fn asked<'a>(&mut self, requests: impl IntoIterator<Item = &'a Asked>) {
        let measured = self.measured(requests);
        self.outlook.asked(measured);
    }

    /// Notes the requests of an observation.
    pub(super) fn observed<'a>(&mut self, requests: impl IntoIterator<Item = &'a Asked>) {
        let measured = self.measured(requests);
        self.outlook.observed(measured);
    }

    /// The requests, by what they cost.
    fn measured<'a>(&mut self, requests: impl IntoIterator<Item = &'a Asked>) -> Measured {
        let mut measured = Measured::default();
        for asked in requests {
            let is_sent = asked.at >= self.began;
            measured.resumed += u64::from(!is_sent);
            if !is_sent || !self.is_new(asked) {
                continue;
            }
            // Of the sources that say what they will ask, only queries are no GET.
            if asked.method == "POST" {
                measured.queries += 1;
            } else {
                measured.sent += 1;
                measured.counted += u64::from(asked.status != Some(304));
            }
        }
        measured
    }

    /// Whether no observation before rests on this request.
    fn is_new(&mut self, asked: &Asked) -> bool {
        let mut hash = DefaultHasher::new();
        (&asked.path, asked.at).hash(&mut hash);
        let hash = hash.finish();
        let before = self.counted.iter().position(|counted| *counted == hash);
        if let Some(before) = before {
            self.counted.remove(before);
        }
        self.counted.push(hash);
        if self.counted.len() > REMEMBERED {
            self.counted.remove(0);
        }
        before.is_none()
    }

    /// When the source will be done; `None` shortly after the last forecast.
    pub(super) fn forecast(&mut self, session: &dyn Session, now: Timestamp) -> Option<Forecast> {
        if now.duration_since(self.last) < BETWEEN_FORECASTS {
            return None;
        }
        self.last = now;
        self.outlook.forecast(session.standings().as_ref(), now)
    }
}
