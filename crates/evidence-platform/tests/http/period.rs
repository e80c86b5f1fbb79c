//! The period of an organization: the figures of the command line, and when each bundle was stored.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use evidence_bundle::document::{
    NormalizedControl, WaiverMatch, WaiverRecord, WaiverState, Waivers, WaiversFile, WaiversSummary,
};
use evidence_bundle::{Expectations, Limits, Status, TrustRoot};
use evidence_view::history::{Day, Facts, Series};
use serde_json::{Value, json};

use crate::running::Running;
use crate::support::{bundles, loudly};

/// The minutes of a day: the numbers of bundles are minutes.
const DAY: u32 = 1_440;

/// A bundle of this day that fails or passes, with a waiver of the failure or a waiver that is over.
fn night(day: u32, fails: bool, last: Option<&str>) -> Vec<u8> {
    let mut parts = bundles::parts(day * DAY);
    let NormalizedControl { checks, reason: why, .. } = &mut parts.normalized.controls[0];
    let status = if fails { Status::Fail } else { Status::Pass };
    let reason = if fails { "two_factor_disabled" } else { "ok" };
    (checks[0].status, checks[0].reason) = (status, reason.to_owned());
    reason.clone_into(why);
    if let Some(last) = last {
        let is_over = format!("2026-01-{:02}", 2 + day).as_str() > last;
        let waiver = waiver(status, reason, last, is_over);
        let failed = u64::from(fails);
        let failed_waived = u64::from(waiver.state == WaiverState::Applied);
        let document = Waivers {
            schema_version: "1.0".to_owned(),
            file: WaiversFile { path: None, sha256: "0".repeat(64) },
            summary: WaiversSummary { failed, failed_waived, failed_unwaived: failed - failed_waived },
            waivers: vec![waiver],
        };
        let mut bytes = Vec::new();
        evidence_bundle::document::write_json(&mut bytes, &document).unwrap();
        parts.views.push(("derived/waivers.json".to_owned(), bytes));
    }
    // The waivers apply at the start of the run.
    let time = evidence_bundle::time::format(bundles::CREATED_AT + i64::from(day) * 86_400).unwrap();
    (parts.run.started_at, parts.run.completed_at) = (time.clone(), time.clone());
    parts.run.duration_seconds = 0;
    bundles::pack(day * DAY, &parts, &bundles::key(), |manifest| {
        manifest.artifacts.iter_mut().for_each(|artifact| artifact.collected_at.clone_from(&time));
    })
}

fn waiver(status: Status, reason: &str, last: &str, is_over: bool) -> WaiverRecord {
    WaiverRecord {
        id: "W-1".to_owned(),
        control: None,
        rule: "two-factor-required".to_owned(),
        source: "codehost".to_owned(),
        subjects: vec!["acme".to_owned()],
        globs: Vec::new(),
        reasons: Vec::new(),
        reason: "Moves to the new identity provider".to_owned(),
        owner: "jane.doe@acme.example".to_owned(),
        approved_by: "john.roe@acme.example".to_owned(),
        approved_at: "2026-01-02".to_owned(),
        expires_at: last.to_owned(),
        ticket: None,
        compensating: None,
        compensating_check: None,
        self_approved: false,
        state: match (is_over, status) {
            (true, _) => WaiverState::Expired,
            (false, Status::Fail) => WaiverState::Applied,
            (false, _) => WaiverState::NotNeeded,
        },
        matches: vec![WaiverMatch {
            control: "CC6.1".to_owned(),
            source: "codehost".to_owned(),
            rule: "two-factor-required".to_owned(),
            subject: "acme".to_owned(),
            status,
            reason: reason.to_owned(),
        }],
    }
}

/// Ten days from 2 January: no bundle on the sixth, failures on the third, fourth and fifth, accepted until the fourth.
fn ten_days() -> Vec<Vec<u8>> {
    let days = (0..10).filter(|day| *day != 5);
    days.map(|day| night(day, (2..5).contains(&day), (day > 0).then_some("2026-01-05"))).collect()
}

