//! Lists stand only where the documents have lists.
//!
//! A derived struct also accepts a list and takes its items for the fields in order: no document of this format, and
//! read otherwise by other programs. Nothing here knows what a field means. A single part that must be an object is
//! [`crate::json::Object`].

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The fields of `run.json` that are lists.
const LISTS: [&str; 2] = ["command", "sources"];

/// Refuses a document that has a list where an object, a text or a number must be.
pub(super) fn check(document: &[u8]) -> Result<(), serde_json::Error> {
    Part { is_list: false }.deserialize(&mut serde_json::Deserializer::from_slice(document))
}

/// A part of a document.
struct Part {
    is_list: bool,
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a document")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if !self.is_list {
            return Err(A::Error::custom("a list where none must be"));
        }
        while items.next_element_seed(Part { is_list: false })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(is_list) = fields.next_key_seed(Name)? {
            fields.next_value_seed(Part { is_list })?;
        }
        Ok(())
    }
}

/// The name of a field: whether the field is a list.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(LISTS.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_stand_where_lists_are() {
        for good in [
            r#"{"command": ["evidence"], "complete": true, "exit_code": -1, "size": 1.5}"#,
            r#"{"sources": [{"identity": {"scopes": ""}, "name": "x"}], "rate_limit": null}"#,
            "{}",
        ] {
            assert!(check(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            r#"["1.0", "0.1.0"]"#,
            r#"{"tool": ["evidence", "0.1.0", null]}"#,
            r#"{"sources": [["codehost"]]}"#,
            r#"{"sources": [{"identity": [null, "repo"]}]}"#,
            r#"{"command": [["evidence"]]}"#,
            r#"{"exit_code": []}"#,
        ] {
            let error = check(bad.as_bytes()).unwrap_err();
            assert!(error.is_data() && error.to_string().starts_with("a list"), "{bad}: {error}");
        }
    }
}
