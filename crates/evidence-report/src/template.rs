//! The only way from a template to a file.

use std::fmt;
use std::io::{self, Write};

use askama::Template;
use evidence_bundle::text::Visible;

/// Writes a template. Whatever its texts hold, the file has no deceptive character.
pub(crate) fn write(template: &impl Template, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Visible(Through { out: io::BufWriter::new(out), failed: Ok(()) });
    let written = template.render_into(&mut text);
    text.0.failed?;
    written.map_err(io::Error::other)?;
    text.0.out.flush()
}

/// Writes text into a file, and remembers why it failed.
struct Through<W> {
    out: W,
    failed: io::Result<()>,
}

impl<W: Write> fmt::Write for Through<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Err(error);
            fmt::Error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "<p>{{ name }}</p>", ext = "html")]
    struct Page {
        name: &'static str,
    }

    #[test]
    fn a_forgotten_text_does_not_deceive() {
        let mut out = Vec::new();
        write(&Page { name: "<b>\u{202e}x\u{1b}\n" }, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "<p>&#60;b&#62;\\u{202e}x\\u{1b}\n</p>");
        let mut full = [0; 4];
        let error = write(&Page { name: "long" }, &mut full.as_mut_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }
}
