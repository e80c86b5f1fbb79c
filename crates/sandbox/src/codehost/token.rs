//! Tokens: their kinds, their users, and those users' permissions. Their text is never shown.

use std::fmt;

/// The kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A personal token with scopes (`ghp_`).
    Classic,
    /// A personal token with permissions, bound to one resource owner (`github_pat_`).
    FineGrained,
    /// An OAuth app's token (`gho_`), also with scopes.
    OAuth,
    /// An app's or a workflow's token (`ghs_`): permissions, and no user.
    App,
}

impl TokenKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::FineGrained => "fine-grained",
            Self::OAuth => "oauth",
            Self::App => "app",
        }
    }

    pub(crate) fn has_scopes(self) -> bool {
        matches!(self, Self::Classic | Self::OAuth)
    }
}

/// The role of the token's user in the organizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An owner: sees and administers everything.
    Owner,
    /// A member.
    Member,
    /// Neither owner nor member.
    Outsider,
}

/// The repositories of a fine-grained or app token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of the resource owner.
    All,
    /// These, by name. Other private repositories are silently missing.
    Selected(Vec<String>),
}

/// A token.
#[derive(Clone)]
pub struct Token {
    pub(crate) secret: String,
    pub(crate) kind: TokenKind,
    pub(crate) login: String,
    pub(crate) role: Role,
    pub(crate) scopes: Vec<String>,
    pub(crate) permissions: Vec<String>,
    pub(crate) resource_owner: Option<String>,
    pub(crate) selection: Selection,
    pub(crate) sees_private: Option<bool>,
    pub(crate) repository_admin: Option<bool>,
    pub(crate) expires: Option<String>,
    pub(crate) sso_authorized: bool,
    pub(crate) revoked: bool,
    pub(crate) suspended: bool,
    pub(crate) of_installation: bool,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("kind", &self.kind)
            .field("login", &self.login)
            .field("role", &self.role)
            .field("scopes", &self.scopes)
            .field("permissions", &self.permissions)
            .finish_non_exhaustive()
    }
}

impl Token {
    fn new(kind: TokenKind, secret: impl Into<String>) -> Self {
        Self {
            secret: secret.into(),
            kind,
            login: "octo-auditor".to_owned(),
            role: Role::Owner,
            scopes: Vec::new(),
            permissions: Vec::new(),
            resource_owner: None,
            selection: Selection::All,
            sees_private: None,
            repository_admin: None,
            expires: None,
            sso_authorized: false,
            revoked: false,
            suspended: false,
            of_installation: false,
        }
    }

    /// A classic token of an owner, without scopes.
    pub fn classic(secret: impl Into<String>) -> Self {
        Self::new(TokenKind::Classic, secret)
    }

    /// A fine-grained token of an owner, without permissions and resource owner.
    pub fn fine_grained(secret: impl Into<String>) -> Self {
        Self::new(TokenKind::FineGrained, secret)
    }

    /// An OAuth app's token.
    pub fn oauth(secret: impl Into<String>) -> Self {
        Self::new(TokenKind::OAuth, secret)
    }

    /// An app's installation token.
    pub fn app(secret: impl Into<String>) -> Self {
        Self::new(TokenKind::App, secret)
    }

    /// The granted scopes; the header shows them normalized.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// The granted permissions, such as `administration:read`.
    pub fn permissions<S: Into<String>>(mut self, permissions: impl IntoIterator<Item = S>) -> Self {
        self.permissions = permissions.into_iter().map(Into::into).collect();
        self
    }

    /// The resource owner of a fine-grained token.
    pub fn resource_owner(mut self, login: impl Into<String>) -> Self {
        self.resource_owner = Some(login.into());
        self
    }

