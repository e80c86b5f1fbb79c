//! What the connection test leaves to the plan and to the collection.

use std::sync::Arc;

use evidence_bundle::document::Warning;

use super::account::Account;
use super::accounts::OrganizationAccounts;
use super::config::CloudConfig;
use super::host::api::Hosts;
use super::host::sts::Caller;
use super::topic::{Answers, Topic};
use crate::observation::Failed;
use evidence_http::Asked;

/// The number of accounts to read concurrently.
pub(super) const ACCOUNTS_AT_ONCE: usize = 4;

/// Accounts of a provider that accepted the credentials.
pub(super) struct CloudSession {
    pub(super) config: Arc<CloudConfig>,
    pub(super) hosts: Arc<Hosts>,
    /// The identity of the credentials; with several accounts, of the caller that assumes the roles.
    pub(super) caller: Caller,
    pub(super) accounts: Vec<AccountState>,
    pub(super) organization: OrganizationAccounts,
    pub(super) warnings: Vec<Warning>,
}

/// An account after the connection test.
pub(super) enum AccountState {
    /// The account can be read.
    Open(Box<OpenAccount>),
    /// The account cannot be read. The others still are.
    Unread {
        /// The account number.
        number: String,
        /// The failure.
        failed: Failed,
        /// The requests of the attempt.
        requests: Vec<Asked>,
    },
}

/// An account that can be read, and what the connection test learned about each topic.
pub(super) struct OpenAccount {
    pub(super) account: Account,
    pub(super) answers: Vec<(&'static Topic, Box<dyn Answers>)>,
}

impl CloudSession {
    /// The numbers of the configured accounts, whether they can be read or not.
    pub(super) fn numbers(&self) -> Vec<&str> {
        self.accounts.iter().map(AccountState::number).collect()
    }
}

impl AccountState {
    /// The account's number.
    fn number(&self) -> &str {
        match self {
            AccountState::Open(open) => &open.account.number,
            AccountState::Unread { number, .. } => number,
        }
    }

    /// The account, if it can be read.
    pub(super) fn account(&self) -> Option<&Account> {
        match self {
            AccountState::Open(open) => Some(&open.account),
            AccountState::Unread { .. } => None,
        }
    }
}
