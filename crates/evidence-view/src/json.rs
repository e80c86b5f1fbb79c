//! Reads the JSON documents of a bundle within bounds, since even a trusted signer must not exhaust this machine's
//! memory.
//!
//! All readers use these functions, so that displaying a bundle interprets it exactly like accepting it did.

use std::io::{self, BufReader, Read};

use evidence_bundle::read::Json;
use serde::de::DeserializeOwned;

/// The most bytes of a document. Those of 100,000 repositories have about 150 MB.
const DOCUMENT_BYTES: u64 = 256 << 20;
/// The most bytes of one string, which a parser holds in memory.
const STRING_BYTES: usize = 1 << 20;

/// Parses a document. `None` if it does not have the known form or exceeds the bounds.
pub fn document<T: DeserializeOwned>(contents: &mut dyn Read) -> Option<T> {
    serde_json::from_reader(reader(contents)).ok()
}

/// A reader of a document row by row, with the verifier's parser. A document that exceeds the bounds ends early.
pub(crate) fn rows(contents: &mut dyn Read) -> Json<io::Take<&mut dyn Read>> {
    Json::new(contents.take(DOCUMENT_BYTES))
}

/// The bytes of a document. Fails when a bound is exceeded.
fn reader(contents: &mut dyn Read) -> impl Read {
    let bounded = Bounded { inner: contents, left: DOCUMENT_BYTES, string: None, escaped: false };
    BufReader::with_capacity(64 << 10, bounded)
}

struct Bounded<R> {
    inner: R,
    left: u64,
    /// The length of the current string so far.
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
        // Many strings that are long in total concern only the bound of the document.
        let many = format!("[{}\"\"]", format!("\"{}\",", "a".repeat(1_000)).repeat(2_000));
        assert!(read(&many).is_some());
        let mut endless = Bounded { inner: io::repeat(b' '), left: 10_000, string: None, escaped: false };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
