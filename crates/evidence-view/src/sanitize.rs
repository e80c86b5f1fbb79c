//! Makes texts of a bundle safe to show: bounded in length, with deceptive characters escaped.

use evidence_bundle::document::{
    ArtifactRecord, AskedRecord, Check, ErrorRecord, Excluded, Hint, Member, SourceRun, Warning,
};
use evidence_bundle::text::{Printable, Safe};

/// The most files to name as the evidence of a check or hint, and the most controls of an artifact.
pub(crate) const NAMES: usize = 20;

/// Text from a bundle to be shown.
pub trait Sanitize {
    /// Shortens long texts and escapes deceptive characters.
    fn sanitize(&mut self);
}

impl Sanitize for String {
    fn sanitize(&mut self) {
        if !is_plain(self) {
            *self = Safe::cut(self).to_string();
        }
    }
}

impl<T: Sanitize> Sanitize for Option<T> {
    fn sanitize(&mut self) {
        self.iter_mut().for_each(T::sanitize);
    }
}

/// Whether the text is short, printable ASCII, like nearly every text of a bundle, so that sanitizing changes nothing.
pub(crate) fn is_plain(text: &str) -> bool {
    text.len() <= Safe::CUT && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A sanitized copy.
pub fn sanitized(text: &str) -> String {
    let mut text = text.to_owned();
    text.sanitize();
    text
}

/// A multi-line document at full length, with deceptive characters escaped.
pub fn sanitized_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| line.split('\t').map(|part| Printable(part).to_string()).collect::<Vec<_>>().join("\t"))
        .collect();
    lines.join("\n")
}

/// Sanitizes each of these fields.
macro_rules! sanitize {
    ($($field:expr),* $(,)?) => { $( Sanitize::sanitize(&mut $field); )* };
}

impl Sanitize for Check {
    fn sanitize(&mut self) {
        sanitize!(self.rule, self.source, self.subject, self.reason, self.expected, self.actual);
        self.evidence.truncate(NAMES);
    }
}

impl Sanitize for Hint {
    fn sanitize(&mut self) {
        sanitize!(
            self.id,
            self.control,
            self.source,
            self.subject,
            self.title,
            self.detail,
            self.remediation
        );
        self.evidence.truncate(NAMES);
    }
}

impl Sanitize for ErrorRecord {
    fn sanitize(&mut self) {
        sanitize!(self.code, self.message, self.source, self.subject);
    }
}

impl Sanitize for Excluded {
    fn sanitize(&mut self) {
        sanitize!(self.filename, self.rule);
    }
}

impl Sanitize for Warning {
    fn sanitize(&mut self) {
        sanitize!(self.code, self.message, self.subject);
    }
}

impl Sanitize for Member {
    fn sanitize(&mut self) {
        sanitize!(
            self.source,
            self.kind,
            self.name,
            self.id,
            self.default_branch,
            self.visibility,
            self.reason
        );
    }
}

impl Sanitize for SourceRun {
    fn sanitize(&mut self) {
        sanitize!(self.name);
    }
}

impl Sanitize for AskedRecord {
    fn sanitize(&mut self) {
        sanitize!(self.method, self.path, self.message, self.etag, self.request_id, self.at, self.permission);
    }
}

impl Sanitize for ArtifactRecord {
    fn sanitize(&mut self) {
        sanitize!(self.source, self.artifact_type, self.collected_at, self.subject);
        self.controls.truncate(NAMES);
        self.controls.iter_mut().for_each(String::sanitize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_bounded_and_does_not_deceive() {
        assert_eq!(sanitized("caf\u{e9}\n\u{202e}x"), "caf\u{e9}\\u{a}\\u{202e}x");
        let long = "\u{e9}".repeat(Safe::CUT);
        assert_eq!(sanitized(&long), long);
        assert_eq!(sanitized(&format!("{long}x")), format!("{long} … (cut)"));
        assert_eq!(
            sanitized_lines("{\n\t\"a\": \"\u{202e}\"\r\n}\n"),
            "{\n\t\"a\": \"\\u{202e}\"\\u{d}\n}\n"
        );
    }
}
