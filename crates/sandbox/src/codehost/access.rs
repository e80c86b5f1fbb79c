//! Determines the caller, and what the organization, the repository and the token let it see.

use super::app::{self, App};
use super::quota::ANONYMOUS;
use super::reply::{Reply, docs};
use super::ruleset::Level;
use super::world::World;
use super::{Organization, Permission, Repository, Role, Selection, Sso, Token, TokenKind};
use crate::server::{Call, Identity};
use base64::Engine as _;
use hyper::header::HeaderName;
use std::sync::Arc;

/// The caller.
#[derive(Clone, Debug)]
pub(super) enum Who {
    Anonymous,
    /// A credential that this host did not issue.
    Unknown,
    Token(Arc<Token>),
    /// An app that proved who it is.
    App(Arc<App>),
    /// A proof that is not valid: the status and the message.
    Unproven(u16, &'static str),
}

impl Who {
    pub(super) fn of(world: &World, call: &Call) -> Self {
        let Some(value) = call.header("authorization") else { return Self::Anonymous };
        let Some(secret) = secret(value) else { return Self::Unknown };
        if let Some(token) = world.issued.find(&secret, call.now) {
            return Self::Token(token);
        }
        match world.token(&secret) {
            Some(token) if !token.revoked => Self::Token(token.clone()),
            None if secret.starts_with("eyJ") => match app::proof(&world.host.apps, &secret, call.now) {
                Ok(app) => Self::App(Arc::new(app)),
                Err((status, message)) => Self::Unproven(status, message),
            },
            _ => Self::Unknown,
        }
    }

    pub(super) fn token(&self) -> Option<&Token> {
        match self {
            Self::Token(token) => Some(token),
            _ => None,
        }
    }

    /// The name that limits count: the user's, for all of their tokens.
    pub(super) fn counted_as(&self) -> &str {
        self.token().map_or(ANONYMOUS, |token| &token.login)
    }

    pub(super) fn identity(&self) -> Identity {
        match self {
            Self::Anonymous => Identity::Anonymous,
            Self::Unknown | Self::Unproven(..) => Identity::Unknown,
            Self::App(app) => Identity::User { login: app.slug.clone(), kind: "app" },
            Self::Token(token) => Identity::User { login: token.login.clone(), kind: token.kind.name() },
        }
    }

    fn role(&self) -> Role {
        self.token().map_or(Role::Outsider, |token| token.role)
    }

    /// How much of an organization this caller sees: that depends on being an owner, not on a scope beyond the
    /// accepted ones.
    pub(super) fn view(&self, organization: &Organization) -> Role {
        let Some(token) = self.token() else { return Role::Outsider };
        let accepted = match token.kind {
            // Recorded: `public_repo` alone gives the public view, even of the user's own organization.
            TokenKind::Classic | TokenKind::OAuth => {
                ["read:org", "repo", "user"].iter().any(|scope| token.has_scope(scope))
            }
            TokenKind::App if token.of_installation => {
                let sees = token.has_permission("organization_administration");
                return if sees && bound_to(token, organization) { Role::Owner } else { Role::Outsider };
            }
            TokenKind::FineGrained | TokenKind::App => bound_to(token, organization),
        };
        if accepted { token.role } else { Role::Outsider }
    }

    /// Whether a repository exists for this caller.
    pub(super) fn sees(&self, organization: Option<&Organization>, repository: &Repository) -> bool {
        self.sees_one(organization, &repository.owner, &repository.name, repository.is_private())
    }

    pub(super) fn sees_one(
        &self,
        organization: Option<&Organization>,
        owner: &str,
        name: &str,
        private: bool,
    ) -> bool {
        if !private {
            return true;
        }
        let Some(token) = self.token() else { return false };
        if let Some(sees) = token.sees_private {
            return sees;
        }
        match token.kind {
            TokenKind::Classic | TokenKind::OAuth => token.has_scope("repo") && self.has_read(organization),
            TokenKind::FineGrained | TokenKind::App => {
                covers(token, owner, name) && (token.kind == TokenKind::App || self.has_read(organization))
            }
        }
    }

    fn has_read(&self, organization: Option<&Organization>) -> bool {
        match self.role() {
            Role::Owner => true,
            Role::Member => organization.is_some_and(|o| o.default_repository_permission != "none"),
            Role::Outsider => false,
        }
    }

    /// What the caller's user may do in a repository, regardless of the token's permissions.
    pub(super) fn permission(
        &self,
        organization: Option<&Organization>,
        repository: &Repository,
    ) -> Permission {
        let Some(token) = self.token() else { return Permission::Pull };
        let usual = match token.role {
            Role::Owner => Permission::Admin,
            Role::Member => match organization.map(|o| o.default_repository_permission.as_str()) {
                Some("admin") => Permission::Admin,
                Some("write") => Permission::Push,
                _ => Permission::Pull,
            },
            Role::Outsider => Permission::Pull,
        };
        repository.permission.unwrap_or(match (token.repository_admin, usual) {
            (Some(true), _) => Permission::Admin,
            (Some(false), Permission::Admin) => Permission::Pull,
            (_, usual) => usual,
        })
    }

    /// Whether the caller's user administers a repository.
    pub(super) fn administers(&self, organization: Option<&Organization>, repository: &Repository) -> bool {
        self.permission(organization, repository) >= Permission::Admin
    }

