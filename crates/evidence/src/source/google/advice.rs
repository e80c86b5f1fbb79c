//! Help for a failed connection test: the provider's message, its meaning, and the steps in the admin console.
//!
//! Nothing here sends a request. No text contains a part of a credential.

use super::config::{AltCloudConfig, Keyless};
use super::host::access::Access;
use super::host::answer::{says_disabled, says_scope};
use super::host::listing::ListingError;
use super::host::scopes::{OAuthScope, joined};
use super::host::service_account::ServiceAccount;
use super::host::sign_jwt::Unsigned;
use super::names::NAME;
use crate::source::{ConnectError, ConnectErrorKind};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{CallError, FailureKind, HelpTarget, RequestFailure};

/// Why the exchange returned no token.
pub(super) fn exchange_error(
    config: &AltCloudConfig,
    account: &ServiceAccount,
    problem: &ListingError,
) -> ConnectError {
    let host = account.token_uri.host_str().unwrap_or("the exchange");
    let refused = match problem {
        ListingError::Failed(failure) => {
            let place = match &config.keyless {
                Some(_) => "sources.altcloud.token_uri",
                None => "token_uri in the credentials file",
            };
            return unreachable_error(host, place, failure);
        }
        ListingError::NotDelegated(_, text) => return connection(text.clone(), delegation(config, account)),
        ListingError::Refused(refused) => refused,
    };
    let (code, text) = (refused.code.as_deref().unwrap_or("refused"), refused.text());
    let message = format!(
        "{host} refuses service account {} a token for {}: {code} ({text})",
        account.email, config.admin_email
    );
    let says = |phrase: &str| text.to_ascii_lowercase().contains(phrase);
    let help = match code {
        "unauthorized_client" | "invalid_scope" => delegation(config, account),
        "invalid_client" | "deleted_client" => {
            vec![format!(
                "check that the service account {} still exists; if not, set up a new one",
                account.email
            )]
        }
        "invalid_grant" if says("signature") && config.keyless.is_none() => vec![format!(
            "the key in the file that {} names was deleted or belongs to another account: create a new key",
            config.credentials_env
        )],
        "invalid_grant" if says("iat") || says("timeframe") => {
            vec!["set this machine's clock: it is wrong".to_string()]
        }
        "invalid_grant" if says("email") || says("user id") || says("account not found") => vec![
            format!(
                "check that sources.altcloud.admin_email ({}) is an active user of the customer",
                config.admin_email
            ),
            format!("check that the service account {} still exists", account.email),
        ],
        _ if config.keyless.is_some() => {
            vec!["check sources.altcloud.admin_email and service_account".to_string()]
        }
        _ => vec![format!(
            "check sources.altcloud.admin_email and the credentials file that {} names",
            config.credentials_env
        )],
    };
    connection(message, help)
}

/// Why nothing signed an assertion. `noticed` names variables that are set and not read.
pub(super) fn unsigned_error(
    config: &AltCloudConfig,
    access: &Access,
    unsigned: &Unsigned,
    noticed: Vec<String>,
) -> ConnectError {
    let email = &access.account().email;
    let who = access.identity().unwrap_or_default();
    let Some(Keyless { iam_url, federated, .. }) = &config.keyless else {
        return connection("nothing signs the assertion".to_string(), Vec::new());
    };
    let host = iam_url.host_str().unwrap_or("the service that signs");
    let refused = match unsigned {
        Unsigned::Unproved(error) => {
            let mut help = noticed;
            help.extend(unproved(*federated).iter().map(|line| (*line).to_string()));
            return connection(format!("no token for {who}: {error}"), help);
        }
        Unsigned::Refused(CallError::Failed(failure)) => {
            return unreachable_error(host, "sources.altcloud.iam_url", failure);
        }
        Unsigned::Refused(CallError::Refused(refused)) => refused,
    };
    let message = format!(
        "{host} does not sign for service account {email}, asked by {who}: '{}' (HTTP {})",
        refused.text(),
        refused.meta.status
    );
    let help = match refused.class {
        _ if says_disabled(refused) => vec![format!(
            "enable the IAM Service Account Credentials API in the project of {email}: cloud console, APIs and services, \
             Library"
        )],
        Class::Forbidden(RefusalCause::Intermediary) => {
            vec!["check for a proxy and the iam_url: the answer does not come from the provider".to_string()]
        }
        _ if says_scope(refused) => vec![
            "give the instance the access scope cloud-platform: stop it, then `gcloud compute instances \
             set-service-account INSTANCE --scopes=cloud-platform`"
                .to_string(),
        ],
        Class::Forbidden(_) | Class::NotFound => vec![
            format!("check that the service account {email} exists"),
            match federated {
                true => format!(
                    "grant {who}, as a principal of its pool, the role Service Account Token Creator on {email}"
                ),
                false => format!(
                    "grant {who} the role Service Account Token Creator on {email}, also if it is that account itself"
                ),
            },
            "this takes effect within minutes".to_string(),
        ],
        _ => vec![format!("check that {iam_url} is the address of the service that signs")],
    };
    connection(message, help)
}

