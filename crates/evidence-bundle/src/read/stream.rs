//! A streaming JSON reader: objects field by field, lists item by item.
//!
//! It keeps one value at a time in memory and parses it in place, which is several times as fast as parsing byte by
//! byte. The document is untrusted: no value may have more than [`VALUE_BYTES`]. The reader knows no field names.

use std::io::{self, ErrorKind, Read};

use evidence_text::saturating_u64;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::reason::VerifyError;
use super::sink::{Feed, Row};
use super::strict::{self, Fault, TEXT_BYTES};

/// How much to read at a time, unless a value needs more.
const WINDOW: usize = 64 << 10;
/// The most bytes that one value may have, such as a row of a list. The tool's own rows have a few hundred; the longest,
/// the requests for a list of 100,000 repositories, less than half a million.
const VALUE_BYTES: usize = 2 << 20;

/// Why reading stopped early.
#[derive(Debug)]
pub enum Stop {
    /// The document is malformed.
    Malformed(String),
    /// The content is wrong.
    Refused(VerifyError),
    /// A value or a text is larger than any that the tool writes.
    TooLarge(String),
    /// The sink failed.
    Sink(io::Error),
}

impl From<VerifyError> for Stop {
    fn from(refusal: VerifyError) -> Stop {
        Stop::Refused(refusal)
    }
}

/// A document that is being read.
pub struct Json<'s, R> {
    reader: R,
    /// Receives the rows and the bytes.
    feed: Option<Feed<'s>>,
    window: Vec<u8>,
    /// The position in the window of the next byte, and the end of what was read.
    at: usize,
    filled: usize,
    /// How many bytes came before the window.
    before: u64,
    /// Whether the reader has reached its end.
    ended: bool,
    /// The names of the open objects, the outermost first. A list has no name.
    names: Vec<String>,
    /// The fields that the document must not have, because only later versions of the format know them.
    later: Vec<&'static [&'static str]>,
    /// Whether the document is judged: values are also checked for what their types accept.
    strict: bool,
}

