//! The evidence of a listed check.

use evidence_bundle::document::EvidenceReference;
use evidence_view::sanitized;

use super::text;

/// The evidence of a check: an artifact, or an observation without one.
pub(super) struct Evidence {
    pub(super) key: Key,
    /// The path of the file in the bundle, for a link and as a name.
    pub(super) file: String,
    /// The id of the observation, if it has no artifact.
    pub(super) id: Option<String>,
    /// The observation's row in the section about requests, and its id.
    pub(super) observation: Option<(usize, String)>,
}

/// The key of an observation: its artifact, or its own id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Artifact(String),
    Observation(String),
}

impl Key {
    pub(super) fn new(reference: &EvidenceReference) -> Key {
        match &reference.id {
            Some(id) => Key::Observation(id.clone()),
            None => Key::Artifact(reference.filename.clone()),
        }
    }
}

impl Evidence {
    pub(super) fn new(reference: &EvidenceReference) -> Evidence {
        Evidence {
            key: Key::new(reference),
            file: sanitized(&reference.filename),
            id: reference.id.as_deref().map(sanitized),
            observation: None,
        }
    }

    /// The file's name in pieces, with possible line breaks between them.
    pub(super) fn pieces(&self) -> Vec<&str> {
        text::pieces(&self.file)
    }
}
