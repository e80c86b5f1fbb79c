//! What a listed check rests on.

use evidence_bundle::document::EvidenceReference;
use evidence_view::sanitized;

/// What a check rests on: an artifact, or the look that brought none.
pub(super) struct Evidence {
    pub(super) key: Key,
    /// The file below the bundle, for a link and as a name.
    pub(super) file: String,
    /// The name of the file alone.
    pub(super) name: String,
    /// The row of the section about requests.
    pub(super) look: Option<usize>,
}

/// How a look is found: by the artifact that it brought, or by its own id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Artifact(String),
    Look(String),
}

impl Evidence {
    pub(super) fn new(reference: &EvidenceReference) -> Evidence {
        let file = sanitized(&reference.filename);
        let (key, name) = match &reference.id {
            Some(id) => (Key::Look(id.clone()), sanitized(id)),
            None => {
                let name = file.rsplit('/').next().unwrap_or_default().to_owned();
                (Key::Artifact(reference.filename.clone()), name)
            }
        };
        Evidence { key, file, name, look: None }
    }
}