impl<'s, R: Read> Json<'s, R> {
    /// Reads a document of a verified bundle from this reader.
    pub fn new(reader: R) -> Json<'s, R> {
        Json {
            reader,
            feed: None,
            window: vec![0; WINDOW],
            at: 0,
            filled: 0,
            before: 0,
            ended: false,
            names: Vec::new(),
            later: Vec::new(),
            strict: false,
        }
    }

    /// Reads a document that is being judged: repeated keys of maps and texts that are too long are refused too.
    /// Passes its bytes to `feed`.
    pub(super) fn strict(reader: R, feed: Option<Feed<'s>>) -> Json<'s, R> {
        Json { strict: true, feed, ..Json::new(reader) }
    }

    /// Passes a row on.
    pub(super) fn pass(&mut self, row: Row<'_>) -> Result<(), Stop> {
        self.feed.as_mut().map_or(Ok(()), |feed| feed.row(row)).map_err(Stop::Sink)
    }

    /// Refuses these fields from here on, each with the names on the way to it.
    pub(super) fn refuse(&mut self, later: Vec<&'static [&'static str]>) {
        self.later = later;
    }

    /// Reads an object: calls `field` with the name of each field, which must read the value.
    ///
    /// # Errors
    /// Returns a [`Stop`], including that of `field`.
    pub fn object(
        &mut self,
        mut field: impl FnMut(&mut Json<'s, R>, &str) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.expect(b'{', "an object")?;
        if self.peek()? == Some(b'}') {
            return self.expect(b'}', "an object");
        }
        loop {
            let name: String = self.value()?;
            self.expect(b':', "a colon")?;
            self.names.push(name.clone());
            if self.refused().any(<[_]>::is_empty) {
                return Err(self.unknown(&name));
            }
            field(self, &name)?;
            self.names.pop();
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    /// Reads a list: calls `item` for each item, which must read it.
    ///
    /// # Errors
    /// Returns a [`Stop`], including that of `item`.
    pub fn list(&mut self, mut item: impl FnMut(&mut Json<'s, R>) -> Result<(), Stop>) -> Result<(), Stop> {
        self.expect(b'[', "a list")?;
        if self.peek()? == Some(b']') {
            return self.expect(b']', "a list");
        }
        loop {
            item(self)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Reads a whole value.
    ///
    /// # Errors
    /// Returns a [`Stop`] if the value has another type or is too large.
    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, Stop> {
        self.peek()?;
        loop {
            let rest = self.window.get(self.at..self.filled).unwrap_or_default();
            let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<T>();
            let read = values.next();
            let used = values.byte_offset();
            match read {
                // A number at the end of the window may be incomplete.
                Some(Ok(value)) if used < rest.len() || self.ended => {
                    if self.strict {
                        strict::check(rest.get(..used).unwrap_or_default())
                            .map_err(|fault| self.fault(&fault))?;
                    }
                    if let Some(name) = rest.get(..used).and_then(|value| self.refused_in(value)) {
                        return Err(self.unknown(name));
                    }
                    self.at += used;
                    return Ok(value);
                }
                Some(Err(error)) if !error.is_eof() || self.ended => return Err(self.malformed(error)),
                None if self.ended => return Err(self.malformed("the document ends where a value must be")),
                Some(_) | None => self.fill()?,
            }
        }
    }

    /// Skips a value of any size.
    ///
    /// # Errors
    /// Returns a [`Stop`] if the next bytes are not a value, or if the reader fails.
    pub fn skip(&mut self) -> Result<(), Stop> {
        match self.peek()? {
            Some(b'{') => self.object(|json, _| json.skip()),
            Some(b'[') => self.list(|json| json.value::<IgnoredAny>().map(|_| ())),
            _ => self.value::<IgnoredAny>().map(|_| ()),
        }
    }

    /// The refused fields of the current object or value, by the rest of the names on the way to them.
    fn refused(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.later.iter().filter_map(|names| {
            let (way, left) = names.split_at_checked(self.names.len())?;
            way.iter().eq(&self.names).then_some(left)
        })
    }

    /// The name of a refused field in a value.
    fn refused_in(&self, value: &[u8]) -> Option<&'static str> {
        // The newest version refuses nothing, so only older documents are parsed twice.
        self.refused().next()?;
        let value = serde_json::from_slice(value).ok()?;
        self.refused().find(|names| holds(&value, names)).and_then(|names| names.last().copied())
    }

    /// Reads the field `name`, which must not repeat.
    ///
    /// # Errors
    /// Returns a [`Stop`] if it repeats or has another type.
    pub fn once<T: DeserializeOwned>(&mut self, field: &mut Option<T>, name: &str) -> Result<(), Stop> {
        let value = self.value()?;
        self.first(field, name, value)
    }

    /// Notes the field `name`, which must not repeat.
    pub(super) fn first<T>(&self, field: &mut Option<T>, name: &str, value: T) -> Result<(), Stop> {
        if field.is_some() {
            return Err(self.malformed(format_args!("duplicate field `{name}`")));
        }
        *field = Some(value);
        Ok(())
    }

    /// Checks that nothing follows the document.
    ///
    /// # Errors
    /// Returns a [`Stop`] if something does.
    pub fn end(&mut self) -> Result<(), Stop> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.malformed("something follows the document")),
        }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> u64 {
        self.before.saturating_add(saturating_u64(self.at))
    }

    /// An error for malformed JSON, with its position.
    pub fn malformed(&self, what: impl std::fmt::Display) -> Stop {
        Stop::Malformed(format!("{what} (the value at byte {})", self.position()))
    }

    fn fault(&self, fault: &Fault) -> Stop {
        match fault {
            Fault::Repeated(key) => self.malformed(format_args!("duplicate field `{key}`")),
            Fault::Long => Stop::TooLarge(format!("a text has more than {TEXT_BYTES} bytes")),
        }
    }

    /// An error for a field that the version of the document does not have.
    pub(super) fn unknown(&self, name: &str) -> Stop {
        self.malformed(format_args!("unknown field `{name}`"))
    }

    /// Whether another field or item follows.
    fn goes_on(&mut self, end: u8) -> Result<bool, Stop> {
        match self.peek()? {
            Some(b',') => self.expect(b',', "a comma").map(|()| true),
            Some(byte) if byte == end => self.expect(end, "the end").map(|()| false),
            _ => Err(self.malformed("neither a comma nor the end follows")),
        }
    }

    fn expect(&mut self, wanted: u8, what: &str) -> Result<(), Stop> {
        if self.peek()? != Some(wanted) {
            return Err(self.malformed(format_args!("expected {what}")));
        }
        self.at += 1;
        Ok(())
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let rest = self.window.get(self.at..self.filled).unwrap_or_default();
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            match rest.iter().position(|byte| !blank(byte)) {
                Some(blanks) => {
                    self.at += blanks;
                    return Ok(rest.get(blanks).copied());
                }
                None => self.at = self.filled,
            }
            if self.ended {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Reads more bytes into the window after those still needed, and enlarges the window if it is full.
    fn fill(&mut self) -> Result<(), Stop> {
        if self.at == 0 && self.filled == self.window.len() {
            if self.window.len() >= VALUE_BYTES {
                return Err(Stop::TooLarge(format!("a row has more than {VALUE_BYTES} bytes")));
            }
            self.window.resize(self.window.len().saturating_mul(2), 0);
        }
        self.window.copy_within(self.at..self.filled, 0);
        self.before = self.before.saturating_add(saturating_u64(self.at));
        self.filled -= self.at;
        self.at = 0;
        while let Some(space) = self.window.get_mut(self.filled..).filter(|space| !space.is_empty()) {
            match self.reader.read(space) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(());
                }
                Ok(read) => {
                    if let (Some(feed), Some(bytes)) = (&mut self.feed, space.get(..read)) {
                        feed.bytes(bytes).map_err(Stop::Sink)?;
                    }
                    self.filled = self.filled.saturating_add(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.malformed(error)),
            }
        }
        Ok(())
    }
}

/// Whether a value has a field, by the names on the way to it.
fn holds(value: &Value, names: &[&str]) -> bool {
    match (value, names) {
        (Value::Array(items), _) => items.iter().any(|item| holds(item, names)),
        (Value::Object(fields), [name]) => fields.contains_key(*name),
        (Value::Object(fields), [name, rest @ ..]) => {
            fields.get(*name).is_some_and(|field| holds(field, rest))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns at most this many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let size = self.1.min(buffer.len());
            self.0.read(&mut buffer[..size])
        }
    }

    /// Reads `{"list": [...], ...}` and returns the items and the other values.
    fn read(text: &str, size: usize) -> Result<Vec<Value>, String> {
        let mut json = Json::new(Pieces(text.as_bytes(), size));
        let mut values = Vec::new();
        let read = json.object(|json, name| match name {
            "list" => json.list(|json| json.value().map(|value| values.push(value))),
            "skipped" => json.skip(),
            _ => json.value().map(|value| values.push(value)),
        });
        match read.and_then(|()| json.end()) {
            Ok(()) => Ok(values),
            Err(Stop::Malformed(what) | Stop::TooLarge(what)) => Err(what),
            Err(stop) => panic!("{stop:?}"),
        }
    }

    #[test]
    fn a_document_is_read_as_a_whole_one_would_be() {
        // With one of these lengths, a number, a string and an escape cross the border of the window.
        for filler in (WINDOW - 40..WINDOW + 4).chain([0, 3 * WINDOW, 9 * WINDOW]) {
            let filler = "x".repeat(filler);
            let text = format!(
                "\n{{ \"a\": \"{filler}\", \"list\": [123456, \"\\u00e9\u{e9}\\\"\", {{\"b\": [true, null]}}, -1.5e3] , \"c\":17}}\n"
            );
            let whole: Value = serde_json::from_str(&text).unwrap();
            let mut expected = vec![whole["a"].clone()];
            expected.extend(whole["list"].as_array().unwrap().clone());
            expected.push(whole["c"].clone());
            for size in [usize::MAX, 4_099] {
                assert_eq!(read(&text, size).as_ref(), Ok(&expected), "{}", filler.len());
            }
        }
        assert_eq!(read("{}", 1), Ok(Vec::new()));
        let skipped = r#"{"skipped":[[1],{"a":2},"b"],"a":1}"#;
        for text in [skipped, &skipped.replace("[[", "{\"x\":[[").replace("],\"a\"", "]},\"a\"")] {
            assert_eq!(read(text, 1), Ok(vec![1.into()]), "{text}");
        }
        assert!(read(r#"{"skipped":[1,]}"#, 1).is_err());
        assert_eq!(read(r#"{"list":[]}"#, 1), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for bad in [
            "",
            " ",
            "[]",
            "{",
            "}",
            "{}{}",
            "{},",
            r#"{"list":}"#,
            r#"{"list":[1,]}"#,
            r#"{"list":[1 2]}"#,
            r#"{"list":[1}"#,
            r#"{"a":1,}"#,
            r#"{"a" 1}"#,
            r#"{"a":1"#,
            r#"{"a":"1"#,
            r#"{a:1}"#,
            r#"{"a":tru}"#,
            r#"{1:1}"#,
            r#"{"list":{}}"#,
            "{\"a\":\"\n\"}",
            "{\"a\":1}\0",
        ] {
            for size in [1, 3, usize::MAX] {
                assert!(read(bad, size).is_err(), "{bad}");
            }
        }
        assert!(read(r#"{"a":1,"b":tru}"#, 2).unwrap_err().ends_with("(the value at byte 11)"));
    }

    #[test]
    fn a_field_of_a_later_version_is_unknown() {
        let later: [&'static [&'static str]; 4] =
            [&["new"], &["list", "new"], &["object", "inner", "new"], &["rows", "checks", "new"]];
        let read = |text: &str| {
            let mut json = Json::new(text.as_bytes());
            json.refuse(later.to_vec());
            json.object(|json, name| match name {
                "rows" => json.list(|json| {
                    json.object(|json, name| match name {
                        "checks" => json.list(|json| json.value::<Value>().map(drop)),
                        _ => json.value::<Value>().map(drop),
                    })
                }),
                _ => json.value::<Value>().map(drop),
            })
        };
        for known in [
            r#"{"a": 1, "list": [{"a": {"new": 1}}], "object": {"new": 1, "inner": {"a": "new"}}}"#,
            r#"{"rows": [{"new": 1, "checks": []}, {"checks": [{"a": {"new": 1}}, [], "new", null]}]}"#,
        ] {
            assert!(read(known).is_ok(), "{known}");
        }
        for unknown in [
            r#"{"new": null}"#,
            r#"{"new": []}"#,
            r#"{"a": 1, "list": [{}, {"new": null}]}"#,
            r#"{"object": {"inner": {"new": {}}}}"#,
            r#"{"rows": [{"checks": []}, {"checks": [{}, {"a": 1, "new": 2}]}]}"#,
        ] {
            match read(unknown) {
                Err(Stop::Malformed(detail)) => {
                    assert!(detail.starts_with("unknown field `new`"), "{detail}")
                }
                other => panic!("{unknown}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_value_is_bounded_and_a_document_is_not() {
        let text = |length: usize| format!(r#"{{"list":["{}"]}}"#, "a".repeat(length));
        assert!(read(&text(VALUE_BYTES - 8), usize::MAX).is_ok());
        assert!(read(&text(VALUE_BYTES), usize::MAX).unwrap_err().contains("more than"));
        let item = format!("\"{}\",", "a".repeat(VALUE_BYTES / 8));
        let long = format!(r#"{{"list":[{}1]}}"#, item.repeat(20));
        assert_eq!(read(&long, usize::MAX).unwrap().len(), 21);
    }
}
