//! The closed list of reasons for which a bundle is refused, and their meanings.

use std::fmt;

use evidence_text::{Chain, Printable};

use crate::checksums::ListError;
use crate::path::CHECKSUMS;

/// Why a bundle is not what a trusted key signed. The codes are stable: scripts and audits rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No trusted key made the signature.
    SignatureInvalid,
    /// The signature does not have 64 bytes.
    SignatureFormat,
    /// The key was not valid when the bundle was made.
    KeyOutsideValidity,
    /// The key is revoked.
    KeyRevoked,
    /// The manifest names a key other than the one that signed.
    KeyIdMismatch,
    /// A file does not have the listed checksum.
    ChecksumMismatch,
    /// A listed file is missing.
    MissingFile,
    /// A file is not listed.
    UnlistedFile,
    /// The manifest and the files disagree.
    ManifestMismatch,
    /// The manifest cannot be read.
    ManifestFormat,
    /// The format is unknown.
    UnsupportedFormat,
    /// A document under `derived/` cannot be read.
    DocumentFormat,
    /// The documents name different frameworks, controls, sources or versions of the tool.
    ScopeMismatch,
    /// A judgement rests on a file that is not in the bundle.
    EvidenceMismatch,
    /// The status of a control does not follow from its checks.
    StatusMismatch,
    /// The summary does not match the rows.
    SummaryMismatch,
    /// The bundle is marked complete although something is missing.
    CompleteMismatch,
    /// Checks are missing, or there are more than the rules and the population give.
    ChecksIncomplete,
    /// The status, reason or text of a check does not follow from the signed facts.
    JudgementDiffers,
    /// The counts of the run do not reconcile with the artifacts.
    CountMismatch,
    /// The times of the run, the artifacts and the bundle are malformed or out of order.
    TimeOrder,
    /// The list of checksums is malformed.
    ChecksumsFormat,
    /// A path breaks the rules for paths.
    Path,
    /// Two paths cannot both exist on every file system.
    CaseCollision,
    /// A file is out of place.
    Layout,
    /// An entry does not have the time of the bundle.
    Mtime,
    /// An entry is not a regular file.
    TarType,
    /// A pax header is not the one allowed.
    TarPax,
    /// A number is not in octal digits.
    TarNumber,
    /// A header is not the one that a writer of this format writes.
    TarNoncanonical,
    /// The bytes after a file are not zero.
    TarPadding,
    /// The archive ends inside an entry.
    TarTruncated,
    /// The end of the archive is not two blocks of zeros.
    TarEnd,
    /// The compression is damaged.
    Gzip,
    /// Bytes follow the compressed data.
    GzipTrailing,
    /// The bundle exceeds a limit.
    Limit,
    /// Some checks could not be judged again, and the caller requires it.
    JudgementNotRepeated,
    /// The bundle is older than expected.
    TooOld,
    /// The bundle is about another organization than expected.
    WrongOrg,
}

