//! Verifies a bundle completely, with the digest of its bytes, within the platform's limits.

use std::io::{self, Read, Write};

use evidence_bundle::hashing::Hashing;
use evidence_bundle::{Expectations, Failure, Limits, Reason, TrustRoot, VerifiedBundle};
use evidence_view::{Overview, OverviewReader, Recorder, Sink};

use crate::error::Error;
use crate::id::BlobDigest;
use crate::readings::ROWS_BYTES;

/// The limits for a stored bundle: less memory than the format allows. The operator can set a lower limit for the
/// inflated size of uploads.
pub const LIMITS: Limits = Limits {
    files: 200_000,
    inflated_bytes: 16 << 30,
    checksums_bytes: 32 << 20,
    manifest_bytes: 64 << 20,
    run_bytes: 4 << 20,
    derived_bytes: 256 << 20,
};

/// The most controls of a judgement. A framework has a few dozen.
const CONTROLS: usize = 256;
/// The most bytes of a bundle's overview as JSON.
const OVERVIEW_BYTES: usize = 256 << 10;

/// Verifies a bundle while `reader` reads it. Also returns the SHA-256 of the bytes, whatever the verdict. Use the
/// reader's results only if the verdict is good and the digest is the expected one.
///
/// Checks that cannot be judged again, because this version does not know their rule, are no reason to refuse it.
///
/// # Errors
/// Fails with [`Error::Refused`] if a trusted key did not sign exactly this, [`Error::NoTrustedKey`] if there is
/// none, and [`Error::Unavailable`] if the bundle could not be read.
pub fn read<T: Sink>(
    bundle: impl Read,
    trust: &TrustRoot,
    limits: &Limits,
    reader: T,
) -> (Result<(VerifiedBundle, T), Error>, Option<BlobDigest>) {
    read_as(bundle, trust, &Expectations::default(), limits, reader)
}

fn read_as<T: Sink>(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    reader: T,
) -> (Result<(VerifiedBundle, T), Error>, Option<BlobDigest>) {
    let mut bundle = Hashing::new(bundle);
    let verdict = evidence_view::read(&mut bundle, trust, expectations, limits, reader);
    (verdict.map_err(refusal), digest(bundle))
}

/// What a bundle is judged by.
#[derive(Debug)]
pub struct Terms {
    /// The keys that may have signed it.
    pub trust: TrustRoot,
    /// How large it may be.
    pub limits: Limits,
    /// Whether every check must be judged again.
    pub judgement: bool,
}

impl Terms {
    /// The terms for a stored bundle: an operator's demands are for uploads.
    pub fn stored(trust: TrustRoot) -> Terms {
        Terms { trust, limits: LIMITS, judgement: false }
    }
}

/// The overview, and what was written.
pub type Verdict<W> = Result<(Overview, Option<W>), Error>;

/// Like [`read`], for the overview that the platform stores. Also writes the rows to `out`, and returns it if they are
/// complete; what cannot be written does not change the verdict.
///
/// # Errors
/// Fails like [`read`], and with [`Error::Refused`] if the overview is too large to store.
pub fn overview<W: Write>(
    bundle: impl Read,
    terms: &Terms,
    out: Option<W>,
) -> (Verdict<W>, Option<BlobDigest>) {
    let expectations = Expectations { judgement: terms.judgement, ..Expectations::default() };
    let sink = Recorder::new(OverviewReader::default(), out, ROWS_BYTES);
    let (verdict, digest) = read_as(bundle, &terms.trust, &expectations, &terms.limits, sink);
    let verdict = verdict.and_then(|(bundle, recorder)| {
        let (reader, out) = recorder.finish();
        Ok((bounded(reader.overview(bundle))?, out))
    });
    (verdict, digest)
}

fn refusal(failure: Failure) -> Error {
    match failure {
        Failure::NotWhatWasSigned(error) => Error::Refused { reason: error.reason, detail: error.detail },
        Failure::IntactNotAuthenticated(_) => Error::NoTrustedKey,
        Failure::NewerVersion(newer) => Error::NewerVersion(newer),
        Failure::CannotJudge(error) => Error::Unavailable(Box::new(error)),
    }
}

/// Limits what even a trusted signer can write into the database.
fn bounded(overview: Overview) -> Result<Overview, Error> {
    let too_large = |detail| Err(Error::Refused { reason: Reason::Limit, detail });
    let controls = overview.judgement.as_ref().map_or(0, |judgement| judgement.controls.len());
    if controls > CONTROLS {
        return too_large(format!(
            "the judgement has {controls} controls, more than the limit of {CONTROLS}"
        ));
    }
    let size = serde_json::to_vec(&overview).map(|json| json.len()).unwrap_or(usize::MAX);
    if size > OVERVIEW_BYTES {
        return too_large(format!(
            "the overview of manifest and judgement has more than {OVERVIEW_BYTES} bytes"
        ));
    }
    Ok(overview)
}

/// The SHA-256 of the whole input, including unread parts; `None` if it cannot be read.
fn digest(mut bundle: Hashing<impl Read>) -> Option<BlobDigest> {
    io::copy(&mut bundle, &mut io::sink()).ok()?;
    Some(BlobDigest(bundle.finish().0))
}
