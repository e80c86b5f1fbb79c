//! The calls of a source as documents and the fuzzer see them: one list, whatever each answer is.

use super::Found;
use crate::http::{Call, ParseError};

/// A call of a source.
pub trait Endpoint: Sync {
    /// What documents call it.
    fn name(&self) -> &'static str;

    /// What it is for.
    fn purpose(&self) -> &'static str;

    /// How often a run makes it.
    fn times(&self) -> &'static str;

    /// How many bytes of an answer are read.
    fn limit(&self) -> usize;

    /// What an answer comes to, as if the host had nothing else to say. A run reads answers in the session that asked
    /// for them.
    ///
    /// # Errors
    ///
    /// If it is not what was asked for.
    fn read(&self, answer: &[u8]) -> Result<Vec<Found>, ParseError>;
}

/// A call, and what its answer comes to by itself.
pub(crate) struct Row<T: 'static> {
    pub(crate) call: &'static Call<T>,
    pub(crate) alone: fn(T) -> Vec<Found>,
}

impl<T> Endpoint for Row<T> {
    fn name(&self) -> &'static str {
        self.call.name
    }

    fn purpose(&self) -> &'static str {
        self.call.purpose
    }

    fn times(&self) -> &'static str {
        self.call.times
    }

    fn limit(&self) -> usize {
        self.call.limit
    }

    fn read(&self, answer: &[u8]) -> Result<Vec<Found>, ParseError> {
        (self.call.parse)(answer).map(self.alone)
    }
}