impl Reason {
    /// Every reason, in the order of the documentation.
    pub const ALL: [Reason; 39] = [
        Reason::SignatureInvalid,
        Reason::SignatureFormat,
        Reason::KeyOutsideValidity,
        Reason::KeyRevoked,
        Reason::KeyIdMismatch,
        Reason::ChecksumMismatch,
        Reason::MissingFile,
        Reason::UnlistedFile,
        Reason::ManifestMismatch,
        Reason::ManifestFormat,
        Reason::UnsupportedFormat,
        Reason::DocumentFormat,
        Reason::ScopeMismatch,
        Reason::EvidenceMismatch,
        Reason::StatusMismatch,
        Reason::SummaryMismatch,
        Reason::CompleteMismatch,
        Reason::ChecksIncomplete,
        Reason::JudgementDiffers,
        Reason::CountMismatch,
        Reason::TimeOrder,
        Reason::ChecksumsFormat,
        Reason::Path,
        Reason::CaseCollision,
        Reason::Layout,
        Reason::Mtime,
        Reason::TarType,
        Reason::TarPax,
        Reason::TarNumber,
        Reason::TarNoncanonical,
        Reason::TarPadding,
        Reason::TarTruncated,
        Reason::TarEnd,
        Reason::Gzip,
        Reason::GzipTrailing,
        Reason::Limit,
        Reason::JudgementNotRepeated,
        Reason::TooOld,
        Reason::WrongOrg,
    ];

    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Reason::SignatureInvalid => "signature-invalid",
            Reason::SignatureFormat => "signature-format",
            Reason::KeyOutsideValidity => "key-outside-validity",
            Reason::KeyRevoked => "key-revoked",
            Reason::KeyIdMismatch => "key-id-mismatch",
            Reason::ChecksumMismatch => "checksum-mismatch",
            Reason::MissingFile => "missing-file",
            Reason::UnlistedFile => "unlisted-file",
            Reason::ManifestMismatch => "manifest-mismatch",
            Reason::ManifestFormat => "manifest-format",
            Reason::UnsupportedFormat => "unsupported-format",
            Reason::DocumentFormat => "document-format",
            Reason::ScopeMismatch => "scope-mismatch",
            Reason::EvidenceMismatch => "evidence-mismatch",
            Reason::StatusMismatch => "status-mismatch",
            Reason::SummaryMismatch => "summary-mismatch",
            Reason::CompleteMismatch => "complete-mismatch",
            Reason::ChecksIncomplete => "checks-incomplete",
            Reason::JudgementDiffers => "judgement-differs",
            Reason::CountMismatch => "count-mismatch",
            Reason::TimeOrder => "time-order",
            Reason::ChecksumsFormat => "checksums-format",
            Reason::Path => "path",
            Reason::CaseCollision => "case-collision",
            Reason::Layout => "layout",
            Reason::Mtime => "mtime",
            Reason::TarType => "tar-type",
            Reason::TarPax => "tar-pax",
            Reason::TarNumber => "tar-number",
            Reason::TarNoncanonical => "tar-noncanonical",
            Reason::TarPadding => "tar-padding",
            Reason::TarTruncated => "tar-truncated",
            Reason::TarEnd => "tar-end",
            Reason::Gzip => "gzip",
            Reason::GzipTrailing => "gzip-trailing",
            Reason::Limit => "limit",
            Reason::JudgementNotRepeated => "judgement-not-repeated",
            Reason::TooOld => "too-old",
            Reason::WrongOrg => "wrong-org",
        }
    }

    /// What the reason means for the reader of the bundle, as one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Reason::SignatureInvalid => {
                "No key you trust signed the list of checksums: it was changed, or someone else signed it."
            }
            Reason::SignatureFormat => "The signature is damaged: it does not have 64 bytes.",
            Reason::KeyOutsideValidity => {
                "You do not trust this key for the time at which the bundle says it was made."
            }
            Reason::KeyRevoked => "Your list of revoked keys names the key that signed the bundle.",
            Reason::KeyIdMismatch => {
                "The manifest names a different key from the one that signed the bundle."
            }
            Reason::ChecksumMismatch => "A file was changed after the bundle was signed.",
            Reason::MissingFile => "A signed file is missing from the bundle.",
            Reason::UnlistedFile => "A file was added after the bundle was signed.",
            Reason::ManifestMismatch => "The manifest describes other files than the bundle holds.",
            Reason::ManifestFormat => "The manifest does not follow this format.",
            Reason::UnsupportedFormat => "The bundle has a format that this program does not know.",
            Reason::DocumentFormat => {
                "A document with results does not follow this format, or can be read in two ways."
            }
            Reason::ScopeMismatch => "The documents of the bundle are about different controls or sources.",
            Reason::EvidenceMismatch => "A judgement refers to evidence that the bundle does not hold.",
            Reason::StatusMismatch => "The status of a control does not follow from its checks.",
            Reason::SummaryMismatch => "The summary does not count the results that the bundle holds.",
            Reason::CompleteMismatch => {
                "The bundle calls itself complete and also says that something is missing."
            }
            Reason::ChecksIncomplete => {
                "The checks of the bundle are not the ones that its rules and its population give."
            }
            Reason::JudgementDiffers => {
                "A result in the bundle does not follow from the facts in the bundle."
            }
            Reason::CountMismatch => "The counts of the run do not match the evidence in the bundle.",
            Reason::TimeOrder => "The times in the bundle contradict each other.",
            Reason::ChecksumsFormat => "The list of checksums does not follow this format.",
            Reason::Path => "The bundle names a path that would be unsafe on some machine.",
            Reason::CaseCollision => "Two files of the bundle would overwrite each other on some machines.",
            Reason::Layout => "A file is not where this format puts it.",
            Reason::Mtime => "A time in the archive differs from the time in the manifest.",
            Reason::TarType => "The archive holds something that is not a regular file.",
            Reason::TarPax => "The archive holds an extended header that this format does not allow.",
            Reason::TarNumber => "The archive holds a number in a form that this format does not allow.",
            Reason::TarNoncanonical => {
                "The archive was not written by this format's rules, so programs may read it differently."
            }
            Reason::TarPadding => "The archive hides bytes between its files.",
            Reason::TarTruncated => "The archive is cut off.",
            Reason::TarEnd => {
                "The archive does not end as this format requires; something may be hidden there."
            }
            Reason::Gzip => "The compressed data are damaged or cut off, or another program packed them.",
            Reason::GzipTrailing => "Bytes follow the end of the bundle; something may be hidden there.",
            Reason::Limit => "The bundle is larger than the limits of this program allow.",
            Reason::JudgementNotRepeated => {
                "This program does not know the rules of some checks, so it cannot judge them again."
            }
            Reason::TooOld => {
                "The bundle is older than you allowed, dated in the future, or has a fixed time."
            }
            Reason::WrongOrg => "The bundle is not about the organization you expected.",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A bundle is not what a trusted key signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct VerifyError {
    /// The stable reason.
    pub reason: Reason,
    /// What was found, with control characters escaped.
    pub detail: String,
    /// The path of the affected file, exactly as in the bundle: not escaped.
    pub path: Option<String>,
}

impl VerifyError {
    /// An error without a path. The detail may hold text from the bundle.
    pub fn new(reason: Reason, detail: impl AsRef<str>) -> VerifyError {
        VerifyError { reason, detail: Printable(detail.as_ref()).to_string(), path: None }
    }

    /// An error at a path.
    pub fn at(reason: Reason, path: &str, detail: impl AsRef<str>) -> VerifyError {
        VerifyError { path: Some(path.to_owned()), ..VerifyError::new(reason, detail) }
    }
}

/// Compares a checksum with the listed one.
pub(super) fn check_digest(path: &str, listed: &[u8; 32], actual: &[u8; 32]) -> Result<(), VerifyError> {
    if listed == actual {
        return Ok(());
    }
    let detail = format!("{path}: expected {}, got {}", hex::encode(listed), hex::encode(actual));
    Err(VerifyError::at(Reason::ChecksumMismatch, path, detail))
}

/// The refusal of a list of checksums.
pub(super) fn list_error(error: ListError) -> VerifyError {
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
