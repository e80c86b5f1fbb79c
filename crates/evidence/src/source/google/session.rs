//! What the connection test leaves to the collection.

use evidence_bundle::document::Warning;

use super::access::Access;
use super::config::AltCloudConfig;
use super::listing::{Period, Recorded, Whose};
use super::scopes::OAuthScope;
use super::wire::Activity;
use evidence_http::Meta;
use evidence_rules::altcloud::record::{Role, User};

/// A workspace that granted a token and showed at least one of its parts.
pub(super) struct AltCloudSession {
    pub(super) config: AltCloudConfig,
    pub(super) access: Access,
    /// The delegated scopes.
    pub(super) scopes: Vec<OAuthScope>,
    /// The required scopes that are not delegated, with the provider's message.
    pub(super) refused: Vec<(OAuthScope, String)>,
    pub(super) firsts: Firsts,
    pub(super) period: Period,
    pub(super) warnings: Vec<Warning>,
}

/// The first pages that were read.
pub(super) struct Firsts {
    /// The users, for the customer or each domain.
    pub(super) users: Vec<(Whose, Recorded<User>)>,
    /// The roles.
    pub(super) roles: Option<Recorded<Role>>,
    /// The log, for the first event.
    pub(super) events: Option<Recorded<Activity>>,
}

impl Firsts {
    /// The answers.
    pub(super) fn metas(&self) -> impl Iterator<Item = &Meta> {
        let users = self.users.iter().filter_map(|(_, (first, _))| Some(&first.as_ref().ok()?.meta));
        let roles = self.roles.iter().filter_map(|(first, _)| Some(&first.as_ref().ok()?.meta));
        let events = self.events.iter().filter_map(|(first, _)| Some(&first.as_ref().ok()?.meta));
        users.chain(roles).chain(events)
    }
}
