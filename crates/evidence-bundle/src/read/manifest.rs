//! Judges the manifest: its form, and that it agrees with the signed list about every file.
//!
//! It is read row by row and never held in memory: in a large organization it is the largest file. Of a manifest of a
//! newer version only the version is read.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::head::{KEPT_RECORDS, ManifestHead};
use super::manifest_rows::RowCheck;
use super::names;
use super::outcome::Failure;
use super::reason::{Reason, VerifyError};
use super::sink::{Feed, Row};
use super::stream::{Json, Stop};
use crate::checksums::ChecksumList;
use crate::document::{ErrorRecord, Excluded, Previous, SignerRecord, SourceRecord, Warning, is_bundle_id};
use crate::json::Object;
use crate::key::{ALGORITHM, KeyError, PublicKey};
use crate::path::MANIFEST;
use crate::version::{self, Age, FormatVersion};

/// The code of the warning that the run took over artifacts of an earlier run.
const RESUMED: &str = "resumed";
/// The code of the warning that the times do not come from a clock.
const FIXED_TIME: &str = "fixed_time";

/// How many bytes of each list of warnings, excluded artifacts and errors to keep: a record can be long.
const KEPT_BYTES: u64 = 2 << 20;

/// The verdict about a manifest.
pub(super) enum ManifestVerdict {
    /// It agrees with the list.
    Agrees(Box<ManifestFacts>),
    /// It has this version, which is newer than those that this program reads.
    Newer(String),
}

/// What verification keeps of a manifest.
pub(super) struct ManifestFacts {
    /// What it says.
    pub(super) head: ManifestHead,
    /// The version of the format, which determines the fields of the other documents.
    pub(super) format: &'static FormatVersion,
    /// The size of the file in each row of the list; 0 for the manifest itself, whose size is not known.
    pub(super) sizes: Vec<u64>,
    /// The number of artifacts of each named source.
    pub(super) artifacts: BTreeMap<String, u64>,
    /// When the first and the last artifact was collected.
    pub(super) collected: Option<(i64, i64)>,
    /// Whether artifacts of an earlier run were taken over.
    pub(super) resumed: bool,
    /// Whether the times do not come from a clock.
    pub(super) fixed_time: bool,
    pub(super) signer: SignerRecord,
}

impl Deref for ManifestFacts {
    type Target = ManifestHead;

    fn deref(&self) -> &ManifestHead {
        &self.head
    }
}

fn malformed(detail: impl fmt::Display) -> VerifyError {
    VerifyError::at(Reason::ManifestFormat, MANIFEST, format!("the manifest is malformed: {detail}"))
}

fn bundle_id(id: String) -> Result<String, VerifyError> {
    if is_bundle_id(&id) {
        return Ok(id);
    }
    Err(malformed("bundle_id is not 1 to 128 of the characters A-Z a-z 0-9 . _ -"))
}

/// The key that a manifest names, for a trust root that does not say which key to try.
pub(super) fn named_key(manifest: &[u8]) -> Result<PublicKey, VerifyError> {
    // Only the field that every version has; the rest is judged once the version is known.
    #[derive(Deserialize)]
    struct Named {
        signer: Signer,
    }
    #[derive(Deserialize)]
    struct Signer {
        public_key: String,
    }
    let named: Named = serde_json::from_slice(manifest).map_err(malformed)?;
    let der = STANDARD
        .decode(&named.signer.public_key)
        .map_err(|_| malformed("signer.public_key is not base64"))?;
    PublicKey::from_spki_der(&der).map_err(|error| match error {
        KeyError::Weak => {
            VerifyError::at(Reason::SignatureInvalid, MANIFEST, format!("signer.public_key is {error}"))
        }
        error => malformed(format!("signer.public_key: {error}")),
    })
}

/// Whether the manifest names the key that made the signature.
pub(super) fn check_signer(signer: &SignerRecord, key: &PublicKey) -> Result<(), VerifyError> {
    if signer.algorithm != ALGORITHM {
        let detail = format!("the manifest names the algorithm {}", signer.algorithm);
        return Err(VerifyError::at(Reason::UnsupportedFormat, MANIFEST, detail));
    }
    if signer.key_id != key.key_id().to_string() || signer.public_key != key.to_spki_base64() {
        let detail = format!("the manifest names the key {}, but {} signed", signer.key_id, key.key_id());
        return Err(VerifyError::at(Reason::KeyIdMismatch, MANIFEST, detail));
    }
    Ok(())
}

