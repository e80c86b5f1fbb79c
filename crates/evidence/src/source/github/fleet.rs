//! The organizations of a fleet, before anything is collected: whether the host knows them, and their ids.

use futures_util::stream::{self, StreamExt as _};

use super::advice::{failed_error, refused_error};
use super::config::CodeHostConfig;
use super::connect::token;
use super::host::api::Api;
use super::host::client::client;
use super::topics::organization::answer::ORGANIZATION;
use crate::source::{ConnectError, RunContext};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Answered, CallError, Proxy};

/// How many organizations are looked up at the same time.
const AT_ONCE: usize = 8;

/// An organization that was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name, as the host spells it if it has the organization.
    pub name: String,
    /// The host's id; `None` if the host did not say.
    pub id: Option<u64>,
    /// What was found.
    pub state: State,
}

/// What was found of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It can be collected.
    Ready,
    /// The host has no organization of this name, or does not show it.
    NotAnOrganization,
    /// The host refused or gave no answer, and why.
    Failed(String),
}

/// Looks the names up: one request each.
///
/// # Errors
/// Fails if the host does not accept the token: then no organization can be collected.
pub async fn find(
    config: &CodeHostConfig,
    names: &[String],
    run: &RunContext,
) -> Result<Vec<Found>, ConnectError> {
    let token = token(config, &run.env)?;
    let client = client(config, &token, run)?;
    let client = &client;
    let (token, proxy) = (&token, &Proxy::from_env(&run.env));
    let lookups = names.iter().map(|name| async move {
        let api = Api { client, base: &config.api_url, organization: name };
        let found = |id, state| Ok(Found { name: name.clone(), id, state });
        match api.ask(&ORGANIZATION, &[("org", name)]).await {
            Ok(Answered { value: organization, .. }) => Ok(Found {
                name: organization.settings.login.value().unwrap_or(name).clone(),
                id: organization.settings.id.value().copied(),
                state: State::Ready,
            }),
            Err(CallError::Refused(refused)) => match refused.class {
                Class::NotFound => found(None, State::NotAnOrganization),
                Class::Unauthorized | Class::Forbidden(RefusalCause::LoginAttempts) => {
                    Err(refused_error(&refused, config, token))
                }
                _ => found(None, State::Failed(refused.text().to_string())),
            },
            Err(CallError::Failed(failure)) => {
                found(None, State::Failed(failed_error(&failure, config, proxy, run.dry_run).message))
            }
        }
    });
    let lookups: Vec<_> = lookups.collect();
    let found: Vec<Result<Found, ConnectError>> = stream::iter(lookups).buffered(AT_ONCE).collect().await;
    found.into_iter().collect()
}
