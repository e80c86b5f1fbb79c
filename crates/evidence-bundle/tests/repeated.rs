//! No document may have a key twice: programs differ in which of the two counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod support;

use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, POPULATION, REQUIRED, RUN, SCOPE};
use evidence_bundle::{Expectations, Failure, Limits, Reason, TrustRoot, UntrustedBundle};
use serde_json::{Map, Value, json};
use support::{File, key, raw, small_files, with_manifest};

/// How a key is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Same,
    /// Its first character as an escape.
    Escaped,
}

/// The text of a document in which the field with this number is written twice; fields are numbered depth first.
fn repeated(value: &Value, wanted: usize, form: Form, seen: &mut usize) -> String {
    match value {
        Value::Object(fields) => {
            let mut parts = Vec::new();
            for (name, value) in fields {
                let number = *seen;
                *seen += 1;
                let inner = repeated(value, wanted, form, seen);
                let key = Value::from(name.as_str()).to_string();
                parts.push(format!("{key}:{inner}"));
                if number == wanted {
                    let escaped = format!("\"\\u{:04x}{}", u32::from(key.as_bytes()[1]), &key[2..]);
                    parts.push(format!("{}:{inner}", if form == Form::Escaped { escaped } else { key }));
                }
            }
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| repeated(item, wanted, form, seen)).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

/// The small bundle, with every list and map of its documents filled.
fn full_files() -> Vec<File> {
    let mut files = small_files().split_off(1);
    let mut change = |path: &str, change: &dyn Fn(&mut Value)| {
        let (_, contents) = files.iter_mut().find(|(name, _)| name == path).unwrap();
        let mut document = serde_json::from_slice(contents).unwrap();
        change(&mut document);
        *contents = serde_json::to_vec(&document).unwrap();
    };
    change(HINTS, &|hints| {
        hints["hints"] = json!([{
            "id": "a", "control": "CC6.1", "rule": "r", "reason": "r", "severity": "low",
            "category": "missing", "source": "codehost",
            "subject": "acme", "title": "t", "detail": "d", "remediation": "r", "evidence": [],
        }]);
    });
    change(NORMALIZED, &|normalized| {
        normalized["controls"][0]["criteria"]["another"] = json!(["CC8.1"]);
        normalized["controls"][0]["expected"]["another"] = json!("e");
    });
    change(RUN, &|run| {
        run["sources"][0]["rate_limit"] =
            json!({"limit": 1, "remaining": 1, "reset": "2026-01-02T03:04:05Z"});
        run["sources"][0]["excluded"] = json!(1);
        run["sources"][0]["requested"] = json!(2);
    });
    change("derived/observations.json", &|observations| {
        let mut excluded = observations["observations"][0].clone();
        excluded["id"] = json!("codehost:2");
        excluded["outcome"] = json!("excluded");
        excluded.as_object_mut().unwrap().remove("artifact");
        excluded["requests"][0]["message"] = json!("m");
        observations["observations"].as_array_mut().unwrap().push(excluded);
    });
    change(POPULATION, &|population| {
        population["sources"][0]["host_totals"]["total_private_repos"] = json!(0);
    });
    change(SCOPE, &|scope| {
        scope["sources"][0]["settings"] = json!({
            "branch": {"*": "main", "acme/*": "trunk"},
            "exclude": [{"name": "a", "reason": {"text": "b"}}],
        });
    });
    let mut files = with_manifest(files, &key());
    let mut manifest: Value = serde_json::from_slice(&files[0].1).unwrap();
    manifest["complete"] = json!(false);
    manifest["excluded"] = json!([{"filename": "sources/codehost/left.json", "rule": "r"}]);
    manifest["errors"] = json!([{"code": "c", "message": "m", "source": "codehost", "subject": "acme"}]);
    manifest["previous"] = json!({"bundle_id": "b", "checksums_sha256": "0".repeat(64)});
    files[0].1 = serde_json::to_vec(&manifest).unwrap();
    files
}

fn verify(files: &[File]) -> Result<(), Failure> {
    let mut trust = TrustRoot::new();
    trust.add_key("the test key", key().public_key());
    let bundle = raw::gzip(&raw::tar(&raw::entries(files, &key())));
    let verified =
        UntrustedBundle::new(bundle.as_slice()).verify(&trust, &Expectations::default(), &Limits::DEFAULT);
    verified.map(drop)
}

/// The same files with another text of one document, and a manifest that describes it.
fn with(path: &str, text: String) -> Vec<File> {
    let mut files = full_files();
    let (_, contents) = files.iter_mut().find(|(name, _)| name == path).unwrap();
    *contents = text.into_bytes();
    if path != MANIFEST {
        let described: Value =
            serde_json::from_slice(&with_manifest(files[1..].to_vec(), &key())[0].1).unwrap();
        let mut manifest: Map<String, Value> = serde_json::from_slice(&files[0].1).unwrap();
        manifest["files"] = described["files"].clone();
        files[0].1 = serde_json::to_vec(&manifest).unwrap();
    }
    files
}

#[test]
fn every_key_of_every_document_is_refused_twice() {
    verify(&full_files()).unwrap();
    let (mut tried, mut wrong) = (0, Vec::new());
    for path in REQUIRED {
        let files = full_files();
        let (_, contents) = files.iter().find(|(name, _)| name == path).unwrap();
        let document: Value = serde_json::from_slice(contents).unwrap();
        // None is repeated: the writer of this test changes nothing else.
        let mut fields = 0;
        let text = repeated(&document, usize::MAX, Form::Same, &mut fields);
        verify(&with(path, text)).unwrap();
        for (number, form) in (0..fields).flat_map(|number| [(number, Form::Same), (number, Form::Escaped)]) {
            let text = repeated(&document, number, form, &mut 0);
            tried += 1;
            let refused = match verify(&with(path, text.clone())) {
                Err(Failure::NotWhatWasSigned(error)) => {
                    matches!(
                        error.reason,
                        Reason::DocumentFormat | Reason::ManifestFormat | Reason::UnsupportedFormat
                    ) && error.detail.contains("duplicate field")
                }
                _ => false,
            };
            if !refused {
                wrong.push(format!("{path}, field {number}, {form:?}: {text}"));
            }
        }
    }
    println!("{tried} variations, {} accepted", wrong.len());
    assert!(tried > 300 && wrong.is_empty(), "{tried}\n{}", wrong.join("\n"));
}
