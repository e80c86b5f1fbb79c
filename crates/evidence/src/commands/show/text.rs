//! The results for a terminal: each control, then its checks by status and reason.

use std::collections::BTreeMap;

use evidence_bundle::read::VerifiedBundle;
use evidence_bundle::{Status, text::Printable};
use evidence_view::{sanitized, scope, words};

use super::{Control, Row};
use crate::report::format::counted;
use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};

/// Longer subjects push their line out of the column.
const SUBJECT_WIDTH: usize = 40;

/// The checks of one control with the same status, reason and rule, ordered by the position of each.
#[derive(Default)]
pub(super) struct Groups(BTreeMap<(String, u8, String, String), Group>);

struct Group {
    status: Status,
    criteria: Vec<String>,
    /// The subject and the finding.
    rows: Vec<(String, String)>,
}

impl Groups {
    pub(super) fn add(&mut self, row: &Row<'_>) {
        let Row { control, check } = row;
        let urgency = match check.status {
            Status::Fail => 0,
            Status::NotVerifiable => 1,
            Status::Pass => 2,
            Status::NotApplicable => 3,
        };
        let key = (sanitized(&control.id), urgency, check.reason.clone(), check.rule.clone());
        let criteria = || row.criteria().iter().map(|criterion| sanitized(criterion)).collect();
        let group = self.0.entry(key).or_insert_with(|| Group {
            status: check.status,
            criteria: criteria(),
            rows: Vec::new(),
        });
        let actual = check.actual.as_deref().unwrap_or_default();
        group.rows.push((sanitized(&check.subject), sanitized(actual)));
    }

    pub(super) fn text(&self, bundle: &VerifiedBundle, controls: &[Control]) -> String {
        let safe = |text: &str| Printable(text).to_string();
        let created = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
        let complete =
            if bundle.complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
        let mut text = format!(
            "{BOLD}{}{BOLD:#}  {}  {created} (claimed by the signer)\n{GREEN}verified{GREEN:#}, trusted by {}{complete}\n",
            safe(&bundle.organization),
            safe(&bundle.framework),
            safe(&bundle.trusted_by),
        );
        for source in &bundle.populations {
            text.push_str(&format!("Scope: {}\n", scope::sentence(source)));
        }
        text.push('\n');
        for Control { id, title, status, counts } in controls {
            let (style, word) = (of_status(*status), words::label(*status).word);
            let counts = words::checks(*counts);
            text.push_str(&format!("{id:<6} {style}{word:<14}{style:#}  {title:<32} {DIM}{counts}{DIM:#}\n"));
        }
        for Control { id, .. } in controls {
            let of_control = self.0.iter().filter(|((control, ..), _)| control == id);
            for ((control, _, reason, rule), group) in of_control {
                text.push_str(&group.text(control, reason, rule));
            }
        }
        if self.0.is_empty() {
            text.push_str("\nNo check matches.\n");
        }
        text
    }
}

impl Group {
    fn text(&self, control: &str, reason: &str, rule: &str) -> String {
        let (style, word) = (of_status(self.status), words::label(self.status).word);
        let criteria = if self.criteria.is_empty() {
            String::new()
        } else {
            format!(", criteria {}", self.criteria.join(" "))
        };
        let count = counted(crate::number::saturating_u64(self.rows.len()), "check", "checks");
        let mut text = format!(
            "\n{BOLD}{control}{BOLD:#}  {style}{word}{style:#}  {BOLD}{}{BOLD:#}  {DIM}{count}, {}{criteria}{DIM:#}\n",
            sanitized(&words::reason(reason)),
            sanitized(rule),
        );
        let width = self.rows.iter().map(|(subject, _)| subject.chars().count()).max().unwrap_or_default();
        let width = width.min(SUBJECT_WIDTH);
        for (subject, actual) in &self.rows {
            let line = format!("  {subject:<width$}  {actual}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}
