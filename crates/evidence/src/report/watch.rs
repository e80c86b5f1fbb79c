//! Turns reports of a source's client into events of the run.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::event::{Event, Reporter};
use crate::observation::SourceName;
use evidence_http::retry::MAXIMUM_ATTEMPTS;
use evidence_http::{Exchanged, GivenUp, RequestFailure, WaitReason, Watch};

/// Forwards the reports of this source's client.
pub struct SourceWatch {
    source: SourceName,
    reporter: Arc<dyn Reporter>,
}

impl SourceWatch {
    /// A watch of this source's client.
    pub fn new(source: SourceName, reporter: &Arc<dyn Reporter>) -> Arc<SourceWatch> {
        Arc::new(SourceWatch { source, reporter: Arc::clone(reporter) })
    }
}

impl Watch for SourceWatch {
    fn waiting(&self, reason: WaitReason, until: Timestamp, left: SignedDuration) {
        self.reporter.event(Event::Waiting { source: self.source, reason, until, left });
    }

    fn wait_over(&self) {
        self.reporter.event(Event::WaitOver(self.source));
    }

    fn given_up(&self, given_up: &GivenUp) {
        self.reporter.event(Event::GivenUp { source: self.source, given_up });
    }

    fn again(&self, host: &str, failure: &RequestFailure, wait: Duration) {
        let text = format!("{host}: {}", RequestFailure::local(failure.kind.clone()));
        let (source, attempt) = (self.source, failure.attempts);
        self.reporter.event(Event::Again { source, text: &text, attempt, of: MAXIMUM_ATTEMPTS, wait });
    }

    fn wants_exchanges(&self) -> bool {
        self.reporter.wants_debug()
    }

    fn exchanged(&self, Exchanged { method, path, result, attempt }: Exchanged<'_>) {
        self.reporter.event(Event::Request { source: self.source, method, path, result, attempt });
    }
}
