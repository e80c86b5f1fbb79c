//! What a source found: artifacts, absences, refusals and failures, all as data.
//!
//! An [`Artifact`] is serialised once, from a record with only the listed fields: forbidden data has no field to end up
//! in, and the bytes that are judged are the bytes that are signed.

use std::io;
use std::sync::Arc;

use evidence_bundle::document::{Warning, write_json};
use evidence_bundle::path::{BundlePath, PathError};
use evidence_bundle::text::Chain;
use jiff::Timestamp;
use serde::Serialize;

use evidence_http::{Asked, FailureKind, Meta, RequestFailure};
pub use evidence_rules::inspection::{ArtifactKind, Judgement};
use evidence_rules::inspection::{Facts, Observed, Shown};
use evidence_rules::rule::{Judge, Reason, Rule, Settings, Verdict, judged, reason};

/// The name of a source: in the configuration, in documents and as a directory of the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(&'static str);

impl SourceName {
    /// A name from `id`: lower-case letters, safe in a path.
    pub const fn new(id: &'static str) -> SourceName {
        SourceName(id)
    }

    /// The name as text.
    pub const fn id(self) -> &'static str {
        self.0
    }

    /// A warning of this source, for the manifest.
    pub fn warning(self, code: &str, message: String, subject: Option<&str>) -> Warning {
        let (source, subject) = (Some(self.0.to_string()), subject.map(str::to_string));
        Warning { code: code.to_string(), message, source, subject }
    }
}

/// One observation of a source.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The source.
    pub source: SourceName,
    /// The kind of setting.
    pub kind: &'static ArtifactKind,
    /// The subject: an organization, an account, or a part of it such as `owner/repository`.
    pub subject: Arc<str>,
    /// The result.
    pub seen: Seen,
    /// What judgement uses beside the artifact.
    pub facts: Facts,
    /// Warnings for the manifest.
    pub warnings: Vec<Warning>,
    /// The requests made for it; empty if another observation's request returned it.
    pub requests: Vec<Asked>,
}

impl Observation {
    /// The observation as judgement sees it.
    pub fn observed(&self) -> Observed<'_> {
        let shown = self.seen.shown();
        Observed { kind: self.kind, subject: Arc::clone(&self.subject), shown }
    }

    /// An observation without warnings or requests.
    pub fn new(
        source: SourceName,
        kind: &'static ArtifactKind,
        subject: impl Into<Arc<str>>,
        seen: Seen,
    ) -> Observation {
        let (subject, facts) = (subject.into(), Facts::default());
        let (warnings, requests) = (Vec::new(), Vec::new());
        Observation { source, kind, subject, seen, facts, warnings, requests }
    }
}

/// Observations made together, and the verdicts on them.
///
/// Every check of a setting that was read is created this way: each judgement is based on all artifacts next to it.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Why the checks do not apply to the subject, if they do not (an archived repository, for example).
    pub exempt: Option<&'static Reason>,
    /// The observations.
    pub observations: Vec<Observation>,
    /// The verdicts of the rules.
    pub judgements: Vec<Judgement>,
}

impl Inspection {
    /// An inspection without judgements.
    pub fn of(observations: Vec<Observation>) -> Inspection {
        Inspection { exempt: None, observations, judgements: Vec::new() }
    }

    /// Adds the verdict of `rule`, unless nothing was read: then the observations give the reason.
    pub fn judged(self, rule: &'static Rule, subject: impl Into<Arc<str>>, verdict: Verdict) -> Inspection {
        if self.observations.iter().any(|observation| observation.seen.path().is_some()) {
            return self.concluded(rule, subject, verdict);
        }
        self
    }

    /// Adds the verdicts of rules over the same facts, unless nothing was read.
    pub fn judged_by<F>(
        self,
        judges: &'static [&'static Judge<F>],
        subject: &Arc<str>,
        facts: &F,
        settings: &Settings,
    ) -> Inspection {
        judged(judges, facts, settings)
            .fold(self, |inspection, (rule, verdict)| inspection.judged(rule, Arc::clone(subject), verdict))
    }

    /// Adds the verdicts of rules over the same facts, whether or not anything was read: the facts account for what was
    /// not.
    pub fn concluded_by<F>(
        self,
        judges: &'static [&'static Judge<F>],
        subject: &Arc<str>,
        facts: &F,
        settings: &Settings,
    ) -> Inspection {
        judged(judges, facts, settings).fold(self, |inspection, (rule, verdict)| {
            inspection.concluded(rule, Arc::clone(subject), verdict)
        })
    }

    /// Adds the same verdict of every one of these rules.
    pub fn concluded_alike<F>(
        self,
        judges: &'static [&'static Judge<F>],
        subject: &Arc<str>,
        verdict: &Verdict,
    ) -> Inspection {
        let add = |inspection: Inspection, judge: &&Judge<F>| {
            inspection.concluded(judge.rule, Arc::clone(subject), verdict.clone())
        };
        judges.iter().fold(self, add)
    }

    /// Adds the verdict of `rule`, whether or not anything was read. The verdict must account for what was not.
    pub fn concluded(
        mut self,
        rule: &'static Rule,
        subject: impl Into<Arc<str>>,
        verdict: Verdict,
    ) -> Inspection {
        self.judgements.push(Judgement { rule, subject: subject.into(), verdict });
        self
    }
}

impl From<Observation> for Inspection {
    fn from(observation: Observation) -> Inspection {
        Inspection::of(vec![observation])
    }
}

