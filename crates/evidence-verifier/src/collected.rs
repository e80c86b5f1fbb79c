//! Data of a bundle, collected during its verification and released after it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use evidence_bundle::document::{Check, Counts, Member};
use evidence_view::{CheckReader, CheckSink, ControlHead, Row, Sink, sanitized, words};

use crate::answer::{ControlCounts, CriterionCounts, FileShown};

/// The collected data of a bundle.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) checks: CheckReader<Checks>,
    /// The population.
    pub(crate) members: Vec<Member>,
    pub(crate) files: Vec<FileShown>,
}

/// The checks with their controls.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) controls: Vec<(ControlHead, Counts)>,
    /// Each with the index of its control.
    pub(crate) rows: Vec<(usize, Check)>,
}

impl Collected {
    pub(crate) fn new() -> Collected {
        Collected { checks: CheckReader::new(Checks::default()), members: Vec::new(), files: Vec::new() }
    }

    /// Each control with the counts of its checks; `None` if the results have an unknown form.
    pub(crate) fn controls(&self) -> Option<Vec<ControlCounts>> {
        let checks = &self.checks.sink;
        let control = |(index, (head, counts)): (usize, &(ControlHead, Counts))| {
            // A control can have rules of sources that this bundle does not have.
            let applied = checks.rows.iter().filter(|(of, _)| *of == index).map(|(_, check)| &check.rule);
            let applied: BTreeSet<&String> = applied.collect();
            let criteria: BTreeSet<&String> =
                applied.into_iter().flat_map(|rule| head.criteria(rule)).collect();
            let criteria: Vec<&str> = criteria.into_iter().map(String::as_str).collect();
            ControlCounts {
                id: sanitized(&head.id),
                title: sanitized(&head.title),
                criteria: sanitized(&criteria.join(" ")),
                status: head.status.as_str(),
                reason: sanitized(&words::reason(&head.reason)),
                counts: *counts,
            }
        };
        self.checks.known.then(|| checks.controls.iter().enumerate().map(control).collect())
    }

    /// Each criterion with the counts of its checks; `None` if the results have an unknown form.
    pub(crate) fn criteria(&self) -> Option<Vec<CriterionCounts>> {
        let checks = &self.checks.sink;
        let mut criteria: BTreeMap<&String, (BTreeSet<&String>, Counts)> = BTreeMap::new();
        for (index, check) in &checks.rows {
            let Some((head, _)) = checks.controls.get(*index) else { continue };
            for criterion in head.criteria(&check.rule) {
                let (rules, counts) = criteria.entry(criterion).or_default();
                rules.insert(&check.rule);
                counts.add(check.status);
            }
        }
        let criterion = |(id, (rules, counts)): (&String, (BTreeSet<&String>, Counts))| CriterionCounts {
            id: sanitized(id),
            rules: sanitized(&rules.into_iter().map(|rule| words::rule(rule)).collect::<Vec<_>>().join(", ")),
            status: words::worst(counts).as_str(),
            counts,
        };
        self.checks.known.then(|| criteria.into_iter().map(criterion).collect())
    }
}

impl CheckSink for Checks {
    fn control(&mut self, control: &ControlHead) {
        self.controls.push((control.clone(), Counts::default()));
    }

    fn check(&mut self, _: &ControlHead, check: Check) -> io::Result<()> {
        if let Some((_, counts)) = self.controls.last_mut() {
            counts.add(check.status);
        }
        self.rows.push((self.controls.len().saturating_sub(1), check));
        Ok(())
    }
}

impl Sink for Collected {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        if let Row::Member(member) = row {
            self.members.push(member.clone());
        }
        self.checks.row(row)
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        self.files.push(FileShown { path: path.to_owned(), size });
        Ok(false)
    }
}

/// One complete file of a bundle.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) path: String,
    pub(crate) contents: Option<Vec<u8>>,
}

impl Sink for Wanted {
    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        let is_wanted = path == self.path;
        if is_wanted {
            self.contents = Some(Vec::new());
        }
        Ok(is_wanted)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.contents.iter_mut().for_each(|contents| contents.extend_from_slice(bytes));
        Ok(())
    }
}
