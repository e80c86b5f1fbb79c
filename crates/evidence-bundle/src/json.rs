//! Parts of JSON documents that must be objects.
//!
//! A derived `Deserialize` also accepts a list and assigns its items to the fields in order, so that `[]` would be
//! valid for a struct without required fields.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A part of a document that must be an object.
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

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields))
            }
        }

        deserializer.deserialize_map(ObjectsOnly(PhantomData)).map(Object)
    }
}

/// For `deserialize_with`: a field that must be an object.
///
/// # Errors
///
/// Fails if the value is not an object.
pub fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// For `deserialize_with`: a field that must be a list of objects.
///
/// # Errors
///
/// Fails if the value is not a list of objects.
pub fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Vec::deserialize(deserializer).map(Object::all)
}

/// For `deserialize_with`, together with `default`: an optional field that must be an object.
///
/// # Errors
///
/// Fails if the value is not an object.
pub fn optional<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer).map(|object| object.map(|Object(value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_no_list() {
        #[derive(Debug, Deserialize)]
        struct One {
            one: u8,
        }
        let read = |text: &str| serde_json::from_str::<Object<One>>(text).map(|Object(One { one })| one);
        assert_eq!(read(r#"{"one": 1}"#).unwrap(), 1);
        for bad in ["[1]", "1", "null", r#"{"one": [1]}"#] {
            assert!(read(bad).unwrap_err().is_data(), "{bad}");
        }
    }

    #[test]
    fn a_list_of_objects_gives_every_one() {
        let read = |text: &str| {
            serde_json::from_str(text).map(Object::<std::collections::BTreeMap<String, u8>>::all)
        };
        let found: Vec<u8> = read(r#"[{"a": 1}, {"a": 2}]"#).unwrap().iter().map(|item| item["a"]).collect();
        assert_eq!(found, [1, 2]);
        assert!(read(r#"[{"a": 1}, [2]]"#).unwrap_err().to_string().contains("expected an object"));
    }

    #[test]
    fn fields_of_a_document_are_no_lists() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct One {
            one: u8,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct Fields {
            #[serde(deserialize_with = "super::objects")]
            many: Vec<One>,
            #[serde(default, deserialize_with = "super::optional")]
            maybe: Option<One>,
        }
        let read = |text: &str| serde_json::from_str::<Fields>(text).ok();
        let fields = |many, maybe| Some(Fields { many, maybe });
        assert_eq!(
            read(r#"{"many": [{"one": 1}], "maybe": {"one": 2}}"#),
            fields(vec![One { one: 1 }], Some(One { one: 2 }))
        );
        assert_eq!(read(r#"{"many": []}"#), fields(Vec::new(), None));
        assert_eq!(read(r#"{"many": [], "maybe": null}"#), fields(Vec::new(), None));
        for bad in
            [r#"{"many": [[1]]}"#, r#"{"many": {}}"#, r#"{"many": [], "maybe": [1]}"#, r#"{"maybe": null}"#]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
