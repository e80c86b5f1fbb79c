//! Shared test helpers: keys, small bundles, and a second, independent writer of the archive that can write
//! invalid ones.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

pub mod contradictions;
pub mod hostile;
pub mod newer;
pub mod raw;
pub mod sample;
pub mod waivers;

use evidence_bundle::document::{Manifest, Warning};
use evidence_bundle::path::MANIFEST;
use evidence_bundle::{SignedBundle, SigningKey, UnsignedBundle};

pub use sample::{CREATED_AT, File, contents, entry, json, sha256, with_documents};

/// The key that signs test bundles.
pub fn key() -> SigningKey {
    SigningKey::from_seed(b"a test key, and nothing but that")
}

/// An untrusted key.
pub fn other_key() -> SigningKey {
    SigningKey::from_seed(b"another key that is not trusted.")
}

/// The manifest of these files, with a warning.
pub fn manifest(files: &[File], key: &SigningKey) -> Manifest {
    let warning = Warning {
        code: "scopes_not_reported".to_owned(),
        message: "the host did not report the token's scopes".to_owned(),
        source: Some("codehost".to_owned()),
        subject: None,
    };
    Manifest { warnings: vec![warning], ..sample::manifest(files, key) }
}

/// Puts the manifest before the files it describes.
pub fn with_manifest(mut files: Vec<File>, key: &SigningKey) -> Vec<File> {
    files.insert(0, (MANIFEST.to_owned(), json(&manifest(&files, key))));
    files
}

/// The files of the smallest interesting bundle, in archive order.
pub fn small_files() -> Vec<File> {
    let settings = br#"{"login":"acme","two_factor_requirement_enabled":true}"#;
    let artifacts = vec![("sources/codehost/org_settings.json".to_owned(), settings.to_vec())];
    with_manifest(with_documents(artifacts), &key())
}

/// Signs these files with the crate under test.
pub fn signed(files: &[File], key: &SigningKey) -> SignedBundle {
    UnsignedBundle::new(CREATED_AT, files.iter().map(entry).collect()).unwrap().sign(key).unwrap()
}

/// The archive that the crate under test writes for these files.
pub fn tar(files: &[File]) -> Vec<u8> {
    signed(files, &key()).write_tar(Vec::new(), |entry| contents(files, entry)).unwrap()
}

/// The bundle that the crate under test writes for these files.
pub fn bundle(files: &[File]) -> Vec<u8> {
    let mut out = Vec::new();
    signed(files, &key()).write(&mut out, None, |entry| contents(files, entry)).unwrap();
    out
}
