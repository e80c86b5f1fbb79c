//! Sessions of the workspace end.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;

use super::policies::PolicyFacts;
use super::policy_rules::{DEFAULT_VALUE, PERMISSION, PolicyRule, READS, Shows, not_visible};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Setting, Settings};

/// The policy ends sessions.
pub static SESSION_LENGTH: Rule = Rule {
    code: "session-length",
    title: "Length of web sessions",
    version: 1,
    kind: "directory",
    expected: "the policy that applies to each active user, by unit and by group, ends web sessions after at most \
               {maximum_hours one hour|# hours}",
    reads: READS,
    not_checked: "sessions of the cloud console, of mobile apps and of an external identity provider; who is signed in now",
    permission: PERMISSION,
    improvement: None,
    settings: &[&MAXIMUM_HOURS],
    hints: &[],
    reasons: &[&SESSION_TOO_LONG, &WEB_SESSION_DURATION_NOT_VISIBLE],
};

/// A session lasts too long.
pub static SESSION_TOO_LONG: Reason = Reason::new("session_too_long", "Web sessions last too long").advice(
    Medium,
    Misconfigured,
    "In the admin console, under Security, Access and data control, Google session control, choose a duration of at most \
     {maximum_hours one hour|# hours} for the units and groups that this result names.",
);

not_visible! {
    WEB_SESSION_DURATION_NOT_VISIBLE = "web_session_duration_not_visible", "webSessionDuration";
}

/// The longest session.
pub static MAXIMUM_HOURS: Setting = Setting {
    rule: "session-length",
    name: "maximum_hours",
    default: 24,
    minimum: 1,
    maximum: 720,
    recommended: None,
};

/// A duration such as `43200s`, in seconds. What zero means is not documented.
fn seconds(text: &str) -> Option<u64> {
    let whole = text.strip_suffix('s')?;
    let whole = whole.split_once('.').map_or(whole, |(whole, _)| whole);
    whole.parse().ok().filter(|seconds| *seconds > 0)
}

fn judge(duration: &Field<String>, settings: &Settings) -> Shows {
    let seconds = match duration {
        Field::Absent => return Shows::Failed(&DEFAULT_VALUE, "14 days by default".to_string()),
        Field::Null => None,
        Field::Value(text) => seconds(text),
    };
    let longest = settings.get(&MAXIMUM_HOURS).saturating_mul(3_600);
    match seconds {
        None => Shows::Open(&WEB_SESSION_DURATION_NOT_VISIBLE, "not reported".to_string()),
        Some(seconds) if seconds > longest => Shows::Failed(&SESSION_TOO_LONG, hours(seconds)),
        Some(seconds) => Shows::Good(hours(seconds)),
    }
}

fn hours(seconds: u64) -> String {
    evidence_text::counted(seconds.div_ceil(3_600), "hour", "hours")
}

static POLICY: PolicyRule = PolicyRule {
    setting: "security.session_controls",
    administrators: false,
    value: |value, _, settings| judge(&value.web_session_duration, settings),
    overridden: None,
    has_default: true,
    words: ("web sessions end in time", "web sessions last too long"),
};

/// The judgement.
pub static JUDGE: Judge<PolicyFacts> =
    Judge { rule: &SESSION_LENGTH, judge: |facts, settings| Some(POLICY.judge(facts, settings)) };
