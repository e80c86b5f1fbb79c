//! Retention as a policy: what is due, what a tag holds, and the deletion of what is due, which is off unless the operator
//! asks for it.

use std::collections::BTreeMap;

use serde_json::json;

use super::admin::{Actor, check_label};
use super::operator::actor;
use super::{Operator, RequestId, Service, check_tags};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{Action, Due, Outcome, TagHold};
use crate::time::Time;

/// How many bundles to delete before the next look at what is due.
const BATCH: u32 = 200;

/// What a page shows of the retention of an organization.
#[derive(Debug, Clone)]
pub struct RetentionState {
    /// The bundles whose retention has ended or ends within the asked days, the earliest first.
    pub due: Vec<Due>,
    /// The tags that hold bundles.
    pub holds: Vec<TagHold>,
    /// The present.
    pub now: Time,
}

/// What a purge did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purged {
    /// How many bundles were deleted.
    pub bundles: u64,
    /// Their size.
    pub bytes: u64,
}

impl Service {
    /// What is due in the organization within these days, at most this many bundles, and what holds bundles there.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn retention(
        &self,
        principal: &Principal,
        days: u32,
        limit: u32,
    ) -> Result<RetentionState, Error> {
        principal.require(Capability::Administer)?;
        let now = self.inner.clock.now();
        let (store, organization) = (&self.inner.store, principal.organization());
        let due = store.due(Some(organization), now.plus_days(days), true, limit).await?;
        Ok(RetentionState { due, holds: store.tag_holds(organization).await?, now })
    }

    /// Holds every bundle of the organization that has this tag, now and later. `false` if the tag holds them already, with the
    /// reason of then.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Invalid`].
    pub async fn hold_tag(
        &self,
        principal: &Principal,
        request: &RequestId,
        tag: &str,
        reason: &str,
    ) -> Result<(TagHold, bool), Error> {
        let actor = Actor::of(principal, request)?;
        let added = self.begin_hold(&actor, tag, reason).await?;
        let holds = self.inner.store.tag_holds(actor.organization).await?;
        // Another administrator may have ended it meanwhile.
        let hold = holds.into_iter().find(|hold| hold.tag == tag).ok_or(Error::Busy)?;
        Ok((hold, added))
    }

    /// Ends the hold of a tag.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::NotFound`].
    pub async fn release_tag(
        &self,
        principal: &Principal,
        request: &RequestId,
        tag: &str,
    ) -> Result<(), Error> {
        self.end_hold(&Actor::of(principal, request)?, tag).await
    }

    /// The tags that hold bundles of the organization.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub async fn tag_holds(&self, principal: &Principal) -> Result<Vec<TagHold>, Error> {
        principal.require(Capability::Administer)?;
        self.inner.store.tag_holds(principal.organization()).await
    }

    async fn begin_hold(&self, actor: &Actor<'_>, tag: &str, reason: &str) -> Result<bool, Error> {
        let Some((name, value)) = tag.split_once('=') else {
            return Err(Error::Invalid("write a tag as name=value".to_owned()));
        };
        check_tags(&BTreeMap::from([(name.to_owned(), value.to_owned())]))?;
        check_label(reason)?;
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let added = transaction.add_tag_hold(actor.organization, tag, reason, now).await?;
        let outcome = if added { Outcome::Done } else { Outcome::Unchanged };
        let detail = json!({ "reason": reason });
        transaction.audit(actor.record(now, Action::TagHold, tag, outcome, detail)).await?;
        transaction.commit().await?;
        Ok(added)
    }

    async fn end_hold(&self, actor: &Actor<'_>, tag: &str) -> Result<(), Error> {
        let mut transaction = self.inner.store.begin().await?;
        if !transaction.end_tag_hold(actor.organization, tag).await? {
            return Err(Error::NotFound("hold"));
        }
        let now = self.inner.clock.now();
        let record = actor.record(now, Action::TagRelease, tag, Outcome::Done, json!({}));
        transaction.audit(record).await?;
        transaction.commit().await
    }

    /// The tags of a bundle that hold it.
    pub(super) async fn holding_tags(
        &self,
        actor: &Actor<'_>,
        tags: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, Error> {
        let holds = self.inner.store.tag_holds(actor.organization).await?;
        let has = |hold: &TagHold| tags.iter().any(|(name, value)| hold.tag == format!("{name}={value}"));
        Ok(holds.into_iter().filter(has).map(|hold| hold.tag).collect())
    }

    /// Deletes every bundle whose retention ended at least this many days ago and that nothing holds: the policy of the
    /// operator. An interrupted purge goes on with the next.
    ///
    /// # Errors
    /// Fails with [`Error::ClockAhead`] or [`Error::Unavailable`].
    pub async fn purge(&self, after_days: u32, by: &str) -> Result<Purged, Error> {
        self.purge_of(None, after_days, by).await
    }

    async fn purge_of(&self, slug: Option<&str>, after_days: u32, by: &str) -> Result<Purged, Error> {
        let of = match slug {
            Some(slug) => Some(Operator::of(self).organization(slug).await?.id),
            None => None,
        };
        let mut purged = Purged::default();
        loop {
            let now = self.inner.clock.now();
            let until = now.minus_seconds(u64::from(after_days).saturating_mul(86_400));
            let due = self.inner.store.due(of.as_ref(), until, false, BATCH).await?;
            let mut deleted = 0_u32;
            for Due { organization, bundle_id, size_bytes, .. } in &due {
                let actor = Actor { organization, name: by.to_owned(), request: "" };
                if self.delete_due(&actor, bundle_id, now).await? {
                    deleted = deleted.saturating_add(1);
                    purged.bytes = purged.bytes.saturating_add(*size_bytes);
                }
            }
            purged.bundles = purged.bundles.saturating_add(u64::from(deleted));
            // Nothing more is due, or all of it was held or deleted meanwhile.
            if due.len() < usize::try_from(BATCH).unwrap_or(usize::MAX) || deleted == 0 {
                return Ok(purged);
            }
        }
    }
}

impl Operator {
    /// The bundles whose retention ends within these days, of one organization or of all, the earliest first.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Unavailable`].
    pub async fn due(&self, slug: Option<&str>, days: u32, limit: u32) -> Result<Vec<Due>, Error> {
        let of = match slug {
            Some(slug) => Some(self.organization(slug).await?.id),
            None => None,
        };
        let inner = &self.service().inner;
        inner.store.due(of.as_ref(), inner.clock.now().plus_days(days), true, limit).await
    }

    /// Deletes what is due, of one organization or of all.
    ///
    /// # Errors
    /// Fails like [`Service::purge`], or with [`Error::NotFound`].
    pub async fn purge(&self, slug: Option<&str>) -> Result<Purged, Error> {
        self.service().purge_of(slug, 0, "cli").await
    }

    /// Holds every bundle of an organization that has this tag, now and later. `false` if the tag holds them already.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn hold_tag(&self, slug: &str, tag: &str, reason: &str) -> Result<bool, Error> {
        self.service().begin_hold(&actor(&self.organization(slug).await?), tag, reason).await
    }

    /// Ends the hold of a tag.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn release_tag(&self, slug: &str, tag: &str) -> Result<(), Error> {
        self.service().end_hold(&actor(&self.organization(slug).await?), tag).await
    }

    /// The tags that hold bundles of an organization.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn tag_holds(&self, slug: &str) -> Result<Vec<TagHold>, Error> {
        self.service().inner.store.tag_holds(&self.organization(slug).await?.id).await
    }
}
