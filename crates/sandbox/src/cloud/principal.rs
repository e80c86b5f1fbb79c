//! Who may call: access keys with what they are allowed to do, and roles that can be taken on.

use crate::fault::wildcard;
use std::fmt;

/// An access key and whose it is.
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

/// What may be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    /// Patterns of actions.
    allowed: Vec<String>,
    /// Patterns of actions and of regions.
    denied: Vec<(String, String)>,
}

/// Whether an action may be done.
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

/// Actions are compared without regard to case, as policies are.
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
    /// A user's long-lived access key, which allows nothing but asking who it is.
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

    /// What is allowed: actions such as `iam:GetAccountPasswordPolicy`, `logs:*` or `*`.
    pub fn allow<S: Into<String>>(mut self, actions: impl IntoIterator<Item = S>) -> Self {
        self.grants.allowed.extend(actions.into_iter().map(Into::into));
        self
    }

    /// Takes back what was allowed; what is denied stays so.
    pub fn allow_nothing(mut self) -> Self {
        self.grants.allowed.clear();
        self
    }

    /// What a policy of the organization forbids, in which regions (`*` for all), whatever is allowed.
    pub fn deny(mut self, action: impl Into<String>, region: impl Into<String>) -> Self {
        self.grants.denied.push((action.into(), region.into()));
        self
    }

    /// Makes it temporary credentials: a session token is needed, until this second since 1970.
    pub fn session(mut self, token: impl Into<String>, expires: i64) -> Self {
        self.session = Some(RoleSession { token: token.into(), expires });
        self
    }

    /// The key is there but switched off: it is answered as if it were not there.
    pub fn inactive(mut self, inactive: bool) -> Self {
        self.inactive = inactive;
        self
    }
}

/// A role that can be taken on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub(super) name: String,
    pub(super) external_id: Option<String>,
    pub(super) trusted: Vec<String>,
    pub(super) grants: Grants,
    pub(super) max_session: u32,
}

impl Role {
    /// A role of the account that trusts nobody and allows nothing; its sessions last up to an hour.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            external_id: None,
            trusted: Vec::new(),
            grants: Grants::default(),
            max_session: 3600,
        }
    }

    /// Who may take it on: an ARN, or `*`. The caller must be allowed `sts:AssumeRole` too.
    pub fn trust(mut self, arn: impl Into<String>) -> Self {
        self.trusted.push(arn.into());
        self
    }

    /// The external identifier that must be named.
    pub fn external_id(mut self, id: impl Into<String>) -> Self {
        self.external_id = Some(id.into());
        self
    }

    /// What its sessions are allowed.
    pub fn allow<S: Into<String>>(mut self, actions: impl IntoIterator<Item = S>) -> Self {
        self.grants.allowed.extend(actions.into_iter().map(Into::into));
        self
    }

    /// What a policy of the organization forbids its sessions, in which regions (`*` for all).
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
