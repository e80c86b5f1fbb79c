//! Verifies a bundle in one pass, without extracting it: is this exactly what a trusted key signed?
//!
//! Before the signature is verified, only the list of checksums and the signature are read. Verification never opens a
//! path that a bundle names, and the list bounds its memory; the manifest is in memory only if it must name the key to
//! try, or a visitor reads it. The documents are judged by their form and against each other, row by row.

mod archive;
mod derived;
mod inflate;
mod key;
mod manifest;
mod names;
mod pass;
mod population;
mod reason;
mod run;
mod stream;
mod strict;
mod tee;
mod waivers;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

pub use reason::{Reason, VerifyError};
pub use stream::{Json, Stop};
pub use tee::{Chunks, Second, read_both};
pub use waivers::{MAX_GLOBS, MAX_WAIVERS, WaiverSink, WaiversHead, each_waiver};

use crate::checksums::{ChecksumList, ListError};
use crate::document::{ErrorRecord, Excluded, Previous, SourcePopulation, Warning};
use crate::key::{KeyId, PublicKey, SIGNATURE_BYTES};
use crate::path::{CHECKSUMS, MANIFEST, SIGNATURE};
use crate::trust::{KeyClock, TrustRoot};
use archive::{Archive, NextEntry};
use evidence_text::Chain;
use key::{revoked, trusted_by};
use manifest::{ManifestFacts, ManifestVerdict};
use pass::{FilesRead, Pass};

/// How many warnings, excluded artifacts and errors of a manifest to keep each; the rest are counted.
pub const KEPT_RECORDS: usize = 1_000;
/// How many bytes of each of these lists to keep: a record can be long.
const KEPT_BYTES: u64 = 2 << 20;

/// How many seconds in the future a bundle's time may be before its age is rejected.
const CLOCK_SKEW: i64 = 300;

/// Upper bounds on what verification reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Files that the list may name. Default 500,000.
    pub files: usize,
    /// Bytes that the bundle may inflate to. Default 16 GiB.
    pub inflated_bytes: u64,
    /// Bytes of the list of checksums, which is held in memory. Default 64 MiB.
    pub checksums_bytes: u64,
    /// Bytes of the manifest. Default 512 MiB.
    pub manifest_bytes: u64,
    /// Bytes of `run.json`, which is held in memory until it is judged. Default 16 MiB.
    pub run_bytes: u64,
    /// Bytes of `derived/hints.json` and of `derived/normalized.json`, each. Default 512 MiB.
    pub derived_bytes: u64,
}

impl Limits {
    /// The limits of the format's specification.
    pub const DEFAULT: Limits = Limits {
        files: 500_000,
        inflated_bytes: 16 << 30,
        checksums_bytes: 64 << 20,
        manifest_bytes: 512 << 20,
        run_bytes: 16 << 20,
        derived_bytes: 512 << 20,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// What the caller requires of the bundle beyond a good signature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    /// The organization that the evidence must be about; ASCII case is ignored.
    pub organization: Option<String>,
    /// The maximum age; a bundle with fixed times never satisfies it. Needs `now`.
    pub max_age: Option<Duration>,
    /// The current time in Unix seconds: this crate reads no clock.
    pub now: Option<i64>,
    /// Whether every check must be judged again. This crate knows no rule: whoever sets the
    /// [`judgement`](VerifiedBundle::judgement) refuses a bundle without a complete one.
    pub judgement: bool,
}

/// Why a bundle is not verified.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The bundle is not what a trusted key signed.
    #[error(transparent)]
    NotWhatWasSigned(#[from] VerifyError),
    /// Every check passes with the key that the bundle itself names, but there is no trust root: anyone could have
    /// made this bundle.
    #[error("signed by a key that you did not name as trusted ({})", .0.key_id)]
    IntactNotAuthenticated(Box<Intact>),
    /// The bundle has a later version of the format than this program reads. The signature and the checksums hold.
    #[error(transparent)]
    NewerVersion(Box<NewerBundle>),
    /// The bundle could not be read, or the question could not be answered.
    #[error("cannot read the bundle")]
    CannotJudge(#[source] io::Error),
}

/// An intact bundle by an unknown signer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Intact {
    /// The id of the signing key, according to the bundle itself.
    pub key_id: KeyId,
    /// The signing key, according to the bundle itself.
    pub public_key: PublicKey,
    /// The number of files that the list names.
    pub files: u64,
    /// The total size of those files in bytes.
    pub bytes: u64,
    /// When the bundle claims to be made, in Unix seconds.
    pub created_at: i64,
    /// The id that the bundle claims.
    pub bundle_id: String,
    /// The organization that the bundle claims to be about.
    pub organization: String,
}

/// A bundle of a later version of the format than this program reads.
///
/// The signature and every checksum hold; the contents were not judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "made by a newer evidence (bundle version {version}; this program reads up to {}); update to verify",
    crate::version::BUNDLE_VERSION
)]
#[non_exhaustive]
pub struct NewerBundle {
    /// The version of the format.
    pub version: String,
    /// The id of the signing key.
    pub key_id: KeyId,
    /// The label of the trust root's entry for the key; `None` without a trust root.
    pub trusted_by: Option<String>,
    /// The number of files that the list names.
    pub files: u64,
}

