//! What the tests share: test keys, small bundles, and a second, independent writer of the archive that can lie.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

pub mod hostile;
pub mod raw;

use evidence_bundle::document::{
    ArtifactRecord, ConfigRecord, Counts, FileRecord, Hints, Identity, Manifest, Normalized, RequestRecord,
    RunRecord, SignerRecord, SourceRun, Summary, ToolRecord, Warning, write_json,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, RUN};
use evidence_bundle::{BundlePath, Entry, SignedBundle, SigningKey, UnsignedBundle};
use sha2::{Digest, Sha256};

/// 2026-01-02T03:04:05Z.
pub const CREATED_AT: i64 = 1_767_323_045;

/// A file of a bundle with its contents.
pub type File = (String, Vec<u8>);

/// The key that signs test bundles.
pub fn key() -> SigningKey {
    SigningKey::from_seed(b"a test key, and nothing but that")
}

/// A key that nobody trusts.
pub fn other_key() -> SigningKey {
    SigningKey::from_seed(b"another key that is not trusted.")
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn json<T: serde::Serialize>(document: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_json(&mut bytes, document).unwrap();
    bytes
}

pub fn run_record() -> RunRecord {
    RunRecord {
        started_at: "2026-01-02T03:04:00Z".to_owned(),
        completed_at: "2026-01-02T03:04:05Z".to_owned(),
        duration_seconds: 5,
        source_date_epoch: None,
        hostname: "host".to_owned(),
        platform: "linux-x86_64".to_owned(),
        tool: ToolRecord { name: "evidence".to_owned(), version: "0.1.0".to_owned(), commit: None },
        command: vec!["evidence".to_owned(), "collect".to_owned()],
        config: ConfigRecord { path: "evidence.yaml".to_owned(), sha256: "0".repeat(64) },
        exit_code: 0,
        sources: vec![SourceRun {
            name: "codehost".to_owned(),
            api_url: "https://api.example.com".to_owned(),
            identity: Identity { login: Some("auditor".to_owned()), scopes: "read:org".to_owned() },
            discovered: 1,
            in_scope: 1,
            requested: 1,
            collected: 1,
            not_found: 0,
            denied: 0,
            failed: 0,
            requests: 1,
            retries: 0,
            revalidated: 0,
            rate_limit: None,
            paused_seconds: 0,
        }],
    }
}

/// The manifest of these artifacts and derived files.
pub fn manifest(files: &[File], key: &SigningKey) -> Manifest {
    let artifact = |(path, contents): &File| ArtifactRecord {
        filename: path.clone(),
        source: path.split('/').nth(1).unwrap_or_default().to_owned(),
        artifact_type: "org_settings".to_owned(),
        collected_at: "2026-01-02T03:04:01Z".to_owned(),
        controls: vec!["CC6.1".to_owned()],
        checksum: hex::encode(sha256(contents)),
        size_bytes: contents.len() as u64,
        subject: "acme".to_owned(),
        request: RequestRecord { path: "/orgs/acme".to_owned(), status: 200, etag: None, request_id: None },
    };
    let file = |(path, contents): &File| FileRecord {
        path: path.clone(),
        sha256: hex::encode(sha256(contents)),
        size: contents.len() as u64,
    };
    Manifest {
        bundle_version: "1.0".to_owned(),
        tool_version: "0.1.0".to_owned(),
        created_at: evidence_bundle::time::format(CREATED_AT).unwrap(),
        framework: "soc2_type1".to_owned(),
        controls: vec!["CC6.1".to_owned()],
        sources: vec!["codehost".to_owned()],
        artifacts: files.iter().filter(|(path, _)| path.starts_with("sources/")).map(artifact).collect(),
        signer: SignerRecord::of(&key.public_key()),
        bundle_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        organization: "acme".to_owned(),
        complete: true,
        files: files.iter().map(file).collect(),
        warnings: vec![Warning {
            code: "scopes_not_reported".to_owned(),
            message: "the host did not report the token's scopes".to_owned(),
            source: Some("codehost".to_owned()),
            subject: None,
        }],
        excluded: Vec::new(),
        errors: Vec::new(),
        previous: None,
    }
}

/// The documents and artifacts of a bundle without its manifest, in archive order.
pub fn with_documents(artifacts: Vec<File>) -> Vec<File> {
    let hints: Hints = Hints { schema_version: "1.0".to_owned(), hints: Vec::new() };
    let normalized: Normalized = Normalized {
        schema_version: "1.0".to_owned(),
        framework: "soc2_type1".to_owned(),
        summary: Summary { controls: Counts::default(), checks: Counts::default() },
        controls: Vec::new(),
    };
    let mut files = vec![
        (RUN.to_owned(), json(&run_record())),
        (HINTS.to_owned(), json(&hints)),
        (NORMALIZED.to_owned(), json(&normalized)),
    ];
    files.extend(artifacts);
    files
}

/// Puts the manifest in front of the files it describes.
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
    let entry = |(path, contents): &File| Entry {
        path: BundlePath::new(path).unwrap(),
        sha256: sha256(contents),
        size: contents.len() as u64,
    };
    UnsignedBundle::new(CREATED_AT, files.iter().map(entry).collect()).unwrap().sign(key).unwrap()
}

/// The contents of an entry.
pub fn contents<'a>(files: &'a [File], entry: &Entry) -> std::io::Result<&'a [u8]> {
    let found = files.iter().find(|(path, _)| path == entry.path.as_str());
    found.map(|(_, contents)| contents.as_slice()).ok_or_else(|| std::io::Error::other("no such file"))
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
