//! The events of a run, and the interface of what prints them.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use evidence_bundle::document::{RateLimitRecord, SourcePopulation, Warning};
use jiff::{SignedDuration, Timestamp};

use crate::evaluate::ControlResult;
use crate::finding::WorstFirst;
use crate::forecast::Forecast;
use crate::observation::SourceName;
use crate::origin::Origin;
use crate::source::{ConnectError, Plan, Scope};
use crate::waivers::Accepted;
use evidence_http::{GivenUp, WaitReason};
use evidence_rules::framework::{Control, Framework};
use evidence_screen::Screen;
use evidence_text::Safe;
use evidence_view::Since;

/// An event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The configuration is valid.
    Source {
        /// The file.
        path: &'a Path,
        /// Its framework.
        framework: &'static Framework,
        /// Its controls.
        controls: &'a [&'static Control],
    },
    /// The origins that credentials will go to, before the first request.
    Origins(&'a [Origin]),
    /// A source passed its connection test.
    Connected {
        /// The source.
        source: SourceName,
        /// The organization or account.
        organization: &'a str,
        /// Base of the API.
        api_url: &'a str,
        /// A description of the token.
        identity: &'a str,
        /// The limit, if the host has one.
        rate_limit: Option<&'a RateLimitRecord>,
    },
    /// A source could not be connected; the others continue.
    Unconnected(&'a ConnectError),
    /// A warning that is also in the manifest.
    Warning(&'a Warning),
    /// The concurrent collection of these sources begins.
    Collecting(&'a [SourceName]),
    /// A source has listed what to observe.
    Population {
        /// The source.
        source: SourceName,
        /// The number of observations that will follow: one [`Event::Answered`] each.
        expected: u64,
        /// The count as text; empty if there is nothing to report.
        text: &'a str,
    },
    /// All requests of one observation are answered.
    Answered {
        /// The source.
        source: SourceName,
        /// When the source will be done; `None` if that is not known, or not computed anew.
        forecast: Option<Forecast>,
    },
    /// The result of an observation is known.
    Observed {
        /// The source.
        source: SourceName,
        /// The subject.
        subject: &'a str,
        /// The result.
        outcome: ObservationResult<'a>,
    },
    /// A request was answered or failed.
    Request {
        /// The source.
        source: SourceName,
        /// The method.
        method: &'a str,
        /// The path and query, or the name of the action.
        path: &'a str,
        /// The status and message, or the failure.
        result: &'a str,
        /// The number of the attempt.
        attempt: u32,
    },
    /// An attempt failed and will be repeated.
    Again {
        /// The source.
        source: SourceName,
        /// Why it failed.
        text: &'a str,
        /// The number of the attempt.
        attempt: u32,
        /// The maximum number of attempts.
        of: u32,
        /// The time until the next attempt.
        wait: Duration,
    },
    /// All requests to this source are waiting.
    Waiting {
        /// The source.
        source: SourceName,
        /// The reason.
        reason: WaitReason,
        /// The end of the wait.
        until: Timestamp,
        /// The remaining time.
        left: SignedDuration,
    },
    /// The wait is over.
    WaitOver(SourceName),
    /// The source skips further requests of a kind.
    GivenUp {
        /// The source.
        source: SourceName,
        /// The kind and the reason.
        given_up: &'a GivenUp,
    },
    /// The collection of a source has finished: the rate-limit status report.
    Collected {
        /// The source.
        source: SourceName,
        /// The number of observations by outcome.
        tally: Tally,
        /// The number of requests sent.
        requests: u64,
        /// How many answers were "not modified".
        revalidated: u64,
        /// The limit as last reported by the host.
        rate_limit: Option<&'a RateLimitRecord>,
    },
    /// The run ends before the collection has finished.
    Stopped,
    /// The controls have been judged.
    Judged {
        /// The scope of each source.
        scopes: &'a [SourcePopulation],
        /// The result of each control.
        results: &'a [ControlResult],
        /// The checks that did not pass.
        findings: &'a WorstFirst,
        /// The waivers, if the run has a file of them.
        waivers: Option<&'a Accepted>,
        /// The previous bundle, and what changed since.
        since: Option<&'a (String, Since)>,
        /// The command that shows every check.
        show: &'a str,
    },
    /// The bundle has been written and verified.
    Delivered {
        /// Its path.
        path: &'a Path,
        /// The path of the detached signature, if one was requested.
        signature: Option<&'a Path>,
        /// Its id.
        bundle_id: &'a str,
        /// The SHA-256 of its list of checksums.
        checksums_sha256: &'a str,
        /// Its size in bytes.
        bytes: u64,
        /// The number of artifacts.
        artifacts: u64,
        /// The controls.
        controls: &'a [&'static Control],
        /// Whether nothing is missing.
        complete: bool,
        /// The commands that verify it and show its contents.
        check: [&'a str; 2],
        /// The command that uploads it.
        upload: &'a str,
    },
    /// An older bundle was removed, or could not be.
    Removed {
        /// Its path.
        path: &'a Path,
        /// Why it could not be removed.
        error: Option<&'a std::io::Error>,
    },
    /// Why the run does not end with 0, one line each. Other events have said the same at greater length.
    Incomplete(&'a [String]),
    /// Why a gate given by `--fail-on` is not met.
    Gate(&'a str),
    /// The plan of a collection.
    Planned {
        /// The framework that the rules belong to.
        framework: &'static Framework,
        /// Each source's plan, or why it has none.
        plans: &'a [(SourceName, Result<Plan, ConnectError>)],
        /// The scopes that the unconnected sources would leave missing.
        missing: &'a [&'a Scope],
        /// The maximum size of a bundle in bytes.
        max_size_bytes: u64,
        /// The current time.
        now: Timestamp,
    },
    /// Progress of an upload.
    Upload(Uploading<'a>),
}

/// The result of one observation.
#[derive(Debug, Clone, Copy)]
pub enum ObservationResult<'a> {
    /// An artifact was spooled.
    Written {
        /// Its path in the bundle.
        path: &'a str,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The setting does not exist.
    Nothing {
        /// The host's message.
        detail: &'a str,
        /// Whether a warning has reported it.
        warned: bool,
    },
    /// The host refuses access.
    Denied {
        /// The host's message.
        detail: &'a str,
        /// Whether a warning has reported it.
        warned: bool,
    },
    /// The artifact was excluded because it held forbidden data.
    Excluded {
        /// The path.
        path: &'a str,
        /// The rule that matched.
        rule: &'a str,
    },
    /// The setting could not be obtained.
    Failed(&'a str),
}

/// The number of observations by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All observations.
    pub requested: u64,
    /// Settings that were read and are in the bundle.
    pub collected: u64,
    /// Excluded as forbidden data.
    pub excluded: u64,
    /// The host confirms that the setting does not exist.
    pub not_found: u64,
    /// How many of these nothing was asked about, because no rule applies to the subject.
    pub unasked: u64,
    /// The host refuses access.
    pub denied: u64,
    /// No usable answer.
    pub failed: u64,
}

/// Untrusted text, made safe to print.
pub(crate) fn safe(screen: &OnceLock<Arc<Screen>>, text: &str) -> Safe {
    let text = Safe::of(text);
    match screen.get() {
        Some(screen) => Safe::of(&screen.redact(text.as_str())),
        None => text,
    }
}

/// Prints events, or ignores them.
pub trait Reporter: Send + Sync {
    /// Handles an event.
    fn event(&self, event: Event<'_>);

    /// Whether the reporter prints [`Event::Request`].
    fn wants_debug(&self) -> bool;

    /// Sets the screen for every line from now on.
    fn screen(&self, screen: &Arc<Screen>);
}

/// An event of an upload.
#[derive(Debug)]
pub enum Uploading<'a> {
    /// An upload follows this collection.
    Intended,
    /// The bundle was checked on this machine.
    Checked {
        /// The file.
        bundle: &'a Path,
        /// The size in bytes.
        bytes: u64,
        /// The result.
        found: LocalResult<'a>,
    },
    /// The platform accepted the API key.
    Authenticated {
        /// The organization it belongs to.
        organization: &'a str,
        /// The platform's address.
        api_url: &'a str,
        /// The key's role.
        role: Option<&'a str>,
    },
    /// Before the collection: the platform trusts the signing key, or does not say whether it does.
    Signer {
        /// The name of the key.
        key: &'a str,
        /// Whether the platform says that it trusts the key.
        known: bool,
    },
    /// The upload of a bundle of this size begins.
    Sending(u64),
    /// The number of bytes sent so far.
    Sent(u64),
    /// The transfer is over.
    SendingOver,
    /// An attempt failed and will be repeated.
    Again {
        /// Why it failed.
        text: &'a str,
        /// The number of the attempt.
        attempt: u32,
        /// The maximum number of attempts.
        of: u32,
        /// The time until the next attempt.
        wait: Duration,
    },
    /// The platform has stored and verified the bundle.
    Done {
        /// The page for people.
        url: &'a str,
        /// The bundle's id, from its manifest if that was read.
        bundle_id: &'a str,
        /// The organization it belongs to.
        organization: &'a str,
        /// Whether the platform already had it.
        already: bool,
    },
    /// The platform did not answer before the collection.
    Unanswered(&'a str),
    /// Other information.
    Note(&'a str),
    /// The upload succeeded, failed, or will not happen. The next steps follow.
    Over {
        /// Whether the platform has the bundle.
        uploaded: bool,
        /// Whether the local bundle still exists.
        kept: bool,
    },
}

/// The result of checking a bundle on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalResult<'a> {
    /// A trusted key signed it.
    Verified {
        /// Who trusts the key.
        trusted_by: &'a str,
        /// Whether the bundle contains everything that was requested.
        complete: bool,
    },
    /// The bundle is intact, but no trusted key was named.
    NotAuthenticated,
    /// The bundle was not checked.
    NotVerified,
}