impl NewerBundle {
    /// The stable code of this result, beside those of [`Reason`].
    pub const CODE: &'static str = "newer-version";
}

/// A bundle that a trusted key signed, byte for byte.
///
/// Its content remains the signer's claim: its times, its completeness, its judgements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedBundle {
    /// The id of the signing key.
    pub key_id: KeyId,
    /// The signing key.
    pub public_key: PublicKey,
    /// The label of the trust root's entry for the key.
    pub trusted_by: String,
    /// By whose clock the key was judged.
    pub key_clock: KeyClock,
    /// How many entries the list of revoked keys had; `None` without a list.
    pub revoked_keys: Option<usize>,
    /// The number of files that the list names.
    pub files: u64,
    /// The total size of those files in bytes.
    pub bytes: u64,
    /// When the bundle was made, in Unix seconds, as the signer claims.
    pub created_at: i64,
    /// The id of the bundle, which can be one segment of a URL.
    pub bundle_id: String,
    /// The version of the tool that wrote the bundle.
    pub tool_version: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// The requested controls.
    pub controls: Vec<String>,
    /// The requested sources.
    pub sources: Vec<String>,
    /// Whether the run collected everything that was requested.
    pub complete: bool,
    /// The first [`KEPT_RECORDS`] warnings.
    pub warnings: Vec<Warning>,
    /// The number of warnings.
    pub warnings_total: u64,
    /// The first [`KEPT_RECORDS`] excluded artifacts.
    pub excluded: Vec<Excluded>,
    /// The number of excluded artifacts.
    pub excluded_total: u64,
    /// The first [`KEPT_RECORDS`] errors.
    pub errors: Vec<ErrorRecord>,
    /// The number of errors.
    pub errors_total: u64,
    /// The bundle before this one, if the signer names one.
    pub previous: Option<Previous>,
    /// The number of checks that are not verifiable because the run lacked access or information; see
    /// [`LACKING_REASONS`](crate::document::LACKING_REASONS).
    pub lacking: u64,
    /// What each source counts, and how that compares with everything there is.
    pub populations: Vec<SourcePopulation>,
    /// The fixed time that replaced the clock of the run, in Unix seconds, if any: `collect --reproducible`.
    pub source_date_epoch: Option<i64>,
    /// The SHA-256 of `checksums.sha256`, which identifies the bundle's contents.
    pub checksums_sha256: [u8; 32],
    /// The result of judging the checks again; `None` if nobody did. This crate knows no rule.
    pub judgement: Option<Judgement>,
}

/// The result of judging the checks of a bundle again from its signed facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The number of checks in the bundle.
    pub checks: u64,
    /// How many of them follow from the signed facts.
    pub repeated: u64,
    /// The checks of rules that the verifier does not know in the bundle's version: code, version and number.
    pub not_repeated: BTreeMap<(String, u32), u64>,
}

impl Judgement {
    /// Whether every check was judged again.
    pub fn is_complete(&self) -> bool {
        self.not_repeated.is_empty()
    }
}

