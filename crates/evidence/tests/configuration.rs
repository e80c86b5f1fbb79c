//! The configuration: accepted files, rejected files and their messages.
//!
//! One fixture for each rule; hostile files; the schema, the template and the documentation against the decoder.

// The helpers are test code, which clippy only recognises in functions marked `#[test]`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

#[path = "config/documents.rs"]
mod documents;
#[path = "config/found.rs"]
mod found;
#[path = "support/generated.rs"]
mod generated;
#[path = "config/hostile.rs"]
mod hostile;
#[path = "config/rules.rs"]
mod rules;
#[path = "config/schema.rs"]
mod schema;
#[path = "support/validator.rs"]
mod validator;
#[path = "config/values.rs"]
mod values;

use std::path::{Path, PathBuf};

use evidence::config::{Config, ConfigError};
use evidence::env::{Clock, Env};

/// The smallest valid file.
const MINIMAL: &str = include_str!("config/valid/minimal.yaml");

/// An environment with a home directory and nothing else.
fn env() -> Env {
    Env::new([("HOME", "/home/auditor")], Clock::System)
}

fn load(text: impl AsRef<[u8]>) -> Result<Config, ConfigError> {
    Config::from_bytes(Path::new("evidence.yaml"), text.as_ref(), &env())
}

fn accept(text: impl AsRef<[u8]>) -> Config {
    load(text).unwrap_or_else(|error| panic!("refused:\n{}", error.render(false)))
}

fn refuse(text: impl AsRef<[u8]>) -> ConfigError {
    load(text).expect_err("accepted, although it must be refused")
}

/// The minimal file with a line added to `sources.codehost`.
fn with_host_line(line: &str) -> String {
    MINIMAL.replace("    repos: \"*\"\n", &format!("    repos: \"*\"\n    {line}\n"))
}

/// The fixtures of a directory: name and bytes, sorted by name.
fn fixtures(directory: &str) -> Vec<(String, Vec<u8>)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(directory);
    let mut fixtures: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect();
    fixtures.sort();
    assert!(!fixtures.is_empty());
    fixtures
}
