//! The results for a terminal: each control, then the checks by rule and reason, the most severe first, with what to do.
//!
//! The rows wait in a spool: there can be hundreds of thousands, and in memory are only their positions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};

use evidence_bundle::Status;
use evidence_view::rejudged::{Again, NOT_SIGNED};
use evidence_view::waivers::{self, Waivers};
use evidence_view::{scope, words};
use tempfile::SpooledTempFile;

use super::super::diff::text as diff;
use super::super::print::head;
use super::row::{Control, Row, Shown, Summary, spooled};
use crate::console::Output;
use crate::finding::{Finding, FindingKey};
use crate::report::style::{BOLD, DIM, YELLOW, of_status};
use crate::source::place::Remedy;
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe, saturating_u64};

/// Longer subjects push their line out of the column.
const SUBJECT_WIDTH: usize = 40;

/// The least width of the column of titles.
const TITLE_WIDTH: usize = 32;

/// The width of lines of prose.
const LINE_WIDTH: usize = 80;

/// The checks of one control with the same status, reason, rule and source.
pub(super) struct Groups {
    groups: HashMap<FindingKey, Group>,
    /// In the order of the document.
    keys: Vec<FindingKey>,
    rows: BufWriter<SpooledTempFile>,
    /// The bytes that were written to the spool.
    written: u64,
}

struct Group {
    criteria: Vec<Safe>,
    /// The widest subject, in characters.
    width: usize,
    /// Where each row lies in the spool: its begin, and the lengths of subject and finding; and its identity.
    rows: Vec<(u64, u32, u32, u64)>,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups { groups: HashMap::new(), keys: Vec::new(), rows: BufWriter::new(spooled()), written: 0 }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let Row { check, key, .. } = row;
        // A group of several rules has no criteria of its own.
        let one = key.rule == check.rule;
        let criteria =
            || row.criteria().iter().filter(|_| one).map(|criterion| Safe::cut(criterion)).collect();
        let group = match self.groups.entry(key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                self.keys.push(place.key().clone());
                place.insert(Group { criteria: criteria(), width: 0, rows: Vec::new() })
            }
        };
        let subject = Safe::cut(&check.subject);
        let actual = Safe::cut(check.actual.as_deref().unwrap_or_default());
        self.rows.write_all(subject.as_str().as_bytes())?;
        self.rows.write_all(actual.as_str().as_bytes())?;
        let length = |text: &Safe| u32::try_from(text.as_str().len()).map_err(io::Error::other);
        let (subject_length, actual_length) = (length(&subject)?, length(&actual)?);
        group.width = group.width.max(subject.as_str().chars().count());
        group.rows.push((self.written, subject_length, actual_length, row.identity));
        self.written += u64::from(subject_length) + u64::from(actual_length);
        Ok(())
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut Output) -> io::Result<()> {
        let Summary {
            shown: Shown { bundle, framework, again },
            controls,
            findings,
            found,
            hidden,
            waivers,
            lists,
        } = summary;
        let mut spool = self.rows.into_inner().map_err(io::IntoInnerError::into_error)?;
        spool.rewind()?;
        let mut rows = Rows { spool: BufReader::new(spool), position: 0 };
        let mut text = head(bundle, framework);
        text.push(&again.map(differences).unwrap_or_default());
        for source in &bundle.populations {
            text.push(&safe!("Scope: {}\n", Safe::of(&scope::sentence(source))));
        }
        for list in *lists {
            text.push(&safe!("List:  {}\n", Safe::of(&list.sentence())));
        }
        text.push(&"\n".into());
        let widths = controls.iter().map(|control| control.title.as_str().chars().count());
        let width = widths.max().unwrap_or(0).max(TITLE_WIDTH);
        for Control { id, title, status, counts } in *controls {
            let (style, word) = (of_status(*status), words::label(*status).word);
            let counts = Safe::of(&words::checks(*counts));
            text.push(&safe!(
                "{id:<6} {style}{word:<14}{style:#}  {title:<width$} {DIM}{counts}{DIM:#}\n";
                id, style, word, title, width = width, DIM, counts
            ));
        }
        text.push(&waivers.map(accepted).unwrap_or_default());
        out.put(&text)?;
        for finding in &findings.groups {
            if let Some(group) = self.groups.get(&finding.key) {
                group.print(&finding.key, Some(finding), *waivers, &mut rows, out)?;
            }
        }
        let is_open = |status| matches!(status, Status::Fail | Status::NotVerifiable);
        for key in self.keys.iter().filter(|key| !is_open(key.status)) {
            if let Some(group) = self.groups.get(key) {
                group.print(key, None, *waivers, &mut rows, out)?;
            }
        }
        for (remedy, checks) in &findings.remedies {
            out.put(&remedy_text(remedy, *checks))?;
        }
        match (found, hidden) {
            (0, 0) => out.put(&"\nNo check matches.\n".into())?,
            (_, 0) => {}
            (_, hidden) => {
                let checks =
                    counted(*hidden, "check passed or does not apply", "checks passed or do not apply");
                let them = if *hidden == 1 { "it" } else { "them" };
                out.put(&safe!("\n{DIM}{checks}: --all lists {them}{DIM:#}\n"; DIM, checks, them))?;
            }
        }
        out.flush()
    }
}

