//! Explains syntax errors of the YAML parser.
//!
//! The parser speaks of block mappings and simple keys; the user has a colon in a value or a tab. This module
//! translates; it never decides.

use std::ops::Range;

use serde_saphyr::granit_parser::{ErrorKind, ScanError};

use super::super::problem::Complaint;
use super::super::secret::quote;
use super::tree::MAX_NESTING;

/// The byte of a bare `*`, if the parser stopped at one.
pub(super) fn bare_star(text: &str, error: &ScanError) -> Option<usize> {
    if *error.kind() != ErrorKind::MissingAnchorOrAliasName {
        return None;
    }
    let at = error.marker().byte_offset()?;
    let candidates = [Some(at), at.checked_sub(1)];
    candidates.into_iter().flatten().find(|candidate| text.as_bytes().get(*candidate) == Some(&b'*'))
}

/// The complaint and its place. `bracket` is the innermost open bracket where the parser stopped.
pub(super) fn explain(text: &str, error: &ScanError, bracket: Option<usize>) -> (Range<usize>, Complaint) {
    let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
    // A list that was never closed shows up lines later; point to its bracket.
    if let Some(bracket) = bracket
        && matches!(
            error.kind(),
            ErrorKind::InvalidColonPlacement
                | ErrorKind::MappingValueNotAllowed
                | ErrorKind::SimpleKeyExpected
                | ErrorKind::InvalidSimpleKey
                | ErrorKind::ExpectedFlowSequenceSeparator
                | ErrorKind::ExpectedFlowMappingSeparator
                | ErrorKind::UnexpectedEofFlowSequence
                | ErrorKind::UnexpectedEofFlowMapping
                | ErrorKind::UnexpectedEofImplicitFlowMapping
                | ErrorKind::UnexpectedEof
                | ErrorKind::UnclosedFlowCollection { .. }
        )
        && let Some(open) = text.get(bracket..).and_then(|rest| rest.chars().next())
        && matches!(open, '[' | '{')
    {
        return (bracket..bracket + 1, unclosed(open));
    }
    let (at, complaint) = complaint(text, at, error);
    let width = text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    (at..at + width, complaint)
}

/// The complaint and the byte to point to, which may be before or after the one where the parser stopped.
fn complaint(text: &str, at: usize, error: &ScanError) -> (usize, Complaint) {
    let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    if let Some(tab) = indenting_tab(text, line_start) {
        let complaint = Complaint::new("a tab, where YAML allows only spaces").help("indent with spaces");
        return (tab, complaint);
    }
    match error.kind() {
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => {
            // Nothing closed the opening quote, so it is the last one before this place.
            let quotes = ['"', '\''];
            let opens_here = text.get(at..).is_some_and(|rest| rest.starts_with(quotes));
            let before = text.get(..at).and_then(|before| before.rfind(quotes));
            let quote = if opens_here { at } else { before.unwrap_or(at) };
            let complaint =
                Complaint::new("the quote that opens here is never closed").help("close it on the same line");
            (quote, complaint)
        }
        kind => {
            let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            (at, by_kind(kind, line))
        }
    }
}

/// The first tab in the indentation of this line or the next one that is not blank.
fn indenting_tab(text: &str, line_start: usize) -> Option<usize> {
    let mut start = line_start;
    for (index, line) in text.get(line_start..)?.split_inclusive('\n').enumerate() {
        let indentation = line.len() - line.trim_start().len();
        if let Some(tab) = line.get(..indentation)?.find('\t') {
            return Some(start + tab);
        }
        if index > 0 && !line.trim().is_empty() {
            return None;
        }
        start += line.len();
    }
    None
}

fn by_kind(kind: &ErrorKind, line: &str) -> Complaint {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            Complaint::new("a tab, where YAML allows only spaces").help("replace it with spaces")
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            misplaced_colon(line)
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidIndentation
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed => Complaint::new("inconsistent indentation")
            .help("keys of the same mapping, and items of the same list, start in the same column"),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            Complaint::new("something follows the closing quote")
                .help("put the whole value in quotes; inside single quotes write `''` for one `'`")
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => Complaint::new("an unknown escape in double quotes")
            .help("use single quotes, which leave backslashes alone"),
        ErrorKind::UnclosedFlowCollection { open } => unclosed(*open),
        ErrorKind::UnexpectedEofFlowSequence | ErrorKind::ExpectedFlowSequenceSeparator => unclosed('['),
        ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::ExpectedFlowMappingSeparator => unclosed('{'),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            Complaint::new(format!("`{open}` is closed by `{close}`")).help("use the matching bracket")
        }
        ErrorKind::MisplacedFlowCollectionEnd => Complaint::new("a closing bracket without an opening one")
            .help("remove it, or put the value in quotes"),
        ErrorKind::UnexpectedCharacter { character } => {
            Complaint::new(format!("a value cannot begin with {}", quote(&character.to_string())))
                .help("put the value in quotes")
        }
        ErrorKind::MissingAnchorOrAliasName => {
            Complaint::new("`*` and `&` start an alias or an anchor and need a name")
                .help("put it in quotes if it is text")
        }
        ErrorKind::RecursionLimitExceeded => {
            Complaint::new(format!("lists and mappings nest deeper than {MAX_NESTING} levels"))
                .help("the configuration needs four")
        }
        ErrorKind::CommentNotSeparated => Complaint::new("a comment needs a space before its `#`")
            .help("add the space, or put the value in quotes"),
        kind => Complaint::new(format!("this is not YAML: {kind}")),
    }
}

fn misplaced_colon(line: &str) -> Complaint {
    let colons = line.matches(": ").count() + usize::from(line.trim_end().ends_with(':'));
    if colons > 1 {
        return Complaint::new("a second `: ` on this line").help("put a value that contains `: ` in quotes");
    }
    Complaint::new("a line that is neither a `key: value` nor a list item")
        .help("a key is followed by a colon and a space; keys of the same mapping start in the same column")
}

fn unclosed(open: char) -> Complaint {
    let (what, close) = if open == '[' { ("list", ']') } else { ("mapping", '}') };
    Complaint::new(format!("the {what} that `{open}` opens is not closed, or a comma is missing"))
        .help(format!("separate the entries with commas and close with `{close}`"))
}
