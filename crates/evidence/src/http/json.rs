//! Reading JSON answers: objects, and lists of objects, that are nothing else.
//!
//! A derived struct also accepts a list and takes its items for the fields in order, so that `[]` would be a setting in
//! which nothing is required. It knows no answer by name.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ParseError;
use crate::observation::Field;

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

/// An item of a list that must be an object.
pub struct Object<T>(pub T);

impl<T> Object<T> {
    /// The items of a list of objects.
    pub fn all(items: Vec<Object<T>>) -> Vec<T> {
        items.into_iter().map(|Object(item)| item).collect()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        struct ObjectsOnly<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectsOnly<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(ObjectsOnly(PhantomData)).map(Object)
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
