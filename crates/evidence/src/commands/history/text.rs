//! A period for a terminal. What is not covered comes first.

use evidence_text::{saturating_u64, thousands};
use evidence_view::history::{Change, Ended, Exception, History};
use evidence_view::{sanitized, words};

use crate::report::style::{BOLD, DIM, GREEN, RED, YELLOW};

/// How many failures, and how many changes of the population, are listed.
const LISTED: usize = 50;

pub(super) fn text(history: &History) -> String {
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {}  {} to {}\n\n{BOLD}Not covered{BOLD:#}\n",
        sanitized(&history.organization),
        sanitized(&history.framework),
        history.from,
        history.to
    );
    for line in history.not_covered() {
        text.push_str(&format!("  {YELLOW}{line}{YELLOW:#}\n"));
    }
    text.push_str(&format!("\n{BOLD}Covered{BOLD:#}\n  {}\n", history.covered()));
    for (coverage, rule) in history.coverage.rules.iter().zip(&history.rules) {
        let style = if coverage.covered == coverage.expected { GREEN } else { YELLOW };
        text.push_str(&format!(
            "  {:<6} {:<36} {style}{} of {}{style:#}\n",
            sanitized(&rule.control),
            format!("{} {}", sanitized(&rule.source), sanitized(&rule.rule)),
            thousands(saturating_u64(coverage.covered)),
            history.intervals(coverage.expected),
        ));
    }
    text.push_str(&format!("\n{BOLD}Failures{BOLD:#}\n  {}\n", history.failures()));
    for exception in history.exceptions.iter().take(LISTED) {
        text.push_str(&failure(exception));
    }
    text.push_str(&more(history.exceptions.len()));
    if !history.population.is_empty() {
        text.push_str(&format!("\n{BOLD}Population{BOLD:#}\n"));
    }
    for change in history.population.iter().take(LISTED) {
        let was = change.was.as_deref().map(|was| format!(", was {}", sanitized(was))).unwrap_or_default();
        let word = change.change.replace('_', " ");
        text.push_str(&format!("  {}  {word:<12}  {}{was}\n", change.date, sanitized(&change.name)));
    }
    text.push_str(&more(history.population.len()));
    text.push_str(&format!("\n{BOLD}Changes{BOLD:#}\n  {}\n", history.same()));
    for Change { time, change, was, is } in history.changes.iter().take(LISTED) {
        let (was, is) = (sanitized(was), sanitized(is));
        text.push_str(&format!("  {time}  {change}\n    was  {was}\n    is   {is}\n"));
    }
    text.push_str(&more(history.changes.len()));
    text.push_str(&format!("\n{BOLD}Keys{BOLD:#}\n"));
    for key in &history.keys {
        let bundles = words::counted(key.bundles, "bundle");
        text.push_str(&format!("  {}\n    {} to {}, {bundles}\n", key.key_id, key.first, key.last));
    }
    let inputs = words::counted(saturating_u64(history.inputs.len()), "bundle");
    text.push_str(&format!("\n{inputs}. {}\n", History::LIMITS));
    text
}

fn failure(exception: &Exception) -> String {
    let Exception { number, control, subject, reason, began, ended, bundles, .. } = exception;
    let style = if *ended == Ended::Repaired { YELLOW } else { RED };
    let shown = words::counted(*bundles, "bundle");
    let mut text = format!(
        "  {DIM}{number}{DIM:#}  {:<6} {style}{}: {}{style:#}\n",
        sanitized(control),
        sanitized(subject),
        sanitized(&words::reason(reason))
    );
    let duration = exception.duration_words();
    text.push_str(&format!("                {}, {}, {duration}, in {shown}\n", began.words(), ended.words()));
    let pass = |time: &Option<String>| time.clone().unwrap_or_else(|| "not seen".to_string());
    text.push_str(&format!(
        "                last pass {}, fails {} to {}, first pass {}\n",
        pass(&exception.last_pass),
        exception.first_fail,
        exception.last_fail,
        pass(&exception.first_pass)
    ));
    text
}

fn more(count: usize) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("  and {} more: --json or --output lists all\n", thousands(saturating_u64(more))),
    }
}
