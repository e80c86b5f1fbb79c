//! The password policy requires long passwords with all kinds of characters.

use evidence_bundle::document::Category::{Misconfigured, Missing};
use evidence_bundle::document::Severity::{High, Medium};

use crate::cloud::record::PasswordPolicy;
use crate::inspection::Shown;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Recommendation, Rule, Verdict, reason};

/// Passwords are long and contain all kinds of characters.
pub static PASSWORD_POLICY: Rule = Rule {
    code: "password-policy",
    title: "Password policy",
    version: 1,
    kind: "account",
    expected: "a password policy of at least {minimum_length} characters that requires upper and lower case letters, numbers and \
               symbols",
    reads: "the password policy of the account",
    not_checked: "the second factor; access keys and their age; passwords of an identity provider; the other fields of the policy",
    permission: "Allow `iam:GetAccountPasswordPolicy` and `iam:GetAccountSummary` to the user or role that collects.",
    improvement: Some(Recommendation::new(
        "Passwords of fewer than 14 characters allowed",
        "Raise the minimum length in the account's password policy to 14.",
    )),
    settings: &[&MINIMUM_LENGTH],
    hints: &[],
    reasons: &[&PASSWORD_POLICY_MISSING, &PASSWORD_TOO_SHORT, &PASSWORD_CHARACTERS_NOT_REQUIRED, &NO_USERS],
};

/// The account has no password policy.
pub static PASSWORD_POLICY_MISSING: Reason = Reason::new("password_policy_missing", "No password policy")
    .advice(
        High,
        Missing,
        "Set a password policy for the account: at least {minimum_length} characters{minimum_length recommended}, with upper and \
                      lower case letters, numbers and symbols. Without one the provider's default applies.",
    );

/// Passwords may be shorter than required.
pub static PASSWORD_TOO_SHORT: Reason = Reason::new("password_too_short", "Short passwords allowed").advice(
    High,
    Misconfigured,
    "Raise the minimum length in the account's password policy to at least {minimum_length}{minimum_length recommended}.",
);

/// Not all four kinds of characters are required.
pub static PASSWORD_CHARACTERS_NOT_REQUIRED: Reason =
    Reason::new("password_characters_not_required", "Password character types not required").advice(
        Medium,
        Misconfigured,
        "Require upper case letters, lower case letters, numbers and symbols in the account's password \
                      policy.",
    );

/// The account has no user, so no one has a password that the policy could govern.
pub static NO_USERS: Reason = Reason::new("no_users", "No users in the account");

/// Without users, a policy governs no password, whether or not one is set.
pub fn without_users() -> Verdict {
    Verdict::not_applicable(&NO_USERS, "the account has no IAM user")
}

/// What is known about the passwords of an account.
#[derive(Debug, Clone)]
pub struct PasswordFacts {
    /// The policy.
    pub policy: KnownPolicy,
    /// The number of users, if it was read.
    pub users: Option<u64>,
}

