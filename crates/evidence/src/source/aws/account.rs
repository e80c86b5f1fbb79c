//! One account: that of the credentials, or one that is configured with a role.

use std::sync::Arc;

use serde::Serialize;

use super::config::{AccountScope, CloudConfig};
use super::host::action::Action;
use super::host::api::{Host, Hosts};
use super::host::endpoint::Region;
use super::host::refusal::{Recorded, Unread, no_address};
use super::names::NAME;
use crate::observation::Seen;
use evidence_http::Meta;
use evidence_rules::cloud::record::RootAccount;
use tokio::sync::OnceCell;

/// An account that can be read.
pub(super) struct Account {
    pub(super) config: Arc<CloudConfig>,
    pub(super) scope: AccountScope,
    pub(super) hosts: Arc<Hosts>,
    /// The region for calls that no region answers for itself.
    pub(super) home: Region,
    /// The account number, the subject of its checks.
    pub(super) number: String,
    /// The directory of its artifacts, with a trailing slash; empty for the only account.
    pub(super) folder: String,
    /// The prefix of messages, with several accounts.
    pub(super) label: String,
    /// Its summary, once a topic has asked for it.
    pub(super) summary: OnceCell<Recorded<RootAccount>>,
}

impl Account {
    /// The host that answers `action` in a region.
    pub(super) fn host<T>(&self, action: &Action<T>, region: &Region) -> Result<Arc<Host>, Unread> {
        self.hosts.host(action.service, region).ok_or_else(|| no_address(action, region))
    }

    /// The regions to read.
    pub(super) fn regions(&self) -> &[Region] {
        if self.config.wants_regions() { &self.scope.regions } else { &[] }
    }

    /// The regions to read, as text.
    pub(super) fn regions_in_words(&self) -> String {
        self.scope.regions.iter().map(Region::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The subject of what is observed in one region.
    pub(super) fn subject_in(&self, region: &Region) -> String {
        format!("{}/{region}", self.number)
    }

    /// The artifact of a setting that was read, in the account's directory.
    pub(super) fn artifact(&self, filename: &str, record: &impl Serialize, meta: &Meta) -> Seen {
        Seen::artifact(NAME, &format!("{}{filename}", self.folder), record, None, meta)
    }
}
