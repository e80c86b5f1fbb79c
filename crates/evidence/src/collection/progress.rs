//! What one source has asked, and when it will be done.

use evidence_http::{Asked, Standing};
use jiff::{SignedDuration, Timestamp};

use crate::forecast::{Forecast, Measured, Outlook, Work};
use crate::source::Session;

/// The time between two forecasts: nobody reads faster.
const BETWEEN_FORECASTS: SignedDuration = SignedDuration::from_secs(1);

/// The progress of a source.
pub(super) struct Progress {
    outlook: Outlook,
    began: Timestamp,
    /// When the last forecast was made.
    last: Timestamp,
}

impl Progress {
    /// A collection that begins now, with its client where it stands.
    pub(super) fn new(now: Timestamp, standing: Option<Standing>) -> Progress {
        let sent = standing.map_or(0, |standing| standing.sent);
        Progress { outlook: Outlook::new(now, sent), began: now, last: Timestamp::MIN }
    }

    /// Expects this many observations, the last of them with this work.
    pub(super) fn expect(&mut self, observations: u64, work: &[Work]) {
        self.outlook.expect(observations, work);
    }

    /// Notes requests that belong to no observation.
    pub(super) fn asked<'a>(&mut self, requests: impl IntoIterator<Item = &'a Asked>) {
        self.outlook.asked(self.measured(requests));
    }

    /// Notes the requests of an observation.
    pub(super) fn observed<'a>(&mut self, requests: impl IntoIterator<Item = &'a Asked>) {
        self.outlook.observed(self.measured(requests));
    }

    /// The requests, by what they cost.
    fn measured<'a>(&self, requests: impl IntoIterator<Item = &'a Asked>) -> Measured {
        let mut measured = Measured::default();
        for asked in requests {
            let is_sent = asked.at >= self.began;
            measured.sent += u64::from(is_sent);
            measured.counted += u64::from(is_sent && asked.status != Some(304));
            measured.resumed += u64::from(!is_sent);
        }
        measured
    }

    /// When the source will be done; `None` shortly after the last forecast.
    pub(super) fn forecast(&mut self, session: &dyn Session, now: Timestamp) -> Option<Forecast> {
        if now.duration_since(self.last) < BETWEEN_FORECASTS {
            return None;
        }
        self.last = now;
        self.outlook.forecast(session.standing().as_ref(), now)
    }
}
