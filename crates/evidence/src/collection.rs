//! Step 3: takes what a source saw, item by item: screens it, judges it, spools it, counts it.
//!
//! An artifact's bytes leave memory here. What stays is a check, a few counts, and what the manifest must say about
//! things that are not in the bundle.

use std::io;
use std::sync::Arc;

use evidence_bundle::document::{ArtifactRecord, ErrorRecord, Excluded, RequestRecord, SourceRun, Warning};
use futures_util::StreamExt as _;

use crate::env::Env;
use crate::evaluate::{self, Check};
use crate::observation::{Artifact, Observation, Reason, Seen, SourceName};
use crate::report::{Event, Outcome, Reporter, Tally};
use crate::screen::{Confidence, Screen};
use crate::source::{Found, Session};
use crate::spool::Spool;

/// What was collected, beside the spool.
#[derive(Debug, Default)]
pub struct Collection {
    /// Every check, in the order of the observations.
    pub checks: Vec<Check>,
    /// What the manifest warns of.
    pub warnings: Vec<Warning>,
    /// What was left out, and by which rule.
    pub excluded: Vec<Excluded>,
    /// What could not be obtained.
    pub errors: Vec<ErrorRecord>,
    /// Each source's part of `run.json`.
    pub sources: Vec<SourceRun>,
    /// The host answered something, if only that it will not say.
    pub answered: bool,
}

impl Collection {
    /// Nothing is missing that was asked for.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty() && self.excluded.is_empty()
    }
}

/// Collects one session to its end into `collection` and `spool`.
///
/// # Errors
///
/// Only the spool's: what goes wrong at the host is part of the collection.
pub async fn gather(
    session: &dyn Session,
    screen: &Screen,
    spool: &mut Spool,
    env: &Env,
    reporter: &dyn Reporter,
    collection: &mut Collection,
) -> io::Result<()> {
    let source = session.name();
    let mut gathering =
        Gathering { source, screen, spool, env, reporter, collection, tally: Tally::default() };
    for warning in session.warnings() {
        gathering.warn(warning.clone(), false);
    }
    reporter.event(Event::Collecting(source));
    let (mut found_by_discovery, mut repositories) = (None, 0);
    let mut items = session.collect();
    while let Some(item) = items.next().await {
        match item {
            Found::Population { discovered, in_scope, expected } => {
                (found_by_discovery, repositories) = (discovered, in_scope);
                reporter.event(Event::Population { source, discovered, in_scope, expected });
            }
            Found::Warned(warning) => gathering.warn(warning, true),
            Found::Observed(observation, warnings) => gathering.observed(observation, warnings)?,
        }
    }
    drop(items);
    let tally = gathering.tally;
    let account = session.account();
    reporter.event(Event::Collected {
        source,
        tally,
        requests: account.requests,
        rate_limit: account.rate_limit.as_ref(),
    });
    collection.sources.push(SourceRun {
        name: source.id().to_string(),
        api_url: account.api_url,
        identity: account.identity,
        discovered: found_by_discovery.unwrap_or(0),
        in_scope: repositories,
        requested: tally.requested,
        collected: tally.collected,
        not_found: tally.not_found,
        denied: tally.denied,
        failed: tally.failed,
        requests: account.requests,
        retries: account.retries,
        revalidated: 0,
        rate_limit: account.rate_limit,
        paused_seconds: account.paused_seconds,
    });
    Ok(())
}

struct Gathering<'a> {
    source: SourceName,
    screen: &'a Screen,
    spool: &'a mut Spool,
    env: &'a Env,
    reporter: &'a dyn Reporter,
    collection: &'a mut Collection,
    tally: Tally,
}

