//! The only way into a bundle: verify it completely, judge its checks again, and read it meanwhile.

use std::io::Read;

use evidence_bundle::read::Sink;
use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};

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
    let verified = evidence_rules::repeat::read(bundle, trust, expectations, limits, &mut sink)?;
    Ok((verified, sink))
}
