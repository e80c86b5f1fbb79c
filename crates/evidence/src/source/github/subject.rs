//! A repository as the subject of observations, artifacts and warnings.

use std::sync::{Arc, LazyLock};

use evidence_bundle::document::Warning;
use evidence_bundle::path::encode_component;

use super::names::NAME;
use crate::observation::{ArtifactKind, Observation, Seen};

/// A repository by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepositoryName<'a> {
    /// `owner/name`, shared by everything about the repository.
    subject: &'a Arc<str>,
    pub(super) owner: &'a str,
    pub(super) name: &'a str,
}

impl<'a> RepositoryName<'a> {
    /// The repository named `owner/name`.
    pub(super) fn new(subject: &'a Arc<str>) -> RepositoryName<'a> {
        let (owner, name) = subject.split_once('/').unwrap_or_default();
        RepositoryName { subject, owner, name }
    }

    /// An observation of this repository.
    pub(super) fn observation(self, kind: &'static ArtifactKind, seen: Seen) -> Observation {
        Observation::new(NAME, kind, Arc::clone(self.subject), seen)
    }

    pub(super) fn artifact_name(self, kind: &str) -> String {
        encode_component(&format!("repo_{}_{}_{kind}.json", self.owner, self.name))
    }

    pub(super) fn warning(self, code: &str, message: String) -> Warning {
        warning(code, message, self.subject)
    }
}

/// A warning about the organization or one of its repositories.
pub(super) fn warning(code: &str, message: String, subject: &str) -> Warning {
    NAME.warning(code, message, Some(subject))
}

/// The repository of an answer that is read on its own.
static EXAMPLE: LazyLock<Arc<str>> = LazyLock::new(|| "acme/web".into());

/// The repository of an answer that is read on its own.
pub(super) fn example() -> RepositoryName<'static> {
    RepositoryName::new(&EXAMPLE)
}
