//! `evidence upload` and `collect --upload` against the sandbox's platform: every outcome, its output and its files.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use sandbox::Server;
use sandbox::codehost::{self, CodeHost, File};
use sandbox::platform::{
    Body, Fault, FaultKind, Identity, Key, Organization, Platform, Role, StoredBundle, Verification,
};
use serde_json::json;

use crate::common::{Config, Lab, Run, UUID, acme, repository, sound, strong};

/// The platform's key in these tests. No line of output may show it.
const KEY: &str = "evp_CliTestsUploadKeyIsNotARealSecret42";

/// The path for bundles.
const BUNDLES: &str = "/api/v1/bundles";

/// One bundle for the whole process, signed with the key that every lab uses.
static BUNDLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let run = Lab::new(acme().repository(sound("web"))).collect(&["--quiet"]).exits(0);
    fs::read(run.bundle().path).unwrap()
});

fn platform() -> Platform {
    Platform::new()
        .organization(Organization::new("org_4711", "acme", "Acme GmbH"))
        .key(Key::new(KEY, "org_4711"))
}

fn refused(reason: &str, detail: Option<&str>) -> Verification {
    Verification::Refused { reason: reason.to_string(), detail: detail.map(str::to_string) }
}

/// A lab with a platform, a configuration for it, and `bundle.tar.gz`.
struct Desk {
    lab: Lab,
    platform: Server<Platform>,
}

impl Desk {
    fn new(platform: Platform) -> Desk {
        Desk::with(acme().repository(sound("web")), platform, "")
    }

    /// With further lines in the section `upload`.
    fn configured(platform: Platform, lines: &str) -> Desk {
        Desk::with(acme().repository(sound("web")), platform, lines)
    }

    fn with(host: CodeHost, platform: Platform, lines: &str) -> Desk {
        let platform = platform.serve().unwrap();
        let section = section(&platform, lines);
        let lab = Lab::new(host).env("EVIDENCE_API_KEY", KEY).with(|config| config.rest(&section));
        lab.write("bundle.tar.gz", &*BUNDLE);
        Desk { lab, platform }
    }

    fn reconfigure(self, change: impl FnOnce(Config) -> Config) -> Desk {
        Desk { lab: self.lab.with(change), platform: self.platform }
    }

    fn without_configuration(self) -> Desk {
        fs::remove_file(self.lab.path("evidence.yaml")).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = self.lab.run(arguments);
        run_shows_no_key(&run);
        run
    }

    /// `evidence upload bundle.tar.gz` and further arguments, with `--config` if the configuration exists.
    fn upload(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["upload", "bundle.tar.gz"];
        all.extend(arguments);
        if self.lab.path("evidence.yaml").exists()
            && !all.iter().any(|word| word.starts_with("-c") || *word == "--config")
        {
            all.extend(["--config", "evidence.yaml"]);
        }
        self.run(&all)
    }

    fn stored(&self) -> Vec<StoredBundle> {
        self.platform.state().unwrap().bundles().to_vec()
    }

    #[track_caller]
    fn bundle_stays(&self) {
        assert_eq!(fs::read(self.lab.path("bundle.tar.gz")).unwrap(), *BUNDLE);
    }

    /// Method and path of the requests to the platform, without the bundle's id.
    fn asked(&self) -> Vec<String> {
        let requests = self.platform.requests();
        requests
            .iter()
            .map(|request| without_ids(&format!("{} {}", request.method, request.path())))
            .collect()
    }
}

#[track_caller]
fn run_shows_no_key(run: &Run) {
    // Neither the key nor part of it.
    for part in [KEY, &KEY[..20], &KEY[20..]] {
        assert!(!run.all().contains(part), "the key is in\n{}", run.all());
    }
}

fn section(platform: &Server<Platform>, lines: &str) -> String {
    format!("upload:\n  api_url: {}\n{lines}", platform.url())
}

fn without_ids(text: &str) -> String {
    static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [(UUID, "[ID]"), (r"retry in \d+ s", "retry in [WAIT]")]
            .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
            .to_vec()
    });
    RULES
        .iter()
        .fold(text.to_string(), |text, (pattern, with)| pattern.replace_all(&text, *with).into_owned())
}

fn shown(run: &Run) -> String {
    without_ids(&run.shown())
}

