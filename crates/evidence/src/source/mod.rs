//! Sources: where evidence comes from.
//!
//! A [`Source`] is configured, a [`Session`] is connected: nothing can be collected before the connection test,
//! because only the test makes a session. A source reads; it never judges, screens, writes files or prints.
//!
//! These are traits because the sources of one run are of different kinds and are kept in one list.

pub mod codehost;

use std::fmt;
use std::sync::Arc;

use evidence_bundle::document::{Identity, RateLimitRecord, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::config::Config;
use crate::control::Control;
use crate::env::Env;
use crate::observation::{Observation, Seen, SourceName};
use crate::report::Reporter;

/// The configured sources, in the order of all outputs. A new source is one more line here.
pub fn from_config(
    config: &Config,
    env: &Env,
    reporter: &Arc<dyn Reporter>,
    dry_run: bool,
) -> Vec<Box<dyn Source>> {
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    if let Some(codehost) = &config.sources.codehost {
        sources.push(Box::new(codehost::CodeHost::new(
            codehost.clone(),
            env.clone(),
            reporter.clone(),
            dry_run,
        )));
    }
    sources
}

/// A configured source.
pub trait Source: Send {
    /// Its name.
    fn name(&self) -> SourceName;

    /// The credentials the source would send, for the screen to look for; before anything is sent.
    ///
    /// # Errors
    ///
    /// If a credential's variable is not set or cannot be one.
    fn credentials(&self) -> Result<Vec<String>, ConnectError>;

    /// The connection test: credentials, authentication, permissions, rate limit.
    fn connect(self: Box<Self>) -> BoxFuture<'static, Result<Box<dyn Session>, ConnectError>>;
}

/// A source that has passed its connection test.
pub trait Session: Send + Sync {
    /// Its name.
    fn name(&self) -> SourceName;

    /// The organization or account, as an artifact's subject names it.
    fn organization(&self) -> &str;

    /// The controls this source is collected for.
    fn controls(&self) -> &[Control];

    /// What the connection test found worth saying.
    fn warnings(&self) -> &[Warning];

    /// What the token is, in words.
    fn identity(&self) -> String;

    /// What a collection would take. Asks only for what it needs to count.
    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>>;

    /// Everything there is to see, in the specification's order, as it is seen.
    fn collect(&self) -> BoxStream<'_, Found>;

    /// What the session has done so far, for `run.json`.
    fn account(&self) -> Account;
}

/// One item of a collection.
#[derive(Debug)]
pub enum Found {
    /// Discovery is over.
    Population {
        /// Repositories that discovery listed; `None` if there was no discovery.
        discovered: Option<u64>,
        /// Repositories in scope.
        in_scope: u64,
        /// Observations that will follow.
        expected: u64,
    },
    /// Something was looked at.
    Observed(Observation, Vec<Warning>),
    /// Something worth saying that is no observation.
    Warned(Warning),
}

impl Found {
    /// Roughly how many bytes it keeps in memory; only large artifacts matter.
    pub fn weight(&self) -> u64 {
        let Found::Observed(Observation { seen: Seen::Artifact { artifact, .. }, .. }, _) = self else {
            return 0;
        };
        let decoded = artifact.record().decoded().map_or(0, <[u8]>::len);
        u64::try_from(artifact.bytes().len().saturating_add(decoded)).unwrap_or(u64::MAX)
    }
}

/// What a collection would take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Artifacts at most, by kind: a name for people and a number.
    pub artifacts: Vec<(&'static str, u64)>,
    /// Requests at least: each artifact is there at the first place it is looked for.
    pub requests_minimum: u64,
    /// Requests at most, retries not counted.
    pub requests_maximum: u64,
    /// Estimated bytes of the source's part of the archive.
    pub estimated_bytes: u64,
    /// The host's limit, if it has one.
    pub rate_limit: Option<RateLimitRecord>,
    /// The pace that the configuration sets; 0 means none.
    pub requests_per_minute: u32,
}

impl Plan {
    /// All artifacts.
    pub fn artifact_count(&self) -> u64 {
        self.artifacts.iter().map(|(_, count)| count).sum()
    }
}

/// What a session has done.
#[derive(Debug, Clone)]
pub struct Account {
    /// Base of the API.
    pub api_url: String,
    /// Who the token says it is.
    pub identity: Identity,
    /// Requests sent, retries included.
    pub requests: u64,
    /// Requests sent again.
    pub retries: u64,
    /// The limit as last told.
    pub rate_limit: Option<RateLimitRecord>,
    /// Seconds spent waiting for limits.
    pub paused_seconds: u64,
}

/// Why a source cannot be connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectError {
    /// The source.
    pub source: SourceName,
    /// What kind of problem it is.
    pub kind: ConnectErrorKind,
    /// What failed.
    pub message: String,
    /// What to do, a line each.
    pub help: Vec<String>,
}

/// The kinds of connection problems that differ in their exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectErrorKind {
    /// Reported as configuration validation: 'Forbidden scope', an unreadable certificate file.
    Configuration,
    /// Everything else: credentials, authentication, network, limits.
    Connection,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source.id(), self.message)
    }
}
