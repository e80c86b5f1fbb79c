//! A period for a terminal. What is not covered comes first.

use evidence_text::shown::thousands;
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::history::{Change, Ended, Exception, History};
use evidence_view::words;

use crate::report::style::{BOLD, DIM, GREEN, RED, YELLOW};

/// How many failures, and how many changes of the population, are listed.
const LISTED: usize = 50;
/// The width of the lines about a waiver.
const WIDTH: usize = 84;

pub(super) fn text(history: &History) -> Safe {
    let mut text = safe!(
        "{BOLD}{}{BOLD:#}  {}  {} to {}\n\n{BOLD}Not covered{BOLD:#}\n",
        Safe::cut(&history.organization),
        Safe::cut(&history.framework),
        Safe::of(&history.from),
        Safe::of(&history.to);
        BOLD
    );
    for line in history.not_covered() {
        text.push(&safe!("  {YELLOW}{}{YELLOW:#}\n", Safe::of(&line); YELLOW));
    }
    text.push(&safe!("\n{BOLD}Covered{BOLD:#}\n  {}\n", Safe::of(&history.covered()); BOLD));
    for (coverage, rule) in history.coverage.rules.iter().zip(&history.rules) {
        let style = if coverage.covered == coverage.expected { GREEN } else { YELLOW };
        text.push(&safe!(
            "  {:<6} {:<36} {style}{} of {}{style:#}\n",
            Safe::cut(&rule.control),
            safe!("{} {}", Safe::cut(&rule.source), Safe::cut(&rule.rule)),
            thousands(saturating_u64(coverage.covered)),
            Safe::of(&history.intervals(coverage.expected));
            style
        ));
    }
    text.push(&safe!("\n{BOLD}Failures{BOLD:#}\n  {}\n", Safe::of(&history.failures()); BOLD));
    for line in [history.failing_days(), history.repaired(), history.waived()].into_iter().flatten() {
        text.push(&safe!("  {}\n", Safe::of(&line)));
    }
    for exception in history.exceptions.iter().take(LISTED) {
        text.push(&failure(history, exception));
    }
    text.push(&more(history.exceptions.len()));
    if !history.population.is_empty() || !history.population_sizes.is_empty() {
        text.push(&safe!("\n{BOLD}Population{BOLD:#}\n"; BOLD));
    }
    for size in &history.population_sizes {
        let (date, source) = (Safe::of(size.day()), Safe::cut(&size.source));
        let sentence = Safe::of(&size.sentence);
        text.push(&safe!("  {date}  {source:<12}  {sentence}\n"; date, source, sentence));
    }
    for change in history.population.iter().take(LISTED) {
        let was = change.was.as_deref().map(|was| safe!(", was {}", Safe::cut(was))).unwrap_or_default();
        let word = Safe::of(&change.change.replace('_', " "));
        let (date, name) = (Safe::of(&change.date), Safe::cut(&change.name));
        text.push(&safe!("  {date}  {word:<12}  {name}{was}\n"; date, word, name, was));
    }
    text.push(&more(history.population.len()));
    text.push(&safe!("\n{BOLD}Changes{BOLD:#}\n  {}\n", Safe::of(&history.same()); BOLD));
    for Change { time, change, was, is } in history.changes.iter().take(LISTED) {
        let (time, change) = (Safe::of(time), Safe::of(change));
        let (was, is) = (Safe::cut(was), Safe::cut(is));
        text.push(&safe!(
            "  {time}  {change}\n    was  {was}\n    is   {is}\n";
            time, change, was, is
        ));
    }
    text.push(&more(history.changes.len()));
    text.push(&safe!("\n{BOLD}Keys{BOLD:#}\n"; BOLD));
    for key in &history.keys {
        let bundles = Safe::of(&words::counted(key.bundles, "bundle"));
        let (id, first, last) = (Safe::of(&key.key_id), Safe::of(&key.first), Safe::of(&key.last));
        text.push(&safe!("  {id}\n    {first} to {last}, {bundles}\n"; id, first, last, bundles));
    }
    let inputs = Safe::of(&words::counted(saturating_u64(history.inputs.len()), "bundle"));
    text.push(&safe!("\n{inputs}. {}\n", History::LIMITS; inputs));
    text
}

fn failure(history: &History, exception: &Exception) -> Safe {
    let Exception { number, control, subject, reason, began, ended, bundles, .. } = exception;
    let style = if *ended == Ended::Repaired { YELLOW } else { RED };
    let shown = Safe::of(&words::counted(*bundles, "bundle"));
    let mut text = safe!(
        "  {DIM}{}{DIM:#}  {:<6} {style}{}: {}{style:#}\n",
        Safe::of(number),
        Safe::cut(control),
        Safe::cut(subject),
        Safe::cut(&words::reason(reason));
        DIM, style
    );
    let duration = Safe::of(&exception.duration_words());
    text.push(&safe!(
        "                {}, {}, {duration}, in {shown}\n",
        began.words(),
        ended.words();
        duration, shown
    ));
    if let Some(unseen) = history.unseen(exception) {
        text.push(&safe!("                {YELLOW}{}{YELLOW:#}\n", Safe::of(&unseen); YELLOW));
    }
    let pass = |time: &Option<String>| Safe::of(time.as_deref().unwrap_or("not seen"));
    text.push(&safe!(
        "                last pass {}, fails {} to {}, first pass {}\n",
        pass(&exception.last_pass),
        Safe::of(&exception.first_fail),
        Safe::of(&exception.last_fail),
        pass(&exception.first_pass)
    ));
    for waiver in &exception.waivers {
        for line in Safe::cut(&waiver.words(exception.bundles)).filled(WIDTH) {
            text.push(&safe!("                {YELLOW}{line}{YELLOW:#}\n"; YELLOW, line));
        }
    }
    text
}

fn more(count: usize) -> Safe {
    match count.saturating_sub(LISTED) {
        0 => Safe::default(),
        more => {
            safe!("  and {} more: --json or --output lists all\n", thousands(saturating_u64(more)))
        }
    }
}