#[test]
fn a_bundle_is_handed_over_and_verified() {
    let lines = "  retention_days: 730\n  tags: {team: platform, quarter: 2026 Q3}\n";
    let desk = Desk::configured(platform(), lines);
    let run = desk.upload(&["--tag", "team=security & audit", "--tag", "run=a=b"]).exits(0);
    insta::assert_snapshot!("success", shown(&run));
    assert_eq!(
        desk.asked(),
        ["GET /api/v1/whoami", "POST /api/v1/bundles", "POST /api/v1/bundles/[ID]/verify"]
    );
    let stored = desk.stored();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].bytes, *BUNDLE);
    assert_eq!(stored[0].organization, "org_4711");
    assert_eq!(
        stored[0].query,
        "retention_days=730&tag=quarter%3D2026+Q3&tag=run%3Da%3Db&tag=team%3Dsecurity+%26+audit"
    );
    assert!(run.stdout.contains(&format!("{}/bundles/{}\n", desk.platform.url(), stored[0].id)));
    for request in desk.platform.requests() {
        assert_eq!(request.identity, Identity::User { login: "acme".into(), kind: "upload" });
        assert_eq!(request.header("user-agent"), Some(concat!("evidence/", env!("CARGO_PKG_VERSION"))));
    }
    let sent = &desk.platform.requests()[1];
    assert_eq!(sent.header("content-type"), Some("application/gzip"));
    assert_eq!(sent.header("content-length"), Some(&*BUNDLE.len().to_string()));
    assert_eq!(sent.header("transfer-encoding"), None);
    desk.bundle_stays();

    // A repeated upload has the same id.
    let run = desk.upload(&[]).exits(0);
    assert!(run.stdout.contains("already stored, verified"), "{}", run.stdout);
    assert!(run.stdout.contains(&stored[0].id), "{}", run.stdout);
    assert_eq!(desk.stored().len(), 1);
}

