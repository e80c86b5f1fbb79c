//! `derived/waivers.json` for people: which failures management accepts, and a mark for each of them.
//!
//! A failure with a waiver is still a failure. So a mark never replaces a status, and nothing here is green.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};

use evidence_bundle::Status;
use evidence_bundle::document::{WaiverMatch, WaiverRecord, WaiverState, WaiversFile, WaiversSummary};
use evidence_bundle::read::{Row, Sink, Stop, WaiverSink, WaiversHead, each_waiver};
use evidence_bundle::waiver::accepts;
use evidence_text::saturating_u64;

use crate::json;
use crate::sanitize::sanitized;
use crate::words::{counted, grouped};

/// How many subjects of a waiver are named.
const NAMED: usize = 20;

/// The waivers of a bundle.
#[derive(Debug, Clone)]
pub struct Waivers {
    /// The file that lists them.
    pub file: WaiversFile,
    /// How many failures there are, with a waiver and without.
    pub summary: WaiversSummary,
    /// The waivers, expired ones first.
    pub all: Vec<Waiver>,
    /// The mark of each failure with a waiver.
    marks: HashMap<u64, usize>,
}

/// A waiver of a bundle. Its texts are not sanitized.
#[derive(Debug, Clone)]
pub struct Waiver {
    /// What the document says about it.
    pub record: WaiverRecord<()>,
    /// How many checks it names.
    pub matches: u64,
    /// How many failures it accepts, or would accept on another day.
    pub failures: u64,
}

impl Waivers {
    /// Reads the document. `None` if it does not have the known form.
    pub fn read(contents: &mut dyn Read) -> Option<Waivers> {
        let mut json = json::rows(contents);
        let mut reading = Reading::default();
        let head = each_waiver(&mut json, &mut None, &mut reading).ok()?;
        json.end().ok()?;
        Some(reading.waivers(&head))
    }

    /// The waiver of a failed check: the one that accepts it, else one that is over.
    pub fn of(&self, key: u64) -> Option<&Waiver> {
        self.all.get(*self.marks.get(&key)?)
    }
}

/// A check as one number.
pub fn key(control: &str, source: &str, rule: &str, subject: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (control, source, rule, subject).hash(&mut hasher);
    hasher.finish()
}

impl Waiver {
    /// Whether it accepts failures of the bundle.
    pub fn is_applied(&self) -> bool {
        self.record.state == WaiverState::Applied
    }

    /// The mark beside a failure, safe to print.
    pub fn mark(&self) -> String {
        let (id, until) = (sanitized(&self.record.id), sanitized(&self.record.expires_at));
        match self.record.state {
            WaiverState::Expired => format!("waiver {id} expired on {until}"),
            _ => format!("waived until {until}, {id}"),
        }
    }

    /// What it names, safe to print: its rule and its subjects.
    pub fn about(&self) -> String {
        let WaiverRecord { rule, subjects, globs, reasons, .. } = &self.record;
        let names = subjects.iter().chain(globs).map(|name| sanitized(name)).collect::<Vec<_>>();
        let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let reasons = reasons.iter().map(|reason| sanitized(reason)).collect::<Vec<_>>().join(", ");
        let only = if reasons.is_empty() { String::new() } else { format!(", only {reasons}") };
        format!("{} of {shown}{more}{only}", sanitized(rule))
    }

    /// Who decided it and when, safe to print.
    pub fn decision(&self) -> String {
        let WaiverRecord { owner, approved_by, approved_at, expires_at, self_approved, ticket, .. } =
            &self.record;
        let alone = if *self_approved { " (the owner)" } else { "" };
        let ticket = ticket.as_deref().map(|ticket| format!(", {}", sanitized(ticket))).unwrap_or_default();
        format!(
            "owner {}, approved by {}{alone} on {}, until {}{ticket}",
            sanitized(owner),
            sanitized(approved_by),
            sanitized(approved_at),
            sanitized(expires_at)
        )
    }

    /// What reduces the risk meanwhile, safe to print.
    pub fn compensating(&self) -> Option<String> {
        let WaiverRecord { compensating, compensating_check, .. } = &self.record;
        let check = compensating_check.as_ref().map(|check| {
            let status = check.status.map_or("no such check", |status| crate::words::label(status).word);
            format!("{} of {}: {status}", sanitized(&check.rule), sanitized(&check.subject))
        });
        compensating.as_deref().map(sanitized).or(check)
    }

