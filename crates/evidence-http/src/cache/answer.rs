//! What is kept, and the question that finds it.

use jiff::Timestamp;

/// A question to the host.
#[derive(Debug, Clone, Copy)]
pub struct CacheKey<'a> {
    /// Path and query below the API's base.
    pub path: &'a str,
    /// The representation that the request accepts.
    pub accept: &'a str,
}

/// An answer of the host, as the cache keeps it.
#[derive(Debug, Clone)]
pub struct CachedAnswer {
    /// When it came, or when the resumed run last confirmed it.
    pub at: Timestamp,
    /// Its status: 200, 404, or 304 if it was confirmed.
    pub status: u16,
    /// Its entity tag.
    pub etag: Option<String>,
    /// When the answer changed, in the host's words, if it was long before the answer came.
    pub last_modified: Option<String>,
    /// The host's id for the request.
    pub request_id: Option<String>,
    /// The words of a refusal.
    pub message: Option<String>,
    /// Significant headers that came with it, by name, in lower case.
    pub headers: Vec<String>,
    /// What the source uses of the answer.
    pub record: Vec<u8>,
    /// Whether a run that resumes this one may take it over.
    pub resumable: bool,
}