impl Gathering<'_> {
    fn warn(&mut self, mut warning: Warning, show: bool) {
        warning.message = self.clean(&warning.message);
        warning.subject = warning.subject.map(|subject| self.clean(&subject));
        if show {
            self.reporter.event(Event::Warning(&warning));
        }
        self.collection.warnings.push(warning);
    }

    /// A text without what must not be in a bundle: names and messages are the host's too.
    fn clean(&self, text: &str) -> String {
        self.screen.redact(text).into_owned()
    }

    fn observed(&mut self, mut observation: Observation, warnings: Vec<Warning>) -> io::Result<()> {
        let warned = !warnings.is_empty();
        for warning in warnings {
            self.warn(warning, true);
        }
        let subject = self.clean(&observation.subject);
        if subject != *observation.subject {
            observation.subject = subject.into();
        }
        let mut number = None;
        let mut written = None;
        if let Seen::Artifact { artifact, .. } = &observation.seen {
            match self.forbidden(artifact, &observation.subject) {
                Some(rule) => {
                    let filename = self.clean(artifact.path().as_str());
                    written = Some(filename.clone());
                    let warning = Warning {
                        code: Reason::ExcludedByPolicy.code().to_string(),
                        message: format!("{filename} was left out as forbidden data (rule {rule})"),
                        source: Some(self.source.id().to_string()),
                        subject: Some(observation.subject.to_string()),
                    };
                    // Told as what came of the look.
                    self.warn(warning, false);
                    self.collection.excluded.push(Excluded { filename, rule: rule.to_string() });
                    observation.seen = Seen::Withheld { rule };
                }
                None => {
                    written = Some(artifact.path().to_string());
                    number = Some(self.spool(&observation)?);
                }
            }
        }
        self.count(&observation, written.as_deref().unwrap_or_default(), warned);
        let mut check = evaluate::check(&observation, number);
        check.verdict.actual = check.verdict.actual.map(|actual| self.clean(&actual));
        self.collection.checks.push(check);
        Ok(())
    }

    /// The rule by which `artifact` must be left out. What is merely suspicious becomes a warning: leaving out
    /// evidence for a false alarm would be a loss that nobody can make good.
    fn forbidden(&mut self, artifact: &Artifact, subject: &str) -> Option<&'static str> {
        let mut findings = self.screen.check(artifact.path().as_str().as_bytes());
        findings.extend(self.screen.check(artifact.bytes()));
        findings.extend(
            artifact.record().decoded().map(|decoded| self.screen.check(decoded)).unwrap_or_default(),
        );
        if let Some(finding) = findings.iter().find(|finding| finding.confidence == Confidence::High) {
            return Some(finding.rule);
        }
        if let Some(finding) = findings.first() {
            self.warn(
                Warning {
                    code: "possible_secret".to_string(),
                    message: format!("{} may hold a secret (rule {})", artifact.path(), finding.rule),
                    source: Some(self.source.id().to_string()),
                    subject: Some(subject.to_string()),
                },
                true,
            );
        }
        None
    }

    fn spool(&mut self, observation: &Observation) -> io::Result<u32> {
        let Seen::Artifact { artifact, request } = &observation.seen else {
            return Err(io::Error::other("only an artifact can be spooled"));
        };
        let row = ArtifactRecord {
            filename: artifact.path().to_string(),
            source: self.source.id().to_string(),
            artifact_type: artifact.record().artifact_type().to_string(),
            collected_at: self.env.stamp(),
            controls: vec![observation.control.id().to_string()],
            checksum: String::new(),
            size_bytes: 0,
            subject: observation.subject.to_string(),
            request: RequestRecord {
                path: self.clean(&request.path),
                status: request.status,
                etag: request.etag.as_deref().map(|etag| self.clean(etag)),
                request_id: request.request_id.as_deref().map(|id| self.clean(id)),
            },
        };
        self.spool.add_artifact(artifact.path(), artifact.bytes(), row)
    }

    fn count(&mut self, observation: &Observation, path: &str, warned: bool) {
        self.tally.requested += 1;
        self.collection.answered |= !matches!(observation.seen, Seen::Failed(_));
        let outcome = match &observation.seen {
            Seen::Artifact { artifact, .. } => {
                self.tally.collected += 1;
                Outcome::Written { path, bytes: u64::try_from(artifact.bytes().len()).unwrap_or(u64::MAX) }
            }
            Seen::Withheld { rule } => {
                self.tally.collected += 1;
                self.tally.excluded += 1;
                Outcome::Excluded { path, rule }
            }
            Seen::Nothing { detail, .. } => {
                self.tally.not_found += 1;
                Outcome::Nothing { detail, warned }
            }
            Seen::Denied { detail, .. } => {
                self.tally.denied += 1;
                Outcome::Denied { detail, warned }
            }
            Seen::Failed(failed) => {
                self.tally.failed += 1;
                let record = ErrorRecord {
                    code: failed.reason.code().to_string(),
                    message: self.clean(&failed.message),
                    source: self.source.id().to_string(),
                    subject: observation.subject.to_string(),
                    status: failed.status,
                    request_id: failed.request_id.as_deref().map(|id| self.clean(id)),
                };
                // One problem of discovery holds up every control that looks at repositories: it is one error.
                if self.collection.errors.last() != Some(&record) {
                    self.collection.errors.push(record);
                }
                Outcome::Failed(&failed.message)
            }
        };
        let subject: &Arc<str> = &observation.subject;
        self.reporter.event(Event::Observed { source: self.source, subject, outcome });
    }
}
