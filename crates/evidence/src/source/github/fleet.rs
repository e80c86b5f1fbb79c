//! The organizations of a fleet, before anything is collected: whether the host knows them, and their ids.

use futures_util::stream::{self, StreamExt as _};

use super::advice::{app_refused, configuration, failed_error, refused_error};
use super::config::{AppSettings, CodeHostConfig, SignIn};
use super::host::api::Api;
use super::sign_in::{app, sign_in};
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
    /// The app's installation, if an app signs in.
    pub installation: Option<u64>,
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
    /// The app's installation there is suspended, since this time.
    Suspended(String),
    /// The app is not installed there.
    NotInstalled,
    /// The host refused or gave no answer, and why.
    Failed(String),
}

/// Looks the names up: one request each with a token. An app lists its installations, and without names all of them are
/// meant.
///
/// # Errors
/// Fails if the host does not accept the credential, or if there are no names for a token: then nothing can be collected.
pub async fn find(
    config: &CodeHostConfig,
    names: &[String],
    run: &RunContext,
) -> Result<Vec<Found>, ConnectError> {
    match &config.sign_in {
        SignIn::Token(_) => by_name(config, names, run).await,
        SignIn::App(settings) => installations(config, settings, names, run).await,
    }
}

async fn installations(
    config: &CodeHostConfig,
    settings: &AppSettings,
    names: &[String],
    run: &RunContext,
) -> Result<Vec<Found>, ConnectError> {
    if settings.installation.is_some() {
        return Err(configuration(
            "installation_id names one installation, and a fleet has many".to_string(),
            vec!["remove sources.codehost.installation_id".to_string()],
        ));
    }
    let app = app(config, settings, run)?;
    let installed = app.installations().await.map_err(|error| match error {
        CallError::Refused(refused) => app_refused(&refused, config, settings),
        CallError::Failed(failure) => failed_error(&failure, config, &Proxy::from_env(&run.env), run.dry_run),
    })?;
    let mut found: Vec<Found> = Vec::new();
    for installation in installed {
        let account = installation.account;
        if !names.is_empty() && !names.iter().any(|name| name.eq_ignore_ascii_case(&account.login)) {
            continue;
        }
        let state = match (account.kind.as_deref(), installation.suspended_at) {
            (Some("Organization") | None, None) => State::Ready,
            (Some("Organization") | None, Some(since)) => State::Suspended(since),
            (Some(_), _) => State::NotAnOrganization,
        };
        let number = Some(installation.id);
        found.push(Found { name: account.login, id: account.id, installation: number, state });
    }
    for name in names {
        if !found.iter().any(|found| found.name.eq_ignore_ascii_case(name)) {
            found.push(Found {
                name: name.clone(),
                id: None,
                installation: None,
                state: State::NotInstalled,
            });
        }
    }
    Ok(found)
}

async fn by_name(
    config: &CodeHostConfig,
    names: &[String],
    run: &RunContext,
) -> Result<Vec<Found>, ConnectError> {
    if names.is_empty() {
        return Err(configuration(
            "a token does not say which organizations are meant".to_string(),
            vec![
                "name them: --orgs acme,acme-labs; without --orgs, an app's installations are meant"
                    .to_string(),
            ],
        ));
    }
    let (signed_in, client) = sign_in(config, run).await?;
    let client = &client;
    let (signed_in, proxy) = (&signed_in, &Proxy::from_env(&run.env));
    let lookups = names.iter().map(|name| async move {
        let api = Api { client, base: &config.api_url, organization: name };
        let found = |id, state| Ok(Found { name: name.clone(), id, installation: None, state });
        match api.ask(&ORGANIZATION, &[("org", name)]).await {
            Ok(Answered { value: organization, .. }) => Ok(Found {
                name: organization.settings.login.value().unwrap_or(name).clone(),
                id: organization.settings.id.value().copied(),
                installation: None,
                state: State::Ready,
            }),
            Err(CallError::Refused(refused)) => match refused.class {
                Class::NotFound => found(None, State::NotAnOrganization),
                Class::Unauthorized | Class::Forbidden(RefusalCause::LoginAttempts) => {
                    Err(refused_error(&refused, config, signed_in))
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
