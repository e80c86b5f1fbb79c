//! Where the evidence comes from, and what it is for.

use evidence_view::sanitized;

/// The address of the project, where rules, formats and releases are documented.
pub(crate) const PROJECT: &str = env!("CARGO_PKG_REPOSITORY");

/// The most names of a list.
const LISTED: usize = 100;

/// A list of identifiers, of which a made-up bundle can have very many.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    sanitized(&format!("{}{more}", shown.join(", ")))
}

/// The framework whose controls are the Trust Services Criteria themselves.
pub(crate) const CRITERIA: &str = "tsc_2017";

/// What evidence for this framework is for, and what it is not: the page looks like a report of an auditor.
pub(crate) fn purpose(framework: &str) -> String {
    match framework {
        CRITERIA => "for a SOC 2 examination by the Trust Services Criteria; not a SOC 2 report".to_owned(),
        "soc2_type1" => "for a SOC 2 Type 1 examination; not a SOC 2 report".to_owned(),
        _ => sanitized(&format!("for {framework}; not an auditor's report")),
    }
}
