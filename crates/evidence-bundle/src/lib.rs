//! The signed SOC 2 evidence bundle, a format that an auditor can verify without trusting its source.
//!
//! A bundle is a canonical `.tar.gz` with a list of SHA-256 checksums, one Ed25519 signature over that list, JSON
//! documents and the collected artifacts. This crate writes and verifies bundles. It is synchronous, never reads
//! a clock, a configuration or the network, and never extracts a file.

pub mod by_hand;
pub mod checksums;
#[cfg(feature = "sign")]
pub mod detached;
pub mod document;
mod gzip;
pub mod hashing;
mod header;
pub mod json;
pub mod key;
pub mod path;
pub mod read;
pub mod time;
pub mod trust;
pub mod version;
pub mod waiver;
#[cfg(feature = "sign")]
pub mod write;

pub use checksums::ChecksumList;
pub use document::{Manifest, Status};
pub use evidence_text as text;
#[cfg(feature = "sign")]
pub use key::SigningKey;
pub use key::{KeyId, PublicKey};
pub use path::{BundlePath, encode_component};
pub use read::{
    Expectations, Failure, Intact, Limits, NewerBundle, Reason, UntrustedBundle, VerifiedBundle, VerifyError,
};
pub use trust::TrustRoot;
pub use version::BUNDLE_VERSION;
#[cfg(feature = "sign")]
pub use write::{Entry, SignedBundle, UnsignedBundle};
