//! What signs in: a service account with the key of its file, or one for which the provider signs. This file finds both as
//! the configuration says, and makes the clients of the second.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::advice::connection;
use super::config::{AltCloudConfig, Keyless};
use super::host::access::Signing;
use super::host::credentials_file::{self, CredentialsError, Loaded};
use super::host::dialect::{TokenExchange, TokenService};
use super::host::federation::{self, TokenPlace};
use super::host::identity::{Identity, Prover};
use super::host::service_account::{self, ServiceAccount, SignIn, Signer};
use super::host::sign_jwt::Remote;
use super::names::NAME;
use crate::env::Env;
use crate::report::SourceWatch;
use crate::source::{ConnectError, ConnectErrorKind, RunContext};
use evidence_http::{Anonymous, Client, ClientSettings, Dialect, Proxy};

/// The variable in which the provider's own tools expect the path of the file.
const USUAL_VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// The variable with another host of the metadata service, as the provider's own tools read it.
const METADATA_HOST: &str = "GCE_METADATA_HOST";

/// The host of the metadata service, which only the machine reaches.
const USUAL_METADATA_HOST: &str = "metadata.google.internal";

/// How long an answer of the metadata service may take: it is in the machine, and slow only while a container starts.
const METADATA_TIMEOUT: Duration = Duration::from_secs(5);

/// The service account, and what signs for it, as the configuration says.
pub(super) fn find(config: &AltCloudConfig, env: &Env) -> Result<Loaded<SignIn>, ConnectError> {
    let content = match &config.credentials_json_env {
        Some(variable) => {
            let secret =
                env.secret(variable).map_err(|error| connection(error.to_string(), vec![error.help()]))?;
            Some((variable, secret))
        }
        None => None,
    };
    let path = (&config.credentials_env, env.var(&config.credentials_env));
    let loaded = match (&config.keyless, &content) {
        (None, Some((variable, secret))) => {
            service_account::from_content(variable, secret.as_ref().map(|secret| secret.text()))
        }
        (None, None) => service_account::load(path.0, path.1),
        (Some(keyless), _) if !keyless.federated => metadata(env)
            .map(|url| Loaded { value: provider(keyless, Identity::Attached(url)), warning: None }),
        (Some(keyless), content) => {
            let loaded = match content {
                Some((variable, secret)) => {
                    let text = secret.as_ref().map(|secret| secret.text());
                    credentials_file::from_content(variable, text, federation::parse)
                }
                None => credentials_file::load(path.0, path.1, federation::parse),
            };
            loaded.map(|Loaded { value, warning }| {
                // Without headers, such a file has nothing to hide.
                let warning = warning.filter(|_| !value.secrets().is_empty());
                Loaded { value: provider(keyless, Identity::Federated(value)), warning }
            })
        }
    };
    loaded.map_err(|CredentialsError { message, mut help }| {
        let is_other = config.credentials_json_env.is_some() || config.credentials_env != USUAL_VARIABLE;
        if is_other && env.var(&config.credentials_env).is_none() && env.var(USUAL_VARIABLE).is_some() {
            let line = format!("to use it, write `credentials_env: {USUAL_VARIABLE}` in sources.altcloud");
            help.insert(0, format!("{USUAL_VARIABLE} is set but not read: {line}"));
        }
        connection(message, help)
    })
}

fn provider(keyless: &Keyless, identity: Identity) -> SignIn {
    let account = ServiceAccount {
        email: keyless.service_account.clone(),
        client_id: None,
        token_uri: keyless.token_uri.clone(),
        audience: keyless.token_uri.as_str().to_string(),
    };
    SignIn { account, signer: Signer::Provider(keyless.iam_url.clone(), identity) }
}

/// The address of the metadata service.
fn metadata(env: &Env) -> Result<Url, CredentialsError> {
    let host = env.var(METADATA_HOST).unwrap_or(USUAL_METADATA_HOST).trim();
    let url = Url::parse(&format!("http://{host}/")).ok();
    let is_host = |url: &Url| {
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
    };
    url.filter(|url| is_host(url) && url.has_host()).ok_or_else(|| CredentialsError {
        message: format!("the environment variable {METADATA_HOST} does not hold a host"),
        help: vec![format!("export {METADATA_HOST}=HOST or HOST:PORT, or unset it")],
    })
}