/// What is known about a password policy.
#[derive(Debug, Clone)]
pub enum KnownPolicy {
    /// It was read.
    Set(PasswordPolicy),
    /// There is none, for this reason and in these words.
    Missing(&'static Reason, String),
    /// It was not read, for this reason and in these words.
    Unread(&'static Reason, String),
}

impl KnownPolicy {
    /// What an observation without the policy shows.
    pub fn not_shown(shown: Shown<'_>) -> KnownPolicy {
        match shown {
            Shown::Nothing(reason, detail) => KnownPolicy::Missing(reason, detail.to_string()),
            Shown::Denied(reason, detail) | Shown::Failed(reason, detail) => {
                KnownPolicy::Unread(reason, detail.to_string())
            }
            Shown::Artifact | Shown::Excluded(_) => KnownPolicy::Unread(&reason::NO_EVIDENCE, String::new()),
        }
    }
}

/// The judgement.
pub static JUDGE: Judge<PasswordFacts> = Judge {
    rule: &PASSWORD_POLICY,
    judge: |facts, settings| {
        Some(match &facts.policy {
            _ if facts.users == Some(0) => without_users(),
            KnownPolicy::Set(policy) => judge(policy, settings),
            KnownPolicy::Missing(reason, detail) => Verdict::fail(reason, detail),
            KnownPolicy::Unread(reason, detail) => Verdict::unknown(reason, detail),
        })
    },
};

/// The minimum length to pass. The provider allows policies of up to 128 characters.
pub static MINIMUM_LENGTH: Setting = Setting {
    rule: "password-policy",
    name: "minimum_length",
    default: 8,
    minimum: 8,
    maximum: 128,
    recommended: Some(14),
};

/// Passes if passwords need at least the minimum length and all four kinds of them.
///
/// If several criteria fail, the reason is the length; `actual` lists all. Fields missing from the answer were not
/// read: if nothing fails, the check is not verifiable.
pub fn judge(policy: &PasswordPolicy, settings: &Settings) -> Verdict {
    let length = policy.minimum_password_length.value().copied();
    let kinds = [
        ("upper case letters", &policy.require_uppercase_characters),
        ("lower case letters", &policy.require_lowercase_characters),
        ("numbers", &policy.require_numbers),
        ("symbols", &policy.require_symbols),
    ];
    let named = |wanted: Option<bool>| {
        let names = kinds.iter().filter(|(_, required)| required.value().copied() == wanted);
        names.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    let (missing, untold) = (named(Some(false)), named(None));
    let mut words = vec![match length {
        Some(length) => format!("at least {length} characters"),
        None => "minimum length not reported".to_string(),
    }];
    for (names, what) in
        [(&named(Some(true)), "required"), (&missing, "not required"), (&untold, "not reported")]
    {
        if !names.is_empty() {
            words.push(format!("{} {what}", names.join(", ")));
        }
    }
    let actual = words.join("; ");
    if length.is_some_and(|length| length < settings.get(&MINIMUM_LENGTH)) {
        return Verdict::fail(&PASSWORD_TOO_SHORT, actual);
    }
    if !missing.is_empty() {
        return Verdict::fail(&PASSWORD_CHARACTERS_NOT_REQUIRED, actual);
    }
    match length {
        Some(length) if untold.is_empty() => {
            Verdict { improvable: length < settings.recommended(&MINIMUM_LENGTH), ..Verdict::pass(actual) }
        }
        _ => Verdict::unknown(&reason::NO_EVIDENCE, actual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;
    use crate::rule::Status;

    /// Every relevant length and every form of every switch: the whole domain, compared with the criteria written as a
    /// formula.
    #[test]
    fn the_whole_domain() {
        let lengths = [
            Field::Absent,
            Field::Null,
            Field::Value(0),
            Field::Value(7),
            Field::Value(8),
            Field::Value(13),
            Field::Value(14),
            Field::Value(128),
            Field::Value(u64::MAX),
        ];
        let switches = [Field::Absent, Field::Null, Field::Value(false), Field::Value(true)];
        let mut count = 0;
        for length in &lengths {
            for index in 0..256_usize {
                let switch = |place: u32| switches[index / 4_usize.pow(place) % 4].clone();
                let policy = PasswordPolicy {
                    minimum_password_length: length.clone(),
                    require_uppercase_characters: switch(0),
                    require_lowercase_characters: switch(1),
                    require_numbers: switch(2),
                    require_symbols: switch(3),
                    ..PasswordPolicy::default()
                };
                let required: Vec<_> = (0..4).map(|place| switch(place).value().copied()).collect();
                let long = length.value().map(|length| *length >= 8);
                let expected = if long == Some(false) {
                    (Status::Fail, "password_too_short")
                } else if required.contains(&Some(false)) {
                    (Status::Fail, "password_characters_not_required")
                } else if long.is_none() || required.contains(&None) {
                    (Status::NotVerifiable, "no_evidence")
                } else {
                    (Status::Pass, "ok")
                };
                let verdict = judge(&policy, &Settings::default());
                assert_eq!((verdict.status, verdict.reason.code), expected, "{policy:?}");
                let improvable =
                    expected.0 == Status::Pass && length.value().is_some_and(|length| *length < 14);
                assert_eq!(verdict.improvable, improvable, "{policy:?}");
                count += 1;
            }
        }
        assert_eq!(count, 9 * 256);
    }

    #[test]
    fn what_was_found_is_told_in_full() {
        let policy = PasswordPolicy {
            minimum_password_length: Field::Value(6),
            require_uppercase_characters: Field::Value(true),
            require_lowercase_characters: Field::Value(true),
            require_numbers: Field::Value(false),
            ..PasswordPolicy::default()
        };
        assert_eq!(
            judge(&policy, &Settings::default()).actual.unwrap(),
            "at least 6 characters; upper case letters, lower case letters required; numbers not required; symbols \
             not reported"
        );
    }

    #[test]
    fn a_longer_minimum() {
        for (minimum, length, reason, improvable) in [
            (8, 8, "ok", true),
            (12, 11, "password_too_short", false),
            (12, 12, "ok", true),
            (12, 14, "ok", false),
            (20, 19, "password_too_short", false),
            (20, 20, "ok", false),
        ] {
            let mut settings = Settings::default();
            settings.set(&MINIMUM_LENGTH, minimum);
            let on = Field::Value(true);
            let policy = PasswordPolicy {
                minimum_password_length: Field::Value(length),
                require_uppercase_characters: on.clone(),
                require_lowercase_characters: on.clone(),
                require_numbers: on.clone(),
                require_symbols: on,
                ..PasswordPolicy::default()
            };
            let verdict = judge(&policy, &settings);
            assert_eq!((verdict.reason.code, verdict.improvable), (reason, improvable), "{minimum} {length}");
        }
        let mut settings = Settings::default();
        let text = |settings: &Settings| {
            settings.fill(&PASSWORD_POLICY, PASSWORD_TOO_SHORT.advice.unwrap().remediation).into_owned()
        };
        assert!(text(&settings).ends_with("to at least 8 (14 recommended)."));
        settings.set(&MINIMUM_LENGTH, 20);
        assert!(text(&settings).ends_with("to at least 20."));
        assert!(PASSWORD_POLICY.expectation(&settings).contains("of at least 20 characters"));
    }
}
