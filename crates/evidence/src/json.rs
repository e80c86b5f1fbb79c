//! Reading JSON answers: objects, and lists of objects, that are nothing else.
//!
//! It knows no answer by name.

pub use evidence_bundle::json::Object;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

use evidence_http::ParseError;

use crate::field::Field;

/// Reads an answer that must be an object.
///
/// # Errors
///
/// If it is broken, or something else.
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
/// If it is something else.
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
/// If it is something else.
pub fn sections<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Field<Vec<T>>, D::Error> {
    let sections: Field<Vec<Object<T>>> = Field::deserialize(deserializer)?;
    Ok(sections.map(Object::all))
}
