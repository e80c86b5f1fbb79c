//! Brings organizations and groups into the state that a file wants. The plan is made first; each step of it is a
//! transaction of its own, so that an interrupted run goes on where it ended.
//!
//! What the platform has and the file does not name stays, and the plan lists it, unless the operator wants it retired: see
//! [`prune`].

mod prune;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use self::prune::has_ended;
use super::admin::check_label;
use super::groups::{check_role, of};
use super::operator::{actor, check_slug};
use super::{Operator, Update, Window};
use crate::error::Error;
use crate::role::Role;
use crate::secret::ApiKey;
use crate::store::{KeyRow, Organization};

/// What a file wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The slug and the name of each group.
    pub groups: Vec<(String, String)>,
    /// The organizations.
    pub organizations: Vec<WantedOrganization>,
    /// The API keys.
    pub keys: Vec<WantedKey>,
    /// The owners whose API keys the file lists; the list may be empty.
    pub lists_keys: BTreeSet<Owner>,
}

/// An organization as a file wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedOrganization {
    /// Its short name.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// The short name of its group.
    pub group: Option<String>,
    /// After how many hours a bundle is expected.
    pub expect_hours: Option<u32>,
    /// The keys whose bundles it accepts.
    pub trust: Vec<WantedTrust>,
    /// Whether the file lists the keys; the list may be empty.
    pub lists_trust: bool,
}

/// A signing key that a file wants to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTrust {
    /// Its id.
    pub key_id: String,
    /// The public key.
    pub pem: String,
    /// Its name.
    pub name: String,
}

/// Whose API key it is: an organization's or a group's, by its short name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// An organization.
    Organization(String),
    /// A group.
    Group(String),
}

impl Owner {
    /// The short name.
    pub fn slug(&self) -> &str {
        match self {
            Owner::Organization(slug) | Owner::Group(slug) => slug,
        }
    }
}

