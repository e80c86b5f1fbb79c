//! Judges the documents under `derived/`: their form, and that they agree with the manifest, the run, the files and
//! each other. `population.rs` judges the documents that list what was observed.
//!
//! Whether a check passes is the signer's judgement and not examined; everything that follows from the checks is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::manifest::ManifestFacts;
use super::names::Names;
use super::outcome::Failure;
use super::reason::{Reason, VerifyError};
use super::sink::{ControlHead, Feed, Row};
use super::stream::{Json, Stop};
use crate::checksums::ChecksumList;
use crate::document::{
    Check, Counts, EvidenceReference, Hint, RunRecord, Severity, SourcePopulation, Status, Summary,
    is_lacking,
};
use crate::json::Object;
use crate::path::{HINTS, NORMALIZED, OBSERVATIONS, POPULATION, SCOPE, WAIVERS};
use crate::waiver::{Checks, NamedCheck, SortedChecks};

/// A document, and the data that it must agree with.
pub(super) struct Derived<'a> {
    pub(super) path: &'static str,
    pub(super) list: &'a ChecksumList,
    pub(super) facts: &'a ManifestFacts,
    pub(super) run: &'a RunRecord,
    /// References that earlier documents made.
    pub(super) references: &'a References,
}

/// Claims of documents that later ones must confirm.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The highest number of an observation that a check or hint rests on, by source.
    pub(super) observations: BTreeMap<String, u64>,
    /// What the rules of the checks expect, by their codes and controls.
    pub(super) rules: BTreeMap<(String, String), String>,
    /// How many checks lacked something that could not be read.
    pub(super) lacking: u64,
    /// What each source counts.
    pub(super) populations: Vec<SourcePopulation>,
    /// The checks, if the bundle has waivers.
    pub(super) checks: Option<SortedChecks>,
}

impl References {
    /// Adds the references of another document.
    pub(super) fn add(&mut self, other: References) {
        for (source, number) in other.observations {
            self.observation(source, number);
        }
        self.rules.extend(other.rules);
        self.lacking += other.lacking;
        self.populations.extend(other.populations);
        self.checks = self.checks.take().or(other.checks);
    }

    fn observation(&mut self, source: String, number: u64) {
        let highest = self.observations.entry(source).or_default();
        *highest = number.max(*highest);
    }
}

