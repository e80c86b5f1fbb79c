//! Recorded answers are served as recorded.

use crate::client::{get, raw};
use sandbox::replay::{Recording, Replay};
use sandbox::{Fault, FaultKind};
use serde_json::json;
use std::path::Path;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

#[test]
fn recordings_of_a_directory() {
    let server = Replay::new().directory(fixtures()).unwrap().serve().unwrap();
    let answer = get(&server, "any", "/orgs/initech");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("date"), Some("Wed, 04 Nov 2026 10:11:12 GMT"), "nothing is made fresh");
    assert_eq!(answer.number("x-ratelimit-remaining"), 4711);
    assert_eq!(answer.head.to_lowercase().matches("\nvary: ").count(), 2);
    for gone in ["content-encoding", "transfer-encoding", "status"] {
        assert_eq!(answer.header(gone), None, "{gone}");
    }
    assert_eq!(answer.number("content-length"), i64::try_from(answer.body.len()).unwrap());
    assert_eq!(answer.json()["url"], format!("{}/orgs/initech", server.url()));

    // With the query, and for the path alone.
    for path in ["/organizations/4042/repos?per_page=100&page=2", "/organizations/4042/repos"] {
        let page = get(&server, "any", path);
        assert_eq!(page.json()[0]["name"], "tps-reports");
        assert!(page.header("link").unwrap().starts_with(&format!("<{}/organizations/4042", server.url())));
    }
    let moved = get(&server, "any", "/repos/initech/staplers");
    let target = format!("{}/repositories/9", server.url());
    assert_eq!((moved.status, moved.header("location")), (301, Some(target.as_str())));
    let page = get(&server, "any", "/repos/initech/flaky");
    assert_eq!((page.status, page.text().as_str()), (502, "<html><body>Bad gateway</body></html>\n"));

    let missing = get(&server, "any", "/user");
    assert_eq!((missing.status, missing.message().as_str()), (404, "Not Found"));
    assert_eq!(server.requests().len(), 6);
    assert_eq!(raw(&server, "POST", "/orgs/initech", &[("User-Agent", "x")]).status, 404);
    assert_eq!(server.violations().len(), 1);
}

#[test]
fn elsewhere_by_hand_and_otherwise() {
    let recording = Recording::read(fixtures().join("organization_owner.json")).unwrap();
    let server = Replay::new()
        .at("/orgs/acme", recording)
        .recording(
            Recording::new("/user", 401, json!({"message": "Bad credentials"})).header("X-Note", "mine"),
        )
        .otherwise(Recording::new("", 418, json!("tea")))
        .rewrite(false)
        .fault(Fault::on("/user").times(1).kind(FaultKind::Truncate(3)))
        .serve()
        .unwrap();
    assert_eq!(get(&server, "any", "/orgs/acme").json()["url"], "https://api.github.com/orgs/initech");
    assert_eq!(get(&server, "any", "/user").text(), "{\"m");
    let user = get(&server, "any", "/user");
    assert_eq!((user.status, user.header("x-note")), (401, Some("mine")));
    assert_eq!(get(&server, "any", "/anything").text(), "tea");
    // A replay has no state to change.
    server.update(|_| panic!("never called"));
}

#[test]
fn what_is_not_a_recording_is_an_error() {
    let error = Recording::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    assert!(Replay::new().directory("no/such/directory").is_err());
}
