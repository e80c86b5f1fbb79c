//! A code host that accepted the token, and what the connection test learned of it: everything that a topic asks.
//!
//! `api` makes the calls, `sign_in` and `app` know how the run is signed in, `dialect` parses an answer and `answer` knows the meaning of status, headers and message; `compare`
//! and `refusal` hold what all topics decide alike about an answer. The stages are apart: nothing here knows an order.

pub mod answer;
pub(crate) mod api;
pub(crate) mod app;
pub(crate) mod bulk;
pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod dialect;
pub(crate) mod kept;
pub(crate) mod refusal;
pub(crate) mod scopes;
pub(crate) mod sign_in;
pub(crate) mod token;

use evidence_bundle::document::{AppIdentity, RateLimitRecord, Warning};

use self::api::Api;
use self::bulk::Bulk;
use self::scopes::Scopes;
use super::account::User;
use super::config::CodeHostConfig;
use super::repository::{self, RepositoryDetails, ScopedRepository};
use super::shared::{Gone, Shared};
use super::subject::warning;
use super::topics::organization::answer::Organization;
use crate::env::Env;
use crate::forecast::Standings;
use crate::observation::{Observation, Seen};
use evidence_http::{Asked, Client, Meta, recorded};
use evidence_rules::rule::reason;

/// A code host that accepted the token and showed the organization.
pub(super) struct Host {
    pub(super) config: CodeHostConfig,
    pub(super) client: Client,
    /// The interface for many repositories at once, with `bulk: true`.
    pub(super) bulk: Option<Bulk>,
    pub(super) scopes: Scopes,
    pub(super) token_kind: &'static str,
    /// Whether the token is that of an app's installation.
    pub(super) of_installation: bool,
    /// The app and its installation, with `mode: app`.
    pub(super) app: Option<AppIdentity>,
    /// The account that the token acts for, if the host names it.
    pub(super) user: Option<User>,
    /// The answer of the connection test, and its requests.
    pub(super) organization: Organization,
    pub(super) meta: Meta,
    pub(super) requests: Vec<Asked>,
    pub(super) shared: Shared,
    pub(super) env: Env,
}

impl Host {
    pub(super) fn api(&self) -> Api<'_> {
        Api { client: &self.client, base: &self.config.api_url, organization: &self.config.org }
    }

    /// Whether answers are kept for the next run to revalidate.
    pub(super) fn keeps_answers(&self) -> bool {
        self.client.cache().is_some()
    }

    /// Where both clients stand with their limits.
    pub(super) fn standings(&self) -> Standings {
        let mut requests = self.client.standing();
        // The clients count together.
        requests.sent = requests.sent.saturating_sub(self.bulk.as_ref().map_or(0, Bulk::sent));
        Standings { requests, queries: self.bulk.as_ref().and_then(Bulk::standing) }
    }

    /// The warning that reading in bulk was given up, for the first that asks.
    pub(super) fn bulk_warning(&self) -> Option<Warning> {
        let why = self.bulk.as_ref()?.given_up()?;
        let text =
            format!("the host does not answer queries in bulk, so everything is read one by one: {why}");
        Some(self.warning("bulk_unavailable", text))
    }

    /// A warning about the organization.
    pub(super) fn warning(&self, code: &str, message: String) -> Warning {
        warning(code, message, &self.config.org)
    }

    /// The limit as last reported.
    pub(super) fn rate_limit(&self) -> Option<RateLimitRecord> {
        let status = self.client.quota()?;
        // Without a complete answer, report no limit rather than an invented one.
        let reset = jiff::Timestamp::from_second(status.reset?).ok()?.to_string();
        Some(RateLimitRecord { limit: status.limit?, remaining: status.remaining, reset })
    }

    /// What the host now says of a repository that it has shown, and about which every answer was "Not Found" since.
    pub(super) async fn gone(&self, scoped: &ScopedRepository, details: &RepositoryDetails) -> Gone {
        let ask = || async {
            let (answer, requests) = recorded(repository::ask(&self.api(), scoped.target())).await;
            let is_gone = matches!(answer, Err(Seen::Failed(failed)) if *failed.reason == reason::NOT_FOUND);
            let gone = requests.last().filter(|_| is_gone).map(|asked| {
                refusal::gone(&self.env.stamp_of(details.listed_at), &self.env.stamp_of(asked.at))
            });
            (gone, requests)
        };
        self.shared.unseen(&scoped.subject).get_or_init(ask).await.clone()
    }
}

/// Records the requests of an observation.
pub(crate) async fn with_requests<T>(reading: impl Future<Output = (Observation, T)>) -> (Observation, T) {
    let ((observation, found), requests) = recorded(reading).await;
    (Observation { requests, ..observation }, found)
}