/// The same bundles, folded by the code of the command line.
fn folded(all: &[Vec<u8>], from: &str, to: &str) -> Value {
    let mut trust = TrustRoot::new();
    trust.add_fingerprint(&bundles::key().public_key().key_id().to_string()).unwrap();
    let mut series = Series::default();
    for bytes in all {
        let read = evidence_view::read(
            bytes.as_slice(),
            &trust,
            &Expectations::default(),
            &Limits::default(),
            Facts::default(),
        );
        let (bundle, facts) = read.unwrap();
        series.add(&bundle, facts);
    }
    let history = series.fold(Day::parse(from), Day::parse(to), Vec::new()).unwrap();
    serde_json::to_value(history).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_figures_are_those_of_the_command_line() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let all = ten_days();
    for bytes in all.iter().rev() {
        let answer = running.upload(&tenant.upload, bytes).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let asked = "/api/v1/period?from=2026-01-01&to=2026-01-12";
    let answer = running.get(asked, &tenant.read).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut found = answer.json.clone();
    let stored = found.as_object_mut().unwrap().remove("stored").unwrap();
    assert_eq!(found, folded(&all, "2026-01-01", "2026-01-12"));
    // By hand: 9 of 12 days; from the sixth day's night to the eighth's two days; a failure of three nights.
    assert_eq!((&found["coverage"]["expected"], &found["coverage"]["complete"]), (&12.into(), &9.into()));
    assert_eq!(found["longest_gap"]["days"], 2);
    let exception = &found["exceptions"][0];
    assert_eq!(
        json!([
            exception["began"],
            exception["ended"],
            exception["bundles"],
            exception["waivers"][0]["state"]
        ]),
        json!(["regression", "repaired", 3, "expired"])
    );
    assert_eq!(
        (&exception["waivers"][0]["bundles"], &exception["waivers"][0]["approval"]),
        (&2.into(), &"before".into())
    );
    // When each bundle was stored stands apart, in the order of the bundles.
    let ids = |list: &Value| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|one| one["bundle_id"].clone()).collect()
    };
    assert_eq!(ids(&stored), ids(&found["inputs"]));
    let list = running.get("/api/v1/bundles", &tenant.read).await.json;
    for bundle in list["items"].as_array().unwrap() {
        let is_it = |one: &&Value| one["bundle_id"] == bundle["bundle_id"];
        let one = stored.as_array().unwrap().iter().find(is_it).unwrap();
        assert_eq!(one["stored_at"], bundle["uploaded_at"]);
    }
    // The program itself, if it was built beside this one.
    let program = Path::new(env!("CARGO_BIN_EXE_evidence-platform")).with_file_name("evidence");
    if program.exists() {
        let folder = tempfile::tempdir().unwrap();
        for (number, bytes) in all.iter().enumerate() {
            std::fs::write(folder.path().join(format!("{number}.tar.gz")), bytes).unwrap();
        }
        let key = folder.path().join("key.pem");
        std::fs::File::create(&key)
            .unwrap()
            .write_all(bundles::public_pem(&bundles::key()).as_bytes())
            .unwrap();
        let mut command = Command::new(program);
        command.args(["history", "--json", "--from", "2026-01-01", "--to", "2026-01-12", "-k"]);
        let output = command.arg(&key).arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), found);
    } else {
        loudly("SKIPPED: the program evidence; cargo test --workspace builds it");
    }
    // Without days: the period of the bundles. Without waivers: the same failure.
    let usual = running.get("/api/v1/period", &tenant.read).await.json;
    assert_eq!((&usual["from"], &usual["to"]), (&"2026-01-02".into(), &"2026-01-11".into()));
    let ignored = running.get(&format!("{asked}&ignore_waivers=true"), &tenant.read).await.json;
    assert_eq!(ignored["exceptions"][0]["waivers"], json!([]));
    assert_eq!(ignored["exceptions"][0]["bundles"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_show_the_period_its_waivers_and_a_control() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let mut last = String::new();
    for bytes in ten_days() {
        let answer = running.upload(&tenant.upload, &bytes).await;
        last = answer.json["bundle_id"].as_str().unwrap().to_owned();
    }
    let cookie = running.sign_in(&tenant.read).await;
    let page = async |path: &str| {
        let answer = running.page(path, Some(&cookie)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        crate::pages::is_page(&answer);
        answer.text()
    };
    let period = page("/period?from=2026-01-01&to=2026-01-12").await;
    for text in [
        "9 of 12 days have a complete bundle",
        "3 days have no bundle",
        "1 of 1 failure was repaired; it lasted between 2 days and 5 days",
        "2026-01-04 to 2026-01-06",
        "waiver W-1: expired on 2026-01-05",
        "Stored here",
        &last,
    ] {
        assert!(period.to_lowercase().contains(&text.to_lowercase()), "{text}: {period}");
    }
    let link = "/period/control?control=CC6.1&#38;from=2026-01-01&#38;to=2026-01-12";
    assert!(period.contains(link), "{period}");
    let control = page(&link.replace("&#38;", "&")).await;
    assert!(control.contains("CC6.1 over time") && control.contains("regression"), "{control}");
    assert!(control.contains(&format!("/bundles/{last}/checks?control=CC6.1")), "{control}");
    assert!(page("/period/control?control=CC9.9").await.contains("No verified bundle"));
    assert!(page("/period?from=2030-01-01&to=2030-01-31").await.contains("No verified bundle in the period"));
    assert!(page("/bundles").await.contains("href=\"/period\""));
    let bundle = page(&format!("/bundles/{last}")).await;
    assert!(bundle.contains("Accepted by management") && bundle.contains("0 checks failed"), "{bundle}");
    assert!(bundle.contains("Moves to the new identity provider") && bundle.contains("expired"), "{bundle}");
    for (query, why) in [
        ("from=2026-02-30", "not a day"),
        ("from=2026-01-12&to=2026-01-01", "ends before it begins"),
        ("from=1990-01-01&to=2026-01-12", "more than"),
        ("subject=acme", "neither"),
        ("other=1", "unknown parameter"),
        ("from=2026-01-01&from=2026-01-02", "more than once"),
    ] {
        let answer = running.get(&format!("/api/v1/period?{query}"), &tenant.read).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-request"), "{query}");
        assert!(answer.text().contains(why), "{query}: {}", answer.text());
        assert_eq!(running.page(&format!("/period?{query}"), Some(&cookie)).await.status, 400, "{query}");
    }
}

/// A stored bundle that was changed, or whose key was revoked, is listed and not used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_bundle_is_listed_and_covers_nothing() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    for bytes in ten_days() {
        running.upload(&tenant.upload, &bytes).await;
    }
    let damaged = running.place.blob_files().pop().unwrap();
    let mut bytes = std::fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let mut permissions = std::fs::metadata(&damaged).unwrap().permissions();
    #[allow(clippy::permissions_set_readonly_false, reason = "a file of this test")]
    permissions.set_readonly(false);
    std::fs::set_permissions(&damaged, permissions).unwrap();
    std::fs::write(&damaged, bytes).unwrap();
    running.service.check_all(Default::default()).await.unwrap();
    let found = running.get("/api/v1/period?from=2026-01-01&to=2026-01-12", &tenant.read).await.json;
    assert_eq!(found["coverage"]["complete"], 8);
    assert_eq!(found["inputs"].as_array().unwrap().len(), 8);
    assert_eq!(found["not_used"][0]["why"], "digest-mismatch");
}
