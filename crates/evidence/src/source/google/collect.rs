//! The collection: reads everything that the rules need concurrently, then interprets it.

use futures_util::future::{join, join_all, join3};

use super::api::Api;
use super::calls::EVENTS;
use super::connect;
use super::interpret::{self, Users};
use super::listing::{Listing, ListingError, Recorded};
use super::scopes::OAuthScope;
use super::session::AltCloudSession;
use super::wire::Activity;
use crate::source::{CollectionItem, Configured, Member, PopulationScope};
use evidence_bundle::document;
use evidence_rules::altcloud::record::{Assignment, Role, User};
use evidence_rules::altcloud::{ADMINISTRATORS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The roles and their assignments.
pub(super) type Administrators = (Listing<Role>, Listing<Assignment>);

/// The kind of a user in the population.
pub(super) const USER: &str = "user";

/// The log of each event.
type Events = Vec<(&'static str, Listing<Activity>)>;

/// A user as a member of the population, named by its address, which administrators know it by.
fn member(user: &User) -> Member {
    let name = user.primary_email.value().or(user.id.value()).map_or("", String::as_str);
    Member {
        id: user.id.value().cloned(),
        archived: user.archived.value().copied(),
        ..Member::new(USER, name)
    }
}

impl AltCloudSession {
    fn api(&self) -> Api<'_> {
        Api { access: &self.access, base: &self.config.api_url, customer: &self.config.customer_id }
    }

    /// The empty listing of a scope that is not delegated; `None` if it is delegated.
    pub(super) fn refused<T>(&self, scope: OAuthScope) -> Option<Listing<T>> {
        let (scope, text) = self.refused.iter().find(|(refused, _)| *refused == scope)?;
        Some(Listing::not_read(ListingError::NotDelegated(*scope, text.clone())))
    }

    pub(super) async fn users(&self) -> Users {
        let whose = connect::whose(&self.config).into_iter();
        let refused: Vec<_> =
            whose.filter_map(|whose| Some((whose, self.refused(OAuthScope::Users)?))).collect();
        if !refused.is_empty() {
            return Users { parts: refused };
        }
        let parts = self.firsts.users.iter().map(|(whose, first)| async move {
            (whose.clone(), self.api().users(whose, first.clone()).await)
        });
        Users { parts: join_all(parts).await }
    }

    async fn roles(&self) -> Listing<Role> {
        if let Some(refused) = self.refused(OAuthScope::Roles) {
            return refused;
        }
        let first = match &self.firsts.roles {
            Some(first) => first.clone(),
            None => self.api().first_roles().await,
        };
        self.api().roles(first).await
    }

    async fn assignments(&self) -> Listing<Assignment> {
        match self.refused(OAuthScope::Roles) {
            Some(refused) => refused,
            None => self.api().assignments().await,
        }
    }

    async fn events(&self) -> Vec<(&'static str, Listing<Activity>)> {
        join_all(EVENTS.iter().map(|event| async move { (*event, self.event(event).await) })).await
    }

    async fn event(&self, event: &'static str) -> Listing<Activity> {
        if let Some(refused) = self.refused(OAuthScope::Reports) {
            return refused;
        }
        let first = self.first_event(event).await;
        self.api().events(event, self.period, first).await
    }

    /// The first page of the log for `event`. The connection test has read it for the first event.
    pub(super) async fn first_event(&self, event: &'static str) -> Recorded<Activity> {
        match &self.firsts.events {
            Some(first) if EVENTS.first() == Some(&event) => first.clone(),
            // A refusal for one event applies to the whole log.
            Some((Err(ListingError::Refused(refused)), requests)) => {
                (Err(ListingError::Refused(refused.clone())), requests.clone())
            }
            _ => self.api().first_events(event, self.period).await,
        }
    }

    pub(super) async fn administrators(&self) -> Option<Administrators> {
        if !self.config.wants(&ADMINISTRATORS) {
            return None;
        }
        Some(join(self.roles(), self.assignments()).await)
    }

    /// Reads everything that the rules need, concurrently.
    async fn read(&self) -> (Users, Option<Administrators>, Option<Events>) {
        let events = async {
            if !self.config.wants(&USER_LIFECYCLE_LOG) {
                return None;
            }
            Some(self.events().await)
        };
        join3(self.users(), self.administrators(), events).await
    }

    pub(super) async fn found(&self) -> Vec<CollectionItem> {
        let (users, administrators, events) = self.read().await;
        let organization = self.config.organization();
        let mut found = Vec::new();
        if self.config.wants(&TWO_STEP_VERIFICATION) {
            found.extend(interpret::two_step(organization, &users));
        }
        if let Some((roles, assignments)) = administrators {
            found.extend(interpret::admin_roles(organization, &users, &roles, &assignments));
        }
        if let Some(events) = events {
            found.extend(interpret::lifecycle(organization, self.period, events));
        }
        let count = saturating_u64(users.all().len());
        let whose = match self.config.domains.len() {
            0 => organization.to_string(),
            1 => self.config.domains.concat(),
            domains => format!("{domains} domains"),
        };
        let members = users.all().into_iter().map(member).collect();
        // A directory reports no total beside its list: read to its end, the list is everything there is.
        let scope = match users.parts.iter().all(|(_, listing)| listing.extent().is_complete()) {
            false => document::Scope::Partial,
            true if self.config.domains.is_empty() => document::Scope::Whole,
            true => document::Scope::Chosen,
        };
        let expected = saturating_u64(found.iter().filter(|item| item.is_inspection()).count());
        let text = format!("{} of {whose}", counted(count, "user", "users"));
        let discovered = users.parts.iter().any(|(_, listing)| listing.pages > 0).then_some(count);
        found.insert(
            0,
            CollectionItem::Population {
                discovered,
                expected,
                text,
                members,
                scope: PopulationScope::new(scope, organization, USER, count),
            },
        );
        found
    }
}