    /// Whether the caller's user may push to a repository.
    pub(super) fn pushes(&self, organization: Option<&Organization>, repository: &Repository) -> bool {
        self.permission(organization, repository) >= Permission::Push
    }

    /// Whether the caller's user owns the organizations.
    pub(super) fn owns(&self) -> bool {
        self.role() == Role::Owner
    }

    /// Whether user and token may change the rulesets of a level; only then do they see who may bypass them.
    pub(super) fn changes_rulesets(
        &self,
        level: Level,
        organization: Option<&Organization>,
        repository: &Repository,
    ) -> bool {
        let Some(token) = self.token() else { return false };
        match level {
            Level::Repository => {
                let open = !repository.is_private() && token.has_scope("public_repo");
                self.administers(organization, repository)
                    && (open || token.has_scope("repo") || token.writes("administration"))
            }
            Level::Organization => {
                self.owns() && (token.has_scope("admin:org") || token.writes("organization_administration"))
            }
            Level::Enterprise => token.has_scope("admin:enterprise"),
        }
    }

    /// Checks a permission of a token without scopes, and refuses if it is missing.
    pub(super) fn permitted(
        &self,
        repository: &Repository,
        permission: &str,
        documentation: &str,
    ) -> Result<(), Reply> {
        let Some(token) = self.token() else { return Ok(()) };
        if token.kind.has_scopes() {
            return Ok(());
        }
        // Reading a public repository's metadata and contents takes no permission, but its settings do.
        let open = !repository.is_private() && permission != "administration";
        if open || (covers(token, &repository.owner, &repository.name) && token.has_permission(permission)) {
            return Ok(());
        }
        let by = if token.kind == TokenKind::App { "integration" } else { "personal access token" };
        Err(Reply::error(403, &format!("Resource not accessible by {by}"), documentation))
    }
}

fn bound_to(token: &Token, organization: &Organization) -> bool {
    token.resource_owner.as_ref().is_some_and(|owner| owner.eq_ignore_ascii_case(&organization.login))
}

fn covers(token: &Token, owner: &str, name: &str) -> bool {
    let bound = token.resource_owner.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(owner));
    bound
        && match &token.selection {
            Selection::All => true,
            Selection::Selected(names) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        }
}

/// The secret in an `Authorization` header: `token T`, `Bearer T`, or basic authentication with the token as
/// password or user.
fn secret(value: &str) -> Option<String> {
    let (scheme, rest) = value.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("token") || scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(rest).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (user, password) = text.split_once(':')?;
    Some(if password.is_empty() || password == "x-oauth-basic" { user } else { password }.to_owned())
}

/// The organization's own refusals, in the host's order.
pub(super) fn policy(organization: &Organization, who: &Who, documentation: &str) -> Result<(), Reply> {
    let login = &organization.login;
    let refuse = |message: &str| Err(Reply::error(403, message, documentation));
    let Some(token) = who.token() else { return Ok(()) };
    if let Some((status, message)) = &organization.refusal {
        return Err(Reply::error(*status, message, documentation));
    }
    if organization.ip_allow_list {
        return refuse(&format!(
            "Although you appear to have the correct authorization credentials, the `{login}` organization has an IP \
             allow list enabled, and your IP address is not permitted to access this resource."
        ));
    }
    if organization.bans_classic_tokens && token.kind == TokenKind::Classic {
        return refuse(&format!(
            "`{login}` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a \
             personal access token with fine-grained permissions."
        ));
    }
    if let (Some(days), TokenKind::FineGrained) = (organization.fine_grained_lifetime_days, token.kind) {
        return refuse(&format!(
            "The '{login}' organization forbids access via a fine-grained personal access tokens if the token's \
             lifetime is greater than {days} days. Please adjust your token's lifetime at the following URL: \
             https://github.com/settings/personal-access-tokens/1234567"
        ));
    }
    if organization.oauth_restricted && token.kind == TokenKind::OAuth {
        return refuse(&format!(
            "Although you appear to have the correct authorization credentials, the `{login}` organization has \
             enabled OAuth App access restrictions, meaning that data access to third-parties is limited. For more \
             information on these restrictions, including how to enable this app, visit \
             https://docs.github.com/articles/restricting-access-to-your-organization-s-data/"
        ));
    }
    // Fine-grained tokens are authorized on creation.
    if token.sso_authorized || token.kind == TokenKind::FineGrained {
        return Ok(());
    }
    match organization.sso {
        Some(Sso::Required) => {
            let what = if token.kind == TokenKind::OAuth { "OAuth token" } else { "Personal Access token" };
            let message = format!(
                "Resource protected by organization SAML enforcement. You must grant your {what} access to this \
                 organization."
            );
            let url = format!("https://github.com/orgs/{login}/sso?authorization_request=A0SANDBOXONLY");
            let reply = Reply::error(403, &message, docs::SSO);
            Err(reply.header(HeaderName::from_static("x-github-sso"), format!("required; url={url}")))
        }
        Some(Sso::Hidden) => Err(Reply::not_found(documentation)),
        Some(Sso::PartialResults) | None => Ok(()),
    }
}

/// Whether single sign-on shortens a listing.
pub(super) fn partial_results(organization: &Organization, who: &Who) -> bool {
    organization.sso == Some(Sso::PartialResults)
        && who.token().is_some_and(|token| !token.sso_authorized && token.kind != TokenKind::FineGrained)
}
