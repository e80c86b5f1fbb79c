//! The differences as tables for a ticket or a wiki.

use evidence_text::{Safe, safe};
use evidence_view::diff::{CLASSES, CheckChange, ContextChange, Diff, Outcome, WaiverChange, WaiverTerms};
use evidence_view::words;

use super::super::markdown::plain;

pub(super) fn text(diff: &Diff) -> String {
    let Diff { from, to, context, renamed, checks, waivers, artifacts, controls, .. } = diff;
    let mut text = format!(
        "# Changes between two bundles\n\n- From: {}, bundle {}\n- To: {}, bundle {}, {}\n",
        from.created_at,
        plain(&from.bundle_id),
        to.created_at,
        plain(&to.bundle_id),
        diff.distance()
    );
    text.push_str(contexts(context).as_str());
    for one in renamed {
        text.push_str(&format!("- Renamed: {} is now {}\n", plain(&one.was), plain(&one.is)));
    }
    text.push_str(changes(checks).as_str());
    text.push_str(waived(waivers).as_str());
    text.push_str(&format!(
        "\nUnchanged checks: {}. Artifacts: {} added, {} removed, {} changed.\n",
        words::grouped(diff.unchanged),
        artifacts.added.len(),
        artifacts.removed.len(),
        artifacts.changed.len()
    ));
    text.push_str("\n| Control | Was | Is |\n|---|---|---|\n");
    for control in controls {
        let (from, to) = (words::checks(control.from), words::checks(control.to));
        text.push_str(&format!("| {} | {} | {} |\n", plain(&control.control), plain(&from), plain(&to)));
    }
    text
}

/// What differs although it is not a result.
pub(in crate::commands) fn contexts(context: &[ContextChange]) -> Safe {
    let line =
        |one: &ContextChange| safe!("- {}: was {}; is {}\n", one.change, plain(&one.was), plain(&one.is));
    Safe::joined(context.iter().map(line), "")
}

/// The checks that differ, by class.
pub(in crate::commands) fn changes(checks: &[CheckChange]) -> Safe {
    let mut text = Safe::default();
    for (_, class, heading) in CLASSES {
        let listed: Vec<&CheckChange> = checks.iter().filter(|check| check.class == class).collect();
        if listed.is_empty() {
            continue;
        }
        text.push(&safe!(
            "\n## {heading}\n\n| Control | Subject | Rule | Was | Is |\n|---|---|---|---|---|\n"; heading
        ));
        for check in listed {
            let cells = [&check.control, &check.subject, &check.rule].map(|cell| plain(cell));
            let cells = cells.into_iter().chain([outcome(&check.from), outcome(&check.to)]);
            text.push(&safe!("| {} |\n", Safe::joined(cells, " | ")));
        }
    }
    text
}

/// The waivers that differ.
fn waived(waivers: &[WaiverChange]) -> Safe {
    let mut text = Safe::default();
    if !waivers.is_empty() {
        text.push(&safe!(
            "\n## Waivers, which change no result\n\n| Waiver | Change | Was | Is |\n|---|---|---|---|\n"
        ));
    }
    for one in waivers {
        let terms = |terms: &Option<WaiverTerms>| match terms {
            None => "not listed".into(),
            Some(terms) => plain(&terms.words()),
        };
        let cells = [plain(&one.id), one.words().into(), terms(&one.from), terms(&one.to)];
        text.push(&safe!("| {} |\n", Safe::joined(cells, " | ")));
    }
    text
}

fn outcome(outcome: &Option<Outcome>) -> Safe {
    match outcome {
        None => "no check".into(),
        Some(Outcome { status, reason, waiver }) => {
            let waiver = waiver.as_deref().map(|id| safe!(", waiver {}", plain(id))).unwrap_or_default();
            safe!("{}: {}{waiver}", words::label(*status).word, plain(&words::reason(reason)); waiver)
        }
    }
}
