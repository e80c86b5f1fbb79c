//! Reads JSON strictly: fields that must be objects, or lists of objects.

use evidence_bundle::json::Object;
use serde::{Deserialize, Deserializer};

use crate::field::Field;

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
