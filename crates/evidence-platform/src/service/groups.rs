//! Groups of organizations: their keys, what a key of a group reaches, and the state of every organization in one.

use serde_json::json;

use super::admin::{Actor, check_label};
use super::operator::check_slug;
use super::{NewKey, Operator, RequestId, Service};
use crate::error::Error;
use crate::freshness::Freshness;
use crate::id::OrganizationId;
use crate::principal::{Caller, GroupPrincipal, Principal};
use crate::role::{Capability, Role};
use crate::store::{Action, BundleRow, Group, Held, KeyRow, Outcome};
use crate::time::Time;

/// An organization as a fleet shows it.
#[derive(Debug, Clone)]
pub struct MemberState {
    /// Its short name.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// How fresh its evidence is.
    pub freshness: Freshness,
    /// How many bundles it has.
    pub bundles: u64,
    /// The newest bundle of each subject under each framework, with the one before it.
    pub latest: Vec<(BundleRow, Option<BundleRow>)>,
}

impl Service {
    /// The principal of a group's key in one of the group's organizations. It may look, whatever else the organization's
    /// own keys may do.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], also for an organization of another group.
    pub async fn within(&self, group: &GroupPrincipal, slug: &str) -> Result<Principal, Error> {
        let found = self.inner.store.member(&group.id, slug).await?.ok_or(Error::NotFound("organization"))?;
        let now = self.inner.clock.now();
        Ok(Principal {
            freshness: Some(self.inner.store.freshness(&found.id, now).await?),
            organization: found.id,
            slug: found.slug,
            name: found.name,
            key_id: group.key_id.clone(),
            key_prefix: group.key_prefix.clone(),
            // Who administers the group administers its keys, and only looks at its organizations.
            role: if group.role == Role::Admin { Role::Read } else { group.role },
            expires_at: group.expires_at,
            group: Some(group.name.clone()),
        })
    }

    /// The organizations that a caller may see, by slug: its own, or those of its group.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn visible(&self, caller: &Caller) -> Result<Vec<Held>, Error> {
        caller.require(Capability::Monitor)?;
        let now = self.inner.clock.now();
        match caller {
            Caller::Group(group) => self.inner.store.held(Some(&group.id), now).await,
            Caller::Organization(principal) => {
                let freshness = self.inner.store.freshness(principal.organization(), now).await?;
                let (bundles, bytes) = self.inner.store.extent(principal.organization()).await?;
                Ok(vec![Held {
                    id: principal.organization().clone(),
                    slug: principal.slug().to_owned(),
                    name: principal.name().to_owned(),
                    freshness,
                    bundles,
                    bytes,
                }])
            }
        }
    }

    /// The state of every organization that a caller may see: the late ones first, then by slug.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn fleet(&self, caller: &Caller) -> Result<Vec<MemberState>, Error> {
        caller.require(Capability::Read)?;
        let mut members = Vec::new();
        for Held { id, slug, name, freshness, bundles, .. } in self.visible(caller).await? {
            let latest = self.inner.store.latest(&id).await?;
            members.push(MemberState { slug, name, freshness, bundles, latest });
        }
        members.sort_by_key(|member| member.freshness.late_since().is_none());
        Ok(members)
    }

    /// The keys of the caller's group, including revoked ones.
    ///
    /// # Errors
    /// Fails with [`Error::Elsewhere`] for a key of an organization, or with [`Error::Forbidden`].
    pub async fn group_keys(&self, caller: &Caller) -> Result<Vec<KeyRow>, Error> {
        self.inner.store.keys(&administered(caller)?.id).await
    }

    /// Creates a key of the caller's group.
    ///
    /// # Errors
    /// Fails with [`Error::Elsewhere`], [`Error::Forbidden`] or [`Error::Invalid`].
    pub async fn create_group_key(
        &self,
        caller: &Caller,
        request: &RequestId,
        role: Role,
        label: &str,
        expires_at: Option<Time>,
    ) -> Result<NewKey, Error> {
        let group = administered(caller)?;
        check_role(role)?;
        self.make_key(&group_actor(group, request), role, label, expires_at).await
    }

    /// Revokes a key of the caller's group by its id or its prefix.
    ///
    /// # Errors
    /// Fails with [`Error::Elsewhere`], [`Error::Forbidden`] or [`Error::NotFound`].
    pub async fn revoke_group_key(
        &self,
        caller: &Caller,
        request: &RequestId,
        id: &str,
    ) -> Result<KeyRow, Error> {
        self.end_key(&group_actor(administered(caller)?, request), id).await
    }

    /// The group of an organization, and its keys: they look at the organization too.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn keys_above(&self, principal: &Principal) -> Result<Option<(Group, Vec<KeyRow>)>, Error> {
        principal.require(Capability::Administer)?;
        let Some(group) = self.inner.store.group_of(principal.organization()).await? else { return Ok(None) };
        let keys = self.inner.store.keys(&group.id).await?;
        Ok(Some((group, keys)))
    }

    /// The newest bundle of each subject under each framework, by name, with the one before it.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn latest(&self, principal: &Principal) -> Result<Vec<(BundleRow, Option<BundleRow>)>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.latest(principal.organization()).await
    }
}

