//! `collect --upload` asks the platform before it collects: what it would refuse in the end costs no request to a source.

use sandbox::Server;
use sandbox::platform::{Body, Fault, FaultKind, Key, Organization, Platform, Role};

use crate::common::{Lab, acme, sound};

/// The platform's key. No line of output may show it.
const KEY: &str = "evp_CliTestsUploadKeyIsNotARealSecret45";

fn signer() -> String {
    crate::common::KEY.public_key().key_id().to_string()
}

fn organization() -> Organization {
    Organization::new("org_4711", "acme", "Acme GmbH").trusts([signer()])
}

fn key() -> Key {
    Key::new(KEY, "org_4711")
}

fn platform() -> Platform {
    Platform::new().organization(organization()).key(key())
}

fn desk(platform: Platform, path: &str, lines: &str) -> (Lab, Server<Platform>) {
    let platform = platform.serve().unwrap();
    let section = format!("upload:\n  api_url: {}{path}\n{lines}", platform.url());
    let lab = Lab::new(acme().repository(sound("web"))).env("EVIDENCE_API_KEY", KEY);
    (lab.with(|config| config.rest(&section)), platform)
}

#[test]
fn what_the_platform_refuses_ends_before_the_collection() {
    let on = |kind| platform().fault(Fault::everywhere().kind(kind));
    let untrusting = Organization::new("org_4711", "acme", "Acme GmbH").trusts(["sha256:00"]);
    for (name, platform, path, lines, says) in [
        (
            "a revoked key",
            Platform::new().organization(organization()).key(key().revoked(true)),
            "",
            "",
            ["HTTP 401", "set EVIDENCE_API_KEY"],
        ),
        (
            "a role",
            Platform::new().organization(organization()).key(key().role(Role::Read)),
            "",
            "",
            ["the role read", "role `upload`"],
        ),
        (
            "a signer",
            Platform::new().organization(untrusting).key(key()),
            "",
            "",
            ["does not trust the signing key", "add the public key"],
        ),
        (
            "another organization",
            platform(),
            "",
            "  organization_id: org_0815\n",
            ["belongs to the organization Acme GmbH", "upload.organization_id"],
        ),
        (
            "a website",
            on(FaultKind::LoginPage),
            "",
            "",
            ["a page that is not JSON", "the part before /api/v1"],
        ),
        ("a path", platform(), "/wrong", "", ["HTTP 404", "the part before /api/v1"]),
        (
            "a redirect",
            on(FaultKind::Redirect("/elsewhere".to_string())),
            "",
            "",
            ["a redirect", "the part before /api/v1"],
        ),
    ] {
        let (lab, server) = desk(platform, path, lines);
        for quiet in [&["collect", "--upload"][..], &["collect", "--upload", "--quiet"]] {
            server.clear_log();
            let run = lab.run(quiet).exits(6).leaves_nothing().says_not(KEY);
            let run = says.iter().fold(run, |run, text| run.says(text));
            run.says("nothing was collected");
            assert_eq!(lab.requested(), Vec::<String>::new(), "{name}");
            assert_eq!(server.requests().len(), 1, "{name}");
        }
    }
}

/// A platform that is not available may be back after the collection.
#[test]
fn what_does_not_answer_is_asked_again_in_the_end() {
    let once = |kind| platform().fault(Fault::on("/api/v1/whoami").kind(kind).times(1));
    for (name, platform) in [
        ("503", once(FaultKind::Status(503, Body::Json))),
        ("a page of a proxy", once(FaultKind::Status(502, Body::Html))),
        ("a reset", once(FaultKind::Reset)),
        ("busy", once(FaultKind::Status(429, Body::Json))),
    ] {
        let (lab, server) = desk(platform, "", "");
        let run = lab.collect(&["--upload"]).exits(0);
        let run = run.says("warn   cannot sign in").says("the upload is tried again after the collection");
        let asked: Vec<String> = server.requests().iter().map(|request| request.method.to_string()).collect();
        assert_eq!(asked, ["GET", "GET", "POST", "POST"], "{name}: {}", run.stderr);
    }
    // A quiet run that succeeds in the end is silent; one that does not says it once.
    let (lab, _server) = desk(once(FaultKind::Reset), "", "");
    assert_eq!(lab.collect(&["--upload", "--quiet"]).exits(0).stderr, "");
    let (lab, server) = desk(platform(), "", "  retry_attempts: 0\n");
    drop(server);
    let run =
        lab.collect(&["--upload", "--quiet"]).exits(6).says("cannot connect").says("the bundle is kept");
    assert_eq!(run.stderr.matches("cannot sign in").count(), 1, "{}", run.stderr);
    run.bundle();
}

/// The organization is named once, though the run signs in twice.
#[test]
fn the_platform_is_named_once() {
    let (lab, server) = desk(platform(), "", "");
    let run = lab.collect(&["--upload"]).exits(0).says("trusts the signing key");
    assert_eq!(run.stderr.matches("Acme GmbH at").count(), 1, "{}", run.stderr);
    assert_eq!(server.requests().len(), 4);
}
