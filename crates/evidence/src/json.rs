//! Reads JSON answers strictly: objects, and lists of objects.

pub use evidence_bundle::json::Object;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

use evidence_http::ParseError;

use crate::field::Field;

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

/// For `deserialize_with`: a field that must be an object.
///
/// # Errors
///
/// Fails if the value is not an object.
pub fn section<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Field<T>, D::Error> {
    let section: Field<Object<T>> = Field::deserialize(deserializer)?;
    Ok(section.map(|Object(section)| section))
}

/// For `deserialize_with`: a field that must be a list of objects.
///
/// # Errors
///
/// Fails if the value is not a list of objects.
pub fn sections<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Field<Vec<T>>, D::Error> {
    let sections: Field<Vec<Object<T>>> = Field::deserialize(deserializer)?;
    Ok(sections.map(Object::all))
}
