//! Keeps secrets that were pasted into the configuration out of every message.
//!
//! The file may only *name* environment variables. People paste tokens nevertheless, and an error that shows the
//! line would then carry them into a terminal or a build log. This module recognizes what must not be shown; it
//! never decides whether a configuration is valid.

use std::ops::Range;

use evidence_screen::{find_pasted, is_deceptive};

/// Printed instead of a value that may be a secret.
pub const HIDDEN: &str = "(hidden)";

/// The beginning of every PEM block.
const PEM_BEGIN: &str = "-----BEGIN";

/// The beginning of the last line of every PEM block.
const PEM_END: &str = "-----END";

/// Parts of a key's name that suggest a secret value.
const SECRET_WORDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "private",
    "apikey",
    "api_key",
    "pem",
];

/// Whether the text holds something in the form of a secret.
pub fn contains_secret(text: &str) -> bool {
    !find(text).is_empty()
}

/// Whether a value that should be a variable's name may be the secret itself.
///
/// Wider than [`contains_secret`]: the parts of a name are words, and long parts with digits among their letters are
/// not.
pub fn may_be_secret(text: &str) -> bool {
    contains_secret(text)
        || text.split(|character: char| !character.is_ascii_alphanumeric()).any(|part| {
            let has = |class: fn(&char) -> bool| part.chars().any(|character| class(&character));
            let digit = has(char::is_ascii_digit);
            (part.len() >= 20 && digit && has(char::is_ascii_lowercase)) || (part.len() >= 32 && digit)
        })
}

/// Whether the name of a key suggests a secret (`token`, `api_key`, but not `token_env`).
pub fn names_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    !key.ends_with("_env") && !key.ends_with("_path") && SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// The text for a message: quoted, short, without control characters, hidden if it has the form of a secret.
pub fn quote(value: &str) -> String {
    format!("`{}`", plain(value))
}

/// Like [`quote`], without the quotes.
pub fn plain(value: &str) -> String {
    /// Characters shown of a long value.
    const SHOWN: usize = 60;
    if contains_secret(value) {
        return HIDDEN.to_owned();
    }
    let mut shown: String = value.chars().take(SHOWN).flat_map(escape).collect();
    if value.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// The character, escaped if it would move the cursor or change the reading direction.
fn escape(character: char) -> Vec<char> {
    if is_deceptive(character) { character.escape_default().collect() } else { vec![character] }
}

/// The text with every secret, and the given bytes, replaced by `*` of the same length in bytes.
pub fn mask(text: &str, hidden: &[Range<usize>]) -> String {
    let mut ranges = find(text);
    ranges.extend_from_slice(hidden);
    ranges.sort_by_key(|range| range.start);
    let mut ranges = ranges.into_iter().peekable();
    let mut masked = String::with_capacity(text.len());
    let mut hidden_until = 0;
    for (at, character) in text.char_indices() {
        while let Some(range) = ranges.next_if(|range| range.start <= at) {
            hidden_until = hidden_until.max(range.end);
        }
        if at < hidden_until && !matches!(character, '\n' | '\r') {
            masked.extend(std::iter::repeat_n('*', character.len_utf8()));
        } else {
            masked.push(character);
        }
    }
    masked
}

/// The bytes of everything in the text in the form of a secret.
fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = find_pasted(text);
    let mut from = 0;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find(PEM_BEGIN)) {
        let start = from + begin;
        // An incomplete block hides the rest of the file: too much is better than half a key.
        let end = text
            .get(start..)
            .and_then(|rest| rest.find(PEM_END))
            .map_or(text.len(), |end| line_end(text, start + end));
        found.push(start..end);
        from = end;
    }
    found
}

/// The end of the line this byte is on.
fn line_end(text: &str, byte: usize) -> usize {
    text.get(byte..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| byte + newline)
}
