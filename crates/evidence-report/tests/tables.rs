//! The tables with hostile names: an independent CSV reader gets back what was written.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{self, Read};

use evidence_bundle::document::{Normalized, Population};
use evidence_bundle::path::{
    ARTIFACTS_CSV, CHECKS_CSV, EVENTS_CSV, MANIFEST, NORMALIZED, OBSERVATIONS, OBSERVATIONS_CSV, POPULATION,
    POPULATION_CSV,
};
use evidence_report::Documents;
use serde_json::json;

/// Documents in memory.
struct Memory(BTreeMap<&'static str, Vec<u8>>);

impl Documents for Memory {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        let content = self.0.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        read(&mut content.as_slice())
    }
}

/// Possible names of subjects, and the cells that they become.
const NAMES: [(&str, &str); 12] = [
    ("acme/web", "acme/web"),
    ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
    ("+1", "'+1"),
    ("-2+3", "'-2+3"),
    ("@SUM(A1:A9)", "'@SUM(A1:A9)"),
    ("  =1", "'  =1"),
    ("a,b;c", "a,b;c"),
    ("say \"yes\"", "say \"yes\""),
    ("two\r\nlines\tand a tab", "two  lines and a tab"),
    ("00123", "'00123"),
    ("1E5", "'1E5"),
    ("2026-11-23", "'2026-11-23"),
];

fn documents(names: &[&str]) -> Memory {
    let check = |name: &&str| {
        json!({"rule": "branch-protection", "source": "codehost", "subject": name, "status": "fail",
            "reason": "branch_unprotected", "expected": "protection", "actual": name,
            "evidence": [
                {"filename": "sources/codehost/a.json", "checksum": "0".repeat(64)},
                {"filename": "derived/observations.json", "checksum": "1".repeat(64), "id": "codehost:1"}]})
    };
    let member = |name: &&str| {
        json!({"source": "codehost", "kind": "repository", "name": name, "id": "007", "archived": false,
            "in_scope": true})
    };
    let counts = json!({"pass": 0, "fail": names.len(), "not_verifiable": 0, "not_applicable": 0});
    let normalized = json!({"schema_version": "1.0", "framework": "soc2_type1",
        "summary": {"controls": counts, "checks": counts},
        "controls": [{"id": "CC7.2", "title": "Change management", "status": "fail", "reason": "x",
            "criteria": {"branch-protection": ["CC8.1", "CC8.2"]}, "expected": {},
            "checks": names.iter().map(check).collect::<Vec<_>>()}]});
    let population = json!({"schema_version": "1.0", "sources": [],
        "members": names.iter().map(member).collect::<Vec<_>>()});
    // In the order of the format: a control's own fields come before its checks.
    let normalized: Normalized = serde_json::from_value(normalized).unwrap();
    let population: Population = serde_json::from_value(population).unwrap();
    let request = |name: &str, at: &str| json!({"method": "GET", "path": name, "status": 200, "message": name, "request_id": "00A1:2", "at": at});
    let observation = |name: &&str| {
        json!({"id": "codehost:1", "source": "codehost", "subject": name, "kind": "branch_protection",
            "outcome": "denied", "reason": "blocked", "detail": name,
            "requests": [request(name, "2026-11-23T01:37:43Z"), request(name, "2026-11-23T01:37:44Z")]})
    };
    let without = json!({"id": "codehost:2", "source": "codehost", "subject": "x", "kind": "codeowners",
        "outcome": "not_asked", "requests": []});
    let mut observations: Vec<_> = names.iter().map(observation).collect();
    observations.push(without);
    // The answer came before another request failed.
    let asked = |path: &str, status: u16| json!({"method": "GET", "path": path, "status": status, "at": "2026-11-23T01:37:45Z"});
    observations.push(
        json!({"id": "altcloud:1", "source": "altcloud", "subject": "example", "kind": "user_lifecycle",
        "outcome": "artifact", "artifact": LOG, "requests": [asked("/activity", 304), asked("/more", 404)]}),
    );
    let event = |name: &&str| {
        json!({"time": "2026-11-22T00:00:00Z", "name": "CREATE_USER", "actor": {"email": name},
            "parameters": {"USER_EMAIL": name}, "uniqueQualifier": "1"})
    };
    let manifest = json!({"bundle_version": "1.0", "tool_version": "0.1.0", "created_at": "2026-11-23T01:37:47Z",
        "framework": "soc2_type1", "controls": [], "sources": [], "files": [],
        "artifacts": [{"filename": LOG, "source": "altcloud", "artifact_type": "user_lifecycle",
            "collected_at": "2026-11-23T01:37:45Z", "controls": ["CC6.6"], "checksum": "2".repeat(64),
            "size_bytes": 12, "subject": "example"}],
        "signer": {"algorithm": "Ed25519", "public_key": "", "key_id": "sha256:0"}, "bundle_id": "b-1",
        "organization": "acme", "complete": true, "warnings": [], "excluded": [], "errors": []});
    Memory(BTreeMap::from([
        (NORMALIZED, serde_json::to_vec(&normalized).unwrap()),
        (POPULATION, serde_json::to_vec(&population).unwrap()),
        (
            OBSERVATIONS,
            serde_json::to_vec(&json!({"schema_version": "1.0", "observations": observations})).unwrap(),
        ),
        (MANIFEST, serde_json::to_vec(&manifest).unwrap()),
        (LOG, serde_json::to_vec(&json!({"events": names.iter().map(event).collect::<Vec<_>>()})).unwrap()),
    ]))
}

