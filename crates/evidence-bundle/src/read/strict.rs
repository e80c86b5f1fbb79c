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
    if is_plain(value) {
        return Ok(());
    }
    let mut fault = None;
    let mut json = serde_json::Deserializer::from_slice(value);
    match (Strict(&mut fault).deserialize(&mut json), fault) {
        (_, Some(fault)) => Err(fault),
        // What is not valid was refused by the type already.
        (Ok(()) | Err(_), None) => Ok(()),
    }
}

/// The most keys of an object that are compared one by one.
const FEW: usize = 24;

/// Whether a quick look at a value, which must be valid JSON, is enough: no text can be too long, and no object has a key
/// twice. Without escapes, keys are the same if their bytes are.
fn is_plain(value: &[u8]) -> bool {
    // The keys of the open objects, and where those of each begin.
    let (mut keys, mut objects): (Vec<&[u8]>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut rest = value;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'{' => objects.push(keys.len()),
            b'}' => {
                let of_this = objects.pop().and_then(|start| keys.get(start..));
                let Some(of_this) = of_this.filter(|keys| keys.len() <= FEW) else { return false };
                let is_again = |(at, key)| of_this.iter().take(at).any(|before: &&[u8]| *before == key);
                if of_this.iter().copied().enumerate().any(is_again) {
                    return false;
                }
                keys.truncate(keys.len() - of_this.len());
            }
            b'"' => {
                let Some(length) = end_of_text(rest).filter(|length| *length <= TEXT_BYTES) else {
                    return false;
                };
                let (Some(text), Some(behind)) = (rest.get(..length), rest.get(length + 1..)) else {
                    return false;
                };
                rest = behind;
                let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
                if next == Some(&b':') {
                    if text.contains(&b'\\') {
                        return false;
                    }
                    keys.push(text);
                }
            }
            _ => {}
        }
    }
    objects.is_empty()
}

/// The length of a text that begins here.
fn end_of_text(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = text.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        at += next;
        match text.get(at) {
            Some(b'"') => return Some(at),
            _ => at += 2,
        }
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

    /// The quick look is never content with what the whole look refuses.
    #[test]
    fn a_quick_look_refuses_whatever_a_whole_one_does() {
        let keys = ["a", "b", "\\u0061", "a\\\"", "", "c"];
        let mut state = 7_u64;
        let mut next = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        fn value(depth: usize, keys: &[&str], next: &mut impl FnMut(usize) -> usize) -> String {
            match next(if depth == 0 { 3 } else { 5 }) {
                0 => "-1.5e3".to_owned(),
                1 => r#""a\": {\"""#.to_owned(),
                2 => "\"{}[]:,\"".to_owned(),
                3 => {
                    let items: Vec<String> = (0..next(3)).map(|_| value(depth - 1, keys, next)).collect();
                    format!("[{}]", items.join(" , "))
                }
                _ => {
                    let fields: Vec<String> = (0..next(4))
                        .map(|_| format!("\"{}\" : {}", keys[next(keys.len())], value(depth - 1, keys, next)))
                        .collect();
                    format!("{{{}}}", fields.join(","))
                }
            }
        }
        let (mut quick, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let text = value(3, &keys, &mut next);
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
            let mut fault = None;
            let mut json = serde_json::Deserializer::from_str(&text);
            let _ = Strict(&mut fault).deserialize(&mut json);
            if is_plain(text.as_bytes()) {
                quick += 1;
                assert_eq!(fault, None, "{text}");
            }
            refused += u32::from(fault.is_some());
        }
        assert!(quick > 1_000 && refused > 500, "{quick} {refused}");
        let many: Vec<String> = (0..2 * FEW).map(|number| format!("\"{number}\":1")).collect();
        assert_eq!(check(format!("{{{}}}", many.join(",")).as_bytes()), Ok(()));
        assert!(check(format!("{{{},\"3\":1}}", many.join(",")).as_bytes()).is_err());
    }
}
