//! The workspace's connection test: finds the key, exchanges it for a token, determines which scopes are delegated, and
//! reads the first page of each part of the directory.
//!
//! The collection reuses these first pages, so the test costs no extra requests.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::future::{join_all, join3};
use jiff::SignedDuration;

use super::access::Access;
use super::advice::{api_error, connection, exchange_error, not_the_customers};
use super::answer::says_scopes;
use super::api::Api;
use super::calls::EVENTS;
use super::config::{AltCloudConfig, NAME};
use super::dialect::TokenExchange;
use super::interpret::why;
use super::listing::{ListingError, Period, Whose};
use super::scopes::OAuthScope;
use super::service_account::{self, Loaded, ServiceAccount, ServiceAccountError};
use super::session::{AltCloudSession, Firsts};
use super::wire::TokenAnswer;
use crate::clock;
use crate::env::Env;
use crate::report::SourceWatch;
use crate::source::{ConnectError, ConnectErrorKind, Surroundings};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Client, ClientSettings, Proxy};

/// Requests in flight. The provider limits requests per minute and user, and a few listings gain nothing from more.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The maximum number of requests per minute: half of the provider's default quota.
pub(super) const REQUESTS_PER_MINUTE: u32 = 1_200;

/// How many days the provider keeps the log.
const LOG_DAYS: i64 = 180;

/// The service account that the configured variable names.
pub(super) fn account(config: &AltCloudConfig, env: &Env) -> Result<Loaded, ConnectError> {
    let variable = &config.credentials_env;
    service_account::load(variable, env.var(variable))
        .map_err(|ServiceAccountError { message, help }| connection(message, help))
}

/// Exchanges the key for a token, then reads the first page of everything that the controls need, concurrently.
pub(super) async fn connect(
    config: AltCloudConfig,
    surroundings: &Surroundings,
) -> Result<AltCloudSession, ConnectError> {
    let Loaded { account, warning } = account(&config, &surroundings.env)?;
    // The file may have changed since the screen was created.
    surroundings.screen.learn(account.secrets());
    let access = access(&config, account, surroundings)?;
    let mut warnings: Vec<Warning> = Vec::new();
    warnings.extend(warning.map(|text| warn("credentials_file_readable", text, config.organization())));
    let tested = test(&config, &access, &surroundings.env, &mut warnings).await;
    let (refused, firsts, period) = tested.map_err(|error| {
        let (requests, retries) = access.requests();
        error.after(requests, retries)
    })?;
    let first = firsts.metas().next();
    let skewed = || clock::skewed(first?, NAME, config.organization());
    warnings.extend(access.warning().or_else(skewed));
    let scopes = OAuthScope::needed(&config.rules);
    let scopes = scopes.into_iter().filter(|scope| !refused.iter().any(|(of, _)| of == scope)).collect();
    Ok(AltCloudSession { config, access, scopes, refused, firsts, period, warnings })
}

fn access(
    config: &AltCloudConfig,
    account: ServiceAccount,
    surroundings: &Surroundings,
) -> Result<Access, ConnectError> {
    let client = |plain: bool| {
        let settings = ClientSettings {
            timeout: config.timeout,
            max_concurrency: CONCURRENCY,
            requests_per_minute: REQUESTS_PER_MINUTE,
            rate_limit_pause: !surroundings.dry_run,
            proxy: Proxy::from_env(&surroundings.env),
            plain,
            ..ClientSettings::default()
        };
        let clock = surroundings.env.clock.clone();
        let watch = SourceWatch::new(NAME, &surroundings.reporter);
        Client::new(settings, Arc::new(TokenExchange), clock, watch).map_err(|text| ConnectError {
            kind: ConnectErrorKind::Configuration,
            ..connection(text, Vec::new())
        })
    };
    let exchange = client(account.token_uri.scheme() == "http")?;
    let api = client(config.api_url.scheme() == "http")?;
    let clock = surroundings.env.clock.clone();
    Ok(Access::new(
        account,
        config.admin_email.clone(),
        exchange,
        api,
        clock,
        Arc::clone(&surroundings.screen),
    ))
}

/// The scopes that are not delegated, with the provider's message; the first pages; and the period of the log.
type Tested = (Vec<(OAuthScope, String)>, Firsts, Period);

async fn test(
    config: &AltCloudConfig,
    access: &Access,
    env: &Env,
    warnings: &mut Vec<Warning>,
) -> Result<Tested, ConnectError> {
    let (scopes, refused) = tokens(config, access).await?;
    for (scope, text) in &refused {
        let text = format!(
            "the scope {} is not delegated to the service account ({text}), so {} are not read",
            scope.name(),
            scope.shows()
        );
        warnings.push(warn("scope_not_delegated", text, config.organization()));
    }
    // A given time does not depend on this machine's clock.
    let end = match env.fixed_time() {
        Some(_) => env.started(),
        None => access.by_provider(env.started()),
    };
    let start = end.checked_sub(SignedDuration::from_hours(24 * LOG_DAYS)).unwrap_or(end);
    // Whole seconds: the provider's pattern allows fractions, but none of its documentation shows any.
    let whole = |time: jiff::Timestamp| jiff::Timestamp::from_second(time.as_second()).unwrap_or(time);
    let period = Period { start: whole(start), end: whole(end) };
    let firsts = firsts(config, access, &scopes, period).await;
    denied(config, access.account(), &firsts, warnings)?;
    Ok((refused, firsts, period))
}

