//! The text of a dry run.

use evidence_bundle::document::RateLimitRecord;
use jiff::Timestamp;

use super::format::duration;
use super::style::{BOLD, RED, YELLOW};
use crate::observation::SourceName;
use crate::source::{ConnectError, Plan, Scope};
use evidence_rules::framework::Framework;
use evidence_rules::rule::Rule;
use evidence_text::{bytes, counted, thousands};

/// The plan of a collection, as the dry run prints it. `safe` screens text from a host.
pub(super) fn text(
    framework: &Framework,
    plans: &[(SourceName, Result<Plan, ConnectError>)],
    missing: &[&Scope],
    max_size_bytes: u64,
    now: Timestamp,
    safe: &dyn Fn(&str) -> String,
) -> String {
    let mut text = format!("{BOLD}Dry run: nothing was collected, no bundle was written{BOLD:#}\n");
    let mut total = 0;
    for (source, plan) in plans {
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                let scope = missing.iter().find(|scope| scope.source == *source);
                text.push_str(&not_planned(framework, error, scope.copied(), safe));
                continue;
            }
        };
        let kinds = plan
            .artifacts
            .iter()
            .map(|(kind, count)| format!("{} {kind}", thousands(*count)))
            .collect::<Vec<_>>()
            .join(", ");
        text.push_str(&format!(
            "  {:<9} {:<14} up to {}: {kinds}\n",
            source.id(),
            "artifacts",
            thousands(plan.artifact_count())
        ));
        for lacking in &plan.lacking {
            let line = format!("  {:<9} {YELLOW}{:<14}{YELLOW:#} {}\n", "", "not readable", safe(lacking));
            text.push_str(&line);
        }
        for unlisted in &plan.unlisted {
            let line = format!("  {:<9} {YELLOW}{:<14}{YELLOW:#} {}\n", "", "not listed", safe(unlisted));
            text.push_str(&line);
        }
        for missing in &plan.missing {
            let line = format!("  {:<9} {RED}{:<14}{RED:#} {}\n", "", "missing", safe(missing));
            text.push_str(&line);
        }
        let requests = range(plan.requests_minimum, plan.requests_maximum);
        let left = rate_text(plan.rate_limit.as_ref()).unwrap_or_else(|| "no limit".to_string());
        text.push_str(&format!("  {:<9} {:<14} {requests}; {left}\n", "", "requests"));
        if plan.requests_free > 0 {
            let counted = range(
                plan.requests_minimum.saturating_sub(plan.requests_free),
                plan.requests_maximum.saturating_sub(plan.requests_free),
            );
            let free = thousands(plan.requests_free);
            let line = format!(
                "  {:<9} {:<14} {free} if nothing has changed; {counted} count towards the limit\n",
                "", "free"
            );
            text.push_str(&line);
        }
        if plan.taken_over > 0 {
            let answers = counted(plan.taken_over, "answer", "answers");
            let line = format!("  {:<9} {:<14} {answers} of the interrupted run\n", "", "resumed");
            text.push_str(&line);
        }
        text.push_str(&format!("  {:<9} {:<14} {}\n", "", "time", finish_text(plan, now)));
        total += plan.estimated_bytes;
    }
    let over = if total > max_size_bytes {
        format!(", {YELLOW}over the limit of{YELLOW:#}")
    } else {
        ", limit".into()
    };
    text.push_str(&format!(
        "  {:<9} {:<14} about {}{over} {}\n",
        "bundle",
        "size",
        bytes(total),
        bytes(max_size_bytes)
    ));
    text
}

/// What a bundle would lack from a source without a plan.
fn not_planned(
    framework: &Framework,
    error: &ConnectError,
    scope: Option<&Scope>,
    safe: &dyn Fn(&str) -> String,
) -> String {
    let source = error.source.id();
    let message = safe(&error.message);
    let what = if scope.is_some() { "not connected" } else { "not planned" };
    let mut text = format!("  {source:<9} {RED}{what:<14}{RED:#} {message}\n");
    for help in &error.help {
        text.push_str(&format!("  {:<9} {:<14} {}\n", "", "help", safe(help)));
    }
    let rules = scope.map(|scope| scope.rules.as_slice()).unwrap_or_default();
    let named = |rule: &&'static Rule| {
        let control = framework.control_of(rule).map_or("", |control| control.id);
        format!("{control} {}", rule.code)
    };
    let missing: Vec<String> = rules.iter().map(named).collect();
    if !missing.is_empty() {
        let line = format!("  {:<9} {:<14} {}, all not verifiable\n", "", "missing", missing.join(", "));
        text.push_str(&line);
    }
    text
}

/// `12 to 22`
fn range(least: u64, most: u64) -> String {
    if least == most { thousands(least) } else { format!("{} to {}", thousands(least), thousands(most)) }
}

/// When the requests would finish, given the pace and the host's limit.
fn finish_text(plan: &Plan, now: Timestamp) -> String {
    let forecast = crate::forecast::finish(plan, now);
    match forecast.windows {
        0 => format!("about {}", duration(forecast.after)),
        windows => {
            let at = now.checked_add(forecast.after).map(|at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string());
            let waits = counted(windows, "wait", "waits");
            format!(
                "about {}, done at {}, {waits} for the limit",
                duration(forecast.after),
                at.unwrap_or_default()
            )
        }
    }
}

pub(super) fn rate_text(rate: Option<&RateLimitRecord>) -> Option<String> {
    let rate = rate?;
    let reset = rate.reset.split('T').nth(1).unwrap_or(&rate.reset);
    Some(format!("{} of {} remaining, resets {reset}", thousands(rate.remaining), thousands(rate.limit)))
}
