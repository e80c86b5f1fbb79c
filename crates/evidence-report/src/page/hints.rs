//! Advice about checks.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Hint, Status};
use evidence_bundle::path::HINTS;
use evidence_view::sanitized;

use super::checks::{CheckRow, Group, Sections};
use super::room::{self, Room};
use crate::documents::{Documents, rows};

/// The fields by which a hint refers to its check: rule, source and subject, and the reason of a check that did not pass.
/// What is said of a passed check has a reason of its own.
type Name = (String, String, String, Option<String>);

/// Adds the hints of the listed checks. Advice for a group that needs action applies to all of its checks; what is
/// recommended beyond a passed check applies only to that check.
pub(super) fn add(documents: &dyn Documents, sections: &mut Sections) -> io::Result<()> {
    let mut wanted: BTreeMap<Name, Option<String>> = BTreeMap::new();
    let mut room = Room::new(room::ADVICE);
    for (_, group) in sections.groups_mut() {
        wanted.extend(group.rows.iter().map(|row| (name(group, row), None)));
    }
    rows(documents, HINTS, "hints", |hint: Hint| {
        let name = (sanitized(&hint.rule), sanitized(&hint.source), sanitized(&hint.subject));
        let name = |reason| (name.0.clone(), name.1.clone(), name.2.clone(), reason);
        let of_reason = name(Some(sanitized(&hint.reason)));
        let name = if wanted.contains_key(&of_reason) { of_reason } else { name(None) };
        if let Some(place) = wanted.get_mut(&name) {
            let advice = sanitized(&hint.remediation);
            if room.take(150, [advice.as_str()]) {
                *place = Some(advice);
            }
        }
        Ok(())
    })?;
    for (_, group) in sections.groups_mut() {
        let names: Vec<Name> = group.rows.iter().map(|row| name(group, row)).collect();
        for (row, name) in group.rows.iter_mut().zip(names) {
            let Some(advice) = wanted.get(&name).cloned().flatten() else { continue };
            if group.status == Status::Pass {
                row.improvement = Some(advice);
            } else {
                group.remediation.get_or_insert(advice);
            }
        }
    }
    Ok(())
}

fn name(group: &Group, row: &CheckRow) -> Name {
    let reason = (group.status != Status::Pass).then(|| group.reason.clone());
    (group.rule.clone(), row.source.clone(), row.subject.clone(), reason)
}
