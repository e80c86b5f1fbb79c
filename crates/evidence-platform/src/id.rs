//! Ids that the platform generates: of organizations, keys, claims, requests and audit records. All are random. A
//! bundle keeps the id from its manifest.

use std::fmt;

use crate::error::Error;
use crate::time::Time;

/// The id of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrganizationId(String);

impl OrganizationId {
    /// Generates an id.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`] if the operating system provides no random bytes.
    pub fn random() -> Result<OrganizationId, Error> {
        Ok(OrganizationId(format!("org_{}", random_hex::<16>()?)))
    }

    /// The owner of the platform's own audit log. Random ids begin with `org_`, so none can equal it.
    pub(crate) fn platform() -> OrganizationId {
        OrganizationId("platform".to_owned())
    }

    /// An id from the database.
    pub(crate) fn stored(text: String) -> OrganizationId {
        OrganizationId(text)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OrganizationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of a bundle's bytes, which is the name of its blob.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobDigest(pub [u8; 32]);

impl fmt::Display for BlobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for BlobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl BlobDigest {
    /// Reads 64 hex digits.
    pub fn parse(text: &str) -> Option<BlobDigest> {
        let bytes = hex::decode(text).ok()?;
        bytes.try_into().ok().map(BlobDigest)
    }
}

/// An id that sorts by time, for frequent records.
///
/// # Errors
/// Fails with [`Error::Internal`] if the operating system provides no random bytes.
pub(crate) fn ordered(now: Time) -> Result<String, Error> {
    Ok(format!("{:012x}{}", now.0.max(0), random_hex::<10>()?))
}

/// This many random bytes in hex.
///
/// # Errors
/// Fails with [`Error::Internal`] if the operating system provides no random bytes.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, Error> {
    random_bytes::<BYTES>().map(hex::encode)
}

/// This many random bytes.
///
/// # Errors
/// Fails with [`Error::Internal`] if the operating system provides no random bytes.
pub(crate) fn random_bytes<const BYTES: usize>() -> Result<[u8; BYTES], Error> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal("no random bytes", error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_order_by_time() {
        assert!(ordered(Time(1)).unwrap() < ordered(Time(2)).unwrap());
        assert!(ordered(Time(1_767_323_045_120)).unwrap() < ordered(Time(1_895_323_045_120)).unwrap());
    }
}
