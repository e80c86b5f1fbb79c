//! The credential report: one row per user, in columns by name. Its rules are in files of their own.
//!
//! A column that the report lacks is absent, and a word in a column of times or flags that the provider does not document
//! is `null`: neither counts as false or as never.

#![expect(missing_docs, reason = "the fields are the provider's columns, under the provider's names")]

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::field::Field;
use crate::rule::Reason;

/// The row of the root user, which is no user of the account.
pub const ROOT: &str = "<root_account>";

/// `credential_report.json`: of `GetCredentialReport`, the users with times and flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialReport {
    #[serde(rename = "GeneratedTime", default, skip_serializing_if = "Field::is_absent")]
    pub generated_time: Field<String>,
    pub users: Vec<CredentialRow>,
}

/// A row of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CredentialRow {
    pub user: String,
    /// Only the list of people has it.
    #[serde(skip_serializing)]
    pub user_creation_time: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub password_enabled: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub password_last_used: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub password_last_changed: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub mfa_active: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_1_active: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_1_last_rotated: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_1_last_used_date: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_2_active: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_2_last_rotated: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub access_key_2_last_used_date: Field<String>,
}

/// The report, and the time from which ages count.
#[derive(Debug)]
pub struct Credentials {
    /// The report.
    pub report: CredentialReport,
    /// When the run began.
    pub at: Timestamp,
}

/// An access key in a row.
pub(crate) struct AccessKey<'a> {
    pub(crate) active: &'a Field<String>,
    pub(crate) last_rotated: &'a Field<String>,
    pub(crate) last_used: &'a Field<String>,
    /// The reasons if each of them is not visible.
    pub(crate) hidden: [&'static Reason; 3],
}

impl CredentialRow {
    /// Whether it is about the root user.
    pub fn is_root(&self) -> bool {
        self.user == ROOT
    }

    /// The two places for keys.
    pub(crate) fn keys(&self) -> [AccessKey<'_>; 2] {
        use super::reason::not_visible as hidden;
        [
            AccessKey {
                active: &self.access_key_1_active,
                last_rotated: &self.access_key_1_last_rotated,
                last_used: &self.access_key_1_last_used_date,
                hidden: [
                    &hidden::ACCESS_KEY_1_ACTIVE,
                    &hidden::ACCESS_KEY_1_LAST_ROTATED,
                    &hidden::ACCESS_KEY_1_LAST_USED_DATE,
                ],
            },
            AccessKey {
                active: &self.access_key_2_active,
                last_rotated: &self.access_key_2_last_rotated,
                last_used: &self.access_key_2_last_used_date,
                hidden: [
                    &hidden::ACCESS_KEY_2_ACTIVE,
                    &hidden::ACCESS_KEY_2_LAST_ROTATED,
                    &hidden::ACCESS_KEY_2_LAST_USED_DATE,
                ],
            },
        ]
    }
}

/// A flag; `None` unless it is true or false.
pub(crate) fn flag(field: &Field<String>) -> Option<bool> {
    match field.value().map(String::as_str) {
        Some("true" | "TRUE") => Some(true),
        Some("false" | "FALSE") => Some(false),
        _ => None,
    }
}

/// A time in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// A time.
    At(Timestamp),
    /// The provider's words for "never, or not known to have been".
    Never,
    /// Neither.
    Unclear,
}

/// The time in a column.
pub(crate) fn when(field: &Field<String>) -> When {
    match field.value().map(String::as_str) {
        Some("N/A" | "no_information") => When::Never,
        Some(text) => text.parse().map_or(When::Unclear, When::At),
        None => When::Unclear,
    }
}

/// Whether the provider writes this word into a column of flags or times.
pub fn is_documented(text: &str) -> bool {
    matches!(text, "true" | "TRUE" | "false" | "FALSE" | "N/A" | "no_information" | "not_supported")
        || text.parse::<Timestamp>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_times() {
        let field = |text: &str| Field::Value(text.to_string());
        for (text, expected) in
            [("true", Some(true)), ("FALSE", Some(false)), ("not_supported", None), ("", None), ("yes", None)]
        {
            assert_eq!(flag(&field(text)), expected, "{text}");
        }
        assert_eq!((flag(&Field::Absent), flag(&Field::Null)), (None, None));
        for text in ["N/A", "no_information"] {
            assert_eq!(when(&field(text)), When::Never);
        }
        let time = "2026-09-01T10:00:00+00:00";
        assert_eq!(when(&field(time)), When::At("2026-09-01T10:00:00Z".parse().unwrap()));
        for unclear in [Field::Absent, Field::Null, field("not_supported"), field("yesterday")] {
            assert_eq!(when(&unclear), When::Unclear, "{unclear:?}");
        }
        assert!(is_documented(time) && is_documented("N/A") && !is_documented("arn:aws:iam::1:user/a"));
    }
}
