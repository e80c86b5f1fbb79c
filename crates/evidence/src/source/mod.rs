//! Sources: where evidence comes from.
//!
//! Everything about a source is in its folder: its configuration, its calls, what answers mean, its artifacts, its
//! rules and the reasons of its checks. [`KINDS`] is the one list of them.
//!
//! A [`Source`] is configured, a [`Session`] is connected: nothing can be collected before the connection test,
//! because only the test makes a session. A source reads; it never screens, writes files or prints, and its rules are
//! pure functions that are applied by `evaluate`.
//!
//! These are traits because the sources of one run are of different kinds and are kept in one list.

pub mod altcloud;
pub mod cloud;
pub mod codehost;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use evidence_bundle::document::{Identity, RateLimitRecord, Warning};
use evidence_bundle::path::BundlePath;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use jiff::Timestamp;

use crate::config::Config;
use crate::control::Control;
use crate::env::Env;
use crate::evaluate::{Facts, Reason, Rule, reason};
use crate::http::ParseError;
use crate::observation::{Observation, Seen, SourceName};
use crate::report::Reporter;
use crate::screen::Screen;
use evidence_settings::declare::Key;
use evidence_settings::decode::{Decoder, Fields};

/// Declares the sources: the list, and the keys of their sections in the same order.
macro_rules! kinds {
    ($($folder:ident),+ $(,)?) => {
        /// Every source, in the order of all outputs.
        pub static KINDS: &[&Kind] = &[$(&$folder::KIND),+];
        /// Their keys in the configuration.
        pub(crate) static KEYS: &[&Key] = &[$(&$folder::config::KEY),+];
    };
}

// A new source is its folder and its name here.
kinds![codehost, cloud, altcloud];

/// What the tool must know of a source before one is configured.
pub struct Kind {
    /// Its name.
    pub name: SourceName,
    /// The controls it can serve.
    pub served: &'static [Control],
    /// Its rules, in the order of the controls.
    pub rules: &'static [&'static Rule],
    /// The reasons that only its checks have.
    pub reasons: &'static [&'static Reason],
    /// The answers that it reads.
    pub answers: &'static [Answer],
    /// Reads its section of the configuration; the list is the top-level `controls`, if it is good.
    pub(crate) decode: Decode,
}

/// One of the answers that a source reads, as if the host had nothing else to say. For recorded answers and the fuzzer:
/// a run reads answers in the session that asked for them.
pub struct Answer {
    /// The call that brings it.
    pub call: &'static str,
    /// What it comes to.
    pub read: fn(&[u8]) -> Result<Vec<Found>, ParseError>,
}

/// See [`Kind::decode`].
pub(crate) type Decode = fn(&mut Decoder<'_, '_>, &Fields, Option<&[Control]>) -> Option<Arc<dyn Configured>>;

/// Every rule of every source.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    KINDS.iter().flat_map(|kind| kind.rules.iter().copied())
}

/// Every reason, the shared ones first.
pub fn reasons() -> impl Iterator<Item = &'static Reason> {
    reason::SHARED.iter().copied().chain(KINDS.iter().flat_map(|kind| kind.reasons.iter().copied()))
}

/// The section of one source in a valid configuration.
pub trait Configured: fmt::Debug + Send + Sync {
    /// Which source.
    fn kind(&self) -> &'static Kind;

    /// The controls it is collected for.
    fn controls(&self) -> &[Control];

    /// The source.
    fn source(&self, surroundings: &Surroundings) -> Box<dyn Source>;

    /// Whether what is read is kept for later runs.
    fn keeps_records(&self) -> bool {
        false
    }

    /// For [`Config::source`].
    fn as_any(&self) -> &dyn Any;
}

/// What a source may use of the run around it.
#[derive(Clone)]
pub struct Surroundings {
    /// Variables and clock.
    pub env: Env,
    /// Who is told of waits and requests.
    pub reporter: Arc<dyn Reporter>,
    /// Whether this is a dry run, which never waits for a rate limit.
    pub dry_run: bool,
    /// Whether to go on where a killed run ended.
    pub resume: bool,
}

/// The configured sources, in the order of all outputs.
pub fn from_config(config: &Config, surroundings: &Surroundings) -> Vec<Box<dyn Source>> {
    config.sources.iter().map(|source| source.source(surroundings)).collect()
}

