//! Signs in to the code host: with the token in the configured variable, or as an app's installation.

use std::sync::Arc;

use evidence_bundle::document::AppIdentity;
use evidence_os::access;
use evidence_os::input;
use evidence_os::secret::how_to_set;
use zeroize::Zeroizing;

use super::advice::{app_refused, configuration, connection, failed_error};
use super::config::{AppKey, AppSettings, CodeHostConfig, Issuer, SignIn};
use super::host::app::permissions::{needed, shown, writing};
use super::host::app::signer::{AppDialect, Signer, Skew};
use super::host::app::{App, Tokens};
use super::host::client::client;
use super::host::dialect::CodeHostDialect;
use super::host::sign_in::SignedIn;
use super::host::token::{EXPECTED, INSTALLATION, Token};
use super::place::web;
use super::topics;
use crate::credential;
use crate::env::Env;
use crate::jwt;
use crate::source::{ConnectError, RunContext};
use evidence_http::{CallError, Client, Login, Proxy, recorded};

/// A key is under 4 kB; a larger file is something else.
const KEY_LIMIT: u64 = 64 * 1024;

/// Variables in which other programs expect the token.
const USUAL_VARIABLES: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];

/// The secrets that the configured way to sign in uses.
pub(super) fn secrets(config: &CodeHostConfig, env: &Env) -> Result<Vec<String>, ConnectError> {
    match &config.sign_in {
        SignIn::Token(variable) => Ok(vec![token(variable, env)?.expose().to_string()]),
        SignIn::App(settings) => Ok(vec![key(settings, env)?.to_string()]),
    }
}

/// Signs in, with the client for everything that follows.
pub(super) async fn sign_in(
    config: &CodeHostConfig,
    surroundings: &RunContext,
) -> Result<(SignedIn, Client), ConnectError> {
    match &config.sign_in {
        SignIn::Token(variable) => {
            let token = token(variable, &surroundings.env)?;
            let header = token.header().ok_or_else(|| {
                configuration("the token has characters that a header cannot hold".to_string(), Vec::new())
            })?;
            let credential = Arc::new(Login::fixed(header));
            let client = client(config, Arc::new(CodeHostDialect), credential, surroundings)?;
            // A token has one budget, however many organizations it reads. An installation has its own.
            let budget = format!("{} {}", config.api_url, token.digest());
            Ok((SignedIn::Token(token), client.sharing(&surroundings.budgets, &budget)))
        }
        SignIn::App(settings) => {
            let (signed, asked) = recorded(as_app(config, settings, surroundings)).await;
            signed.map_err(|error| error.asked(asked))
        }
    }
}

/// The token in the configured variable.
fn token(name: &str, env: &Env) -> Result<Token, ConnectError> {
    let found = env.secret(name).map_err(|error| connection(error.to_string(), vec![error.help()]))?;
    let Some(secret) = found else {
        let export = how_to_set(name, "token");
        let other = USUAL_VARIABLES.iter().find(|other| env.provider(other).is_some());
        let use_other = other.map(|other| {
            if is_job(other, env) {
                return format!(
                    "{other} is set, but it is the job's own token, which cannot read branch protection: store another \
                     token as a secret, or sign in as an app"
                );
            }
            format!("{other} is set but not read: to use it, write `token_env: {other}` in sources.codehost")
        });
        let without = "without it the host answers 'Bad credentials'".to_string();
        let set = format!("{export}, or name another variable as sources.codehost.token_env");
        return Err(connection(
            format!("the access token is missing: the environment variable {name} is not set"),
            use_other.into_iter().chain([set, without]).collect(),
        ));
    };
    if let Some((message, help)) = credential::refusal(&secret, &EXPECTED) {
        return Err(connection(message, help));
    }
    Token::new(secret.text()).map_err(|error| {
        connection(
            format!("{} does not hold an access token: {error}", secret.place()),
            vec![secret.place().advice("the token alone, on one line")],
        )
    })
}

/// Whether the variable holds the token that a workflow's job has.
fn is_job(variable: &str, env: &Env) -> bool {
    env.var("GITHUB_ACTIONS") == Some("true")
        && env.var(variable).is_some_and(|value| value.starts_with(INSTALLATION))
}

/// The app's private key, as it is in its file or variable.
fn key(settings: &AppSettings, env: &Env) -> Result<Zeroizing<String>, ConnectError> {
    let create = "create a private key on the page of the app's settings, and use the file unchanged";
    match &settings.key {
        AppKey::Variable(name) => {
            let found =
                env.secret(name).map_err(|error| connection(error.to_string(), vec![error.help()]))?;
            let secret = found.ok_or_else(|| {
                connection(
                    format!("the app's private key is missing: the environment variable {name} is not set"),
                    vec![format!(
                        "export {name}=\"$(cat app.private-key.pem)\", or write `export {name}_FILE=PATH`"
                    )],
                )
            })?;
            jwt::private_key(secret.text()).map_err(|what| {
                let place = secret.place();
                connection(format!("the app's private key in {place} {what}"), vec![create.to_string()])
            })?;
            Ok(Zeroizing::new(secret.text().to_string()))
        }
        AppKey::File(path) => {
            let place = format!("the app's private key {}", path.display());
            let (bytes, file) = input::read(path, KEY_LIMIT).map_err(|error| {
                let help = "name the file with the key as sources.codehost.private_key_path";
                connection(format!("cannot read {place}: {error}"), vec![help.to_string()])
            })?;
            let access = file.metadata().ok().and_then(|metadata| access::of(&metadata));
            if let Some(access) = access.filter(|access| access.mode & 0o077 != 0) {
                return Err(connection(
                    format!("{place} can be read by other users (mode {:o})", access.mode),
                    vec![format!("run `chmod 600 {}`", path.display())],
                ));
            }
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            jwt::private_key(text)
                .map_err(|what| connection(format!("{place} {what}"), vec![create.to_string()]))?;
            Ok(Zeroizing::new(text.to_string()))
        }
    }
}

