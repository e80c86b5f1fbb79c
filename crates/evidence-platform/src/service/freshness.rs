//! Whether evidence still arrives.

use serde_json::json;

use super::admin::check_label;
use super::operator::actor;
use super::{Operator, Service};
use crate::error::Error;
use crate::freshness::duration;
use crate::principal::Caller;
use crate::store::{Action, Held, Organization, Outcome};

/// What to change about an organization.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// The new name.
    pub name: Option<String>,
    /// The new expectation: hours, or none.
    pub expect_hours: Option<Option<u32>>,
    /// The short name of the new group, or none.
    pub group: Option<Option<String>>,
}

impl Service {
    /// What every organization that the caller reaches holds, and how fresh it is. With `max_age` in seconds, an older one
    /// is an error.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`], or with [`Error::Late`].
    pub async fn held(&self, caller: &Caller, max_age: Option<u64>) -> Result<Vec<Held>, Error> {
        let found = self.visible(caller).await?;
        let Some(most) = max_age else { return Ok(found) };
        let late = |held: &Held| match (&held.slug, held.freshness.age_seconds()) {
            (slug, Some(age)) if age > most => Some(format!(
                "the newest bundle of {slug} is {} old ({age} s), more than max_age ({most} s)",
                duration(age)
            )),
            (slug, None) => Some(format!("{slug} has no bundle yet")),
            _ => None,
        };
        let late: Vec<String> = found.iter().filter_map(late).collect();
        if late.is_empty() { Ok(found) } else { Err(Error::Late(late.join("; "))) }
    }
}

impl Operator {
    /// Changes an organization.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn update_organization(&self, slug: &str, update: Update) -> Result<Organization, Error> {
        let before = self.organization(slug).await?;
        let Update { name, expect_hours, group } = update;
        if let Some(Some(slug)) = &group {
            self.group(slug).await?;
        }
        let new = Organization {
            name: name.unwrap_or_else(|| before.name.clone()),
            expect_hours: expect_hours.unwrap_or(before.expect_hours),
            group: group.unwrap_or_else(|| before.group.clone()),
            ..before.clone()
        };
        check_label(&new.name)?;
        let service = self.service();
        let mut transaction = service.inner.store.begin().await?;
        transaction.update_organization(&new).await?;
        let outcome = if new == before { Outcome::Unchanged } else { Outcome::Done };
        let detail = json!({ "name": new.name, "expect_hours": new.expect_hours, "group": new.group });
        let (actor, now) = (actor(&new), service.inner.clock.now());
        let record = actor.record(now, Action::OrganizationUpdate, new.id.as_str(), outcome, detail);
        transaction.audit(record).await?;
        transaction.commit().await?;
        Ok(new)
    }

    /// What every organization holds, and how fresh it is.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn held(&self) -> Result<Vec<Held>, Error> {
        let service = self.service();
        service.inner.store.held(None, service.inner.clock.now()).await
    }
}
