//! The questions of the page, in the page's own form.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use evidence_verifier::Session;
use serde_json::{Value, json};

fn bundles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../evidence-bundle/tests/bundles")
}

fn bundle(case: &str) -> Vec<u8> {
    fs::read(bundles().join(case).join("bundle.tar.gz")).unwrap()
}

fn terms() -> Value {
    let key =
        json!({ "name": "key.pub.pem", "text": fs::read_to_string(bundles().join("key.pub.pem")).unwrap() });
    json!({ "ask": "verify", "public_keys": [key], "allowed_signers": null, "fingerprints": "", "organization": "",
        "max_age": "", "now": 1_800_000_000 })
}

fn ask(session: &mut Session, question: &Value, bundle: &[u8]) -> (Value, Vec<u8>) {
    let answer = session.ask(question.to_string().as_bytes(), bundle);
    (serde_json::from_slice(&answer.document).unwrap(), answer.bytes)
}

fn checks(filter: Value, sample: Value, table: bool) -> Value {
    let mut all =
        json!({ "status": null, "criterion": "", "control": "", "rule": "", "source": "", "subject": "" });
    for (name, value) in filter.as_object().unwrap() {
        all[name] = value.clone();
    }
    json!({ "ask": "checks", "filter": all, "skip": 0, "sample": sample, "table": table })
}

#[test]
fn nothing_is_shown_before_a_bundle_is_verified_or_after_another_one_is_not() {
    let mut session = Session::new();
    let questions = [
        json!({ "ask": "report", "download": false }),
        json!({ "ask": "as_signed" }),
        json!({ "ask": "files", "search": "", "skip": 0 }),
        json!({ "ask": "file", "path": "manifest.json", "download": true }),
        checks(json!({}), Value::Null, false),
    ];
    let good = bundle("fingerprint_ok");
    let refused = |session: &mut Session| {
        for question in &questions {
            let (answer, bytes) = ask(session, question, &good);
            assert_eq!((answer["error"].as_str(), bytes), (Some("no bundle is verified"), Vec::new()));
        }
    };
    refused(&mut session);
    for case in ["gzip_fail", "checksum-mismatch_fail", "tar-end_fail"] {
        let (answer, _) = ask(&mut session, &terms(), &good);
        assert_eq!(answer["verdict"]["headline"], "VERIFIED");
        let (answer, _) = ask(&mut session, &terms(), &bundle(case));
        assert_eq!(
            (&answer["verdict"]["headline"], &answer["contents"]),
            (&json!("FAILED"), &Value::Null),
            "{case}"
        );
        refused(&mut session);
    }
    // An unknown key, and no key.
    let mut nobody = terms();
    nobody["public_keys"] = json!([]);
    let (answer, _) = ask(&mut session, &nobody, &good);
    assert_eq!(answer["verdict"]["headline"], "INTACT, NOT AUTHENTICATED");
    assert_eq!(answer["contents"], Value::Null);
    refused(&mut session);
}

#[test]
fn a_revoked_key_counts_no_more() {
    let mut session = Session::new();
    let good = bundle("fingerprint_ok");
    let list = fs::read_to_string(bundles().join("key-revoked_fail/revoked")).unwrap();
    let asked = |text: Value| {
        let mut asked = terms();
        asked["revoked_keys"] = json!({ "name": "revoked", "text": text });
        asked
    };
    let (answer, _) = ask(&mut session, &asked(json!(list)), &good);
    assert_eq!(answer["report"]["reason"], "key-revoked");
    assert_eq!((&answer["verdict"]["headline"], &answer["contents"]), (&json!("FAILED"), &Value::Null));
    // A list that cannot be read is not an empty one.
    for text in [json!(""), json!("nonsense\n"), Value::Null] {
        let (answer, _) = ask(&mut session, &asked(text), &good);
        assert!(answer["error"].as_str().unwrap().starts_with("cannot read the list of revoked keys"));
    }
    let (answer, _) = ask(&mut session, &asked(json!("# none\n")), &good);
    assert_eq!(answer["report"]["revoked_keys"], 0);
}

#[test]
fn a_file_comes_from_the_bundle_that_was_verified() {
    let mut session = Session::new();
    let good = bundle("fingerprint_ok");
    ask(&mut session, &terms(), &good);
    let file = |path: &str, download: bool| json!({ "ask": "file", "path": path, "download": download });
    let (shown, bytes) = ask(&mut session, &file("manifest.json", false), &good);
    assert!(shown["text"].as_str().unwrap().starts_with('{') && bytes.is_empty());
    let (answer, bytes) = ask(&mut session, &file("manifest.json", true), &good);
    assert_eq!((answer["size"].as_u64(), &answer["sha256"]), (Some(bytes.len() as u64), &shown["sha256"]));
    assert_eq!(ask(&mut session, &file("absent", true), &good).0["error"], "the bundle has no such file");
    // The file on disk was replaced in the meantime: by a damaged bundle, by another valid one.
    for (other, why) in [("gzip_fail", "changed since it was verified"), ("hints_ok", "another bundle")] {
        let (answer, bytes) = ask(&mut session, &file("manifest.json", true), &bundle(other));
        assert!(answer["error"].as_str().unwrap().contains(why), "{answer}");
        assert!(bytes.is_empty());
    }
}

