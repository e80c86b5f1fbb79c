//! What is looked at in every repository.

use super::artifact;
use super::calls;
use crate::observation::ArtifactKind;

/// What is looked at in every repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// The protection of the branch.
    Protection,
    /// The CODEOWNERS file.
    Codeowners,
}

impl Topic {
    /// Every topic, in the order of the collection.
    pub(super) const ALL: [Topic; 2] = [Topic::Protection, Topic::Codeowners];

    pub(super) fn kind(self) -> &'static ArtifactKind {
        match self {
            Topic::Protection => &artifact::PROTECTION,
            Topic::Codeowners => &artifact::CODEOWNERS,
        }
    }

    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Topic::Protection => "branch protection",
            Topic::Codeowners => "CODEOWNERS",
        }
    }

    pub(super) fn other(self) -> Topic {
        match self {
            Topic::Protection => Topic::Codeowners,
            Topic::Codeowners => Topic::Protection,
        }
    }

    /// Requests at most: a CODEOWNERS file may be in the second place, and so large that it is read once more.
    pub(super) fn most_requests(self) -> u64 {
        match self {
            Topic::Protection => 1,
            Topic::Codeowners => 3,
        }
    }

    /// What the cache calls its answers.
    pub(super) fn kept_as(self) -> Option<u8> {
        match self {
            Topic::Protection => calls::PROTECTION.kept_as(),
            Topic::Codeowners => calls::PLACES[0].record.kept_as(),
        }
    }
}
