//! Reads JSON answers strictly: objects, and lists of objects.

pub use evidence_bundle::json::Object;
use serde::de::{DeserializeOwned, IgnoredAny};

use evidence_http::ParseError;

/// Parses an answer that must be an object.
///
/// # Errors
///
/// Fails if the JSON is broken, or if it is not an object.
pub fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ParseError> {
    match bytes.trim_ascii_start().first() {
        Some(b'{') | None => Ok(serde_json::from_slice(bytes)?),
        Some(_) => {
            serde_json::from_slice::<IgnoredAny>(bytes)?;
            Err(ParseError::Shape("not an object".to_string()))
        }
    }
}
