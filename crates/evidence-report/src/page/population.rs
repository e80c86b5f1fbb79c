//! The population, and how the counts of each source add up.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Member, ScopeRecord, SourceRun};
use evidence_bundle::path::POPULATION;
use evidence_view::{Fold, Folded, Sanitize as _, sanitized, words};
use serde_json::Value;

use super::room::{self, Room};
use super::text;
use crate::documents::{Documents, whole};

/// The most names listed of a group of members that are out of scope.
const NAMED: usize = 20;
/// The code host's names of its repository counts; their sum is the total.
const PUBLIC: &str = "public_repos";
const PRIVATE: &str = "total_private_repos";
const REPOSITORY: &str = "repository";

/// The population.
pub(super) struct Population {
    /// The members, by source and kind.
    pub(super) kinds: Vec<Kind>,
    /// The hosts' own counts.
    pub(super) totals: Vec<HostTotal>,
    /// Whether the counts of a source and of its host agree.
    pub(super) comparisons: Vec<Comparison>,
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

/// The host's count of repositories, compared with ours.
pub(super) struct Comparison {
    pub(super) agrees: bool,
    pub(super) text: String,
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
        self.count.saturating_sub(u64::try_from(self.names.len()).unwrap_or(u64::MAX))
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
                let name = sanitized(&name);
                if self.room.take(15, [name.as_str()]) {
                    names.push(name);
                }
            }
        }
    }
}

impl Population {
    pub(super) fn read(
        documents: &dyn Documents,
        scope: &ScopeRecord,
        mut runs: Vec<SourceRun>,
    ) -> io::Result<Population> {
        let population: evidence_bundle::document::Population<Folded<Members>> =
            whole(documents, POPULATION)?;
        let Folded(members) = population.members;
        let mut part = Population {
            kinds: Vec::new(),
            totals: Vec::new(),
            comparisons: Vec::new(),
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
            let totals = population.sources.iter().find(|totals| totals.source == run.name);
            let Some(totals) = totals.map(|source| &source.host_totals) else { continue };
            part.totals.extend(totals.iter().map(|(name, count)| HostTotal {
                source: source.clone(),
                name: total_name(name),
                code: sanitized(name),
                count: *count,
            }));
            let found =
                members.kinds.get(&(run.name.clone(), REPOSITORY.to_owned())).map(|(found, _)| *found);
            part.comparisons.extend(compared(totals, found, lists_everything(scope, &run.name)));
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

/// Whether the settings of this source select every repository without naming them.
fn lists_everything(scope: &ScopeRecord, source: &str) -> bool {
    let settings = scope.sources.iter().find(|settings| settings.source == source);
    settings.is_some_and(|settings| settings.settings.get("repos") == Some(&Value::String("*".to_owned())))
}

/// A sentence that compares the host's count with ours, if both are known and comparable.
fn compared(totals: &BTreeMap<String, u64>, found: Option<u64>, everything: bool) -> Option<Comparison> {
    let total = totals.get(PUBLIC)?.saturating_add(*totals.get(PRIVATE)?);
    let found = found?;
    let counts = format!(
        "The host counts {} repositories, and the run found {}",
        words::grouped(total),
        words::grouped(found)
    );
    let agrees = found == total;
    let text = match () {
        () if agrees => format!("{counts}: the counts agree."),
        () if !everything => format!("{counts}: the settings name the repositories to look at."),
        () => format!("{counts}: a difference of {}.", words::grouped(found.abs_diff(total))),
    };
    Some(Comparison { agrees: agrees || !everything, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_compared_only_if_both_are_known() {
        let totals =
            |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| ((*name).into(), *count)).collect();
        let both = totals(&[(PUBLIC, 6), (PRIVATE, 8)]);
        let text = |totals: &BTreeMap<String, u64>, found, everything| {
            compared(totals, found, everything).map(|comparison| (comparison.agrees, comparison.text))
        };
        let said = |agrees, text: &str| Some((agrees, text.to_owned()));
        assert_eq!(
            text(&both, Some(14), true),
            said(true, "The host counts 14 repositories, and the run found 14: the counts agree.")
        );
        assert_eq!(
            text(&both, Some(12), true),
            said(false, "The host counts 14 repositories, and the run found 12: a difference of 2.")
        );
        let named = "The host counts 14 repositories, and the run found 2: the settings name the repositories to look at.";
        assert_eq!(text(&both, Some(2), false), said(true, named));
        assert_eq!(text(&both, None, true), None);
        assert_eq!(text(&totals(&[(PUBLIC, 6)]), Some(6), true), None);
        assert_eq!(text(&totals(&[]), Some(6), true), None);
    }
}
