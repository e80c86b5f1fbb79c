//! Help for a failed connection test: the host's answer, its meaning, and the line or the step that works.
//!
//! Nothing here sends a request. No text contains a part of a token.

use super::config::{AppSettings, CodeHostConfig, Issuer};
use super::host::answer::{AppRefusal, Denial, Policy, RefusalMeaning, meaning, of_app, policy};
use super::host::app::permissions::{needed, shown};
use super::host::sign_in::SignedIn;
use super::host::token::INSTALLATION;
use super::names::NAME;
use super::place::web;
use crate::source::{ConnectError, ConnectErrorKind};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{CallError, FailureKind, HelpTarget, PermanentFailure, Proxy, Refused, RequestFailure};

/// The host refused the connection test.
pub(super) fn refused_error(
    refused: &Refused,
    config: &CodeHostConfig,
    signed_in: &SignedIn,
) -> ConnectError {
    let (org, text, status) = (&config.org, refused.text(), refused.meta.status);
    let what = format!("'{text}' (HTTP {status}) for organization {org}");
    let help = match (refused.class, meaning(refused)) {
        (Class::Unauthorized, _) => unauthorized(config, signed_in),
        (Class::NotFound, _) => vec![
            format!(
                "check sources.codehost.org: {org} must be the exact name of an organization on {}",
                host(config)
            ),
            "for a private organization, the token's user must be a member".to_string(),
        ],
        (_, RefusalMeaning::Denied(Denial::SsoRequired)) => {
            let url =
                refused.meta.header("x-github-sso").and_then(|sso| sso.split("url=").nth(1)).map(str::trim);
            let open = url.map_or_else(
                || {
                    "authorize the token for the organization's single sign-on in your account's settings"
                        .to_string()
                },
                |url| format!("authorize the token for single sign-on (within the hour): {url}"),
            );
            vec![open]
        }
        (_, RefusalMeaning::LockedOut) => {
            vec![
                "wait before trying again: the host has locked the user out after bad credentials"
                    .to_string(),
            ]
        }
        (_, RefusalMeaning::Denied(Denial::OrganizationPolicy)) => blocked(policy(refused), config),
        (Class::Forbidden(RefusalCause::Intermediary), _) => {
            vec!["check for a proxy and the api_url: the answer does not come from the host".to_string()]
        }
        (Class::Forbidden(_), _) => vec![
            "give the token the scope read:org and access to the organization".to_string(),
            "for a fine-grained token, make this organization its resource owner and have it approved"
                .to_string(),
        ],
        (Class::Gone, _) => {
            vec!["update evidence: the host no longer supports this API version".to_string()]
        }
        _ => {
            let check = format!("check that {} is the address of the API", set_in(config));
            own_server(config).into_iter().chain([check]).collect()
        }
    };
    connection(what, help)
}

/// The connection test got no usable answer.
pub(super) fn failed_error(
    failure: &RequestFailure,
    config: &CodeHostConfig,
    proxy: &Proxy,
    dry_run: bool,
) -> ConnectError {
    let help = match &failure.kind {
        FailureKind::Transport(_) => match proxy.name(&config.api_url) {
            Some(name) => unanswered(&name, config),
            None => vec![
                format!("check the network, and {}", set_in(config)),
                "behind a proxy, set HTTPS_PROXY; for a private certificate authority set ca_file"
                    .to_string(),
            ],
        },
        FailureKind::PermanentFailure(obstacle, _) => {
            let help = obstacle.help(HelpTarget {
                host: host(config),
                address: config.api_url_key,
                ca_file: Some("sources.codehost.ca_file"),
            });
            let own = own_server(config).filter(|_| *obstacle == PermanentFailure::Page);
            own.into_iter().chain(help).collect()
        }
        FailureKind::RateLimited { .. } if dry_run => limit_used_up("the organization's settings, the list"),
        FailureKind::RateLimited { .. } => {
            vec![
                "wait for the reset, or set rate_limit_pause: true so that the run waits automatically"
                    .to_string(),
            ]
        }
        FailureKind::SecondaryLimit | FailureKind::Throttled(_) => {
            vec!["wait a few minutes and run again".to_string()]
        }
        FailureKind::HostFault(_) | FailureKind::UnexpectedShape(_) | FailureKind::TooLarge { .. } => {
            let check =
                format!("check that {} is the address of the API, then try again later", set_in(config));
            own_server(config).into_iter().chain([check]).collect()
        }
        FailureKind::Foreign(_) => {
            vec!["set sources.codehost.org to the organization's current name".to_string()]
        }
        FailureKind::Redirect(_) => {
            let set = format!(
                "set {} to the API's current address; the token is sent only to {}",
                config.api_url_key,
                host(config)
            );
            own_server(config).into_iter().chain([set]).collect()
        }
        FailureKind::Unauthorized(_) | FailureKind::GivenUp { .. } => Vec::new(),
    };
    connection(format!("{}: {failure}", host(config)), help)
}

