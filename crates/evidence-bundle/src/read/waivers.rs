//! Reads `derived/waivers.json`, and judges it: every waiver is applied again to the checks of the bundle.
//!
//! Whether a waiver is justified is the signer's decision and not examined; which checks it names, whether it applied and
//! what is counted follow from the results and the time of the run.

use std::io::Read;

use evidence_text::saturating_u64;
use sha2::{Digest as _, Sha256};

use super::derived::Derived;
use super::head::WaiversHead;
use super::reason::{Reason, VerifyError};
use super::sink::Row;
use super::stream::{Json, Stop};
use crate::document::{CompensatingCheck, WaiverMatch, WaiverRecord};
use crate::json::Object;
use crate::waiver::{Applied, Applying, SortedChecks, is_self_approved};

/// The most waivers of a bundle.
pub const MAX_WAIVERS: usize = 10_000;
/// The most patterns of all of them: each is compared with every check of its rule.
pub const MAX_GLOBS: usize = 1_000;
/// The most bytes of the texts of all of them: a reader holds them in memory.
const MAX_TEXT: usize = 16 << 20;

/// Receives the waivers of a bundle, each after the checks that it names: the order of fields is free.
pub trait WaiverSink {
    /// The next check that the next waiver names.
    fn matched(&mut self, check: &WaiverMatch);

    /// The next waiver.
    ///
    /// # Errors
    /// Returns a [`Stop`] to end the reading.
    fn waiver(&mut self, waiver: &WaiverRecord<()>) -> Result<(), Stop>;
}

/// Reads the document, and passes its waivers to a sink. The version is noted as soon as it is read.
///
/// # Errors
/// Returns a [`Stop`] if the document does not have the known form, or that of the sink.
pub fn each_waiver<R: Read>(
    json: &mut Json<'_, R>,
    version: &mut Option<String>,
    sink: &mut impl WaiverSink,
) -> Result<WaiversHead, Stop> {
    let (mut file, mut summary, mut list) = (None, None, None);
    let mut room = Room::default();
    json.object(|json, name| match name {
        "schema_version" => json.once(version, name),
        "file" => json.once(&mut file, name),
        "summary" => json.once(&mut summary, name),
        "waivers" => {
            json.first(&mut list, name, ())?;
            json.list(|json| waiver(json, &mut room, sink))
        }
        _ => Err(json.unknown(name)),
    })?;
    let Object(file) = required(file, "file")?;
    let Object(summary) = required(summary, "summary")?;
    required(list, "waivers")?;
    let head = WaiversHead { file, summary };
    json.pass(Row::Waivers(&head))?;
    Ok(head)
}

/// What the waivers so far hold.
#[derive(Default)]
struct Room {
    waivers: usize,
    globs: usize,
    text: usize,
}

impl Room {
    fn take(&mut self, waiver: &WaiverRecord<()>) -> Result<(), Stop> {
        let lists = [&waiver.subjects, &waiver.globs, &waiver.reasons];
        let words =
            [&waiver.id, &waiver.rule, &waiver.source, &waiver.reason, &waiver.owner, &waiver.approved_by];
        let options = [&waiver.control, &waiver.ticket, &waiver.compensating];
        let check = waiver.compensating_check.iter().flat_map(|check| [&check.rule, &check.subject]);
        let all = lists.into_iter().flatten().chain(words).chain(options.into_iter().flatten()).chain(check);
        // Each text has a length and a place beside its bytes.
        let text = all.map(|text| text.len().saturating_add(24)).fold(0, usize::saturating_add);
        self.waivers = self.waivers.saturating_add(1);
        self.globs = self.globs.saturating_add(waiver.globs.len());
        self.text = self.text.saturating_add(text);
        if self.waivers > MAX_WAIVERS || self.globs > MAX_GLOBS || self.text > MAX_TEXT {
            let detail = format!(
                "there are more than {MAX_WAIVERS} waivers, {MAX_GLOBS} patterns or {MAX_TEXT} bytes of text"
            );
            return Err(Stop::TooLarge(detail));
        }
        Ok(())
    }
}

fn waiver<R: Read>(json: &mut Json<'_, R>, room: &mut Room, sink: &mut impl WaiverSink) -> Result<(), Stop> {
    let (mut fields, mut matches) = (Fields::default(), None);
    json.object(|json, name| match name {
        "id" => json.once(&mut fields.id, name),
        "control" => json.once(&mut fields.control, name),
        "rule" => json.once(&mut fields.rule, name),
        "source" => json.once(&mut fields.source, name),
        "subjects" => json.once(&mut fields.subjects, name),
        "globs" => json.once(&mut fields.globs, name),
        "reasons" => json.once(&mut fields.reasons, name),
        "reason" => json.once(&mut fields.reason, name),
        "owner" => json.once(&mut fields.owner, name),
        "approved_by" => json.once(&mut fields.approved_by, name),
        "approved_at" => json.once(&mut fields.approved_at, name),
        "expires_at" => json.once(&mut fields.expires_at, name),
        "ticket" => json.once(&mut fields.ticket, name),
        "compensating" => json.once(&mut fields.compensating, name),
        "compensating_check" => json.once(&mut fields.compensating_check, name),
        "self_approved" => json.once(&mut fields.self_approved, name),
        "state" => json.once(&mut fields.state, name),
        "matches" => {
            json.first(&mut matches, name, ())?;
            json.list(|json| {
                let Object(check) = json.value()?;
                sink.matched(&check);
                json.pass(Row::WaiverMatch(&check))
            })
        }
        _ => Err(json.unknown(name)),
    })?;
    required(matches, "matches")?;
    let waiver = fields.waiver()?;
    room.take(&waiver)?;
    sink.waiver(&waiver)?;
    json.pass(Row::Waiver(&waiver))
}

