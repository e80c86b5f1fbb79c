//! Applies the waivers to the checks of a run, and writes `derived/waivers.json`.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{
    Rows, SCHEMA_VERSION, WaiverRecord, WaiverState, Waivers as Document, WaiversFile, write_json,
};
use evidence_bundle::path::{self, BundlePath};
use evidence_bundle::waiver::{Applied, Applying, Checks, NamedCheck, SortedChecks, accepts};

use evidence_text::saturating_u64;
use evidence_view::waivers::Waiver;

use super::accepted::Accepted;
use super::file::Waivers;
use crate::collection::Collection;
use crate::evaluate::ControlResult;
use crate::spool::Spool;

/// Applies the waivers at this time, in Unix seconds, and writes the document. `with_path`: whether it names the file.
///
/// # Errors
/// Fails if the disk does.
pub fn document(
    spool: &mut Spool,
    waivers: &Waivers,
    collection: &Collection,
    results: &[ControlResult],
    at: i64,
    with_path: bool,
) -> io::Result<Accepted> {
    let checks = checks(collection, results);
    let mut applying = Applying::new(&checks, at);
    let applied: Vec<(WaiverRecord<()>, Applied)> = waivers
        .entries
        .iter()
        .filter_map(|waiver| Some((waiver.clone(), applying.apply(waiver)?)))
        .map(|(mut waiver, applied)| {
            waiver.state = applied.state;
            if let Some(check) = &mut waiver.compensating_check {
                check.status = applied.compensating;
            }
            (waiver, applied)
        })
        .collect();
    let summary = applying.summary();
    let path = BundlePath::new(path::WAIVERS).map_err(io::Error::other)?;
    spool.add_document(&path, |out, _| {
        let rows = applied.iter().map(|(waiver, applied)| row(waiver, applied, &checks));
        let document = Document {
            schema_version: SCHEMA_VERSION.to_string(),
            file: WaiversFile {
                path: with_path.then(|| waivers.path.display().to_string()),
                sha256: waivers.sha256.clone(),
            },
            summary,
            waivers: Rows::new(rows),
        };
        write_json(out, &document)
    })?;
    let mut by_control: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for (waiver, applied) in applied.iter().filter(|(waiver, _)| waiver.state == WaiverState::Applied) {
        let named = applied.named.iter().filter_map(|number| checks.get(*number));
        for check in named.filter(|check| accepts(waiver, check.status, check.reason)) {
            let (count, until) =
                by_control.entry(check.control.to_string()).or_insert((0, waiver.expires_at.clone()));
            *count += 1;
            if waiver.expires_at < *until {
                until.clone_from(&waiver.expires_at);
            }
        }
    }
    let mut waivers: Vec<Waiver> = applied
        .into_iter()
        .map(|(record, applied)| Waiver {
            record,
            matches: saturating_u64(applied.named.len()),
            failures: applied.failures,
        })
        .collect();
    waivers.sort_by_key(|waiver| waiver.record.state);
    Ok(Accepted { summary, waivers, by_control })
}

/// The checks in the order of the results.
fn checks(collection: &Collection, results: &[ControlResult]) -> SortedChecks {
    let mut checks = Checks::default();
    for result in results {
        for check in collection.checks.iter().filter(|check| result.control.uses(check.rule)) {
            checks.add(NamedCheck {
                control: result.control.id,
                source: check.source.id(),
                rule: check.rule.code,
                subject: &check.subject,
                status: check.verdict.status,
                reason: check.verdict.reason.code,
            });
        }
    }
    checks.sorted()
}

/// A row of the document, whose matches are written one by one.
fn row<'a>(
    waiver: &WaiverRecord<()>,
    applied: &'a Applied,
    checks: &'a SortedChecks,
) -> WaiverRecord<impl serde::Serialize + 'a> {
    let matches = applied
        .named
        .iter()
        .filter_map(|number| checks.get(*number))
        .map(|check: NamedCheck<'_>| check.record());
    waiver.clone().with(Rows::new(matches))
}
