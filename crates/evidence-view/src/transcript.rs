//! The rows of a verified bundle, kept and read again: what a page shows follows from the rows alone, so a bundle of any
//! size needs to be verified once.
//!
//! A transcript is a gzip of lines of JSON, one for each row, in their order. It is a cache of one program on one machine:
//! whoever keeps it must know whose bytes it belongs to, and drop it when they are found damaged.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use evidence_bundle::Status;
use evidence_bundle::document::{
    ArtifactRecord, Check, ErrorRecord, Excluded, Hint, Member, ObservationRecord, RunRecord, ScopeRecord,
    SourcePopulation, Summary, WaiverMatch, WaiverRecord, WaiversFile, WaiversSummary, Warning,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE, WAIVERS};
use evidence_bundle::read::{ControlHead, ManifestHead, Row, Sink, WaiversHead};
use serde::{Deserialize, Serialize};

/// The documents that a row of the end can name.
const DOCUMENTS: [&str; 8] = [MANIFEST, RUN, HINTS, NORMALIZED, OBSERVATIONS, POPULATION, SCOPE, WAIVERS];

/// A control without its checks.
#[derive(Serialize, Deserialize)]
struct Head {
    id: String,
    title: String,
    status: Status,
    reason: String,
    criteria: BTreeMap<String, Vec<String>>,
    expected: BTreeMap<String, String>,
}

impl From<&ControlHead> for Head {
    fn from(head: &ControlHead) -> Head {
        let ControlHead { id, title, status, reason, criteria, expected } = head.clone();
        Head { id, title, status, reason, criteria, expected }
    }
}

impl From<Head> for ControlHead {
    fn from(head: Head) -> ControlHead {
        let Head { id, title, status, reason, criteria, expected } = head;
        ControlHead { id, title, status, reason, criteria, expected }
    }
}

