//! The population, and how the counts of each source add up.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Member, Scope, SourcePopulation, SourceRun};
use evidence_bundle::path::POPULATION;
use evidence_bundle::text::saturating_u64;
use evidence_view::{Sanitize as _, sanitized, scope, words};

use super::room::{self, Room};
use super::text;
use crate::documents::{Documents, rows};

/// The most names listed of a group of members that are out of scope.
const NAMED: usize = 20;
/// The code host's names of its repository counts.
const PUBLIC: &str = "public_repos";
const PRIVATE: &str = "total_private_repos";

/// The population.
pub(super) struct Population {
    /// The scope of each source in a sentence.
    pub(super) scopes: Vec<String>,
    /// Whether every source shows everything there is.
    pub(super) whole: bool,
    /// The members, by source and kind.
    pub(super) kinds: Vec<Kind>,
    /// The hosts' own counts.
    pub(super) totals: Vec<HostTotal>,
    /// The members out of scope, by reason.
    pub(super) out: Vec<OutOfScope>,
    /// Each source, with its counts.
    pub(super) runs: Vec<SourceRun>,
    /// How many rows of these tables the page has no room for.
    pub(super) more: u64,
}

/// The members of one kind.
pub(super) struct Kind {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) found: u64,
    pub(super) in_scope: u64,
}

impl Kind {
    pub(super) fn out_of_scope(&self) -> u64 {
        self.found.saturating_sub(self.in_scope)
    }
}

/// A host's own count.
pub(super) struct HostTotal {
    pub(super) source: String,
    /// Its name for people.
    pub(super) name: String,
    /// The host's name for it.
    pub(super) code: String,
    pub(super) count: u64,
}

/// Members of one kind that are out of scope for one reason.
pub(super) struct OutOfScope {
    pub(super) source: String,
    pub(super) kind: String,
    pub(super) reason: String,
    pub(super) count: u64,
    pub(super) names: Vec<String>,
}

impl OutOfScope {
    /// The number of unnamed ones.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(saturating_u64(self.names.len()))
    }
}

struct Members {
    /// For the names.
    room: Room,
    kinds: BTreeMap<(String, String), (u64, u64)>,
    out: BTreeMap<(String, String, String), (u64, Vec<String>)>,
}

impl Default for Members {
    fn default() -> Members {
        Members { room: Room::new(room::POPULATION / 3), kinds: BTreeMap::new(), out: BTreeMap::new() }
    }
}

impl Members {
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
                let name = sanitized(&name);
                if self.room.take(15, [name.as_str()]) {
                    names.push(name);
                }
            }
        }
    }
}

impl Population {
    pub(super) fn read(documents: &dyn Documents, mut runs: Vec<SourceRun>) -> io::Result<Population> {
        let (mut sources, mut members): (Vec<SourcePopulation>, _) = (Vec::new(), Members::default());
        rows(documents, POPULATION, "sources", |source| {
            sources.push(source);
            Ok(())
        })?;
        rows(documents, POPULATION, "members", |member| {
            members.take(member);
            Ok(())
        })?;
        let mut part = Population {
            scopes: sources.iter().map(scope::sentence).collect(),
            whole: sources.iter().all(|source| source.scope == Scope::Whole),
            kinds: Vec::new(),
            totals: Vec::new(),
            out: Vec::new(),
            runs: Vec::new(),
            more: 0,
        };
        // In the order of the run.
        for run in &runs {
            let source = sanitized(&run.name);
            let kinds = members.kinds.iter().filter(|((of, _), _)| *of == run.name);
            part.kinds.extend(kinds.map(|((_, kind), (found, in_scope))| Kind {
                source: source.clone(),
                name: text::plural(kind),
                found: *found,
                in_scope: *in_scope,
            }));
            let out = members.out.iter().filter(|((of, ..), _)| *of == run.name);
            part.out.extend(out.map(|((_, kind, reason), (count, names))| OutOfScope {
                source: source.clone(),
                kind: text::plural(kind),
                reason: sanitized(&words::reason(reason)),
                count: *count,
                names: names.clone(),
            }));
            let totals = sources.iter().find(|totals| totals.source == run.name);
            let Some(totals) = totals.map(|source| &source.host_totals) else { continue };
            part.totals.extend(totals.iter().map(|(name, count)| HostTotal {
                source: source.clone(),
                name: total_name(name),
                code: sanitized(name),
                count: *count,
            }));
        }
        runs.iter_mut().for_each(SourceRun::sanitize);
        part.runs = runs;
        let mut room = Room::new(room::POPULATION / 3 * 2);
        part.more = room
            .keep(&mut part.runs, 700, |run| vec![&run.name])
            .saturating_add(room.keep(&mut part.kinds, 300, |kind| vec![&kind.source, &kind.name]))
            .saturating_add(
                room.keep(&mut part.totals, 200, |total| vec![&total.source, &total.name, &total.code]),
            )
            .saturating_add(room.keep(&mut part.out, 250, |out| vec![&out.source, &out.kind, &out.reason]));
        Ok(part)
    }
}

/// A readable name of a host's count.
fn total_name(code: &str) -> String {
    match code {
        PUBLIC => "Public repositories".to_owned(),
        PRIVATE => "Private and internal repositories".to_owned(),
        _ => text::words_of(code),
    }
}
