//! Judging the manifest: its form, and that it says of every file what the signed list says.
//!
//! It is read row by row and never in memory as a whole: that of a large organization is larger than everything else.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{KEPT_RECORDS, Reason, VerifyError};
use crate::checksums::{self, ChecksumList};
use crate::document::{ArtifactRecord, ErrorRecord, Excluded, FileRecord, Previous, SignerRecord, Warning};
use crate::json::Object;
use crate::key::{ALGORITHM, KeyError, PublicKey};
use crate::path::{self, MANIFEST};

/// What verification keeps of a manifest.
pub(super) struct Facts {
    /// The size of the file in each row of the list; that of the manifest itself is not known and 0.
    pub(super) sizes: Vec<u64>,
    pub(super) created_at: i64,
    pub(super) tool_version: String,
    pub(super) framework: String,
    pub(super) controls: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) signer: SignerRecord,
    pub(super) bundle_id: String,
    pub(super) organization: String,
    pub(super) complete: bool,
    pub(super) warnings: (Vec<Warning>, u64),
    pub(super) excluded: (Vec<Excluded>, u64),
    pub(super) errors: (Vec<ErrorRecord>, u64),
    pub(super) previous: Option<Previous>,
}

fn malformed(detail: impl fmt::Display) -> VerifyError {
    VerifyError::at(Reason::ManifestFormat, MANIFEST, format!("the manifest is malformed: {detail}"))
}

fn mismatch(path: &str, detail: impl fmt::Display) -> VerifyError {
    VerifyError::at(Reason::ManifestMismatch, path, format!("{path}: {detail}"))
}

/// The key that a manifest names, for where nothing else says which key to try.
pub(super) fn named_key(manifest: &[u8]) -> Result<PublicKey, VerifyError> {
    #[derive(Deserialize)]
    struct Signer {
        signer: SignerRecord,
    }
    let named: Signer = serde_json::from_slice(manifest).map_err(malformed)?;
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
/// Nobody has checked the manifest's own checksum yet: what this says counts only once it was.
pub(super) fn judge(manifest: impl Read, list: &ChecksumList) -> Result<Facts, VerifyError> {
    let mut rows = Rows::of(list);
    let mut head = Head::default();
    let mut deserializer = serde_json::Deserializer::from_reader(manifest);
    let read = Reading { head: &mut head, rows: &mut rows }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    if let Some(version) = head.bundle_version.as_ref().filter(|version| *version != crate::BUNDLE_VERSION) {
        return Err(unsupported(version));
    }
    if let Some(refusal) = rows.refusal.take() {
        return Err(refusal);
    }
    read.map_err(malformed)?;
    head.facts(rows)
}

fn unsupported(version: &str) -> VerifyError {
    let detail = format!("the bundle has version {version}; this program knows {}", crate::BUNDLE_VERSION);
    VerifyError::at(Reason::UnsupportedFormat, MANIFEST, detail)
}

/// The short fields of a manifest, as far as they have been read, and the records that are kept.
#[derive(Default)]
struct Head {
    bundle_version: Option<String>,
    tool_version: Option<String>,
    created_at: Option<String>,
    framework: Option<String>,
    controls: Option<Vec<String>>,
    sources: Option<Vec<String>>,
    artifacts: Option<()>,
    signer: Option<Object<SignerRecord>>,
    bundle_id: Option<String>,
    organization: Option<String>,
    complete: Option<bool>,
    files: Option<()>,
    warnings: Option<Kept<Warning>>,
    excluded: Option<Kept<Excluded>>,
    errors: Option<Kept<ErrorRecord>>,
    previous: Option<Option<Object<Previous>>>,
    /// The first field that no manifest of this version has.
    unknown: Option<String>,
}

/// A document that must be an object: a derived struct also accepts a list, and takes its items for the fields in order.
struct Reading<'r, 'a> {
    head: &'r mut Head,
    rows: &'r mut Rows<'a>,
}

impl<'de> DeserializeSeed<'de> for Reading<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Reading { head, rows } = self;
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "bundle_version" => {
                    once(&mut head.bundle_version, "bundle_version", &mut fields)?;
                    if head.bundle_version.as_deref() != Some(crate::BUNDLE_VERSION) {
                        return Err(A::Error::custom("another version"));
                    }
                }
                "tool_version" => once(&mut head.tool_version, "tool_version", &mut fields)?,
                "created_at" => once(&mut head.created_at, "created_at", &mut fields)?,
                "framework" => once(&mut head.framework, "framework", &mut fields)?,
                "controls" => once(&mut head.controls, "controls", &mut fields)?,
                "sources" => once(&mut head.sources, "sources", &mut fields)?,
                "signer" => once(&mut head.signer, "signer", &mut fields)?,
                "bundle_id" => once(&mut head.bundle_id, "bundle_id", &mut fields)?,
                "organization" => once(&mut head.organization, "organization", &mut fields)?,
                "complete" => once(&mut head.complete, "complete", &mut fields)?,
                "warnings" => once(&mut head.warnings, "warnings", &mut fields)?,
                "excluded" => once(&mut head.excluded, "excluded", &mut fields)?,
                "errors" => once(&mut head.errors, "errors", &mut fields)?,
                "previous" => once(&mut head.previous, "previous", &mut fields)?,
                "artifacts" => {
                    first(&mut head.artifacts, "artifacts", ())?;
                    fields.next_value_seed(EachRow(
                        |record: ArtifactRecord| rows.artifact(record),
                        PhantomData,
                    ))?;
                }
                "files" => {
                    first(&mut head.files, "files", ())?;
                    fields.next_value_seed(EachRow(|record: FileRecord| rows.file(&record), PhantomData))?;
                }
                // The version, which may come later, says whether this is wrong.
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                    head.unknown.get_or_insert(name);
                }
            }
        }
        Ok(())
    }
}

