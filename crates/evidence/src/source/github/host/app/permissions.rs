//! The permissions that an app's token is requested with: exactly those that the configured rules need, all of them
//! for reading.

use std::collections::{BTreeMap, BTreeSet};

/// A permission of an app, by the host's own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// Its name in the API.
    pub name: &'static str,
    /// Its name on the pages of the host.
    pub title: &'static str,
    /// What the tool reads with it.
    pub reads: &'static str,
}

/// Every permission that the tool can ask for.
pub static PERMISSIONS: &[Permission] = &[
    Permission {
        name: "metadata",
        title: "Metadata",
        reads: "the list of repositories, and the rules of rulesets",
    },
    Permission {
        name: "organization_administration",
        title: "Administration (organization)",
        reads: "the organization's settings, and how many repositories it has",
    },
    Permission {
        name: "administration",
        title: "Administration",
        reads: "classic branch protection, and security settings",
    },
    Permission { name: "contents", title: "Contents", reads: "CODEOWNERS, and branches" },
    Permission {
        name: "members",
        title: "Members (organization)",
        reads: "owners, members and outside collaborators, and who of them has a second factor",
    },
    Permission {
        name: "pull_requests",
        title: "Pull requests",
        reads: "who opened, approved and merged a change, and when; never its text",
    },
    Permission {
        name: "vulnerability_alerts",
        title: "Dependabot alerts",
        reads: "severity and age of open alerts",
    },
];

/// The permissions that every run needs.
const ALWAYS: &[&str] = &["metadata", "organization_administration"];

/// Those that a topic needs beyond them, by the topic's name.
static OF_TOPICS: &[(&str, &[&str])] = &[
    ("organization settings", &[]),
    ("people", &["members"]),
    ("open alerts", &["vulnerability_alerts"]),
    ("totals of changes", &["pull_requests"]),
    ("changes", &["pull_requests", "contents", "administration"]),
    ("branch protection", &["administration", "contents"]),
    ("CODEOWNERS", &["contents"]),
    ("security settings", &["administration"]),
];

/// The names of the permissions that these topics need.
pub(crate) fn needed(topics: impl Iterator<Item = &'static str>) -> BTreeSet<&'static str> {
    let mut needed: BTreeSet<&'static str> = ALWAYS.iter().copied().collect();
    for topic in topics {
        let of_topic = OF_TOPICS.iter().find(|(name, _)| *name == topic);
        needed.extend(of_topic.into_iter().flat_map(|(_, names)| *names));
    }
    needed
}

/// Whether the table knows this topic.
#[cfg(test)]
pub(crate) fn knows(topic: &str) -> bool {
    OF_TOPICS.iter().any(|(name, _)| *name == topic)
}

/// A permission as people read it, such as `Contents: read`.
pub(crate) fn shown(name: &str) -> String {
    let title = PERMISSIONS.iter().find(|known| known.name == name).map_or(name, |known| known.title);
    format!("{title}: read")
}

/// The granted permissions that do more than read, each as `name: level`.
pub(crate) fn writing(granted: &BTreeMap<String, String>) -> Vec<String> {
    let writes = granted.iter().filter(|(_, level)| *level != "read");
    writes.map(|(name, level)| format!("{name}: {level}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_of_a_topic_is_described() {
        let known = |name: &&str| PERMISSIONS.iter().any(|permission| permission.name == *name);
        assert!(ALWAYS.iter().all(known));
        assert!(OF_TOPICS.iter().flat_map(|(_, names)| *names).all(known));
        for permission in PERMISSIONS {
            let used = needed(OF_TOPICS.iter().map(|(name, _)| *name));
            assert!(used.contains(permission.name), "{permission:?} is not used");
        }
        assert_eq!(needed(std::iter::empty()), ALWAYS.iter().copied().collect());
        assert_eq!(shown("contents"), "Contents: read");
    }

    #[test]
    fn only_reading_is_reading() {
        let granted = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, level)| ((*name).to_string(), (*level).to_string())).collect()
        };
        assert!(writing(&granted(&[("metadata", "read"), ("contents", "read")])).is_empty());
        for level in ["write", "admin", "none-of-these"] {
            let found = writing(&granted(&[("metadata", "read"), ("contents", level)]));
            assert_eq!(found, [format!("contents: {level}")]);
        }
    }
}
