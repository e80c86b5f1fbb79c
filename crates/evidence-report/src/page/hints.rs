//! What to do about a group of checks.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::Hint;
use evidence_bundle::path::HINTS;
use evidence_view::sanitized;

use super::checks::Sections;
use crate::documents::{Documents, rows};

/// Adds to each group the remediation of its hints: those of one control and reason give the same advice.
pub(super) fn add(documents: &dyn Documents, sections: &mut Sections) -> io::Result<()> {
    let mut remediations: BTreeMap<(String, String), String> = BTreeMap::new();
    rows(documents, HINTS, "hints", |hint: Hint| {
        // The form of an id is `control:reason:subject`.
        if let Some(reason) = hint.id.split(':').nth(1) {
            let key = (sanitized(&hint.control), sanitized(reason));
            remediations.entry(key).or_insert_with(|| sanitized(&hint.remediation));
        }
        Ok(())
    })?;
    for (control, group) in sections.groups_mut() {
        let key = (control.to_owned(), group.reason.clone());
        group.remediation = remediations.get(&key).cloned();
    }
    Ok(())
}