/// What to do about a token that the host does not accept.
fn unauthorized(config: &CodeHostConfig, signed_in: &SignedIn) -> Vec<String> {
    let SignedIn::Token(token) = signed_in else {
        return vec!["the host refused two new tokens of the app in a row: try again later".to_string()];
    };
    let variable = config.sign_in.holder();
    let new = format!("create a new token and set {variable} to it: this one is invalid, expired or revoked");
    let short_lived = token.expose().starts_with(INSTALLATION).then(|| {
        format!(
            "this is an app's installation token ({INSTALLATION}...): it ends within the hour, and a job's GITHUB_TOKEN \
             with its job"
        )
    });
    let own = format!("the token must be created on {}", web(&config.api_url));
    std::iter::once(new).chain(short_lived).chain([own]).collect()
}

/// The host refused a request about the app.
pub(super) fn app_refused(
    refused: &Refused,
    config: &CodeHostConfig,
    settings: &AppSettings,
) -> ConnectError {
    let (org, said) = (&config.org, format!("'{}' (HTTP {})", refused.text(), refused.meta.status));
    let (key, app) = match &settings.issuer {
        Issuer::AppId(number) => ("app_id", number.to_string()),
        Issuer::ClientId(text) => ("client_id", text.clone()),
    };
    let web = web(&config.api_url);
    let (what, help) = match of_app(refused) {
        AppRefusal::UnknownApp => (
            format!("the host knows no app {app}; {said}"),
            vec![format!("check sources.codehost.{key}: the page of the app's settings shows it")],
        ),
        AppRefusal::WrongKey => (
            format!("the host does not accept the key of the app {app}; {said}"),
            vec![
                format!(
                    "check that {} is the private key of this app, and that it was not deleted: the page of the app's \
                     settings lists its keys",
                    config.sign_in.holder()
                ),
                format!("the app must be one of {web}"),
            ],
        ),
        AppRefusal::WrongTime => (
            format!("the host does not accept the times in the app's proof; {said}"),
            vec!["set the clock of this machine".to_string()],
        ),
        AppRefusal::NotInstalled => (
            format!("the app {app} is not installed for the organization {org}; {said}"),
            vec![
                "install it: the page of the app's settings, Install App; choose All repositories"
                    .to_string(),
                format!(
                    "check sources.codehost.org: {org} must be the exact name of an organization on {web}"
                ),
            ],
        ),
        AppRefusal::Suspended => (
            format!("the app's installation for {org} is suspended; {said}"),
            vec![format!(
                "have an organization owner end the suspension: {web}/organizations/{org}/settings/installations"
            )],
        ),
        AppRefusal::NotGranted => {
            let names = needed(super::topics::required(config).map(|topic| topic.name));
            let names: Vec<String> = names.into_iter().map(shown).collect();
            (
                format!(
                    "the app's installation for {org} lacks a permission that the configured rules need; {said}"
                ),
                vec![
                    format!("the rules need {}", names.join(", ")),
                    format!(
                        "have an organization owner accept them: {web}/organizations/{org}/settings/installations"
                    ),
                ],
            )
        }
        AppRefusal::Other => (format!("the app {app}: {said}"), Vec::new()),
    };
    connection(what, help)
}

