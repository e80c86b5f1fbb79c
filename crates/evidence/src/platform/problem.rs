//! A platform's error messages.

use serde::Deserialize;

/// A platform's error message (RFC 9457), with every text safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProblemDetails {
    /// The HTTP status.
    pub status: u16,
    /// The kind of problem, if the platform defines it: the part after `urn:evidence-platform:problem:`.
    pub code: Option<String>,
    /// The message: the detail, or else the title.
    pub words: Option<String>,
    /// Why the platform rejects a bundle: a code of the bundle format.
    pub reason: Option<String>,
    /// The platform's id of the request.
    pub request_id: Option<String>,
}

/// The prefix of the platform's problem types.
const PROBLEM_TYPES: &str = "urn:evidence-platform:problem:";

/// The codes of problems caused by a body that was damaged in transit.
const DAMAGED: &[&str] = &["digest-mismatch", "body-incomplete"];

impl ProblemDetails {
    /// The problem in an answer with this status, with every text passed through `clean`. Only the status if the body
    /// is not a problem document.
    pub(super) fn read(status: u16, body: Option<&[u8]>, clean: &dyn Fn(&str) -> String) -> ProblemDetails {
        let document = body.and_then(|body| serde_json::from_slice::<ProblemDocument>(body).ok());
        document.unwrap_or_default().with_status(status, clean)
    }

    /// Whether the body was damaged in transit.
    pub(super) fn is_damage(&self) -> bool {
        self.code.as_deref().is_some_and(|code| DAMAGED.contains(&code))
    }

    /// The platform's message, with its code for why it rejects a bundle.
    pub(super) fn text(&self) -> Option<String> {
        joined(self.reason.as_deref(), self.words.as_deref())
    }
}

/// The members of a problem document that are used here.
#[derive(Default, Deserialize)]
struct ProblemDocument {
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    detail: Option<String>,
    reason: Option<String>,
    request_id: Option<String>,
}

impl ProblemDocument {
    fn with_status(self, status: u16, clean: &dyn Fn(&str) -> String) -> ProblemDetails {
        let line = |text: Option<String>| text.map(|text| clean(&text)).filter(|text| !text.is_empty());
        ProblemDetails {
            status,
            code: line(self.kind.and_then(|kind| kind.strip_prefix(PROBLEM_TYPES).map(str::to_string))),
            words: line(self.detail).or_else(|| line(self.title)),
            reason: line(self.reason),
            request_id: line(self.request_id),
        }
    }
}

/// A code and its message.
pub(super) fn joined(code: Option<&str>, words: Option<&str>) -> Option<String> {
    match (code, words) {
        (Some(code), Some(words)) => Some(format!("{code}: {words}")),
        (code, words) => words.or(code).map(str::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_problem() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(joined(Some("signature-invalid"), Some("no")), some("signature-invalid: no"));
        assert_eq!(joined(Some("signature-invalid"), None), some("signature-invalid"));
        assert_eq!(joined(None, Some("no")), some("no"));
        assert_eq!(joined(None, None), None);
    }
}
