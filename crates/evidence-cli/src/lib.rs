//! Manual pages and completions for packages, generated from the same declarations as `--help`.
//!
//! Never reads a clock or a variable: the same command line and date give the same bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
pub use clap_complete::Shell;
use clap_mangen::Man;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The variable with the date of a reproducible build, in seconds since 1970.
pub const SOURCE_DATE_EPOCH: &str = "SOURCE_DATE_EPOCH";

/// Why the manual pages could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The date is not valid.
    #[error("the environment variable {SOURCE_DATE_EPOCH} is not a number of seconds since 1970")]
    Date,
    /// A page or its directory cannot be written.
    #[error("cannot write {}", .path.display())]
    Write {
        /// The page or the directory.
        path: PathBuf,
        /// What the operating system answered.
        source: io::Error,
    },
}

/// The completions of this program.
pub fn completions(mut program: Command, shell: Shell) -> Vec<u8> {
    let name = program.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut text);
    text
}

/// Writes a manual page for the program and one for each of its commands, such as `evidence.1` and
/// `evidence-collect.1`. Their date is that of `SOURCE_DATE_EPOCH`, or of `now` if it is not set; both are seconds
/// since 1970.
///
/// # Errors
///
/// Fails if the date is not valid, or a page cannot be written.
pub fn write_manual(
    program: Command,
    directory: &Path,
    source_date_epoch: Option<&str>,
    now: i64,
) -> Result<(), Error> {
    let seconds = source_date_epoch.map_or(Ok(now), str::parse).map_err(|_| Error::Date)?;
    let time = Timestamp::from_second(seconds).map_err(|_| Error::Date)?;
    let date = time.to_zoned(TimeZone::UTC).date().to_string();
    fs::create_dir_all(directory).map_err(|source| Error::Write { path: directory.to_owned(), source })?;
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let version = format!("{} {}", program.get_name(), program.get_version().unwrap_or_default());
    write_pages(&program, directory, &date, &version)
}

fn write_pages(command: &Command, directory: &Path, date: &str, version: &str) -> Result<(), Error> {
    for below in command.get_subcommands() {
        write_pages(below, directory, date, version)?;
    }
    let man = Man::new(command.clone()).date(date).source(version);
    let path = directory.join(man.get_filename());
    let failed = |source| Error::Write { path: path.clone(), source };
    let mut page = Vec::new();
    man.render(&mut page).map_err(failed)?;
    // The generator adds its own heading after the options. man-pages(7) does not list that heading, and mandoc warns
    // of its blank lines.
    let page = String::from_utf8_lossy(&page);
    let page = page.replace(".SH EXTRA\n", ".SH NOTES\n").replace(".br\n\n.br\n", ".sp\n");
    fs::write(&path, page).map_err(failed)
}