/// What to do about a policy that blocks the token or the address of this machine.
fn blocked(policy: Option<Policy>, config: &CodeHostConfig) -> Vec<String> {
    let org = &config.org;
    match policy {
        Some(Policy::AllowList) => vec![
            format!(
                "have an organization owner add this machine's public address to the IP allow list: \
                 {}/organizations/{org}/settings/security",
                web(&config.api_url)
            ),
            "or run where the address is on the list: the host's own runners change theirs".to_string(),
        ],
        Some(Policy::ClassicTokens) => vec![format!(
            "create a fine-grained token with the resource owner {org}, and set {} to it",
            config.sign_in.holder()
        )],
        Some(Policy::Lifetime) => vec![format!(
            "create a token that expires within the days that the message names, and set {} to it",
            config.sign_in.holder()
        )],
        Some(Policy::Applications) => {
            vec![format!("have an owner of {org} approve the application that the token belongs to")]
        }
        Some(Policy::Suspended) => {
            vec!["use the token of an active user: the host has suspended this one".to_string()]
        }
        None => vec!["ask an organization owner: a policy blocks this token or this address".to_string()],
    }
}

/// What to do about a proxy through which no connection succeeds.
fn unanswered(name: &str, config: &CodeHostConfig) -> Vec<String> {
    vec![
        format!("check that the proxy {name} runs and that this machine reaches it, or unset the variable"),
        format!("if {0} needs no proxy: `export NO_PROXY={0}`", host(config)),
    ]
}

/// The address of the API, and where it is set.
fn set_in(config: &CodeHostConfig) -> String {
    format!("{} ({})", config.api_url_key, config.api_url)
}

/// The help if the limit ends a dry run: what remains unknown.
fn limit_used_up(rest: &str) -> Vec<String> {
    vec![
        "repeat the dry run after the reset: unlike a collection with rate_limit_pause: true, it does not wait"
            .to_string(),
        format!("not asked: {rest} of repositories, and therefore the number of artifacts and requests"),
    ]
}

/// Advice for self-hosted servers, whose API has a path that is easily forgotten.
fn own_server(config: &CodeHostConfig) -> Option<String> {
    let url = config.api_url.as_str().trim_end_matches('/');
    let complete = url.ends_with("/api/v3") || host(config) == "api.github.com";
    // The address of the same server's other interface.
    let base = url.trim_end_matches("/graphql").trim_end_matches("/api");
    (!complete).then(|| format!("on a server of your own, set {} to {base}/api/v3", config.api_url_key))
}

fn host(config: &CodeHostConfig) -> &str {
    config.api_url.host_str().unwrap_or("the host")
}

/// An error that is reported like an invalid configuration.
pub(super) fn configuration(message: String, help: Vec<String>) -> ConnectError {
    ConnectError::new(NAME, ConnectErrorKind::Configuration, message, help)
}

pub(super) fn connection(message: String, help: Vec<String>) -> ConnectError {
    ConnectError::new(NAME, ConnectErrorKind::Connection, message, help)
}

/// The error for a page of the listing that a plan needs.
pub(super) fn problem(what: &str, problem: CallError) -> ConnectError {
    match problem {
        CallError::Refused(refused) => {
            connection(format!("{what}: '{}' (HTTP {})", refused.text(), refused.meta.status), Vec::new())
        }
        CallError::Failed(failure) => {
            let help = match &failure.kind {
                FailureKind::RateLimited { .. } => limit_used_up("the list"),
                _ => Vec::new(),
            };
            connection(format!("{what}: {failure}"), help)
        }
    }
}