    /// The selected repositories.
    pub fn repositories(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Its user.
    pub fn login(mut self, login: impl Into<String>) -> Self {
        self.login = login.into();
        self
    }

    /// The role of its user.
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Whether private repositories are visible, whatever the kind, scopes and role.
    pub fn sees_private(mut self, sees: bool) -> Self {
        self.sees_private = Some(sees);
        self
    }

    /// Whether the user administers every repository, whatever the role says.
    pub fn repository_admin(mut self, admin: bool) -> Self {
        self.repository_admin = Some(admin);
        self
    }

    /// The expiry header, in either form: `2027-02-04 16:42:10 UTC` or `2027-02-04 16:42:10 +0100`.
    pub fn expires(mut self, text: impl Into<String>) -> Self {
        self.expires = Some(text.into());
        self
    }

    /// Whether it is authorized for single sign-on.
    pub fn sso_authorized(mut self, authorized: bool) -> Self {
        self.sso_authorized = authorized;
        self
    }

    /// Whether it is revoked: 401 'Bad credentials'.
    pub fn revoked(mut self, revoked: bool) -> Self {
        self.revoked = revoked;
        self
    }

    /// Whether its user's account is suspended.
    pub fn suspended(mut self, suspended: bool) -> Self {
        self.suspended = suspended;
        self
    }

    /// An installation's token: its permissions alone decide what it sees.
    pub(crate) fn of_installation(self) -> Self {
        Self { of_installation: true, role: Role::Outsider, ..self }
    }

    pub(crate) fn user_id(&self) -> u64 {
        // Any number that is stable for a login.
        self.login.bytes().fold(583_000, |sum, byte| (sum * 31 + u64::from(byte)) % 90_000_000)
    }

    /// True if a scope is granted, by name or by a parent.
    pub(crate) fn has_scope(&self, wanted: &str) -> bool {
        self.kind.has_scopes() && self.scopes.iter().any(|scope| scope == wanted || includes(scope, wanted))
    }

    /// True if a permission such as `administration:read` is granted, or the writing one.
    pub(crate) fn has_permission(&self, name: &str) -> bool {
        self.permissions
            .iter()
            .filter_map(|granted| granted.split_once([':', '=']))
            .any(|(key, _)| key == name)
    }

    /// True if the writing form of a permission is granted.
    pub(crate) fn writes(&self, name: &str) -> bool {
        self.permissions.iter().any(|granted| granted.split_once([':', '=']) == Some((name, "write")))
    }

    /// The scopes as the header shows them: alphabetical, and without those that another scope includes.
    pub(crate) fn scopes_header(&self) -> String {
        let mut shown: Vec<&str> = self
            .scopes
            .iter()
            .map(String::as_str)
            .filter(|scope| !self.scopes.iter().any(|other| includes(other, scope)))
            .collect();
        shown.sort_unstable();
        shown.dedup();
        shown.join(", ")
    }
}

/// Whether a scope includes another, directly or indirectly.
fn includes(parent: &str, child: &str) -> bool {
    const CHAINS: &[(&str, &[&str])] = &[
        ("repo", &["repo:status", "repo_deployment", "public_repo", "repo:invite", "security_events"]),
        ("user", &["read:user", "user:email", "user:follow"]),
        ("project", &["read:project"]),
        ("audit_log", &["read:audit_log"]),
        ("admin:enterprise", &["manage_runners:enterprise", "manage_billing:enterprise", "read:enterprise"]),
    ];
    if CHAINS.iter().any(|(known, children)| *known == parent && children.contains(&child)) {
        return true;
    }
    const LEVELS: &[&str] = &["read", "write", "admin"];
    let level = |scope: &str| {
        let (level, what) = scope.split_once(':')?;
        Some((LEVELS.iter().position(|known| *known == level)?, what.to_owned()))
    };
    match (level(parent), level(child)) {
        (Some((high, of)), Some((low, what))) => of == what && high > low,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_shown_as_the_host_shows_them() {
        for (granted, shown) in [
            (vec![], ""),
            (vec!["repo", "admin:org"], "admin:org, repo"),
            (vec!["read:org", "admin:org", "write:org", "public_repo", "repo"], "admin:org, repo"),
            (vec!["user", "read:user", "gist"], "gist, user"),
            (vec!["read:repo_hook", "repo"], "read:repo_hook, repo"),
        ] {
            assert_eq!(Token::classic("t").scopes(granted).scopes_header(), shown);
        }
        assert!(Token::classic("t").scopes(["admin:org"]).has_scope("read:org"));
        assert!(!Token::classic("t").scopes(["public_repo"]).has_scope("repo"));
    }

    #[test]
    fn debug_hides_the_secret() {
        let token = Token::classic("ghp_very_secret");
        assert!(!format!("{token:?}").contains("very_secret"));
    }
}
