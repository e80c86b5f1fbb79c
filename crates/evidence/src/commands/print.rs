//! `evidence schema`, `evidence completions`, `evidence man`, and every answer as JSON: output for other programs.

use std::io::{self, Write};

use clap::CommandFactory as _;
use evidence_bundle::document::{self, Document};
use evidence_bundle::read::VerifiedBundle;
use evidence_bundle::text::split;
use evidence_cli::Pages;
use evidence_text::{Safe, safe};
use serde::Serialize;

use crate::cli::{Cli, ManArgs, SchemaOf};
use crate::config;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::manual;
use crate::report::style::{BOLD, GREEN, YELLOW};

/// Prints text to standard output, and says if that fails.
pub(super) fn printed(text: &Safe) -> io::Result<()> {
    let mut out = console::stdout();
    out.put(text)?;
    out.flush()
}

/// Prints a JSON Schema.
pub(super) fn schema(of: SchemaOf) -> Result<Exit, Error> {
    let schema = match of {
        SchemaOf::Config => config::schema(),
        SchemaOf::Manifest => document::schema(Document::Manifest),
        SchemaOf::Run => document::schema(Document::Run),
        SchemaOf::Normalized => document::schema(Document::Normalized),
        SchemaOf::Hints => document::schema(Document::Hints),
        SchemaOf::Waivers => document::schema(Document::Waivers),
    };
    let mut text = Vec::new();
    document::write_json(&mut text, &schema).map_err(unwritable)?;
    put(&text)
}

/// Prints completions.
pub(super) fn completions(shell: evidence_cli::Shell) -> Result<Exit, Error> {
    put(&evidence_cli::completions(Cli::command(), shell))
}

/// Writes the manual pages.
pub(super) fn man(args: &ManArgs, env: &Env) -> Result<Exit, Error> {
    let date = env.var(evidence_cli::SOURCE_DATE_EPOCH);
    // The codes have a section of their own.
    let program = Cli::command().after_help(None::<&str>);
    let pages = Pages { directory: &args.output, sections: &manual::sections };
    match evidence_cli::write_manual(program, &pages, date, env.clock.now().as_second()) {
        Ok(()) => Ok(Exit::Success),
        Err(evidence_cli::Error::Write { path, source }) => Err(Error::Write { path, source, help: None }),
        Err(error @ evidence_cli::Error::Date) => {
            let help = format!(
                "unset {}, or set it to a whole number such as 1795251913",
                evidence_cli::SOURCE_DATE_EPOCH
            );
            Err(Error::Usage { message: error.to_string(), help })
        }
    }
}

fn put(text: &[u8]) -> Result<Exit, Error> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

/// A note for machine-readable formats, where an empty list is easily overlooked.
pub(super) fn note_empty() {
    console::note(&"note: nothing matches the filters\n".into());
}

/// Whose bundle it is, and who signed it; the results are of this framework.
pub(super) fn head(bundle: &VerifiedBundle, framework: &str) -> Safe {
    let created = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
    let complete =
        if bundle.complete { Safe::default() } else { safe!(", {YELLOW}incomplete{YELLOW:#}"; YELLOW) };
    safe!(
        "{BOLD}{}{BOLD:#}  {}  {} (claimed by the signer)\n{GREEN}verified{GREEN:#}, trusted by {}{complete}\n",
        Safe::of(&bundle.organization),
        Safe::of(framework),
        Safe::of(&created),
        Safe::of(&bundle.trusted_by);
        BOLD, GREEN, complete
    )
}

pub(super) fn unwritable(source: io::Error) -> Error {
    Error::Write { path: "standard output".into(), source, help: None }
}

/// Writes JSON that is safe to print: JSON escapes replace deceptive characters, and the values do not change.
pub(super) fn json(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    document::write_json(Undeceptive(out), value)
}

struct Undeceptive<W>(W);

impl<W: Write> Write for Undeceptive<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The serializer never splits a character between writes.
        let mut rest = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        while let Some((plain, character, behind)) = split(rest, &['\n']) {
            self.0.write_all(plain.as_bytes())?;
            // JSON escapes a character beyond U+FFFF as two units of UTF-16.
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(self.0, "\\u{unit:04x}")?;
            }
            rest = behind;
        }
        self.0.write_all(rest.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use evidence_bundle::text::is_deceptive;

    use super::*;

    #[test]
    fn the_value_stays_the_same() {
        let value =
            "caf\u{e9} \u{1b}[2J \u{202e}x\u{7f}\u{9b}\u{2028}\u{e0041}\u{3164}\u{1ffff}\u{fffe} \u{1f600}\n";
        let mut out = Vec::new();
        json(&mut out, &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.trim_end().chars().any(is_deceptive), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }
}
