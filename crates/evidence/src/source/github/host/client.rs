//! The HTTP client with the limits of the configuration.

use std::sync::Arc;

use evidence_os::input;

use super::super::advice::configuration;
use super::super::config::CodeHostConfig;
use super::super::names::NAME;
use crate::report::SourceWatch;
use crate::source::{ConnectError, RunContext};
use evidence_http::{Client, ClientSettings, Credential, Dialect, Proxy};

/// The certificates of every authority of a large system take a quarter of a megabyte.
const CA_FILE_LIMIT: u64 = 4 * 1024 * 1024;

/// A client that speaks `dialect` and signs in with `credential`.
pub(crate) fn client(
    config: &CodeHostConfig,
    dialect: Arc<dyn Dialect>,
    credential: Arc<dyn Credential>,
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
    let clock = surroundings.env.clock.clone();
    let watch = SourceWatch::new(NAME, &surroundings.reporter);
    Client::new(settings, dialect, credential, clock, watch).map_err(|text| configuration(text, Vec::new()))
}
