//! What an answer of this interface means: as of the other one, except that it sends errors with status 200.

use super::super::dialect::CodeHostDialect;
use evidence_http::retry::Class;
use evidence_http::{Answer, Dialect, Meaning, Request};

/// An answer without data is short.
const LONGEST_ERROR: usize = 64 * 1024;

/// The interface of the stored queries.
pub(super) struct QueryDialect;

impl Dialect for QueryDialect {
    fn prepare(&self, request: &mut Request) {
        CodeHostDialect.prepare(request);
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let meaning = CodeHostDialect.understand(answer);
        let short = answer.body.filter(|body| meaning.class == Class::Success && body.len() <= LONGEST_ERROR);
        let Some(text) = short.and_then(|body| std::str::from_utf8(body).ok()) else { return meaning };
        let class = if text.contains("\"RATE_LIMITED\"") {
            Class::PrimaryLimit { reset: meaning.reading.reset }
        } else if text.contains("secondary rate limit") && !text.contains("\"nodes\"") {
            let seconds = answer.header("retry-after").and_then(|value| value.trim().parse().ok());
            Class::SecondaryLimit { retry_after: seconds }
        } else {
            return meaning;
        };
        Meaning { class, ..meaning }
    }
}
