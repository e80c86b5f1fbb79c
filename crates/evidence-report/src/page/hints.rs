//! Advice about checks.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Category, Hint};
use evidence_bundle::path::HINTS;
use evidence_view::sanitized;

use super::checks::{CheckRow, Group, Sections};
use super::evidence::Key;
use super::room::{self, Room};
use crate::documents::{Documents, rows};

/// The fields by which a hint refers to its check: control, reason, source, subject, and evidence. Two rules of a
/// control can have the same reason for the same subject, but their evidence differs.
type Name = (String, String, String, String, Vec<Key>);

/// Adds the hints of the listed checks. Advice for a group that needs action applies to all of its checks; an
/// improvement of a passed check applies only to that check.
pub(super) fn add(documents: &dyn Documents, sections: &mut Sections) -> io::Result<()> {
    let mut wanted: BTreeMap<Name, Option<(Category, String)>> = BTreeMap::new();
    let mut room = Room::new(room::ADVICE);
    for (control, group) in sections.groups_mut() {
        wanted.extend(group.rows.iter().map(|row| (name(control, group, row), None)));
    }
    rows(documents, HINTS, "hints", |hint: Hint| {
        // The form of an id is `control:reason:subject`.
        let reason = hint.id.split(':').nth(1).unwrap_or_default();
        let evidence = hint.evidence.iter().map(Key::new).collect();
        let name = (
            sanitized(&hint.control),
            sanitized(reason),
            sanitized(&hint.source),
            sanitized(&hint.subject),
            evidence,
        );
        if let Some(place) = wanted.get_mut(&name) {
            let advice = sanitized(&hint.remediation);
            if room.take(150, [advice.as_str()]) {
                *place = Some((hint.category, advice));
            }
        }
        Ok(())
    })?;
    for (control, group) in sections.groups_mut() {
        let names: Vec<Name> = group.rows.iter().map(|row| name(control, group, row)).collect();
        for (row, name) in group.rows.iter_mut().zip(names) {
            let Some((category, advice)) = wanted.get(&name).cloned().flatten() else { continue };
            match category {
                Category::Improvement => row.improvement = Some(advice),
                Category::Missing | Category::Misconfigured | Category::Partial => {
                    group.remediation.get_or_insert(advice);
                }
            }
        }
    }
    Ok(())
}

fn name(control: &str, group: &Group, row: &CheckRow) -> Name {
    let evidence = row.evidence.iter().map(|evidence| evidence.key.clone()).collect();
    (control.to_owned(), group.reason.clone(), row.source.clone(), row.subject.clone(), evidence)
}