#[test]
fn the_report_is_made_from_the_documents() {
    let mut session = Session::new();
    let good = bundle("hints_ok");
    ask(&mut session, &terms(), &good);
    let report = |download: bool| json!({ "ask": "report", "download": download });
    let (made, page) = ask(&mut session, &report(false), &good);
    assert_eq!(made["signed"], "absent", "{made}");
    let (_, saved) = ask(&mut session, &report(true), &good);
    let (page, saved) = (String::from_utf8(page).unwrap(), String::from_utf8(saved).unwrap());
    // What is shown has no link; what is saved has them.
    assert!(!page.contains(" href=\"") && page.contains("data-to=\"#results\""));
    assert_eq!(page.replace(" role=\"link\" tabindex=\"0\" data-to=\"", " href=\""), saved);
    assert!(saved.starts_with("<!doctype html>") && !saved.contains("<script"));
    let (refusal, bytes) = ask(&mut session, &json!({ "ask": "as_signed" }), &good);
    assert_eq!((&refusal["error"], bytes), (&json!("the signer put no report into this bundle"), Vec::new()));
    let (refusal, bytes) = ask(&mut session, &report(false), &bundle("fingerprint_ok"));
    assert!(refusal["error"].as_str().unwrap().contains("another bundle") && bytes.is_empty());
}

/// Names of files are shown as texts of a bundle are.
#[test]
fn a_name_does_not_deceive() {
    let mut named = terms();
    named["name"] = json!("acme\u{202e}zg.rat\u{ad}");
    named["public_keys"] = json!([{ "name": "key\u{3164}", "text": "none" }]);
    let mut session = Session::new();
    let (refusal, _) = ask(&mut session, &named, &bundle("hints_ok"));
    assert!(refusal["error"].as_str().unwrap().contains("key\\u{3164}"), "{refusal}");
    named["public_keys"] = terms()["public_keys"].clone();
    let (answer, _) = ask(&mut session, &named, &bundle("hints_ok"));
    assert_eq!(answer["name"], "acme\\u{202e}zg.rat\\u{ad}");
}

#[test]
fn rows_are_filtered_sampled_and_tabled() {
    let mut session = Session::new();
    let good = bundle("hints_ok");
    let (answer, _) = ask(&mut session, &terms(), &good);
    let all = answer["contents"]["checks"].as_u64().unwrap();
    assert!(all > 0);
    let (every, _) = ask(&mut session, &checks(json!({}), Value::Null, false), &good);
    assert_eq!((every["found"].as_u64(), every["rows"].as_array().unwrap().len() as u64), (Some(all), all));
    // The counts of each criterion are those of its rows.
    for criterion in answer["contents"]["criteria"].as_array().unwrap() {
        for status in ["pass", "fail", "not_verifiable", "not_applicable"] {
            let filter = json!({ "criterion": criterion["id"], "status": status });
            let (rows, _) = ask(&mut session, &checks(filter, Value::Null, false), &good);
            assert_eq!(rows["found"], criterion["counts"][status], "{criterion} {status}");
        }
    }
    assert!(answer["contents"]["scopes"][0]["sentence"].is_string(), "{answer}");
    let (none, _) = ask(&mut session, &checks(json!({ "subject": "nobody/*" }), Value::Null, false), &good);
    assert_eq!(none["found"], 0);
    let (sample, _) = ask(&mut session, &checks(json!({}), json!({ "seed": "s", "count": 1 }), false), &good);
    assert_eq!(sample["found"], 1);
    assert_eq!(sample["rows"][0]["sha256"].as_str().unwrap().len(), 64);
    let (refusal, _) =
        ask(&mut session, &checks(json!({}), json!({ "seed": " ", "count": 1 }), false), &good);
    assert_eq!(refusal["error"], "the seed is empty");
    let (_, table) = ask(&mut session, &checks(json!({}), Value::Null, true), &good);
    assert!(String::from_utf8(table).unwrap().starts_with("control,criterion,source,rule,"));
    let members = json!({ "ask": "population", "filter": { "source": "", "kind": "", "name": "", "in_scope": false },
        "skip": 0, "sample": null, "table": false });
    let (members, _) = ask(&mut session, &members, &good);
    assert_eq!(members["found"], answer["contents"]["members"]);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let mut session = Session::new();
    for question in ["", "{}", "[]", r#"{"ask":"everything"}"#, r#"{"ask":"report","more":1}"#] {
        let answer = session.ask(question.as_bytes(), std::io::empty());
        let answer: Value = serde_json::from_slice(&answer.document).unwrap();
        assert!(answer["error"].is_string(), "{question}: {answer}");
    }
    let good = bundle("fingerprint_ok");
    let mut cases = Vec::new();
    for (field, value, message) in [
        (
            "public_keys",
            json!([{ "name": "a", "text": null }]),
            "cannot trust this key: a: not a key in PEM or OpenSSH form",
        ),
        ("public_keys", json!([{ "name": "a", "text": "x".repeat(2 << 20) }]), "the key file a is too large"),
        ("fingerprints", json!("sha256:00"), "not combined"),
        ("max_age", json!("7"), "the maximum age 7 is not a duration"),
    ] {
        let mut question = terms();
        question[field] = value;
        cases.push((question, message));
    }
    for (question, message) in cases {
        let (answer, _) = ask(&mut session, &question, &good);
        assert!(answer["error"].as_str().unwrap().contains(message), "{answer}");
    }
}
