//! The root user of an account, and the rows of the credential report about its users.

/// What the summary of an account says of its root user. A number that is `None` is not in the answer.
#[derive(Clone, Copy, Debug)]
pub struct RootUser {
    /// `AccountMFAEnabled`
    pub mfa: Option<u64>,
    /// `AccountPasswordPresent`
    pub password: Option<u64>,
    /// `AccountAccessKeysPresent`
    pub keys: Option<u64>,
}

impl Default for RootUser {
    /// A root user with a second factor and without keys.
    fn default() -> Self {
        Self { mfa: Some(1), password: Some(1), keys: Some(0) }
    }
}

/// The columns of the report, as the provider documents them.
pub(super) const COLUMNS: [&str; 23] = [
    "user",
    "arn",
    "user_creation_time",
    "password_enabled",
    "password_last_used",
    "password_last_changed",
    "password_next_rotation",
    "mfa_active",
    "access_key_1_active",
    "access_key_1_last_rotated",
    "access_key_1_last_used_date",
    "access_key_1_last_used_region",
    "access_key_1_last_used_service",
    "access_key_2_active",
    "access_key_2_last_rotated",
    "access_key_2_last_used_date",
    "access_key_2_last_used_region",
    "access_key_2_last_used_service",
    "cert_1_active",
    "cert_1_last_rotated",
    "cert_2_active",
    "cert_2_last_rotated",
    "additional_credentials_info",
];

/// A row of the report: a cell per column.
#[derive(Clone, Debug)]
pub struct ReportRow(pub(super) Vec<String>);

impl ReportRow {
    /// A user without any credential.
    pub fn user(account: &str, name: &str) -> Self {
        let cell = |column: &&str| {
            match *column {
                "user" => name,
                "arn" => return format!("arn:aws:iam::{account}:user/{name}"),
                "user_creation_time" => "2024-03-01T09:00:00+00:00",
                "password_enabled" | "mfa_active" => "false",
                column if column.ends_with("_active") => "false",
                _ => "N/A",
            }
            .to_owned()
        };
        Self(COLUMNS.iter().map(cell).collect())
    }

    /// The root user, whose password the report does not show.
    pub fn root(account: &str) -> Self {
        let row = Self::user(account, "<root_account>").with("arn", &format!("arn:aws:iam::{account}:root"));
        ["password_enabled", "password_last_changed", "password_next_rotation"]
            .into_iter()
            .fold(row, |row, column| row.with(column, "not_supported"))
            .with("password_last_used", "no_information")
            .with("mfa_active", "true")
    }

    /// Sets a cell. Does nothing if the report has no such column.
    #[must_use]
    pub fn with(mut self, column: &str, value: &str) -> Self {
        let at = COLUMNS.iter().position(|known| *known == column);
        if let Some(cell) = at.and_then(|at| self.0.get_mut(at)) {
            value.clone_into(cell);
        }
        self
    }

    /// A password that was last used and last changed at these times. A time can be `7 days ago`.
    #[must_use]
    pub fn password(self, used: &str, changed: &str) -> Self {
        self.with("password_enabled", "true")
            .with("password_last_used", used)
            .with("password_last_changed", changed)
    }

    /// An active access key in the first or second place, last used and renewed at these times.
    #[must_use]
    pub fn key(self, number: u8, used: &str, rotated: &str) -> Self {
        self.with(&format!("access_key_{number}_active"), "true")
            .with(&format!("access_key_{number}_last_used_date"), used)
            .with(&format!("access_key_{number}_last_rotated"), rotated)
    }
}
