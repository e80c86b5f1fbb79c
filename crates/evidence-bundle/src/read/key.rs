//! What the trust root says about the key that signed.

use super::reason::{Reason, VerifyError};
use crate::key::PublicKey;
use crate::trust::{KeyTrust, Revocation, TrustRoot};

/// The entry that trusts the key at that time; `None` without a trust root.
pub(super) fn trusted_by(
    trust: &TrustRoot,
    key: &PublicKey,
    created_at: i64,
) -> Result<Option<String>, VerifyError> {
    match trust.judge(key, created_at) {
        KeyTrust::Trusted(label) => Ok(Some(label)),
        KeyTrust::Revoked(revocation) => Err(revoked(key, &revocation, trust)),
        KeyTrust::OutsideValidity(label) => {
            let (time, whose) = match trust.receipt() {
                Some(received) => (received, "the time of receipt"),
                None => (created_at, "the time claimed by the signer"),
            };
            let time = crate::time::format(time).unwrap_or_default();
            let detail = format!("{label} does not trust {} at {time}, {whose}", key.key_id());
            Err(VerifyError::new(Reason::KeyOutsideValidity, detail))
        }
        KeyTrust::Unknown => Ok(None),
    }
}

/// The refusal of a bundle by a revoked key.
pub(super) fn revoked(key: &PublicKey, revocation: &Revocation, trust: &TrustRoot) -> VerifyError {
    let Revocation { label, since, why, .. } = revocation;
    let since = crate::time::format(*since).unwrap_or_else(|| since.to_string());
    let clock = match trust.receipt().and_then(crate::time::format) {
        Some(received) => format!("the bundle was received at {received}"),
        None => "the time that the signer claims does not count".to_owned(),
    };
    let detail = format!("{} is revoked since {since}: {why} ({label}); {clock}", key.key_id());
    VerifyError::new(Reason::KeyRevoked, detail)
}