/// Reads a manifest and compares its rows with the list, one after the other.
///
/// The manifest's checksum is not verified yet: the result counts only once it is.
pub(super) fn judge(
    manifest: impl Read,
    list: &ChecksumList,
    feed: Option<Feed<'_>>,
) -> Result<ManifestVerdict, Failure> {
    let mut rows = RowCheck::of(list);
    let mut head = Head::default();
    let mut json = Json::strict(manifest, feed);
    // Until the version is read. A version that adds fields must therefore put it first.
    let [oldest, ..] = &version::KNOWN;
    json.refuse(oldest.later(MANIFEST));
    let read = json.object(|json, name| head.field(json, name, &mut rows)).and_then(|()| json.end());
    // Without knowing the version, this program cannot tell whether other faults are faults.
    let format = match head.bundle_version.take() {
        Some(version) => match version::age(&version) {
            Age::Known(format) => Some(format),
            Age::Newer => return Ok(ManifestVerdict::Newer(version)),
            Age::Unknown => {
                let detail = format!("the format has no version {version}");
                return Err(VerifyError::at(Reason::UnsupportedFormat, MANIFEST, detail).into());
            }
        },
        None => None,
    };
    match read {
        Ok(()) => Ok(ManifestVerdict::Agrees(Box::new(head.facts(format, rows)?))),
        Err(Stop::Refused(refusal)) => Err(refusal.into()),
        Err(Stop::TooLarge(detail)) => {
            Err(VerifyError::at(Reason::Limit, MANIFEST, format!("{MANIFEST}: {detail}")).into())
        }
        Err(Stop::Malformed(detail)) => Err(malformed(detail).into()),
        Err(Stop::Sink(error)) => Err(Failure::CannotJudge(error)),
    }
}

/// The short fields of a manifest, as far as they have been read, and the records that are kept.
#[derive(Default)]
struct Head {
    bundle_version: Option<String>,
    tool_version: Option<String>,
    created_at: Option<String>,
    framework: Option<String>,
    controls: Option<Vec<String>>,
    sources: Option<Vec<Object<SourceRecord>>>,
    artifacts: Option<()>,
    signer: Option<Object<SignerRecord>>,
    bundle_id: Option<String>,
    organization: Option<String>,
    complete: Option<bool>,
    files: Option<()>,
    warnings: Option<(Vec<Warning>, u64)>,
    excluded: Option<(Vec<Excluded>, u64)>,
    errors: Option<(Vec<ErrorRecord>, u64)>,
    previous: Option<Option<Object<Previous>>>,
    /// The first field that manifests of this version do not have.
    unknown: Option<String>,
}

impl Head {
    fn field<R: Read>(
        &mut self,
        json: &mut Json<R>,
        name: &str,
        rows: &mut RowCheck<'_>,
    ) -> Result<(), Stop> {
        match name {
            "bundle_version" => {
                json.once(&mut self.bundle_version, name)?;
                match self.bundle_version.as_deref().map(version::age) {
                    Some(Age::Known(format)) => {
                        json.refuse(format.later(MANIFEST));
                        Ok(())
                    }
                    _ => Err(json.malformed("another version")),
                }
            }
            "tool_version" => json.once(&mut self.tool_version, name),
            "created_at" => json.once(&mut self.created_at, name),
            "framework" => json.once(&mut self.framework, name),
            "controls" => {
                json.once(&mut self.controls, name)?;
                Ok(names::within(MANIFEST, self.controls.iter().flatten())?)
            }
            "sources" => {
                json.once(&mut self.sources, name)?;
                let sources = self.sources.iter().flatten();
                let names = sources.flat_map(|Object(SourceRecord { id, kind })| [id, kind]);
                Ok(names::within(MANIFEST, names)?)
            }
            "signer" => json.once(&mut self.signer, name),
            "bundle_id" => json.once(&mut self.bundle_id, name),
            "organization" => json.once(&mut self.organization, name),
            "complete" => json.once(&mut self.complete, name),
            "previous" => json.once(&mut self.previous, name),
            "artifacts" => {
                json.first(&mut self.artifacts, name, ())?;
                json.list(|json| {
                    let Object(record) = json.value()?;
                    rows.artifact(&record)?;
                    json.pass(Row::Artifact(&record))
                })
            }
            "files" => {
                json.first(&mut self.files, name, ())?;
                json.list(|json| json.value().and_then(|Object(record)| Ok(rows.file(&record)?)))
            }
            "warnings" => {
                let warnings = kept(
                    json,
                    |warning: &Warning| {
                        rows.resumed |= warning.code == RESUMED;
                        rows.fixed_time |= warning.code == FIXED_TIME;
                        match &warning.source {
                            Some(source) => rows.mention(source, MANIFEST).map(|_| ()),
                            None => Ok(()),
                        }
                    },
                    |warning| Row::Warning(warning),
                )?;
                json.first(&mut self.warnings, name, warnings)
            }
            "excluded" => {
                let excluded = kept(
                    json,
                    |excluded: &Excluded| rows.excluded(excluded),
                    |excluded| Row::Excluded(excluded),
                )?;
                json.first(&mut self.excluded, name, excluded)
            }
            "errors" => {
                let errors = kept(
                    json,
                    |error: &ErrorRecord| rows.mention(&error.source, MANIFEST).map(|_| ()),
                    |error| Row::Error(error),
                )?;
                json.first(&mut self.errors, name, errors)
            }
            // Whether this is wrong depends on the version, which may come later.
            _ => {
                json.value::<IgnoredAny>()?;
                self.unknown.get_or_insert_with(|| name.to_owned());
                Ok(())
            }
        }
    }

