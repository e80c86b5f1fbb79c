//! What the connection test leaves to the collection.

use std::sync::Arc;

use evidence_bundle::document::Warning;

use super::account::Opened;
use super::api::Hosts;
use super::config::CloudConfig;
use super::wire::Caller;

/// Accounts of a provider that accepted the credentials.
pub(super) struct CloudSession {
    pub(super) config: Arc<CloudConfig>,
    pub(super) hosts: Arc<Hosts>,
    /// The identity of the credentials; with several accounts, of the caller that assumes the roles.
    pub(super) caller: Caller,
    pub(super) accounts: Vec<Opened>,
    pub(super) warnings: Vec<Warning>,
}