#[test]
fn quiet_prints_the_address_alone() {
    let desk = Desk::new(platform());
    let run = desk.upload(&["--quiet"]).exits(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert_eq!(run.stdout, format!("{}/bundles/{}\n", desk.platform.url(), desk.stored()[0].id));
    let desk = Desk::new(platform().verification(refused("signature-invalid", None)));
    let run = desk.upload(&["-q"]).exits(6).says("signature-invalid");
    assert!(run.stdout.is_empty(), "{}", run.stdout);
}

#[test]
fn no_configuration_is_needed() {
    let desk = Desk::new(platform()).without_configuration();
    let url = desk.platform.url();
    let run = desk.upload(&["--endpoint", &url]).exits(0);
    insta::assert_snapshot!("without_configuration", shown(&run));
    assert_eq!(desk.stored()[0].query, "retention_days=365");
    // With a trusted key, the tool also verifies the bundle locally.
    let lab = desk.lab.env("EVIDENCE_TRUSTED_KEYS", "key.pub.pem");
    let desk = Desk { lab, platform: desk.platform };
    desk.upload(&["-e", &url]).exits(0).says("verified, trusted by");
    // Without an address, the upload fails.
    desk.upload(&[]).exits(1).says("no evidence platform").says("--endpoint");
}

#[test]
fn the_key_can_be_in_a_file() {
    let mut desk = Desk::new(platform());
    desk.lab = desk.lab.without_env("EVIDENCE_API_KEY").env("EVIDENCE_API_KEY_FILE", "platform-key");
    desk.lab.write("platform-key", format!("{KEY}\n"));
    desk.upload(&[]).exits(0);
    desk.run(&["collect", "--upload"]).exits(0);
    assert_eq!(desk.stored().len(), 2);
}

#[test]
fn the_endpoint_wins_over_the_configuration() {
    let other = platform().base_path("/tenant").serve().unwrap();
    let desk = Desk::configured(platform(), "  platform_url: https://people.example.com/evidence/\n");
    let run = desk.upload(&["-q"]).exits(0);
    assert!(run.stdout.starts_with("https://people.example.com/evidence/bundles/"), "{}", run.stdout);
    desk.platform.clear_log();
    let run = desk.upload(&["-q", "-e", &other.url()]).exits(0);
    assert!(run.stdout.starts_with(&format!("{}/bundles/", other.url())), "{}", run.stdout);
    assert!(other.url().ends_with("/tenant"));
    assert!(desk.platform.requests().is_empty());
}

#[test]
fn usage_and_configuration_are_1_before_anything_is_sent() {
    let desk = Desk::new(platform());
    for (arguments, text) in [
        (&["--endpoint", "http://evidence.example.com"][..], "plain http"),
        (&["--endpoint", "nonsense"], "--endpoint"),
        (&["--endpoint", ""], "--endpoint"),
        (&["--endpoint", "https://user:secret@evidence.example.com"], "--endpoint"),
        (&["--tag", "team"], "`team` is not a tag"),
        (&["--tag", "=x"], "the name of a tag"),
        (&["--tag", "a="], "--tag"),
        (&["--tag", "a=line\nbreak"], "--tag"),
        (&["--tag", "a=ghp_CliTestsOwnerTokenIsNotARealSecret01"], "looks like a secret"),
        (&["--config", "nowhere.yaml"], "nowhere.yaml"),
        (&["--unknown"], "--unknown"),
    ] {
        let run = desk.upload(arguments).exits(1).says(text).says_not("secret@").says_not("ghp_");
        assert!(run.stdout.is_empty(), "{}", run.stdout);
    }
    desk.lab.write("empty.yaml", "");
    desk.upload(&["-c", "empty.yaml"]).exits(1);
    let desk = desk.reconfigure(|config| config);
    desk.upload(&[]).exits(1).says("no evidence platform").says("evidence.yaml");
    // The tool uses an existing configuration even without `--config`.
    let desk = desk.reconfigure(|config| config.controls("[CC9.9]"));
    let url = desk.platform.url();
    desk.run(&["upload", "bundle.tar.gz", "-e", &url]).exits(1).says("CC9.9");
    assert!(desk.platform.requests().is_empty());
}

#[test]
fn a_missing_key_is_2() {
    let desk = Desk::new(platform());
    for value in ["", "   ", "two words", "line\nbreak", "schlüssel"] {
        let lab = Lab::new(acme().repository(sound("web")));
        let section = section(&desk.platform, "  api_key_env: EVIDENCE_PLATFORM_KEY\n");
        let lab = lab
            .env("EVIDENCE_PLATFORM_KEY", value)
            .env("EVIDENCE_API_KEY", KEY)
            .with(|config| config.rest(&section));
        lab.write("bundle.tar.gz", &*BUNDLE);
        let run = lab
            .run(&["upload", "bundle.tar.gz"])
            .exits(2)
            .says("EVIDENCE_PLATFORM_KEY")
            .says_not("schlüssel");
        assert!(run.stdout.is_empty());
        lab.collect(&["--upload"])
            .exits(2)
            .says("EVIDENCE_PLATFORM_KEY")
            .says("nothing was collected")
            .leaves_nothing();
        assert!(lab.requested().is_empty());
    }
    let lab = desk.lab.without_env("EVIDENCE_API_KEY").env("EVIDENCE_API_KEY_FILE", "platform-key");
    for (content, text) in
        [("", "is empty"), ("two words", "does not hold a platform's API key: keys begin with evp_")]
    {
        lab.write("platform-key", content);
        let file = "the file platform-key (EVIDENCE_API_KEY_FILE)";
        lab.run(&["upload", "bundle.tar.gz"]).exits(2).says(&format!("{file} {text}")).says_not("two");
    }
    let lab = lab.without_env("EVIDENCE_API_KEY_FILE");
    insta::assert_snapshot!("key_missing", lab.run(&["upload", "bundle.tar.gz"]).exits(2).shown());
    assert!(desk.platform.requests().is_empty());
}

#[test]
fn what_is_not_what_a_trusted_key_signed_is_7_and_not_sent() {
    let desk = Desk::new(platform());
    let mut tampered = BUNDLE.clone();
    let middle = tampered.len() / 2;
    tampered[middle] ^= 1;
    desk.lab.write("bundle.tar.gz", &tampered);
    desk.upload(&[]).exits(6).says("bundle.tar.gz was not signed by a trusted key");
    desk.lab.write("bundle.tar.gz", &BUNDLE[..middle]);
    desk.upload(&["--quiet"]).exits(6).says("not signed by a trusted key");
    desk.lab.write("bundle.tar.gz", "no bundle at all");
    desk.upload(&[]).exits(6);
    // An intact bundle, but the configured key did not sign it.
    desk.lab.write("bundle.tar.gz", &*BUNDLE);
    desk.lab.run(&["keygen", "--output", "other.pem"]).exits(0);
    let section = section(&desk.platform, "");
    let desk = desk.reconfigure(|config| config.signing("private_key_path", "other.pem").rest(&section));
    insta::assert_snapshot!("another_key", shown(&desk.upload(&[]).exits(6)));
    assert!(desk.platform.requests().is_empty());
}

#[test]
fn what_cannot_be_judged_is_1_and_not_sent() {
    let desk = Desk::new(platform());
    desk.run(&["upload", "nowhere.tar.gz"]).exits(1).says("nowhere.tar.gz").says("No such file");
    desk.run(&["upload", "."]).exits(1).says("not a file");
    desk.run(&["upload", "/dev/null"]).exits(1).says("not a file");
    let newer = "../evidence-bundle/tests/bundles/newer-version_exit1/bundle.tar.gz";
    let newer = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(newer);
    desk.lab.write("newer.tar.gz", fs::read(newer).unwrap());
    desk.run(&["upload", "newer.tar.gz"])
        .exits(1)
        .says("cannot upload newer.tar.gz: made by a newer evidence")
        .says("install a newer version of evidence");
    // A configuration with unavailable keys is an error.
    fs::remove_file(desk.lab.path("key.pem")).unwrap();
    desk.upload(&[]).exits(1).says("key.pem");
    assert!(desk.platform.requests().is_empty());
}

#[test]
fn verification_on_this_machine_can_be_left_out() {
    let desk = Desk::configured(platform(), "  verify_before_upload: false\n");
    desk.lab.write("bundle.tar.gz", "whatever this is");
    desk.upload(&[]).exits(0).says("not verified here");
    assert_eq!(desk.stored()[0].bytes, "whatever this is");
    desk.lab.write("bundle.tar.gz", "");
    desk.upload(&[]).exits(0);
    assert_eq!(desk.stored()[1].bytes, "");
}

#[test]
fn an_incomplete_bundle_is_uploaded_if_it_is_named() {
    let desk = Desk::with(leaking(), platform(), "");
    let run = desk.lab.collect(&[]).exits(4);
    let bundle = run.bundle().path;
    desk.run(&["upload", bundle.to_str().unwrap(), "--config", "evidence.yaml"]).exits(0).says("incomplete");
    assert_eq!(desk.stored().len(), 1);
}

/// The platform refuses: the tool does not retry, and prints the platform's message with help.
#[test]
fn refusals_are_6_and_asked_once() {
    let status =
        |path: &str, status| platform().fault(Fault::on(path).kind(FaultKind::Status(status, Body::Json)));
    let refusing = [
        ("revoked", platform().key(Key::new(KEY, "org_4711").revoked(true)), 1),
        ("forbidden", platform().key(Key::new(KEY, "org_4711").role(Role::Read)), 2),
        ("forbidden_altogether", status("/api/v1/whoami", 403), 1),
        ("not_found", platform(), 1),
        ("conflict", status(BUNDLES, 409), 2),
        ("too_large", platform().max_bytes(1_000), 2),
        ("untrusted", status(BUNDLES, 422), 2),
        ("gone", status("/api/v1/bundles/*/verify", 404), 3),
        ("page", platform().fault(Fault::on(BUNDLES).kind(FaultKind::Status(400, Body::Html))), 2),
    ];
    for (name, platform, requests) in refusing {
        let desk = Desk::new(platform);
        let wrong = format!("{}/wrong", desk.platform.url());
        let run = match name {
            "not_found" => desk.upload(&["--endpoint", &wrong]),
            _ => desk.upload(&[]),
        };
        insta::assert_snapshot!(format!("refused_{name}"), shown(&run.exits(6)));
        assert_eq!(desk.platform.requests().len(), requests, "{name}: {:?}", desk.asked());
        desk.bundle_stays();
    }
}

#[test]
fn what_heals_is_asked_again() {
    let once = |path: &str, kind| Fault::on(path).kind(kind).times(1);
    let damaged = json!({"type": "urn:evidence-platform:problem:digest-mismatch", "detail": "other bytes"});
    let busy = vec![("Retry-After".to_string(), "1".to_string())];
    let faults = [
        ("500", once(BUNDLES, FaultKind::Status(500, Body::Json))),
        ("502 page", once("/api/v1/whoami", FaultKind::Status(502, Body::Html))),
        ("503", once("*/verify", FaultKind::Status(503, Body::Empty))),
        ("429", once(BUNDLES, FaultKind::Json(429, busy.clone(), json!({"detail": "slower"})))),
        ("409 for now", once(BUNDLES, FaultKind::Json(409, busy, json!({"detail": "being stored"})))),
        ("reset", once(BUNDLES, FaultKind::Reset)),
        ("reset in the middle of the body", once(BUNDLES, FaultKind::CutUpload(1_000))),
        ("reset behind the body", once(BUNDLES, FaultKind::CutUpload(usize::MAX))),
        ("damaged on its way", once(BUNDLES, FaultKind::Json(400, vec![], damaged))),
        ("an answer cut off", once(BUNDLES, FaultKind::Truncate(20))),
        ("an answer cut off", once("*/verify", FaultKind::Truncate(5))),
    ];
    std::thread::scope(|scope| {
        for (name, fault) in faults {
            scope.spawn(move || {
                let desk = Desk::new(platform().fault(fault));
                let run = desk.upload(&[]).exits(0).says("attempt 1 of 4, retry in").says_not("<html");
                assert!(run.stdout.contains("verified"), "{name}: {}", run.all());
                assert_eq!(desk.platform.requests().len(), 4, "{name}: {:?}", desk.asked());
                let stored = desk.stored();
                assert_eq!(stored.len(), 1, "{name}");
                assert_eq!(stored[0].bytes, *BUNDLE, "{name}");
            });
        }
    });
}

#[test]
fn what_does_not_heal_is_6_after_all_attempts() {
    let always = |path: &str, kind| platform().fault(Fault::on(path).kind(kind));
    let faults = [
        ("unavailable", always(BUNDLES, FaultKind::Status(503, Body::Json)), 3),
        ("error_page", always("/api/v1/whoami", FaultKind::Status(502, Body::Html)), 2),
        ("reset", always(BUNDLES, FaultKind::CutUpload(1_000)), 3),
        ("truncated", always(BUNDLES, FaultKind::Truncate(20)), 3),
        ("silent", always("*/verify", FaultKind::Hang), 4),
    ];
    std::thread::scope(|scope| {
        for (name, platform, requests) in faults {
            scope.spawn(move || {
                let desk = Desk::configured(platform, "  retry_attempts: 1\n  timeout_seconds: 2\n");
                let run = desk.upload(&[]).exits(6).says("after 2 attempts").says_not("<html");
                insta::assert_snapshot!(format!("failed_{name}"), shown(&run));
                assert_eq!(desk.platform.requests().len(), requests, "{name}: {:?}", desk.asked());
                desk.bundle_stays();
            });
        }
        scope.spawn(|| {
            let desk = Desk::configured(always("*", FaultKind::Reset), "  retry_attempts: 0\n");
            desk.upload(&[])
                .exits(6)
                .says_not("attempt")
                .says("try again with `evidence upload bundle.tar.gz");
            assert_eq!(desk.platform.requests().len(), 1);
        });
        scope.spawn(|| {
            let desk = Desk::new(platform());
            let closed = {
                let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                format!("http://{}", listener.local_addr().unwrap())
            };
            desk.upload(&["-e", &closed]).exits(6).says("cannot connect").says("after 4 attempts");
            desk.upload(&["-e", "https://evidence-tests.invalid"])
                .exits(6)
                .says("https://evidence-tests.invalid");
        });
    });
}

/// A server that is not an evidence platform answers: the tool does not retry, and sends the key nowhere else.
#[test]
fn what_is_no_platform_is_6() {
    let elsewhere = platform().serve().unwrap();
    let target = format!("{}/api/v1/whoami", elsewhere.url());
    let always = |path: &str, kind| platform().fault(Fault::on(path).kind(kind));
    let strange = [
        ("page", always("/api/v1/whoami", FaultKind::LoginPage)),
        ("redirect", always("*", FaultKind::Redirect(target))),
        ("redirect_of_the_body", always(BUNDLES, FaultKind::Redirect("/api/v1/whoami".to_string()))),
        ("huge", always("/api/v1/whoami", FaultKind::HugeBody(10_000_000))),
        ("bomb", always("/api/v1/whoami", FaultKind::GzipBomb(100_000_000))),
        ("deep", always("/api/v1/whoami", FaultKind::DeepJson(30_000))),
        (
            "another_shape",
            always("/api/v1/whoami", FaultKind::Json(200, vec![], json!({"organization": "acme"}))),
        ),
    ];
    for (name, platform) in strange {
        let desk = Desk::new(platform);
        let run = desk.upload(&[]).exits(6).says_not("<html").says_not("attempts");
        insta::assert_snapshot!(format!("strange_{name}"), shown(&run));
        assert!(desk.platform.requests().len() <= 2, "{name}: {:?}", desk.asked());
        desk.bundle_stays();
    }
    assert_eq!(elsewhere.request_count(), 0, "the key left the origin");
}

/// Impossible answers of the platform to the upload.
#[test]
fn what_cannot_be_true_is_6() {
    let said = |body: serde_json::Value| {
        platform().fault(Fault::on(BUNDLES).kind(FaultKind::Json(201, vec![], body)))
    };
    let digest = |bytes: &[u8]| {
        use sha2::Digest as _;
        hex::encode(sha2::Sha256::digest(bytes))
    };
    let right = digest(&BUNDLE);
    let lies = [
        ("other_digest", platform().corrupting(true)),
        ("no_digest", said(json!({"bundle_id": "b", "status": "stored"}))),
        ("no_sha256", said(json!({"bundle_id": "b", "sha256": "", "status": "stored"}))),
        ("not_stored", said(json!({"bundle_id": "b", "sha256": right, "status": "queued\u{1b}[2J"}))),
        ("id_with_a_path", said(json!({"bundle_id": "../../admin", "sha256": right, "status": "stored"}))),
        ("id_empty", said(json!({"bundle_id": "", "sha256": right, "status": "stored"}))),
        (
            "another_key",
            platform().verification(Verification::Verified { key_id: Some(format!("sha256:{right}")) }),
        ),
        (
            "not_verified",
            platform().verification(refused("key-outside-validity", Some("\n\u{1b}[31mlong\nago"))),
        ),
        (
            "not_verified_lost",
            platform().verification(refused("blob-missing", Some("the stored bytes are missing"))),
        ),
        ("not_verified_damaged", platform().verification(refused("gzip", None))),
        ("not_verified_no_reason", platform().verification(refused("", None))),
    ];
    for (name, platform) in lies {
        let desk = Desk::configured(platform, "  delete_after_upload: true\n");
        let run = desk.upload(&[]).exits(6);
        insta::assert_snapshot!(format!("untrue_{name}"), shown(&run));
        assert!(!run.all().contains('\u{1b}') && !run.stdout.contains("verified"), "{name}: {}", run.all());
        desk.bundle_stays();
    }
}

#[test]
fn the_platform_cannot_make_the_tool_show_the_key() {
    let echo = json!({"title": format!("Unauthorized {KEY}"), "detail": format!("the key {KEY}\u{1b}]0;x is not known"), "status": 401});
    let echoing = |path: &str, status: u16| {
        platform().fault(Fault::on(path).kind(FaultKind::Json(status, vec![], echo.clone())))
    };
    for (path, status) in [("/api/v1/whoami", 401), (BUNDLES, 422), ("*/verify", 404)] {
        let run = Desk::new(echoing(path, status)).upload(&[]).exits(6).says("[redacted: own-credential]");
        assert!(!run.all().contains('\u{1b}'));
    }
    let named = platform().organization(Organization::new("org_4711", KEY, format!("Acme {KEY}")));
    Desk::new(named).upload(&["--organization", "org_4711"]).exits(0);
    let refused = platform().verification(refused(KEY, Some(&format!("no: {KEY}"))));
    Desk::new(refused).upload(&[]).exits(6).says("[redacted: own-credential]");
    let desk = Desk::configured(echoing(BUNDLES, 503), "  retry_attempts: 1\n");
    desk.upload(&[]).exits(6).says("retry in");
    // In the place where a user might paste it by mistake.
    let desk = Desk::new(platform());
    desk.upload(&["--organization", KEY]).exits(6);
    desk.upload(&["--tag", &format!("key={KEY}")]).exits(1).says("looks like a secret");
}

#[test]
fn the_organization_must_be_the_one_that_is_meant() {
    for (configured, arguments) in [
        ("  organization_id: org_4711\n", &[][..]),
        ("  organization_id: acme\n", &[]),
        ("", &["--organization", "Acme GmbH"]),
        ("  organization_id: other\n", &["--organization", "acme"]),
    ] {
        Desk::configured(platform(), configured).upload(arguments).exits(0);
    }
    let desk = Desk::configured(platform(), "  organization_id: org_0815\n");
    insta::assert_snapshot!("wrong_organization", shown(&desk.upload(&[]).exits(6)));
    desk.upload(&["--organization", ""]).exits(6);
    assert_eq!(desk.asked(), ["GET /api/v1/whoami", "GET /api/v1/whoami"], "something was sent");
    desk.bundle_stays();
}

#[test]
fn the_local_bundle_is_deleted_only_if_that_is_wanted_and_the_platform_has_verified_it() {
    let desk = Desk::configured(platform(), "  delete_after_upload: true\n");
    insta::assert_snapshot!("deleted", shown(&desk.upload(&[]).exits(0)));
    assert!(!desk.lab.path("bundle.tar.gz").exists());
    assert_eq!(desk.stored()[0].bytes, *BUNDLE);
    // The tool does not accept a link as the bundle.
    desk.lab.write("real.tar.gz", &*BUNDLE);
    std::os::unix::fs::symlink(desk.lab.path("real.tar.gz"), desk.lab.path("bundle.tar.gz")).unwrap();
    desk.upload(&[]).exits(0).says("was not deleted");
    desk.bundle_stays();
    fs::remove_file(desk.lab.path("bundle.tar.gz")).unwrap();
    assert_eq!(fs::read(desk.lab.path("real.tar.gz")).unwrap(), *BUNDLE);
}

/// The file changes between two attempts: the announced upload never completes.
#[test]
fn a_bundle_that_changes_meanwhile_is_noticed() {
    let cut = Fault::on(BUNDLES).kind(FaultKind::CutUpload(usize::MAX)).times(1);
    let desk = Desk::configured(platform().fault(cut), "  delete_after_upload: true\n");
    let mut command = desk.lab.command(&["upload", "bundle.tar.gz"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while desk.platform.requests().len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(5));
    }
    let file = fs::OpenOptions::new().write(true).open(desk.lab.path("bundle.tar.gz")).unwrap();
    file.write_all_at(b"X", BUNDLE.len() as u64 / 2).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("changed while it was uploaded"), "{stderr}");
    assert!(desk.stored().is_empty());
    assert!(desk.lab.path("bundle.tar.gz").exists());
}