fn once<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    name: &'static str,
    fields: &mut A,
) -> Result<(), A::Error> {
    let value = fields.next_value()?;
    first(field, name, value)
}

fn first<T, E: serde::de::Error>(field: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

impl Head {
    fn facts(self, rows: Rows<'_>) -> Result<Facts, VerifyError> {
        fn there<T>(field: Option<T>, name: &str) -> Result<T, VerifyError> {
            field.ok_or_else(|| malformed(format_args!("missing field `{name}`")))
        }
        if let Some(name) = &self.unknown {
            return Err(malformed(format_args!("unknown field `{name}`")));
        }
        there(self.bundle_version, "bundle_version")?;
        there(self.artifacts, "artifacts")?;
        there(self.files, "files")?;
        let created_at = crate::time::parse(&there(self.created_at, "created_at")?)
            .ok_or_else(|| malformed("created_at is no RFC 3339 time in whole seconds of UTC"))?;
        let sources = there(self.sources, "sources")?;
        Ok(Facts {
            created_at,
            tool_version: there(self.tool_version, "tool_version")?,
            framework: there(self.framework, "framework")?,
            controls: there(self.controls, "controls")?,
            signer: there(self.signer, "signer")?.0,
            bundle_id: there(self.bundle_id, "bundle_id")?,
            organization: there(self.organization, "organization")?,
            complete: there(self.complete, "complete")?,
            warnings: there(self.warnings, "warnings")?.into(),
            excluded: there(self.excluded, "excluded")?.into(),
            errors: there(self.errors, "errors")?.into(),
            previous: self.previous.flatten().map(|Object(previous)| previous),
            sizes: rows.sizes(&sources)?,
            sources,
        })
    }
}

/// What the rows of a manifest say of the files of the list.
struct Rows<'a> {
    list: &'a ChecksumList,
    /// The size of the artifact in each row of the list, once it was seen.
    artifacts: Vec<Option<u64>>,
    /// The size of the file in each row of the list, as far as the files have been read. That of the manifest, the
    /// first, is not known and 0.
    files: Vec<u64>,
    /// Every source that an artifact names, with the first that does.
    named: BTreeMap<String, String>,
    /// Why the first wrong row is refused.
    refusal: Option<VerifyError>,
}

