//! Documents by a trusted key that are malformed or contradict each other.

use std::sync::LazyLock;

use evidence_bundle::path::{HINTS, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use serde_json::{Value, json};

use super::hostile::{Case, fail, manifest, ok, pack};
use super::{key, raw, sha256, small_files, with_manifest};

/// Counts of zero.
static NONE: LazyLock<Value> =
    LazyLock::new(|| json!({"pass": 0, "fail": 0, "not_verifiable": 0, "not_applicable": 0}));

/// A bundle with a document that was changed before the manifest and the signature were made.
fn document(path: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut files = small_files().split_off(1);
    let (_, contents) = files.iter_mut().find(|(name, _)| name == path).unwrap();
    let mut document = serde_json::from_slice(contents).unwrap();
    change(&mut document);
    *contents = serde_json::to_vec_pretty(&document).unwrap();
    pack(&raw::entries(&with_manifest(files, &key()), &key()))
}

/// A bundle with a document whose text was changed before the manifest and the signature were made.
fn text(path: &str, change: impl FnOnce(String) -> String) -> Vec<u8> {
    let mut files = small_files().split_off(1);
    let (_, contents) = files.iter_mut().find(|(name, _)| name == path).unwrap();
    *contents = change(String::from_utf8(std::mem::take(contents)).unwrap()).into_bytes();
    pack(&raw::entries(&with_manifest(files, &key()), &key()))
}

/// A reference to a row of the observations.
fn observation(id: &str) -> Value {
    let files = small_files();
    let (_, contents) = files.iter().find(|(name, _)| name == OBSERVATIONS).unwrap();
    json!({ "filename": OBSERVATIONS, "checksum": hex::encode(sha256(contents)), "id": id })
}

/// A hint for the small bundle.
fn hint(severity: &str) -> Value {
    json!({
        "id": "a", "control": "CC6.1", "rule": "two-factor-required", "reason": "r", "severity": severity, "category": "missing", "source": "codehost",
        "subject": "acme", "title": "t", "detail": "d", "remediation": "r", "evidence": [],
    })
}

/// One change of one document each.
pub fn cases() -> Vec<Case> {
    let normalized = |change: fn(&mut Value)| document(NORMALIZED, change);
    let hints = |change: fn(&mut Value)| document(HINTS, change);
    let run = |change: fn(&mut Value)| document(RUN, change);
    let observations = |change: fn(&mut Value)| document(OBSERVATIONS, change);
    let of_observations = |name, reason, change| fail(name, reason, observations(change));
    let of_population =
        |name, reason, change: fn(&mut Value)| fail(name, reason, document(POPULATION, change));
    let of_scope = |name, reason, change: fn(&mut Value)| fail(name, reason, document(SCOPE, change));
    let of_normalized = |name, reason, change| fail(name, reason, normalized(change));
    let of_hints = |name, reason, change| fail(name, reason, hints(change));
    let of_run = |name, reason, change| fail(name, reason, run(change));
    let of_manifest = |name, reason, change: fn(&mut Value)| fail(name, reason, manifest(change));
    let error = || json!([{"code": "c", "message": "m", "source": "codehost", "subject": "acme"}]);
    vec![
        of_normalized("document-format_fail", "document-format", |n| *n = json!({"garbage": true})),
        of_normalized("document-format_status_fail", "document-format", |n| {
            n["controls"][0]["checks"][0]["status"] = json!("passed");
        }),
        of_normalized("document-format_list_fail", "document-format", |n| {
            let reference = n["controls"][0]["checks"][0]["evidence"][0].clone();
            n["controls"][0]["checks"][0]["evidence"] =
                json!([[reference["filename"], reference["checksum"]]]);
        }),
        of_normalized("document-format_version_fail", "document-format", |n| {
            n.as_object_mut().unwrap().remove("schema_version");
        }),
        of_hints("document-format_hints_fail", "document-format", |h| h["surprise"] = json!(true)),
        of_hints("document-format_severity_fail", "document-format", |h| {
            h["hints"] = json!([hint("urgent")])
        }),
        of_hints("document-format_order_fail", "document-format", |h| {
            h["hints"] = json!([hint("low"), hint("high")]);
        }),
        of_normalized("unsupported-format_normalized_fail", "unsupported-format", |n| {
            n["schema_version"] = json!("2.0");
        }),
        of_hints("unsupported-format_hints_fail", "unsupported-format", |h| {
            h["schema_version"] = json!("2.0")
        }),
        of_run("unsupported-format_run_fail", "unsupported-format", |r| r["surprise"] = json!(true)),
        of_normalized("scope-mismatch_fail", "scope-mismatch", |n| n["framework"] = json!("iso27001")),
        of_normalized("scope-mismatch_control_fail", "scope-mismatch", |n| {
            n["controls"] = json!([]);
            n["summary"] = json!({"controls": NONE.clone(), "checks": NONE.clone()});
        }),
        of_normalized("scope-mismatch_check_fail", "scope-mismatch", |n| {
            n["controls"][0]["checks"][0]["source"] = json!("cloud");
        }),
        of_normalized("scope-mismatch_criteria_fail", "scope-mismatch", |n| {
            n["controls"][0]["criteria"] = json!({"another_rule": ["CC8.1"]});
        }),
        of_hints("scope-mismatch_hint_fail", "scope-mismatch", |h| {
            h["hints"] = json!([hint("low")]);
            h["hints"][0]["control"] = json!("CC7.2");
        }),
        of_hints("scope-mismatch_hint-source_fail", "scope-mismatch", |h| {
            h["hints"] = json!([hint("low")]);
            h["hints"][0]["source"] = json!("cloud");
        }),
        of_run("scope-mismatch_sources_fail", "scope-mismatch", |r| r["sources"][0]["name"] = json!("cloud")),
        of_run("scope-mismatch_tool_fail", "scope-mismatch", |r| r["tool"]["version"] = json!("0.0.9")),
        of_manifest("scope-mismatch_artifact_fail", "scope-mismatch", |m| {
            m["artifacts"][0]["controls"] = json!(["CC7.2"]);
        }),
        of_manifest("scope-mismatch_warning_fail", "scope-mismatch", |m| {
            m["warnings"][0]["source"] = json!("cloud");
        }),
        of_manifest("scope-mismatch_twice_fail", "scope-mismatch", |m| {
            m["controls"] = json!(["CC6.1", "CC6.1"]);
        }),
        of_normalized("evidence-mismatch_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"][0]["filename"] = json!("sources/codehost/gone.json");
        }),
        of_normalized("evidence-mismatch_checksum_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"][0]["checksum"] = json!("0".repeat(64));
        }),
        of_normalized("evidence-mismatch_short_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"][0]["checksum"] = json!("");
        }),
        of_hints("evidence-mismatch_hint_fail", "evidence-mismatch", |h| {
            h["hints"] = json!([hint("low")]);
            h["hints"][0]["evidence"] = json!([{"filename": "manifest.json", "checksum": "0".repeat(64)}]);
        }),
        of_normalized("evidence-mismatch_none_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"] = json!([]);
        }),
        of_normalized("evidence-mismatch_row_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"] = json!([observation("codehost:2")]);
        }),
        of_normalized("evidence-mismatch_row-source_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"] = json!([observation("cloud:1")]);
        }),
        of_normalized("evidence-mismatch_row-form_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"] = json!([observation("codehost:01")]);
        }),
        of_normalized("evidence-mismatch_row-of-artifact_fail", "evidence-mismatch", |n| {
            n["controls"][0]["checks"][0]["evidence"][0]["id"] = json!("codehost:1");
        }),
        of_observations("evidence-mismatch_observation_fail", "evidence-mismatch", |o| {
            o["observations"][0]["artifact"] = json!("sources/codehost/gone.json");
        }),
        of_observations("evidence-mismatch_outcome_fail", "evidence-mismatch", |o| {
            o["observations"][0]["outcome"] = json!("denied");
        }),
        of_observations("evidence-mismatch_document_fail", "evidence-mismatch", |o| {
            o["observations"][0]["artifact"] = json!("run.json");
        }),
        ok(
            "evidence-mismatch_ok",
            normalized(|n| {
                n["controls"][0]["checks"][0]["evidence"] = json!([observation("codehost:1")]);
            }),
        ),
        ok(
            "hints_ok",
            hints(|h| {
                h["hints"] = json!([hint("critical"), hint("info"), hint("info")]);
                for (number, hint) in h["hints"].as_array_mut().unwrap().iter_mut().enumerate() {
                    hint["id"] = json!(number.to_string());
                }
            }),
        ),
        of_hints("document-format_hint-twice_fail", "document-format", |h| {
            h["hints"] = json!([hint("critical"), hint("info")]);
        }),
        fail(
            "document-format_key-twice_fail",
            "document-format",
            text(NORMALIZED, |text| {
                text.replacen("\"criteria\": {", "\"criteria\": {\"two-factor-required\": [\"CC1.1\"],", 1)
            }),
        ),
        of_normalized("limit_reasons_fail", "limit", |n| {
            let check = n["controls"][0]["checks"][0].clone();
            let numbered = (0..4_097).map(|number| {
                let mut check = check.clone();
                check["reason"] = json!(number.to_string());
                check
            });
            n["controls"][0]["checks"] = numbered.collect();
        }),
        of_hints("limit_text_fail", "limit", |h| {
            h["hints"] = json!([hint("low")]);
            h["hints"][0]["detail"] = json!("a".repeat((1 << 20) + 1));
        }),
        of_normalized("status-mismatch_fail", "status-mismatch", |n| {
            n["controls"][0]["checks"][0]["status"] = json!("fail");
        }),
        of_normalized("status-mismatch_none_fail", "status-mismatch", |n| {
            n["controls"][0]["checks"] = json!([]);
        }),
        of_normalized("summary-mismatch_fail", "summary-mismatch", |n| {
            n["summary"]["checks"]["pass"] = json!(2);
        }),
        of_normalized("summary-mismatch_control_fail", "summary-mismatch", |n| {
            n["summary"]["controls"]["fail"] = json!(1);
        }),
        fail("complete-mismatch_fail", "complete-mismatch", manifest(|m| m["errors"] = error())),
        of_manifest("complete-mismatch_excluded_fail", "complete-mismatch", |m| {
            m["excluded"] = json!([{"filename": "sources/codehost/left.json", "rule": "r"}]);
        }),
        of_run("complete-mismatch_exit_fail", "complete-mismatch", |r| r["exit_code"] = json!(3)),
        of_run("complete-mismatch_failed_fail", "complete-mismatch", |r| {
            r["sources"][0]["requested"] = json!(2);
            r["sources"][0]["failed"] = json!(1);
        }),
        of_normalized("complete-mismatch_denied_fail", "complete-mismatch", |n| {
            let zero = json!({"pass": 0, "fail": 0, "not_verifiable": 1, "not_applicable": 0});
            n["summary"] = json!({ "controls": zero, "checks": zero });
            n["controls"][0]["status"] = json!("not_verifiable");
            n["controls"][0]["checks"][0]["status"] = json!("not_verifiable");
            n["controls"][0]["checks"][0]["reason"] = json!("permission_denied");
        }),
        of_manifest("complete-mismatch_nothing_fail", "complete-mismatch", |m| m["complete"] = json!(false)),
        // Something is missing, and the bundle reports it.
        ok(
            "complete-mismatch_ok",
            manifest(|m| {
                m["complete"] = json!(false);
                m["errors"] = error();
            }),
        ),
        of_run("count-mismatch_fail", "count-mismatch", |r| r["sources"][0]["requested"] = json!(2)),
        of_run("count-mismatch_more_fail", "count-mismatch", |r| {
            r["sources"][0]["requested"] = json!(2);
            r["sources"][0]["collected"] = json!(2);
        }),
        of_run("count-mismatch_fewer_fail", "count-mismatch", |r| {
            r["sources"][0]["collected"] = json!(0);
            r["sources"][0]["not_found"] = json!(1);
        }),
        of_observations("count-mismatch_observations_fail", "count-mismatch", |o| {
            o["observations"][0]["outcome"] = json!("nothing");
            o["observations"][0].as_object_mut().unwrap().remove("artifact");
        }),
        of_observations("count-mismatch_id_fail", "count-mismatch", |o| {
            o["observations"][0]["id"] = json!("codehost:2");
        }),
        of_population("count-mismatch_members_fail", "count-mismatch", |p| p["members"] = json!([])),
        of_population("count-mismatch_in-scope_fail", "count-mismatch", |p| {
            p["sources"][0]["in_scope"] = json!(0);
            p["members"][0]["in_scope"] = json!(false);
            p["members"][0]["reason"] = json!("excluded");
        }),
        of_population("count-mismatch_reason_fail", "count-mismatch", |p| {
            p["members"][0]["reason"] = json!("excluded");
        }),
        of_observations("document-format_outcome_fail", "document-format", |o| {
            o["observations"][0]["outcome"] = json!("lost");
        }),
        of_population("document-format_population_fail", "document-format", |p| {
            p["members"][0]["surprise"] = json!(true);
        }),
        of_scope("document-format_scope_fail", "document-format", |s| {
            s.as_object_mut().unwrap().remove("rules");
        }),
        of_scope("scope-mismatch_organization_fail", "scope-mismatch", |s| {
            s["organization"] = json!("other")
        }),
        of_scope("scope-mismatch_expected_fail", "scope-mismatch", |s| {
            s["rules"][0]["expected"] = json!("nothing");
        }),
        of_normalized("scope-mismatch_unexpected_fail", "scope-mismatch", |n| {
            n["controls"][0]["expected"] = json!({});
        }),
        of_scope("scope-mismatch_rule-left-out_fail", "scope-mismatch", |s| {
            s["rules_excluded"] = json!(["two-factor-required"]);
        }),
        of_scope("scope-mismatch_rule_fail", "scope-mismatch", |s| s["rules"] = json!([])),
        of_scope("scope-mismatch_scope-control_fail", "scope-mismatch", |s| {
            s["sources"][0]["controls"] = json!(["CC7.2"]);
        }),
        of_scope("scope-mismatch_scope-tool_fail", "scope-mismatch", |s| s["tool"]["name"] = json!("other")),
        of_population("scope-mismatch_population_fail", "scope-mismatch", |p| p["sources"] = json!([])),
        of_observations("scope-mismatch_observation_fail", "scope-mismatch", |o| {
            o["observations"][0]["source"] = json!("cloud");
        }),
        of_observations("time-order_asked_fail", "time-order", |o| {
            o["observations"][0]["requests"][0]["at"] = json!("2026-01-02T03:04:06Z");
        }),
        of_manifest("manifest-mismatch_excluded_fail", "manifest-mismatch", |m| {
            m["complete"] = json!(false);
            m["excluded"] = json!([{"filename": "sources/codehost/org_settings.json", "rule": "r"}]);
        }),
        of_run("time-order_fail", "time-order", |r| r["started_at"] = json!("2026-01-02T03:04:06Z")),
        of_run("time-order_form_fail", "time-order", |r| r["started_at"] = json!("yesterday")),
        of_run("time-order_duration_fail", "time-order", |r| r["duration_seconds"] = json!(4)),
        of_run("time-order_created_fail", "time-order", |r| {
            r["completed_at"] = json!("2026-01-02T03:04:06Z");
            r["duration_seconds"] = json!(6);
        }),
        of_manifest("time-order_fixed_fail", "time-order", |m| {
            m["warnings"][0]["code"] = json!("fixed_time")
        }),
        of_run("time-order_unfixed_fail", "time-order", |r| r["source_date_epoch"] = json!(1)),
        of_run("time-order_silent_fail", "time-order", |r| {
            r["source_date_epoch"] = json!(1_767_323_045);
            r["started_at"] = r["completed_at"].clone();
            r["duration_seconds"] = json!(0);
        }),
        of_manifest("time-order_late_fail", "time-order", |m| {
            m["artifacts"][0]["collected_at"] = json!("2026-01-02T03:04:06Z");
        }),
        of_manifest("time-order_early_fail", "time-order", |m| {
            m["artifacts"][0]["collected_at"] = json!("2026-01-02T03:03:59Z");
        }),
        of_manifest("time-order_artifact_fail", "time-order", |m| {
            m["artifacts"][0]["collected_at"] = json!("2026-01-02");
        }),
        ok(
            "time-order_ok",
            manifest(|m| {
                m["artifacts"][0]["collected_at"] = json!("2026-01-02T03:03:59Z");
                m["warnings"][0]["code"] = json!("resumed");
            }),
        ),
    ]
}
