//! Refuses JSON that programs read differently, and texts that are too long.
//!
//! A type with named fields refuses a repeated key itself. A map keeps the last value, where another program keeps the
//! first, so every value is also read without its type.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The most bytes of one text. The longest of the tool have a few thousand.
pub(super) const TEXT_BYTES: usize = 1 << 20;

/// Why a value is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An object has this key twice.
    Repeated(String),
    /// A text is longer than [`TEXT_BYTES`].
    Long,
}

/// Checks a value, which must be valid JSON.
pub(super) fn check(value: &[u8]) -> Result<(), Fault> {
    let mut fault = None;
    let mut json = serde_json::Deserializer::from_slice(value);
    match (Strict(&mut fault).deserialize(&mut json), fault) {
        (_, Some(fault)) => Err(fault),
        // What is not valid was refused by the type already.
        (Ok(()) | Err(_), None) => Ok(()),
    }
}

/// Reads a value and keeps the first fault.
struct Strict<'f>(&'f mut Option<Fault>);

impl Strict<'_> {
    fn refuse<E: Error>(&mut self, fault: Fault) -> E {
        *self.0 = Some(fault);
        E::custom("refused")
    }

    fn text<E: Error>(&mut self, text: &str) -> Result<(), E> {
        if text.len() > TEXT_BYTES { Err(self.refuse(Fault::Long)) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Strict(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut keys: Vec<Cow<'de, str>> = Vec::new();
        while let Some(key) = fields.next_key_seed(Key)? {
            self.text(&key)?;
            keys.push(key);
            fields.next_value_seed(Strict(self.0))?;
        }
        keys.sort_unstable();
        match keys.array_windows().find(|[left, right]| left == right) {
            Some([key, _]) => Err(self.refuse(Fault::Repeated(key.to_string()))),
            None => Ok(()),
        }
    }
}

/// A key without its escapes, borrowed if it has none.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_refused_twice_at_every_depth_and_however_it_is_written() {
        for good in
            ["1", "-1.5", "null", "true", "\"a\"", "[]", "{}", r#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#]
        {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"b":2,"\u0061":null}"#,
            r#"[[{"b":{"c":[{"a":[],"a":{}}]}}]]"#,
            r#"{"x":{"a":1,"a":2},"y":1}"#,
        ] {
            assert_eq!(check(bad.as_bytes()), Err(Fault::Repeated("a".to_owned())), "{bad}");
        }
    }

    #[test]
    fn a_text_has_a_limit_and_a_list_of_them_has_none() {
        let text = |length: usize| "a".repeat(length);
        assert_eq!(check(format!("[\"{0}\",\"{0}\"]", text(TEXT_BYTES)).as_bytes()), Ok(()));
        for long in [format!("\"{}\"", text(TEXT_BYTES + 1)), format!("{{\"{}\":1}}", text(TEXT_BYTES + 1))] {
            assert_eq!(check(long.as_bytes()), Err(Fault::Long));
        }
    }
}
