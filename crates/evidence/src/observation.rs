//! What a source saw: artifacts, absences, refusals and failures, all of them data.
//!
//! Nothing here is judged and nothing is invented. An [`Artifact`] is serialised once, from a [`Record`] that has
//! room for the listed fields only, so that forbidden data has nowhere to land and what is judged is what is signed.

use std::fmt;
use std::io;
use std::sync::Arc;

use evidence_bundle::document::RequestRecord;
use evidence_bundle::path::{BundlePath, PathError};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::http::{Failure, FailureKind, Meta};
use crate::rule::{Reason, Rule, Verdict, reason};

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

/// One thing a source looked at, for one rule.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Who looked.
    pub source: SourceName,
    /// For which rule.
    pub rule: &'static Rule,
    /// What was looked at: an organization, an account, or a part of it such as `owner/repository`.
    pub subject: Arc<str>,
    /// Why checks do not apply to it, if they do not: an archived repository.
    pub exempt: Option<&'static Reason>,
    /// What was seen.
    pub seen: Seen,
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
    pub fn artifact(source: SourceName, filename: &str, record: impl Record + 'static, meta: &Meta) -> Seen {
        match Artifact::new(source, filename, record) {
            Ok(artifact) => {
                Seen::Artifact { artifact: Box::new(artifact), request: meta.record(), at: meta.received_at }
            }
            Err(error) => Seen::Failed(Failed {
                reason: &reason::HOST_ERROR,
                message: error.to_string(),
                status: Some(meta.status),
                request_id: meta.request_id.clone(),
            }),
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
    pub fn of(failure: &Failure) -> Failed {
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

/// The fields of a record that the host may show, withhold (`null`) or leave out.
///
/// Serialised as it came: `null` stays `null`, absent stays absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The host did not mention it.
    #[default]
    Absent,
    /// The host said `null`.
    Null,
    /// The host gave a value.
    Value(T),
}

impl<T> Field<T> {
    /// Whether the field was not mentioned; for `skip_serializing_if`.
    pub fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Value(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }

    /// The same with another value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Field<U> {
        match self {
            Field::Absent => Field::Absent,
            Field::Null => Field::Null,
            Field::Value(value) => Field::Value(change(value)),
        }
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Field::Null, Field::Value))
    }
}

/// The content of an artifact: a struct with exactly the fields that are needed, so that nothing else can be stored.
pub trait Record: fmt::Debug + Send + Sync {
    /// `artifact_type` in the manifest.
    fn artifact_type(&self) -> &'static str;

    /// Writes the JSON that will be signed.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    fn write(&self, out: &mut Vec<u8>) -> io::Result<()>;

    /// Content that the JSON text hides behind an encoding, and that the screen must see in the clear.
    fn decoded(&self) -> Option<&[u8]> {
        None
    }

    /// Lets go of what only the written bytes need.
    fn written(&mut self) {}

    /// What the source's rule says about it; `None` if it is judged together with others, by a question that
    /// follows it.
    fn judge(&self) -> Option<Verdict>;
}

/// A record and the bytes that will be signed.
#[derive(Debug, Clone)]
pub struct Artifact {
    path: BundlePath,
    record: Arc<dyn Record>,
    bytes: Vec<u8>,
}

impl Artifact {
    /// Serialises `record` for `sources/<source>/<filename>`: the only place where an artifact becomes bytes.
    ///
    /// # Errors
    ///
    /// If the name is too long for a bundle.
    pub fn new(
        source: SourceName,
        filename: &str,
        mut record: impl Record + 'static,
    ) -> Result<Artifact, ArtifactError> {
        let path =
            BundlePath::new(&format!("sources/{}/{filename}", source.id())).map_err(ArtifactError::Name)?;
        let mut bytes = Vec::new();
        record.write(&mut bytes).map_err(ArtifactError::Serialise)?;
        record.written();
        Ok(Artifact { path, record: Arc::new(record), bytes })
    }

    /// Path in the bundle.
    pub fn path(&self) -> &BundlePath {
        &self.path
    }

    /// The content.
    pub fn record(&self) -> &dyn Record {
        &*self.record
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a record cannot become an artifact.
#[derive(Debug)]
pub enum ArtifactError {
    /// Its name cannot stand in a bundle.
    Name(PathError),
    /// It cannot be written as JSON.
    Serialise(io::Error),
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArtifactError::Name(error) => write!(f, "the artifact's name cannot stand in a bundle: {error}"),
            ArtifactError::Serialise(error) => write!(f, "the artifact cannot be written as JSON: {error}"),
        }
    }
}
