//! Finds pasted credentials in a text that must not hold any, including what only begins like one.
//!
//! [`Screen::check`](crate::Screen::check) ignores a token that is too short, made up or of a future form, but it must
//! not be shown either. In a text of a few words a false positive does no harm.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::names;
use super::patterns::{Confidence, Context, PATTERNS};

/// The beginnings of whole families of tokens whose key words come later in the token.
const FAMILIES: &[&str] = &["sk-", "eyJ", "xox"];

/// The shortest key word of the list that is conclusive at the beginning of a word.
const SHORTEST: usize = 4;

/// From this many letters and digits in a row, a value is random unless it is a name.
const DENSE: usize = 16;

/// From this many letters and digits in a row, a value is not a name.
const LONG: usize = 32;

/// How many bytes after its beginning a token must have its random part.
const REACH: usize = 256;

/// `None` only if the list is too large, which a test excludes.
static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let begins = |context| matches!(context, Context::Anywhere | Context::WordStart);
    let rules = PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High && begins(rule.context));
    let keywords = rules.flat_map(|rule| rule.keywords).filter(|keyword| keyword.len() >= SHORTEST);
    AhoCorasick::new(FAMILIES.iter().chain(keywords)).ok()
});

/// The places where something begins and continues like a token, up to the end of its word.
pub fn find_pasted(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for beginning in BEGINNINGS.iter().flat_map(|table| table.find_overlapping_iter(text)) {
        let (before, tail) = (text.get(..beginning.start()), text.get(beginning.end()..));
        let inside = before.and_then(|before| before.chars().next_back());
        let known = found.last().is_some_and(|last| beginning.start() < last.end);
        let Some(tail) = tail.filter(|_| !known && !inside.is_some_and(|last| last.is_ascii_alphanumeric()))
        else {
            continue;
        };
        let of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let near: Vec<u8> = tail.bytes().take(REACH).take_while(of_token).collect();
        if is_random(&near) {
            let word = tail.bytes().take_while(of_token).count();
            found.push(beginning.start()..beginning.end() + word);
        }
    }
    found
}

fn is_random(tail: &[u8]) -> bool {
    let runs = tail.split(|byte| !byte.is_ascii_alphanumeric());
    runs.filter(|run| run.len() >= DENSE).any(|run| run.len() >= LONG || !names::is_name(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that begin like a token, but are not tokens.
    #[test]
    fn a_hostile_text_takes_linear_time() {
        let begun = std::time::Instant::now();
        assert!(find_pasted(&"sk-".repeat(300_000)).is_empty());
        assert!(begun.elapsed() < std::time::Duration::from_secs(30));
    }

    #[test]
    fn what_begins_like_a_token_is_found_and_names_are_not() {
        assert!(BEGINNINGS.is_some());
        for token in [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
            "sk-0123456789abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-1234567890123-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX",
            "sk_live_0123456789abcdef",
            "ghp_CliTestsOwnerTokenIsNotARealSecret01",
            "glpat-0123456789abcdefghij",
        ] {
            for (before, after) in [("", ""), ("a ", ", b"), ("https://", "@host"), ("a-", "/b")] {
                let text = format!("{before}{token}{after}");
                let place = before.len()..before.len() + token.len();
                assert_eq!(find_pasted(&text), vec![place], "{text}");
            }
        }
        for text in [
            "sk-translations-update",
            "sk-internationalization",
            "feature/ghp_docs",
            "AKIA",
            "release-20260101-eyJx",
            "token-rotation-for-the-platform-team",
            "xghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "3f2a9c0b1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60",
        ] {
            assert!(find_pasted(text).is_empty(), "{text}");
        }
    }
}
