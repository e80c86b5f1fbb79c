//! Why a source cannot be connected.

use crate::observation::SourceName;
use evidence_http::Asked;

/// Why a source cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", .r#source.id())]
pub struct ConnectError {
    /// The source of evidence; written as a raw name, since it is not the cause of the error.
    pub r#source: SourceName,
    /// What kind of problem it is.
    pub kind: ConnectErrorKind,
    /// What failed.
    pub message: String,
    /// What to do, a line each.
    pub help: Vec<String>,
    /// Requests sent until then, retries included.
    pub requests: u64,
    /// Those of them that were sent again.
    pub retries: u64,
    /// How they ended.
    pub asked: Vec<Asked>,
}

impl ConnectError {
    /// A problem of this kind, before anything was sent.
    pub fn new(
        source: SourceName,
        kind: ConnectErrorKind,
        message: String,
        help: Vec<String>,
    ) -> ConnectError {
        ConnectError { source, kind, message, help, requests: 0, retries: 0, asked: Vec::new() }
    }

    /// The same with further requests behind it.
    pub fn asked(mut self, more: Vec<Asked>) -> ConnectError {
        self.asked.extend(more);
        self
    }

    /// The same after so many requests, of which so many were sent again.
    pub fn after(self, requests: u64, retries: u64) -> ConnectError {
        ConnectError { requests, retries, ..self }
    }
}

/// The kinds of connection problems that differ in their exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectErrorKind {
    /// Reported as configuration validation: 'Forbidden scope', an unreadable certificate file.
    Configuration,
    /// Everything else: credentials, authentication, network, limits.
    Connection,
}
