//! Bundles with waivers by a trusted key: right ones, and ones that do not follow from the results.

use evidence_bundle::path::{NORMALIZED, WAIVERS};
use serde_json::{Value, json};

use super::hostile::{Case, fail, ok, pack};
use super::{key, raw, small_files, with_manifest};

/// The small bundle, whose check failed, with a document of waivers.
fn bundle(document: &Value) -> Vec<u8> {
    let mut files = small_files().split_off(1);
    let (_, contents) = files.iter_mut().find(|(name, _)| name == NORMALIZED).unwrap();
    let mut normalized: Value = serde_json::from_slice(contents).unwrap();
    let counts = json!({"pass": 0, "fail": 1, "not_verifiable": 0, "not_applicable": 0});
    normalized["summary"] = json!({"controls": counts, "checks": counts});
    normalized["controls"][0]["status"] = json!("fail");
    let check = &mut normalized["controls"][0]["checks"][0];
    (check["status"], check["reason"]) = (json!("fail"), json!("broken"));
    *contents = serde_json::to_vec_pretty(&normalized).unwrap();
    let place = files.iter().position(|(name, _)| name.starts_with("sources/")).unwrap();
    files.insert(place, (WAIVERS.to_owned(), serde_json::to_vec(document).unwrap()));
    pack(&raw::entries(&with_manifest(files, &key()), &key()))
}

/// A document with one waiver, which accepts the failure.
fn document() -> Value {
    json!({
        "schema_version": "1.0",
        "file": {"path": "waivers.yaml", "sha256": "0".repeat(64)},
        "summary": {"failed": 1, "failed_waived": 1, "failed_unwaived": 0},
        "waivers": [{
            "id": "W-1", "control": "CC6.1", "rule": "two-factor-required", "source": "codehost",
            "subjects": ["ACME"], "globs": ["ac*"], "reasons": ["broken"], "reason": "because it is so",
            "owner": "jane", "approved_by": "john", "approved_at": "2026-01-02", "expires_at": "2026-01-02",
            "compensating_check": {"rule": "two-factor-required", "subject": "acme", "status": "fail"},
            "self_approved": false, "state": "applied",
            "matches": [{
                "control": "CC6.1", "source": "codehost", "rule": "two-factor-required", "subject": "acme",
                "status": "fail", "reason": "broken",
            }],
        }],
    })
}

/// One change each.
pub fn cases() -> Vec<Case> {
    let changed = |change: fn(&mut Value)| {
        let mut document = document();
        change(&mut document);
        bundle(&document)
    };
    let wrong = |name, reason, change: fn(&mut Value)| fail(name, reason, changed(change));
    let waiver = |name, change: fn(&mut Value)| wrong(name, "judgement-differs", change);
    vec![
        ok("waivers_ok", bundle(&document())),
        ok(
            "waivers_none_ok",
            changed(|d| {
                d["waivers"] = json!([]);
                d["summary"] = json!({"failed": 1, "failed_waived": 0, "failed_unwaived": 1});
            }),
        ),
        ok(
            "waivers_expired_ok",
            changed(|d| {
                (d["waivers"][0]["approved_at"], d["waivers"][0]["expires_at"]) =
                    (json!("2025-12-01"), json!("2026-01-01"));
                d["waivers"][0]["state"] = json!("expired");
                d["summary"] = json!({"failed": 1, "failed_waived": 0, "failed_unwaived": 1});
            }),
        ),
        waiver("judgement-differs_waiver-expired_fail", |d| {
            (d["waivers"][0]["approved_at"], d["waivers"][0]["expires_at"]) =
                (json!("2025-12-01"), json!("2026-01-01"));
        }),
        waiver("judgement-differs_waiver-state_fail", |d| d["waivers"][0]["state"] = json!("expired")),
        waiver("judgement-differs_waiver-reason_fail", |d| d["waivers"][0]["reasons"] = json!(["other"])),
        waiver("judgement-differs_waiver-control_fail", |d| d["waivers"][0]["control"] = json!("CC7.2")),
        waiver("judgement-differs_waiver-none_fail", |d| d["waivers"][0]["matches"] = json!([])),
        waiver("judgement-differs_waiver-match_fail", |d| {
            d["waivers"][0]["matches"][0]["subject"] = json!("other");
        }),
        waiver("judgement-differs_waiver-pass_fail", |d| {
            d["waivers"][0]["matches"][0]["status"] = json!("pass");
        }),
        waiver("judgement-differs_waiver-more_fail", |d| {
            let again = d["waivers"][0]["matches"][0].clone();
            d["waivers"][0]["matches"].as_array_mut().unwrap().push(again);
        }),
        waiver("judgement-differs_waiver-alone_fail", |d| d["waivers"][0]["owner"] = json!("John")),
        waiver("judgement-differs_waiver-compensating_fail", |d| {
            d["waivers"][0]["compensating_check"]["status"] = json!("pass");
        }),
        waiver("judgement-differs_waiver-twice_fail", |d| {
            let mut second = d["waivers"][0].clone();
            second["id"] = json!("W-2");
            d["waivers"].as_array_mut().unwrap().push(second);
        }),
        wrong("summary-mismatch_waivers_fail", "summary-mismatch", |d| {
            d["summary"] = json!({"failed": 1, "failed_waived": 0, "failed_unwaived": 1});
        }),
        wrong("document-format_waivers_fail", "document-format", |d| d["surprise"] = json!(1)),
        wrong("document-format_waiver_fail", "document-format", |d| d["waivers"][0]["surprise"] = json!(1)),
        wrong("document-format_waiver-day_fail", "document-format", |d| {
            d["waivers"][0]["expires_at"] = json!("2026-02-30");
        }),
        wrong("document-format_waiver-same_fail", "document-format", |d| {
            let second = d["waivers"][0].clone();
            d["waivers"].as_array_mut().unwrap().push(second);
        }),
        wrong("document-format_waiver-list_fail", "document-format", |d| {
            d["waivers"][0]["compensating_check"] = json!(["two-factor-required", "acme", "fail"]);
        }),
        wrong("unsupported-format_waivers_fail", "unsupported-format", |d| {
            d["schema_version"] = json!("9.0")
        }),
        wrong("limit_waiver-globs_fail", "limit", |d| {
            d["waivers"][0]["globs"] = Value::Array(vec![json!("x*"); 1_001]);
        }),
    ]
}
