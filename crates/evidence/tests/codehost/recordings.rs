//! Recorded answers of the real host, in the right and in the wrong places: no real answer may make a run panic, lie or
//! stop.
//!
//! The fixtures are hand-written in the format of recordings. `EVIDENCE_RECORDINGS` names a directory with more
//! recordings in the same format.

#[path = "../support/files.rs"]
mod files;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use evidence::exit::Exit;
use evidence_bundle::document::{Document, Manifest, Normalized, Status};
use evidence_bundle::key::SigningKey;
use evidence_bundle::read::{Expectations, Limits, UntrustedBundle};
use evidence_bundle::trust::TrustRoot;
use sandbox::replay::{Recording, Replay};
use serde_json::json;

use super::{configuration, environment, run};

/// The calls of a run with one listed repository and of a run with discovery. A recording can answer each of them.
const PLACES: &[&str] = &[
    "/orgs/acme",
    "/orgs/acme/repos",
    "/repos/acme/web",
    "/repos/acme/web/branches/main/protection",
    "/repos/acme/web/contents/CODEOWNERS",
    "/repos/acme/web/contents/.github/CODEOWNERS",
    "/repos/acme/web/contents/docs/CODEOWNERS",
    "/repos/acme/web/rules/branches/main",
    "/repos/acme/web/branches/main",
];

fn recordings() -> Vec<(String, Recording)> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sandbox/fixtures");
    let mut directories = vec![own];
    directories.extend(std::env::var_os("EVIDENCE_RECORDINGS").map(PathBuf::from));
    let mut all = Vec::new();
    for directory in directories {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                all.push((name, Recording::read(&path).unwrap()));
            }
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() >= 4, "the fixtures are gone");
    all
}

/// A host that passes every check, answer by answer.
fn sound() -> Replay {
    let web = json!({"id": 1, "name": "web", "full_name": "acme/web", "archived": false});
    let organization = json!({"login": "acme", "id": 1, "two_factor_requirement_enabled": true});
    let protection = json!({
        "url": "https://api.github.com/repos/acme/web/branches/main/protection",
        "required_pull_request_reviews": {"required_approving_review_count": 2},
        "required_status_checks": {"strict": true, "contexts": ["build"]},
        "enforce_admins": {"enabled": true}
    });
    let file = json!({
        "type": "file", "name": "CODEOWNERS", "path": "CODEOWNERS", "size": 12, "encoding": "base64",
        "content": "KiBAYWNtZS93ZWIK\n"
    });
    let good = |path: &str, body| Recording::new(path, 200, body).header("Content-Type", "application/json");
    Replay::new()
        .recording(good("/orgs/acme", organization).header("X-OAuth-Scopes", "read:org"))
        .recording(good("/orgs/acme/repos", json!([web])))
        .recording(good("/repos/acme/web", web))
        .recording(good("/repos/acme/web/branches/main/protection", protection))
        .recording(good("/repos/acme/web/contents/CODEOWNERS", file))
}

/// The result of one run.
struct Ran {
    exit: Exit,
    /// Status and reason of each control, if the run wrote a bundle.
    controls: Option<Vec<(String, Status, String)>>,
    complete: bool,
    errors: usize,
}