impl<'a> Rows<'a> {
    fn of(list: &'a ChecksumList) -> Rows<'a> {
        let (artifacts, files) = (vec![None; list.len()], vec![0]);
        Rows { list, artifacts, files, named: BTreeMap::new(), refusal: None }
    }

    /// Whether the row of an artifact agrees with the list.
    fn artifact(&mut self, record: ArtifactRecord) -> bool {
        let checked = self.check_artifact(record);
        self.agrees(checked)
    }

    /// Whether the row of a file agrees with the list.
    fn file(&mut self, record: &FileRecord) -> bool {
        let checked = self.check_file(record);
        self.agrees(checked)
    }

    fn agrees(&mut self, checked: Result<(), VerifyError>) -> bool {
        match checked {
            Ok(()) => true,
            Err(refusal) => {
                self.refusal.get_or_insert(refusal);
                false
            }
        }
    }

    fn check_artifact(&mut self, record: ArtifactRecord) -> Result<(), VerifyError> {
        let path = record.filename;
        if !path.starts_with(&format!("sources/{}/", path::encode_component(&record.source))) {
            return Err(foreign(&path));
        }
        let index = self.list.position(&path);
        let (Some(row), Some(size)) = (
            index.and_then(|index| self.list.row(index)),
            index.and_then(|index| self.artifacts.get_mut(index)),
        ) else {
            return Err(mismatch(&path, "the manifest names an artifact that the list does not"));
        };
        if checksums::parse_digest(record.checksum.as_bytes()) != Some(row.sha256) {
            return Err(mismatch(&path, "the artifact's checksum is not that of the list"));
        }
        if size.replace(record.size_bytes).is_some() {
            return Err(mismatch(&path, "the manifest names the artifact twice"));
        }
        self.named.entry(record.source).or_insert(path);
        Ok(())
    }

    fn check_file(&mut self, record: &FileRecord) -> Result<(), VerifyError> {
        let row = self.list.row(self.files.len()).filter(|row| row.path == record.path);
        let row =
            row.ok_or_else(|| mismatch(&record.path, "the manifest and the list name other files here"))?;
        if checksums::parse_digest(record.sha256.as_bytes()) != Some(row.sha256) {
            return Err(mismatch(row.path, "the checksum in the manifest is not that of the list"));
        }
        self.files.push(record.size);
        Ok(())
    }

    /// The size of every file: exactly the list without the manifest, and what is an artifact is called one.
    fn sizes(self, sources: &[String]) -> Result<Vec<u64>, VerifyError> {
        if let Some((_, path)) = self.named.iter().find(|(source, _)| !sources.contains(source)) {
            return Err(foreign(path));
        }
        for (index, (size, artifact)) in self.files.iter().zip(&self.artifacts).enumerate() {
            let path = self.list.path(index).unwrap_or_default();
            match artifact {
                None if path.starts_with("sources/") => {
                    return Err(mismatch(path, "the file is no artifact of the manifest"));
                }
                Some(artifact) if artifact != size => {
                    return Err(mismatch(path, "the manifest gives the file two sizes"));
                }
                _ => {}
            }
        }
        match self.list.row(self.files.len()) {
            Some(row) => Err(mismatch(row.path, "the manifest does not name the file")),
            None => Ok(self.files),
        }
    }
}

fn foreign(path: &str) -> VerifyError {
    mismatch(path, "an artifact that does not belong to the source it names")
}

/// The first few records of a list, and how many there are.
struct Kept<T> {
    records: Vec<T>,
    count: u64,
}

impl<T> From<Kept<T>> for (Vec<T>, u64) {
    fn from(kept: Kept<T>) -> (Vec<T>, u64) {
        (kept.records, kept.count)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kept<T>, D::Error> {
        let mut kept = Kept { records: Vec::new(), count: 0 };
        let keep = |record| {
            kept.count += 1;
            if kept.records.len() < KEPT_RECORDS {
                kept.records.push(record);
            }
            true
        };
        EachRow(keep, PhantomData).deserialize(deserializer)?;
        Ok(kept)
    }
}

/// Calls the function with every row of a list, one after the other, until it says no.
struct EachRow<T, F>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> bool> DeserializeSeed<'de> for EachRow<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> bool> Visitor<'de> for EachRow<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        while let Some(Object(row)) = rows.next_element()? {
            if !(self.0)(row) {
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}
