//! Why a collection does not end with 0, one line per cause: what, where, how many, what to do.
//!
//! For the mail of a scheduler and the log of a job, which show nothing else of a quiet run. Pure; the lines hold text
//! from hosts, which a reporter makes safe to print.

use std::collections::BTreeSet;

use evidence_bundle::document::{ErrorRecord, LACKING_REASONS, Status, Warning, is_lacking};
use evidence_view::words;

use crate::collection::{Collection, Connected};
use crate::finding::Finding;
use crate::observation::SourceName;
use crate::source::{ConnectError, Plan};
use evidence_rules::rule::reason;
use evidence_text::saturating_u64;
use evidence_text::{counted, thousands};

/// How many subjects or files a line names.
const NAMED: usize = 3;

/// How many lines errors take: an error can quote its subject, and then no two are alike.
const ERROR_LINES: usize = 5;

/// Why this collection is not complete. Empty if it is.
pub fn of_collection(collection: &Collection, connected: &[Connected], findings: &[Finding]) -> Vec<String> {
    let unreached = connected.iter().filter_map(Connected::error);
    let mut lines: Vec<String> = unreached.clone().map(|error| not_reached(error.source, error)).collect();
    let is_named = |error: &&ErrorRecord| {
        error.code == reason::CONNECTION_FAILED.code
            && unreached.clone().any(|named| named.source.id() == error.source)
    };
    lines.extend(errors(collection.errors.iter().filter(|error| !is_named(error))));
    lines.extend(excluded(collection));
    lines.extend(lacking(collection, findings));
    lines
}

/// Why a collection by these plans would not be complete.
pub fn of_plans(plans: &[(SourceName, Result<Plan, ConnectError>)]) -> Vec<String> {
    plans
        .iter()
        .flat_map(|(source, plan)| match plan {
            Err(error) => vec![not_reached(*source, error)],
            Ok(plan) => {
                let parts = [
                    (&plan.failed, "would be missing"),
                    (&plan.unreadable, "not readable"),
                    (&plan.omitted, "not listed"),
                ];
                let line = |what: &str, texts: &[String]| {
                    (!texts.is_empty()).then(|| format!("{}: {what}: {}", source.id(), texts.join("; ")))
                };
                parts.iter().filter_map(|(texts, what)| line(what, texts)).collect()
            }
        })
        .collect()
}

/// The lines of these errors.
pub fn of_errors(errors: &[ErrorRecord]) -> Vec<String> {
    self::errors(errors.iter())
}

/// The lines of the warnings about what the credentials cannot read.
pub fn of_refusals<'a>(warnings: impl IntoIterator<Item = &'a Warning>) -> Vec<String> {
    let refusals = warnings.into_iter().filter(|warning| LACKING_REASONS.contains(&warning.code.as_str()));
    refusals
        .map(|warning| {
            let place = [warning.source.as_deref(), warning.subject.as_deref()];
            let place: Vec<&str> = place.into_iter().flatten().collect();
            format!("{}: {}", place.join(": "), warning.message)
        })
        .collect()
}

fn not_reached(source: SourceName, error: &ConnectError) -> String {
    let help = error.help.first().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{}: not reached: {}{help}", source.id(), error.message)
}

/// Errors with the same source and message, in the order of their first.
fn errors<'a>(errors: impl Iterator<Item = &'a ErrorRecord>) -> Vec<String> {
    let mut groups: Vec<(&ErrorRecord, Vec<&str>)> = Vec::new();
    for error in errors {
        let same = |(first, _): &&mut (&ErrorRecord, _)| {
            (&first.source, &first.code, &first.message) == (&error.source, &error.code, &error.message)
        };
        match groups.iter_mut().find(same) {
            Some((_, subjects)) => subjects.push(&error.subject),
            None => groups.push((error, vec![&error.subject])),
        }
    }
    let hidden: usize = groups.iter().skip(ERROR_LINES).map(|(_, subjects)| subjects.len()).sum();
    let line = |(error, subjects): &(&ErrorRecord, Vec<&str>)| {
        let ErrorRecord { code, message, source, .. } = error;
        // The message names the control and what to do.
        if code == "control_not_collected" {
            return message.clone();
        }
        let advice =
            reason::SHARED.iter().find(|reason| reason.code == code).and_then(|reason| reason.advice);
        let remedy = advice.map(|advice| format!(". {}", advice.remediation)).unwrap_or_default();
        format!("{source}: {}: {}{remedy}", named(subjects), message.trim_end_matches('.'))
    };
    let mut lines: Vec<String> = groups.iter().take(ERROR_LINES).map(line).collect();
    if hidden > 0 {
        let more = counted(saturating_u64(hidden), "more error", "more errors");
        lines.push(format!("{more}: `evidence verify --verbose` lists them"));
    }
    lines
}