/// A row as it is written.
#[derive(Serialize)]
enum Written<'a> {
    Artifact(&'a ArtifactRecord),
    Warning(&'a Warning),
    Excluded(&'a Excluded),
    Error(&'a ErrorRecord),
    Manifest(&'a ManifestHead),
    Run(&'a RunRecord),
    Hint(&'a Hint),
    Summary(&'a Summary),
    Control(Option<Head>),
    Check(&'a Check),
    ControlEnd(Head),
    Observation(&'a ObservationRecord),
    Source(&'a SourcePopulation),
    Member(&'a Member),
    Scope(&'a ScopeRecord),
    WaiverMatch(&'a WaiverMatch),
    Waiver(&'a WaiverRecord<()>),
    Waivers(&'a WaiversFile, &'a WaiversSummary),
    End(&'static str),
}

/// The same, read again.
#[derive(Deserialize)]
enum Kept {
    Artifact(ArtifactRecord),
    Warning(Warning),
    Excluded(Excluded),
    Error(ErrorRecord),
    Manifest(Box<ManifestHead>),
    Run(Box<RunRecord>),
    Hint(Hint),
    Summary(Summary),
    Control(Option<Head>),
    Check(Check),
    ControlEnd(Head),
    Observation(ObservationRecord),
    Source(SourcePopulation),
    Member(Member),
    Scope(Box<ScopeRecord>),
    WaiverMatch(WaiverMatch),
    Waiver(WaiverRecord<()>),
    Waivers(WaiversFile, WaiversSummary),
    End(String),
}

fn written(row: Row<'_>) -> Written<'_> {
    match row {
        Row::Artifact(row) => Written::Artifact(row),
        Row::Warning(row) => Written::Warning(row),
        Row::Excluded(row) => Written::Excluded(row),
        Row::Error(row) => Written::Error(row),
        Row::Manifest(row) => Written::Manifest(row),
        Row::Run(row) => Written::Run(row),
        Row::Hint(row) => Written::Hint(row),
        Row::Summary(row) => Written::Summary(row),
        Row::Control(head) => Written::Control(head.map(Head::from)),
        Row::Check(row) => Written::Check(row),
        Row::ControlEnd(head) => Written::ControlEnd(Head::from(head)),
        Row::Observation(row) => Written::Observation(row),
        Row::Source(row) => Written::Source(row),
        Row::Member(row) => Written::Member(row),
        Row::Scope(row) => Written::Scope(row),
        Row::WaiverMatch(row) => Written::WaiverMatch(row),
        Row::Waiver(row) => Written::Waiver(row),
        Row::Waivers(head) => Written::Waivers(&head.file, &head.summary),
        Row::End(path) => Written::End(path),
    }
}

fn pass(kept: Kept, sink: &mut impl Sink) -> io::Result<()> {
    match kept {
        Kept::Artifact(row) => sink.row(Row::Artifact(&row)),
        Kept::Warning(row) => sink.row(Row::Warning(&row)),
        Kept::Excluded(row) => sink.row(Row::Excluded(&row)),
        Kept::Error(row) => sink.row(Row::Error(&row)),
        Kept::Manifest(row) => sink.row(Row::Manifest(&row)),
        Kept::Run(row) => sink.row(Row::Run(&row)),
        Kept::Hint(row) => sink.row(Row::Hint(&row)),
        Kept::Summary(row) => sink.row(Row::Summary(&row)),
        Kept::Control(head) => sink.row(Row::Control(head.map(ControlHead::from).as_ref())),
        Kept::Check(row) => sink.row(Row::Check(&row)),
        Kept::ControlEnd(head) => sink.row(Row::ControlEnd(&head.into())),
        Kept::Observation(row) => sink.row(Row::Observation(&row)),
        Kept::Source(row) => sink.row(Row::Source(&row)),
        Kept::Member(row) => sink.row(Row::Member(&row)),
        Kept::Scope(row) => sink.row(Row::Scope(&row)),
        Kept::WaiverMatch(row) => sink.row(Row::WaiverMatch(&row)),
        Kept::Waiver(row) => sink.row(Row::Waiver(&row)),
        Kept::Waivers(file, summary) => sink.row(Row::Waivers(&WaiversHead { file, summary })),
        Kept::End(path) => match DOCUMENTS.into_iter().find(|known| *known == path) {
            Some(known) => sink.row(Row::End(known)),
            None => Err(io::Error::other("a row of an unknown document")),
        },
    }
}

/// Passes everything on to a sink, and writes the rows. What cannot be written, or gets too long, ends the transcript and
/// not the reading.
#[derive(Debug)]
pub struct Recorder<S, W: Write> {
    /// The sink.
    pub sink: S,
    out: Option<BufWriter<W>>,
    left: u64,
}

impl<S: Sink, W: Write> Recorder<S, W> {
    /// Writes the rows of at most this many bytes to `out`; without it, none.
    pub fn new(sink: S, out: Option<W>, most: u64) -> Recorder<S, W> {
        Recorder { sink, out: out.map(BufWriter::new), left: most }
    }

    /// The sink, and what was written if it is complete.
    pub fn finish(self) -> (S, Option<W>) {
        (self.sink, self.out.and_then(|out| out.into_inner().ok()))
    }

    fn keep(&mut self, row: Row<'_>) {
        let Some(out) = &mut self.out else { return };
        let Ok(mut line) = serde_json::to_vec(&written(row)) else {
            self.out = None;
            return;
        };
        line.push(b'\n');
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        match self.left.checked_sub(length) {
            Some(left) if out.write_all(&line).is_ok() => self.left = left,
            _ => self.out = None,
        }
    }
}

impl<S: Sink, W: Write> Sink for Recorder<S, W> {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        self.keep(row);
        self.sink.row(row)
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        self.sink.file(path, size)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.bytes(bytes)
    }

    fn contents(&mut self, path: &str, size: u64, contents: &mut dyn Read) -> io::Result<()> {
        self.sink.contents(path, size, contents)
    }
}

/// Reads a transcript into a sink that wants rows only.
///
/// # Errors
/// Fails if the transcript cannot be read or is not one; the sink then holds a part of it.
pub fn replay<S: Sink>(transcript: impl Read, sink: S) -> io::Result<S> {
    replay_without(transcript, &Skipped::default(), sink)
}

/// A check without what it rests on.
#[derive(Deserialize)]
struct BriefCheck {
    rule: String,
    source: String,
    subject: String,
    status: Status,
    reason: String,
}

#[derive(Deserialize)]
enum Brief {
    Check(BriefCheck),
}

impl From<BriefCheck> for Check {
    fn from(brief: BriefCheck) -> Check {
        let BriefCheck { rule, source, subject, status, reason } = brief;
        Check { rule, source, subject, status, reason, expected: None, actual: None, evidence: Vec::new() }
    }
}

/// The kinds of rows that a period does not follow from.
pub const NOT_OF_A_PERIOD: [&str; 6] = ["Artifact", "Warning", "Excluded", "Error", "Hint", "Observation"];

/// Which rows of a transcript a reader does without. They are not even decoded.
#[derive(Debug, Clone, Default)]
pub struct Skipped {
    /// Rows of these kinds.
    pub kinds: &'static [&'static str],
    /// Checks about another subject than this one.
    pub checks_not_about: Option<String>,
    /// Of checks, what was expected and found, and the evidence.
    pub details_of_checks: bool,
}

impl Skipped {
    /// The subject as the line of its check has it.
    fn needle(&self) -> Option<Vec<u8>> {
        let subject = self.checks_not_about.as_ref()?;
        serde_json::to_vec(subject).ok()
    }

    fn has(&self, line: &[u8], needle: Option<&[u8]>) -> bool {
        let is_other = |needle: &[u8]| !line.windows(needle.len()).any(|part| part == needle);
        self.kinds.iter().any(|kind| is_of(line, kind))
            || (is_of(line, "Check") && needle.is_some_and(is_other))
    }
}

/// Whether a line is a row of this kind.
fn is_of(line: &[u8], kind: &str) -> bool {
    let rest = line.strip_prefix(b"{\"").and_then(|rest| rest.strip_prefix(kind.as_bytes()));
    rest.is_some_and(|rest| rest.starts_with(b"\""))
}

/// Reads a transcript without some rows.
///
/// # Errors
/// Fails like [`replay`].
pub fn replay_without<S: Sink>(transcript: impl Read, skipped: &Skipped, mut sink: S) -> io::Result<S> {
    let needle = skipped.needle();
    let mut lines = BufReader::new(transcript);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(sink);
        }
        if skipped.has(&line, needle.as_deref()) {
            continue;
        }
        if skipped.details_of_checks && is_of(&line, "Check") {
            let Brief::Check(check) = serde_json::from_slice(&line)?;
            sink.row(Row::Check(&check.into()))?;
        } else {
            pass(serde_json::from_slice(&line)?, &mut sink)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row as text.
    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Sink for Seen {
        fn row(&mut self, row: Row<'_>) -> io::Result<()> {
            self.0.push(format!("{row:?}"));
            Ok(())
        }
    }

    fn head() -> ControlHead {
        ControlHead {
            id: "CC6.1".into(),
            title: "T\u{202e}".into(),
            status: Status::Fail,
            reason: "r".into(),
            criteria: [("rule".to_owned(), vec!["CC6.1".to_owned()])].into(),
            expected: [("rule".to_owned(), "words".to_owned())].into(),
        }
    }

    fn rows(sink: &mut impl Sink) {
        let head = head();
        let check = Check {
            rule: "rule".into(),
            source: "codehost".into(),
            subject: "a\nb".into(),
            status: Status::NotVerifiable,
            reason: "r".into(),
            expected: None,
            actual: Some("x".into()),
            evidence: Vec::new(),
        };
        for row in [
            Row::Control(Some(&head)),
            Row::Check(&check),
            Row::ControlEnd(&head),
            Row::Control(None),
            Row::Summary(&Summary::default()),
            Row::End(NORMALIZED),
            Row::End(WAIVERS),
        ] {
            sink.row(row).unwrap();
        }
    }

    #[test]
    fn a_transcript_gives_the_same_rows() {
        let mut recorder = Recorder::new(Seen::default(), Some(Vec::new()), 1 << 20);
        rows(&mut recorder);
        let (seen, out) = recorder.finish();
        let again = replay(out.unwrap().as_slice(), Seen::default()).unwrap();
        assert_eq!(again.0, seen.0);
        assert_eq!(again.0.len(), 7);
        let mut recorder = Recorder::new(Seen::default(), Some(Vec::new()), 1 << 20);
        rows(&mut recorder);
        let out = recorder.finish().1.unwrap();
        let skipped = Skipped { kinds: &["Check", "Summary"], ..Skipped::default() };
        let without = replay_without(out.as_slice(), &skipped, Seen::default()).unwrap();
        let kept: Vec<&String> =
            seen.0.iter().filter(|row| !row.starts_with("Check(") && !row.starts_with("Summary(")).collect();
        assert_eq!(without.0.iter().collect::<Vec<_>>(), kept);
        assert_eq!(kept.len(), 5);
        for (subject, rows) in [("a\nb", 7), ("a", 6)] {
            let skipped = Skipped { checks_not_about: Some(subject.to_owned()), ..Skipped::default() };
            let read = replay_without(out.as_slice(), &skipped, Seen::default()).unwrap();
            assert_eq!(read.0.len(), rows, "{subject}");
        }
        let skipped = Skipped { details_of_checks: true, ..Skipped::default() };
        let brief = replay_without(out.as_slice(), &skipped, Seen::default()).unwrap();
        let without_details = |row: &String| row.replace("actual: Some(\"x\")", "actual: None");
        assert_eq!(brief.0, seen.0.iter().map(without_details).collect::<Vec<_>>());
        assert_ne!(brief.0, seen.0);
    }

    #[test]
    fn what_is_too_long_is_not_kept_and_still_read() {
        let mut recorder = Recorder::new(Seen::default(), Some(Vec::new()), 300);
        rows(&mut recorder);
        let (seen, out) = recorder.finish();
        assert_eq!((seen.0.len(), out.is_none()), (7, true));
        assert!(replay(&b"{\"Check\":1}\n"[..], Seen::default()).is_err());
        assert!(replay(&b"{\"End\":\"derived/other.json\"}\n"[..], Seen::default()).is_err());
    }
}
