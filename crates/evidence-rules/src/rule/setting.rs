//! Settings: the numbers of rules that an organization can make stricter.
//!
//! A rule declares its settings, each with a default and the least strict value that is allowed. Settings in effect that
//! are not the default are signed in `derived/scope.json`, so whoever verifies a bundle judges by the same numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Rule;

/// A number that a rule judges by (`rules.settings.<rule>.<name>` in the configuration).
#[derive(Debug)]
pub struct Setting {
    /// The code of its rule.
    pub rule: &'static str,
    /// Its name in the configuration and in documents.
    pub name: &'static str,
    /// The value if none is configured.
    pub default: u64,
    /// The smallest allowed value.
    pub minimum: u64,
    /// The largest allowed value.
    pub maximum: u64,
    /// The value that is recommended beyond passing, if any.
    pub recommended: Option<u64>,
}

/// The settings in effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Values that are not the default, by the code of the rule and the name.
    changed: BTreeMap<(&'static str, &'static str), u64>,
}

impl Settings {
    /// The value in effect.
    pub fn get(&self, setting: &Setting) -> u64 {
        self.changed.get(&(setting.rule, setting.name)).copied().unwrap_or(setting.default)
    }

    /// The value that is recommended: never less than the one in effect.
    pub fn recommended(&self, setting: &Setting) -> u64 {
        self.get(setting).max(setting.recommended.unwrap_or_default())
    }

    /// Configures a value. The caller has checked the limits.
    pub fn set(&mut self, setting: &'static Setting, value: u64) {
        if value == setting.default {
            self.changed.remove(&(setting.rule, setting.name));
        } else {
            self.changed.insert((setting.rule, setting.name), value);
        }
    }

    /// The values of a rule that are not the default, by name, for documents.
    pub fn changed(&self, rule: &Rule) -> BTreeMap<String, u64> {
        let own = self.changed.iter().filter(|((code, _), _)| *code == rule.code);
        own.map(|((_, name), value)| ((*name).to_string(), *value)).collect()
    }

    /// Adds the values of a rule from a document.
    ///
    /// # Errors
    /// Fails with an explanation if the rule has no such setting, or if a value is outside its limits.
    pub fn read(&mut self, rule: &Rule, values: &BTreeMap<String, u64>) -> Result<(), String> {
        for (name, value) in values {
            let Some(setting) = rule.settings.iter().find(|setting| setting.name == name) else {
                return Err(format!("{} has no setting {name}", rule.code));
            };
            if !(setting.minimum..=setting.maximum).contains(value) {
                let Setting { minimum, maximum, .. } = setting;
                return Err(format!("{name} of {} is {value}, not {minimum} to {maximum}", rule.code));
            }
            self.set(setting, *value);
        }
        Ok(())
    }

    /// A text of a rule with its numbers filled in.
    ///
    /// `{name}` is the number, `{name one file|# files}` the first form for 1 and otherwise the second with the number in
    /// place of `#`, and `{name recommended}` is ` (14 recommended)` if more is recommended than is in effect.
    pub fn fill(&self, rule: &Rule, template: &'static str) -> Cow<'static, str> {
        if rule.settings.is_empty() || !template.contains('{') {
            return Cow::Borrowed(template);
        }
        let mut parts = template.split('{');
        let mut text = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (place, rest) = part.split_once('}').unwrap_or((part, ""));
            text.push_str(&self.filled(rule, place));
            text.push_str(rest);
        }
        Cow::Owned(text)
    }

    fn filled(&self, rule: &Rule, place: &str) -> String {
        let (name, form) = place.split_once(' ').unwrap_or((place, "#"));
        let Some(setting) = rule.settings.iter().find(|setting| setting.name == name) else {
            return format!("{{{place}}}");
        };
        let value = self.get(setting);
        match (form, form.split_once('|')) {
            ("recommended", _) if self.recommended(setting) > value => {
                format!(" ({} recommended)", self.recommended(setting))
            }
            ("recommended", _) => String::new(),
            (_, Some((one, _))) if value == 1 => one.to_string(),
            (_, Some((_, many))) => many.replace('#', &value.to_string()),
            (form, None) => form.replace('#', &value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn every_setting_names_its_rule_and_its_default_is_allowed() {
        for rule in rules() {
            for setting in rule.settings {
                assert_eq!(setting.rule, rule.code);
                assert!((setting.minimum..=setting.maximum).contains(&setting.default), "{}", setting.name);
                let mut settings = Settings::default();
                settings.set(setting, setting.maximum);
                assert_eq!(settings.get(setting), setting.maximum);
                let changed = settings.changed(rule);
                let mut read = Settings::default();
                assert_eq!((read.read(rule, &changed), &read), (Ok(()), &settings));
                settings.set(setting, setting.default);
                assert_eq!(settings, Settings::default());
                for wrong in [setting.minimum.checked_sub(1), setting.maximum.checked_add(1)] {
                    let wrong = BTreeMap::from([(setting.name.to_string(), wrong.unwrap())]);
                    assert!(Settings::default().read(rule, &wrong).is_err(), "{wrong:?}");
                }
            }
            let unknown = BTreeMap::from([("made_up".to_string(), 1)]);
            assert!(Settings::default().read(rule, &unknown).is_err());
        }
    }

    #[test]
    fn every_text_is_filled_in() {
        for rule in rules().filter(|rule| !rule.settings.is_empty()) {
            let advice = rule.reasons.iter().filter_map(|reason| reason.advice);
            let texts = advice.map(|advice| advice.remediation).chain([rule.expected]);
            for highest in [false, true] {
                let mut settings = Settings::default();
                for setting in rule.settings.iter().filter(|_| highest) {
                    settings.set(setting, setting.maximum);
                }
                for text in texts.clone() {
                    let filled = settings.fill(rule, text);
                    assert!(!filled.contains(['{', '}', '|', '#']), "{filled}");
                    assert!(!highest || !filled.contains("recommended"), "{filled}");
                }
            }
        }
    }
}
