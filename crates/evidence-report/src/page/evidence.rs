//! What a listed check rests on.

use evidence_bundle::document::EvidenceReference;
use evidence_view::sanitized;

use super::text;

/// What a check rests on: an artifact, or the look that brought none.
pub(super) struct Evidence {
    pub(super) key: Key,
    /// The file below the bundle, for a link and as a name.
    pub(super) file: String,
    /// The id of the look, if the look brought no artifact.
    pub(super) id: Option<String>,
    /// The look's row in the section about requests, and its id.
    pub(super) look: Option<(usize, String)>,
}

/// How a look is found: by the artifact that it brought, or by its own id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Artifact(String),
    Look(String),
}

impl Key {
    pub(super) fn new(reference: &EvidenceReference) -> Key {
        match &reference.id {
            Some(id) => Key::Look(id.clone()),
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
            look: None,
        }
    }

    /// The file's name in the pieces between which a line may break.
    pub(super) fn pieces(&self) -> Vec<&str> {
        text::pieces(&self.file)
    }
}
