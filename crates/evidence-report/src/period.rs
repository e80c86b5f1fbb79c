//! The page of a period, in the form of the report. It shows a bounded part of long lists; the tables have all of them.

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::Status;
use evidence_view::history::{
    Change, Ended, Exception, History, Input, PopulationChange, RuleCoverage, RuleDays, Run, StripCell,
    StripRow, letter, span,
};
use evidence_view::{sanitized, words};

/// How many rows of a list are shown.
const LISTED: usize = 500;
/// How many runs of days a rule names.
const RUNS: usize = 12;

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
    /// How many failures a waiver accepted, if any has one.
    waived: Option<String>,
    /// How long the repaired failures lasted, if any check failed.
    repaired: Option<String>,
    same: String,
    cell: &'static str,
    by_day: bool,
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
    /// The days that are not covered or failed.
    days: Vec<Days>,
    rows: Vec<Row>,
}

struct Days {
    what: String,
    when: String,
}

/// A month of days, or a year of weeks.
struct Row {
    label: String,
    /// The places before the first cell.
    before: Vec<()>,
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
    waivers: Vec<String>,
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
    let by_day = history.shows_days();
    let coverage = &history.coverage;
    let page = Page {
        organization: sanitized(&history.organization),
        framework: sanitized(&history.framework),
        bundles: words::counted(number(history.inputs.len()), "bundle"),
        covered: history.covered(),
        not_covered: history.not_covered().iter().map(|line| capitalized(line)).collect(),
        whole: coverage.complete == coverage.expected,
        gap: span(history.longest_gap.seconds),
        failures: capitalized(&history.failures()),
        waived: history.waived().map(|text| capitalized(&text)),
        repaired: history.repaired().map(|text| capitalized(&text)),
        same: sanitized(&history.same()),
        cell: if by_day {
            "a row is a month, a cell is a day"
        } else {
            "a row is a year, a cell is seven days"
        },
        by_day,
        controls: controls(history),
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
    let text = page.render().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn controls(history: &History) -> Vec<ControlStrips> {
    let mut controls: Vec<ControlStrips> = Vec::new();
    for (rule, coverage) in history.rules.iter().zip(&history.coverage.rules) {
        let strip = strip(history, rule, coverage);
        let id = sanitized(&rule.control);
        match controls.last_mut() {
            Some(last) if last.id == id => last.rules.push(strip),
            _ => controls.push(ControlStrips { id, rules: vec![strip] }),
        }
    }
    controls
}

fn strip(history: &History, rule: &RuleDays, coverage: &RuleCoverage) -> Strip {
    let days = |(result, word): (Option<Status>, &'static str)| {
        let runs = history.runs(rule, result);
        let count = rule.days.iter().filter(|day| day.result == result).count();
        let shown: Vec<String> = runs.iter().take(RUNS).map(Run::words).collect();
        let more = number(runs.len().saturating_sub(RUNS));
        let more = if more > 0 {
            format!(", and {} more", words::counted(more, "run of days"))
        } else {
            String::new()
        };
        let days = words::counted(number(count), "day");
        (count > 0)
            .then(|| Days { what: format!("{days} {word}"), when: format!("{}{more}", shown.join(", ")) })
    };
    let kinds = [
        (Some(Status::Fail), "with a failure"),
        (Some(Status::NotVerifiable), "not verifiable"),
        (None, "without a bundle"),
    ];
    Strip {
        title: sanitized(&words::rule(&rule.rule)),
        source: sanitized(&rule.source),
        code: sanitized(&rule.rule),
        covered: format!(
            "{} of {}",
            words::grouped(number(coverage.covered)),
            history.intervals(coverage.expected)
        ),
        days: kinds.into_iter().filter_map(days).collect(),
        rows: history.strip(rule).into_iter().map(row).collect(),
    }
}

fn row(row: StripRow) -> Row {
    let cell = |cell: &StripCell| Cell {
        code: cell.result.map_or("none", Status::as_str),
        letter: letter(cell.result),
        title: if cell.first == cell.last {
            cell.first.clone()
        } else {
            format!("{} to {}", cell.first, cell.last)
        },
    };
    Row { cells: row.cells.iter().map(cell).collect(), label: row.label, before: vec![(); row.before] }
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
        waivers: exception
            .waivers
            .iter()
            .map(|waiver| capitalized(&sanitized(&waiver.words(exception.bundles))))
            .collect(),
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
    number(count.saturating_sub(LISTED))
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
