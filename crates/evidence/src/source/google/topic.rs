//! What is read of a workspace beside its users: one topic per subject of the rules.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::host::api::Host;
use super::host::listing::ListingError;
use super::host::scopes::OAuthScope;
use super::users::Users;
use crate::source::{CollectionItem, Plan};
use evidence_http::Meta;
use evidence_rules::inspection::ArtifactKind;

/// A subject of a workspace.
pub(super) struct Topic {
    /// The display name.
    pub(super) name: &'static str,
    /// The artifact that it reads: a rule that uses it requires the topic.
    pub(super) kind: &'static ArtifactKind,
    /// A second artifact that it makes of the same answers.
    pub(super) also: Option<&'static ArtifactKind>,
    /// Reads its first page: its part of the connection test.
    pub(super) open: for<'a> fn(&'a Host) -> BoxFuture<'a, Box<dyn Answers>>,
}

/// What the connection test learned about a topic.
pub(super) trait Answers: Send + Sync {
    /// Its first page, if it has a listing of its own whose scope is delegated.
    fn first(&self) -> Option<FirstPart<'_>> {
        None
    }

    /// Its part of the plan of a dry run. Sends only the requests that it needs to count.
    fn plan<'a>(&'a self, _host: &'a Host) -> BoxFuture<'a, TopicPlan> {
        std::future::ready(TopicPlan::default()).boxed()
    }

    /// Reads everything. The result judges it, once the users are read too.
    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect>;
}

/// Judges what was read, beside the users.
pub(super) type Inspect = Box<dyn FnOnce(&Users) -> Vec<CollectionItem> + Send>;

/// The first page of a listing, as the connection test explains it.
pub(super) struct FirstPart<'a> {
    pub(super) scope: OAuthScope,
    /// The display name.
    pub(super) what: String,
    pub(super) page: Result<&'a Meta, &'a ListingError>,
}

/// What a topic adds to the plan.
#[derive(Default)]
pub(super) struct TopicPlan {
    /// What is missing.
    pub(super) gaps: Plan,
    /// How many listings go on behind their first page, which is as far as the plan reads them.
    pub(super) longer: u64,
    /// How many further pages each of them has at most.
    pub(super) further_pages: u64,
}
