//! Lists stand only where the documents have lists.
//!
//! A derived struct also accepts a list and takes its items for the fields in order: no document of this format, and
//! read otherwise by other programs. Nothing here knows what a field means.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The fields of the manifest and of `run.json` that are lists.
const LISTS: [&str; 8] =
    ["artifacts", "command", "controls", "errors", "excluded", "files", "sources", "warnings"];

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
            r#"{"controls": ["CC6.1"], "complete": true, "exit_code": -1, "size": 1.5}"#,
            r#"{"artifacts": [{"request": {"status": 200}, "controls": ["x"]}], "previous": null}"#,
            "{}",
        ] {
            assert!(check(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            r#"["1.0", "0.1.0"]"#,
            r#"{"signer": ["ed25519", "k", "i"]}"#,
            r#"{"artifacts": [["sources/a/b"]]}"#,
            r#"{"artifacts": [{"request": ["/orgs/acme", 200]}]}"#,
            r#"{"controls": [["CC6.1"]]}"#,
            r#"{"complete": []}"#,
        ] {
            let error = check(bad.as_bytes()).unwrap_err();
            assert!(error.is_data() && error.to_string().starts_with("a list"), "{bad}: {error}");
        }
    }
}
