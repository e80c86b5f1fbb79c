//! Verifies a bundle in one pass, without extracting it: is this exactly what a trusted key signed?
//!
//! Before the signature is verified, only the list of checksums and the signature are read. Verification never opens a
//! path that a bundle names, and the list bounds its memory; the manifest is in memory only if it must name the key to
//! try. The documents are judged by their form and against each other, row by row, and a [`Sink`] receives each row.

mod archive;
mod derived;
mod head;
mod inflate;
mod key;
mod limits;
mod manifest;
mod manifest_rows;
mod names;
mod outcome;
mod pass;
mod population;
mod reason;
mod run;
mod sink;
mod stream;
mod strict;
mod waivers;

use std::io::{self, Read};

use evidence_text::{saturating_i64, saturating_u64};
use sha2::{Digest as _, Sha256};

pub use head::{KEPT_RECORDS, ManifestHead, WaiversHead};
pub use limits::{Expectations, Limits};
pub use outcome::{Failure, Intact, Judgement, NewerBundle, VerifiedBundle};
pub use reason::{Reason, VerifyError};
pub use sink::{ControlHead, Row, Sink};
pub use stream::{Json, Stop};
pub use waivers::{MAX_GLOBS, MAX_WAIVERS, WaiverSink, each_waiver};

use crate::checksums::ChecksumList;
use crate::document::{AppIdentity, RunRecord};
use crate::key::{PublicKey, SIGNATURE_BYTES};
use crate::path::{CHECKSUMS, MANIFEST, SIGNATURE};
use crate::trust::TrustRoot;
use archive::{Archive, NextEntry};
use key::{revoked, trusted_by};
use limits::within;
use manifest::ManifestVerdict;
use pass::Pass;
use reason::{check_digest, list_error};

/// How many seconds in the future a bundle's time may be before its age is rejected.
const CLOCK_SKEW: i64 = 300;

/// A bundle from anywhere: it cannot be read, only verified.
#[derive(Debug)]
pub struct UntrustedBundle<R> {
    reader: R,
}

impl<R: Read> UntrustedBundle<R> {
    /// A bundle from this reader, which needs no buffer.
    pub fn new(reader: R) -> UntrustedBundle<R> {
        UntrustedBundle { reader }
    }

    /// Verifies the whole bundle.
    ///
    /// # Errors
    /// Returns a [`Failure`], of one of four kinds.
    pub fn verify(
        self,
        trust: &TrustRoot,
        expectations: &Expectations,
        limits: &Limits,
    ) -> Result<VerifiedBundle, Failure> {
        self.judge(trust, expectations, limits, None)
    }

    /// Verifies the whole bundle and passes its rows and files to the sink.
    ///
    /// Without a trust root, the sink receives nothing.
    ///
    /// # Errors
    /// Returns a [`Failure`]; an error of the sink becomes [`Failure::CannotJudge`].
    pub fn verify_into(
        self,
        trust: &TrustRoot,
        expectations: &Expectations,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> Result<VerifiedBundle, Failure> {
        self.judge(trust, expectations, limits, Some(sink))
    }

    fn judge(
        self,
        trust: &TrustRoot,
        expectations: &Expectations,
        limits: &Limits,
        sink: Option<&mut dyn Sink>,
    ) -> Result<VerifiedBundle, Failure> {
        if expectations.max_age.is_some() && expectations.now.is_none() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "a maximum age needs the present time");
            return Err(Failure::CannotJudge(error));
        }
        let mut archive = Archive::open(self.reader, limits.inflated_bytes)?;
        let list =
            read_first(&mut archive, CHECKSUMS, |size| within(size, limits.checksums_bytes, CHECKSUMS))?;
        let signature = read_first(&mut archive, SIGNATURE, |size| {
            let detail = || format!("the signature has {size} bytes instead of {SIGNATURE_BYTES}");
            if size == 64 {
                Ok(())
            } else {
                Err(VerifyError::at(Reason::SignatureFormat, SIGNATURE, detail()))
            }
        })?;
        let signature = <[u8; SIGNATURE_BYTES]>::try_from(signature.as_slice())
            .map_err(|_| VerifyError::at(Reason::SignatureFormat, SIGNATURE, "the signature is cut off"))?;
        let (key, manifest) = authenticate(&mut archive, &list, &signature, trust, limits)?;
        // The time that the signer claims does not matter, so nothing else needs to be read.
        if let Some(revocation) = trust.revocation(&key) {
            return Err(revoked(&key, revocation, trust).into());
        }

