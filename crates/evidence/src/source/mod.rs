//! Sources: where evidence comes from.
//!
//! Everything about a source is in its folder: its configuration, its calls, what answers mean, its artifacts, its
//! rules and the reasons of its checks. [`KINDS`] is the one list of them.
//!
//! A source is [`Configured`], a [`Session`] is connected: nothing can be collected before the connection test,
//! because only the test makes a session. A source reads; it never screens, writes files or prints, and its rules are
//! pure functions that are applied by `evaluate`.
//!
//! These are traits because the sources of one run are of different kinds and are kept in one list.

pub mod altcloud;
pub mod cloud;
pub mod codehost;
mod connect_error;
pub mod endpoint;
mod estimate;
mod plan;

pub use self::connect_error::{ConnectError, ConnectErrorKind};
pub use self::endpoint::Endpoint;
pub use self::plan::{Plan, Scope};

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use evidence_bundle::document::{Identity, RateLimitRecord, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use url::Url;

use crate::env::Env;
use crate::framework::Control;
use crate::number::saturating_u64;
use crate::observation::{ArtifactKind, Inspection, Observation, Seen, SourceName};
use crate::report::Reporter;
use crate::rule::{Reason, Rule, reason};
use evidence_http::{Asked, GivenUp};
use evidence_screen::Screen;
use evidence_settings::declare::Key;
use evidence_settings::decode::{Decoder, Fields};

/// Declares the sources: the list, and the keys of their sections in the same order.
macro_rules! kinds {
    ($($folder:ident),+ $(,)?) => {
        /// Every source, in the order of all outputs.
        pub static KINDS: &[&SourceKind] = &[$(&$folder::KIND),+];
        /// Their keys in the configuration.
        pub(crate) static KEYS: &[&Key] = &[$(&$folder::config::KEY),+];
    };
}

// A new source is its folder and its name here.
kinds![codehost, cloud, altcloud];

/// What the tool must know of a source before one is configured.
pub struct SourceKind {
    /// Its name.
    pub name: SourceName,
    /// Its rules, in the order of documents.
    pub rules: &'static [&'static Rule],
    /// The reasons that any of its checks can have.
    pub reasons: &'static [&'static Reason],
    /// The calls it makes.
    pub calls: &'static [Endpoint],
    /// Reads its section of the configuration; the list is the rules that the top-level `controls` want, if it is good.
    pub(crate) decode: Decode,
}

impl SourceKind {
    /// Every reason that only its checks have: those of its rules, then those that any of them can have.
    pub fn reasons(&self) -> impl Iterator<Item = &'static Reason> {
        self.rules.iter().flat_map(|rule| rule.reasons).chain(self.reasons).copied()
    }
}

/// See [`SourceKind::decode`].
pub(crate) type Decode =
    fn(&mut Decoder<'_, '_>, &Fields, Option<&[&'static Control]>) -> Option<Arc<dyn Configured>>;

/// Every rule of every source.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    KINDS.iter().flat_map(|kind| kind.rules.iter().copied())
}

/// Every reason, the shared ones first.
pub fn reasons() -> impl Iterator<Item = &'static Reason> {
    reason::SHARED.iter().copied().chain(KINDS.iter().flat_map(|kind| kind.reasons()))
}

/// A configured source: its section in a valid configuration.
pub trait Configured: Any + fmt::Debug + Send + Sync {
    /// Which source.
    fn kind(&self) -> &'static SourceKind;

