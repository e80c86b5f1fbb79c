//! The settings and rules that determined the collection and the judgement.

use evidence_bundle::document::{ScopeRecord, SourceScope};
use evidence_view::sanitized;
use serde_json::Value;

use super::checks::Sections;

/// The settings of a source.
pub(super) struct SettingsPart {
    pub(super) source: String,
    pub(super) controls: String,
    /// Names and values.
    pub(super) settings: Vec<(String, String)>,
}

/// An applied rule.
pub(super) struct RulePart {
    pub(super) code: String,
    pub(super) version: u32,
    pub(super) control: String,
    pub(super) criteria: String,
    pub(super) expected: String,
}

/// The settings of each source.
pub(super) fn sources(scope: ScopeRecord) -> Vec<SettingsPart> {
    let part = |source: SourceScope| SettingsPart {
        source: sanitized(&source.source),
        controls: sanitized(&source.controls.join(", ")),
        settings: source.settings.iter().map(|(name, value)| (sanitized(name), text(value))).collect(),
    };
    scope.sources.into_iter().map(part).collect()
}

/// The rules.
pub(super) fn rules(scope: &ScopeRecord, sections: &Sections) -> Vec<RulePart> {
    let part = |rule: &evidence_bundle::document::RuleRecord| RulePart {
        code: sanitized(&rule.code),
        version: rule.version,
        control: sanitized(&rule.control),
        criteria: sections.criteria(&rule.control, &rule.code).to_owned(),
        expected: sanitized(&rule.expected),
    };
    scope.rules.iter().map(part).collect()
}

/// A value on one line.
fn text(value: &Value) -> String {
    sanitized(&match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Null => "not set".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    })
}
