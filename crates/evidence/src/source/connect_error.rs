//! Why a source cannot be connected.

use crate::observation::SourceName;
use evidence_http::Asked;

/// Why a source cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", .r#source.id())]
pub struct ConnectError {
    /// The source of evidence; a raw identifier, because a field named `source` would become the error's cause.
    pub r#source: SourceName,
    /// The kind of problem.
    pub kind: ConnectErrorKind,
    /// What failed.
    pub message: String,
    /// What to do, one line per step.
    pub help: Vec<String>,
    /// Requests sent before the failure, retries included.
    pub requests: u64,
    /// How many of them were retries.
    pub retries: u64,
    /// The requests and their results.
    pub asked: Vec<Asked>,
}

impl ConnectError {
    /// A problem of this kind, before any request.
    pub fn new(
        source: SourceName,
        kind: ConnectErrorKind,
        message: String,
        help: Vec<String>,
    ) -> ConnectError {
        ConnectError { source, kind, message, help, requests: 0, retries: 0, asked: Vec::new() }
    }

    /// Appends further requests.
    pub fn asked(mut self, more: Vec<Asked>) -> ConnectError {
        self.asked.extend(more);
        self
    }

    /// Sets the number of requests and how many of them were retries.
    pub fn after(self, requests: u64, retries: u64) -> ConnectError {
        ConnectError { requests, retries, ..self }
    }
}

/// Connection problems by exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectErrorKind {
    /// Reported like an invalid configuration: 'Forbidden scope', an unreadable certificate file.
    Configuration,
    /// Everything else: credentials, authentication, network, limits.
    Connection,
}
