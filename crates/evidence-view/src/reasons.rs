//! The titles of reasons and rules, by their codes.

use std::borrow::Cow;

/// The title of a reason; for a code that this version does not know, its words.
pub fn reason(code: &str) -> Cow<'static, str> {
    match evidence_rules::reason_of(code) {
        Some(reason) => Cow::Borrowed(reason.title),
        None => Cow::Owned(code.replace('_', " ")),
    }
}

/// The title of a rule; for a code that this version does not know, its words, beginning with a capital.
pub fn rule(code: &str) -> Cow<'static, str> {
    if let Some(rule) = evidence_rules::rule_of(code) {
        return Cow::Borrowed(rule.title);
    }
    let words = code.replace(['-', '_'], " ");
    let mut rest = words.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_another_version_is_its_words() {
        assert_eq!(
            (reason("blocked").as_ref(), reason("made_up").as_ref()),
            ("Repository blocked by the host", "made up")
        );
        assert_eq!(
            (rule("two-factor-required").as_ref(), rule("made-up").as_ref()),
            ("Two-factor authentication", "Made up")
        );
        assert_eq!(rule(""), "");
    }
}
