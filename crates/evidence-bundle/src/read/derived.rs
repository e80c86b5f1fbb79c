//! Judging `derived/normalized.json` and `derived/hints.json`: their form, and that they agree with the manifest, with the
//! files and with themselves.
//!
//! Whether a check passes is the signer's judgement and not looked at; what follows from the checks is.

use std::fmt;
use std::io::Read;

use serde::de::DeserializeOwned;

use super::manifest::ManifestFacts;
use super::stream::{Json, Stop};
use super::{Reason, VerifyError};
use crate::checksums::ChecksumList;
use crate::document::{Check, Counts, EvidenceReference, Hint, Severity, Status, Summary};
use crate::json::Object;
use crate::path::{HINTS, NORMALIZED};

/// A document, and what it must agree with.
pub(super) struct Derived<'a> {
    pub(super) path: &'static str,
    pub(super) list: &'a ChecksumList,
    pub(super) facts: &'a ManifestFacts,
}

impl Derived<'_> {
    /// Reads and judges the document.
    ///
    /// Nobody has checked its checksum yet: what this says counts only once it was.
    pub(super) fn judge(&self, document: impl Read) -> Result<(), VerifyError> {
        let format = self.facts.format;
        let mut json = Json::new(document);
        json.refuse(format.later(self.path));
        let mut version = None;
        let read = match self.path {
            HINTS => self.hints(&mut json, &mut version),
            _ => self.normalized(&mut json, &mut version),
        };
        match (version, read.and_then(|()| json.end())) {
            (Some(version), _) if version != format.schema_version => {
                let detail = format!(
                    "{} has version {version}; in a bundle of version {} it has {}",
                    self.path, format.version, format.schema_version
                );
                Err(VerifyError::at(Reason::UnsupportedFormat, self.path, detail))
            }
            (Some(_), Ok(())) => Ok(()),
            (None, Ok(())) => Err(self.error(Reason::DocumentFormat, "missing field `schema_version`")),
            (_, Err(Stop::Refused(refusal))) => Err(refusal),
            (_, Err(Stop::Malformed(detail))) => Err(self.error(Reason::DocumentFormat, detail)),
        }
    }

    fn normalized<R: Read>(&self, json: &mut Json<R>, version: &mut Option<String>) -> Result<(), Stop> {
        let (mut framework, mut summary, mut controls) = (None, None, None);
        let (mut found, mut ids) = (Summary::default(), Vec::new());
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "framework" => json.once(&mut framework, name),
            "summary" => json.once(&mut summary, name),
            "controls" => {
                json.first(&mut controls, name, ())?;
                json.list(|json| {
                    ids.push(self.control(json, &mut found)?);
                    Ok(())
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        let framework: String = self.there(framework, "framework")?;
        let Object(summary): Object<Summary> = self.there(summary, "summary")?;
        self.there(controls, "controls")?;
        if framework != self.facts.framework {
            let detail =
                format!("the framework {framework} is not that of the manifest, {}", self.facts.framework);
            return Err(self.error(Reason::ScopeMismatch, detail).into());
        }
        if ids != self.facts.controls {
            let detail = format!("the controls [{}] are not those of the manifest", ids.join(", "));
            return Err(self.error(Reason::ScopeMismatch, detail).into());
        }
        if summary != found {
            return Err(self
                .error(Reason::SummaryMismatch, "the summary does not count the rows of the document")
                .into());
        }
        Ok(())
    }

    /// Reads a control, adds it to the counts and gives its identifier.
    fn control<R: Read>(&self, json: &mut Json<R>, found: &mut Summary) -> Result<String, Stop> {
        let (mut id, mut title, mut status, mut reason) = (None, None, None, None);
        let (mut evidence, mut checks, mut counts) = (None, None, Counts::default());
        json.object(|json, name| match name {
            "id" => json.once(&mut id, name),
            "title" => json.once::<String>(&mut title, name),
            "status" => json.once(&mut status, name),
            "reason" => json.once::<String>(&mut reason, name),
            "evidence" => {
                json.first(&mut evidence, name, ())?;
                json.list(|json| self.refer(&object(json)?))
            }
            "checks" => {
                json.first(&mut checks, name, ())?;
                json.list(|json| {
                    let check: Check = object(json)?;
                    counts.add(check.status);
                    found.checks.add(check.status);
                    self.source(&check.source)?;
                    check.evidence.iter().try_for_each(|reference| self.refer(reference))
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        let (id, status): (String, Status) = (self.there(id, "id")?, self.there(status, "status")?);
        self.there(title, "title")?;
        self.there(reason, "reason")?;
        self.there(evidence, "evidence")?;
        self.there(checks, "checks")?;
        if counts.status() != status {
            let detail = format!("{id} is {status}, and its checks make it {}", counts.status());
            return Err(self.error(Reason::StatusMismatch, detail).into());
        }
        found.controls.add(status);
        Ok(id)
    }

    fn hints<R: Read>(&self, json: &mut Json<R>, version: &mut Option<String>) -> Result<(), Stop> {
        let (mut hints, mut last) = (None, Severity::Critical);
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "hints" => {
                json.first(&mut hints, name, ())?;
                json.list(|json| {
                    let hint: Hint = object(json)?;
                    if std::mem::replace(&mut last, hint.severity) > hint.severity {
                        return Err(json.malformed("a hint comes after one that is less severe"));
                    }
                    if !self.facts.controls.contains(&hint.control) {
                        let detail = format!("the control {} is not in the manifest", hint.control);
                        return Err(self.error(Reason::ScopeMismatch, detail).into());
                    }
                    self.source(&hint.source)?;
                    hint.evidence.iter().try_for_each(|reference| self.refer(reference))
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        self.there(hints, "hints")
    }

    /// What is said to rest on a file must rest on one of this bundle.
    fn refer(&self, reference: &EvidenceReference) -> Result<(), Stop> {
        if self.list.holds(&reference.filename, &reference.checksum) {
            return Ok(());
        }
        let detail = format!("the evidence {} is not in the bundle with that checksum", reference.filename);
        Err(self.error(Reason::EvidenceMismatch, detail).into())
    }

    fn source(&self, source: &String) -> Result<(), Stop> {
        if self.facts.sources.contains(source) {
            return Ok(());
        }
        let detail = format!("the source {source} is not in the manifest");
        Err(self.error(Reason::ScopeMismatch, detail).into())
    }

    fn there<T>(&self, field: Option<T>, name: &str) -> Result<T, Stop> {
        field.ok_or_else(|| Stop::Malformed(format!("missing field `{name}`")))
    }

    fn error(&self, reason: Reason, detail: impl fmt::Display) -> VerifyError {
        VerifyError::at(reason, self.path, format!("{}: {detail}", self.path))
    }
}

/// Reads a row, which must be an object.
fn object<T: DeserializeOwned, R: Read>(json: &mut Json<R>) -> Result<T, Stop> {
    json.value().map(|Object(row)| row)
}

/// Whether this file is one that [`Derived`] judges.
pub(super) fn document(path: &str) -> Option<&'static str> {
    [HINTS, NORMALIZED].into_iter().find(|document| *document == path)
}