/// Variables with the path of a file that the attached identity leaves unread, each with the line that uses it.
pub(super) fn noticed(config: &AltCloudConfig, env: &Env) -> Vec<String> {
    if config.keyless.as_ref().is_none_or(|keyless| keyless.federated) {
        return Vec::new();
    }
    let own = Some(config.credentials_env.as_str()).filter(|name| *name != USUAL_VARIABLE);
    let unread = own.into_iter().chain([USUAL_VARIABLE]).filter(|name| env.var(name).is_some());
    let line = |name| {
        format!(
            "{name} is set but not read: if it names a federation file, write `credentials_env: {name}` in \
             sources.altcloud"
        )
    };
    unread.map(line).collect()
}

/// A client for `url`, which has TLS or is in the machine.
pub(super) fn client(
    config: &AltCloudConfig,
    run: &RunContext,
    dialect: Arc<dyn Dialect>,
    url: &Url,
    settings: ClientSettings,
) -> Result<Client, ConnectError> {
    let plain = url.scheme() == "http";
    let settings = ClientSettings { timeout: config.timeout.min(settings.timeout), plain, ..settings };
    let watch = SourceWatch::new(NAME, &run.reporter);
    Client::new(settings, dialect, Arc::new(Anonymous), run.env.clock.clone(), watch).map_err(|text| {
        ConnectError { kind: ConnectErrorKind::Configuration, ..connection(text, Vec::new()) }
    })
}

/// What signs, ready for it. `settings` are those of requests over the network.
pub(super) fn signing(
    config: &AltCloudConfig,
    signer: Signer,
    email: &str,
    settings: &ClientSettings,
    run: &RunContext,
) -> Result<Signing, ConnectError> {
    let (iam_url, identity) = match signer {
        Signer::Key(key) => return Ok(Signing::Key(Box::new(key))),
        Signer::Provider(iam_url, identity) => (iam_url, identity),
    };
    // Nothing in the machine is asked through a proxy.
    let in_machine = || ClientSettings {
        timeout: METADATA_TIMEOUT,
        max_concurrency: NonZeroUsize::MIN,
        attempts: 3,
        ..ClientSettings::default()
    };
    let settings_for = |url: &Url| if url.scheme() == "http" { in_machine() } else { settings.clone() };
    let service = |of_machine| Arc::new(TokenService { of_machine });
    let (first, issuer) = match &identity {
        Identity::Attached(url) => (client(config, run, service(true), url, in_machine())?, None),
        Identity::Federated(federation) => {
            let url = &federation.token_url;
            let exchange = client(config, run, Arc::new(TokenExchange), url, settings.clone())?;
            let issuer = match &federation.place {
                TokenPlace::File(_) => None,
                TokenPlace::Address(url, _) => {
                    Some(client(config, run, service(false), url, settings_for(url))?)
                }
            };
            (exchange, issuer)
        }
    };
    let prover = Prover {
        identity,
        client: first,
        issuer,
        clock: run.env.clock.clone(),
        screen: Arc::clone(&run.screen),
    };
    let signs =
        client(config, run, Arc::new(super::host::dialect::DirectoryApi), &iam_url, settings.clone())?;
    Ok(Signing::Remote(Box::new(Remote::new(&iam_url, email, &signs, prover))))
}

/// Settings of requests over the network.
pub(super) fn settings(
    config: &AltCloudConfig,
    concurrency: NonZeroUsize,
    requests_per_minute: u32,
    run: &RunContext,
) -> ClientSettings {
    ClientSettings {
        timeout: config.timeout,
        max_concurrency: concurrency,
        requests_per_minute,
        rate_limit_pause: !run.dry_run,
        proxy: Proxy::from_env(&run.env),
        ..ClientSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Clock;

    #[test]
    fn the_metadata_service_is_a_host_without_a_path() {
        let found = |value: &str| metadata(&Env::new([(METADATA_HOST, value)], Clock::System));
        for (value, url) in [
            ("", "http://metadata.google.internal/"),
            ("169.254.169.254", "http://169.254.169.254/"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("[fd20:ce::254]", "http://[fd20:ce::254]/"),
        ] {
            assert_eq!(found(value).unwrap().as_str(), url);
        }
        for value in ["http://host", "host/path", "user@host", "host?x", "a b", ":8080"] {
            let error = found(value).unwrap_err();
            assert!(error.message.contains(METADATA_HOST), "{value}: {error:?}");
        }
    }
}