        let checksums_sha256 = Sha256::digest(&list).into();
        let list = ChecksumList::parse(list, limits.files).map_err(list_error)?;
        let sink: Option<&mut dyn Sink> = match sink {
            Some(sink) if !trust.is_empty() => Some(sink),
            _ => None,
        };
        let mut pass = Pass { archive, list: &list, limits, sink };
        let files = saturating_u64(list.len());
        let facts = match pass.judge_manifest(manifest, &key)? {
            ManifestVerdict::Agrees(facts) => *facts,
            ManifestVerdict::Newer(version) => {
                // Every entry has the time of the bundle, whatever a manifest of that version says.
                let trusted_by = trusted_by(trust, &key, pass.archive.time())?;
                pass.check_files()?;
                pass.finish()?;
                let newer = NewerBundle { version, key_id: key.key_id(), trusted_by, files };
                return Err(Failure::NewerVersion(Box::new(newer)));
            }
        };
        let trusted_by = trusted_by(trust, &key, facts.created_at)?;
        let read = pass.read_files(&facts)?;
        pass.finish()?;
        expect(expectations, &facts)?;
        match trusted_by {
            Some(trusted_by) => {
                let pass::FilesRead { run, bytes, lacking, populations } = read;
                Ok(VerifiedBundle {
                    key_id: key.key_id(),
                    public_key: key,
                    trusted_by,
                    key_clock: trust.clock(&key),
                    revoked_keys: trust.revoked_keys(),
                    files,
                    bytes,
                    manifest: facts.head,
                    lacking,
                    populations,
                    apps: apps_of(&run),
                    source_date_epoch: run.source_date_epoch,
                    checksums_sha256,
                    judgement: None,
                })
            }
            None => Err(Failure::IntactNotAuthenticated(Box::new(Intact {
                key_id: key.key_id(),
                public_key: key,
                files,
                bytes: read.bytes,
                created_at: facts.created_at,
                bundle_id: facts.head.bundle_id,
                organization: facts.head.organization,
            }))),
        }
    }
}

/// Reads one of the entries before the list is known.
fn read_first<R: Read>(
    archive: &mut Archive<R>,
    path: &'static str,
    check: impl FnOnce(u64) -> Result<(), VerifyError>,
) -> Result<Vec<u8>, Failure> {
    let size = match archive.header(Some(path))? {
        NextEntry::Expected(size) => size,
        NextEntry::Other { path: found, .. } => {
            let detail = format!("{found} is where {path} must be");
            return Err(VerifyError::at(Reason::Layout, &found, detail).into());
        }
        NextEntry::End => {
            return Err(VerifyError::at(Reason::MissingFile, path, format!("{path} is missing")).into());
        }
    };
    check(size)?;
    Ok(archive.contents(path, size).into_memory()?.0)
}

/// Finds the key that made the signature. Returns the manifest too if it had to be read for that.
fn authenticate<R: Read>(
    archive: &mut Archive<R>,
    list: &[u8],
    signature: &[u8; SIGNATURE_BYTES],
    trust: &TrustRoot,
    limits: &Limits,
) -> Result<(PublicKey, Option<Vec<u8>>), Failure> {
    if let Some(entry) = trust.keys().iter().find(|entry| entry.key.verifies(list, signature)) {
        return Ok((entry.key, None));
    }
    let invalid = |detail: String| VerifyError::at(Reason::SignatureInvalid, SIGNATURE, detail);
    if !trust.is_empty() && !trust.has_fingerprints() {
        return Err(
            invalid("no trusted key made this signature over the list of checksums".to_owned()).into()
        );
    }
    // A fingerprint, or no trust root at all, does not give the key to try: the manifest must name it. Its checksum
    // is the first line of the list, so if the signature then holds, the manifest that named the key was signed too.
    let digest = list.get(..64).and_then(crate::checksums::parse_digest);
    let first = format!("  {MANIFEST}\n");
    let (Some(digest), true) =
        (digest, list.get(64..).is_some_and(|rest| rest.starts_with(first.as_bytes())))
    else {
        let detail = format!("the list does not begin with {MANIFEST}");
        return Err(VerifyError::at(Reason::ChecksumsFormat, CHECKSUMS, detail).into());
    };
    let manifest = read_first(archive, MANIFEST, |size| within(size, limits.manifest_bytes, MANIFEST))?;
    check_digest(MANIFEST, &digest, &Sha256::digest(&manifest).into())?;
    let key = manifest::named_key(&manifest)?;
    if !trust.is_empty() && !trust.pins(&key) {
        let detail = format!("the bundle names the key {}, which you do not trust", key.key_id());
        return Err(invalid(detail).into());
    }
    if !key.verifies(list, signature) {
        return Err(invalid("the key that the bundle names did not make this signature".to_owned()).into());
    }
    Ok((key, Some(manifest)))
}

fn expect(expectations: &Expectations, facts: &manifest::ManifestFacts) -> Result<(), VerifyError> {
    if let Some(expected) = &expectations.organization
        && !expected.eq_ignore_ascii_case(&facts.organization)
    {
        let detail = format!("the bundle is about {}, not {expected}", facts.organization);
        return Err(VerifyError::new(Reason::WrongOrg, detail));
    }
    if let (Some(max_age), Some(now)) = (expectations.max_age, expectations.now) {
        if facts.fixed_time {
            let detail = "the times of the bundle are not those of a clock, so its age is not known";
            return Err(VerifyError::new(Reason::TooOld, detail));
        }
        let max_age = saturating_i64(max_age.as_secs());
        let age = now.saturating_sub(facts.created_at);
        if age < -CLOCK_SKEW {
            let detail = format!("the bundle is dated {} seconds in the future", age.saturating_neg());
            return Err(VerifyError::new(Reason::TooOld, detail));
        }
        if age > max_age {
            let detail = format!("the bundle is {age} seconds old, more than {max_age}");
            return Err(VerifyError::new(Reason::TooOld, detail));
        }
    }
    Ok(())
}

/// The apps that collected, by source.
fn apps_of(run: &RunRecord) -> Vec<(String, AppIdentity)> {
    let apps =
        run.sources.iter().filter_map(|source| Some((source.name.clone(), source.identity.app.clone()?)));
    apps.collect()
}
