//! The page of a period, in the form of the report. It shows a bounded part of long lists; the tables have all of them.

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::Status;
use evidence_bundle::text::saturating_u64;
use evidence_view::history::{
    Change, Ended, Exception, History, Input, PopulationChange, PopulationSize, RuleCoverage, RuleDay,
    RuleDays, Run, StripCell, StripRow, letter, span,
};
use evidence_view::{sanitized, words};

use crate::template;

/// How many rows of a list are shown.
const LISTED: usize = 500;
/// How many runs of days a rule names.
const RUNS: usize = 12;

/// A period for people: sentences, strips and rows, sanitized. The page of a platform shows the same.
#[derive(Debug, Template)]
#[template(path = "period.html")]
pub struct Period<'a> {
    /// The period.
    pub history: &'a History,
    /// The organization.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// The number of bundles.
    pub bundles: String,
    /// What is covered.
    pub covered: String,
    /// What is not.
    pub not_covered: Vec<String>,
    /// Whether every interval has a complete bundle.
    pub whole: bool,
    /// The longest gap.
    pub gap: String,
    /// The failures in numbers.
    pub failures: String,
    /// How many failures a waiver accepted, if any has one.
    pub waived: Option<String>,
    /// On how many days a check failed, if any did.
    pub failing_days: Option<String>,
    /// How long the repaired failures lasted, if any check failed.
    pub repaired: Option<String>,
    /// Whether tool, rules, configuration and key stayed the same.
    pub same: String,
    /// What a row and a cell of a strip are.
    pub cell: &'static str,
    /// Whether a cell is a day, and not a week.
    pub by_day: bool,
    /// The strips, by control.
    pub controls: Vec<ControlStrips>,
    /// The failures.
    pub listed: Vec<Failure>,
    /// How many are not listed.
    pub more_failures: u64,
    /// How large the population was: day, source and sentence.
    pub sizes: Vec<[String; 3]>,
    /// How the population changed.
    pub population: Vec<ChangeRow>,
    /// How many changes are not listed.
    pub more_population: u64,
    /// How tool, rules, configuration, key and waivers changed.
    pub changes: Vec<ChangeRow>,
    /// How many changes are not listed.
    pub more_changes: u64,
    /// The bundles.
    pub inputs: Vec<InputRow>,
    /// How many are not listed.
    pub more_inputs: u64,
}

/// The rules of a control.
#[derive(Debug)]
pub struct ControlStrips {
    /// The control.
    pub id: String,
    /// Its rules.
    pub rules: Vec<Strip>,
}

/// The days of a rule.
#[derive(Debug)]
pub struct Strip {
    /// The title of the rule.
    pub title: String,
    /// The source.
    pub source: String,
    /// The code of the rule.
    pub code: String,
    /// In how many intervals it is covered.
    pub covered: String,
    /// The days that failed or are not covered.
    pub days: Vec<Days>,
    /// The cells.
    pub rows: Vec<StripLine>,
}

/// Days in words.
#[derive(Debug)]
pub struct Days {
    /// How many there are, and what they are.
    pub what: String,
    /// Which, as runs of days.
    pub when: Vec<String>,
    /// How many runs are not named, in words.
    pub more: Option<String>,
}

/// A month of days, or a year of weeks.
#[derive(Debug)]
pub struct StripLine {
    /// Its month or year.
    pub label: String,
    /// The places before the first cell.
    pub before: Vec<()>,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// A day or a week.
#[derive(Debug)]
pub struct Cell {
    /// The class of its worst result; `none` without a bundle.
    pub code: &'static str,
    /// The letter of the result.
    pub letter: char,
    /// Whether a day of it has more bundles than are expected.
    pub is_twice: bool,
    /// Its day or days.
    pub title: String,
}

/// A failure.
#[derive(Debug)]
pub struct Failure {
    /// Its stable number.
    pub number: String,
    /// The subject.
    pub subject: String,
    /// Why it failed.
    pub reason: String,
    /// The control.
    pub control: String,
    /// The code of the rule.
    pub rule: String,
    /// The class of how it ended.
    pub tone: &'static str,
    /// The sign of how it ended.
    pub sign: &'static str,
    /// How it ended.
    pub ended: &'static str,
    /// How it began.
    pub began: &'static str,
    /// The last pass before it.
    pub last_pass: String,
    /// The first bundle in which it fails.
    pub first_fail: String,
    /// The last one.
    pub last_fail: String,
    /// The first pass after it.
    pub first_pass: String,
    /// How long it lasted.
    pub duration: String,
    /// In how many bundles it fails.
    pub bundles: String,
    /// In how many intervals of that time it was not seen to fail.
    pub unseen: Option<String>,
    /// Its waivers.
    pub waivers: Vec<String>,
}

/// A change: what it is called now, and what before.
#[derive(Debug)]
pub struct ChangeRow {
    /// When.
    pub date: String,
    /// What changed.
    pub change: String,
    /// What it is called now.
    pub name: String,
    /// What it was.
    pub was: Option<String>,
}

/// A bundle.
#[derive(Debug)]
pub struct InputRow {
    /// When it was made, as its signer claims.
    pub created_at: String,
    /// Its id.
    pub bundle_id: String,
    /// The SHA-256 of its list of checksums.
    pub checksums_sha256: String,
    /// What is special about it.
    pub notes: String,
}

/// Writes the page of a period.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn period(history: &History, out: &mut dyn Write) -> io::Result<()> {
    template::write(&Period::of(history), out)
}

