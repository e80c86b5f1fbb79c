//! The account's password policy.

use super::wire::Xml;

/// What the account demands of its users' passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordPolicy {
    pub(super) minimum_length: u32,
    pub(super) uppercase: bool,
    pub(super) lowercase: bool,
    pub(super) numbers: bool,
    pub(super) symbols: bool,
    pub(super) may_change: bool,
    pub(super) max_age: Option<u32>,
    pub(super) reuse: Option<u32>,
    pub(super) hard_expiry: bool,
}

impl PasswordPolicy {
    /// A policy with this length and every kind of character required; passwords never expire.
    pub fn new(minimum_length: u32) -> Self {
        Self {
            minimum_length,
            uppercase: true,
            lowercase: true,
            numbers: true,
            symbols: true,
            may_change: true,
            max_age: None,
            reuse: None,
            hard_expiry: false,
        }
    }

    /// Whether an upper-case letter is required.
    pub fn uppercase(mut self, demanded: bool) -> Self {
        self.uppercase = demanded;
        self
    }

    /// Whether a lower-case letter is required.
    pub fn lowercase(mut self, demanded: bool) -> Self {
        self.lowercase = demanded;
        self
    }

    /// Whether a digit is required.
    pub fn numbers(mut self, demanded: bool) -> Self {
        self.numbers = demanded;
        self
    }

    /// Whether a symbol is required.
    pub fn symbols(mut self, demanded: bool) -> Self {
        self.symbols = demanded;
        self
    }

    /// Whether users may change their passwords themselves.
    pub fn users_may_change(mut self, may: bool) -> Self {
        self.may_change = may;
        self
    }

    /// After how many days a password expires.
    pub fn max_age_days(mut self, days: u32) -> Self {
        self.max_age = Some(days);
        self
    }

    /// How many old passwords cannot be reused.
    pub fn reuse_prevention(mut self, passwords: u32) -> Self {
        self.reuse = Some(passwords);
        self
    }

    /// Whether a user with an expired password needs an administrator.
    pub fn hard_expiry(mut self, hard: bool) -> Self {
        self.hard_expiry = hard;
        self
    }

    /// Writes it like the real provider: unset members are absent, the minimum length is always present.
    pub(super) fn write(&self, xml: &mut Xml) {
        let yes = |value: bool| if value { "true" } else { "false" };
        xml.open("PasswordPolicy");
        xml.text("AllowUsersToChangePassword", yes(self.may_change));
        xml.text("RequireUppercaseCharacters", yes(self.uppercase));
        xml.text("RequireSymbols", yes(self.symbols));
        xml.text("ExpirePasswords", yes(self.max_age.is_some()));
        if let Some(reuse) = self.reuse {
            xml.text("PasswordReusePrevention", &reuse.to_string());
        }
        xml.text("RequireLowercaseCharacters", yes(self.lowercase));
        if let Some(days) = self.max_age {
            xml.text("MaxPasswordAge", &days.to_string());
        }
        xml.text("HardExpiry", yes(self.hard_expiry));
        xml.text("RequireNumbers", yes(self.numbers));
        xml.text("MinimumPasswordLength", &self.minimum_length.to_string());
        xml.close("PasswordPolicy");
    }
}