    /// The rules it is collected for.
    fn rules(&self) -> &[&'static Rule];

    /// Whether `rule` is wanted.
    fn wants(&self, rule: &'static Rule) -> bool {
        self.rules().contains(&rule)
    }

    /// Whether a rule is wanted that `kind` is evidence for.
    fn collects(&self, kind: &ArtifactKind) -> bool {
        kind.rules.iter().any(|rule| self.wants(rule))
    }

    /// Whether what is read is kept for later runs.
    fn keeps_records(&self) -> bool {
        false
    }

    /// The settings in effect that decide what is collected and judged, by their names in the configuration, defaults
    /// included and without any secret.
    fn settings(&self, env: &Env) -> Vec<(&'static str, serde_json::Value)>;

    /// The credentials the source would send, for the screen to look for; before anything is sent.
    ///
    /// # Errors
    ///
    /// If a credential's variable is not set or cannot be one.
    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError>;

    /// What is known before the connection test: what would be missing without it.
    fn scope(&self) -> Scope;

    /// The hosts that it will ask, as far as they are known.
    fn hosts(&self, env: &Env) -> Vec<Url>;

    /// The connection test: credentials, authentication, permissions, rate limit. What it learns that must not be
    /// shown, such as temporary credentials, it registers with the run's screen.
    fn connect<'a>(&'a self, run: &'a Surroundings) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>>;
}

/// What a source may use of the run around it.
#[derive(Clone)]
pub struct Surroundings {
    /// Variables and clock.
    pub env: Env,
    /// Receives waits and requests.
    pub reporter: Arc<dyn Reporter>,
    /// What must not be shown or stored.
    pub screen: Arc<Screen>,
    /// Whether this is a dry run, which never waits for a rate limit.
    pub dry_run: bool,
    /// Whether to go on where a killed run ended.
    pub resume: bool,
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
    fn collect(&self) -> BoxStream<'_, CollectionItem>;

    /// What the session has done so far, for `run.json`.
    fn account(&self) -> SessionSummary;

    /// Everything was seen and nothing is asked any more: what is only there for asking can go before the bundle is
    /// made, which takes memory too.
    fn collected(&self) {}

    /// The bundle is delivered: what was kept for resuming this run is not needed any more.
    fn delivered(&self) {}
}

/// Something that a source found, whether or not it is in scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What it is, such as `repository`.
    pub kind: &'static str,
    /// What it is called, as subjects name it.
    pub name: Arc<str>,
    /// The host's own identifier.
    pub id: Option<String>,
    /// The default branch of a repository.
    pub default_branch: Option<Arc<str>>,
    /// Whether it is archived.
    pub archived: Option<bool>,
    /// Who can see it.
    pub visibility: Option<Arc<str>>,
    /// Why it is not in scope, as a code; `None` if it is.
    pub out_of_scope: Option<&'static str>,
}

impl Member {
    /// A member in scope of which nothing but the name is known.
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

/// One item of a collection.
#[derive(Debug)]
pub enum CollectionItem {
    /// It is known what there is to look at.
    Population {
        /// What discovery listed; `None` if there was no discovery.
        discovered: Option<u64>,
        /// Inspections that will follow.
        expected: u64,
        /// The same in words, such as `14 repositories found by discovery`; empty if there is nothing to report.
        text: String,
        /// Everything that was found.
        members: Vec<Member>,
        /// What the host itself counts, by its own names.
        host_totals: Vec<(&'static str, u64)>,
    },
    /// A listing was read, or a part of it: the requests that brought the population.
    Listed {
        /// What the listing is called in documents, such as `repository_listing`.
        kind: &'static str,
        /// Whose it is.
        subject: Arc<str>,
        /// The requests.
        requests: Vec<Asked>,
    },
    /// Something was looked at.
    Inspected(Inspection),
    /// Something worth saying that is not an observation.
    Warned(Warning),
}

impl CollectionItem {
    /// Whether it is an inspection.
    pub fn is_inspection(&self) -> bool {
        matches!(self, CollectionItem::Inspected(_))
    }

    /// Roughly how many bytes it keeps in memory; only large artifacts matter.
    pub fn weight(&self) -> u64 {
        let CollectionItem::Inspected(inspection) = self else { return 0 };
        let weight = |observation: &Observation| match &observation.seen {
            Seen::Artifact { artifact, .. } => artifact.weight(),
            Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Withheld { .. } | Seen::Failed(_) => 0,
        };
        saturating_u64(inspection.observations.iter().map(weight).sum::<usize>())
    }
}

/// What a session has done.
#[derive(Debug, Clone)]
pub struct SessionSummary {
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
    /// The limit as last reported.
    pub rate_limit: Option<RateLimitRecord>,
    /// Seconds spent waiting for limits.
    pub paused_seconds: u64,
    /// The kinds of questions that were given up.
    pub given_up: Vec<GivenUp>,
}
