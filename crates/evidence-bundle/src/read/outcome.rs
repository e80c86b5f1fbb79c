//! What verification finds out.

use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;

use super::head::ManifestHead;
use super::reason::VerifyError;
use crate::document::{AppIdentity, SourcePopulation};
use crate::key::{KeyId, PublicKey};
use crate::trust::KeyClock;

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
    /// The stable code of this result, beside those of [`Reason`](super::Reason).
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
    /// What the manifest says.
    pub manifest: ManifestHead,
    /// The number of checks that are not verifiable because the run lacked access or information; see
    /// [`LACKING_REASONS`](crate::document::LACKING_REASONS).
    pub lacking: u64,
    /// What each source counts, and how that compares with everything there is.
    pub populations: Vec<SourcePopulation>,
    /// The apps that collected, by the name of the source, and what the host granted them.
    pub apps: Vec<(String, AppIdentity)>,
    /// The fixed time that replaced the clock of the run, in Unix seconds, if any: `collect --reproducible`.
    pub source_date_epoch: Option<i64>,
    /// The SHA-256 of `checksums.sha256`, which identifies the bundle's contents.
    pub checksums_sha256: [u8; 32],
    /// The result of judging the checks again; `None` if the caller did not. This crate has no rules.
    pub judgement: Option<Judgement>,
}

impl Deref for VerifiedBundle {
    type Target = ManifestHead;

    fn deref(&self) -> &ManifestHead {
        &self.manifest
    }
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
