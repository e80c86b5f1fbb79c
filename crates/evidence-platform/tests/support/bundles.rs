//! Small, distinct bundles, signed by test keys.

#[path = "../../../evidence-bundle/tests/support/sample.rs"]
mod sample;

use std::io::{Read as _, Write as _};

use evidence_bundle::document::{
    ArtifactRecord, Category, Check, Counts, EvidenceReference, FileRecord, Hint, Hints, Manifest,
    Normalized, NormalizedControl, RunRecord, Severity, Summary,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use evidence_bundle::{BundlePath, Entry, SigningKey, Status, UnsignedBundle};

pub use sample::CREATED_AT;
use sample::{File, contents, entry, json};

/// The key that the test organizations trust.
pub fn key() -> SigningKey {
    SigningKey::from_seed(b"a test key, and nothing but that")
}

/// An untrusted key.
pub fn other_key() -> SigningKey {
    SigningKey::from_seed(b"another key that is not trusted.")
}

pub fn public_pem(key: &SigningKey) -> String {
    use base64::Engine as _;
    let der = base64::engine::general_purpose::STANDARD.decode(key.public_key().to_spki_base64()).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n")
}

/// The bundle with this number: different numbers give different bytes and later times.
pub fn bundle(number: u32) -> Vec<u8> {
    signed(number, b"{\"two_factor_requirement_enabled\":true}\n", &key())
}

/// A bundle whose one artifact has these contents.
pub fn signed(number: u32, artifact: &[u8], key: &SigningKey) -> Vec<u8> {
    let mut parts = parts(number);
    parts.artifacts = vec![("sources/codehost/org_settings.json".to_owned(), artifact.to_vec())];
    pack(number, &parts, key, |_| ())
}

/// The parts of a bundle, which a test can change before signing.
pub struct Parts {
    pub organization: String,
    pub run: RunRecord,
    pub hints: serde_json::Value,
    pub normalized: Normalized,
    pub artifacts: Vec<(String, Vec<u8>)>,
    /// More files under `derived/`.
    pub views: Vec<(String, Vec<u8>)>,
}

/// The parts of the bundle with this number.
pub fn parts(number: u32) -> Parts {
    let status = if number.is_multiple_of(2) { Status::Pass } else { Status::Fail };
    let artifact = b"{\"two_factor_requirement_enabled\":true}\n".to_vec();
    Parts {
        organization: "acme".to_owned(),
        run: sample::run_record(1),
        hints: serde_json::to_value(hints()).unwrap(),
        normalized: normalized(status),
        artifacts: vec![("sources/codehost/org_settings.json".to_owned(), artifact)],
        views: Vec::new(),
    }
}

/// The bundle of these parts, made consistent, with a matching manifest that is then changed.
pub fn pack(number: u32, parts: &Parts, key: &SigningKey, change: impl Fn(&mut Manifest)) -> Vec<u8> {
    let created_at = CREATED_AT + i64::from(number) * 60;
    let (run, hints, normalized) = fitting(parts, parts.artifacts.len(), parts.artifacts.first());
    let references: Vec<_> = parts.artifacts.iter().map(sample::reference).collect();
    let mut files = documents(&run, &hints, &normalized, &references);
    let mut scope = sample::scope(&controls(&normalized));
    scope.organization.clone_from(&parts.organization);
    for (_, contents) in files.iter_mut().filter(|(path, _)| path == SCOPE) {
        *contents = json(&scope);
    }
    files.extend(parts.views.clone());
    files.extend(parts.artifacts.clone());
    let mut manifest = manifest(number, created_at, &files, key);
    manifest.organization.clone_from(&parts.organization);
    manifest.controls = controls(&normalized);
    manifest.artifacts.iter_mut().for_each(|artifact| artifact.controls.clone_from(&manifest.controls));
    change(&mut manifest);
    let manifest = json(&manifest);
    files.insert(0, (MANIFEST.to_owned(), manifest));
    let unsigned = UnsignedBundle::new(created_at, files.iter().map(entry).collect()).unwrap();
    let mut out = Vec::new();
    unsigned.sign(key).unwrap().write(&mut out, None, |entry| contents(&files, entry)).unwrap();
    out
}

/// The documents of these parts, made consistent with each other and this many artifacts.
fn fitting(
    parts: &Parts,
    artifacts: usize,
    first: Option<&File>,
) -> (RunRecord, serde_json::Value, Normalized) {
    let mut run = parts.run.clone();
    for source in &mut run.sources {
        source.collected = artifacts as u64;
        source.requested =
            source.collected + source.not_found + source.denied + source.failed + source.excluded;
    }
    let mut normalized = parts.normalized.clone();
    let evidence = first.map(sample::reference);
    for check in normalized.controls.iter_mut().flat_map(|control| &mut control.checks) {
        check.evidence = evidence.iter().cloned().collect();
    }
    normalized.summary = Summary::default();
    for control in &mut normalized.controls {
        let mut counts = Counts::default();
        control.checks.iter().map(|check| check.status).for_each(|status| {
            counts.add(status);
            normalized.summary.checks.add(status);
        });
        control.status = counts.status();
        normalized.summary.controls.add(control.status);
    }
    let mut hints = parts.hints.clone();
    hints["hints"][0]["control"] = serde_json::json!(normalized.controls[0].id);
    (run, hints, normalized)
}

/// The documents of a bundle with these artifacts.
fn documents(
    run: &RunRecord,
    hints: &serde_json::Value,
    normalized: &Normalized,
    artifacts: &[EvidenceReference],
) -> Vec<File> {
    vec![
        (RUN.to_owned(), json(run)),
        (HINTS.to_owned(), json(hints)),
        (NORMALIZED.to_owned(), json(normalized)),
        (OBSERVATIONS.to_owned(), json(&sample::observations(artifacts))),
        (POPULATION.to_owned(), json(&sample::population())),
        (SCOPE.to_owned(), json(&sample::scope(&controls(normalized)))),
    ]
}

fn controls(normalized: &Normalized) -> Vec<String> {
    normalized.controls.iter().map(|control| control.id.clone()).collect()
}

/// A bundle that inflates to this many times 64 MiB of zeros.
pub fn zeros(number: u32, times: usize) -> Vec<u8> {
    let zeros = vec![0; 64 << 20];
    let (parts, key) = (parts(number), key());
    let created_at = CREATED_AT + i64::from(number) * 60;
    let name = |n: usize| format!("sources/codehost/zeros_{n:03}.json");
    let first = (name(0), zeros);
    let (run, hints, normalized) = fitting(&parts, times, Some(&first));
    let reference = sample::reference(&first);
    let named = |n| EvidenceReference { filename: name(n), ..reference.clone() };
    let references: Vec<_> = (0..times).map(named).collect();
    let mut files = documents(&run, &hints, &normalized, &references);
    files.push(first);
    let last = files.len() - 1;
    let mut manifest = manifest(number, created_at, &files, &key);
    manifest.controls = controls(&normalized);
    manifest.artifacts[0].controls.clone_from(&manifest.controls);
    let mut entries: Vec<_> = files.iter().map(entry).collect();
    let (artifact, file, zeros) =
        (manifest.artifacts[0].clone(), manifest.files[last].clone(), entries[last].clone());
    for n in 1..times {
        manifest.artifacts.push(ArtifactRecord { filename: name(n), ..artifact.clone() });
        manifest.files.push(FileRecord { path: name(n), ..file.clone() });
        entries.push(Entry { path: BundlePath::new(&name(n)).unwrap(), ..zeros.clone() });
    }
    files.push((MANIFEST.to_owned(), json(&manifest)));
    entries.push(entry(files.last().unwrap()));
    let unsigned = UnsignedBundle::new(created_at, entries).unwrap();
    let mut out = Vec::new();
    let read = |entry: &Entry| match entry.sha256 == zeros.sha256 {
        true => Ok(files[last].1.as_slice()),
        false => contents(&files, entry),
    };
    unsigned.sign(&key).unwrap().write(&mut out, None, read).unwrap();
    out
}

/// This bundle with `true` in its artifact replaced by `false`, packed again.
pub fn tampered(good: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    flate2::read::GzDecoder::new(good).read_to_end(&mut archive).unwrap();
    let (truth, lie) = (b"enabled\":true}\n", b"enabled\":false");
    let place = archive.windows(truth.len()).position(|bytes| bytes == truth).unwrap();
    archive[place..place + lie.len()].copy_from_slice(lie);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&archive).unwrap();
    packed.finish().unwrap()
}

