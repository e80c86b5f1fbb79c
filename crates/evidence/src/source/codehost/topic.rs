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

    /// Requests at most. Branch protection: the classic rule, a page of rules, and one ruleset; for a repository that has
    /// neither the branch nor any content, whether it is empty. CODEOWNERS: three places, and the file's own bytes.
    /// Where answers are kept, also the branch itself; and instead of the second place, three directories.
    pub(super) fn most_requests(self, keeps_answers: bool) -> u64 {
        match self {
            Topic::Protection => 3 + u64::from(keeps_answers),
            Topic::Codeowners => 4 + if keeps_answers { 2 } else { 0 },
        }
    }

    /// What the cache calls its answers: what is there, and what shows that it is not.
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
