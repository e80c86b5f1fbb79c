//! What is read of each account: one topic per subject of the rules.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _};

use super::account::Account;
use super::config::CloudConfig;
use super::host::endpoint::Region;
use crate::observation::ArtifactKind;
use crate::source::{CollectionItem, Member};
use evidence_bundle::document::Warning;
use evidence_text::saturating_u64;

/// A subject of an account.
pub(super) struct Topic {
    /// The display name.
    pub(super) name: &'static str,
    /// The kind of its first artifact, if it has any: its rules are undecided if the account cannot be read.
    pub(super) kind: Option<&'static ArtifactKind>,
    /// Whether the configuration requires it.
    pub(super) required: fn(&CloudConfig) -> bool,
    /// What the population counts of it, if anything: the words for one and for several.
    pub(super) counted: Option<(&'static str, &'static str)>,
    /// Makes every call that depends on no other answer: its part of the connection test.
    pub(super) open: for<'a> fn(&'a Account) -> BoxFuture<'a, Box<dyn Answers>>,
}

/// What the connection test learned about a topic.
pub(super) trait Answers: Send + Sync {
    /// Warns of what the credentials may not see, with the consequences: of the account, or of one of its regions.
    fn warnings(&self, _account: &Account, _region: Option<&Region>) -> Vec<Warning> {
        Vec::new()
    }

    /// Adds its part to the plan of a dry run. Sends only the requests that it needs to count.
    fn plan<'a>(&'a self, account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()>;

    /// Reads everything that the population is to show.
    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>>;
}

/// What a topic contributes to the collection of an account.
pub(super) struct Reading<'a> {
    pub(super) members: Vec<Member>,
    /// How many there are in scope of what the topic counts.
    pub(super) count: u64,
    /// The number of inspections that will follow.
    pub(super) expected: u64,
    /// Whether a part was not read.
    pub(super) incomplete: bool,
    /// The enabled regions, if the topic lists them.
    pub(super) enabled: Option<EnabledRegions>,
    /// The items, in their order.
    pub(super) items: BoxStream<'a, CollectionItem>,
}

/// How many regions of an account are enabled, and how many of these are in scope.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnabledRegions {
    pub(super) total: u64,
    pub(super) in_scope: u64,
}

impl<'a> Reading<'a> {
    /// A reading that is complete with these items.
    pub(super) fn of(items: Vec<CollectionItem>) -> Reading<'a> {
        let expected = saturating_u64(items.iter().filter(|item| item.is_inspection()).count());
        Reading { expected, ..Reading::later(stream::iter(items).boxed()) }
    }

    /// A reading whose only item is an inspection that is still to be made.
    pub(super) fn inspection(item: impl Future<Output = CollectionItem> + Send + 'a) -> Reading<'a> {
        Reading { expected: 1, ..Reading::later(item.into_stream().boxed()) }
    }

    fn later(items: BoxStream<'a, CollectionItem>) -> Reading<'a> {
        Reading { members: Vec::new(), count: 0, expected: 0, incomplete: false, enabled: None, items }
    }
}

/// The plan of a collection of one account.
#[derive(Default)]
pub(super) struct AccountPlan {
    pub(super) requests: u64,
    /// The requests that depend on the answers to the others.
    pub(super) more_requests: u64,
    pub(super) artifacts: Vec<(&'static str, u64)>,
    pub(super) failed: Vec<String>,
    pub(super) log_groups: u64,
}