impl<'a> Period<'a> {
    /// This period.
    pub fn of(history: &'a History) -> Period<'a> {
        let by_day = history.shows_days();
        let coverage = &history.coverage;
        Period {
            organization: sanitized(&history.organization),
            framework: sanitized(&history.framework),
            bundles: words::counted(saturating_u64(history.inputs.len()), "bundle"),
            covered: history.covered(),
            not_covered: history.not_covered().iter().map(|line| capitalized(line)).collect(),
            whole: coverage.complete == coverage.expected,
            gap: span(history.longest_gap.seconds),
            failures: capitalized(&history.failures()),
            waived: history.waived().map(|text| capitalized(&text)),
            failing_days: history.failing_days(),
            repaired: history.repaired().map(|text| capitalized(&text)),
            same: sanitized(&history.same()),
            cell: if by_day {
                "a row is a month, a cell is a day"
            } else {
                "a row is a year, a cell is seven days"
            },
            by_day,
            controls: controls(history),
            listed: history.exceptions.iter().take(LISTED).map(|one| failure(history, one)).collect(),
            more_failures: more(history.exceptions.len()),
            sizes: history.population_sizes.iter().map(size).collect(),
            population: history.population.iter().take(LISTED).map(population).collect(),
            more_population: more(history.population.len()),
            changes: history.changes.iter().take(LISTED).map(change).collect(),
            more_changes: more(history.changes.len()),
            inputs: history.inputs.iter().take(LISTED).map(input).collect(),
            more_inputs: more(history.inputs.len()),
            history,
        }
    }
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

/// Whether a day is of a kind.
type IsMeant<'a> = &'a dyn Fn(&RuleDay) -> bool;

fn strip(history: &History, rule: &RuleDays, coverage: &RuleCoverage) -> Strip {
    let days = |(is_meant, word): (IsMeant<'_>, &'static str)| {
        let runs = history.runs(rule, is_meant);
        let count = rule.days.iter().filter(|day| is_meant(day)).count();
        let more = saturating_u64(runs.len().saturating_sub(RUNS));
        let days = words::counted(saturating_u64(count), "day");
        (count > 0).then(|| Days {
            what: format!("{days} {word}"),
            when: runs.iter().take(RUNS).map(Run::words).collect(),
            more: (more > 0).then(|| words::counted(more, "more run of days")),
        })
    };
    let is = |result: Option<Status>| move |day: &RuleDay| day.result == result;
    let kinds: [(IsMeant<'_>, &'static str); 4] = [
        (&is(Some(Status::Fail)), "with a failure"),
        (&is(Some(Status::NotVerifiable)), "not verifiable"),
        (&is(None), "without a bundle"),
        (&|day| history.is_twice(day), "with more than one bundle, the worst result counts"),
    ];
    Strip {
        title: sanitized(&words::rule(&rule.rule)),
        source: sanitized(&rule.source),
        code: sanitized(&rule.rule),
        covered: format!(
            "{} of {}",
            words::grouped(saturating_u64(coverage.covered)),
            history.intervals(coverage.expected)
        ),
        days: kinds.into_iter().filter_map(days).collect(),
        rows: history.strip(rule).into_iter().map(row).collect(),
    }
}

fn row(row: StripRow) -> StripLine {
    let cell = |cell: &StripCell| Cell {
        code: cell.result.map_or("none", Status::as_str),
        letter: letter(cell.result),
        is_twice: cell.is_twice,
        title: if cell.first == cell.last {
            cell.first.clone()
        } else {
            format!("{} to {}", cell.first, cell.last)
        },
    };
    StripLine { cells: row.cells.iter().map(cell).collect(), label: row.label, before: vec![(); row.before] }
}

fn failure(history: &History, exception: &Exception) -> Failure {
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
        unseen: history.unseen(exception),
        waivers: exception
            .waivers
            .iter()
            .map(|waiver| capitalized(&sanitized(&waiver.words(exception.bundles))))
            .collect(),
    }
}

fn size(size: &PopulationSize) -> [String; 3] {
    [size.day().to_owned(), sanitized(&size.source), size.sentence.clone()]
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
