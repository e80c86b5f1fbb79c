//! The documents of a small bundle. The tests of the platform and the fuzzer also include this file and change the
//! documents.

use std::collections::BTreeMap;

use evidence_bundle::document::{
    ArtifactRecord, AskedRecord, Check, ConfigRecord, EvidenceReference, FileRecord, Hints, Identity,
    Manifest, Member, Normalized, NormalizedControl, ObservationRecord, Observations, Outcome, Population,
    RuleRecord, RunRecord, Scope, ScopeRecord, SignerRecord, SourcePopulation, SourceRecord, SourceRun,
    SourceScope, Status, Summary, ToolRecord, write_json,
};
use evidence_bundle::path::{HINTS, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use evidence_bundle::{BundlePath, Entry, SigningKey};
use sha2::{Digest, Sha256};

/// 2026-01-02T03:04:05Z.
pub const CREATED_AT: i64 = 1_767_323_045;

/// A file of a bundle with its contents.
pub type File = (String, Vec<u8>);

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A document in a bundle's JSON form.
pub fn json<T: serde::Serialize>(document: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_json(&mut bytes, document).unwrap();
    bytes
}

/// A run with one source and this many artifacts.
pub fn run_record(artifacts: usize) -> RunRecord {
    let artifacts = artifacts as u64;
    RunRecord {
        started_at: "2026-01-02T03:04:00Z".to_owned(),
        completed_at: "2026-01-02T03:04:05Z".to_owned(),
        duration_seconds: 5,
        source_date_epoch: None,
        hostname: Some("host".to_owned()),
        platform: Some("linux-x86_64".to_owned()),
        tool: tool(),
        command: Some(vec!["evidence".to_owned(), "collect".to_owned()]),
        config: ConfigRecord {
            path: Some("evidence.yaml".to_owned()),
            file_sha256: None,
            sha256: "0".repeat(64),
        },
        prepared_by: None,
        exit_code: 0,
        sources: vec![SourceRun {
            name: "codehost".to_owned(),
            api_url: "https://api.example.com".to_owned(),
            identity: Identity {
                login: Some("auditor".to_owned()),
                id: None,
                scopes: "read:org".to_owned(),
                app: None,
            },
            discovered: 1,
            in_scope: 1,
            requested: artifacts,
            collected: artifacts,
            not_found: 0,
            denied: 0,
            failed: 0,
            excluded: 0,
            requests: Some(1),
            retries: Some(0),
            revalidated: Some(0),
            rate_limit: None,
            paused_seconds: Some(0),
            bulk: None,
        }],
    }
}

fn tool() -> ToolRecord {
    ToolRecord { name: "evidence".to_owned(), version: "0.0.1".to_owned(), commit: None }
}

/// What the only rule expects.
const EXPECTED: &str = "two-factor authentication is required";

/// What the rules of these checks expect, by their codes.
pub fn expected(checks: &[Check]) -> BTreeMap<String, String> {
    checks.iter().map(|check| (check.rule.clone(), EXPECTED.to_owned())).collect()
}

/// One observation for each artifact.
pub fn observations(artifacts: &[EvidenceReference]) -> Observations {
    let row = |(number, artifact): (usize, &EvidenceReference)| ObservationRecord {
        facts: Default::default(),
        id: format!("codehost:{}", number + 1),
        source: "codehost".to_owned(),
        subject: "acme".to_owned(),
        kind: "org_settings".to_owned(),
        outcome: Outcome::Artifact,
        reason: None,
        detail: None,
        artifact: Some(artifact.filename.clone()),
        requests: vec![AskedRecord {
            method: "GET".to_owned(),
            path: "/orgs/acme".to_owned(),
            status: Some(200),
            message: None,
            etag: None,
            request_id: None,
            at: "2026-01-02T03:04:01Z".to_owned(),
            permission: None,
        }],
    };
    Observations {
        schema_version: "1.0".to_owned(),
        observations: artifacts.iter().enumerate().map(row).collect(),
    }
}

/// One repository, which is in scope.
pub fn population() -> Population {
    let member = Member {
        source: "codehost".to_owned(),
        kind: "repository".to_owned(),
        name: "acme/web".to_owned(),
        id: Some("1".to_owned()),
        default_branch: Some("main".to_owned()),
        archived: Some(false),
        visibility: Some("private".to_owned()),
        in_scope: true,
        reason: None,
    };
    let source = SourcePopulation {
        source: "codehost".to_owned(),
        scope: Scope::Whole,
        organization: "acme".to_owned(),
        kind: "repository".to_owned(),
        listed: 1,
        in_scope: 1,
        host_total: Some(1),
        host_totals: [("public_repos".to_owned(), 1), ("total_private_repos".to_owned(), 0)].into(),
        members: 1,
    };
    Population { schema_version: "1.0".to_owned(), sources: vec![source], members: vec![member] }
}

/// The scope of a run for these controls.
pub fn scope(controls: &[String]) -> ScopeRecord {
    let rule = |control: &String| RuleRecord {
        code: "two-factor-required".to_owned(),
        // No published version, so that nobody judges the made-up artifacts again.
        version: 0,
        source: "codehost".to_owned(),
        kind: "organization".to_owned(),
        control: control.clone(),
        settings: BTreeMap::new(),
        expected: EXPECTED.to_owned(),
        reads: "the organization's settings".to_owned(),
        not_checked: "who has a second factor".to_owned(),
    };
    ScopeRecord {
        cadence: None,
        schema_version: "1.0".to_owned(),
        framework: "soc2_type1".to_owned(),
        organization: "acme".to_owned(),
        tool: tool(),
        sources: vec![SourceScope {
            source: "codehost".to_owned(),
            controls: controls.to_vec(),
            settings: [("branch".to_owned(), "main".into())].into(),
        }],
        rules: controls.iter().map(rule).collect(),
        rules_included: Vec::new(),
        rules_excluded: Vec::new(),
        criteria_without_evidence: Vec::new(),
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
    };
    let file = |(path, contents): &File| FileRecord {
        path: path.clone(),
        sha256: hex::encode(sha256(contents)),
        size: contents.len() as u64,
    };
    Manifest {
        bundle_version: "1.0".to_owned(),
        tool_version: "0.0.1".to_owned(),
        created_at: evidence_bundle::time::format(CREATED_AT).unwrap(),
        framework: "soc2_type1".to_owned(),
        controls: vec!["CC6.1".to_owned()],
        sources: vec![SourceRecord { id: "codehost".to_owned(), kind: "codehost".to_owned() }],
        artifacts: files.iter().filter(|(path, _)| path.starts_with("sources/")).map(artifact).collect(),
        signer: SignerRecord::of(&key.public_key()),
        bundle_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        organization: "acme".to_owned(),
        complete: true,
        files: files.iter().map(file).collect(),
        warnings: Vec::new(),
        excluded: Vec::new(),
        errors: Vec::new(),
        previous: None,
    }
}

/// The documents and artifacts of a bundle without its manifest, in archive order.
pub fn with_documents(artifacts: Vec<File>) -> Vec<File> {
    let hints: Hints = Hints { schema_version: "1.0".to_owned(), hints: Vec::new() };
    let evidence: Vec<EvidenceReference> = artifacts.iter().map(reference).collect();
    let checks: Vec<Check> = evidence.iter().map(check).collect();
    let observations = observations(&evidence);
    let mut summary = Summary::default();
    checks.iter().for_each(|check| summary.checks.add(check.status));
    summary.controls.add(summary.checks.status());
    let control = NormalizedControl {
        id: "CC6.1".to_owned(),
        title: "Logical access controls".to_owned(),
        status: summary.checks.status(),
        criteria: checks.iter().map(|check| (check.rule.clone(), vec!["CC6.1".to_owned()])).collect(),
        expected: expected(&checks),
        reason: if checks.is_empty() { "no_evidence" } else { "ok" }.to_owned(),
        checks,
    };
    let normalized: Normalized = Normalized {
        schema_version: "1.0".to_owned(),
        framework: "soc2_type1".to_owned(),
        summary,
        controls: vec![control],
    };
    let mut files = vec![
        (RUN.to_owned(), json(&run_record(artifacts.len()))),
        (HINTS.to_owned(), json(&hints)),
        (NORMALIZED.to_owned(), json(&normalized)),
        (OBSERVATIONS.to_owned(), json(&observations)),
        (POPULATION.to_owned(), json(&population())),
        (SCOPE.to_owned(), json(&scope(&["CC6.1".to_owned()]))),
    ];
    files.extend(artifacts);
    files
}

/// A reference to a file.
pub fn reference((path, contents): &File) -> EvidenceReference {
    EvidenceReference { filename: path.clone(), checksum: hex::encode(sha256(contents)), id: None }
}

fn check(evidence: &EvidenceReference) -> Check {
    Check {
        rule: "two-factor-required".to_owned(),
        source: "codehost".to_owned(),
        subject: "acme".to_owned(),
        status: Status::Pass,
        reason: "ok".to_owned(),
        expected: None,
        actual: Some("it is required".to_owned()),
        evidence: vec![evidence.clone()],
    }
}

/// The entry of a file.
pub fn entry((path, contents): &File) -> Entry {
    let path = BundlePath::new(path).unwrap();
    Entry { path, sha256: sha256(contents), size: contents.len() as u64 }
}

/// The contents of an entry.
pub fn contents<'a>(files: &'a [File], entry: &Entry) -> std::io::Result<&'a [u8]> {
    let found = files.iter().find(|(path, _)| path == entry.path.as_str());
    found.map(|(_, contents)| contents.as_slice()).ok_or_else(|| std::io::Error::other("no such file"))
}
