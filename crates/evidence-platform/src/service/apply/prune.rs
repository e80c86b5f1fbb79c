//! What the platform has and a file of organizations does not name: listed, or retired if the operator wants that.
//!
//! Retiring never deletes. A key is revoked, a signing key counts until now, an organization or a group loses its keys. Bundles stay
//! for as long as their retention and holds say, and so does the audit log.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Owner, Plan, Wanted, WantedOrganization};
use crate::error::Error;
use crate::service::Operator;
use crate::store::{KeyRow, Organization, Standing, TrustedKeyRow};
use crate::time::Time;

impl Operator {
    /// Adds what the file does not name to a plan.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if an organization that has bundles would be retired.
    pub(super) async fn plan_unnamed(
        &self,
        wanted: &Wanted,
        groups: &BTreeMap<String, String>,
        organizations: &BTreeMap<String, Organization>,
        prune: bool,
        plan: &mut Plan,
    ) -> Result<(), Error> {
        let used: BTreeSet<&String> =
            wanted.organizations.iter().filter_map(|new| new.group.as_ref()).collect();
        for slug in groups.keys() {
            let keys = self.valid_keys(self.group_keys(slug).await?);
            let owner = Owner::Group(slug.clone());
            if wanted.groups.iter().any(|(named, _)| named == slug) {
                unnamed_keys(wanted, &owner, keys, prune, plan);
            } else if prune && !used.contains(slug) && !keys.is_empty() {
                keys.into_iter().for_each(|key| plan.add(revoked(&owner, key)));
            } else {
                plan.unnamed.push(format!("group {slug}"));
            }
        }
        let mut refused = Vec::new();
        for (slug, known) in organizations {
            let keys = self.valid_keys(self.keys(slug).await?);
            let trust = self.counting(self.trusted_keys(slug).await?);
            let owner = Owner::Organization(slug.clone());
            if let Some(new) = wanted.organizations.iter().find(|new| new.slug == *slug) {
                unnamed_keys(wanted, &owner, keys, prune, plan);
                let unnamed =
                    trust.into_iter().filter(|row| !new.trust.iter().any(|key| key.key_id == row.key_id));
                for row in unnamed {
                    match prune && new.lists_trust {
                        true => plan.add(ended(slug, row)),
                        false => plan.unnamed.push(format!("trusted key {} of {slug}", row.label)),
                    }
                }
                continue;
            }
            let is_bare = known.group.is_none() && known.expect_hours.is_none();
            if !prune || (is_bare && keys.is_empty() && trust.is_empty()) {
                plan.unnamed.push(format!("organization {slug}"));
                continue;
            }
            let (bundles, _) = self.service().inner.store.extent(&known.id).await?;
            if bundles > 0 {
                let noun = if bundles == 1 { "bundle" } else { "bundles" };
                refused.push(format!("{slug} ({bundles} {noun})"));
                continue;
            }
            keys.into_iter().for_each(|key| plan.add(revoked(&owner, key)));
            trust.into_iter().for_each(|row| plan.add(ended(slug, row)));
            if !is_bare {
                let to = WantedOrganization {
                    slug: slug.clone(),
                    name: known.name.clone(),
                    group: None,
                    expect_hours: None,
                    trust: Vec::new(),
                    lists_trust: false,
                };
                plan.add(Change::UpdateOrganization { from: Box::new(known.clone()), to });
            }
        }
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Error::Invalid(format!(
                "the file does not name organizations that have bundles: {}. To retire one, keep it in the file with \
                 `keys: {{}}` and `trust: []`: its keys are revoked, and its bundles stay",
                refused.join(", ")
            ))),
        }
    }

    /// Lets a signing key count until now.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub(super) async fn end_trust_now(&self, slug: &str, key_id: &str) -> Result<(), Error> {
        let now = self.service().clock().now();
        let known = self.trusted_keys(slug).await?;
        let row = known.iter().find(|row| row.key_id == key_id).ok_or(Error::NotFound("trusted key"))?;
        // A key that has not begun to count never does.
        let from = row.valid_from.filter(|from| *from < now);
        self.update_trust(slug, key_id, Some(from), Some(Some(now))).await.map(drop)
    }

    fn valid_keys(&self, keys: Vec<KeyRow>) -> Vec<KeyRow> {
        let now = self.service().clock().now();
        keys.into_iter().filter(|row| row.revoked_at.is_none() && !row.has_expired(now)).collect()
    }

    fn counting(&self, keys: Vec<TrustedKeyRow>) -> Vec<TrustedKeyRow> {
        let now = self.service().clock().now();
        keys.into_iter().filter(|row| !has_ended(row, now)).collect()
    }
}

/// Whether a signing key will not count for any further bundle.
pub(super) fn has_ended(row: &TrustedKeyRow, now: Time) -> bool {
    let seconds = |time: Time| time.0.div_euclid(1_000);
    let is_over = row.valid_until.is_some_and(|until| seconds(until) <= seconds(now));
    is_over || matches!(row.standing(now), Standing::Ended | Standing::Revoked)
}

fn unnamed_keys(wanted: &Wanted, owner: &Owner, keys: Vec<KeyRow>, prune: bool, plan: &mut Plan) {
    let is_named = |row: &KeyRow| wanted.keys.iter().any(|key| key.owner == *owner && key.name == row.label);
    for row in keys.into_iter().filter(|row| !is_named(row)) {
        match prune && wanted.lists_keys.contains(owner) {
            true => plan.add(revoked(owner, row)),
            false => plan.unnamed.push(format!("key {} of {}: {}", row.prefix, owner.slug(), row.label)),
        }
    }
}

fn revoked(owner: &Owner, row: KeyRow) -> Change {
    let KeyRow { prefix, label: name, role, .. } = row;
    Change::RevokeKey { owner: owner.clone(), prefix, name, role }
}

fn ended(slug: &str, row: TrustedKeyRow) -> Change {
    Change::EndTrust { slug: slug.to_owned(), key_id: row.key_id, name: row.label }
}
