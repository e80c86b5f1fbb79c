//! The settings and rules that determined the collection and the judgement.

use evidence_bundle::document::{ScopeRecord, SourceScope};
use evidence_view::sanitized;
use serde_json::Value;

use super::checks::Sections;
use super::room::Room;
use crate::origin::listed;

/// The settings of a source.
pub(super) struct SettingsPart {
    pub(super) source: String,
    pub(super) controls: String,
    /// Names and values.
    pub(super) settings: Vec<(String, String)>,
}

impl SettingsPart {
    /// The settings on one line.
    pub(super) fn line(&self) -> String {
        let settings: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("{}: {}", self.source, settings.join("; "))
    }
}

/// An applied rule.
pub(super) struct RulePart {
    pub(super) code: String,
    pub(super) version: u32,
    pub(super) control: String,
    pub(super) criteria: String,
    pub(super) expected: String,
    pub(super) reads: String,
    pub(super) not_checked: String,
}

impl RulePart {
    pub(super) fn title(&self) -> String {
        evidence_view::words::rule(&self.code).into_owned()
    }
}

/// The settings of each source, and how many settings do not fit.
pub(super) fn sources(scope: ScopeRecord, room: &mut Room) -> (Vec<SettingsPart>, u64) {
    let part = |source: SourceScope| SettingsPart {
        source: sanitized(&source.source),
        controls: sanitized(&source.controls.join(", ")),
        settings: source
            .settings
            .iter()
            .map(|(name, value)| (sanitized(name), setting(name, value)))
            .collect(),
    };
    let mut parts: Vec<SettingsPart> = scope.sources.into_iter().map(part).collect();
    let mut more = room.keep(&mut parts, 200, |part| vec![&part.source, &part.controls]);
    for part in &mut parts {
        let left = room.keep(&mut part.settings, 100, |(name, value)| vec![name, value]);
        more = more.saturating_add(left);
    }
    (parts, more)
}

/// The rules, and how many do not fit.
pub(super) fn rules(scope: &ScopeRecord, sections: &Sections, room: &mut Room) -> (Vec<RulePart>, u64) {
    let part = |rule: &evidence_bundle::document::RuleRecord| RulePart {
        code: sanitized(&rule.code),
        version: rule.version,
        control: sanitized(&rule.control),
        criteria: sections.criteria(&rule.control, &rule.code),
        expected: sanitized(&rule.expected),
        reads: sanitized(&rule.reads),
        not_checked: sanitized(&rule.not_checked),
    };
    let mut rules: Vec<RulePart> = scope.rules.iter().map(part).collect();
    let more = room.keep(&mut rules, 500, |rule| {
        vec![
            &rule.code,
            &rule.code,
            &rule.control,
            &rule.criteria,
            &rule.expected,
            &rule.reads,
            &rule.not_checked,
        ]
    });
    (rules, more)
}

/// The criteria without evidence, and the rules that the configuration takes in or leaves out: those that there are.
pub(super) fn choice(scope: &ScopeRecord) -> Vec<(&'static str, String)> {
    let lists = [
        ("Criteria without automated evidence", &scope.criteria_without_evidence),
        ("Rules left out", &scope.rules_excluded),
        ("Optional rules taken in", &scope.rules_included),
    ];
    let there_are = lists.into_iter().filter(|(_, names)| !names.is_empty());
    there_are.map(|(name, names)| (name, listed(names))).collect()
}

/// The setting that leaves out what it lists. Every other list chooses, and an empty one chooses all.
const EXCLUDE: &str = "exclude";

/// The value of a setting on one line.
fn setting(name: &str, value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() && name == EXCLUDE => "nothing".to_owned(),
        Value::String(all) if all == "*" => "all".to_owned(),
        _ => one_line(value),
    }
}

/// A value on one line.
fn one_line(value: &Value) -> String {
    sanitized(&match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "all".to_owned(),
        Value::Array(items) => items.iter().map(one_line).collect::<Vec<_>>().join(", "),
        Value::Null => "not set".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    })
}