/// The process uploads a bundle of 96 MB with much less than that in memory. Of a development build, about 40 MB are
/// the program itself: a bundle must be much larger than it, or the test measures the linker.
#[test]
fn a_large_bundle_is_streamed() {
    let wait = Fault::on("*/verify").kind(FaultKind::Hang);
    let desk =
        Desk::configured(platform().max_bytes(100_000_000).fault(wait), "  verify_before_upload: false\n");
    let file = fs::File::create(desk.lab.path("bundle.tar.gz")).unwrap();
    file.set_len(96_000_000).unwrap();
    let mut command = desk.lab.command(&["upload", "bundle.tar.gz"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while desk.platform.requests().len() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(desk.stored()[0].bytes.len(), 96_000_000);
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let Some(peak) = peak.and_then(|peak| peak.trim().strip_suffix(" kB")) else {
        eprintln!("SKIPPED: this system does not report how much memory a process used");
        return;
    };
    let peak: u64 = peak.parse().unwrap();
    assert!(peak < 64_000, "the process had {peak} kB");
}

/// The tool reads a refusal that arrives before the server has read the body.
#[test]
fn an_early_refusal_is_heard() {
    let early = Fault::on(BUNDLES).kind(FaultKind::RefuseUpload(413));
    let desk = Desk::configured(platform().fault(early), "  verify_before_upload: false\n");
    desk.lab.write("bundle.tar.gz", vec![7; 8_000_000]);
    desk.upload(&[]).exits(6).says("HTTP 413").says("administrator raise its limit").says_not("attempts");
}

#[test]
fn a_signal_ends_an_upload_and_the_bundle_stays() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let desk = Desk::new(platform().fault(Fault::on(BUNDLES).kind(FaultKind::Hang)));
        let mut command = desk.lab.command(&["upload", "bundle.tar.gz"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while desk.platform.requests().len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(5));
        }
        let kill = format!("kill -{signal} {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let sent = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(sent.elapsed() < Duration::from_secs(5));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains("interrupted: the upload is not complete"), "{stderr}");
        assert!(stderr.contains("the bundle is kept: bundle.tar.gz"), "{stderr}");
        desk.bundle_stays();
    }
}

fn leaking() -> CodeHost {
    let text = format!("# {}\n* @acme/everyone\n", sandbox::DEMO_SECRET);
    let leak = repository("leak").protection("main", strong()).file("CODEOWNERS", File::text(text));
    acme().repository(sound("web")).repository(leak)
}

#[test]
fn a_collection_is_uploaded() {
    let desk = Desk::new(platform());
    let run = desk.run(&["collect", "--upload"]).exits(0);
    insta::assert_snapshot!("collect", shown(&run));
    let bundle = run.bundle();
    assert_eq!(desk.stored()[0].bytes, fs::read(&bundle.path).unwrap());
    // No file of the bundle contains the key.
    for (path, content) in &bundle.entries {
        assert!(!content.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{path}");
    }
    assert_eq!(bundle.json("run.json")["exit_code"], 0);
}

#[test]
fn a_quiet_collection_prints_the_path_alone() {
    let desk = Desk::new(platform());
    let run = desk.run(&["collect", "-u", "-q"]).exits(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert_eq!(run.stdout, format!("./evidence-bundles/{}\n", desk.lab.output()[0]));
    assert_eq!(desk.stored().len(), 1);
}

#[test]
fn a_partial_bundle_is_uploaded_unless_only_complete_ones_are_wanted() {
    let lenient = Desk::with(leaking(), platform(), "");
    lenient.run(&["collect", "--upload"]).exits(4);
    assert_eq!(lenient.stored().len(), 1);
    let desk = Desk::with(leaking(), platform(), "  require_complete: true\n");
    insta::assert_snapshot!("collect_policy", shown(&desk.run(&["collect", "--upload"]).exits(4)));
    let broken = codehost::Fault::on("/repos/acme/web/branches/*").kind(codehost::FaultKind::Json(
        200,
        vec![],
        json!({"url": 12}),
    ));
    let other =
        Desk::with(acme().repository(sound("web")).fault(broken), platform(), "  require_complete: true\n");
    let run = other.run(&["collect", "--upload"]).exits(3).says("not uploaded: the bundle is incomplete");
    assert_eq!(run.bundle().manifest()["complete"], false);
    let quiet = other.run(&["collect", "--upload", "--quiet"]).exits(3);
    assert_eq!(quiet.stdout.lines().count(), 1);
    assert!(quiet.stderr.contains("not uploaded: the bundle is incomplete"), "{}", quiet.stderr);
    for desk in [&desk, &other] {
        assert!(desk.asked().iter().all(|asked| asked == "GET /api/v1/whoami"), "{:?}", desk.asked());
        assert!(desk.stored().is_empty());
    }
}

#[test]
fn a_collection_whose_upload_fails_is_6_and_stays() {
    let desk = Desk::new(platform().fault(Fault::on(BUNDLES).kind(FaultKind::Status(422, Body::Json))));
    let run = desk.run(&["collect", "--upload"]).exits(6);
    insta::assert_snapshot!("collect_refused", shown(&run));
    run.bundle();
    let desk = Desk::new(platform().verification(refused("signature-invalid", None)));
    let run = desk.run(&["collect", "--upload", "--quiet"]).exits(6).says("signature-invalid");
    assert_eq!(run.stdout, format!("./evidence-bundles/{}\n", desk.lab.output()[0]));
    run.bundle();
    // The printed command names the configuration where that is necessary.
    let desk = Desk::new(platform().verification(refused("signature-invalid", None)));
    fs::rename(desk.lab.path("evidence.yaml"), desk.lab.path("acme.yaml")).unwrap();
    let run = desk.run(&["collect", "--upload", "-c", "acme.yaml"]).exits(6);
    assert!(run.stdout.contains(".tar.gz --config acme.yaml\n"), "{}", run.stdout);
}

#[test]
fn a_collection_can_be_deleted_once_it_is_uploaded() {
    let desk = Desk::configured(platform(), "  delete_after_upload: true\n");
    let run = desk.run(&["collect", "--upload"]).exits(0).says("was deleted");
    assert!(desk.lab.output().is_empty());
    assert_eq!(desk.stored().len(), 1);
    assert!(!run.stdout.contains("evidence verify"), "{}", run.stdout);
}

/// `-u -d`: signs in and reports whether the platform would accept a bundle, without uploading one.
#[test]
fn a_dry_run_checks_the_upload() {
    let key = crate::common::KEY.public_key().key_id().to_string();
    let organization = || Organization::new("org_4711", "acme", "Acme GmbH");
    let with = |organization: Organization, role| {
        Desk::new(Platform::new().organization(organization).key(Key::new(KEY, "org_4711").role(role)))
    };
    let dry_run = |desk: &Desk, code| {
        let run = desk.run(&["collect", "-u", "-d"]).exits(code);
        assert_eq!(desk.asked(), ["GET /api/v1/whoami"]);
        assert!(desk.stored().is_empty() && desk.lab.output().is_empty());
        run
    };
    let trusting = with(organization().trusts([&key]), Role::Upload);
    let run = dry_run(&trusting, 0).says("Acme GmbH at ").says(", role upload");
    assert!(run.stderr.contains(&format!("ok     trusts the signing key {key}")), "{}", run.stderr);
    let other = with(organization().trusts(["sha256:00"]), Role::Admin);
    dry_run(&other, 6)
        .says(&format!("error: the platform does not trust the signing key {key}"))
        .says("help: ");
    let reader = with(organization().trusts([&key]), Role::Read);
    dry_run(&reader, 6).says("error: the API key has the role read").says("role `upload`");
    let silent = with(organization(), Role::Upload);
    dry_run(&silent, 0).says("note   does not report whether it trusts");
    // Without `-u`, the tool does not contact the platform.
    silent.platform.clear_log();
    silent.run(&["collect", "-d"]).exits(0);
    assert!(silent.asked().is_empty());
}