/// The artifact with events.
const LOG: &str = "sources/altcloud/user_lifecycle.json";

fn table(documents: &Memory, path: &str) -> Vec<u8> {
    let mut out = Vec::new();
    evidence_report::write(path, documents, &mut out).unwrap();
    out
}

fn read(table: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table);
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let documents = documents(&NAMES.map(|(name, _)| name));
    let checks = read(&table(&documents, CHECKS_CSV));
    assert_eq!(checks.len(), NAMES.len() + 1);
    for ((_, cell), row) in NAMES.iter().zip(&checks[1..]) {
        let file = "sources/codehost/a.json; derived/observations.json#codehost:1";
        let sha256 = format!("sha256:{}; sha256:{}", "0".repeat(64), "1".repeat(64));
        let expected = [
            "CC7.2",
            "CC8.1 CC8.2",
            "codehost",
            "branch-protection",
            cell,
            "fail",
            "branch_unprotected",
            "protection",
            cell,
            file,
            &sha256,
            "; 2026-11-23T01:37:44Z",
            &format!("; GET {}", NAMES[NAMES.len() - 1].0),
            "; 200",
            "; 00A1:2",
            "acme",
            "b-1",
        ];
        assert_eq!(row, &expected);
    }
    let population = read(&table(&documents, POPULATION_CSV));
    for ((_, cell), row) in NAMES.iter().zip(&population[1..]) {
        assert_eq!(row, &["codehost", "repository", cell, "'007", "", "no", "", "yes", "", "acme", "b-1"]);
    }
    // A row per request, and one for an observation without any.
    let observations = read(&table(&documents, OBSERVATIONS_CSV));
    assert_eq!(observations.len(), 2 * NAMES.len() + 4);
    for ((_, cell), rows) in NAMES.iter().zip(observations[1..].chunks(2)) {
        for (row, at) in rows.iter().zip(["2026-11-23T01:37:43Z", "2026-11-23T01:37:44Z"]) {
            let start =
                ["codehost:1", "codehost", "branch_protection", cell, "denied", "blocked", cell, "", at];
            let end = ["GET", cell, "200", "", "00A1:2", cell, "", "acme", "b-1"];
            assert_eq!(row, &[start, end].concat());
        }
    }
    let last = &observations[observations.len() - 3];
    assert_eq!((last[0].as_str(), last[4].as_str(), last[8].as_str()), ("codehost:2", "not_asked", ""));
    let events = read(&table(&documents, EVENTS_CSV));
    for ((_, cell), row) in NAMES.iter().zip(&events[1..]) {
        let start = ["altcloud", "2026-11-22T00:00:00Z", "CREATE_USER", cell, "", cell, "", LOG];
        assert_eq!(row[..8], start);
        assert_eq!(row[9..], ["2026-11-23T01:37:45Z", "GET /activity", "304", "", "acme", "b-1"]);
    }
    // Without such an artifact, the table has only its header.
    let mut without = documents;
    let manifest = String::from_utf8(without.0.remove(MANIFEST).unwrap()).unwrap();
    without.0.insert(MANIFEST, manifest.replace("user_lifecycle\"", "admin_roles\"").into_bytes());
    assert_eq!(read(&table(&without, EVENTS_CSV)).len(), 1);
    assert_eq!(read(&table(&without, ARTIFACTS_CSV))[1][11..], ["acme", "b-1"]);
}

#[test]
fn lines_end_as_rfc_4180_wants_and_the_mark_is_there_only_if_needed() {
    let plain = table(&documents(&["acme/web", "line\nbreak"]), CHECKS_CSV);
    assert!(plain.starts_with(b"control,criterion,"), "no mark, and the first name is not quoted");
    assert_eq!(plain.iter().filter(|byte| **byte == b'\n').count(), 3);
    assert_eq!(plain.windows(2).filter(|pair| pair == b"\r\n").count(), 3);
    let wide = table(&documents(&["acme/caf\u{e9}"]), CHECKS_CSV);
    assert!(wide.starts_with("\u{feff}control,criterion,".as_bytes()));
    // Text that would change the reading direction is escaped.
    let turned = table(&documents(&["acme/\u{202e}gpj.exe"]), POPULATION_CSV);
    assert!(String::from_utf8(turned).unwrap().contains("acme/\\u{202e}gpj.exe"));
}

#[test]
fn a_long_cell_says_that_it_was_cut() {
    let long = "x".repeat(40_000);
    let rows = read(&table(&documents(&[&long]), POPULATION_CSV));
    let cell = &rows[1][2];
    assert!(cell.len() < 3_000 && cell.ends_with("(cut)"), "{} characters", cell.len());
}

#[test]
fn a_document_of_another_form_is_no_empty_table() {
    for (path, document) in [
        (CHECKS_CSV, NORMALIZED),
        (CHECKS_CSV, OBSERVATIONS),
        (OBSERVATIONS_CSV, OBSERVATIONS),
        (EVENTS_CSV, LOG),
        (POPULATION_CSV, POPULATION),
    ] {
        for content in
            [&b"{"[..], b"[]", b"{\"controls\": 1, \"members\": 1, \"observations\": 1, \"events\": 1}"]
        {
            let mut documents = documents(&["acme/web"]);
            documents.0.insert(document, content.to_vec());
            let error = evidence_report::write(path, &documents, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{path}: {error}");
        }
        let mut missing = documents(&["acme/web"]);
        missing.0.remove(document);
        let error = evidence_report::write(path, &missing, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{path}");
    }
}
