//! `evidence schema`, `evidence completions`, `evidence man`: output for other programs.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use evidence_bundle::document::{self, Document};

use crate::cli::{Cli, ManArgs, SchemaOf};
use crate::config;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// Prints a JSON Schema.
pub(super) fn schema(of: SchemaOf) -> Result<Exit, Error> {
    let schema = match of {
        SchemaOf::Config => config::schema(),
        SchemaOf::Manifest => document::schema(Document::Manifest),
        SchemaOf::Run => document::schema(Document::Run),
        SchemaOf::Normalized => document::schema(Document::Normalized),
        SchemaOf::Hints => document::schema(Document::Hints),
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
    match evidence_cli::write_manual(Cli::command(), &args.output, date, env.clock.now().as_second()) {
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
    let _ = anstream::stderr().write_all(b"note: nothing matches the filters\n");
}

pub(super) fn unwritable(source: io::Error) -> Error {
    Error::Write { path: "standard output".into(), source, help: None }
}
