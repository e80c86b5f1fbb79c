//! The grammar of a CODEOWNERS file, and whether a default rule in it covers every file.
//!
//! Pure, and linear in the size of the file, whatever its content; `covers` compares patterns within a fixed limit. It
//! does not ask the host whether an owner exists or may write, and does not match paths: a valid file can still be without
//! effect.
//!
//! ```text
//! file    = *( line LF )          CR before LF and a byte order mark are tolerated
//! line    = [ws] [ pattern *( ws owner ) ] [ws] [ "#" comment ]
//! ws      = 1*( SP / TAB )
//! pattern = one or more characters; "\ " keeps a space
//! owner   = "@" user / "@" organization "/" team / e-mail address
//! ```
//!
//! The host skips a line that it cannot parse and honours the rest, and so does this parser. A malformed owner next to
//! valid ones is merely dropped. Pitfalls: a line without an owner is valid and removes ownership; the last matching
//! line wins, so a later `*` without owners cancels the default rule; `!`, `[a-z]` and `\#` have a meaning in gitignore
//! but none here; section headings belong to another product.

mod covers;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use self::covers::Comparison;

/// The size from which the host does not load a file, in bytes: the documentation says "under 3 MB", with 1,048,576
/// bytes per megabyte.
pub const MAXIMUM_SIZE: u64 = 3 * 1024 * 1024;

/// Patterns that match every file at any depth. `/*` (the root only), `*.*` (names with a dot) and `*/**`
/// (subdirectories only) look similar but do not.
const EVERYTHING: &[&str] = &["*", "**", "/**", "**/*", "/**/*"];

/// A CODEOWNERS file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeOwners {
    /// The lines with a pattern, in the order of the file.
    pub rules: Vec<Line>,
    /// The lines that the host skips.
    pub invalid: Vec<InvalidLine>,
}

/// What is known about the CODEOWNERS file of a repository.
#[derive(Debug, Clone)]
pub struct OwnersFacts {
    /// Its path.
    pub path: String,
    /// The organization of the repository.
    pub organization: String,
    /// The file.
    pub owners: CodeOwners,
    /// The owners that the host does not know, each with its line and in lower case.
    pub unknown: HashSet<(usize, String)>,
}

/// A line with a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Line number, from 1.
    pub line: usize,
    /// The pattern as written, escapes included.
    pub pattern: String,
    /// The owners in the order written. If empty, matching files have no owner.
    pub owners: Vec<Owner>,
    /// The number of words after the pattern that are not valid owners.
    pub malformed: usize,
}

/// An owner, whose review is requested. Only the form is checked, not whether the account exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// `@user`.
    User(String),
    /// `@organization/team`.
    Team {
        /// Name of the organization.
        organization: String,
        /// Short name of the team.
        team: String,
    },
    /// A user, by e-mail address.
    Email(String),
}

/// A line that the host skips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidLine {
    /// Line number, from 1.
    pub line: usize,
    /// The first problem in the line.
    pub why: InvalidReason,
}

/// Why the host skips a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidReason {
    /// Begins with `!`: the grammar has no negation.
    Negation,
    /// Begins with `[` or `^[`: the grammar has no sections.
    Section,
    /// `[` or `]` in the pattern: the grammar has no ranges.
    Range,
    /// `\#`: a pattern cannot contain `#`.
    EscapedHash,
    /// Three or more asterisks in a row.
    TripleAsterisk,
    /// The pattern `/`, which matches nothing.
    NeverMatches,
    /// A backslash at the end of the line.
    BrokenEscape,
    /// A control character, as in a binary file or one in UTF-16.
    ControlCharacter,
    /// None of the words after the pattern is a valid owner.
    Owner,
}

/// Whether a rule covers every file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultRule {
    /// A rule covers every file.
    Covers {
        /// The line of the rule.
        line: usize,
        /// The number of its owners, at least one.
        owners: usize,
    },
    /// A later line without an owner also matches everything.
    CancelledBy {
        /// The line that would have been the default rule.
        line: usize,
        /// The later line.
        by: usize,
    },
    /// No rule with an owner covers every file.
    Missing,
}

/// Whether the host refuses to load a file of this many bytes.
pub fn is_too_large(size: u64) -> bool {
    size >= MAXIMUM_SIZE
}

impl CodeOwners {
    /// Parses the content of a file. Invalid UTF-8 becomes the replacement character.
    pub fn parse(content: &[u8]) -> CodeOwners {
        let text = String::from_utf8_lossy(content);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut file = CodeOwners::default();
        for (line, text) in (1..).zip(text.split('\n')) {
            match parse_line(text.strip_suffix('\r').unwrap_or(text)) {
                Ok(None) => {}
                Ok(Some((pattern, owners, malformed))) => {
                    file.rules.push(Line { line, pattern, owners, malformed });
                }
                Err(why) => file.invalid.push(InvalidLine { line, why }),
            }
        }
        file
    }

    /// Removes the owners that do not count from the file, and returns each with its line.
    pub fn partition(&mut self, counts: impl Fn(usize, &Owner) -> bool) -> Vec<(usize, Owner)> {
        let mut aside = Vec::new();
        for Line { line, owners, .. } in &mut self.rules {
            aside.extend(owners.extract_if(.., |owner| !counts(*line, owner)).map(|owner| (*line, owner)));
        }
        aside
    }

