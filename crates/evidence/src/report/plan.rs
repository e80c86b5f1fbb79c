//! The text of a dry run.

use evidence_bundle::document::RateLimitRecord;
use jiff::Timestamp;

use super::style::{BOLD, RED, Style, YELLOW};
use crate::observation::SourceName;
use crate::source::{ConnectError, Plan, Scope};
use evidence_rules::framework::Framework;
use evidence_rules::rule::Rule;
use evidence_text::shown::{bytes, counted, duration, thousands};
use evidence_text::{Safe, safe};

/// The plan of a collection, as the dry run prints it. `clean` screens text from a host.
pub(super) fn text(
    framework: &Framework,
    plans: &[(SourceName, Result<Plan, ConnectError>)],
    missing: &[&Scope],
    max_size_bytes: u64,
    now: Timestamp,
    clean: &dyn Fn(&str) -> Safe,
) -> Safe {
    let mut text = safe!("{BOLD}Dry run: nothing was collected, no bundle was written{BOLD:#}\n"; BOLD);
    let mut total = 0;
    for (source, plan) in plans {
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                let scope = missing.iter().find(|scope| scope.source == *source);
                text.push(&not_planned(framework, error, scope.copied(), clean));
                continue;
            }
        };
        let kinds = plan.artifacts.iter().map(|(kind, count)| safe!("{} {}", thousands(*count), *kind));
        let (count, kinds) = (thousands(plan.artifact_count()), Safe::joined(kinds, ", "));
        let artifacts = safe!("up to {count}: {kinds}"; count, kinds);
        text.push(&row(source.id(), "artifacts", &artifacts));
        let gaps = [
            (&plan.unreadable, "not readable", YELLOW),
            (&plan.omitted, "not listed", YELLOW),
            (&plan.failed, "missing", RED),
        ];
        for (lines, label, style) in gaps {
            for line in lines {
                text.push(&styled("", (label, style), &clean(line)));
            }
        }
        let requests = range(plan.requests_minimum, plan.requests_maximum);
        let left = rate_text(plan.rate_limit.as_ref()).unwrap_or("no limit".into());
        text.push(&row("", "requests", &safe!("{requests}; {left}"; requests, left)));
        if plan.requests_free > 0 {
            let counted = range(
                plan.requests_minimum.saturating_sub(plan.requests_free),
                plan.requests_maximum.saturating_sub(plan.requests_free),
            );
            let free = thousands(plan.requests_free);
            let line =
                safe!("{free} if nothing has changed; {counted} count towards the limit"; free, counted);
            text.push(&row("", "free", &line));
        }
        if plan.resumed > 0 {
            let answers = counted(plan.resumed, "answer", "answers");
            text.push(&row("", "resumed", &safe!("{answers} of the interrupted run"; answers)));
        }
        text.push(&row("", "time", &finish_text(plan, now)));
        total += plan.estimated_bytes;
    }
    let over = match total > max_size_bytes {
        true => safe!(", {YELLOW}over the limit of{YELLOW:#}"; YELLOW),
        false => ", limit".into(),
    };
    let size = safe!("about {}{over} {}", bytes(total), bytes(max_size_bytes); over);
    text.push(&row("bundle", "size", &size));
    text
}

/// `  codehost  requests       12 to 22`
fn row(source: &'static str, label: &'static str, text: &Safe) -> Safe {
    safe!("  {source:<9} {label:<14} {text}\n"; source, label, text)
}

fn styled(source: &'static str, (label, style): (&'static str, Style), text: &Safe) -> Safe {
    safe!("  {source:<9} {style}{label:<14}{style:#} {text}\n"; source, style, label, text)
}

/// What a bundle would lack from a source without a plan.
fn not_planned(
    framework: &Framework,
    error: &ConnectError,
    scope: Option<&Scope>,
    clean: &dyn Fn(&str) -> Safe,
) -> Safe {
    let source = error.source.id();
    let what = if scope.is_some() { "not connected" } else { "not planned" };
    let mut text = styled(source, (what, RED), &clean(&error.message));
    for help in &error.help {
        text.push(&row("", "help", &clean(help)));
    }
    let rules = scope.map(|scope| scope.rules.as_slice()).unwrap_or_default();
    let named = |rule: &&'static Rule| {
        let control = framework.control_of(rule).map_or("", |control| control.id);
        safe!("{control} {}", rule.code; control)
    };
    if !rules.is_empty() {
        let missing = Safe::joined(rules.iter().map(named), ", ");
        text.push(&row("", "missing", &safe!("{missing}, all not verifiable"; missing)));
    }
    text
}

/// `12 to 22`
fn range(least: u64, most: u64) -> Safe {
    if least == most { thousands(least) } else { safe!("{} to {}", thousands(least), thousands(most)) }
}

/// When the requests would finish, given the pace and the host's limit.
fn finish_text(plan: &Plan, now: Timestamp) -> Safe {
    let forecast = crate::forecast::finish(plan, now);
    let after = duration(forecast.after.as_secs());
    match forecast.windows {
        0 => safe!("about {after}"; after),
        windows => {
            let at = now.checked_add(forecast.after).map(|at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string());
            let (at, waits) = (Safe::of(&at.unwrap_or_default()), counted(windows, "wait", "waits"));
            safe!("about {after}, done at {at}, {waits} for the limit"; after, at, waits)
        }
    }
}

pub(super) fn rate_text(rate: Option<&RateLimitRecord>) -> Option<Safe> {
    let rate = rate?;
    let reset = Safe::of(rate.reset.split('T').nth(1).unwrap_or(&rate.reset));
    Some(safe!("{} of {} remaining, resets {reset}", thousands(rate.remaining), thousands(rate.limit); reset))
}
