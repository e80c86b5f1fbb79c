//! Texts of hosts and libraries, made fit for a message.

use std::error::Error;

use evidence_screen as screen;

/// An untrusted text on one bounded line, with control characters escaped.
///
/// A longer one is cut at a word, since half a quoted token would slip past the screen; credentials of several words are
/// removed first.
pub fn single_line(text: &str) -> String {
    if evidence_text::is_short(text) {
        return evidence_text::single_line(text);
    }
    let text = screen::shared().redact(text);
    evidence_text::single_line(&text)
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
