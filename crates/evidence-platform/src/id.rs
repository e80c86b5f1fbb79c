//! Names that the platform makes: of organizations, keys, bundles, claims, requests and audit records.
//!
//! A bundle's name follows from its bytes and its organization; every other is random.

use std::fmt;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::error::Error;
use crate::time::Time;

/// The name of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrganizationId(String);

impl OrganizationId {
    /// A new name.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operating system gives no random bytes.
    pub fn random() -> Result<OrganizationId, Error> {
        Ok(OrganizationId(format!("org_{}", random_hex::<16>()?)))
    }

    /// The owner of the platform's own audit log. Random names begin with `org_`, so none can equal it.
    pub(crate) fn platform() -> OrganizationId {
        OrganizationId("platform".to_owned())
    }

    /// A name that the database holds.
    pub(crate) fn stored(text: String) -> OrganizationId {
        OrganizationId(text)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OrganizationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of a bundle's bytes: what its blob is called.
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

/// The name of a stored bundle.
///
/// The same bytes have the same name within an organization, so that an upload can be repeated, and a different name in
/// every other organization, so that a name does not reveal who else has them. It is a UUID of version 8 (RFC 9562,
/// section 5.8) made from SHA-256.
pub fn bundle_id(organization: &OrganizationId, digest: &BlobDigest) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"evidence-platform bundle\0");
    hasher.update(organization.as_str().as_bytes());
    hasher.update(b"\0");
    hasher.update(digest.0);
    let hash: [u8; 32] = hasher.finalize().into();
    let [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = hash;
    Uuid::new_v8(first).to_string()
}

/// A name that orders by time first, for records of which many are made.
///
/// # Errors
/// [`Error::Internal`] if the operating system gives no random bytes.
pub(crate) fn ordered(now: Time) -> Result<String, Error> {
    Ok(format!("{:012x}{}", now.0.max(0), random_hex::<10>()?))
}

/// This many random bytes in hex.
///
/// # Errors
/// [`Error::Internal`] if the operating system gives no random bytes.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, Error> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal("no random bytes", error))?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_has_one_name_per_organization() {
        let acme = OrganizationId::stored("org_a".to_owned());
        let other = OrganizationId::stored("org_b".to_owned());
        let id = bundle_id(&acme, &BlobDigest([7; 32]));
        assert_eq!(id, bundle_id(&acme, &BlobDigest([7; 32])));
        assert_ne!(id, bundle_id(&other, &BlobDigest([7; 32])));
        assert_ne!(id, bundle_id(&acme, &BlobDigest([8; 32])));
        // As every version of the platform names it: the name is in links and in the audit log.
        assert_eq!(id, "2db18c9f-324d-82d0-be62-90709eac6a75");
    }

    #[test]
    fn records_order_by_time() {
        assert!(ordered(Time(1)).unwrap() < ordered(Time(2)).unwrap());
        assert!(ordered(Time(1_767_323_045_120)).unwrap() < ordered(Time(1_895_323_045_120)).unwrap());
    }
}
