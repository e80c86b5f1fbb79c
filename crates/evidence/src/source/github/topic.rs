//! The topics checked in every repository.

use super::calls;
use crate::observation::ArtifactKind;
use evidence_rules::codehost::artifact;

/// A topic checked in every repository.
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

    /// The display name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Topic::Protection => "branch protection",
            Topic::Codeowners => "CODEOWNERS",
        }
    }

    /// The maximum number of requests. Branch protection: the classic rule, a page of rules, and one ruleset; for a
    /// repository with neither the branch nor content, a check whether it is empty. CODEOWNERS: three locations, and
    /// the file's own bytes. With kept answers, also the branch itself; and instead of the second location, three
    /// directories.
    pub(super) fn most_requests(self, keeps_answers: bool) -> u64 {
        match self {
            Topic::Protection => 3 + u64::from(keeps_answers),
            Topic::Codeowners => 4 + if keeps_answers { 2 } else { 0 },
        }
    }

    /// The cache's names for its answers: the one for an existing setting, and the one for its absence.
    pub(super) fn kept_as(self) -> [Option<u8>; 2] {
        match self {
            Topic::Protection => [calls::PROTECTION.kept_as(), calls::BRANCH.kept_as()],
            Topic::Codeowners => {
                let [_, root, _] = &calls::PLACES;
                [root.record.kept_as(), root.directory.kept_as()]
            }
        }
    }
}