    fn facts(
        self,
        format: Option<&'static FormatVersion>,
        rows: RowCheck<'_>,
    ) -> Result<ManifestFacts, VerifyError> {
        fn required<T>(field: Option<T>, name: &str) -> Result<T, VerifyError> {
            field.ok_or_else(|| malformed(format_args!("missing field `{name}`")))
        }
        if let Some(name) = &self.unknown {
            return Err(malformed(format_args!("unknown field `{name}`")));
        }
        let format = required(format, "bundle_version")?;
        required(self.artifacts, "artifacts")?;
        required(self.files, "files")?;
        let created_at = crate::time::parse(&required(self.created_at, "created_at")?)
            .ok_or_else(|| malformed("created_at is not an RFC 3339 time in whole seconds of UTC"))?;
        let sources = required(self.sources, "sources")?;
        let sources: Vec<String> = sources.into_iter().map(|Object(source)| source.id).collect();
        let controls = required(self.controls, "controls")?;
        rows.check_scope(&sources, &controls)?;
        let (collected, resumed, fixed_time) = (rows.collected, rows.resumed, rows.fixed_time);
        let (sizes, artifacts) = rows.sizes()?;
        let (warnings, warnings_total) = required(self.warnings, "warnings")?;
        let (excluded, excluded_total) = required(self.excluded, "excluded")?;
        let (errors, errors_total) = required(self.errors, "errors")?;
        let head = ManifestHead {
            created_at,
            tool_version: required(self.tool_version, "tool_version")?,
            framework: required(self.framework, "framework")?,
            controls,
            bundle_id: required(self.bundle_id, "bundle_id").and_then(bundle_id)?,
            organization: required(self.organization, "organization")?,
            complete: required(self.complete, "complete")?,
            warnings,
            warnings_total,
            excluded,
            excluded_total,
            errors,
            errors_total,
            previous: self.previous.flatten().map(|Object(previous)| previous),
            sources,
        };
        let Object(signer) = required(self.signer, "signer")?;
        let facts = ManifestFacts { head, format, sizes, artifacts, collected, resumed, fixed_time, signer };
        if facts.complete && facts.errors_total.max(facts.excluded_total) > 0 {
            let detail = "the manifest says that nothing is missing, but lists what is";
            return Err(VerifyError::at(Reason::CompleteMismatch, MANIFEST, detail));
        }
        Ok(facts)
    }
}

/// The first few records of a list, and how many there are.
fn kept<T: DeserializeOwned, R: Read>(
    json: &mut Json<R>,
    mut each: impl FnMut(&T) -> Result<(), VerifyError>,
    row: impl for<'t> Fn(&'t T) -> Row<'t>,
) -> Result<(Vec<T>, u64), Stop> {
    let (mut records, mut count, begin) = (Vec::new(), 0, json.position());
    json.list(|json| {
        let Object(record) = json.value()?;
        each(&record)?;
        json.pass(row(&record))?;
        count += 1;
        if records.len() < KEPT_RECORDS && json.position().saturating_sub(begin) <= KEPT_BYTES {
            records.push(record);
        }
        Ok(())
    })?;
    Ok((records, count))
}
