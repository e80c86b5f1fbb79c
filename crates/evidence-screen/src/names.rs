//! Whether a value reads like a name, or like a word that people write instead of a secret.
//!
//! Random characters rarely do: of a million values of 20 letters and digits about 200 read like a name, of 24
//! characters about 100, of 32 none.

/// The longest piece of a name that need not be a word: `v2`, `e2e`.
const SHORT: usize = 3;

/// The longest number in a name: a date.
const LONGEST_NUMBER: usize = 8;

/// The longest number at the end of a word: a year.
const LONGEST_SUFFIX: usize = 4;

/// The least average length of the words of a name, in half letters.
const HALF_LETTERS_PER_WORD: usize = 7;

/// Whether the value consists of words and numbers: `migration-Notes-2026-january`, `IntegrationSuite2025`.
pub(super) fn is_name(value: &[u8]) -> bool {
    let mut sum = Readability::default();
    for piece in pieces(value).into_iter().filter(|piece| piece.len() > SHORT) {
        match read(piece) {
            Some(Readability { letters, readable, words }) => {
                sum.letters += letters;
                sum.readable += readable;
                sum.words += words;
            }
            None => return false,
        }
    }
    let Readability { letters, readable, words } = sum;
    readable > SHORT && 4 * readable >= 3 * letters && 2 * letters >= HALF_LETTERS_PER_WORD * words
}

/// Letters and digits between signs and years. In joined lines a year often marks the border between two names
/// that no sign separates.
fn pieces(value: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for piece in value.split(|byte| !byte.is_ascii_alphanumeric()) {
        let mut start = 0;
        for (at, year) in piece.windows(4).enumerate() {
            let is_digit = |at: usize| piece.get(at).is_some_and(u8::is_ascii_digit);
            let alone = !at.checked_sub(1).is_some_and(is_digit) && !is_digit(at + 4);
            if alone
                && matches!(year, [b'1', b'9', a, b] | [b'2', b'0', a, b] if a.is_ascii_digit() && b.is_ascii_digit())
            {
                pieces.extend(piece.get(start..at));
                start = at + year.len();
            }
        }
        pieces.extend(piece.get(start..));
    }
    pieces
}

/// The composition of a piece.
#[derive(Default)]
struct Readability {
    letters: usize,
    /// The letters of pronounceable words.
    readable: usize,
    words: usize,
}

/// `None` unless the piece is a number, or words with an optional number at the end.
fn read(piece: &[u8]) -> Option<Readability> {
    let digits = piece.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = piece.get(..piece.len() - digits)?;
    let longest = if letters.is_empty() { LONGEST_NUMBER } else { LONGEST_SUFFIX };
    if digits > longest || !letters.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let words = capitalized(letters);
    let readable = words.iter().filter(|word| word.len() >= SHORT);
    let readable =
        readable.map(|word| is_pronounceable(word).then_some(word.len())).sum::<Option<usize>>()?;
    Some(Readability { letters: letters.len(), readable, words: words.len() })
}

/// `OAuthServerName` is four words.
fn capitalized(letters: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut start = 0;
    for at in 1..letters.len() {
        let is_lower = |at: usize| letters.get(at).is_some_and(u8::is_ascii_lowercase);
        let begins = !is_lower(at) && (is_lower(at - 1) || is_lower(at + 1));
        if begins {
            words.extend(letters.get(start..at));
            start = at;
        }
    }
    words.extend(letters.get(start..).filter(|word| !word.is_empty()));
    words
}

/// Has a vowel, and never five consonants or four vowels in a row.
fn is_pronounceable(word: &[u8]) -> bool {
    let (mut vowels, mut consonants, mut any) = (0, 0, false);
    for byte in word {
        if matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y') {
            (vowels, consonants, any) = (vowels + 1, 0, true);
        } else {
            (vowels, consonants) = (0, consonants + 1);
        }
        if vowels == 4 || consonants == 5 {
            return false;
        }
    }
    any
}

/// Whether people write the value instead of a secret: `password`, `your-token-here`, `DB_PASSWORD`.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let is_variable = value.first().is_some_and(u8::is_ascii_uppercase)
        && value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() <= 2;
    is_variable || is_spelled(value)
}

/// The length of the longest stand-in.
const LONGEST_STAND_IN: usize = 64;