/// A configured source.
pub trait Source: Send {
    /// The credentials the source would send, for the screen to look for; before anything is sent.
    ///
    /// # Errors
    ///
    /// If a credential's variable is not set or cannot be one.
    fn credentials(&self) -> Result<Vec<String>, ConnectError>;

    /// What is known before the connection test: what would be missing without it.
    fn scope(&self) -> Scope;

    /// The connection test: credentials, authentication, permissions, rate limit. What it learns that must not be
    /// shown, such as temporary credentials, it tells `screen`.
    fn connect(
        self: Box<Self>,
        screen: Arc<Screen>,
    ) -> BoxFuture<'static, Result<Box<dyn Session>, ConnectError>>;
}

/// What a source is about, as far as its configuration tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Which source.
    pub source: SourceName,
    /// The organization, if the configuration names one.
    pub organization: Option<String>,
    /// What its checks are about as long as nothing more is known: the organization, or what stands for it.
    pub subject: String,
    /// Base of the API.
    pub api_url: String,
    /// The rules that would be applied.
    pub rules: Vec<&'static Rule>,
}

impl Scope {
    /// The rules of `kind` for `controls`.
    pub fn rules_for(kind: &Kind, controls: &[Control]) -> Vec<&'static Rule> {
        kind.rules.iter().copied().filter(|rule| controls.contains(&rule.control)).collect()
    }
}

/// A source that has passed its connection test.
pub trait Session: Send + Sync {
    /// Its name.
    fn name(&self) -> SourceName;

    /// The organization or account, as an artifact's subject names it.
    fn organization(&self) -> &str;

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

    /// Everything was seen and nothing is asked any more: what is only there for asking can go before the bundle is
    /// made, which takes memory too.
    fn collected(&self) {}

    /// The bundle is delivered: what was kept for resuming this run is not needed any more.
    fn delivered(&self) {}
}

/// One item of a collection.
#[derive(Debug)]
pub enum Found {
    /// It is known what there is to look at.
    Population {
        /// What discovery listed; `None` if there was no discovery.
        discovered: Option<u64>,
        /// What is in scope.
        in_scope: u64,
        /// Observations that will follow.
        expected: u64,
        /// The same in words, such as `14 repositories found by discovery`; empty if there is nothing to tell.
        text: String,
    },
    /// Something was looked at.
    Observed(Observation, Vec<Warning>),
    /// What several artifacts show together, or one of several things that one artifact shows. All of them were
    /// observed before.
    Asked(Question),
    /// Something worth saying that is no observation.
    Warned(Warning),
}

/// A check over artifacts that were observed before.
#[derive(Debug)]
pub struct Question {
    /// The rule.
    pub rule: &'static Rule,
    /// What it is about.
    pub subject: Arc<str>,
    /// What the artifacts show.
    pub facts: Box<dyn Facts>,
    /// Where they are in the bundle.
    pub evidence: Vec<BundlePath>,
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
    /// What could not be asked for, in words: a collection would lack it if that does not change. What is refused is no
    /// part of it, since that is a warning of the connection test.
    pub missing: Vec<String>,
    /// What the host says exists and did not list, in words: a collection will not have it and warns of it.
    pub unlisted: Vec<String>,
    /// Requests at least: each artifact is there at the first place it is looked for.
    pub requests_minimum: u64,
    /// Requests at most, retries not counted.
    pub requests_maximum: u64,
    /// Requests among these that cost nothing of the limit if what they ask for has not changed since it was kept.
    pub requests_free: u64,
    /// Answers that are taken over from a killed run, and not asked for.
    pub taken_over: u64,
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
    /// Answers that were kept from an earlier run and that the host confirmed.
    pub revalidated: u64,
    /// Answers that were taken over from a killed run, and when that run began.
    pub taken_over: Option<(u64, Timestamp)>,
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
    /// Requests sent until then, retries included.
    pub requests: u64,
    /// Those of them that were sent again.
    pub retries: u64,
}

impl ConnectError {
    /// A problem of this kind, before anything was sent.
    pub fn new(
        source: SourceName,
        kind: ConnectErrorKind,
        message: String,
        help: Vec<String>,
    ) -> ConnectError {
        ConnectError { source, kind, message, help, requests: 0, retries: 0 }
    }

    /// The same after so many requests, of which so many were sent again.
    pub fn after(self, requests: u64, retries: u64) -> ConnectError {
        ConnectError { requests, retries, ..self }
    }
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