/// What was left out, by the rule that excluded it.
fn excluded(collection: &Collection) -> Vec<String> {
    let rules: BTreeSet<&str> = collection.excluded.iter().map(|excluded| excluded.rule.as_str()).collect();
    let remedy = reason::EXCLUDED_BY_POLICY.advice.map(|advice| advice.remediation).unwrap_or_default();
    let line = |rule: &str| {
        let files = collection.excluded.iter().filter(|excluded| excluded.rule == rule);
        let files: Vec<&str> = files.map(|excluded| excluded.filename.as_str()).collect();
        format!("left out as forbidden data (rule {rule}): {}. {remedy}", named(&files))
    };
    rules.into_iter().map(line).collect()
}

/// What the credentials could not read. The warnings say it once per reason; a reason without a warning is counted.
fn lacking(collection: &Collection, findings: &[Finding]) -> Vec<String> {
    if !collection.lacking {
        return Vec::new();
    }
    let mut lines = of_refusals(&collection.warnings);
    let unnamed = findings.iter().filter(|finding| {
        finding.key.status == Status::NotVerifiable
            && is_lacking(finding.key.status, &finding.key.reason)
            && !collection.warnings.iter().any(|warning| warning.code == finding.key.reason)
    });
    lines.extend(unnamed.map(|finding| {
        let subjects: Vec<&str> = finding.subjects.iter().map(String::as_str).collect();
        let checks = counted(finding.count, "check", "checks");
        let title = words::reason(&finding.key.reason);
        format!(
            "{}: {checks} not verifiable: {title} ({})",
            finding.key.control,
            names(&subjects, finding.count)
        )
    }));
    lines
}

/// `acme/web`, or `14 (acme/web, acme/api, acme/app and 11 more)`
fn named(subjects: &[&str]) -> String {
    match subjects {
        [subject] => (*subject).to_string(),
        subjects => {
            let count = saturating_u64(subjects.len());
            format!("{} ({})", thousands(count), names(subjects, count))
        }
    }
}

fn names(subjects: &[&str], count: u64) -> String {
    let shown: Vec<&str> = subjects.iter().take(NAMED).copied().collect();
    let more = count.saturating_sub(saturating_u64(shown.len()));
    let more = if more > 0 { format!(" and {} more", thousands(more)) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use evidence_bundle::document::{Excluded, Warning};

    use super::*;

    fn error(subject: &str, message: &str) -> ErrorRecord {
        ErrorRecord {
            code: "host_error".to_string(),
            message: message.to_string(),
            source: "codehost".to_string(),
            subject: subject.to_string(),
            status: None,
            request_id: None,
        }
    }

    #[test]
    fn a_thousand_errors_are_one_line_and_never_more_than_six() {
        let again = "Collect again; the bundle's errors show the host's answer.";
        let alike: Vec<_> = (0..1_000).map(|number| error(&format!("acme/r{number}"), "HTTP 502")).collect();
        assert_eq!(
            of_errors(&alike),
            [format!("codehost: 1,000 (acme/r0, acme/r1, acme/r2 and 997 more): HTTP 502. {again}")]
        );
        assert_eq!(of_errors(&alike[..1]), [format!("codehost: acme/r0: HTTP 502. {again}")]);
        let each: Vec<_> = (0..1_000).map(|number| error("acme/r", &format!("{number} is odd"))).collect();
        let lines = of_errors(&each);
        assert_eq!(
            (lines.len(), lines[5].as_str()),
            (6, "995 more errors: `evidence verify --verbose` lists them")
        );
        assert_eq!(of_errors(&[]), Vec::<String>::new());
    }

    #[test]
    fn exclusions_and_refusals_are_grouped() {
        let excluded = |filename: &str, rule: &str| Excluded { filename: filename.into(), rule: rule.into() };
        let warning = |code: &str, subject: Option<&str>| Warning {
            code: code.to_string(),
            message: "made up".to_string(),
            source: Some("codehost".to_string()),
            subject: subject.map(str::to_string),
        };
        let collection = Collection {
            excluded: vec![excluded("a", "github-token"), excluded("b", "x"), excluded("c", "github-token")],
            warnings: vec![warning("permission_denied", None), warning("possible_secret", None)],
            lacking: true,
            ..Collection::default()
        };
        let lines = of_collection(&collection, &[], &[]);
        let remedy = "Remove the secret where it is stored, revoke it, and collect again.";
        assert_eq!(
            lines,
            [
                format!("left out as forbidden data (rule github-token): 2 (a, c). {remedy}"),
                format!("left out as forbidden data (rule x): b. {remedy}"),
                "codehost: made up".to_string(),
            ]
        );
        assert!(of_collection(&Collection::default(), &[], &[]).is_empty());
    }
}
