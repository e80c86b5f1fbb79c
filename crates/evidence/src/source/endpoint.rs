//! A source's calls in one list, independent of their answer types: for the documents and the fuzzer.

use super::CollectionItem;
use evidence_http::ParseError;

/// A call of a source.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// The name in documents.
    pub name: &'static str,
    /// The purpose.
    pub purpose: &'static str,
    /// How often a run makes it.
    pub times: &'static str,
    /// The fields by which an answer names its subject; empty if it does not.
    pub subject: &'static str,
    /// The maximum number of bytes read of an answer.
    pub limit: usize,
    /// Interprets an answer on its own, as if there were no other answers. A run interprets its answers in the session.
    pub read: fn(&[u8]) -> Result<Vec<CollectionItem>, ParseError>,
}

/// The endpoint of a [`Call`](evidence_http::Call), with the interpretation of a single answer.
macro_rules! endpoint {
    ($call:expr, $offline:expr) => {
        $crate::source::Endpoint {
            name: $call.name,
            purpose: $call.purpose,
            times: $call.times,
            subject: match &$call.subject {
                Some(subject) => subject.fields,
                None => "",
            },
            limit: $call.limit,
            read: |answer| ($call.parse)(answer).map($offline),
        }
    };
}

pub(crate) use endpoint;
