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

/// The text of a fault: never a page, but the host's own message, or what its dialect makes of a page.
pub(super) fn fault_text(status: u16, message: Option<&str>) -> String {
    match message {
        Some(message) => format!("HTTP {status} {message}"),
        None => format!("HTTP {status}"),
    }
}

/// The text of an answer of the wrong kind, without any of it.
pub(super) fn page_text(status: u16, message: Option<&str>) -> String {
    fault_text(status, Some(message.unwrap_or("with a page that is not JSON")))
}
