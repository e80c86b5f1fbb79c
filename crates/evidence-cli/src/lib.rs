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

/// What a manual page says beyond the command line's declaration. Text between backticks is code.
#[derive(Debug, Default)]
pub struct Sections {
    /// Codes and their meanings.
    pub exits: Vec<(String, String)>,
    /// Variables and their purposes.
    pub environment: Vec<(String, String)>,
    /// Files and their purposes.
    pub files: Vec<(String, String)>,
    /// Purposes and command lines.
    pub examples: Vec<(String, String)>,
}

/// The manual pages of a program.
pub struct Pages<'a> {
    /// Where they are written.
    pub directory: &'a Path,
    /// The sections of a command by its words without the program's name, which for the program itself are none.
    pub sections: &'a dyn Fn(&str) -> Sections,
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
    pages: &Pages<'_>,
    source_date_epoch: Option<&str>,
    now: i64,
) -> Result<(), Error> {
    let directory = pages.directory;
    let seconds = source_date_epoch.map_or(Ok(now), str::parse).map_err(|_| Error::Date)?;
    let time = Timestamp::from_second(seconds).map_err(|_| Error::Date)?;
    let date = time.to_zoned(TimeZone::UTC).date().to_string();
    fs::create_dir_all(directory).map_err(|source| Error::Write { path: directory.to_owned(), source })?;
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let version = format!("{} {}", program.get_name(), program.get_version().unwrap_or_default());
    write_pages(&program, "", pages, (&date, &version))
}

fn write_pages(
    command: &Command,
    name: &str,
    pages: &Pages<'_>,
    (date, version): (&str, &str),
) -> Result<(), Error> {
    for below in command.get_subcommands() {
        let name = format!("{name} {}", below.get_name());
        write_pages(below, name.trim_start(), pages, (date, version))?;
    }
    let man = Man::new(command.clone()).date(date).source(version);
    let path = pages.directory.join(man.get_filename());
    let page = page(command, &man, &(pages.sections)(name));
    let written = page.and_then(|page| fs::write(&path, page));
    written.map_err(|source| Error::Write { path, source })
}

/// The page, with its sections in the order of man-pages(7).
fn page(command: &Command, man: &Man, sections: &Sections) -> io::Result<String> {
    let mut head = Vec::new();
    man.render_title(&mut head)?;
    man.render_name_section(&mut head)?;
    man.render_synopsis_section(&mut head)?;
    man.render_description_section(&mut head)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut head)?;
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut head)?;
    }
    let mut notes = Vec::new();
    if command.get_after_help().is_some() {
        man.render_extra_section(&mut notes)?;
    }
    // The generator adds its own heading after the options. man-pages(7) does not list that heading, and mandoc warns
    // of its blank lines.
    let text = |bytes: Vec<u8>| {
        String::from_utf8_lossy(&bytes).replace(".SH EXTRA\n", ".SH NOTES\n").replace(".br\n\n.br\n", ".sp\n")
    };
    let Sections { exits, environment, files, examples } = sections;
    let mut page = text(head);
    for (heading, entries) in [("EXIT STATUS", exits), ("ENVIRONMENT", environment), ("FILES", files)] {
        page.push_str(&terms(heading, entries));
    }
    page.push_str(&text(notes));
    if !examples.is_empty() {
        page.push_str(".SH EXAMPLES\n");
    }
    for (index, (purpose, line)) in examples.iter().enumerate() {
        let gap = if index == 0 { "" } else { ".PP\n" };
        // A long line is not filled: it can be copied.
        page.push_str(&format!("{gap}{}\n.PP\n.RS 4\n.EX\n{}\n.EE\n.RE\n", roff(purpose), roff(line)));
    }
    Ok(page)
}

/// A section with a term and its text per entry.
fn terms(heading: &str, entries: &[(String, String)]) -> String {
    let mut section = String::new();
    if !entries.is_empty() {
        section.push_str(&format!(".SH \"{heading}\"\n"));
    }
    for (term, text) in entries {
        section.push_str(&format!(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(text)));
    }
    section
}

/// A text for a manual page: text between backticks is bold, and nothing in it is an instruction.
fn roff(text: &str) -> String {
    let mut escaped = String::new();
    let mut is_code = false;
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            // A quote would be drawn as a curly one.
            '\'' => escaped.push_str("\\(aq"),
            '~' => escaped.push_str("\\(ti"),
            '`' => {
                is_code = !is_code;
                escaped.push_str(if is_code { "\\fB" } else { "\\fR" });
            }
            other => escaped.push(other),
        }
    }
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}