/// The fields of a waiver that were read.
#[derive(Default)]
struct Fields {
    id: Option<String>,
    control: Option<String>,
    rule: Option<String>,
    source: Option<String>,
    subjects: Option<Vec<String>>,
    globs: Option<Vec<String>>,
    reasons: Option<Vec<String>>,
    reason: Option<String>,
    owner: Option<String>,
    approved_by: Option<String>,
    approved_at: Option<String>,
    expires_at: Option<String>,
    ticket: Option<String>,
    compensating: Option<String>,
    compensating_check: Option<Object<CompensatingCheck>>,
    self_approved: Option<bool>,
    state: Option<crate::document::WaiverState>,
}

impl Fields {
    fn waiver(self) -> Result<WaiverRecord<()>, Stop> {
        Ok(WaiverRecord {
            id: required(self.id, "id")?,
            control: self.control,
            rule: required(self.rule, "rule")?,
            source: required(self.source, "source")?,
            subjects: required(self.subjects, "subjects")?,
            globs: required(self.globs, "globs")?,
            reasons: required(self.reasons, "reasons")?,
            reason: required(self.reason, "reason")?,
            owner: required(self.owner, "owner")?,
            approved_by: required(self.approved_by, "approved_by")?,
            approved_at: required(self.approved_at, "approved_at")?,
            expires_at: required(self.expires_at, "expires_at")?,
            ticket: self.ticket,
            compensating: self.compensating,
            compensating_check: self.compensating_check.map(|Object(check)| check),
            self_approved: required(self.self_approved, "self_approved")?,
            state: required(self.state, "state")?,
            matches: (),
        })
    }
}

fn required<T>(field: Option<T>, name: &str) -> Result<T, Stop> {
    field.ok_or_else(|| Stop::Malformed(format!("missing field `{name}`")))
}

impl Derived<'_> {
    /// Reads the waivers and applies them again.
    pub(super) fn waivers<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
    ) -> Result<(), Stop> {
        let started = crate::time::parse(&self.run.started_at).unwrap_or_default();
        let empty = SortedChecks::default();
        let checks = self.references.checks.as_ref().unwrap_or(&empty);
        let mut again = Again {
            derived: self,
            checks,
            applying: Applying::new(checks, started),
            last: None,
            matches: Matches::default(),
        };
        let head = each_waiver(json, version, &mut again)?;
        let summary = again.applying.summary();
        if head.summary != summary {
            let detail = "the summary does not count the failures of the bundle";
            return Err(self.error(Reason::SummaryMismatch, detail).into());
        }
        Ok(())
    }
}

/// The waivers, applied again.
struct Again<'a, 'd> {
    derived: &'a Derived<'d>,
    checks: &'a SortedChecks,
    applying: Applying<'a>,
    /// The id of the last waiver.
    last: Option<String>,
    /// The checks that the next waiver names, as the document says.
    matches: Matches,
}

/// A list of checks as a digest: it can have as many as the bundle.
#[derive(Clone, Default)]
struct Matches(Sha256);

impl Matches {
    fn add(&mut self, check: &WaiverMatch) {
        let WaiverMatch { control, source, rule, subject, status, reason } = check;
        for text in [control.as_str(), source, rule, subject, status.as_str(), reason] {
            self.0.update(saturating_u64(text.len()).to_be_bytes());
            self.0.update(text);
        }
    }
}

impl Again<'_, '_> {
    fn differs(&self, detail: &str) -> Stop {
        let id = self.last.as_deref().unwrap_or_default();
        let error: VerifyError =
            self.derived.error(Reason::JudgementDiffers, format!("the waiver {id}: {detail}"));
        error.into()
    }
}

impl WaiverSink for Again<'_, '_> {
    fn waiver(&mut self, waiver: &WaiverRecord<()>) -> Result<(), Stop> {
        if self.last.as_ref().is_some_and(|last| *last >= waiver.id) {
            return Err(Stop::Malformed("the waivers are not sorted by id, or an id repeats".to_owned()));
        }
        let found = std::mem::take(&mut self.matches);
        let applied = self.applying.apply(waiver);
        self.last = Some(waiver.id.clone());
        let Some(Applied { state, named, compensating, failures: _, twice }) = applied else {
            return Err(Stop::Malformed("a date of a waiver is not YYYY-MM-DD".to_owned()));
        };
        if waiver.state != state {
            let detail = format!("it is {}, and not {}", state.as_str(), waiver.state.as_str());
            return Err(self.differs(&detail));
        }
        if waiver.self_approved != is_self_approved(&waiver.owner, &waiver.approved_by) {
            return Err(self.differs("who approved it contradicts `self_approved`"));
        }
        if waiver.compensating_check.as_ref().and_then(|check| check.status) != compensating {
            return Err(self.differs("its compensating check has another result"));
        }
        if twice.is_some() {
            return Err(self.differs("another waiver accepts one of its failures too"));
        }
        let mut expected = Matches::default();
        let named = named.iter().filter_map(|number| self.checks.get(*number));
        named.for_each(|check| expected.add(&check.record()));
        if found.0.finalize() != expected.0.finalize() {
            return Err(self.differs("its matches are not the checks that it names"));
        }
        Ok(())
    }

    fn matched(&mut self, check: &WaiverMatch) {
        self.matches.add(check);
    }
}
