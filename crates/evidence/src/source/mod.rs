//! Sources of evidence.
//!
//! Everything about a source is in its folder: its configuration, calls, answers, artifacts, rules and reasons.
//! [`KINDS`] lists all sources.
//!
//! A [`Source`] source becomes a [`Session`] only through the connection test, so nothing can be collected before
//! it. A source reads; it never screens, writes files or prints. Its rules are pure functions that `evaluate` applies.
//!
//! These are traits because a run keeps sources of different kinds in one list.

pub mod aws;
mod connect_error;
pub mod endpoint;
mod estimate;
pub mod github;
pub mod google;
pub mod place;
mod plan;
mod work;

pub use self::connect_error::{ConnectError, ConnectErrorKind};
pub use self::endpoint::Endpoint;
pub use self::plan::{Plan, Scope};
pub use self::work::{PerHundred, Queries, Standings, Work};

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use evidence_bundle::document::{self, BulkRecord, Identity, RateLimitRecord, SourcePopulation, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use zeroize::Zeroizing;

use self::place::{Place, Remedy};
use crate::config::controls::Applied;
use crate::env::Env;
use crate::observation::{ArtifactKind, Inspection, Observation, Seen, SourceName};
use crate::origin::Origin;
use crate::report::Reporter;
use evidence_http::{Asked, Budgets, GivenUp};
use evidence_rules::SourceRules;
use evidence_rules::rule::Rule;
use evidence_screen::Screen;
use evidence_settings::declare::Key;
use evidence_settings::decode::{Decoder, Fields};
use evidence_text::saturating_u64;

/// Declares the sources: the list, and the keys of their sections in the same order.
macro_rules! kinds {
    ($($folder:ident),+ $(,)?) => {
        /// Every source, in the order of all outputs.
        pub static KINDS: &[&SourceKind] = &[$(&$folder::KIND),+];
        /// Their keys in the configuration.
        pub(crate) static KEYS: &[&Key] = &[$(&$folder::config::KEY),+];
    };
}

// To add a source, add its folder and list its name here.
kinds![github, aws, google];

/// The static description of a source.
pub struct SourceKind {
    /// Its name.
    pub name: SourceName,
    /// Its rules and their reasons.
    pub judged: &'static SourceRules,
    /// The calls it makes.
    pub calls: &'static [Endpoint],
    /// The page where the setting of a check is changed.
    pub page: fn(&Place<'_>) -> Option<String>,
    /// The one change that repairs many checks of a rule and a reason.
    pub remedy: fn(&Place<'_>, &str) -> Option<Remedy>,
    /// Decodes its section of the configuration.
    pub(crate) decode: Decode,
}

/// See [`SourceKind::decode`].
pub(crate) type Decode = fn(&mut Decoder<'_, '_>, &Fields, &Applied<'_>) -> Option<Arc<dyn Source>>;

/// A configured source: its section in a valid configuration.
pub trait Source: Any + fmt::Debug + Send + Sync {
    /// The kind of source.
    fn kind(&self) -> &'static SourceKind;

    /// The rules to collect evidence for.
    fn rules(&self) -> &[&'static Rule];

    /// Whether the configuration requires `rule`.
    fn wants(&self, rule: &'static Rule) -> bool {
        self.rules().contains(&rule)
    }

    /// Whether the configuration requires a rule that uses `kind` as evidence.
    fn collects(&self, kind: &ArtifactKind) -> bool {
        kind.rules.iter().any(|rule| self.wants(rule))
    }

    /// Whether the source keeps its answers for later runs.
    fn keeps_records(&self) -> bool {
        false
    }

    /// The effective settings that determine what is collected and judged, by their names in the configuration:
    /// including defaults, without secrets.
    fn settings(&self, env: &Env) -> Vec<(&'static str, serde_json::Value)>;

    /// The credentials that the source would send. The screen learns them before the first request.
    ///
    /// # Errors
    ///
    /// Fails if a credential's variable is not set, or if its value is invalid.
    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError>;

    /// The scope known before the connection test: what would be missing if the test failed.
    fn scope(&self) -> Scope;

    /// The origins that it will send credentials to, as far as they are known.
    fn origins(&self, env: &Env) -> Vec<Origin>;

    /// The connection test: credentials, authentication, permissions, rate limit. Registers secrets that it obtains,
    /// such as temporary credentials, with the run's screen.
    fn connect<'a>(&'a self, run: &'a RunContext) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>>;
}

/// The parts of a run that a source may use.
#[derive(Clone)]
pub struct RunContext {
    /// Environment variables and the clock.
    pub env: Env,
    /// Receives waits and requests.
    pub reporter: Arc<dyn Reporter>,
    /// Redacts what must not be shown or stored.
    pub screen: Arc<Screen>,
    /// Whether this is a dry run, which never waits for a rate limit.
    pub dry_run: bool,
    /// Whether to resume an interrupted run.
    pub resume: bool,
    /// What only the holder of the signing key knows: protects answers that are kept between runs.
    pub cache_secret: Arc<Zeroizing<Vec<u8>>>,
    /// The limits that runs beside this one share with it.
    pub budgets: Budgets,
}

/// A source that has passed its connection test.
pub trait Session: Send + Sync {
    /// Its name.
    fn name(&self) -> SourceName;

    /// The rules to collect evidence for. No other rule gets a check.
    fn rules(&self) -> &[&'static Rule];

    /// The organization or account, as in the subjects of artifacts.
    fn organization(&self) -> &str;

    /// The warnings of the connection test.
    fn warnings(&self) -> &[Warning];

    /// A description of the token.
    fn identity(&self) -> String;

    /// The plan of a collection. Sends only the requests it needs to count.
    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>>;

    /// Yields every item in the specification's order, as it is read.
    fn collect(&self) -> BoxStream<'_, CollectionItem>;

    /// A summary of the session so far, for `run.json`.
    fn account(&self) -> SessionSummary;

    /// Where its clients stand with their limits, if it says beforehand what they will ask.
    fn standings(&self) -> Option<Standings> {
        None
    }

    /// Called when all requests are done: frees memory that only requests need, since creating the bundle takes memory
    /// too.
    fn collected(&self) {}

    /// Called when the bundle is delivered: removes what was kept for resuming this run.
    fn delivered(&self) {}
}

/// A member of the population, whether or not it is in scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The kind, such as `repository`.
    pub kind: &'static str,
    /// The name, as in subjects.
    pub name: Arc<str>,
    /// The host's own identifier.
    pub id: Option<String>,
    /// The default branch of a repository.
    pub default_branch: Option<Arc<str>>,
    /// Whether it is archived.
    pub archived: Option<bool>,
    /// Who can see it.
    pub visibility: Option<Arc<str>>,
    /// The code of the reason why it is out of scope; `None` if it is in scope.
    pub out_of_scope: Option<&'static str>,
}

impl Member {
    /// A member in scope with only a name.
    pub fn new(kind: &'static str, name: impl Into<Arc<str>>) -> Member {
        let name = name.into();
        Member {
            kind,
            name,
            id: None,
            default_branch: None,
            archived: None,
            visibility: None,
            out_of_scope: None,
        }
    }
}

/// How the members in scope compare with everything there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopulationScope {
    /// The comparison.
    pub scope: document::Scope,
    /// Whose members they are.
    pub organization: String,
    /// The kind of members that is compared, such as `repository`.
    pub kind: &'static str,
    /// How many of them were listed, or named by the configuration and found.
    pub listed: u64,
    /// How many of them the host reports, if it does.
    pub host_total: Option<u64>,
    /// The host's own counts, by its own names.
    pub host_totals: Vec<(&'static str, u64)>,
}

impl PopulationScope {
    /// The scope of `listed` members whose total nothing else reports.
    pub fn new(
        scope: document::Scope,
        organization: impl Into<String>,
        kind: &'static str,
        listed: u64,
    ) -> PopulationScope {
        let organization = organization.into();
        PopulationScope { scope, organization, kind, listed, host_total: None, host_totals: Vec::new() }
    }

    /// The scope as `derived/population.json` has it. `in_scope` counts its kind, `members` every kind.
    pub fn record(self, source: SourceName, in_scope: u64, members: u64) -> SourcePopulation {
        let PopulationScope { scope, organization, kind, listed, host_total, host_totals } = self;
        SourcePopulation {
            source: source.id().to_string(),
            scope,
            organization,
            kind: kind.to_string(),
            listed,
            in_scope,
            host_total,
            host_totals: host_totals.into_iter().map(|(name, count)| (name.to_string(), count)).collect(),
            members,
        }
    }
}

/// One item of a collection.
#[derive(Debug)]
pub enum CollectionItem {
    /// The size of the population is known.
    Population {
        /// The number of discovered items; `None` without discovery.
        discovered: Option<u64>,
        /// The number of inspections that will follow.
        expected: u64,
        /// The usual requests of the last of them, as far as they are known.
        work: Vec<Work>,
        /// A description, such as `14 repositories found by discovery`; empty if there is nothing to report.
        text: String,
        /// Every member of the population.
        members: Vec<Member>,
        /// How the members in scope compare with everything there is.
        scope: PopulationScope,
    },
    /// A listing of the population was read, completely or in part.
    Listed {
        /// The listing's name in documents, such as `repository_listing`.
        kind: &'static str,
        /// The subject.
        subject: Arc<str>,
        /// The requests.
        requests: Vec<Asked>,
    },
    /// One inspection.
    Inspected(Inspection),
    /// A warning that does not belong to an observation.
    Warned(Warning),
}

impl CollectionItem {
    /// Whether it is an inspection.
    pub fn is_inspection(&self) -> bool {
        matches!(self, CollectionItem::Inspected(_))
    }

    /// The approximate memory use in bytes; only large artifacts matter.
    pub fn weight(&self) -> u64 {
        let CollectionItem::Inspected(inspection) = self else { return 0 };
        let weight = |observation: &Observation| match &observation.seen {
            Seen::Artifact { artifact, .. } => artifact.weight(),
            Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Withheld { .. } | Seen::Failed(_) => 0,
        };
        saturating_u64(inspection.observations.iter().map(weight).sum::<usize>())
    }
}

/// A summary of a session.
#[derive(Debug, Clone)]
pub struct SessionSummary {
    /// Base of the API.
    pub api_url: String,
    /// The identity that the token reports.
    pub identity: Identity,
    /// Requests sent, retries included.
    pub requests: u64,
    /// The number of retries.
    pub retries: u64,
    /// Answers kept from an earlier run that the host confirmed.
    pub revalidated: u64,
    /// The number of answers resumed from an interrupted run, and when that run began.
    pub resumed: Option<(u64, Timestamp)>,
    /// The limit as last reported.
    pub rate_limit: Option<RateLimitRecord>,
    /// What reading in bulk took, if the session did.
    pub bulk: Option<BulkRecord>,
    /// Seconds spent waiting for limits.
    pub paused_seconds: u64,
    /// The kinds of requests that the session gave up.
    pub given_up: Vec<GivenUp>,
}