/// A token for all required scopes; if the exchange refuses them together, a token for those that are delegated.
async fn tokens(
    config: &AltCloudConfig,
    access: &Access,
) -> Result<(Vec<OAuthScope>, Vec<(OAuthScope, String)>), ConnectError> {
    let needed = OAuthScope::needed(&config.rules);
    let problem = match access.ask(&needed).await {
        Ok(token) => return started(config, access, needed, token, Vec::new()).await,
        Err(problem) => problem,
    };
    let ListingError::Refused(first) = &problem else {
        return Err(exchange_error(config, access.account(), &problem));
    };
    if !says_scopes(first) || needed.len() < 2 {
        return Err(exchange_error(config, access.account(), &problem));
    }
    let asked = join_all(needed.iter().map(|scope| access.ask(std::slice::from_ref(scope)))).await;
    let (mut delegated, mut refused) = (Vec::new(), Vec::new());
    for (scope, answer) in needed.iter().zip(asked) {
        match answer {
            Ok(_) => delegated.push(*scope),
            Err(ListingError::Refused(why)) if says_scopes(&why) => refused.push((*scope, why.text())),
            Err(other) => return Err(exchange_error(config, access.account(), &other)),
        }
    }
    if delegated.is_empty() {
        return Err(exchange_error(config, access.account(), &problem));
    }
    match access.ask(&delegated).await {
        Ok(token) => started(config, access, delegated, token, refused).await,
        Err(problem) => Err(exchange_error(config, access.account(), &problem)),
    }
}

async fn started(
    config: &AltCloudConfig,
    access: &Access,
    scopes: Vec<OAuthScope>,
    token: TokenAnswer,
    refused: Vec<(OAuthScope, String)>,
) -> Result<(Vec<OAuthScope>, Vec<(OAuthScope, String)>), ConnectError> {
    match access.start(&scopes, token).await {
        Ok(()) => Ok((scopes, refused)),
        Err(failure) => Err(exchange_error(config, access.account(), &ListingError::Failed(failure))),
    }
}

async fn firsts(config: &AltCloudConfig, access: &Access, scopes: &[OAuthScope], period: Period) -> Firsts {
    let api = Api { access, base: &config.api_url, customer: &config.customer_id };
    let has = |scope| scopes.contains(&scope);
    let whose = if has(OAuthScope::Users) { whose(config) } else { Vec::new() };
    let users = join_all(whose.into_iter().map(|whose| {
        let api = &api;
        async move {
            let first = api.first_users(&whose).await;
            (whose, first)
        }
    }));
    let roles = async { if has(OAuthScope::Roles) { Some(api.first_roles().await) } else { None } };
    let event = EVENTS.first().copied().filter(|_| has(OAuthScope::Reports));
    let events = async {
        match event {
            Some(event) => Some(api.first_events(event, period).await),
            None => None,
        }
    };
    let (users, roles, events) = join3(users, roles, events).await;
    Firsts { users, roles, events }
}

/// The customer or domains to read users of.
pub(super) fn whose(config: &AltCloudConfig) -> Vec<Whose> {
    if config.domains.is_empty() {
        let (id, name) = (config.customer_id.clone(), config.organization().to_string());
        return vec![Whose::Customer { id, name }];
    }
    config.domains.iter().cloned().map(Whose::Domain).collect()
}

/// Adds a warning for each part that the provider refuses or does not know. Fails if it showed nothing at all.
fn denied(
    config: &AltCloudConfig,
    account: &ServiceAccount,
    firsts: &Firsts,
    warnings: &mut Vec<Warning>,
) -> Result<(), ConnectError> {
    let users = firsts.users.iter().map(|(whose, first)| {
        (OAuthScope::Users, format!("users of {}", whose.name()), first.0.as_ref().err())
    });
    let roles = firsts
        .roles
        .iter()
        .map(|first| (OAuthScope::Roles, OAuthScope::Roles.shows().to_string(), first.0.as_ref().err()));
    let events = firsts
        .events
        .iter()
        .map(|first| (OAuthScope::Reports, OAuthScope::Reports.shows().to_string(), first.0.as_ref().err()));
    let parts: Vec<_> = users.chain(roles).chain(events).collect();
    if parts.iter().all(|(.., problem)| problem.is_some()) {
        let problem = parts.iter().find_map(|(_, what, problem)| Some((what, (*problem)?)));
        if let Some((what, problem)) = problem {
            return Err(api_error(config, account, what, problem));
        }
    }
    for (scope, what, problem) in &parts {
        let Some(ListingError::Refused(refused)) = problem else { continue };
        let text = format!("{what} are not shown to {}: {}", config.admin_email, why(refused));
        warnings.push(match refused.class {
            Class::Forbidden(RefusalCause::Permission) => {
                let text = format!("{text}; it needs {}", scope.privilege());
                warn("privilege_missing", text, config.organization())
            }
            Class::NotFound => {
                let text = format!("{text}; {}", not_the_customers(config, what));
                warn("domain_not_found", text, config.organization())
            }
            // Not about permissions: a collection error reports it.
            _ => continue,
        });
    }
    Ok(())
}

/// A description of the service account, the administrator and the scopes.
pub(super) fn identity(config: &AltCloudConfig, account: &ServiceAccount, scopes: &[OAuthScope]) -> String {
    let scopes = scopes.iter().map(|scope| scope.short()).collect::<Vec<_>>().join(", ");
    format!("service account {} for admin {}, read-only scopes {scopes}", account.email, config.admin_email)
}

fn warn(code: &str, message: String, subject: &str) -> Warning {
    let (source, subject) = (Some(NAME.id().to_string()), Some(subject.to_string()));
    Warning { code: code.to_string(), message, source, subject }
}
