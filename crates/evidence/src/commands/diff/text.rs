//! The differences for a terminal: the context first.

use evidence_bundle::Status;
use evidence_text::{counted, saturating_u64, thousands};
use evidence_view::diff::{CLASSES, CheckChange, ContextChange, Diff, Head, Outcome};
use evidence_view::{sanitized, words};

use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};

/// How many checks of a class are listed.
const LISTED: usize = 50;

pub(super) fn text(diff: &Diff) -> String {
    let Diff { from, to, context, renamed, checks, artifacts, controls, .. } = diff;
    let mut text = format!(
        "{BOLD}from{BOLD:#}  {}\n{BOLD}to{BOLD:#}    {}\n      {}\n",
        head(from),
        head(to),
        diff.distance()
    );
    if !context.is_empty() {
        text.push_str(&format!("\n{BOLD}Context{BOLD:#}\n"));
    }
    for ContextChange { change, was, is } in context {
        let (was, is) = (sanitized(was), sanitized(is));
        text.push_str(&format!("  {YELLOW}{change}{YELLOW:#}\n    was  {was}\n    is   {is}\n"));
    }
    if !renamed.is_empty() {
        text.push_str(&format!("\n{BOLD}Renamed{BOLD:#}\n"));
    }
    for one in renamed {
        text.push_str(&format!("  {} is now {}\n", sanitized(&one.was), sanitized(&one.is)));
    }
    for (_, class, heading) in CLASSES {
        let listed: Vec<&CheckChange> = checks.iter().filter(|check| check.class == class).collect();
        if listed.is_empty() {
            continue;
        }
        let count = counted(saturating_u64(listed.len()), "check", "checks");
        text.push_str(&format!("\n{BOLD}{heading}{BOLD:#}  {DIM}{count}{DIM:#}\n"));
        for check in listed.iter().take(LISTED) {
            let (subject, rule) = (sanitized(&check.subject), sanitized(&check.rule));
            text.push_str(&format!("  {:<6} {subject}  {DIM}{rule}{DIM:#}\n", sanitized(&check.control)));
            text.push_str(&format!("         {} -> {}\n", outcome(&check.from), outcome(&check.to)));
        }
        let more = listed.len().saturating_sub(LISTED);
        if more > 0 {
            text.push_str(&format!("  and {} more: --json lists all\n", thousands(saturating_u64(more))));
        }
    }
    let same = counted(diff.unchanged, "check is", "checks are");
    text.push_str(&match checks.is_empty() {
        true => format!("\n{GREEN}No check differs{GREEN:#}; {same} the same\n"),
        false => format!("\n{same} the same\n"),
    });
    let count = |paths: &[String]| thousands(saturating_u64(paths.len()));
    text.push_str(&format!(
        "Artifacts: {} added, {} removed, {} changed\n",
        count(&artifacts.added),
        count(&artifacts.removed),
        count(&artifacts.changed)
    ));
    for control in controls {
        let (from, to) = (words::checks(control.from), words::checks(control.to));
        let arrow = if from == to { String::new() } else { format!(" -> {to}") };
        text.push_str(&format!("{:<6} {from}{arrow}\n", sanitized(&control.control)));
    }
    text
}

fn head(head: &Head) -> String {
    let complete = if head.complete { String::new() } else { format!("  {YELLOW}incomplete{YELLOW:#}") };
    format!("{}  bundle {}{complete}", head.created_at, sanitized(&head.bundle_id))
}

/// The result of a check, or that there is none.
fn outcome(outcome: &Option<Outcome>) -> String {
    match outcome {
        None => "no check".to_string(),
        Some(Outcome { status, reason }) => {
            let style = of_status(*status);
            let word = words::label(*status).word;
            let why = match status {
                Status::Pass => String::new(),
                _ => format!(" ({})", sanitized(&words::reason(reason))),
            };
            format!("{style}{word}{style:#}{why}")
        }
    }
}