fn collect(replay: Replay, repos: &str) -> Ran {
    let server = replay.serve().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let env = environment(&server.url());
    let (config, key, out) = (path("evidence.yaml"), path("key.pem"), path("out"));
    fs::write(&config, configuration("acme", repos, &key, &[])).unwrap();
    let signing = SigningKey::from_seed(&[7; 32]);
    fs::write(&key, signing.to_pkcs8_v1_pem().unwrap().as_bytes()).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let arguments = ["collect", "-q", "-c", config.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let exit = run(&env, &arguments);
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    // Without a bundle, the run also removes the directory that it created.
    let Ok(mut files) = fs::read_dir(&out) else {
        return Ran { exit, controls: None, complete: false, errors: 0 };
    };
    let bundle = files.next().unwrap().unwrap().path();
    let mut trust = TrustRoot::new();
    trust.add_key("key", signing.public_key());
    let bundle = UntrustedBundle::new(File::open(bundle).unwrap());
    let mut files = files::Files::default();
    bundle.verify_into(&trust, &Expectations::default(), &Limits::default(), &mut files).unwrap();
    let document = |document: Document| files.by_path[document.path()].as_slice();
    let normalized: Normalized = serde_json::from_slice(document(Document::Normalized)).unwrap();
    let manifest: Manifest = serde_json::from_slice(document(Document::Manifest)).unwrap();
    let controls =
        normalized.controls.into_iter().map(|control| (control.id, control.status, control.reason));
    Ran {
        exit,
        controls: Some(controls.collect()),
        complete: manifest.complete,
        errors: manifest.errors.len(),
    }
}

#[test]
fn the_sound_host_is_sound() {
    for repos in ["\"*\"", "[acme/web]"] {
        let ran = collect(sound(), repos);
        assert_eq!(ran.exit, Exit::Success);
        assert!(ran.complete);
        let controls = ran.controls.unwrap();
        assert_eq!(controls.len(), 3);
        assert!(controls.iter().all(|(_, status, _)| *status == Status::Pass), "{controls:?}");
    }
}

/// Each recording in each place: 9 runs for each recording with discovery, and 9 with a listed repository.
#[test]
fn any_recording_in_any_place_neither_panics_nor_lies_nor_stops_the_run() {
    let mut bundles = 0;
    for (name, recording) in recordings() {
        for place in PLACES {
            for repos in ["\"*\"", "[acme/web]"] {
                let at = format!("{name} at {place}, repos {repos}");
                let ran = collect(sound().at(*place, recording.clone()), repos);
                let allowed =
                    [Exit::Success, Exit::Configuration, Exit::Connection, Exit::Collection, Exit::Policy];
                assert!(allowed.contains(&ran.exit), "{at}: {:?}", ran.exit);
                let Some(controls) = ran.controls else {
                    assert_ne!(ran.exit, Exit::Success, "{at}: no bundle, and no word of it");
                    continue;
                };
                bundles += 1;
                assert_eq!(ran.exit == Exit::Collection, ran.errors > 0, "{at}");
                assert!(ran.complete || ran.exit != Exit::Success, "{at}");
                for (control, status, reason) in controls {
                    // An unread place cannot fail: only a readable setting or a clear "none" can.
                    let unread = [
                        "host_error",
                        "permission_denied",
                        "not_found",
                        "two_factor_not_visible",
                        "no_evidence",
                        "plan_limit",
                        "sso_required",
                        "blocked",
                        "excluded_by_policy",
                    ];
                    if unread.contains(&reason.as_str()) {
                        assert_eq!(status, Status::NotVerifiable, "{at}: {control} {reason}");
                    }
                    if status == Status::Pass {
                        assert_eq!(reason, "ok", "{at}: {control}");
                    }
                }
            }
        }
    }
    assert!(bundles > 20, "{bundles} bundles: the recordings stop most runs");
}

/// A token without administration sees "Not Found" for the classic rule. The recorded forms of the branch itself decide.
#[test]
fn a_hidden_rule_beside_the_recorded_forms_of_a_branch() {
    let off = json!({"enforcement_level": "off", "contexts": [], "checks": []});
    let everyone = json!({"enforcement_level": "everyone", "contexts": ["build"]});
    let (fail, unknown) =
        ((Status::Fail, "branch_unprotected"), (Status::NotVerifiable, "permission_denied"));
    for (branch, (status, reason)) in [
        (
            json!({"name": "main", "protected": false, "protection": {"enabled": false, "required_status_checks": off}}),
            fail,
        ),
        (
            json!({"name": "main", "protected": true, "protection": {"enabled": false, "required_status_checks": off}}),
            fail,
        ),
        (json!({"name": "main", "protected": false}), fail),
        (
            json!({"name": "main", "protected": true, "protection": {"enabled": true, "required_status_checks": everyone}}),
            unknown,
        ),
        (json!({"name": "main", "protected": true, "protection": {"enabled": true}}), unknown),
        (json!({"name": "main", "protected": true}), unknown),
        (json!({"name": "trunk", "protected": false, "protection": {"enabled": false}}), unknown),
        (json!({"protection": {"enabled": false}}), unknown),
    ] {
        let json = |path: &str, status, body| {
            Recording::new(path, status, body).header("Content-Type", "application/json")
        };
        let hidden = json!({"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"});
        let replay = sound()
            .at("/repos/acme/web/branches/main/protection", json("", 404, hidden))
            .at("/repos/acme/web/rules/branches/main", json("", 200, json!([])))
            .at("/repos/acme/web/branches/main", json("", 200, branch.clone()));
        let controls = collect(replay, "\"*\"").controls.unwrap();
        let found = controls.iter().find(|(control, ..)| control == "CC7.2").unwrap();
        assert_eq!((found.1, found.2.as_str()), (status, reason), "{branch}");
    }
}

/// Servers with minimal answers: a host of the same family, a proxy, a third-party mock.
#[test]
fn terse_hosts_are_understood() {
    let bare = |path: &str, status, body| Recording::new(path, status, body);
    let file = json!({"type": "file", "content": "KiBAYWNtZS93ZWI=", "encoding": "base64"});
    let protection = json!({
        "url": "https://h/repos/acme/web/branches/main/protection",
        "required_pull_request_reviews": {"required_approving_review_count": 1},
        "required_status_checks": {"contexts": ["build"]},
        "enforce_admins": {"enabled": true}
    });
    let replay = Replay::new()
        .recording(bare("/orgs/acme", 200, json!({"login": "acme", "two_factor_requirement_enabled": true})))
        .recording(bare("/orgs/acme/repos", 200, json!([{"full_name": "acme/web"}])))
        .recording(bare("/repos/acme/web", 200, json!({"full_name": "acme/web"})))
        .recording(bare("/repos/acme/web/branches/main/protection", 200, protection))
        .recording(bare("/repos/acme/web/contents/CODEOWNERS", 404, json!({"message": "Not Found"})))
        .recording(bare("/repos/acme/web/contents/.github/CODEOWNERS", 200, file));
    for repos in ["\"*\"", "[acme/web]"] {
        let ran = collect(replay.clone(), repos);
        assert_eq!(ran.exit, Exit::Success);
        let controls = ran.controls.unwrap();
        assert!(controls.iter().all(|(_, status, _)| *status == Status::Pass), "{controls:?}");
    }
}

/// An answer without the setting must not make its control pass or fail.
#[test]
fn refusals_of_one_call_leave_that_control_unverified_and_the_others_alone() {
    let refusals = [
        (403, json!({"message": "Resource not accessible by personal access token"}), Exit::Collection),
        (
            403,
            json!({"message": "Upgrade to GitHub Pro or make this repository public to enable this feature."}),
            Exit::Success,
        ),
        (451, json!({"message": "Repository access blocked", "block": {"reason": "dmca"}}), Exit::Success),
        (404, json!({"message": "Not Found"}), Exit::Collection),
        (502, json!("<html>Unicorn! · GitHub</html>"), Exit::Collection),
        (500, json!({"message": "Server Error"}), Exit::Collection),
        (200, json!("<html>Sign in</html>"), Exit::Collection),
        (200, json!({"required_status_checks": 7}), Exit::Collection),
        (200, json!([]), Exit::Collection),
        (200, json!({}), Exit::Collection),
        (200, json!({"message": "Branch not protected"}), Exit::Collection),
        (204, json!(null), Exit::Collection),
        (206, json!({"url": "u"}), Exit::Collection),
        (410, json!({}), Exit::Collection),
        (418, json!({}), Exit::Collection),
        (302, json!({}), Exit::Collection),
    ];
    for (status, body, exit) in refusals {
        let kind = if body.is_string() { "text/html" } else { "application/json" };
        let answer = Recording::new("/repos/acme/web/branches/main/protection", status, body.clone())
            .header("Content-Type", kind);
        let ran = collect(sound().recording(answer), "\"*\"");
        assert_eq!(ran.exit, exit, "{status} {body}");
        let controls = ran.controls.unwrap();
        let statuses: Vec<(&str, Status)> =
            controls.iter().map(|(id, status, _)| (id.as_str(), *status)).collect();
        let expected = [("CC6.1", Status::Pass), ("CC6.6", Status::Pass), ("CC7.2", Status::NotVerifiable)];
        assert_eq!(statuses, expected, "{status} {body}: {controls:?}");
    }
}
