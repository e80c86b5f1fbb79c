//! The calls of a source as documents and the fuzzer see them: one list, whatever each answer is.

use super::CollectionItem;
use evidence_http::ParseError;

/// A call of a source.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// What documents call it.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// How often a run makes it.
    pub times: &'static str,
    /// How many bytes of an answer are read.
    pub limit: usize,
    /// What an answer comes to, as if the host had nothing else to say. A run reads answers in the session that asked
    /// for them.
    pub read: fn(&[u8]) -> Result<Vec<CollectionItem>, ParseError>,
}

/// The endpoint of a [`Call`](evidence_http::Call), and what its answer comes to by itself.
macro_rules! endpoint {
    ($call:expr, $offline:expr) => {
        $crate::source::Endpoint {
            name: $call.name,
            purpose: $call.purpose,
            times: $call.times,
            limit: $call.limit,
            read: |answer| ($call.parse)(answer).map($offline),
        }
    };
}

pub(crate) use endpoint;
