//! Whether evidence still arrives.

use serde_json::json;

use super::admin::check_label;
use super::operator::actor;
use super::{Operator, Service};
use crate::error::Error;
use crate::freshness::{Freshness, duration};
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{Action, Held, Organization, Outcome};

/// What to change about an organization.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// The new name.
    pub name: Option<String>,
    /// The new expectation: hours, or none.
    pub expect_hours: Option<Option<u32>>,
}

impl Service {
    /// How fresh the evidence of the organization is. With `max_age` in seconds, an older one is an error.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`], or with [`Error::Late`].
    pub async fn freshness(&self, principal: &Principal, max_age: Option<u64>) -> Result<Freshness, Error> {
        principal.require(Capability::Monitor)?;
        let now = self.inner.clock.now();
        let found = self.inner.store.freshness(principal.organization(), now).await?;
        let slug = principal.slug();
        match (max_age, found.age_seconds()) {
            (Some(most), Some(age)) if age > most => Err(Error::Late(format!(
                "the newest bundle of {slug} is {} old ({age} s), more than max_age ({most} s)",
                duration(age)
            ))),
            (Some(_), None) => Err(Error::Late(format!("{slug} has no bundle yet"))),
            _ => Ok(found),
        }
    }
}

impl Operator {
    /// Changes an organization.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn update_organization(&self, slug: &str, update: Update) -> Result<Organization, Error> {
        let before = self.organization(slug).await?;
        let Update { name, expect_hours } = update;
        let new = Organization {
            name: name.unwrap_or_else(|| before.name.clone()),
            expect_hours: expect_hours.unwrap_or(before.expect_hours),
            ..before.clone()
        };
        check_label(&new.name)?;
        let service = self.service();
        let mut transaction = service.inner.store.begin().await?;
        transaction.update_organization(&new).await?;
        let outcome = if new == before { Outcome::Unchanged } else { Outcome::Done };
        let detail = json!({ "name": new.name, "expect_hours": new.expect_hours });
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
        service.inner.store.held(service.inner.clock.now()).await
    }
}
