//! The security settings of a repository, as the host shows them with the repository itself.

#![expect(missing_docs, reason = "the fields are the provider's, under the provider's names")]

use evidence_text::single_line;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::field::Field;
use crate::rule::{Reason, Verdict};
use crate::shape::{section, sections};

/// `repo_{owner}_{repo}_security.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositorySecurity {
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub security_and_analysis: Field<SecurityAndAnalysis>,
    /// What the host answers with a status alone; only there if a rule asks.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub vulnerability_alerts: Field<bool>,
    /// The open alerts of high and critical severity, from the organization's list; only there if a rule asks.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub open_alerts: Field<Vec<OpenAlert>>,
}

/// An open vulnerability alert. Nothing of what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAlert {
    /// Its number in the repository.
    pub number: u64,
    /// `critical` or `high`.
    pub severity: String,
    /// Since when it is open.
    pub created_at: String,
}

/// `open_alerts.json`: the open alerts of the organization.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAlerts {
    /// The alerts, by repository and number.
    pub alerts: Vec<RepositoryAlert>,
}

/// An alert with its repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryAlert {
    /// The repository.
    pub repository: String,
    /// The alert.
    #[serde(flatten)]
    pub alert: OpenAlert,
}

/// The settings, and whether the host was asked for one that it did not show.
#[derive(Debug)]
pub struct SecurityFacts {
    pub record: RepositorySecurity,
    pub unread: bool,
    /// When the run began, if ages count.
    pub judged_at: Option<Timestamp>,
}

/// `security_and_analysis`, of which only these features are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityAndAnalysis {
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub secret_scanning: Field<Feature>,
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub secret_scanning_push_protection: Field<Feature>,
}

/// A feature that is on or off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
}

/// The verdict on a feature that must be enabled. What the host does not show is not off.
pub(super) fn must_be_enabled(
    security: &RepositorySecurity,
    (name, feature): (&str, fn(&SecurityAndAnalysis) -> &Field<Feature>),
    (off, hidden): (&'static Reason, &'static Reason),
) -> Verdict {
    let Some(features) = security.security_and_analysis.value() else {
        return Verdict::unknown(hidden, "security_and_analysis is not in the answer");
    };
    let status = feature(features).value().and_then(|feature| feature.status.value());
    let Some(status) = status else {
        return Verdict::unknown(hidden, format!("{name} is not in the answer"));
    };
    let actual = format!("{name} is {}", single_line(status));
    match status.as_str() {
        "enabled" => Verdict::pass(actual),
        "disabled" => Verdict::fail(off, actual),
        _ => Verdict::unknown(hidden, actual),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every form of the answer about one feature, with the reason that follows; `set` puts it in its place.
    pub(in crate::codehost) fn whole_domain(
        judge: fn(&RepositorySecurity) -> Verdict,
        set: fn(&mut SecurityAndAnalysis, Field<Feature>),
        [off, hidden]: [&str; 2],
    ) {
        let status = |word: &str| Field::Value(Feature { status: Field::Value(word.to_string()) });
        let features = [
            (status("enabled"), "ok"),
            (status("disabled"), off),
            (status("paused"), hidden),
            (status(""), hidden),
            (Field::Value(Feature { status: Field::Null }), hidden),
            (Field::Value(Feature { status: Field::Absent }), hidden),
            (Field::Null, hidden),
            (Field::Absent, hidden),
        ];
        for (feature, expected) in features {
            let mut section = SecurityAndAnalysis::default();
            set(&mut section, feature);
            let security = RepositorySecurity {
                security_and_analysis: Field::Value(section),
                ..RepositorySecurity::default()
            };
            assert_eq!(judge(&security).reason.code, expected, "{security:?}");
            // It survives its artifact.
            let again = serde_json::from_str(&serde_json::to_string(&security).unwrap()).unwrap();
            assert_eq!(judge(&again), judge(&security));
        }
        for section in [Field::Null, Field::Absent] {
            let security =
                RepositorySecurity { security_and_analysis: section, ..RepositorySecurity::default() };
            let verdict = judge(&security);
            assert_eq!(verdict.reason.code, hidden);
        }
    }
}
