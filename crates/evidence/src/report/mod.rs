//! What a run reports while it is running. Stages send events; only a reporter prints.
//!
//! Progress, warnings and errors go to stderr, what a program could use to stdout. Every line passes the screen
//! first, so that a secret in a name or message is not printed either, at any verbosity.

pub mod format;
mod plan;
mod progress;
mod quiet;
mod result;
pub(crate) mod style;
mod terminal;
mod upload;
mod wait;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evidence_bundle::document::{RateLimitRecord, Warning};
use jiff::{SignedDuration, Timestamp};

pub use quiet::Quiet;
pub use terminal::Terminal;
pub use upload::{LocalResult, Uploading};
pub use watch::SourceWatch;

use crate::evaluate::ControlResult;
use crate::finding::Finding;
use crate::framework::{Control, Framework};
use crate::observation::SourceName;
use crate::source::{ConnectError, Plan, Scope};
use evidence_http::GivenUp;
pub use evidence_http::WaitReason;
use evidence_screen::Screen;

/// Something worth telling.
#[derive(Debug)]
pub enum Event<'a> {
    /// The configuration is valid.
    Configured {
        /// The file.
        path: &'a Path,
        /// Its framework.
        framework: &'static Framework,
        /// Its controls.
        controls: &'a [&'static Control],
    },
    /// A line for `--verbose`.
    Debug(&'a str),
    /// A source passed its connection test.
    Connected {
        /// Which.
        source: SourceName,
        /// The organization or account.
        organization: &'a str,
        /// Base of the API.
        api_url: &'a str,
        /// What the token is, in words.
        identity: &'a str,
        /// The limit, if the host has one.
        rate_limit: Option<&'a RateLimitRecord>,
    },
    /// A source could not be connected; the others go on.
    Unconnected(&'a ConnectError),
    /// Something the manifest also says.
    Warning(&'a Warning),
    /// The collection of these sources begins, side by side.
    Collecting(&'a [SourceName]),
    /// It is known what there is to look at.
    Population {
        /// Which source.
        source: SourceName,
        /// Looks that will follow: an [`Event::Looked`] each.
        expected: u64,
        /// The same in words; empty if there is nothing to report.
        text: &'a str,
    },
    /// One thing was looked at, with all that it took.
    Looked(SourceName),
    /// It is known what came of something that was read.
    Observed {
        /// Which source.
        source: SourceName,
        /// What was looked at.
        subject: &'a str,
        /// What came of it.
        outcome: LookResult<'a>,
    },
    /// A request has an answer or failed.
    Request {
        /// Whose.
        source: SourceName,
        /// Its method.
        method: &'a str,
        /// Path and query, or the name of the action.
        path: &'a str,
        /// Status and message, or what went wrong.
        result: &'a str,
        /// Which attempt it was.
        attempt: u32,
    },
    /// An attempt failed, and there will be another.
    Again {
        /// Whose.
        source: SourceName,
        /// Why it failed.
        text: &'a str,
        /// Which attempt it was.
        attempt: u32,
        /// How many there are at most.
        of: u32,
        /// How long until the next.
        wait: Duration,
    },
    /// Everybody who asks this source waits.
    Waiting {
        /// Which source.
        source: SourceName,
        /// For what.
        reason: WaitReason,
        /// Until when.
        until: Timestamp,
        /// How long still.
        left: SignedDuration,
    },
    /// The wait is over.
    WaitOver(SourceName),
    /// Nothing more of this kind is asked.
    GivenUp {
        /// Whose.
        source: SourceName,
        /// The kind, and why.
        given_up: &'a GivenUp,
    },
    /// The collection of a source is over: the rate-limit status report.
    Collected {
        /// Which source.
        source: SourceName,
        /// What came of it.
        tally: Tally,
        /// Requests sent.
        requests: u64,
        /// Answers among theirs that only said that nothing has changed.
        revalidated: u64,
        /// The limit as last reported.
        rate_limit: Option<&'a RateLimitRecord>,
    },
    /// The run ends before the collection does.
    Stopped,
    /// The controls are judged.
    Judged {
        /// Each control.
        results: &'a [ControlResult],
        /// The checks that did not pass.
        findings: &'a [Finding],
        /// The command that shows every check.
        show: &'a str,
    },
    /// The bundle is written and verified.
    Delivered {
        /// Where it is.
        path: &'a Path,
        /// Where the detached signature is, if one was wanted.
        signature: Option<&'a Path>,
        /// Its id.
        bundle_id: &'a str,
        /// Its size in bytes.
        bytes: u64,
        /// Artifacts in it.
        artifacts: u64,
        /// The controls.
        controls: &'a [&'static Control],
        /// Nothing is missing.
        complete: bool,
        /// The commands that verify it and show what is in it.
        look: [&'a str; 2],
        /// The command that uploads it.
        upload: &'a str,
    },
    /// What a collection would take.
    Planned {
        /// The framework of the rules.
        framework: &'static Framework,
        /// Each source and its plan, or why there is none.
        plans: &'a [(SourceName, Result<Plan, ConnectError>)],
        /// What would be missing of the sources that could not be connected.
        missing: &'a [&'a Scope],
        /// The largest allowed bundle in bytes.
        max_size_bytes: u64,
        /// The time now.
        now: Timestamp,
    },
    /// An upload makes progress.
    Upload(Uploading<'a>),
}

/// What came of one look.
#[derive(Debug, Clone, Copy)]
pub enum LookResult<'a> {
    /// An artifact was spooled.
    Written {
        /// Its path in the bundle.
        path: &'a str,
        /// Its size in bytes.
        bytes: u64,
    },
    /// There is none.
    Nothing {
        /// What the host said.
        detail: &'a str,
        /// A warning has said it already.
        warned: bool,
    },
    /// The host does not show it.
    Denied {
        /// What the host said.
        detail: &'a str,
        /// A warning has said it already.
        warned: bool,
    },
    /// It was left out as forbidden data.
    Excluded {
        /// Its path.
        path: &'a str,
        /// The rule that matched.
        rule: &'a str,
    },
    /// It could not be obtained.
    Failed(&'a str),
}

/// How many looks had which outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Looks.
    pub requested: u64,
    /// Settings that were read and are in the bundle.
    pub collected: u64,
    /// Left out as forbidden data.
    pub excluded: u64,
    /// The host says there is none.
    pub not_found: u64,
    /// The host does not show it.
    pub denied: u64,
    /// No answer.
    pub failed: u64,
}

/// Prints events, or does not.
pub trait Reporter: Send + Sync {
    /// Takes note of an event.
    fn event(&self, event: Event<'_>);

    /// Whether [`Event::Debug`] and [`Event::Request`] are printed at all.
    fn wants_debug(&self) -> bool;

    /// What no line may show, as soon as it is known.
    fn screen(&self, screen: &Arc<Screen>);
}
