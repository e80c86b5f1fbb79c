//! The workspace directory: people, administrator roles and the administrators' log of one customer, and the token
//! endpoint where a service account exchanges a signed assertion for an access token.
//!
//! The state is plain data with a builder; serving it changes nothing in it except the issued access tokens, which
//! are stored beside it. Assertions are verified with the service account's public key. Comments mark texts of the
//! real provider that are not known for certain. No answer is adapted to our client.

mod activity;
mod directory;
mod fields;
mod keyless;
mod live;
mod paging;
mod person;
mod person_body;
mod policies;
mod policy;
mod refusal;
mod reports;
mod role;
mod service_account;
mod shape;
mod state;
mod token;

pub use crate::server::{Identity, Request, Server};
pub use crate::throttle::Throttle;
pub use crate::{Body, Fault, FaultKind};
pub use activity::Activity;
pub use keyless::{AUDIENCE, REQUEST_TOKEN, SUBJECT};
pub use person::Person;
pub use policy::Policy;
pub use refusal::Limit;
pub use role::{AdminRole, Assignment};
pub(crate) use service_account::pem as signing_key;
pub use service_account::{MORE_SCOPES, SCOPES, ServiceAccount};
pub(crate) use shape::opaque;
pub use state::Workspace;
pub(crate) use token::verifying_key;

use crate::clock::Clock;
use live::Live;
use std::io;
use std::sync::Arc;

impl Workspace {
    /// Serves it on a loopback port until the server is dropped.
    ///
    /// # Errors
    /// Fails if no port or thread is available.
    pub fn serve(self) -> io::Result<Server<Self>> {
        let clock = Clock::default();
        Server::start(self.settings.clone(), clock.clone(), move |url| {
            let live = Arc::new(Live::new(self, url, clock));
            (live.clone(), Some(live))
        })
    }

    /// The credentials file of the first service account, in the form of the provider's console, with the token
    /// endpoint of this server. Empty without a service account.
    pub fn service_account_file(server: &Server<Self>) -> String {
        let state = server.state();
        let account = state.as_ref().and_then(|state| state.service_accounts.first());
        account.map_or_else(String::new, |account| account.file(&server.url()))
    }

    /// A federation file with the exchange of this server. The other identity provider's token is in `file`, or at an address
    /// of this server.
    pub fn federation_file(server: &Server<Self>, file: Option<&str>) -> String {
        keyless::federation_file(&server.url(), file)
    }

    /// A token of the other identity provider, valid for so many seconds.
    pub fn subject_token(server: &Server<Self>, subject: &str, seconds: i64) -> String {
        keyless::subject_token(&server.url(), subject, jiff::Timestamp::now().as_second(), seconds)
    }
}
