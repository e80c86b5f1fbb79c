//! The text of a dry run.

use evidence_bundle::document::RateLimitRecord;
use jiff::Timestamp;

use super::ending::time;
use super::style::{BOLD, RED, Style, YELLOW};
use super::wait::whole_seconds;
use crate::forecast::{self, Range};
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
        let range = forecast::of(plan, now);
        text.push(&row("", "time", &time_text(&range)));
        if range.usual.waits > 0 {
            let waits = counted(range.usual.waits, "wait", "waits");
            let at = Safe::of(&time(range.usual.done, now));
            text.push(&row("", "", &safe!("done about {at}, {waits} for the limit"; at, waits)));
        }
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

/// `about 3 s`, `usually 3 h 00 min (2 h 00 min to 7 h 00 min)`
fn time_text(range: &Range) -> Safe {
    let [least, usual, most] = [range.least, range.usual, range.most]
        .map(|forecast| duration(whole_seconds(forecast.after).as_secs()));
    if least.as_str() == most.as_str() {
        return safe!("about {usual}"; usual);
    }
    safe!("usually {usual} ({least} to {most})"; usual, least, most)
}

pub(super) fn rate_text(rate: Option<&RateLimitRecord>) -> Option<Safe> {
    let rate = rate?;
    let reset = Safe::of(rate.reset.split('T').nth(1).unwrap_or(&rate.reset));
    Some(safe!("{} of {} remaining, resets {reset}", thousands(rate.remaining), thousands(rate.limit); reset))
}
