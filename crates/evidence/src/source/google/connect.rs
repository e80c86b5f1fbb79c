//! The workspace's connection test: finds the key, exchanges it for a token, determines which scopes are delegated, and
//! reads the first page of each part of the directory.
//!
//! The collection reuses these first pages, so the test costs no extra requests.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::future::{join, join_all};
use jiff::SignedDuration;

use super::advice::{api_error, exchange_error, not_the_customers, unsigned_error};
use super::config::AltCloudConfig;
use super::host::access::{Access, NoToken};
use super::host::answer::says_scopes;
use super::host::api::Host;
use super::host::credentials_file::Loaded;
use super::host::dialect::{DirectoryApi, TokenExchange};
use super::host::listing::{ListingError, Period};
use super::host::scopes::OAuthScope;
use super::host::service_account::SignIn;
use super::host::token::TokenAnswer;
use super::names::NAME;
use super::observe::refusal_text;
use super::session::AltCloudSession;
use super::sign_in;
use super::topic::{Answers, FirstPart, Topic};
use super::topics;
use super::users::{self, FirstUsers};
use crate::clock;
use crate::env::Env;
use crate::source::{ConnectError, RunContext};
use evidence_http::retry::{Class, RefusalCause};

/// Requests in flight. The provider limits requests per minute and user, and a few listings gain nothing from more.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// The maximum number of requests per minute: half of the provider's default quota.
pub(super) const REQUESTS_PER_MINUTE: u32 = 1_200;

/// How many days the provider keeps the log.
const LOG_DAYS: i64 = 180;

/// Exchanges the key for a token, then reads the first page of everything that the controls need, concurrently.
pub(super) async fn connect(
    config: AltCloudConfig,
    surroundings: &RunContext,
) -> Result<AltCloudSession, ConnectError> {
    let Loaded { value: found, warning } = sign_in::find(&config, &surroundings.env)?;
    // The file may have changed since the screen was created.
    surroundings.screen.learn(found.secrets());
    let access = access(&config, found, surroundings)?;
    let mut warnings: Vec<Warning> = Vec::new();
    warnings.extend(warning.map(|text| warn("credentials_file_readable", text, config.organization())));
    let granted = tokens(&config, &access, &surroundings.env).await;
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
    SignIn { account, signer }: SignIn,
    run: &RunContext,
) -> Result<Access, ConnectError> {
    let settings = sign_in::settings(config, CONCURRENCY, REQUESTS_PER_MINUTE, run);
    let client = |dialect, url| sign_in::client(config, run, dialect, url, settings.clone());
    let exchange = client(Arc::new(TokenExchange), &account.token_uri)?;
    // One client for both addresses of the API: without TLS if one of them has none.
    let address = if config.is_plain() { &config.cloud_identity_url } else { &config.api_url };
    let address = if config.api_url.scheme() == "http" { &config.api_url } else { address };
    let api = client(Arc::new(DirectoryApi), address)?;
    let signing = sign_in::signing(config, signer, &account.email, &settings, run)?;
    let (clock, screen) = (run.env.clock.clone(), Arc::clone(&run.screen));
    Ok(Access::new(account, signing, config.admin_email.clone(), exchange, api, clock, screen))
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
async fn tokens(config: &AltCloudConfig, access: &Access, env: &Env) -> Result<Started, ConnectError> {
    let needed = OAuthScope::needed(&config.rules);
    let no_token = |problem: &NoToken| match problem {
        NoToken::Exchange(problem) => exchange_error(config, access.account(), problem),
        NoToken::Unsigned(unsigned) => {
            unsigned_error(config, access, unsigned, sign_in::noticed(config, env))
        }
    };
    let problem = match access.ask(&needed).await {
        Ok(token) => return started(config, access, needed, token, Vec::new()),
        Err(problem) => problem,
    };
    let NoToken::Exchange(ListingError::Refused(first)) = &problem else {
        return Err(no_token(&problem));
    };
    if !says_scopes(first) || needed.len() < 2 {
        return Err(no_token(&problem));
    }
    let asked = join_all(needed.iter().map(|scope| access.ask(std::slice::from_ref(scope)))).await;
    let (mut delegated, mut refused) = (Vec::new(), Vec::new());
    for (scope, answer) in needed.iter().zip(asked) {
        match answer {
            Ok(_) => delegated.push(*scope),
            Err(NoToken::Exchange(ListingError::Refused(reason))) if says_scopes(&reason) => {
                refused.push((*scope, reason.text()))
            }
            Err(other) => return Err(no_token(&other)),
        }
    }
    if delegated.is_empty() {
        return Err(no_token(&problem));
    }
    match access.ask(&delegated).await {
        Ok(token) => started(config, access, delegated, token, refused),
        Err(problem) => Err(no_token(&problem)),
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
pub(super) fn identity(config: &AltCloudConfig, access: &Access, scopes: &[OAuthScope]) -> String {
    let scopes = scopes.iter().map(|scope| scope.short()).collect::<Vec<_>>().join(", ");
    let account = &access.account().email;
    let signed =
        access.identity().map_or_else(String::new, |who| format!(", signed by the provider for {who}"));
    format!("service account {account} for admin {}, read-only scopes {scopes}{signed}", config.admin_email)
}

fn warn(code: &str, message: String, subject: &str) -> Warning {
    NAME.warning(code, message, Some(subject))
}