    /// The lines after `line` that leave matching files without an owner, except those whose paths a later line
    /// certainly gives an owner again.
    pub fn unowned_after(&self, line: usize) -> Vec<&Line> {
        let (mut patterns, mut owned, mut unowned) = (HashSet::new(), Vec::new(), Vec::new());
        let mut comparison = Comparison::new();
        for rule in self.rules.iter().rev().take_while(|rule| rule.line > line) {
            let pattern = rule.pattern.as_str();
            if !rule.owners.is_empty() {
                if patterns.insert(pattern) {
                    owned.push(pattern);
                }
            } else if !patterns.contains(pattern) && !comparison.any_covers(&owned, pattern) {
                unowned.push(rule);
            }
        }
        unowned.reverse();
        unowned
    }

    /// The number of distinct owners. Names are compared ignoring case, as the host does.
    pub fn owner_count(&self) -> usize {
        let owners = self.rules.iter().flat_map(|rule| &rule.owners);
        owners.map(|owner| owner.to_string().to_lowercase()).collect::<BTreeSet<String>>().len()
    }

    /// Whether a rule covers every file. It need not be the first line; of several such lines, the last one counts.
    pub fn default_rule(&self) -> DefaultRule {
        let mut broad = self.rules.iter().rev().filter(|rule| EVERYTHING.contains(&rule.pattern.as_str()));
        let Some(last) = broad.next() else { return DefaultRule::Missing };
        if !last.owners.is_empty() {
            return DefaultRule::Covers { line: last.line, owners: last.owners.len() };
        }
        match broad.find(|rule| !rule.owners.is_empty()) {
            Some(rule) => DefaultRule::CancelledBy { line: rule.line, by: last.line },
            None => DefaultRule::Missing,
        }
    }
}

/// A pattern, its owners, and the number of malformed owners; `None` for a blank line or a comment.
fn parse_line(text: &str) -> Result<Option<(String, Vec<Owner>, usize)>, InvalidReason> {
    let text = text.trim_start_matches(BLANKS);
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    if text.starts_with('!') {
        return Err(InvalidReason::Negation);
    }
    if text.starts_with('[') || text.starts_with("^[") {
        return Err(InvalidReason::Section);
    }
    let (pattern, rest) = split_pattern(text)?;
    if pattern == "/" {
        return Err(InvalidReason::NeverMatches);
    }
    let owners = rest.split_once('#').map_or(rest, |(owners, _)| owners);
    let words: Vec<&str> = owners.split(BLANKS).filter(|word| !word.is_empty()).collect();
    let owners: Vec<Owner> = words.iter().copied().filter_map(parse_owner).collect();
    let malformed = words.len().saturating_sub(owners.len());
    if owners.is_empty() && malformed > 0 {
        return Err(InvalidReason::Owner);
    }
    Ok(Some((pattern.to_string(), owners, malformed)))
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Splits after the pattern: at the first unescaped blank, or at a comment.
///
/// Characters that the grammar does not mention count as part of the pattern: keeping a doubtful line is better than
/// losing it.
fn split_pattern(text: &str) -> Result<(&str, &str), InvalidReason> {
    let mut characters = text.char_indices();
    let mut asterisks = 0;
    while let Some((position, character)) = characters.next() {
        asterisks = if character == '*' { asterisks + 1 } else { 0 };
        match character {
            ' ' | '\t' | '#' => return Ok(text.split_at(position)),
            '\\' => match characters.next() {
                None => return Err(InvalidReason::BrokenEscape),
                Some((_, '#')) => return Err(InvalidReason::EscapedHash),
                Some((_, escaped)) if escaped.is_control() && escaped != '\t' => {
                    return Err(InvalidReason::ControlCharacter);
                }
                Some(_) => {}
            },
            '[' | ']' => return Err(InvalidReason::Range),
            '*' if asterisks > 2 => return Err(InvalidReason::TripleAsterisk),
            other if other.is_control() => return Err(InvalidReason::ControlCharacter),
            _ => {}
        }
    }
    Ok((text, ""))
}

fn parse_owner(word: &str) -> Option<Owner> {
    let Some(name) = word.strip_prefix('@') else {
        let (local, domain) = word.split_once('@')?;
        let (labels, top) = domain.rsplit_once('.')?;
        let sound = made_of(local, "._%+-")
            && made_of(labels, ".-")
            && top.len() >= 2
            && top.bytes().all(|byte| byte.is_ascii_alphabetic());
        return sound.then(|| Owner::Email(word.to_string()));
    };
    match name.split_once('/') {
        None => made_of(name, "-_").then(|| Owner::User(name.to_string())),
        Some((organization, team)) => (made_of(organization, "-") && made_of(team, "-_"))
            .then(|| Owner::Team { organization: organization.to_string(), team: team.to_string() }),
    }
}

/// Whether the word is not empty and contains only ASCII letters, digits and these characters.
fn made_of(word: &str, signs: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|character| character.is_ascii_alphanumeric() || signs.contains(character))
}

/// As written in the file.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::User(name) => write!(f, "@{name}"),
            Owner::Team { organization, team } => write!(f, "@{organization}/{team}"),
            Owner::Email(address) => f.write_str(address),
        }
    }
}

/// A text that fits after "line 3: ".
impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidReason::Negation => "negation with ! is not supported",
            InvalidReason::Section => "sections in [ ] are not supported",
            InvalidReason::Range => "ranges in [ ] are not supported",
            InvalidReason::EscapedHash => "# cannot be escaped",
            InvalidReason::TripleAsterisk => "more than two asterisks in a row",
            InvalidReason::NeverMatches => "the pattern / matches nothing",
            InvalidReason::BrokenEscape => "a backslash ends the line",
            InvalidReason::ControlCharacter => "a control character in the pattern",
            InvalidReason::Owner => "no owner has the form @user, @organization/team or an e-mail address",
        })
    }
}

#[cfg(test)]
mod tests;
