//! `rules`: what an organization demands beyond a rule's own minimum.

use evidence_rules::cloud::{password, retention};
use evidence_rules::codehost::branch_protection;
use evidence_rules::rule::{Setting, Settings};
use evidence_settings::declare::{Key, Section};
use evidence_settings::decode::{Decoder, Fields};

/// Declares the numbers of the rules: a section per rule, a key per number.
macro_rules! settings {
    ($($rule:literal, $section:ident: [$($key:ident = $setting:path, $summary:literal, $example:literal);+];)+) => {
        $($(static $key: Key = number(&$setting, $summary).example($example);)+
        static $section: Section = Section::new(
            concat!("rules.settings.", $rule),
            concat!("The numbers of the rule `", $rule, "`."),
            &[$(&$key),+],
        );)+
        /// The sections of the rules.
        static RULES: &[&Key] = &[$({
            static KEY: Key = Key::optional_section($rule, &$section);
            &KEY
        }),+];
        /// Every number: its rule, its key and its declaration.
        static SETTINGS: &[(&str, &Key, &Setting)] = &[$($(($rule, &$key, &$setting)),+),+];
    };
}

settings! {
    "password-policy", PASSWORD_POLICY: [
        MINIMUM_LENGTH = password::MINIMUM_LENGTH,
        "The shortest password that the account's policy may allow.", "14"
    ];
    "log-retention", LOG_RETENTION: [
        MINIMUM_DAYS = retention::MINIMUM_DAYS,
        "How many days every log group must keep its events.", "365"
    ];
    "branch-protection", BRANCH_PROTECTION: [
        APPROVALS = branch_protection::APPROVALS,
        "How many approving reviews a change must have.", "2"
    ];
}

/// The key of a number.
const fn number(setting: &Setting, summary: &'static str) -> Key {
    let Setting { default, minimum, maximum, .. } = setting;
    Key::integer(setting.name, integer(*default), integer(*minimum)..=integer(*maximum), summary)
        .rule("not less than the default, which the specification demands")
}

/// The limits of settings are far below `i64::MAX`.
const fn integer(value: u64) -> i64 {
    value.cast_signed()
}

/// `rules.settings`
static SETTINGS_SECTION: Section = Section::new(
    "rules.settings",
    "Numbers that are stricter than the default, by rule. They are signed with the bundle.",
    RULES,
);

static SETTINGS_KEY: Key = Key::optional_section("settings", &SETTINGS_SECTION).also(&["thresholds"]);

/// `rules`
pub(super) static SECTION: Section = Section::new("rules", "How the rules judge.", &[&SETTINGS_KEY]);

/// The settings in effect.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Settings> {
    let mut settings = Settings::default();
    let Some(by_rule) = decoder.section(fields, &SETTINGS_KEY) else { return Some(settings) };
    let mut known = true;
    for rule in RULES {
        let Some(fields) = decoder.section(&by_rule, rule) else { continue };
        for (_, key, setting) in SETTINGS.iter().filter(|(code, ..)| *code == rule.name) {
            match decoder.integer(&fields, key) {
                Some(value) => settings.set(setting, value),
                None => known = false,
            }
        }
    }
    known.then_some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_a_rule_has_a_key() {
        let declared = evidence_rules::rules().flat_map(|rule| rule.settings);
        let mut declared: Vec<_> = declared.map(|setting| (setting.rule, setting.name)).collect();
        let mut keys: Vec<_> = SETTINGS.iter().map(|(rule, key, _)| (*rule, key.name)).collect();
        declared.sort_unstable();
        keys.sort_unstable();
        assert_eq!(declared, keys);
        assert!(SETTINGS.iter().all(|(rule, _, setting)| *rule == setting.rule));
        // What the rule of the keys says.
        assert!(SETTINGS.iter().all(|(.., setting)| setting.default == setting.minimum));
    }
}
