//! Judging the manifest: its form, and that it says of every file what the signed list says.
//!
//! Its long lists are looked at row by row and never kept.

use std::fmt;
use std::marker::PhantomData;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{KEPT_RECORDS, Reason, VerifyError};
use crate::checksums::{self, ChecksumList};
use crate::document::{
    ArtifactRecord, ErrorRecord, Excluded, FileRecord, Manifest, Previous, SignerRecord, Warning,
};
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

type RawManifest<'a> = Manifest<&'a RawValue, &'a RawValue, &'a RawValue, &'a RawValue, &'a RawValue>;

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

/// Reads a manifest whose checksum is right and compares its rows with the list.
pub(super) fn judge(manifest: &[u8], list: &ChecksumList) -> Result<Facts, VerifyError> {
    let text = std::str::from_utf8(manifest).map_err(|_| malformed("not UTF-8 text"))?;
    let raw: RawManifest<'_> = serde_json::from_str(text).map_err(|error| match unknown_version(text) {
        Some(version) => unsupported(&version),
        None => malformed(error),
    })?;
    if raw.bundle_version != crate::BUNDLE_VERSION {
        return Err(unsupported(&raw.bundle_version));
    }
    super::shape::check(manifest).map_err(malformed)?;
    let created_at = crate::time::parse(&raw.created_at)
        .ok_or_else(|| malformed("created_at is no RFC 3339 time in whole seconds of UTC"))?;
    let mut artifacts = Artifacts { sizes: vec![None; list.len()], sources: &raw.sources, list };
    each_row(raw.artifacts, |record| artifacts.check(&record))?;
    let sizes = check_files(raw.files, list, &artifacts.sizes)?;
    Ok(Facts {
        sizes,
        created_at,
        warnings: keep(raw.warnings)?,
        excluded: keep(raw.excluded)?,
        errors: keep(raw.errors)?,
        tool_version: raw.tool_version,
        framework: raw.framework,
        controls: raw.controls,
        sources: raw.sources,
        signer: raw.signer,
        bundle_id: raw.bundle_id,
        organization: raw.organization,
        complete: raw.complete,
        previous: raw.previous,
    })
}

fn unsupported(version: &str) -> VerifyError {
    let detail = format!("the bundle has version {version}; this program knows {}", crate::BUNDLE_VERSION);
    VerifyError::at(Reason::UnsupportedFormat, MANIFEST, detail)
}

/// The version of a manifest that is otherwise not understood, if that is the reason.
fn unknown_version(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Version {
        bundle_version: String,
    }
    let version = serde_json::from_str::<Version>(text).ok()?.bundle_version;
    (version != crate::BUNDLE_VERSION).then_some(version)
}

struct Artifacts<'a> {
    /// The size of the artifact in each row of the list, once it was seen.
    sizes: Vec<Option<u64>>,
    sources: &'a [String],
    list: &'a ChecksumList,
}

impl Artifacts<'_> {
    fn check(&mut self, record: &ArtifactRecord) -> Result<(), VerifyError> {
        let path = &record.filename;
        let prefix = format!("sources/{}/", path::encode_component(&record.source));
        if !path.starts_with(&prefix) || !self.sources.contains(&record.source) {
            return Err(mismatch(
                path,
                format_args!("an artifact that does not belong to the source it names"),
            ));
        }
        let index = self.list.position(path);
        let (Some(row), Some(size)) =
            (index.and_then(|index| self.list.row(index)), index.and_then(|index| self.sizes.get_mut(index)))
        else {
            return Err(mismatch(path, "the manifest names an artifact that the list does not"));
        };
        if checksums::parse_digest(record.checksum.as_bytes()) != Some(row.sha256) {
            return Err(mismatch(path, "the artifact's checksum is not that of the list"));
        }
        match size.replace(record.size_bytes) {
            None => Ok(()),
            Some(_) => Err(mismatch(path, "the manifest names the artifact twice")),
        }
    }
}

/// Checks that `files` is exactly the list without the manifest, and gives the sizes per row of the list.
fn check_files(
    files: &RawValue,
    list: &ChecksumList,
    artifacts: &[Option<u64>],
) -> Result<Vec<u64>, VerifyError> {
    let mut sizes = vec![0];
    each_row(files, |record: FileRecord| {
        let index = sizes.len();
        let row = list.row(index).filter(|row| row.path == record.path);
        let row =
            row.ok_or_else(|| mismatch(&record.path, "the manifest and the list name other files here"))?;
        if checksums::parse_digest(record.sha256.as_bytes()) != Some(row.sha256) {
            return Err(mismatch(row.path, "the checksum in the manifest is not that of the list"));
        }
        match artifacts.get(index) {
            Some(None) if row.path.starts_with("sources/") => {
                return Err(mismatch(row.path, "the file is no artifact of the manifest"));
            }
            Some(Some(size)) if *size != record.size => {
                return Err(mismatch(row.path, "the manifest gives the file two sizes"));
            }
            _ => {}
        }
        sizes.push(record.size);
        Ok(())
    })?;
    match list.row(sizes.len()) {
        Some(row) => Err(mismatch(row.path, "the manifest does not name the file")),
        None => Ok(sizes),
    }
}

fn keep<'a, T: Deserialize<'a>>(rows: &'a RawValue) -> Result<(Vec<T>, u64), VerifyError> {
    let (mut kept, mut count) = (Vec::new(), 0);
    each_row(rows, |row| {
        count += 1;
        if kept.len() < KEPT_RECORDS {
            kept.push(row);
        }
        Ok(())
    })?;
    Ok((kept, count))
}

/// Calls `check` with every row of a JSON array, one after the other.
fn each_row<'a, T, F>(rows: &'a RawValue, check: F) -> Result<(), VerifyError>
where
    T: Deserialize<'a>,
    F: FnMut(T) -> Result<(), VerifyError>,
{
    let mut refusal = None;
    let seed = EachRow { check, refusal: &mut refusal, row: PhantomData };
    let result = seed.deserialize(&mut serde_json::Deserializer::from_str(rows.get()));
    match (refusal, result) {
        (Some(refusal), _) => Err(refusal),
        (None, result) => result.map_err(malformed),
    }
}

struct EachRow<'r, T, F> {
    check: F,
    refusal: &'r mut Option<VerifyError>,
    row: PhantomData<T>,
}

impl<'de, T, F> DeserializeSeed<'de> for EachRow<'_, T, F>
where
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<(), VerifyError>,
{
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T, F> Visitor<'de> for EachRow<'_, T, F>
where
    T: Deserialize<'de>,
    F: FnMut(T) -> Result<(), VerifyError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element()? {
            if let Err(refusal) = (self.check)(row) {
                *self.refusal = Some(refusal);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}
