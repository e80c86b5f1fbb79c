//! `evidence schema`, `evidence completions`, `evidence man`: texts for other programs.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use evidence_bundle::document::{self, Document};

use crate::cli::{Cli, SchemaOf};
use crate::config;
use crate::error::{Error, Exit};

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
pub(super) fn completions(shell: clap_complete::Shell) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "evidence", &mut text);
    put(&text)
}

/// Prints the manual page.
pub(super) fn man() -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(unwritable)?;
    put(&text)
}

fn put(text: &[u8]) -> Result<Exit, Error> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

fn unwritable(source: io::Error) -> Error {
    Error::Write { path: "standard output".into(), source, help: None }
}