/// A bundle that begins like this valid one, and claims a list of checksums beyond the limit: 512 MiB of zeros in
/// half a megabyte.
pub fn bomb(good: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    flate2::read::GzDecoder::new(good).read_exact(&mut header).unwrap();
    header[124..135].copy_from_slice(format!("{:011o}", 512 << 20).as_bytes());
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    bomb.write_all(&header).unwrap();
    for _ in 0..512 {
        bomb.write_all(&vec![0; 1 << 20]).unwrap();
    }
    bomb.finish().unwrap()
}

fn hints() -> Hints {
    let hint = Hint {
        id: "two-factor".to_owned(),
        control: "CC6.1".to_owned(),
        rule: "two-factor-required".to_owned(),
        reason: "ok".to_owned(),
        severity: Severity::High,
        category: Category::Misconfigured,
        source: "codehost".to_owned(),
        subject: "acme".to_owned(),
        title: "<script>alert(1)</script>".to_owned(),
        detail: "detail".to_owned(),
        remediation: "remediation".to_owned(),
        evidence: Vec::new(),
    };
    Hints { schema_version: "1.0".to_owned(), hints: vec![hint] }
}

fn normalized(status: Status) -> Normalized {
    let check = Check {
        rule: "two-factor-required".to_owned(),
        source: "codehost".to_owned(),
        subject: "acme".to_owned(),
        status,
        reason: "ok".to_owned(),
        expected: None,
        actual: None,
        evidence: Vec::new(),
    };
    let control = NormalizedControl {
        id: "CC6.1".to_owned(),
        title: "Logical access controls".to_owned(),
        status,
        reason: "ok".to_owned(),
        criteria: [(check.rule.clone(), vec!["CC6.1".to_owned()])].into(),
        expected: sample::expected(std::slice::from_ref(&check)),
        checks: vec![check],
    };
    let mut counts = Counts::default();
    counts.add(status);
    Normalized {
        schema_version: "1.0".to_owned(),
        framework: "soc2_type1".to_owned(),
        summary: Summary { controls: counts, checks: counts },
        controls: vec![control],
    }
}

fn manifest(number: u32, created_at: i64, files: &[File], key: &SigningKey) -> Manifest {
    Manifest {
        created_at: evidence_bundle::time::format(created_at).unwrap(),
        bundle_id: format!("00000000-0000-4000-8000-{number:012}"),
        ..sample::manifest(files, key)
    }
}
