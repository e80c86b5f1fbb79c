//! The HTTP client with the limits of the configuration.

use std::sync::Arc;

use evidence_os::input;

use super::super::advice::configuration;
use super::super::config::CodeHostConfig;
use super::super::names::NAME;
use super::dialect::CodeHostDialect;
use super::token::Token;
use crate::report::SourceWatch;
use crate::source::{ConnectError, RunContext};
use evidence_http::{Client, ClientSettings, Login, Proxy};

/// The certificates of every authority of a large system take a quarter of a megabyte.
const CA_FILE_LIMIT: u64 = 4 * 1024 * 1024;

/// A client that signs in with `token`.
pub(crate) fn client(
    config: &CodeHostConfig,
    token: &Token,
    surroundings: &RunContext,
) -> Result<Client, ConnectError> {
    let roots = match &config.ca_file {
        None => Vec::new(),
        Some(path) => match input::read(path, CA_FILE_LIMIT) {
            Ok((bytes, _)) => bytes.to_vec(),
            Err(error) => {
                return Err(configuration(
                    format!("cannot read ca_file {}: {error}", path.display()),
                    vec!["name a file with certificates in PEM form as sources.codehost.ca_file".to_string()],
                ));
            }
        },
    };
    let settings = ClientSettings {
        timeout: config.timeout,
        max_concurrency: config.max_concurrency,
        requests_per_minute: config.requests_per_minute,
        tells_limits: true,
        rate_limit_pause: config.rate_limit_pause && !surroundings.dry_run,
        roots,
        store: "ca_file",
        proxy: Proxy::from_env(&surroundings.env),
        plain: config.api_url.scheme() == "http",
        ..ClientSettings::default()
    };
    let header = token.header().ok_or_else(|| {
        configuration("the token has characters that a header cannot hold".to_string(), Vec::new())
    })?;
    let (dialect, credential) = (Arc::new(CodeHostDialect), Arc::new(Login::fixed(header)));
    let clock = surroundings.env.clock.clone();
    let watch = SourceWatch::new(NAME, &surroundings.reporter);
    let client = Client::new(settings, dialect, credential, clock, watch)
        .map_err(|text| configuration(text, Vec::new()))?;
    let budget = format!("{} {}", config.api_url, token.digest());
    Ok(client.sharing(&surroundings.budgets, &budget))
}
