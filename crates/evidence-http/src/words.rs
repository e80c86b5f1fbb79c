//! Texts of hosts and libraries, made fit for a message.

use std::error::Error;

use evidence_screen::{self as screen, Printable};

/// How much of a host's message to keep; longer texts are not messages.
const MESSAGE_LIMIT: usize = 500;

/// An untrusted text on one bounded line, with control characters escaped.
///
/// Cut at a word boundary: half a quoted token would slip past the screen. Credentials of several words are removed
/// first.
pub fn single_line(text: &str) -> String {
    if text.len() <= MESSAGE_LIMIT {
        return Printable(text).to_string();
    }
    let text = screen::shared().redact(text);
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MESSAGE_LIMIT);
    let Some(kept) = end.and_then(|end| text.get(..end)) else { return Printable(&text).to_string() };
    let words = kept.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words);
    format!("{}…", Printable(words))
}

/// The innermost cause of an error of the HTTP library, on one line.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.source().is_none() {
        "the request could not be sent".to_string()
    } else {
        single_line(&cause.to_string())
    }
}