/// Reads the contents of files during verification.
///
/// It receives the path and the contents of every listed file, in order, after the signature is verified. The contents
/// are proven only when the verification returns `Ok`: until then a later byte may still be wrong. Of a bundle of a newer
/// version it receives the manifest alone, or nothing.
pub type FileVisitor<'a> = dyn FnMut(&str, &mut dyn Read) -> io::Result<()> + 'a;

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

    /// Verifies the whole bundle and passes every listed file to the visitor.
    ///
    /// Without a trust root, the visitor is not called. It need not read a file to its end.
    ///
    /// # Errors
    /// Returns a [`Failure`]; an error of the visitor becomes [`Failure::CannotJudge`].
    pub fn verify_with(
        self,
        trust: &TrustRoot,
        expectations: &Expectations,
        limits: &Limits,
        visitor: &mut FileVisitor<'_>,
    ) -> Result<VerifiedBundle, Failure> {
        self.judge(trust, expectations, limits, Some(visitor))
    }

    fn judge(
        self,
        trust: &TrustRoot,
        expectations: &Expectations,
        limits: &Limits,
        visitor: Option<&mut FileVisitor<'_>>,
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
        let visitor = visitor.filter(|_| !trust.is_empty());
        let mut pass = Pass { archive, list: &list, limits, visitor };
        let files = u64::try_from(list.len()).unwrap_or(u64::MAX);
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
                let bundle = verified(facts, &key, trusted_by, files, read, checksums_sha256);
                Ok(VerifiedBundle {
                    key_clock: trust.clock(&key),
                    revoked_keys: trust.revoked_keys(),
                    ..bundle
                })
            }
            None => Err(Failure::IntactNotAuthenticated(Box::new(Intact {
                key_id: key.key_id(),
                public_key: key,
                files,
                bytes: read.bytes,
                created_at: facts.created_at,
                bundle_id: facts.bundle_id,
                organization: facts.organization,
            }))),
        }
    }
}

fn within(size: u64, limit: u64, path: &str) -> Result<(), VerifyError> {
    if size <= limit {
        return Ok(());
    }
    let detail = format!("{path} has {size} bytes, more than the limit of {limit} bytes");
    Err(VerifyError::at(Reason::Limit, path, detail))
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

fn check_digest(path: &str, listed: &[u8; 32], actual: &[u8; 32]) -> Result<(), VerifyError> {
    if listed == actual {
        return Ok(());
    }
    let detail = format!("{path}: expected {}, got {}", hex::encode(listed), hex::encode(actual));
    Err(VerifyError::at(Reason::ChecksumMismatch, path, detail))
}

fn list_error(error: ListError) -> VerifyError {
    let detail = Chain(&error).to_string();
    match error {
        ListError::TooManyFiles { .. } => VerifyError::at(Reason::Limit, CHECKSUMS, detail),
        ListError::Line { .. } => VerifyError::at(Reason::ChecksumsFormat, CHECKSUMS, detail),
        ListError::Path { .. } => VerifyError::at(Reason::Path, CHECKSUMS, detail),
        ListError::NoPlace { path } | ListError::Order { path } => {
            VerifyError::at(Reason::Layout, &path, detail)
        }
        ListError::Required { path } => VerifyError::at(Reason::Layout, path, detail),
        ListError::Collision(collision) => VerifyError::at(Reason::CaseCollision, &collision.second, detail),
    }
}

fn expect(expectations: &Expectations, facts: &ManifestFacts) -> Result<(), VerifyError> {
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
        let max_age = i64::try_from(max_age.as_secs()).unwrap_or(i64::MAX);
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

fn verified(
    facts: ManifestFacts,
    key: &PublicKey,
    trusted_by: String,
    files: u64,
    read: FilesRead,
    checksums_sha256: [u8; 32],
) -> VerifiedBundle {
    VerifiedBundle {
        key_id: key.key_id(),
        public_key: *key,
        trusted_by,
        key_clock: KeyClock::None,
        revoked_keys: None,
        files,
        bytes: read.bytes,
        created_at: facts.created_at,
        bundle_id: facts.bundle_id,
        tool_version: facts.tool_version,
        organization: facts.organization,
        framework: facts.framework,
        controls: facts.controls,
        sources: facts.sources,
        complete: facts.complete,
        warnings: facts.warnings.0,
        warnings_total: facts.warnings.1,
        excluded: facts.excluded.0,
        excluded_total: facts.excluded.1,
        errors: facts.errors.0,
        errors_total: facts.errors.1,
        previous: facts.previous,
        lacking: read.lacking,
        populations: read.populations,
        source_date_epoch: read.run.source_date_epoch,
        checksums_sha256,
        judgement: None,
    }
}
