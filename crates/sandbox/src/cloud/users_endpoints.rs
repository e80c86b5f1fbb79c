//! The credential report: made on request, and then read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::refusal::Refusal;
use super::state::Cloud;
use super::users::{COLUMNS, ReportRow};
use super::wire::{Service, Xml};
use crate::clock::iso_date;

/// `GenerateCredentialReport`: the first answers say that the provider is at work.
pub(super) fn generate(asked: u32, cloud: &Cloud, request_id: &str) -> String {
    let state = match asked {
        asked if asked > cloud.report_after => "COMPLETE",
        1 => "STARTED",
        _ => "INPROGRESS",
    };
    Xml::answer(Service::Iam, "GenerateCredentialReport", request_id, |xml| {
        xml.text("State", state);
        if state == "STARTED" {
            xml.text("Description", "No report exists. Starting a new report generation task");
        }
    })
}

/// A cell as the report has it: `7 days ago` is that time.
fn shown(cell: &str, now: i64) -> String {
    match cell.strip_suffix(" days ago").and_then(|days| days.parse::<i64>().ok()) {
        Some(days) => iso_date(now.saturating_sub(days.saturating_mul(24 * 60 * 60))).replace('Z', "+00:00"),
        None => cell.to_owned(),
    }
}

/// `GetCredentialReport`, once it is complete.
pub(super) fn report(asked: u32, cloud: &Cloud, now: i64, request_id: &str) -> Result<String, Refusal> {
    if asked == 0 {
        return Err(Refusal::own(410, "ReportNotPresent", "No report exists"));
    }
    if asked <= cloud.report_after {
        return Err(Refusal::own(404, "ReportInProgress", "Report generation is in progress"));
    }
    let quoted = |cell: String| match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    let mut text = format!("{}\n", COLUMNS.join(","));
    for ReportRow(cells) in &cloud.report {
        text.push_str(&cells.iter().map(|cell| quoted(shown(cell, now))).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    Ok(Xml::answer(Service::Iam, "GetCredentialReport", request_id, |xml| {
        xml.text("Content", &BASE64.encode(text));
        xml.text("ReportFormat", "text/csv");
        xml.text("GeneratedTime", &iso_date(now));
    }))
}
