//! The differences as tables for a ticket or a wiki.

use evidence_view::diff::{CLASSES, CheckChange, Diff, Outcome};
use evidence_view::words;

use super::super::show::plain;

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
    for one in context {
        text.push_str(&format!("- {}: was {}; is {}\n", plain(one.change), plain(&one.was), plain(&one.is)));
    }
    for one in renamed {
        text.push_str(&format!("- Renamed: {} is now {}\n", plain(&one.was), plain(&one.is)));
    }
    for (_, class, heading) in CLASSES {
        let listed: Vec<&CheckChange> = checks.iter().filter(|check| check.class == class).collect();
        if listed.is_empty() {
            continue;
        }
        text.push_str(&format!(
            "\n## {heading}\n\n| Control | Subject | Rule | Was | Is |\n|---|---|---|---|---|\n"
        ));
        for check in listed {
            let [control, subject, rule] =
                [&check.control, &check.subject, &check.rule].map(|cell| plain(cell));
            let (was, is) = (outcome(&check.from), outcome(&check.to));
            text.push_str(&format!("| {control} | {subject} | {rule} | {was} | {is} |\n"));
        }
    }
    if !waivers.is_empty() {
        text.push_str(
            "\n## Waivers, which change no result\n\n| Waiver | Change | Was | Is |\n|---|---|---|---|\n",
        );
    }
    for one in waivers {
        let [was, is] = [&one.from, &one.to].map(|terms| match terms {
            None => "not listed".to_string(),
            Some(terms) => plain(&terms.words()).to_string(),
        });
        text.push_str(&format!("| {} | {} | {was} | {is} |\n", plain(&one.id), one.words()));
    }
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

fn outcome(outcome: &Option<Outcome>) -> String {
    match outcome {
        None => "no check".to_string(),
        Some(Outcome { status, reason, waiver }) => {
            let waiver = waiver.as_deref().map(|id| format!(", waiver {}", plain(id))).unwrap_or_default();
            format!("{}: {}{waiver}", words::label(*status).word, plain(&words::reason(reason)))
        }
    }
}
