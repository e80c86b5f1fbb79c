//! The page of a period, in the form of the report. It shows a bounded part of long lists; the tables have all of them.

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::Status;
use evidence_bundle::text::saturating_u64;
use evidence_view::history::{
    Change, Ended, Exception, History, Input, PopulationChange, RuleCoverage, RuleDay, RuleDays, letter, span,
};
use evidence_view::{sanitized, words};

use crate::template;

/// How many rows of a list are shown.
const LISTED: usize = 500;
/// The days up to which a cell is a day.
const DAYS_SHOWN: usize = 93;

#[derive(Template)]
#[template(path = "period.html")]
struct Page<'a> {
    history: &'a History,
    organization: String,
    framework: String,
    bundles: String,
    covered: String,
    not_covered: Vec<String>,
    /// Whether every interval has a complete bundle.
    whole: bool,
    gap: String,
    failures: String,
    same: String,
    cell: &'static str,
    controls: Vec<ControlStrips>,
    listed: Vec<Failure>,
    more_failures: u64,
    population: Vec<ChangeRow>,
    more_population: u64,
    changes: Vec<ChangeRow>,
    more_changes: u64,
    inputs: Vec<InputRow>,
    more_inputs: u64,
}

struct ControlStrips {
    id: String,
    rules: Vec<Strip>,
}

struct Strip {
    title: String,
    source: String,
    code: String,
    covered: String,
    summary: String,
    cells: Vec<Cell>,
}

struct Cell {
    code: &'static str,
    letter: char,
    title: String,
}

struct Failure {
    number: String,
    subject: String,
    reason: String,
    control: String,
    rule: String,
    tone: &'static str,
    sign: &'static str,
    ended: &'static str,
    began: &'static str,
    last_pass: String,
    first_fail: String,
    last_fail: String,
    first_pass: String,
    duration: String,
    bundles: String,
}

/// A change: what it is called now, and what before.
struct ChangeRow {
    date: String,
    change: String,
    name: String,
    was: Option<String>,
}

struct InputRow {
    created_at: String,
    bundle_id: String,
    checksums_sha256: String,
    notes: String,
}

/// Writes the page of a period.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn period(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let dates = history.dates();
    let by_day = dates.len() <= DAYS_SHOWN;
    let coverage = &history.coverage;
    let page = Page {
        organization: sanitized(&history.organization),
        framework: sanitized(&history.framework),
        bundles: words::counted(saturating_u64(history.inputs.len()), "bundle"),
        covered: history.covered(),
        not_covered: history.not_covered().iter().map(|line| capitalized(line)).collect(),
        whole: coverage.complete == coverage.expected,
        gap: span(history.longest_gap.seconds),
        failures: capitalized(&history.failures()),
        same: sanitized(&history.same()),
        cell: if by_day { "a day" } else { "seven days" },
        controls: controls(history, &dates, if by_day { 1 } else { 7 }),
        listed: history.exceptions.iter().take(LISTED).map(failure).collect(),
        more_failures: more(history.exceptions.len()),
        population: history.population.iter().take(LISTED).map(population).collect(),
        more_population: more(history.population.len()),
        changes: history.changes.iter().take(LISTED).map(change).collect(),
        more_changes: more(history.changes.len()),
        inputs: history.inputs.iter().take(LISTED).map(input).collect(),
        more_inputs: more(history.inputs.len()),
        history,
    };
    template::write(&page, out)
}

fn controls(history: &History, dates: &[String], days: usize) -> Vec<ControlStrips> {
    let mut controls: Vec<ControlStrips> = Vec::new();
    for (rule, coverage) in history.rules.iter().zip(&history.coverage.rules) {
        let strip = strip(history, rule, coverage, dates, days);
        let id = sanitized(&rule.control);
        match controls.last_mut() {
            Some(last) if last.id == id => last.rules.push(strip),
            _ => controls.push(ControlStrips { id, rules: vec![strip] }),
        }
    }
    controls
}

fn strip(
    history: &History,
    rule: &RuleDays,
    coverage: &RuleCoverage,
    dates: &[String],
    days: usize,
) -> Strip {
    let cells = rule.days.chunks(days).zip(dates.chunks(days)).map(|(days, dates)| cell(days, dates));
    let count =
        |result: Option<Status>| saturating_u64(rule.days.iter().filter(|day| day.result == result).count());
    let parts = [
        (count(Some(Status::Fail)), "with a failure"),
        (count(Some(Status::NotVerifiable)), "not verifiable"),
        (count(None), "without a bundle"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> =
        parts.map(|(count, word)| format!("{} {word}", words::counted(*count, "day"))).collect();
    Strip {
        title: sanitized(&words::rule(&rule.rule)),
        source: sanitized(&rule.source),
        code: sanitized(&rule.rule),
        covered: format!(
            "{} of {}",
            words::grouped(saturating_u64(coverage.covered)),
            history.intervals(coverage.expected)
        ),
        summary: if parts.is_empty() { String::new() } else { format!("{}.", parts.join(", ")) },
        cells: cells.collect(),
    }
}

/// The worst result of these days; a day without a bundle counts only if all are without one.
fn cell(days: &[RuleDay], dates: &[String]) -> Cell {
    let worst = days.iter().filter_map(|day| day.result).min_by_key(|status| status.urgency());
    let title = match dates {
        [] => String::new(),
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
    };
    Cell { code: worst.map_or("none", Status::as_str), letter: letter(worst), title }
}

fn failure(exception: &Exception) -> Failure {
    let pass = |time: &Option<String>| time.clone().unwrap_or_else(|| "not seen in the period".to_owned());
    let is_repaired = exception.ended == Ended::Repaired;
    Failure {
        number: exception.number.clone(),
        subject: sanitized(&exception.subject),
        reason: sanitized(&words::reason(&exception.reason)),
        control: sanitized(&exception.control),
        rule: sanitized(&exception.rule),
        tone: if is_repaired { "pass" } else { "fail" },
        sign: if is_repaired { "✓" } else { "✕" },
        ended: exception.ended.words(),
        began: exception.began.words(),
        last_pass: pass(&exception.last_pass),
        first_fail: exception.first_fail.clone(),
        last_fail: exception.last_fail.clone(),
        first_pass: pass(&exception.first_pass),
        duration: exception.duration_words(),
        bundles: words::counted(exception.bundles, "bundle"),
    }
}

fn population(change: &PopulationChange) -> ChangeRow {
    ChangeRow {
        date: change.date.clone(),
        change: change.change.replace('_', " "),
        name: sanitized(&change.name),
        was: change.was.as_deref().map(sanitized),
    }
}

fn change(change: &Change) -> ChangeRow {
    ChangeRow {
        date: change.time.clone(),
        change: change.change.to_owned(),
        name: sanitized(&change.is),
        was: Some(sanitized(&change.was)),
    }
}

fn input(input: &Input) -> InputRow {
    let notes = [
        (!input.complete, "incomplete"),
        (input.fixed_time, "fixed time"),
        (input.back_dated, "back-dated: covers no day"),
    ];
    let notes: Vec<&str> = notes.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    InputRow {
        created_at: input.created_at.clone(),
        bundle_id: sanitized(&input.bundle_id),
        checksums_sha256: input.checksums_sha256.clone(),
        notes: notes.join(", "),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn more(count: usize) -> u64 {
    saturating_u64(count.saturating_sub(LISTED))
}