impl Operator {
    /// Creates a group.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the name or slug is not valid, or with [`Error::Exists`].
    pub async fn create_group(&self, name: &str, slug: &str) -> Result<Group, Error> {
        check_label(name)?;
        check_slug(slug)?;
        let inner = &self.service().inner;
        let now = inner.clock.now();
        let id = OrganizationId::random()?;
        let new = Group { id, slug: slug.to_owned(), name: name.to_owned(), created_at: now, members: 0 };
        let mut transaction = inner.store.begin().await?;
        if !transaction.add_group(&new).await? {
            return Err(Error::Exists("an organization or a group with this slug"));
        }
        let detail = json!({ "slug": slug, "name": name });
        let (actor, target) = (of(&new), new.id.as_str());
        transaction.audit(actor.record(now, Action::GroupCreate, target, Outcome::Done, detail)).await?;
        transaction.commit().await?;
        Ok(new)
    }

    /// Changes the name of a group.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn rename_group(&self, slug: &str, name: &str) -> Result<Group, Error> {
        check_label(name)?;
        let group = Group { name: name.to_owned(), ..self.group(slug).await? };
        let inner = &self.service().inner;
        let mut transaction = inner.store.begin().await?;
        transaction.rename_group(&group.id, name).await?;
        let (actor, now) = (of(&group), inner.clock.now());
        let detail = json!({ "name": name });
        let record = actor.record(now, Action::GroupUpdate, group.id.as_str(), Outcome::Done, detail);
        transaction.audit(record).await?;
        transaction.commit().await?;
        Ok(group)
    }

    /// Every group.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn groups(&self) -> Result<Vec<Group>, Error> {
        self.service().inner.store.groups().await
    }

    /// Creates a key of a group. It looks at every organization of the group; with the role `admin` it also administers the
    /// keys of the group.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], or with [`Error::Invalid`] for a role that a group has no use for.
    pub async fn create_group_key(
        &self,
        slug: &str,
        role: Role,
        label: &str,
        days: Option<u32>,
    ) -> Result<NewKey, Error> {
        check_role(role)?;
        let service = self.service();
        let expires_at = days.map(|days| service.inner.clock.now().plus_days(days));
        service.make_key(&of(&self.group(slug).await?), role, label, expires_at).await
    }

    /// The keys of a group, including revoked ones.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn group_keys(&self, slug: &str) -> Result<Vec<KeyRow>, Error> {
        self.service().inner.store.keys(&self.group(slug).await?.id).await
    }

    /// Revokes a key of a group by its id, its prefix, or a name that no other valid key of the group has.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], or with [`Error::Invalid`] if several keys have the name.
    pub async fn revoke_group_key(&self, slug: &str, key: &str) -> Result<KeyRow, Error> {
        self.revoke_key_of(&of(&self.group(slug).await?), key).await
    }

    pub(super) async fn group(&self, slug: &str) -> Result<Group, Error> {
        self.service().inner.store.group(slug).await?.ok_or(Error::NotFound("group"))
    }
}

/// Refuses a role that a key of a group cannot have: bundles belong to an organization.
pub(super) fn check_role(role: Role) -> Result<(), Error> {
    match role {
        Role::Read | Role::Monitor | Role::Admin => Ok(()),
        Role::Upload => {
            let rule = "a key of a group only looks, or administers the keys of the group: its role is read, monitor or admin";
            Err(Error::Invalid(rule.to_owned()))
        }
    }
}

/// The group that the caller administers.
fn administered(caller: &Caller) -> Result<&GroupPrincipal, Error> {
    match caller {
        Caller::Group(group) => caller.require(Capability::Administer).map(|()| group),
        Caller::Organization(_) => Err(Error::Elsewhere("this is for keys of a group".to_owned())),
    }
}

fn group_actor<'a>(group: &'a GroupPrincipal, request: &'a RequestId) -> Actor<'a> {
    Actor { organization: &group.id, name: format!("key:{}", group.key_prefix()), request: &request.0 }
}

pub(super) fn of(group: &Group) -> Actor<'_> {
    Actor { organization: &group.id, name: "cli".to_owned(), request: "" }
}
