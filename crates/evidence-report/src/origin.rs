//! Where the evidence comes from, and what it is for.

use evidence_view::sanitized;

/// The address of the project, where rules, formats and releases are documented.
pub(crate) const PROJECT: &str = env!("CARGO_PKG_REPOSITORY");

/// What evidence for this framework is for, and what it is not: the page looks like a report of an auditor.
pub(crate) fn purpose(framework: &str) -> String {
    match framework {
        "soc2_type1" => "for a SOC 2 Type 1 examination; not a SOC 2 report".to_owned(),
        _ => sanitized(&format!("for {framework}; not an auditor's report")),
    }
}
