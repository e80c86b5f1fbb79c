//! The rows of observations, with the requests behind them.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{AskedRecord, ObservationRecord, Outcome};
use evidence_http::Asked;

use super::Collector;
use crate::spool::Spool;

/// The maximum length of a host's message in a row, so that no host can fill a document.
const MESSAGE_LENGTH: usize = 200;

fn cut(text: &str) -> String {
    text.chars().take(MESSAGE_LENGTH).collect()
}

impl Collector<'_> {
    /// The row of an observation, without its result.
    pub(in crate::collection) fn row(
        &self,
        subject: &str,
        kind: &str,
        outcome: Outcome,
        requests: &[Asked],
    ) -> ObservationRecord {
        ObservationRecord {
            id: format!("{}:{}", self.source.id(), self.observations.saturating_add(1)),
            source: self.source.id().to_string(),
            subject: subject.to_string(),
            kind: kind.to_string(),
            outcome,
            reason: None,
            detail: None,
            artifact: None,
            facts: BTreeMap::new(),
            requests: self.requests(requests),
        }
    }

    /// Requests that run concurrently end in any order.
    fn requests(&self, requests: &[Asked]) -> Vec<AskedRecord> {
        let mut rows: Vec<AskedRecord> = requests.iter().map(|asked| self.asked(asked)).collect();
        if self.env.is_reproducible() {
            rows.sort_by(|a, b| {
                let order = |row: &AskedRecord| (row.path.clone(), row.status, row.message.clone());
                order(a).cmp(&order(b))
            });
        }
        rows
    }

    /// A value that depends on the run and not on what the source answered.
    pub(super) fn of_run<T>(&self, value: T) -> Option<T> {
        (!self.env.is_reproducible()).then_some(value)
    }

    fn asked(&self, asked: &Asked) -> AskedRecord {
        let text = |text: &Option<String>| text.as_deref().map(|text| self.clean(text));
        AskedRecord {
            method: asked.method.to_string(),
            path: self.clean(&asked.path),
            status: asked.status,
            message: text(&asked.message).map(|message| cut(&message)),
            etag: text(&asked.etag).and_then(|etag| self.of_run(etag)),
            request_id: text(&asked.request_id).and_then(|id| self.of_run(id)),
            at: self.env.stamp_of(asked.at),
            permission: text(&asked.permission).map(|permission| cut(&permission)),
        }
    }

    /// Adds the row of an observation and returns its number.
    pub(in crate::collection) fn record(
        &mut self,
        row: &ObservationRecord,
        spool: &mut Spool,
    ) -> io::Result<u32> {
        self.observations = self.observations.saturating_add(1);
        self.part.observations.push(row, spool)?;
        Ok(self.observations)
    }
}
