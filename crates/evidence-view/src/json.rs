//! Reading the JSON documents of a bundle within bounds. A key that is trusted is no reason to trust its holder with this
//! machine's memory.
//!
//! Everything that reads a document reads it here, so that what was understood when a bundle was accepted is understood
//! when it is shown, and nothing else is.

use std::io::{self, BufReader, Read};

use evidence_bundle::read::Json;
use serde::de::DeserializeOwned;

/// Bytes that a document may have. Those of 100,000 repositories have about 150 MB.
const DOCUMENT_BYTES: u64 = 256 << 20;
/// Bytes that one string of a document may have: what a parser holds at once.
const STRING_BYTES: usize = 1 << 20;

/// Reads a document. `None` if it is not of the known form, or larger than the bounds.
pub fn document<T: DeserializeOwned>(contents: &mut dyn Read) -> Option<T> {
    serde_json::from_reader(reader(contents)).ok()
}

/// A document that is read row by row, each as the verifier reads it. One that is larger than the bounds ends early.
pub(crate) fn rows(contents: &mut dyn Read) -> Json<io::Take<&mut dyn Read>> {
    Json::new(contents.take(DOCUMENT_BYTES))
}

/// The bytes of a document, which end in an error where a bound is exceeded.
fn reader(contents: &mut dyn Read) -> impl Read {
    let bounded = Bounded { inner: contents, left: DOCUMENT_BYTES, string: None, escaped: false };
    BufReader::with_capacity(64 << 10, bounded)
}

struct Bounded<R> {
    inner: R,
    left: u64,
    /// How long the string is that is being read.
    string: Option<usize>,
    escaped: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        let size = u64::try_from(read).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(size).ok_or_else(too_large)?;
        for byte in bytes {
            self.string = match (self.string, self.escaped, byte) {
                (None, _, b'"') => Some(0),
                (None, ..) => None,
                (Some(_), false, b'"') => None,
                (Some(length), ..) if length < STRING_BYTES => Some(length.saturating_add(1)),
                (Some(_), ..) => return Err(too_large()),
            };
            self.escaped = self.string.is_some() && !self.escaped && *byte == b'\\';
        }
        Ok(read)
    }
}

fn too_large() -> io::Error {
    io::Error::from(io::ErrorKind::FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_bounded_and_everything_else_is_as_before() {
        let read = |text: &str| document::<serde_json::Value>(&mut text.as_bytes());
        for text in [r#"{"a\"b":"\\","c":["\"",1]}"#, r#""\u0022""#, "[]", r#"["\\\"","x"]"#] {
            assert_eq!(read(text), serde_json::from_str(text).ok(), "{text}");
            assert!(read(text).is_some());
        }
        let string = |length: usize| format!("[\"\\\\\", \"{}\", 1]", "a".repeat(length));
        assert!(read(&string(STRING_BYTES)).is_some());
        assert!(read(&string(STRING_BYTES + 1)).is_none());
        // Many strings that are long together are a matter of the document's bound.
        let many = format!("[{}\"\"]", format!("\"{}\",", "a".repeat(1_000)).repeat(2_000));
        assert!(read(&many).is_some());
        let mut endless = Bounded { inner: io::repeat(b' '), left: 10_000, string: None, escaped: false };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