impl Derived<'_> {
    /// Reads and judges the document. Returns its references.
    ///
    /// The document's checksum is not verified yet: the result counts only once it is.
    pub(super) fn judge(&self, document: impl Read, feed: Option<Feed<'_>>) -> Result<References, Failure> {
        let format = self.facts.format;
        let mut json = Json::strict(document, feed);
        json.refuse(format.later(self.path));
        let (mut version, mut references) = (None, References::default());
        let read = match self.path {
            HINTS => self.hints(&mut json, &mut version, &mut references),
            NORMALIZED => self.normalized(&mut json, &mut version, &mut references),
            OBSERVATIONS => self.observations(&mut json, &mut version),
            POPULATION => self.population(&mut json, &mut version, &mut references),
            WAIVERS => self.waivers(&mut json, &mut version),
            _ => self.scope(&mut json, &mut version),
        };
        let read = read.and_then(|()| json.end()).and_then(|()| json.pass(Row::End(self.path)));
        match (version, read) {
            (_, Err(Stop::Sink(error))) => Err(Failure::CannotJudge(error)),
            (Some(version), _) if version != format.schema_version => {
                let detail = format!(
                    "{} has version {version}; in a bundle of version {} it has {}",
                    self.path, format.version, format.schema_version
                );
                Err(VerifyError::at(Reason::UnsupportedFormat, self.path, detail).into())
            }
            (Some(_), Ok(())) => Ok(references),
            (None, Ok(())) => {
                Err(self.error(Reason::DocumentFormat, "missing field `schema_version`").into())
            }
            (_, Err(Stop::Refused(refusal))) => Err(refusal.into()),
            (_, Err(Stop::TooLarge(detail))) => Err(self.error(Reason::Limit, detail).into()),
            (_, Err(Stop::Malformed(detail))) => Err(self.error(Reason::DocumentFormat, detail).into()),
        }
    }

    fn normalized<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
        references: &mut References,
    ) -> Result<(), Stop> {
        let (mut framework, mut controls) = (None, None);
        let mut summary: Option<Object<Summary>> = None;
        let (mut found, mut ids) = (Judged::default(), Vec::new());
        found.checks = self.list.position(WAIVERS).map(|_| Checks::default());
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "framework" => json.once(&mut framework, name),
            "summary" => {
                json.once(&mut summary, name)?;
                summary.iter().try_for_each(|Object(summary)| json.pass(Row::Summary(summary)))
            }
            "controls" => {
                json.first(&mut controls, name, ())?;
                json.list(|json| {
                    ids.push(self.control(json, &mut found, references)?);
                    Ok(())
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        let framework: String = self.required(framework, "framework")?;
        let Object(summary) = self.required(summary, "summary")?;
        self.required(controls, "controls")?;
        if framework != self.facts.framework {
            let detail =
                format!("the framework {framework} is not that of the manifest, {}", self.facts.framework);
            return Err(self.error(Reason::ScopeMismatch, detail).into());
        }
        if ids != self.facts.controls {
            let detail = format!("the controls [{}] are not those of the manifest", ids.join(", "));
            return Err(self.error(Reason::ScopeMismatch, detail).into());
        }
        if summary != found.summary {
            return Err(self
                .error(Reason::SummaryMismatch, "the summary does not count the rows of the document")
                .into());
        }
        references.lacking = found.lacking;
        references.checks = found.checks.map(Checks::sorted);
        self.complete(found.lacking > 0)
    }

    /// Checks that the manifest reports missing evidence exactly if some is missing.
    fn complete(&self, lacking: bool) -> Result<(), Stop> {
        let listed = self.facts.errors_total > 0 || self.facts.excluded_total > 0;
        let detail = match (self.facts.complete, lacking || listed) {
            (true, true) => {
                "the manifest says that nothing is missing, but a check says that something could not be read"
            }
            (false, false) => "the manifest says that something is missing, but nothing says what",
            (true, false) | (false, true) => return Ok(()),
        };
        Err(self.error(Reason::CompleteMismatch, detail).into())
    }

    /// Reads a control, adds it to the counts and returns its identifier.
    fn control<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        found: &mut Judged,
        references: &mut References,
    ) -> Result<String, Stop> {
        let mut head = PartialHead::default();
        let mut checks = None;
        let mut counts = Counts::default();
        let mut rules = BTreeSet::new();
        found.controls += 1;
        let number = found.controls.to_string();
        // The identifier of the control may come after its checks.
        let placeholder = format!("\0{number}");
        json.object(|json, name| match name {
            "id" => json.once(&mut head.id, name),
            "title" => json.once(&mut head.title, name),
            "status" => json.once(&mut head.status, name),
            "reason" => json.once(&mut head.reason, name),
            "criteria" => json.once(&mut head.criteria, name),
            "expected" => json.once(&mut head.expected, name),
            "checks" => {
                json.first(&mut checks, name, ())?;
                json.pass(Row::Control(head.whole().as_ref()))?;
                json.list(|json| {
                    let check: Check = object(json)?;
                    let group = [&number, &check.rule, check.status.as_str(), &check.reason];
                    found.names.note(self.path, &group)?;
                    counts.add(check.status);
                    found.summary.checks.add(check.status);
                    found.lacking += u64::from(is_lacking(check.status, &check.reason));
                    self.source(&check.source)?;
                    if let Some(checks) = &mut found.checks {
                        checks.add(named(&placeholder, &check));
                    }
                    if check.evidence.is_empty() {
                        let detail = format!("the check {} of {} has no evidence", check.rule, check.subject);
                        return Err(self.error(Reason::EvidenceMismatch, detail).into());
                    }
                    check.evidence.iter().try_for_each(|reference| self.refer(reference, references))?;
                    json.pass(Row::Check(&check))?;
                    rules.insert(check.rule);
                    Ok(())
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        let head = ControlHead {
            id: self.required(head.id, "id")?,
            status: self.required(head.status, "status")?,
            title: self.required(head.title, "title")?,
            reason: self.required(head.reason, "reason")?,
            criteria: self.required(head.criteria, "criteria")?,
            expected: self.required(head.expected, "expected")?,
        };
        self.required(checks, "checks")?;
        json.pass(Row::ControlEnd(&head))?;
        let ControlHead { id, title, status, reason, criteria, mut expected } = head;
        if let Some(checks) = &mut found.checks {
            checks.rename(&placeholder, &id);
        }
        found.names.note(self.path, &[&id, &title, &reason])?;
        for (rule, criteria) in &criteria {
            found.names.note(self.path, &[&id, rule, &criteria.join(" ")])?;
        }
        for (rule, expected) in &expected {
            found.names.note(self.path, &[&id, rule, expected])?;
        }
        if let Some(rule) = rules.iter().find(|rule| !criteria.contains_key(*rule)) {
            let detail = format!("{id} does not say under which criteria the rule {rule} is filed");
            return Err(self.error(Reason::ScopeMismatch, detail).into());
        }
        if counts.status() != status {
            let detail = format!("{id} is {status}, and its checks make it {}", counts.status());
            return Err(self.error(Reason::StatusMismatch, detail).into());
        }
        found.summary.controls.add(status);
        for rule in rules {
            let Some(expected) = expected.remove(&rule) else {
                let detail = format!("{id} does not say what the rule {rule} expects");
                return Err(self.error(Reason::ScopeMismatch, detail).into());
            };
            references.rules.insert((rule, id.clone()), expected);
        }
        Ok(id)
    }

    fn hints<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
        references: &mut References,
    ) -> Result<(), Stop> {
        let (mut hints, mut last) = (None, Severity::Critical);
        // A part of each hash suffices: there may be millions of hints.
        let mut ids: Vec<[u8; 12]> = Vec::new();
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "hints" => {
                json.first(&mut hints, name, ())?;
                json.list(|json| {
                    let hint: Hint = object(json)?;
                    if std::mem::replace(&mut last, hint.severity) > hint.severity {
                        return Err(json.malformed("a hint comes after one that is less severe"));
                    }
                    ids.push(begin(&hint.id));
                    if !self.facts.controls.contains(&hint.control) {
                        let detail = format!("the control {} is not in the manifest", hint.control);
                        return Err(self.error(Reason::ScopeMismatch, detail).into());
                    }
                    self.source(&hint.source)?;
                    hint.evidence.iter().try_for_each(|reference| self.refer(reference, references))?;
                    json.pass(Row::Hint(&hint))
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        ids.sort_unstable();
        if ids.array_windows().any(|[one, next]| one == next) {
            return Err(Stop::Malformed("two hints have the same id".to_owned()));
        }
        self.required(hints, "hints")
    }

    /// Checks that a referenced file is in this bundle.
    fn refer(&self, reference: &EvidenceReference, references: &mut References) -> Result<(), Stop> {
        let EvidenceReference { filename, checksum, id } = reference;
        if !self.list.holds(filename, checksum) {
            let detail = format!("the evidence {filename} is not in the bundle with that checksum");
            return Err(self.error(Reason::EvidenceMismatch, detail).into());
        }
        match (filename == OBSERVATIONS, id.as_deref(), id.as_deref().and_then(number)) {
            (false, None, _) => Ok(()),
            (true, _, Some((source, number))) => {
                references.observation(source.to_owned(), number);
                Ok(())
            }
            (true, _, None) => {
                let detail = "a reference to the observations does not name one of them";
                Err(self.error(Reason::EvidenceMismatch, detail).into())
            }
            (false, Some(id), _) => {
                let detail = format!("the evidence {filename} has no row {id}");
                Err(self.error(Reason::EvidenceMismatch, detail).into())
            }
        }
    }

    pub(super) fn source(&self, source: &String) -> Result<(), Stop> {
        if self.facts.sources.contains(source) {
            return Ok(());
        }
        let detail = format!("the source {source} is not in the manifest");
        Err(self.error(Reason::ScopeMismatch, detail).into())
    }

    pub(super) fn required<T>(&self, field: Option<T>, name: &str) -> Result<T, Stop> {
        field.ok_or_else(|| Stop::Malformed(format!("missing field `{name}`")))
    }

    pub(super) fn error(&self, reason: Reason, detail: impl fmt::Display) -> VerifyError {
        VerifyError::at(reason, self.path, format!("{}: {detail}", self.path))
    }
}

/// The fields of a control that were read so far.
#[derive(Default)]
struct PartialHead {
    id: Option<String>,
    title: Option<String>,
    status: Option<Status>,
    reason: Option<String>,
    criteria: Option<BTreeMap<String, Vec<String>>>,
    expected: Option<BTreeMap<String, String>>,
}

impl PartialHead {
    /// All of them, if they were all read.
    fn whole(&self) -> Option<ControlHead> {
        Some(ControlHead {
            id: self.id.clone()?,
            title: self.title.clone()?,
            status: self.status?,
            reason: self.reason.clone()?,
            criteria: self.criteria.clone()?,
            expected: self.expected.clone()?,
        })
    }
}

/// Totals of the checks of a document.
#[derive(Default)]
struct Judged {
    summary: Summary,
    /// How many controls were read.
    controls: u64,
    /// What a reader of the document holds: the heads of the controls, and the groups of their checks.
    names: Names,
    /// How many checks lacked something that could not be read.
    lacking: u64,
    /// The checks, if the bundle has waivers.
    checks: Option<Checks>,
}

/// The identity of a check and its result.
fn named<'a>(control: &'a str, check: &'a Check) -> NamedCheck<'a> {
    NamedCheck {
        control,
        source: &check.source,
        rule: &check.rule,
        subject: &check.subject,
        status: check.status,
        reason: &check.reason,
    }
}

/// The source and the number in the identifier of an observation.
pub(super) fn number(id: &str) -> Option<(&str, u64)> {
    let (source, number) = id.rsplit_once(':')?;
    let parsed = number.parse::<u64>().ok().filter(|parsed| *parsed > 0 && parsed.to_string() == number)?;
    Some((source, parsed))
}

/// The first bytes of the SHA-256 of a text.
fn begin(text: &str) -> [u8; 12] {
    let mut begin = [0; 12];
    begin.iter_mut().zip(Sha256::digest(text)).for_each(|(place, byte)| *place = byte);
    begin
}

/// Reads a row, which must be an object.
pub(super) fn object<T: DeserializeOwned, R: Read>(json: &mut Json<'_, R>) -> Result<T, Stop> {
    json.value().map(|Object(row)| row)
}

/// Whether this file is one that [`Derived`] judges.
pub(super) fn document(path: &str) -> Option<&'static str> {
    [HINTS, NORMALIZED, OBSERVATIONS, POPULATION, SCOPE, WAIVERS]
        .into_iter()
        .find(|document| *document == path)
}
