//! What a source saw: artifacts, absences, refusals and failures, all of them data.
//!
//! Nothing is invented here. An [`Artifact`] is serialised once, from a record that has room for the listed fields
//! only, so that forbidden data has nowhere to land and what is judged is what is signed.

use std::io;
use std::sync::Arc;

use evidence_bundle::document::{RequestRecord, Warning, write_json};
use evidence_bundle::path::{BundlePath, PathError};
use evidence_bundle::text::Chain;
use jiff::Timestamp;
use serde::Serialize;

pub use crate::field::Field;
use crate::rule::{Reason, Rule, Verdict, reason};
use evidence_http::{Asked, FailureKind, Meta, RequestFailure};

/// The name of a source: in the configuration, in documents and as a directory of the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName(&'static str);

impl SourceName {
    /// The name `id`: lower-case letters, fit for a path.
    pub const fn new(id: &'static str) -> SourceName {
        SourceName(id)
    }

    /// The name as it is written.
    pub const fn id(self) -> &'static str {
        self.0
    }
}

/// A kind of thing to look at, and the artifact it becomes.
#[derive(Debug)]
pub struct ArtifactKind {
    /// `artifact_type` in the manifest.
    pub name: &'static str,
    /// The rules it is evidence for.
    pub rules: &'static [&'static Rule],
}

/// One thing a source looked at.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Who looked.
    pub source: SourceName,
    /// What kind of thing it is.
    pub kind: &'static ArtifactKind,
    /// What was looked at: an organization, an account, or a part of it such as `owner/repository`.
    pub subject: Arc<str>,
    /// What was seen.
    pub seen: Seen,
    /// What the manifest must warn of.
    pub warnings: Vec<Warning>,
    /// The requests that were made for it; none for what another look has brought.
    pub requests: Vec<Asked>,
}

impl Observation {
    /// An observation without warnings, for which nothing was asked.
    pub fn new(
        source: SourceName,
        kind: &'static ArtifactKind,
        subject: impl Into<Arc<str>>,
        seen: Seen,
    ) -> Observation {
        let (subject, warnings, requests) = (subject.into(), Vec::new(), Vec::new());
        Observation { source, kind, subject, seen, warnings, requests }
    }
}

/// Things that were looked at together, and what they show.
///
/// Every check of a setting that was read takes this one path: each judgement rests on all artifacts beside it.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Why checks do not apply to the subject, if they do not: an archived repository.
    pub exempt: Option<&'static Reason>,
    /// What was looked at.
    pub observations: Vec<Observation>,
    /// What the rules say of it.
    pub judgements: Vec<Judgement>,
}

/// What a rule says about a subject.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The rule.
    pub rule: &'static Rule,
    /// What it is about.
    pub subject: Arc<str>,
    /// The outcome, by the rule's own function.
    pub verdict: Verdict,
}

impl Inspection {
    /// An inspection that shows nothing yet.
    pub fn of(observations: Vec<Observation>) -> Inspection {
        Inspection { exempt: None, observations, judgements: Vec::new() }
    }

    /// The same with the verdict of `rule`, unless nothing was read: then the observations say why.
    pub fn judged(self, rule: &'static Rule, subject: impl Into<Arc<str>>, verdict: Verdict) -> Inspection {
        if self.observations.iter().any(|observation| observation.seen.path().is_some()) {
            return self.concluded(rule, subject, verdict);
        }
        self
    }

    /// The same with the verdict of `rule`, whether or not anything was read: the verdict takes that into account.
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

/// What was seen.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The setting was read.
    Artifact {
        /// The record.
        artifact: Box<Artifact>,
        /// The call that brought it.
        request: RequestRecord,
        /// When the answer came, which may be long before it is put into the bundle.
        at: Timestamp,
    },
    /// The host says clearly that there is none.
    Nothing {
        /// What there is none of.
        reason: &'static Reason,
        /// What the host said, or what was found in its place.
        detail: String,
    },
    /// The host does not show it: nothing is known about the setting.
    Denied {
        /// Why.
        reason: &'static Reason,
        /// The host's words.
        detail: String,
    },
    /// It was read and then left out of the bundle, because it held forbidden data.
    Withheld {
        /// The rule that matched.
        rule: &'static str,
    },
    /// It could not be obtained: a collection error.
    Failed(Failed),
}

impl Seen {
    /// The setting was read: the artifact of it, or the collection error that it cannot be made.
    ///
    /// `decoded` is content that the JSON text hides behind an encoding, and that the screen must see in the clear.
    pub fn artifact(
        source: SourceName,
        filename: &str,
        record: &impl Serialize,
        decoded: Option<Vec<u8>>,
        meta: &Meta,
    ) -> Seen {
        match Artifact::new(source, filename, record, decoded) {
            Ok(artifact) => Seen::Artifact {
                artifact: Box::new(artifact),
                request: request_record(meta),
                at: meta.received_at,
            },
            Err(error) => Seen::Failed(Failed {
                reason: &reason::HOST_ERROR,
                message: Chain(&error).to_string(),
                status: Some(meta.status),
                request_id: meta.request_id.clone(),
            }),
        }
    }

    /// Why there is nothing to show, and what was said; `None` if it was read.
    pub fn gap(&self) -> Option<(&'static Reason, &str)> {
        match self {
            Seen::Artifact { .. } => None,
            Seen::Nothing { reason, detail } | Seen::Denied { reason, detail } => Some((reason, detail)),
            Seen::Withheld { rule } => Some((&reason::EXCLUDED_BY_POLICY, rule)),
            Seen::Failed(failed) => Some((failed.reason, &failed.message)),
        }
    }

    /// Where the artifact will be in the bundle, if there is one.
    pub fn path(&self) -> Option<&BundlePath> {
        match self {
            Seen::Artifact { artifact, .. } => Some(artifact.path()),
            Seen::Nothing { .. } | Seen::Denied { .. } | Seen::Withheld { .. } | Seen::Failed(_) => None,
        }
    }
}

/// What the manifest says of the request that was answered.
fn request_record(Meta { path, status, etag, request_id, .. }: &Meta) -> RequestRecord {
    RequestRecord { path: path.clone(), status: *status, etag: etag.clone(), request_id: request_id.clone() }
}

/// A collection error.
#[derive(Debug, Clone)]
pub struct Failed {
    /// Why.
    pub reason: &'static Reason,
    /// What failed, in words.
    pub message: String,
    /// The last HTTP status, if there was one.
    pub status: Option<u16>,
    /// The host's request id, if there was one.
    pub request_id: Option<String>,
}

impl Failed {
    /// There was no answer.
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

/// The bytes that will be signed.
#[derive(Debug, Clone)]
pub struct Artifact {
    path: BundlePath,
    bytes: Vec<u8>,
    decoded: Option<Vec<u8>>,
}

impl Artifact {
    /// Serialises `record` for `sources/<source>/<filename>`: the only place where an artifact becomes bytes. A record
    /// is a struct with exactly the fields that are needed, so that nothing else can be stored.
    ///
    /// # Errors
    ///
    /// If the name is too long for a bundle.
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

    /// Path in the bundle.
    pub fn path(&self) -> &BundlePath {
        &self.path
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the bytes hide behind an encoding.
    pub fn decoded(&self) -> Option<&[u8]> {
        self.decoded.as_deref()
    }

    /// How many bytes it keeps in memory.
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
