//! Writes JSON directly into bytes, in the host's own member order and without an intermediate tree: a listing
//! page is half a megabyte, and the sandbox must not slow down a measurement.

/// Writes one object.
pub(crate) fn object(fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    write_object(&mut out, fill);
    out
}

/// Writes one array.
pub(crate) fn array(fill: impl FnOnce(&mut Array<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    write_array(&mut out, fill);
    out
}

fn write_object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    fill(&mut Object { out, first: true });
    out.push(b'}');
}

fn write_array(out: &mut Vec<u8>, fill: impl FnOnce(&mut Array<'_>)) {
    out.push(b'[');
    fill(&mut Array { out, first: true });
    out.push(b']');
}

/// The members of one object, in the order they are written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl Object<'_> {
    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        // Our own keys need no escaping.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(crate) fn str(&mut self, key: &str, value: &str) {
        self.text(key, &[value]);
    }

    /// A string in pieces, to avoid allocating a URL.
    pub(crate) fn text(&mut self, key: &str, pieces: &[&str]) {
        self.key(key);
        string(self.out, pieces);
    }

    /// A string of pieces that are already [`escaped`]: many URLs share a beginning, and scanning each of them
    /// would be most of the work for a page.
    pub(crate) fn joined(&mut self, key: &str, pieces: &[&str]) {
        self.key(key);
        self.out.push(b'"');
        for piece in pieces {
            self.out.extend_from_slice(piece.as_bytes());
        }
        self.out.push(b'"');
    }

    pub(crate) fn str_or_null(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.str(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn null(&mut self, key: &str) {
        self.raw(key, b"null");
    }

    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { b"true" } else { b"false" });
    }

    pub(crate) fn num(&mut self, key: &str, value: i64) {
        self.key(key);
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    pub(crate) fn id(&mut self, key: &str, value: u64) {
        self.key(key);
        self.out.extend_from_slice(value.to_string().as_bytes());
    }

    /// A value that is already JSON.
    pub(crate) fn raw(&mut self, key: &str, json: &[u8]) {
        self.key(key);
        self.out.extend_from_slice(json);
    }

    pub(crate) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        write_object(self.out, fill);
    }

    pub(crate) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Array<'_>)) {
        self.key(key);
        write_array(self.out, fill);
    }
}

/// The elements of one array.
pub(crate) struct Array<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

impl Array<'_> {
    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    pub(crate) fn str(&mut self, value: &str) {
        self.comma();
        string(self.out, &[value]);
    }

    pub(crate) fn raw(&mut self, json: &[u8]) {
        self.comma();
        self.out.extend_from_slice(json);
    }

    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        self.comma();
        write_object(self.out, fill);
    }
}

/// Text escaped for a JSON string.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape(&mut out, text);
    String::from_utf8(out).unwrap_or_default()
}

fn string(out: &mut Vec<u8>, pieces: &[&str]) {
    out.push(b'"');
    for piece in pieces {
        escape(out, piece);
    }
    out.push(b'"');
}

fn escape(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let bytes = object(|o| {
            o.str("hostile", "a\"b\\c\nd\te\u{0}\u{1b}[31mé");
            o.text("url", &["http://", "x", "/y"]);
            o.null("none");
            o.num("n", -3);
            o.object("in", |o| o.bool("yes", true));
            o.array("list", |a| {
                a.str("one");
                a.object(|_| {});
            });
        });
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["hostile"], "a\"b\\c\nd\te\u{0}\u{1b}[31mé");
        assert_eq!(value["url"], "http://x/y");
        assert_eq!(value["n"], -3);
        assert_eq!(value["list"][0], "one");
    }
}