/// The result of one observation.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The setting was read.
    Artifact {
        /// The record.
        artifact: Box<Artifact>,
        /// When the answer arrived, which may be long before it is added to the bundle.
        at: Timestamp,
    },
    /// The host states clearly that the setting does not exist.
    Nothing {
        /// The reason, which says what does not exist.
        reason: &'static Reason,
        /// The host's message, or what was found instead.
        detail: String,
    },
    /// The host refuses access: nothing is known about the setting.
    Denied {
        /// The reason.
        reason: &'static Reason,
        /// The host's message.
        detail: String,
    },
    /// The setting was read, then excluded from the bundle because it held forbidden data.
    Withheld {
        /// The rule that matched.
        rule: &'static str,
    },
    /// The setting could not be obtained: a collection error.
    Failed(Failed),
}

impl Seen {
    /// The setting was read: its artifact, or a collection error if the artifact cannot be created.
    ///
    /// `decoded` is content that is encoded inside the JSON text; the screen must check it decoded.
    pub fn artifact(
        source: SourceName,
        filename: &str,
        record: &impl Serialize,
        decoded: Option<Vec<u8>>,
        meta: &Meta,
    ) -> Seen {
        match Artifact::new(source, filename, record, decoded) {
            Ok(artifact) => Seen::Artifact { artifact: Box::new(artifact), at: meta.received_at },
            Err(error) => Seen::Failed(Failed {
                reason: &reason::HOST_ERROR,
                message: Chain(&error).to_string(),
                status: Some(meta.status),
                request_id: meta.request_id.clone(),
            }),
        }
    }

    /// The result as judgement sees it.
    pub fn shown(&self) -> Shown<'_> {
        match self {
            Seen::Artifact { .. } => Shown::Artifact,
            Seen::Nothing { reason, detail } => Shown::Nothing(reason, detail),
            Seen::Denied { reason, detail } => Shown::Denied(reason, detail),
            Seen::Withheld { rule } => Shown::Excluded(rule),
            Seen::Failed(failed) => Shown::Failed(failed.reason, &failed.message),
        }
    }

    /// The reason and the message if there is nothing to show; `None` if the setting was read.
    pub fn gap(&self) -> Option<(&'static Reason, &str)> {
        match self {
            Seen::Artifact { .. } => None,
            Seen::Nothing { reason, detail } | Seen::Denied { reason, detail } => Some((reason, detail)),
            Seen::Withheld { rule } => Some((&reason::EXCLUDED_BY_POLICY, rule)),
            Seen::Failed(failed) => Some((failed.reason, &failed.message)),
        }
    }

    /// The artifact's path in the bundle, if there is an artifact.
    pub fn path(&self) -> Option<&BundlePath> {
        match self {
            Seen::Artifact { artifact, .. } => Some(artifact.path()),
            Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Withheld { .. } | Seen::Failed(_) => None,
        }
    }
}

/// A collection error.
#[derive(Debug, Clone)]
pub struct Failed {
    /// The reason.
    pub reason: &'static Reason,
    /// What failed.
    pub message: String,
    /// The last HTTP status, if there was one.
    pub status: Option<u16>,
    /// The host's request id, if there was one.
    pub request_id: Option<String>,
}

impl Failed {
    /// A request that got no answer.
    pub fn of(failure: &RequestFailure) -> Failed {
        let reason = match failure.kind {
            FailureKind::Unauthorized(_) => &reason::PERMISSION_DENIED,
            _ => &reason::HOST_ERROR,
        };
        Failed {
            reason,
            message: failure.to_string(),
            status: failure.status,
            request_id: failure.request_id.clone(),
        }
    }
}

/// An artifact: the bytes that will be signed.
#[derive(Debug, Clone)]
pub struct Artifact {
    path: BundlePath,
    bytes: Vec<u8>,
    decoded: Option<Vec<u8>>,
}

impl Artifact {
    /// Serialises `record` for `sources/<source>/<filename>`. This is the only place where an artifact becomes bytes. A
    /// record is a struct with exactly the required fields, so that nothing else can be stored.
    ///
    /// # Errors
    ///
    /// Fails if the name is too long for a bundle, or if the record cannot be written as JSON.
    pub fn new(
        source: SourceName,
        filename: &str,
        record: &impl Serialize,
        decoded: Option<Vec<u8>>,
    ) -> Result<Artifact, ArtifactError> {
        let path =
            BundlePath::new(&format!("sources/{}/{filename}", source.id())).map_err(ArtifactError::Name)?;
        let mut bytes = Vec::new();
        write_json(&mut bytes, record).map_err(ArtifactError::Serialise)?;
        Ok(Artifact { path, bytes, decoded })
    }

    /// The path in the bundle.
    pub fn path(&self) -> &BundlePath {
        &self.path
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The decoded content of a field that the bytes hold encoded.
    pub fn decoded(&self) -> Option<&[u8]> {
        self.decoded.as_deref()
    }

    /// The number of bytes it occupies in memory.
    pub fn weight(&self) -> usize {
        self.bytes.len().saturating_add(self.decoded.as_ref().map_or(0, Vec::len))
    }
}

/// Why a record cannot become an artifact.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// Its name is not allowed in a bundle.
    #[error("the artifact's name is not allowed in a bundle")]
    Name(#[source] PathError),
    /// It cannot be written as JSON.
    #[error("the artifact cannot be written as JSON")]
    Serialise(#[source] io::Error),
}
