//! What a platform says of an error.

use serde::Deserialize;

/// What the platform says of an error (RFC 9457), each text fit to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProblemDetails {
    /// The HTTP status.
    pub status: u16,
    /// The kind of problem, if it is one of the platform's own: what follows `urn:evidence-platform:problem:`.
    pub code: Option<String>,
    /// What happened, in words: the detail, or else the title.
    pub words: Option<String>,
    /// Why a bundle is refused: a code of the bundle format.
    pub reason: Option<String>,
    /// By which the platform knows the request.
    pub request_id: Option<String>,
}

/// How the types of the platform's problems begin.
const PROBLEM_TYPES: &str = "urn:evidence-platform:problem:";

/// The codes of problems that mean that the body did not arrive as it was sent.
const DAMAGED: &[&str] = &["digest-mismatch", "body-incomplete"];

impl ProblemDetails {
    /// The problem of an answer with this status, each text passed through `clean`; nothing but the status if the body is
    /// no such document.
    pub(super) fn read(status: u16, body: Option<&[u8]>, clean: &dyn Fn(&str) -> String) -> ProblemDetails {
        let document = body.and_then(|body| serde_json::from_slice::<ProblemDocument>(body).ok());
        document.unwrap_or_default().with_status(status, clean)
    }

    /// Whether the body did not arrive as it was sent.
    pub(super) fn is_damage(&self) -> bool {
        self.code.as_deref().is_some_and(|code| DAMAGED.contains(&code))
    }

    /// What the platform says, with its code for why a bundle is refused.
    pub(super) fn text(&self) -> Option<String> {
        joined(self.reason.as_deref(), self.words.as_deref())
    }
}

/// The members of a problem document that are used.
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

/// A code and the words for it.
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