    /// How many checks it names and how many failures it accepts, in words.
    pub fn counts(&self) -> String {
        let names = format!("names {}", counted(self.matches, "check"));
        match self.record.state {
            WaiverState::Applied => format!("{names}, accepts {}", counted(self.failures, "failure")),
            WaiverState::Expired | WaiverState::NotYetValid => {
                format!("{names}, {} without a waiver", counted(self.failures, "failure"))
            }
            WaiverState::NotMatched | WaiverState::NotNeeded | WaiverState::Unused => names,
        }
    }
}

/// A state in words.
pub fn state(state: WaiverState) -> &'static str {
    match state {
        WaiverState::Expired => "expired",
        WaiverState::NotYetValid => "not yet valid",
        WaiverState::Applied => "applied",
        WaiverState::NotMatched => "no such failure",
        WaiverState::NotNeeded => "not needed",
        WaiverState::Unused => "no such check",
    }
}

/// How many failures have a waiver, in words. Both numbers are always there.
pub fn sentence(summary: &WaiversSummary) -> String {
    let WaiversSummary { failed, failed_waived, failed_unwaived } = summary;
    let failed = counted(*failed, "check");
    format!(
        "{failed} failed: {} with a waiver, {} without",
        grouped(*failed_waived),
        grouped(*failed_unwaived)
    )
}

/// The waivers so far.
#[derive(Debug, Default)]
struct Reading {
    /// The number of checks that the next waiver names, and those that failed: the check and the reason.
    matches: u64,
    failures: Vec<(u64, String)>,
    all: Vec<Waiver>,
    marks: HashMap<u64, usize>,
}

impl Reading {
    fn add_match(&mut self, check: &WaiverMatch) {
        self.matches += 1;
        if check.status == Status::Fail {
            let WaiverMatch { control, source, rule, subject, .. } = check;
            self.failures.push((key(control, source, rule, subject), check.reason.clone()));
        }
    }

    fn add(&mut self, record: &WaiverRecord<()>) {
        let place = self.all.len();
        let mut failures = std::mem::take(&mut self.failures);
        failures.retain(|(_, reason)| accepts(record, Status::Fail, reason));
        for (key, _) in &failures {
            match record.state {
                WaiverState::Applied => {
                    self.marks.insert(*key, place);
                }
                WaiverState::Expired => {
                    self.marks.entry(*key).or_insert(place);
                }
                _ => {}
            }
        }
        let (matches, failures) = (std::mem::take(&mut self.matches), saturating_u64(failures.len()));
        self.all.push(Waiver { record: record.clone(), matches, failures });
    }

    /// All of them, expired ones first.
    fn waivers(self, head: &WaiversHead) -> Waivers {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|place| self.all.get(*place).map(|waiver| waiver.record.state));
        let mut places = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(place) = places.get_mut(*old) {
                *place = new;
            }
        }
        let mut all = self.all;
        all.sort_by_key(|waiver| waiver.record.state);
        let marks = self.marks.into_iter();
        let marks = marks.filter_map(|(key, old)| Some((key, *places.get(old)?))).collect();
        Waivers { file: head.file.clone(), summary: head.summary, all, marks }
    }
}

impl WaiverSink for Reading {
    fn matched(&mut self, check: &WaiverMatch) {
        self.add_match(check);
    }

    fn waiver(&mut self, waiver: &WaiverRecord<()>) -> Result<(), Stop> {
        self.add(waiver);
        Ok(())
    }
}

/// Reads the waivers of a bundle.
#[derive(Debug, Default)]
pub struct WaiversReader {
    /// The waivers; `None` if the run had no file of waivers.
    pub waivers: Option<Waivers>,
    reading: Reading,
}

impl Sink for WaiversReader {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::WaiverMatch(check) => self.reading.add_match(check),
            Row::Waiver(waiver) => self.reading.add(waiver),
            Row::Waivers(head) => self.waivers = Some(std::mem::take(&mut self.reading).waivers(head)),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
