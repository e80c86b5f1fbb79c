//! The workspace's connection test: finds the key, exchanges it for a token, determines which scopes are delegated, and
//! reads the first page of each part of the directory.
//!
//! The collection reuses these first pages, so the test costs no extra requests.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::future::{join, join_all};
use jiff::SignedDuration;

use super::advice::{api_error, connection, exchange_error, not_the_customers};
use super::config::AltCloudConfig;
use super::host::access::Access;
use super::host::answer::says_scopes;
use super::host::api::Host;
use super::host::dialect::{DirectoryApi, TokenExchange};
use super::host::listing::{ListingError, Period};
use super::host::scopes::OAuthScope;
use super::host::service_account::{self, Loaded, ServiceAccount, ServiceAccountError};
use super::host::token::TokenAnswer;
use super::names::NAME;
use super::observe::refusal_text;
use super::session::AltCloudSession;
use super::topic::{Answers, FirstPart, Topic};
use super::topics;
use super::users::{self, FirstUsers};
use crate::clock;
use crate::env::Env;
use crate::report::SourceWatch;
use crate::source::{ConnectError, ConnectErrorKind, RunContext};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Anonymous, Client, ClientSettings, Dialect, Proxy};

/// Requests in flight. The provider limits requests per minute and user, and a few listings gain nothing from more.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The maximum number of requests per minute: half of the provider's default quota.
pub(super) const REQUESTS_PER_MINUTE: u32 = 1_200;

/// How many days the provider keeps the log.
const LOG_DAYS: i64 = 180;

/// The variable in which the provider's own tools expect the path of the file.
const USUAL_VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// The service account that the configured variable names.
pub(super) fn account(config: &AltCloudConfig, env: &Env) -> Result<Loaded, ConnectError> {
    let loaded = match &config.credentials_json_env {
        Some(variable) => {
            let content =
                env.secret(variable).map_err(|error| connection(error.to_string(), vec![error.help()]))?;
            service_account::from_content(variable, content.as_ref().map(|content| content.text()))
        }
        None => service_account::load(&config.credentials_env, env.var(&config.credentials_env)),
    };
    loaded.map_err(|ServiceAccountError { message, mut help }| {
        let is_other = config.credentials_json_env.is_some() || config.credentials_env != USUAL_VARIABLE;
        if is_other && env.var(&config.credentials_env).is_none() && env.var(USUAL_VARIABLE).is_some() {
            let line = format!("to use it, write `credentials_env: {USUAL_VARIABLE}` in sources.altcloud");
            help.insert(0, format!("{USUAL_VARIABLE} is set but not read: {line}"));
        }
        connection(message, help)
    })
}

/// Exchanges the key for a token, then reads the first page of everything that the controls need, concurrently.
pub(super) async fn connect(
    config: AltCloudConfig,
    surroundings: &RunContext,
) -> Result<AltCloudSession, ConnectError> {
    let Loaded { account, warning } = account(&config, &surroundings.env)?;
    // The file may have changed since the screen was created.
    surroundings.screen.learn(account.secrets());
    let access = access(&config, account, surroundings)?;
    let mut warnings: Vec<Warning> = Vec::new();
    warnings.extend(warning.map(|text| warn("credentials_file_readable", text, config.organization())));
    let granted = tokens(&config, &access).await;
    let failed = |access: &Access, error: ConnectError| {
        let (requests, retries) = access.requests();
        error.after(requests, retries)
    };
    let (scopes, refused) = granted.map_err(|error| failed(&access, error))?;
    for (scope, text) in &refused {
        let text = format!(
            "the scope {} is not delegated to the service account ({text}), so {} are not read",
            scope.name(),
            scope.shows()
        );
        warnings.push(warn("scope_not_delegated", text, config.organization()));
    }
    let period = period(&access, &surroundings.env);
    let host = Host { config, access, scopes, refused, period };
    let (users, answers) = open(&host).await;
    let parts = parts(&users, &answers);
    denied(&host, &parts, &mut warnings).map_err(|error| failed(&host.access, error))?;
    let first = parts.iter().find_map(|part| part.page.ok());
    let skewed = || clock::skewed(first?, NAME, host.config.organization());
    warnings.extend(host.access.warning().or_else(skewed));
    drop(parts);
    Ok(AltCloudSession { host, users, answers, warnings })
}