/// What to do without a token that proves the identity.
fn unproved(federated: bool) -> &'static [&'static str] {
    if federated {
        return &[
            "check that the identity provider's token is there, has not expired, and has the audience of the pool's provider",
            "check the pool's provider: its issuer, its audiences and its attribute condition",
        ];
    }
    &[
        "run where the provider attaches a service account: Compute Engine, GKE with workload identity, Cloud Run, Cloud Build",
        "elsewhere, write `credentials_env` with the variable that names a federation file, or `mode: service_account`",
    ]
}

/// The steps in the admin console, with the values to paste.
fn delegation(config: &AltCloudConfig, account: &ServiceAccount) -> Vec<String> {
    let client_id = account.client_id.as_deref().unwrap_or("the service account's unique id");
    let find = format!(
        "find the id with: gcloud iam service-accounts describe {} --format='value(oauth2ClientId)'",
        account.email
    );
    let lines = vec![
        "have a super administrator open the admin console: Security, Access and data control, API controls, \
         Domain-wide delegation, Add new"
            .to_string(),
        format!("client id: {client_id}"),
        format!("scopes: {}", joined(&OAuthScope::needed(&config.rules), ",")),
        "this takes effect within minutes, at most a day".to_string(),
    ];
    // A key's file has the id.
    lines.into_iter().chain(account.client_id.is_none().then_some(find)).collect()
}

/// Why the API shows nothing of the directory.
pub(super) fn api_error(
    config: &AltCloudConfig,
    account: &ServiceAccount,
    what: &str,
    problem: &ListingError,
) -> ConnectError {
    let host = config.api_url.host_str().unwrap_or("the API");
    let refused = match problem {
        ListingError::Failed(failure) => return unreachable_error(host, "sources.altcloud.api_url", failure),
        ListingError::NotDelegated(_, text) => return connection(text.clone(), delegation(config, account)),
        ListingError::Refused(refused) => refused,
    };
    let message = format!(
        "{host} denies {} access to all data; {what}: '{}' (HTTP {})",
        config.admin_email,
        refused.text(),
        refused.meta.status
    );
    let help = match refused.class {
        _ if says_disabled(refused) => vec![
            "enable the Admin SDK API in the service account's project: cloud console, APIs and services, Library"
                .to_string(),
            format!("the service account is {}", account.email),
        ],
        Class::Forbidden(RefusalCause::Intermediary) => {
            vec!["check for a proxy and the api_url: the answer does not come from the provider".to_string()]
        }
        Class::Unauthorized => vec![
            "the credentials are no longer accepted, not even with a fresh token".to_string(),
            format!(
                "check whether the key, the delegation or {} was removed during the run, then run again",
                config.admin_email
            ),
        ],
        Class::Forbidden(_) => vec![
            format!("make {} an administrator who can read:", config.admin_email),
            OAuthScope::needed(&config.rules).iter().map(|scope| scope.privilege()).collect::<Vec<_>>().join("; "),
        ],
        Class::NotFound => vec![not_the_customers(config, what)],
        _ => vec![format!("check that {} is the address of the API", config.api_url)],
    };
    connection(message, help)
}

/// Explains that the provider does not know the customer or domain; no privilege is missing.
pub(super) fn not_the_customers(config: &AltCloudConfig, what: &str) -> String {
    let admin = &config.admin_email;
    if what.starts_with("users") && !config.domains.is_empty() {
        return format!(
            "check sources.altcloud.domains and customer_id: the domain does not belong to {admin}'s customer"
        );
    }
    format!("check sources.altcloud.customer_id: {admin} belongs to another customer")
}

fn unreachable_error(host: &str, place: &str, failure: &RequestFailure) -> ConnectError {
    let help = match &failure.kind {
        FailureKind::Transport(_) => {
            vec![format!("check the network, and {place}"), "behind a proxy, set HTTPS_PROXY".to_string()]
        }
        FailureKind::PermanentFailure(obstacle, _) => {
            obstacle.help(HelpTarget { host, address: place, ca_file: None })
        }
        FailureKind::Throttled(_) | FailureKind::RateLimited { .. } | FailureKind::SecondaryLimit => {
            vec!["wait a few minutes and run again".to_string()]
        }
        _ => vec![format!("check that {place} is the right address, then try again later")],
    };
    connection(format!("{host}: {failure}"), help)
}

/// A failed connection test.
pub(super) fn connection(message: String, help: Vec<String>) -> ConnectError {
    ConnectError::new(NAME, ConnectErrorKind::Connection, message, help)
}
