//! Operations of the operator on the command line: creates organizations, their first keys and trust.
//!
//! No request reaches these. A key stands above organizations only if it belongs to a group, and then only looks at them.

use serde_json::json;

use super::admin::{Actor, check_label};
use super::{NewKey, Service, Window};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::role::Role;
use crate::store::{Action, AuditRecord, KeyRow, Organization, Outcome, Position, TrustedKeyRow};

/// The service as the command line uses it.
#[derive(Debug, Clone)]
pub struct Operator(Service);

impl Operator {
    /// The operator of this platform.
    pub fn of(service: &Service) -> Operator {
        Operator(service.clone())
    }

    pub(super) fn service(&self) -> &Service {
        &self.0
    }

    /// Creates an organization from which nothing is expected.
    ///
    /// # Errors
    /// Fails like [`Operator::create_organization_expecting`].
    pub async fn create_organization(&self, name: &str, slug: &str) -> Result<Organization, Error> {
        self.create_organization_expecting(name, slug, None).await
    }

    /// Creates an organization from which a bundle is expected after this many hours.
    ///
    /// # Errors
    /// Fails like [`Operator::create_organization_in`].
    pub async fn create_organization_expecting(
        &self,
        name: &str,
        slug: &str,
        expect_hours: Option<u32>,
    ) -> Result<Organization, Error> {
        self.create_organization_in(name, slug, expect_hours, None).await
    }

    /// Creates an organization, in a group if one is named.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the name or slug is not valid, with [`Error::NotFound`] if there is no such group,
    /// or with [`Error::Exists`].
    pub async fn create_organization_in(
        &self,
        name: &str,
        slug: &str,
        expect_hours: Option<u32>,
        group: Option<&str>,
    ) -> Result<Organization, Error> {
        check_label(name)?;
        check_slug(slug)?;
        if let Some(group) = group {
            self.group(group).await?;
        }
        let now = self.0.inner.clock.now();
        let new = Organization {
            id: OrganizationId::random()?,
            slug: slug.to_owned(),
            name: name.to_owned(),
            created_at: now,
            expect_hours,
            group: group.map(str::to_owned),
        };
        let mut transaction = self.0.inner.store.begin().await?;
        if !transaction.add_organization(&new).await? {
            return Err(Error::Exists("an organization or a group with this slug"));
        }
        let actor = actor(&new);
        let detail = json!({ "slug": slug, "name": name, "expect_hours": expect_hours, "group": group });
        let record = actor.record(now, Action::OrganizationCreate, new.id.as_str(), Outcome::Done, detail);
        transaction.audit(record).await?;
        transaction.commit().await?;
        Ok(new)
    }

    /// Every organization.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        self.0.inner.store.organizations().await
    }

    /// Creates a key for an organization.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn create_key(&self, slug: &str, role: Role, label: &str) -> Result<NewKey, Error> {
        self.create_key_until(slug, role, label, None).await
    }

    /// Creates a key that ends after this many days.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn create_key_until(
        &self,
        slug: &str,
        role: Role,
        label: &str,
        days: Option<u32>,
    ) -> Result<NewKey, Error> {
        let expires_at = days.map(|days| self.0.inner.clock.now().plus_days(days));
        self.0.make_key(&actor(&self.organization(slug).await?), role, label, expires_at).await
    }

    /// The keys of an organization, including revoked ones.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn keys(&self, slug: &str) -> Result<Vec<KeyRow>, Error> {
        self.0.inner.store.keys(&self.organization(slug).await?.id).await
    }

    /// Revokes a key of an organization by its id, its prefix, or a name that no other valid key has.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], or with [`Error::Invalid`] if several keys have the name.
    pub async fn revoke_key(&self, slug: &str, key: &str) -> Result<KeyRow, Error> {
        self.revoke_key_of(&actor(&self.organization(slug).await?), key).await
    }

    pub(super) async fn revoke_key_of(&self, actor: &Actor<'_>, key: &str) -> Result<KeyRow, Error> {
        let keys = self.0.inner.store.keys(actor.organization).await?;
        let by_id = keys.iter().any(|row| row.id == key || row.prefix == key);
        let named: Vec<_> = keys
            .iter()
            .filter(|row| !by_id && row.label == key && row.revoked_at.is_none())
            .map(|row| row.prefix.as_str())
            .collect();
        let id = match named.as_slice() {
            [] => key,
            [only] => only,
            several => {
                let (count, prefixes) = (several.len(), several.join(", "));
                return Err(Error::Invalid(format!(
                    "{count} keys have this name; revoke one by its prefix: {prefixes}"
                )));
            }
        };
        self.0.end_key(actor, id).await
    }

    /// Trusts a public key; `false` if it was trusted already.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn add_trusted_key(
        &self,
        slug: &str,
        public_key: &str,
        label: &str,
    ) -> Result<(TrustedKeyRow, bool), Error> {
        self.add_trusted_key_within(slug, public_key, label, Window::default()).await
    }

    /// Trusts a public key between these times; `false` if it was trusted already.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn add_trusted_key_within(
        &self,
        slug: &str,
        public_key: &str,
        label: &str,
        window: Window,
    ) -> Result<(TrustedKeyRow, bool), Error> {
        self.0.add_trust(&actor(&self.organization(slug).await?), public_key, label, window).await
    }

    /// The latest records of the platform's own audit log, newest first: refused keys and failed sign-ins.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn audit_log(&self, limit: u32) -> Result<Vec<AuditRecord>, Error> {
        self.0.inner.store.audit_log(&OrganizationId::platform(), &Position::start(), limit.into()).await
    }

    /// Records of the audit log of an organization or a group, or of the platform's own, older than this position, newest first.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Unavailable`].
    pub async fn audit_log_of(
        &self,
        slug: Option<&str>,
        after: &Position,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, Error> {
        let whose = match slug {
            Some(slug) => match self.organization(slug).await {
                Err(Error::NotFound(what)) => {
                    self.0.inner.store.group(slug).await?.ok_or(Error::NotFound(what))?.id
                }
                found => found?.id,
            },
            None => OrganizationId::platform(),
        };
        self.0.inner.store.audit_log(&whose, after, limit.into()).await
    }

    pub(super) async fn organization(&self, slug: &str) -> Result<Organization, Error> {
        self.0.inner.store.organization(slug).await?.ok_or(Error::NotFound("organization"))
    }
}

/// Checks the short name of an organization or a group.
pub(super) fn check_slug(slug: &str) -> Result<(), Error> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if slug.is_empty() || slug.len() > 63 || slug.starts_with('-') || !slug.bytes().all(plain) {
        let rule = "a slug has 1 to 63 of the characters a-z 0-9 - and does not begin with -";
        return Err(Error::Invalid(rule.into()));
    }
    Ok(())
}

pub(super) fn actor(organization: &Organization) -> Actor<'_> {
    Actor { organization: &organization.id, name: "cli".to_owned(), request: "" }
}