/// The spooled rows. Those of a group mostly follow each other.
struct Rows {
    spool: BufReader<SpooledTempFile>,
    position: u64,
}

impl Rows {
    /// The text of this length that begins here.
    fn text(&mut self, begin: u64, length: u32) -> io::Result<Safe> {
        let distance = i64::try_from(i128::from(begin) - i128::from(self.position));
        self.spool.seek_relative(distance.map_err(io::Error::other)?)?;
        self.position = begin;
        self.next(length)
    }

    /// The text of this length that follows.
    fn next(&mut self, length: u32) -> io::Result<Safe> {
        let mut text = String::new();
        self.spool.by_ref().take(length.into()).read_to_string(&mut text)?;
        self.position += u64::from(length);
        // It was written as safe text.
        Ok(Safe::already(text))
    }
}

impl Group {
    fn print(
        &self,
        key: &FindingKey,
        finding: Option<&Finding>,
        waivers: Option<&Waivers>,
        rows: &mut Rows,
        out: &mut Output,
    ) -> io::Result<()> {
        let (style, word) = (of_status(key.status), words::label(key.status).word);
        let criteria = if self.criteria.is_empty() {
            Safe::default()
        } else {
            safe!(", criteria {}", Safe::joined(self.criteria.iter().cloned(), " "))
        };
        let severity = finding.and_then(|finding| finding.severity).map(words::severity);
        let severity = severity.map(|severity| safe!("{style}{severity}{style:#}, "; style, severity));
        let severity = severity.unwrap_or_default();
        let count = counted(saturating_u64(self.rows.len()), "check", "checks");
        out.put(&safe!(
            "\n{BOLD}{}{BOLD:#}  {style}{word}{style:#}  {BOLD}{}{BOLD:#}  {severity}{DIM}{count}, {}{criteria}{DIM:#}\n",
            Safe::cut(&key.control),
            Safe::cut(&words::reason(&key.reason)),
            Safe::cut(&key.rule);
            BOLD, style, word, severity, DIM, count, criteria
        ))?;
        let width = self.width.min(SUBJECT_WIDTH);
        for (begin, subject, actual, identity) in &self.rows {
            let (subject, actual) = (rows.text(*begin, *subject)?, rows.next(*actual)?);
            let line = safe!("  {subject:<width$}  {actual}"; subject, width = width, actual);
            let mark =
                waivers.and_then(|waivers| waivers.of(*identity)).map(|waiver| Safe::of(&waiver.mark()));
            let mark =
                mark.map(|mark| safe!("  {YELLOW}[{mark}]{YELLOW:#}"; YELLOW, mark)).unwrap_or_default();
            out.put(&safe!("{}{mark}\n", line.trimmed(); mark))?;
        }
        let Some(Finding { remediation, page, .. }) = finding else { return Ok(()) };
        let remediation = Safe::of(remediation);
        for (index, line) in remediation.filled(LINE_WIDTH - ARROW.len()).into_iter().enumerate() {
            out.put(&safe!("{}{line}\n", if index == 0 { ARROW } else { BELOW }; line))?;
        }
        if let Some(page) = page {
            let first = if self.rows.len() > 1 { " (the first)" } else { "" };
            out.put(&safe!("{BELOW}{}{DIM}{first}{DIM:#}\n", Safe::cut(page); BELOW, DIM, first))?;
        }
        Ok(())
    }
}

/// Before what to do, and before its further lines.
const ARROW: &str = "  do: ";
const BELOW: &str = "      ";

/// How the results differ from the signed ones.
fn differences(again: &Again) -> Safe {
    let Again { context, differences, unchanged, without_evidence, .. } = again;
    let mut text = safe!("{YELLOW}{}{YELLOW:#}\n", NOT_SIGNED; YELLOW);
    text.push(&diff::contexts(context));
    text.push(&diff::changes(differences, *unchanged));
    if !without_evidence.is_empty() {
        let ids = Safe::of(&without_evidence.join(" "));
        let line = safe!("Without evidence here: {ids}"; ids);
        text.push(&safe!("{}\n", Safe::joined(line.filled(LINE_WIDTH), "\n")));
    }
    text.push(&"\n".into());
    text
}

/// What management accepts, expired waivers first.
fn accepted(waivers: &Waivers) -> Safe {
    let sentence = Safe::of(&waivers::sentence(&waivers.summary));
    let mut text = safe!(
        "\n{BOLD}Accepted by management{BOLD:#}  {DIM}{sentence}{DIM:#}\n";
        BOLD, DIM, sentence
    );
    waivers.all.iter().for_each(|waiver| text.push(&super::super::waivers::block(waiver)));
    text
}

/// The change that repairs this many checks.
fn remedy_text(remedy: &Remedy, checks: u64) -> Safe {
    let Remedy { title, note, page, command, input } = remedy;
    let prose = safe!("{} repairs {} of these checks. {}", *title, thousands(checks), *note);
    let prose = Safe::joined(prose.filled(LINE_WIDTH), "\n");
    // Without an indent, so that it can be pasted.
    let mut text = safe!("\n{prose}\n  {}\n\n{}", Safe::cut(page), Safe::cut(command); prose);
    if !input.is_empty() {
        text.push(&safe!(" <<'END'\n{}\nEND", *input));
    }
    text.push(&"\n".into());
    text
}