/// An API key that a file wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedKey {
    /// Whose key it is.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Create a group.
    CreateGroup {
        /// Its short name.
        slug: String,
        /// Its name.
        name: String,
    },
    /// Rename a group.
    RenameGroup {
        /// Its short name.
        slug: String,
        /// Its name.
        from: String,
        /// Its new name.
        name: String,
    },
    /// Create an organization.
    CreateOrganization(WantedOrganization),
    /// Change an organization.
    UpdateOrganization {
        /// As it is.
        from: Box<Organization>,
        /// As it is wanted.
        to: WantedOrganization,
    },
    /// Trust a signing key.
    Trust {
        /// The short name of the organization.
        slug: String,
        /// The key.
        key: WantedTrust,
    },
    /// Create an API key.
    CreateKey(WantedKey),
    /// Revoke an API key that the file does not name.
    RevokeKey {
        /// Whose key it is.
        owner: Owner,
        /// Its prefix.
        prefix: String,
        /// Its name.
        name: String,
        /// Its role.
        role: Role,
    },
    /// End the trust in a signing key that the file does not name. Bundles that were received before stay verified.
    EndTrust {
        /// The short name of the organization.
        slug: String,
        /// The id of the key.
        key_id: String,
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours =
            |hours: Option<u32>| hours.map_or("nothing".to_owned(), |hours| format!("every {hours} h"));
        let group = |group: &Option<String>| group.clone().unwrap_or_else(|| "none".to_owned());
        match self {
            Change::CreateGroup { slug, name } => write!(f, "create group {slug}: {name}"),
            Change::RenameGroup { slug, from, name } => write!(f, "rename group {slug}: {from} -> {name}"),
            Change::CreateOrganization(new) => {
                write!(f, "create organization {}: {}", new.slug, new.name)?;
                if new.group.is_some() {
                    write!(f, ", group {}", group(&new.group))?;
                }
                if new.expect_hours.is_some() {
                    write!(f, ", a bundle {}", hours(new.expect_hours))?;
                }
                Ok(())
            }
            Change::UpdateOrganization { from, to } => {
                let mut parts = Vec::new();
                if from.name != to.name {
                    parts.push(format!("name {} -> {}", from.name, to.name));
                }
                if from.group != to.group {
                    parts.push(format!("group {} -> {}", group(&from.group), group(&to.group)));
                }
                if from.expect_hours != to.expect_hours {
                    parts.push(format!("bundles {} -> {}", hours(from.expect_hours), hours(to.expect_hours)));
                }
                write!(f, "update organization {}: {}", to.slug, parts.join(", "))
            }
            Change::Trust { slug, key } => write!(f, "trust {} for {slug}: {}", key.key_id, key.name),
            Change::CreateKey(key) => {
                write!(f, "create key {} for {}: {}", key.name, key.owner.slug(), key.role)
            }
            Change::RevokeKey { owner, prefix, name, role } => {
                write!(f, "revoke key {prefix} of {}: {name}, {role}", owner.slug())
            }
            Change::EndTrust { slug, key_id, name } => write!(f, "end trust in {key_id} for {slug}: {name}"),
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order.
    pub changes: Vec<Change>,
    /// How many things are as they are wanted.
    pub unchanged: u64,
    /// What the platform has and the file does not name, and stays.
    pub unnamed: Vec<String>,
    /// Signing keys that the file names and that no longer count.
    pub ended: Vec<String>,
}

impl Operator {
    /// Compares the platform with what is wanted. With `prune`, what the file does not name is retired.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] for what cannot become true.
    pub async fn plan(&self, wanted: &Wanted, prune: bool) -> Result<Plan, Error> {
        let mut plan = Plan::default();
        let groups: BTreeMap<String, String> =
            self.groups().await?.into_iter().map(|group| (group.slug, group.name)).collect();
        let organizations: BTreeMap<String, Organization> =
            self.organizations().await?.into_iter().map(|found| (found.slug.clone(), found)).collect();
        for (slug, name) in &wanted.groups {
            check(slug, name)?;
            if organizations.contains_key(slug) {
                return Err(Error::Invalid(format!("{slug} is an organization, not a group")));
            }
            match groups.get(slug) {
                None => plan.add(Change::CreateGroup { slug: slug.clone(), name: name.clone() }),
                Some(known) if known == name => plan.same(),
                Some(from) => {
                    let (slug, from, name) = (slug.clone(), from.clone(), name.clone());
                    plan.add(Change::RenameGroup { slug, from, name });
                }
            }
        }
        let named: BTreeSet<&String> = wanted.groups.iter().map(|(slug, _)| slug).collect();
        for new in &wanted.organizations {
            check(&new.slug, &new.name)?;
            if groups.contains_key(&new.slug) {
                return Err(Error::Invalid(format!("{} is a group, not an organization", new.slug)));
            }
            if let Some(group) =
                new.group.as_ref().filter(|group| !named.contains(group) && !groups.contains_key(*group))
            {
                let detail = format!("{}: there is no group {group}; name it under `groups`", new.slug);
                return Err(Error::Invalid(detail));
            }
            match organizations.get(&new.slug) {
                None => plan.add(Change::CreateOrganization(new.clone())),
                Some(known) if is(known, new) => plan.same(),
                Some(known) => {
                    plan.add(Change::UpdateOrganization { from: Box::new(known.clone()), to: new.clone() });
                }
            }
            self.plan_trust(new, organizations.contains_key(&new.slug), &mut plan).await?;
        }
        self.plan_keys(wanted, &groups, &organizations, &mut plan).await?;
        self.plan_unnamed(wanted, &groups, &organizations, prune, &mut plan).await?;
        Ok(plan)
    }

    async fn plan_trust(&self, new: &WantedOrganization, exists: bool, plan: &mut Plan) -> Result<(), Error> {
        let known = if exists { self.trusted_keys(&new.slug).await? } else { Vec::new() };
        let now = self.service().clock().now();
        for key in &new.trust {
            let Some(known) = known.iter().find(|known| known.key_id == key.key_id) else {
                plan.add(Change::Trust { slug: new.slug.clone(), key: key.clone() });
                continue;
            };
            plan.same();
            if has_ended(known, now) {
                plan.ended.push(format!("trusted key {} of {}", known.label, new.slug));
            }
        }
        Ok(())
    }

    async fn plan_keys(
        &self,
        wanted: &Wanted,
        groups: &BTreeMap<String, String>,
        organizations: &BTreeMap<String, Organization>,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        let mut known: BTreeMap<&Owner, Vec<KeyRow>> = BTreeMap::new();
        for key in &wanted.keys {
            let keys = match known.get(&key.owner) {
                Some(keys) => keys,
                None => {
                    let keys = match &key.owner {
                        Owner::Group(slug) if groups.contains_key(slug) => self.group_keys(slug).await?,
                        Owner::Organization(slug) if organizations.contains_key(slug) => {
                            self.keys(slug).await?
                        }
                        Owner::Group(_) | Owner::Organization(_) => Vec::new(),
                    };
                    known.entry(&key.owner).or_insert(keys)
                }
            };
            if matches!(key.owner, Owner::Group(_)) {
                check_role(key.role)?;
            }
            let now = self.service().clock().now();
            let mut valid = keys.iter().filter(|row| row.revoked_at.is_none() && !row.has_expired(now));
            match valid.find(|row| row.label == key.name) {
                None => plan.add(Change::CreateKey(key.clone())),
                Some(row) if row.role == key.role => plan.same(),
                Some(row) => {
                    let (name, slug, role, other) = (&key.name, key.owner.slug(), row.role, key.role);
                    return Err(Error::Invalid(format!(
                        "the key {name} of {slug} has the role {role}, and the file wants {other}: revoke it, or name \
                         another"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Does a step of a plan. `key` is the new key of a step that creates one.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`], [`Error::Exists`] if it was done meanwhile, or [`Error::Unavailable`].
    pub async fn apply(&self, change: &Change, key: Option<ApiKey>) -> Result<(), Error> {
        match change {
            Change::CreateGroup { slug, name } => self.create_group(name, slug).await.map(drop),
            Change::RenameGroup { slug, name, .. } => self.rename_group(slug, name).await.map(drop),
            Change::CreateOrganization(new) => {
                let group = new.group.as_deref();
                self.create_organization_in(&new.name, &new.slug, new.expect_hours, group).await.map(drop)
            }
            Change::UpdateOrganization { to, .. } => {
                let update = Update {
                    name: Some(to.name.clone()),
                    expect_hours: Some(to.expect_hours),
                    group: Some(to.group.clone()),
                };
                self.update_organization(&to.slug, update).await.map(drop)
            }
            Change::Trust { slug, key } => {
                self.add_trusted_key_within(slug, &key.pem, &key.name, Window::default()).await.map(drop)
            }
            Change::CreateKey(WantedKey { owner, name, role }) => {
                let key = match key {
                    Some(key) => key,
                    None => ApiKey::random()?,
                };
                let service = self.service();
                let made = match owner {
                    Owner::Organization(slug) => {
                        let owner = self.organization(slug).await?;
                        service.add_new_key(&actor(&owner), key, *role, name, None).await
                    }
                    Owner::Group(slug) => {
                        let owner = self.group(slug).await?;
                        service.add_new_key(&of(&owner), key, *role, name, None).await
                    }
                };
                made.map(drop)
            }
            Change::RevokeKey { owner: Owner::Organization(slug), prefix, .. } => {
                self.revoke_key(slug, prefix).await.map(drop)
            }
            Change::RevokeKey { owner: Owner::Group(slug), prefix, .. } => {
                self.revoke_group_key(slug, prefix).await.map(drop)
            }
            Change::EndTrust { slug, key_id, .. } => self.end_trust_now(slug, key_id).await,
        }
    }
}

impl Plan {
    fn add(&mut self, change: Change) {
        self.changes.push(change);
    }

    fn same(&mut self) {
        self.unchanged = self.unchanged.saturating_add(1);
    }
}

/// Whether an organization is as it is wanted.
fn is(known: &Organization, new: &WantedOrganization) -> bool {
    (&known.name, &known.group, known.expect_hours) == (&new.name, &new.group, new.expect_hours)
}

fn check(slug: &str, name: &str) -> Result<(), Error> {
    let named = |error| match error {
        Error::Invalid(detail) => Error::Invalid(format!("{slug}: {detail}")),
        error => error,
    };
    check_slug(slug).and_then(|()| check_label(name)).map_err(named)
}