fn access(
    config: &AltCloudConfig,
    account: ServiceAccount,
    surroundings: &RunContext,
) -> Result<Access, ConnectError> {
    let client = |dialect: Arc<dyn Dialect>, plain: bool| {
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
        Client::new(settings, dialect, Arc::new(Anonymous), clock, watch).map_err(|text| ConnectError {
            kind: ConnectErrorKind::Configuration,
            ..connection(text, Vec::new())
        })
    };
    let exchange = client(Arc::new(TokenExchange), account.token_uri.scheme() == "http")?;
    let api = client(Arc::new(DirectoryApi), config.is_plain())?;
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

/// The period of the log, which ends now.
fn period(access: &Access, env: &Env) -> Period {
    // A given time does not depend on this machine's clock.
    let end = match env.fixed_time() {
        Some(_) => env.started(),
        None => access.by_provider(env.started()),
    };
    let start = end.checked_sub(SignedDuration::from_hours(24 * LOG_DAYS)).unwrap_or(end);
    // Whole seconds: the provider's pattern allows fractions, but none of its documentation shows any.
    let whole = |time: jiff::Timestamp| jiff::Timestamp::from_second(time.as_second()).unwrap_or(time);
    Period { start: whole(start), end: whole(end) }
}

/// A token for all required scopes; if the exchange refuses them together, a token for those that are delegated.
async fn tokens(config: &AltCloudConfig, access: &Access) -> Result<Started, ConnectError> {
    let needed = OAuthScope::needed(&config.rules);
    let problem = match access.ask(&needed).await {
        Ok(token) => return started(config, access, needed, token, Vec::new()),
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
            Err(ListingError::Refused(reason)) if says_scopes(&reason) => {
                refused.push((*scope, reason.text()))
            }
            Err(other) => return Err(exchange_error(config, access.account(), &other)),
        }
    }
    if delegated.is_empty() {
        return Err(exchange_error(config, access.account(), &problem));
    }
    match access.ask(&delegated).await {
        Ok(token) => started(config, access, delegated, token, refused),
        Err(problem) => Err(exchange_error(config, access.account(), &problem)),
    }
}

/// The scopes that the host granted, and those that it refused, each with why.
type Started = (Vec<OAuthScope>, Vec<(OAuthScope, String)>);

fn started(
    config: &AltCloudConfig,
    access: &Access,
    scopes: Vec<OAuthScope>,
    token: TokenAnswer,
    refused: Vec<(OAuthScope, String)>,
) -> Result<Started, ConnectError> {
    match access.start(&scopes, token) {
        Ok(()) => Ok((scopes, refused)),
        Err(failure) => Err(exchange_error(config, access.account(), &ListingError::Failed(failure))),
    }
}

/// What the connection test learned about each topic.
type TopicAnswers = Vec<(&'static Topic, Box<dyn Answers>)>;

/// Reads the first pages of the users and of every topic, concurrently.
async fn open(host: &Host) -> (FirstUsers, TopicAnswers) {
    let topics = topics::required(&host.config);
    let topics = topics.map(|topic| async move { (topic, (topic.open)(host).await) });
    join(users::open(host), join_all(topics)).await
}

/// The first pages, with the users first.
fn parts<'a>(users: &'a FirstUsers, answers: &'a TopicAnswers) -> Vec<FirstPart<'a>> {
    let users = users.iter().map(|(whose, (first, _))| FirstPart {
        scope: OAuthScope::Users,
        what: users::users_of(whose),
        page: first.as_ref().map(|answered| &answered.meta),
    });
    users.chain(answers.iter().filter_map(|(_, answers)| answers.first())).collect()
}

/// Adds a warning for each part that the provider refuses or does not know. Fails if it showed nothing at all.
fn denied(host: &Host, parts: &[FirstPart<'_>], warnings: &mut Vec<Warning>) -> Result<(), ConnectError> {
    let config = &host.config;
    if parts.iter().all(|part| part.page.is_err()) {
        let problem = parts.iter().find_map(|part| Some((&part.what, part.page.err()?)));
        if let Some((what, problem)) = problem {
            return Err(api_error(config, host.access.account(), what, problem));
        }
    }
    for FirstPart { scope, what, page } in parts {
        let Err(ListingError::Refused(refused)) = page else { continue };
        let text = format!("{what} are not shown to {}: {}", config.admin_email, refusal_text(refused));
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
    NAME.warning(code, message, Some(subject))
}
