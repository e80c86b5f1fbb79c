//! The lists that auditors draw samples from: how many entries each has, and what the host counts.

use std::collections::BTreeMap;

use crate::words::{counted, counted_as, grouped};
use crate::{COUNTED, ENTRIES, HOST_TOTAL, List, sanitized};
use evidence_bundle::document::{ObservationRecord, Outcome};

/// The most lists that are shown.
const SHOWN: usize = 50;

/// The lists of a bundle, by name and source.
#[derive(Debug, Default)]
pub struct ListLengths(BTreeMap<(&'static str, String), Length>);

/// How long a list is, over all of its artifacts.
#[derive(Debug, Default)]
struct Length {
    artifacts: u64,
    entries: u64,
    counted: u64,
    /// The host's own count, as far as it told.
    total: u64,
    /// Of how many artifacts the host told it.
    told: u64,
}

/// A list of a source, fit to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRow {
    /// What it lists.
    pub name: &'static str,
    /// The source.
    pub source: String,
    /// How many entries it has.
    pub entries: u64,
    /// How the entries compare with the host's own count, in words.
    pub total: String,
    /// The table with all entries.
    pub table: &'static str,
    /// The word for `evidence sample --from`.
    pub from: &'static str,
}

impl ListLengths {
    /// Notes an observation, if it is of a list.
    pub fn take(&mut self, observation: &ObservationRecord) {
        let lists = [(List::Changes, "changes"), (List::People, "people")];
        let list = lists.iter().find(|(list, _)| list.kinds().contains(&observation.kind.as_str()));
        let number = |name: &str| observation.facts.get(name).and_then(serde_json::Value::as_u64);
        let (Some((_, name)), Outcome::Artifact, Some(entries)) =
            (list, observation.outcome, number(ENTRIES))
        else {
            return;
        };
        let length = self.0.entry((*name, sanitized(&observation.source))).or_default();
        length.artifacts = length.artifacts.saturating_add(1);
        length.entries = length.entries.saturating_add(entries);
        if let (Some(counted), Some(total)) = (number(COUNTED), number(HOST_TOTAL)) {
            length.counted = length.counted.saturating_add(counted);
            length.total = length.total.saturating_add(total);
            length.told = length.told.saturating_add(1);
        }
    }

    /// The lists, each with its length.
    pub fn rows(&self) -> Vec<ListRow> {
        let rows = self.0.iter().take(SHOWN);
        rows.map(|((name, source), length)| length.row(name, source.clone())).collect()
    }
}

impl ListRow {
    /// The list in a sentence.
    pub fn sentence(&self) -> String {
        let ListRow { name, source, entries, total, from, .. } = self;
        let entries = counted_as(*entries, "entry", "entries");
        format!("{name} of {source}: {entries}, {total}; `evidence sample --from {from}`")
    }
}

impl Length {
    fn row(&self, from: &'static str, source: String) -> ListRow {
        let is_people = from == "people";
        let noun = if is_people { "member" } else { "pull request" };
        let untold = self.artifacts.saturating_sub(self.told);
        let total = match (self.told, untold) {
            (0, _) => "not reported by the host".to_owned(),
            (_, 0) => format!("{} of {} listed", grouped(self.counted), counted(self.total, noun)),
            (_, untold) => format!(
                "{} of {} listed; not reported for {} of {} files",
                grouped(self.counted),
                counted(self.total, noun),
                grouped(untold),
                grouped(self.artifacts)
            ),
        };
        ListRow {
            name: if is_people { "People" } else { "Merged changes" },
            source,
            entries: self.entries,
            total,
            table: if is_people { "people.csv" } else { "changes.csv" },
            from,
        }
    }
}
