//! `rules`: which rules run, and what an organization demands beyond a rule's own minimum.

use evidence_rules::altcloud::{inactive_users, session_length, workspace_password};
use evidence_rules::cloud::{access_key_age, database_backup, password, retention, unused_credentials};
use evidence_rules::codehost::{branch_protection, owners_count, vulnerabilities_in_time};
use evidence_rules::framework::Framework;
use evidence_rules::rule::{Rule, Setting, Settings};
use evidence_settings::declare::{DefaultValue, Format, Key, Section, Shape, Vocabulary};
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;

use super::controls::{RuleChoice, frameworks};

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
    "access-key-age", ACCESS_KEY_AGE: [
        OLDEST_KEY = access_key_age::MAXIMUM_DAYS,
        "How many days old an active access key may be.", "60"
    ];
    "inactive-users", INACTIVE_USERS: [
        LONGEST_INACTIVE = inactive_users::MAXIMUM_DAYS,
        "After how many days without a sign-in a user counts as inactive.", "60";
        GRACE = inactive_users::GRACE_DAYS,
        "For how many days after its creation a user may take to sign in.", "14"
    ];
    "workspace-password-policy", WORKSPACE_PASSWORD_POLICY: [
        SHORTEST_PASSWORD = workspace_password::MINIMUM_LENGTH,
        "The shortest password that a policy of the workspace may allow.", "14"
    ];
    "session-length", SESSION_LENGTH: [
        LONGEST_SESSION = session_length::MAXIMUM_HOURS,
        "After how many hours a web session must end.", "12"
    ];
    "unused-credentials", UNUSED_CREDENTIALS: [
        LONGEST_UNUSED = unused_credentials::MAXIMUM_DAYS,
        "After how many days without use a password or an access key counts as unused.", "45"
    ];
    "database-backup", DATABASE_BACKUP: [
        BACKUP_DAYS = database_backup::MINIMUM_DAYS,
        "How many days the automatic backups of every database must be kept.", "14"
    ];
    "branch-protection", BRANCH_PROTECTION: [
        APPROVALS = branch_protection::APPROVALS,
        "How many approving reviews a change must have.", "2"
    ];
    "vulnerabilities-in-time", VULNERABILITIES_IN_TIME: [
        CRITICAL_DAYS = vulnerabilities_in_time::CRITICAL_DAYS,
        "How many days a critical vulnerability alert may be open.", "7";
        HIGH_DAYS = vulnerabilities_in_time::HIGH_DAYS,
        "How many days a high vulnerability alert may be open.", "30"
    ];
    "owners-count", OWNERS_COUNT: [
        FEWEST_OWNERS = owners_count::MINIMUM,
        "How many owners the organization must have.", "3";
        MOST_OWNERS = owners_count::MAXIMUM,
        "How many owners the organization may have.", "4"
    ];
}

/// The key of a number.
const fn number(setting: &Setting, summary: &'static str) -> Key {
    let Setting { default, minimum, maximum, .. } = setting;
    let key = Key::integer(setting.name, integer(*default), integer(*minimum)..=integer(*maximum), summary);
    // A rule of the specification has no value below its default.
    if *minimum == *default {
        key.rule("not less than the default, which the specification demands")
    } else {
        key
    }
}

/// The limits of settings are far below `i64::MAX`.
const fn integer(value: u64) -> i64 {
    value.cast_signed()
}

/// `rules.settings`
static SETTINGS_SECTION: Section = Section::new(
    "rules.settings",
    "The numbers that the rules judge by. They are signed with the bundle.",
    RULES,
);

static SETTINGS_KEY: Key = Key::optional_section("settings", &SETTINGS_SECTION).also(&["thresholds"]);

/// Every rule.
static ALL_RULES: Vocabulary = Vocabulary {
    noun: "rule",
    known: |_| codes(""),
    taken: codes,
    refusal: "the framework does not have",
    offer: "it has",
    elsewhere: |_, _| None,
};

/// The rules of the framework.
fn codes(context: &str) -> Vec<&'static str> {
    let has = |rule: &&Rule| frameworks(context).iter().any(|framework| framework.control_of(rule).is_some());
    evidence_rules::rules().filter(has).map(|rule| rule.code).collect()
}

keys! {
    INCLUDE = default("include", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Word(&ALL_RULES), may_be_empty: true },
        "Rules to take in that run only if they are named here.")
        rule "not with `framework: soc2_type1`; each once", example "[branch-protection]", also &["enable"];
    EXCLUDE = default("exclude", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Word(&ALL_RULES), may_be_empty: true },
        "Rules to leave out. They have no checks, and the report names them.")
        rule "not with `framework: soc2_type1`; each once", example "[codeowners-default-rule]",
        also &["disable", "skip"];
}

/// `rules`
pub(super) static SECTION: Section =
    Section::new("rules", "Which rules run, and how they judge.", &[&INCLUDE, &EXCLUDE, &SETTINGS_KEY]);

/// The settings in effect, and the rules that are taken in or left out.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    framework: Option<&'static Framework>,
) -> Option<(Settings, RuleChoice)> {
    let settings = numbers(decoder, fields);
    let included = chosen(decoder, fields, &INCLUDE, framework);
    let excluded = chosen(decoder, fields, &EXCLUDE, framework);
    let (included, excluded) = (included?, excluded?);
    let both = excluded.iter().find(|(rule, _)| included.iter().any(|(other, _)| other == rule));
    if let Some((rule, text)) = both {
        let complaint = Complaint::new(format!("`{}` is in `include`, too", rule.code))
            .help("remove it from one of the two lists");
        decoder.problems.add(text.place.clone(), text.path.clone(), complaint);
        return None;
    }
    let rules =
        |chosen: Vec<(&'static Rule, Placed<String>)>| chosen.into_iter().map(|(rule, _)| rule).collect();
    Some((settings?, RuleChoice { included: rules(included), excluded: rules(excluded) }))
}

/// The rules of a list, in the order of documents.
fn chosen(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    framework: Option<&'static Framework>,
) -> Option<Vec<(&'static Rule, Placed<String>)>> {
    let named = decoder.list(fields, key)?;
    if let (Some(first), Some(fixed)) = (named.first(), framework.filter(|known| known.id == FIXED)) {
        let complaint = Complaint::new(format!("`{}` always applies all of its rules", fixed.id))
            .help(format!("remove `{}`, or write `framework: tsc_2017`", key.name));
        decoder.problems.add(first.place.clone(), first.path.clone(), complaint);
        return None;
    }
    let rule = |rule: &'static Rule| {
        let text = named.iter().find(|text| text.value == rule.code)?;
        Some((rule, text.clone()))
    };
    Some(evidence_rules::rules().filter_map(rule).collect())
}

/// The framework whose rules the specification fixes.
pub(super) const FIXED: &str = "soc2_type1";

fn numbers(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Settings> {
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
        // What the rule of the keys says, of the rules that the specification has.
        let fixed = Framework::from_id(FIXED).unwrap();
        let specified = SETTINGS.iter().filter(|(rule, ..)| {
            evidence_rules::rule_of(rule).is_some_and(|rule| fixed.control_of(rule).is_some())
        });
        assert_eq!(specified.clone().count(), 3);
        assert!(specified.into_iter().all(|(.., setting)| setting.default == setting.minimum));
    }
}
