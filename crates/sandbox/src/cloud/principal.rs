//! Principals: access keys with their permissions, and roles that can be assumed.

use crate::fault::wildcard;
use std::fmt;

/// An access key and its owner.
#[derive(Clone)]
pub struct Principal {
    pub(super) access_key: String,
    pub(super) secret: String,
    pub(super) session: Option<RoleSession>,
    pub(super) arn: String,
    pub(super) grants: Grants,
    pub(super) inactive: bool,
}

/// What makes credentials temporary.
#[derive(Clone)]
pub(super) struct RoleSession {
    pub(super) token: String,
    /// Seconds since 1970.
    pub(super) expires: i64,
}

/// Permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    /// Patterns of actions.
    allowed: Vec<String>,
    /// Patterns of actions and of regions.
    denied: Vec<(String, String)>,
}

/// Whether an action is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permit {
    Allowed,
    /// No policy allows it.
    NotAllowed,
    /// A policy of the organization forbids it.
    Denied,
}

impl Grants {
    pub(super) fn permit(&self, action: &str, region: &str) -> Permit {
        if self.denied.iter().any(|(what, place)| matches(what, action) && wildcard(place, region)) {
            return Permit::Denied;
        }
        match self.allowed.iter().any(|pattern| matches(pattern, action)) {
            true => Permit::Allowed,
            false => Permit::NotAllowed,
        }
    }
}

/// Compares actions without regard to case, like policies do.
fn matches(pattern: &str, action: &str) -> bool {
    wildcard(&pattern.to_lowercase(), &action.to_lowercase())
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("arn", &self.arn)
            .field("grants", &self.grants)
            .finish_non_exhaustive()
    }
}

impl Principal {
    /// A user's long-lived access key, which allows only `GetCallerIdentity`.
    pub fn user(access_key: impl Into<String>, secret: impl Into<String>, arn: impl Into<String>) -> Self {
        Self {
            access_key: access_key.into(),
            secret: secret.into(),
            session: None,
            arn: arn.into(),
            grants: Grants::default(),
            inactive: false,
        }
    }

    /// Allows actions such as `iam:GetAccountPasswordPolicy`, `logs:*` or `*`.
    pub fn allow<S: Into<String>>(mut self, actions: impl IntoIterator<Item = S>) -> Self {
        self.grants.allowed.extend(actions.into_iter().map(Into::into));
        self
    }

    /// Revokes everything that was allowed; denials remain.
    pub fn allow_nothing(mut self) -> Self {
        self.grants.allowed.clear();
        self
    }

    /// Denies an action by a policy of the organization, in this region (`*` for all), whatever is allowed.
    pub fn deny(mut self, action: impl Into<String>, region: impl Into<String>) -> Self {
        self.grants.denied.push((action.into(), region.into()));
        self
    }

    /// Makes the credentials temporary: a session token is required, until this second since 1970.
    pub fn session(mut self, token: impl Into<String>, expires: i64) -> Self {
        self.session = Some(RoleSession { token: token.into(), expires });
        self
    }

    /// Whether the key is deactivated: it is then treated as unknown.
    pub fn inactive(mut self, inactive: bool) -> Self {
        self.inactive = inactive;
        self
    }
}

/// A role that can be assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub(super) name: String,
    pub(super) external_id: Option<String>,
    pub(super) trusted: Vec<String>,
    /// The tokens of an identity provider that it accepts.
    pub(super) web_identities: Vec<String>,
    pub(super) grants: Grants,
    pub(super) max_session: u32,
}

impl Role {
    /// A role that trusts no one and allows nothing; its sessions last up to an hour.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            external_id: None,
            trusted: Vec::new(),
            web_identities: Vec::new(),
            grants: Grants::default(),
            max_session: 3600,
        }
    }

    /// Who may assume it: an ARN, or `*`. The caller also needs `sts:AssumeRole`.
    pub fn trust(mut self, arn: impl Into<String>) -> Self {
        self.trusted.push(arn.into());
        self
    }

    /// A token of an identity provider that it accepts.
    pub fn web_identity(mut self, token: impl Into<String>) -> Self {
        self.web_identities.push(token.into());
        self
    }

    /// The required external id.
    pub fn external_id(mut self, id: impl Into<String>) -> Self {
        self.external_id = Some(id.into());
        self
    }

    /// Allows its sessions these actions.
    pub fn allow<S: Into<String>>(mut self, actions: impl IntoIterator<Item = S>) -> Self {
        self.grants.allowed.extend(actions.into_iter().map(Into::into));
        self
    }

    /// Denies its sessions an action by a policy of the organization, in this region (`*` for all).
    pub fn deny(mut self, action: impl Into<String>, region: impl Into<String>) -> Self {
        self.grants.denied.push((action.into(), region.into()));
        self
    }

    /// How many seconds a session may last: up to 43,200.
    pub fn max_session_seconds(mut self, seconds: u32) -> Self {
        self.max_session = seconds;
        self
    }

    pub(super) fn arn(&self, account: &str) -> String {
        format!("arn:aws:iam::{account}:role/{}", self.name)
    }
}