/// Whether the value consists of [`WORDS`] and signs between them.
fn is_spelled(value: &[u8]) -> bool {
    let letters: Vec<u8> =
        value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    if letters.is_empty() || letters.len() > LONGEST_STAND_IN || !value.is_ascii() {
        return letters.is_empty();
    }
    // Whether the first n letters form words: each end is reached from an earlier one. Those of a random value hardly
    // ever begin with one.
    let mut ends = vec![false; letters.len() + 1];
    ends.first_mut().into_iter().for_each(|end| *end = true);
    for start in 0..letters.len() {
        let rest = letters.get(start..).unwrap_or_default();
        if ends.get(start) == Some(&true) {
            for word in WORDS.iter().map(|word| word.as_bytes()) {
                if word.first() == rest.first() && rest.starts_with(word) {
                    ends.get_mut(start + word.len()).into_iter().for_each(|end| *end = true);
                }
            }
        }
    }
    ends.last() == Some(&true)
}

/// Words that people write instead of a secret, in lower case.
const WORDS: &[&str] = &[
    "123",
    "1234",
    "12345",
    "123456",
    "access",
    "account",
    "actual",
    "admin",
    "api",
    "app",
    "auth",
    "bar",
    "base64",
    "basic",
    "baz",
    "bearer",
    "bot",
    "censored",
    "change",
    "ci",
    "client",
    "cred",
    "credential",
    "credentials",
    "creds",
    "database",
    "db",
    "default",
    "demo",
    "deploy",
    "dummy",
    "email",
    "encoded",
    "enter",
    "env",
    "example",
    "fake",
    "fill",
    "foo",
    "for",
    "from",
    "generated",
    "github",
    "gitlab",
    "goes",
    "guest",
    "here",
    "hidden",
    "host",
    "in",
    "insert",
    "is",
    "it",
    "job",
    "key",
    "login",
    "long",
    "masked",
    "me",
    "mock",
    "my",
    "name",
    "new",
    "none",
    "not",
    "null",
    "oauth",
    "oauth2",
    "of",
    "old",
    "omitted",
    "open",
    "or",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "passwort",
    "pat",
    "personal",
    "placeholder",
    "postgres",
    "private",
    "proxy",
    "public",
    "pw",
    "pwd",
    "random",
    "read",
    "real",
    "redacted",
    "registry",
    "removed",
    "replace",
    "root",
    "sample",
    "secret",
    "secure",
    "server",
    "service",
    "sesame",
    "some",
    "string",
    "strong",
    "super",
    "tbd",
    "test",
    "testing",
    "text",
    "that",
    "the",
    "this",
    "to",
    "todo",
    "token",
    "url",
    "user",
    "username",
    "value",
    "var",
    "variable",
    "vault",
    "very",
    "with",
    "write",
    "xx",
    "xxx",
    "xyz",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "IntegrationSuite2025",
            "CheckoutRegressionSuite2025",
            "migration-Notes-2026-january",
            "rotation-runbook-2026-q3",
            "service-account-key-rotation-e2e-v2",
            "OAuthServerName",
            "on_call.handbook",
            "notes-2026integration",
            "CheckoutFlowWithThreeDSecure2026e2e",
            "20261122-minutes",
        ] {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for value in [
            "",
            "2026",
            "a-b-c",
            "7Kq2vM9xW4zPb81LsDfG",
            "0123456789abcdef",
            "zxkqv-wrtpl",
            "aB3xK9pQ2z",
            "T4k-9Qw-zz1x-pLm8",
            "aBasheYQLMUTCudlqPezyKRh",
            "CFoWQXnubBgaNNFkclyc",
            "mytrlRPAUslFhOiTaex8",
        ] {
            assert!(!is_name(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn stand_ins() {
        for value in [
            "password",
            "PASSWORD",
            "your-token-here",
            "yourPassword",
            "proxypass",
            "DB_PASSWORD",
            "CI_JOB_TOKEN",
            "postgres",
            "password123",
            "changeme",
            "---",
        ] {
            assert!(is_stand_in(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "correct-horse", "7Kq2vM9x", "DB_PASSWORD_2026", "Passw0rt!", "\u{fc}ber"] {
            assert!(!is_stand_in(value.as_bytes()), "{value}");
        }
        assert!(!is_stand_in("the".repeat(100).as_bytes()));
    }
}
