//! `evidence schema`, `evidence completions`, `evidence man`: texts for other programs.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use evidence_bundle::document::{self, Document};

use crate::cli::{Cli, SchemaOf};
use crate::config;
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
pub(super) fn completions(shell: clap_complete::Shell) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "evidence", &mut text);
    put(&text)
}

/// Prints the manual page: one page for all commands.
pub(super) fn man() -> Result<Exit, Error> {
    let mut text = Vec::new();
    render_man(&mut text).map_err(unwritable)?;
    put(&text)
}

fn render_man(out: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = clap_mangen::Man::new(command.clone());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        writeln!(out, ".SH \"EVIDENCE {}\"", subcommand.get_name().to_uppercase())?;
        writeln!(out, "{}", subcommand.get_about().map(ToString::to_string).unwrap_or_default())?;
        // The generator makes a page for each command; here its options are a part of the one page.
        let mut options = Vec::new();
        clap_mangen::Man::new(subcommand.clone()).render_options_section(&mut options)?;
        out.extend_from_slice(String::from_utf8_lossy(&options).replace(".SH OPTIONS\n", "").as_bytes());
        if let Some(more) = subcommand.get_after_help() {
            writeln!(out, ".PP\n{more}")?;
        }
    }
    writeln!(
        out,
        ".SH \"EXIT CODES\"\n{}",
        command.get_after_help().map(ToString::to_string).unwrap_or_default()
    )?;
    page.render_version_section(out)
}

fn put(text: &[u8]) -> Result<Exit, Error> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

pub(super) fn unwritable(source: io::Error) -> Error {
    Error::Write { path: "standard output".into(), source, help: None }
}
