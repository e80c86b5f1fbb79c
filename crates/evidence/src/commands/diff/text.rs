//! The differences for a terminal: the context first.

use evidence_bundle::Status;
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::diff::{
    CLASSES, CheckChange, ContextChange, Diff, Head, Outcome, WaiverChange, WaiverTerms,
};
use evidence_view::words;

use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};

/// How many checks of a class are listed.
const LISTED: usize = 50;

pub(super) fn text(diff: &Diff) -> Safe {
    let Diff { from, to, context, renamed, checks, waivers, artifacts, controls, .. } = diff;
    let mut text = safe!(
        "{BOLD}from{BOLD:#}  {}\n{BOLD}to{BOLD:#}    {}\n      {}\n",
        head(from),
        head(to),
        Safe::of(&diff.distance());
        BOLD
    );
    text.push(&contexts(context));
    if !renamed.is_empty() {
        text.push(&safe!("\n{BOLD}Renamed{BOLD:#}\n"; BOLD));
    }
    for one in renamed {
        text.push(&safe!("  {} is now {}\n", Safe::cut(&one.was), Safe::cut(&one.is)));
    }
    text.push(&changes(checks, diff.unchanged));
    text.push(&waived(waivers));
    let count = |paths: &[String]| thousands(saturating_u64(paths.len()));
    text.push(&safe!(
        "Artifacts: {} added, {} removed, {} changed\n",
        count(&artifacts.added),
        count(&artifacts.removed),
        count(&artifacts.changed)
    ));
    for control in controls {
        let (from, to) = (Safe::of(&words::checks(control.from)), Safe::of(&words::checks(control.to)));
        let arrow = if from == to { Safe::default() } else { safe!(" -> {to}"; to) };
        text.push(&safe!("{:<6} {from}{arrow}\n", Safe::cut(&control.control); from, arrow));
    }
    text
}

/// The waivers that differ.
fn waived(waivers: &[WaiverChange]) -> Safe {
    let mut text = Safe::default();
    if !waivers.is_empty() {
        text.push(&safe!("\n{BOLD}Waivers{BOLD:#}  {DIM}they change no result{DIM:#}\n"; BOLD, DIM));
    }
    for one in waivers {
        let terms = |terms: &Option<WaiverTerms>| match terms {
            None => "not listed".into(),
            Some(terms) => Safe::cut(&terms.words()),
        };
        let (id, change) = (Safe::cut(&one.id), one.words());
        let (was, is) = (terms(&one.from), terms(&one.to));
        text.push(&safe!(
            "  {YELLOW}{id}{YELLOW:#}  {change}\n    was  {was}\n    is   {is}\n";
            YELLOW, id, change, was, is
        ));
    }
    if !waivers.is_empty() {
        text.push(&"\n".into());
    }
    text
}

/// What differs although it is not a result.
pub(in crate::commands) fn contexts(context: &[ContextChange]) -> Safe {
    let mut text = Safe::default();
    if !context.is_empty() {
        text.push(&safe!("\n{BOLD}Context{BOLD:#}\n"; BOLD));
    }
    for ContextChange { change, was, is } in context {
        let (change, was, is) = (Safe::of(change), Safe::cut(was), Safe::cut(is));
        text.push(&safe!(
            "  {YELLOW}{change}{YELLOW:#}\n    was  {was}\n    is   {is}\n";
            YELLOW, change, was, is
        ));
    }
    text
}

/// The checks that differ, by class.
pub(in crate::commands) fn changes(checks: &[CheckChange], unchanged: u64) -> Safe {
    let mut text = Safe::default();
    for (_, class, heading) in CLASSES {
        let listed: Vec<&CheckChange> = checks.iter().filter(|check| check.class == class).collect();
        if listed.is_empty() {
            continue;
        }
        let count = counted(saturating_u64(listed.len()), "check", "checks");
        text.push(&safe!("\n{BOLD}{heading}{BOLD:#}  {DIM}{count}{DIM:#}\n"; BOLD, heading, DIM, count));
        for check in listed.iter().take(LISTED) {
            let (subject, rule) = (Safe::cut(&check.subject), Safe::cut(&check.rule));
            let control = Safe::cut(&check.control);
            text.push(&safe!("  {control:<6} {subject}  {DIM}{rule}{DIM:#}\n"; control, subject, DIM, rule));
            text.push(&safe!("         {} -> {}\n", outcome(&check.from), outcome(&check.to)));
        }
        let more = listed.len().saturating_sub(LISTED);
        if more > 0 {
            text.push(&safe!("  and {} more: --json lists all\n", thousands(saturating_u64(more))));
        }
    }
    let same = counted(unchanged, "check is", "checks are");
    text.push(&match checks.is_empty() {
        true => safe!("\n{GREEN}No check differs{GREEN:#}; {same} the same\n"; GREEN, same),
        false => safe!("\n{same} the same\n"; same),
    });
    text
}

fn head(head: &Head) -> Safe {
    let complete =
        if head.complete { Safe::default() } else { safe!("  {YELLOW}incomplete{YELLOW:#}"; YELLOW) };
    safe!("{}  bundle {}{complete}", Safe::of(&head.created_at), Safe::cut(&head.bundle_id); complete)
}

/// The result of a check, or that there is none.
fn outcome(outcome: &Option<Outcome>) -> Safe {
    match outcome {
        None => "no check".into(),
        Some(Outcome { status, reason, waiver }) => {
            let style = of_status(*status);
            let word = words::label(*status).word;
            let why = match status {
                Status::Pass => Safe::default(),
                _ => safe!(" ({})", Safe::cut(&words::reason(reason))),
            };
            let waiver = waiver.as_deref().map(|id| safe!(", waiver {}", Safe::cut(id))).unwrap_or_default();
            safe!("{style}{word}{style:#}{why}{waiver}"; style, word, why, waiver)
        }
    }
}
