//! What there was to look at, and how the counts of each source add up.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Member, SourcePopulation, SourceRun};
use evidence_bundle::path::POPULATION;
use evidence_view::{Fold, Folded, Sanitize as _, sanitized, words};

use crate::documents::{Documents, whole};

/// Names of a group of members that were left out of scope.
const NAMED: usize = 20;

/// A source, its population and its counts.
pub(super) struct SourcePart {
    pub(super) run: SourceRun,
    /// What the host itself counts, with its name for the number.
    pub(super) host_totals: Vec<HostTotal>,
    /// What was found, by kind.
    pub(super) kinds: Vec<Kind>,
    /// What was not in scope, by reason.
    pub(super) out: Vec<OutOfScope>,
}

/// What the host itself counts.
pub(super) struct HostTotal {
    pub(super) name: String,
    pub(super) count: u64,
}

/// The members of one kind.
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) found: u64,
    pub(super) in_scope: u64,
}

/// Members of one kind that one reason kept out of scope.
pub(super) struct OutOfScope {
    pub(super) kind: String,
    pub(super) reason: String,
    pub(super) count: u64,
    pub(super) names: Vec<String>,
}

impl OutOfScope {
    /// How many of them are not named.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(u64::try_from(self.names.len()).unwrap_or(u64::MAX))
    }
}

#[derive(Default)]
struct Members {
    kinds: BTreeMap<(String, String), (u64, u64)>,
    out: BTreeMap<(String, String, String), (u64, Vec<String>)>,
}

impl Fold for Members {
    type Row = Member;

    fn take(&mut self, member: Member) {
        let Member { source, kind, name, in_scope, reason, .. } = member;
        let (all, scoped) = self.kinds.entry((source.clone(), kind.clone())).or_default();
        *all += 1;
        *scoped += u64::from(in_scope);
        if !in_scope {
            let key = (source, kind, reason.unwrap_or_default());
            let (count, names) = self.out.entry(key).or_default();
            *count += 1;
            if names.len() < NAMED {
                names.push(sanitized(&name));
            }
        }
    }
}

/// Each source of the run.
pub(super) fn sources(documents: &dyn Documents, runs: Vec<SourceRun>) -> io::Result<Vec<SourcePart>> {
    let population: evidence_bundle::document::Population<Folded<Members>> = whole(documents, POPULATION)?;
    let Folded(members) = population.members;
    let part = |mut run: SourceRun| {
        let of_source = |source: &SourcePopulation| source.source == run.name;
        let totals = population.sources.iter().find(|source| of_source(source));
        let totals = totals.map(|source| source.host_totals.iter()).into_iter().flatten();
        let kinds = members.kinds.iter().filter(|((source, _), _)| *source == run.name);
        let out = members.out.iter().filter(|((source, ..), _)| *source == run.name);
        SourcePart {
            host_totals: totals
                .map(|(name, count)| HostTotal { name: sanitized(name), count: *count })
                .collect(),
            kinds: kinds
                .map(|((_, kind), (found, in_scope))| Kind {
                    name: plural(kind),
                    found: *found,
                    in_scope: *in_scope,
                })
                .collect(),
            out: out
                .map(|((_, kind, reason), (count, names))| OutOfScope {
                    kind: plural(kind),
                    reason: sanitized(&words::reason(reason)),
                    count: *count,
                    names: names.clone(),
                })
                .collect(),
            run: {
                run.sanitize();
                run
            },
        }
    };
    Ok(runs.into_iter().map(part).collect())
}

/// A kind of member, as in "log groups".
fn plural(kind: &str) -> String {
    let kind = sanitized(&kind.replace('_', " "));
    match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    }
}
