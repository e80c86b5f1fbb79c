//! The problems of a configuration file, each with its place.
//!
//! Problems are collected, not reported one at a time. Nothing here keeps a secret: the text for rendering is
//! masked before a [`ConfigError`] exists.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::secret;

/// The most problems that one error carries; further ones are only counted. A file with more has one cause, not
/// hundreds, and a hostile one must not make the tool print for minutes.
pub const MAX_PROBLEMS: usize = 100;

/// One problem, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line in the file, from 1; `None` for a problem outside the text (no such file, an environment variable).
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// Dotted path of the key (`sources.codehost.repos[2]`); empty when it concerns the file as a whole.
    pub key: String,
    /// What is wrong, in lower case.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
    /// Bytes to underline; `None` if the line must not or cannot be shown.
    underline: Option<Range<usize>>,
}

impl Problem {
    /// A problem without a place in the text.
    pub fn without_place(key: impl Into<String>, complaint: Complaint) -> Problem {
        let Complaint { message, help, secret: _ } = complaint;
        Problem { line: None, column: None, key: key.into(), message, help, underline: None }
    }

    /// The bytes to underline in [`ConfigError::source_text`].
    pub fn underline(&self) -> Option<Range<usize>> {
        self.underline.clone()
    }
}

/// A problem with one value, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, in lower case.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
    /// The value may be a secret: neither it nor its line may be shown.
    pub secret: bool,
}

impl Complaint {
    /// A complaint without advice.
    pub fn new(message: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), help: None, secret: false }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Complaint {
        Complaint { help: Some(help.into()), ..self }
    }

    /// Marks the value as one that must not be shown.
    #[must_use]
    pub fn secret(self) -> Complaint {
        Complaint { secret: true, ..self }
    }
}

/// Every problem of one configuration file.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", summary(.path, .problems, .omitted))]
pub struct ConfigError {
    /// The path, as the user wrote it.
    pub path: PathBuf,
    /// The problems in the order of the file, at most [`MAX_PROBLEMS`]; never empty.
    pub problems: Vec<Problem>,
    /// How many further problems there are.
    pub omitted: usize,
    /// The text of the file with secrets masked, byte for byte as long as the original.
    masked_text: String,
}

impl ConfigError {
    /// An error with a single problem of the whole file.
    pub fn of_file(path: &Path, complaint: Complaint) -> ConfigError {
        ConfigError::of_key(path, "", complaint)
    }

    /// An error with a single problem of this key, which has no place in the text.
    pub fn of_key(path: &Path, key: &str, complaint: Complaint) -> ConfigError {
        ConfigError {
            path: path.to_path_buf(),
            problems: vec![Problem::without_place(key, complaint)],
            omitted: 0,
            masked_text: String::new(),
        }
    }

    /// The text of the file with everything that looks like a secret masked; empty if it was not read.
    pub fn source_text(&self) -> &str {
        &self.masked_text
    }

    /// How many problems the file has.
    pub fn count(&self) -> usize {
        self.problems.len().saturating_add(self.omitted)
    }
}

fn summary(path: &Path, problems: &[Problem], omitted: &usize) -> String {
    let path = path.display();
    match problems {
        [Problem { line: None, message, .. }] => format!("{path}: {message}"),
        [Problem { line: Some(line), message, .. }] => format!("{path}:{line}: {message}"),
        _ => {
            let count = problems.len().saturating_add(*omitted);
            format!("{path} is not a valid configuration: {count} problems")
        }
    }
}

/// The place of a problem.
#[derive(Debug, Clone)]
pub enum Place {
    /// Not in the text.
    Nowhere,
    /// This byte; the line is not shown.
    Point(usize),
    /// These bytes; the line is shown with the bytes underlined.
    Bytes(Range<usize>),
}

/// Collects the problems of one text.
#[derive(Debug)]
pub struct Problems<'text> {
    text: &'text str,
    line_starts: Vec<usize>,
    found: Vec<(usize, Problem)>,
    omitted: usize,
    hidden: Vec<Range<usize>>,
}

impl<'text> Problems<'text> {
    /// A collection without problems for this text.
    pub fn new(text: &'text str) -> Problems<'text> {
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
        Problems { text, line_starts, found: Vec::new(), omitted: 0, hidden: Vec::new() }
    }

    /// Adds a problem.
    pub fn add(&mut self, place: Place, key: impl Into<String>, complaint: Complaint) {
        let (start, underline) = match place {
            Place::Nowhere => (None, None),
            Place::Point(byte) => (Some(byte), None),
            Place::Bytes(bytes) => (Some(bytes.start), Some(bytes)),
        };
        if complaint.secret {
            self.hidden.extend(underline.clone());
        }
        if self.is_full() {
            self.omitted = self.omitted.saturating_add(1);
            return;
        }
        let position = start.map(|byte| self.line_and_column(byte));
        let problem = Problem {
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            key: key.into(),
            message: complaint.message,
            help: complaint.help,
            underline: underline.filter(|_| !complaint.secret),
        };
        // Problems without a place (an environment variable) come last: the user has the file open.
        self.found.push((start.unwrap_or(usize::MAX), problem));
    }

    /// Masks these bytes in all output, without reporting a problem.
    pub fn hide(&mut self, bytes: Range<usize>) {
        self.hidden.push(bytes);
    }

    /// Whether further problems are only counted, so that their messages are not needed.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    /// Whether there are no problems so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The line of this byte, from 1.
    pub fn line(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte).max(1)
    }

    /// The line and the column in characters of this byte, both from 1.
    fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        let line_start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(line_start..byte).map_or(0, |before| before.chars().count());
        (line, column + 1)
    }

    /// The error with all problems.
    pub fn into_error(mut self, path: &Path) -> ConfigError {
        self.found.sort_by_key(|(start, _)| *start);
        ConfigError {
            path: path.to_path_buf(),
            problems: self.found.into_iter().map(|(_, problem)| problem).collect(),
            omitted: self.omitted,
            masked_text: secret::mask(self.text, &self.hidden),
        }
    }
}
