//! The only way into a bundle: verify it completely, judge its checks again, and read it meanwhile.

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};
use evidence_rules::repeat::{self, Rejudgement};
use evidence_rules::rule::Settings;

/// Verifies a bundle while `sink` receives it. Returns the sink only if a trusted key signed every byte, and if the checks
/// follow from their facts.
///
/// # Errors
/// Returns a [`Failure`].
pub fn read<T: Sink>(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    mut sink: T,
) -> Result<(VerifiedBundle, T), Failure> {
    let verified = repeat::read(bundle, trust, expectations, limits, &mut sink)?;
    Ok((verified, sink))
}

/// The same, and what this version's rules say about the facts by `settings`; without any, by those of the bundle.
///
/// # Errors
/// Returns a [`Failure`].
pub fn rejudge<T: Sink>(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    settings: Option<Settings>,
    mut sink: T,
) -> Result<(VerifiedBundle, Rejudgement, T), Failure> {
    let (verified, judged) = repeat::rejudge(bundle, trust, expectations, limits, settings, &mut sink)?;
    Ok((verified, judged, sink))
}