/// The app itself, which can ask for its installations.
pub(super) fn app(
    config: &CodeHostConfig,
    settings: &AppSettings,
    surroundings: &RunContext,
) -> Result<App, ConnectError> {
    let pem = key(settings, &surroundings.env)?;
    let key = jwt::private_key(&pem)
        .map_err(|what| connection(format!("the app's private key {what}"), Vec::new()))?;
    let (skew, screen) = (Arc::<Skew>::default(), Arc::clone(&surroundings.screen));
    let signer =
        Signer { issuer: settings.issuer.clone(), key, skew: Arc::clone(&skew), screen: Arc::clone(&screen) };
    let dialect = Arc::new(AppDialect { skew: Arc::clone(&skew) });
    let client = client(config, dialect, Arc::new(signer), surroundings)?;
    let clock = surroundings.env.clock.clone();
    Ok(App { client, base: config.api_url.clone(), skew, clock, screen })
}

async fn as_app(
    config: &CodeHostConfig,
    settings: &AppSettings,
    surroundings: &RunContext,
) -> Result<(SignedIn, Client), ConnectError> {
    let app = app(config, settings, surroundings)?;
    let api = app.client.sibling(Arc::new(CodeHostDialect), Arc::new(evidence_http::Anonymous));
    let proxy = Proxy::from_env(&surroundings.env);
    let explain = |error: CallError| {
        let explained = match error {
            CallError::Refused(refused) => app_refused(&refused, config, settings),
            CallError::Failed(failure) => failed_error(&failure, config, &proxy, surroundings.dry_run),
        };
        explained.after(api.requests(), api.retries())
    };
    let found = app.installation(&config.org, settings.installation).await.map_err(explain)?;
    let login = &found.account.login;
    if !login.eq_ignore_ascii_case(&config.org) {
        return Err(connection(
            format!("the installation {} is that of {login}, not of {}", found.id, config.org),
            vec![
                "remove sources.codehost.installation_id: the tool finds the installation by `org`"
                    .to_string(),
            ],
        ));
    }
    if let Issuer::AppId(configured) = settings.issuer
        && configured != found.app_id
    {
        let text = format!("the host answers for the app {} instead of {configured}", found.app_id);
        return Err(connection(text, Vec::new()));
    }
    let settings_page =
        format!("{}/organizations/{}/settings/installations/{}", web(&config.api_url), config.org, found.id);
    if let Some(since) = &found.suspended_at {
        return Err(connection(
            format!("the app's installation for {} is suspended since {since}", config.org),
            vec![format!("have an organization owner end the suspension: {settings_page}")],
        ));
    }
    let wanted = needed(topics::required(config).map(|topic| topic.name));
    let lacking: Vec<String> = wanted
        .iter()
        .filter(|name| **name != "metadata" && !found.permissions.contains_key(**name))
        .map(|name| shown(name))
        .collect();
    if !lacking.is_empty() {
        return Err(connection(
            format!(
                "the app's installation for {} does not have the permission {}, which the configured rules need",
                config.org,
                lacking.join(", ")
            ),
            vec![
                "add the permission on the page of the app's settings (Permissions & events)".to_string(),
                format!("then have an organization owner accept it: {settings_page}"),
            ],
        ));
    }
    let tokens = Tokens::new(app, found.id, wanted);
    let login = tokens.login();
    let signed_in = login.ensure().await;
    if let Some(grant) = tokens.grant() {
        let writes = writing(&grant.permissions);
        if !writes.is_empty() {
            return Err(configuration(
                format!(
                    "Forbidden scope: the token of the app's installation has write access ({}); nothing was collected",
                    writes.join(", ")
                ),
                vec!["the tool asked for read access only: report this to the host".to_string()],
            ));
        }
    }
    signed_in.map_err(explain)?;
    let grant = tokens.grant().cloned().ok_or_else(|| {
        connection("the host issued no token for the app's installation".to_string(), Vec::new())
    })?;
    let identity = AppIdentity {
        app_id: found.app_id,
        slug: found.app_slug,
        installation_id: found.id,
        permissions: grant.permissions,
        repository_selection: grant.repository_selection,
    };
    let client = api.sibling(Arc::new(CodeHostDialect), Arc::new(login));
    Ok((SignedIn::App(identity), client))
}
