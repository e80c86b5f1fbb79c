//! Every command that does not end with 0 says why on standard error, with `--quiet` and with JSON too: a scheduler mails
//! that stream, and a job's log shows it.

use std::fs;

use sandbox::codehost::{Body, Fault, FaultKind, File};
use sandbox::platform::{Key, Organization, Platform, Role};
use serde_json::json;

use crate::common::{Lab, Run, acme, repository, sound, strong};

/// The platform's key. No line of output may show it.
const KEY: &str = "evp_CliTestsUploadKeyIsNotARealSecret44";

/// The most lines of one run: nothing is said per repository.
const LINES: usize = 8;

#[track_caller]
fn says_why(name: &str, run: Run, code: i32) -> Run {
    let run = run.exits(code);
    let lines = run.stderr.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines > 0, "{name} ends with {code} and is silent");
    assert!(lines <= LINES, "{name} says too much:\n{}", run.stderr);
    run
}

fn leaking() -> sandbox::codehost::Repository {
    let text = format!("# {}\n* @acme/everyone\n", sandbox::DEMO_SECRET);
    repository("leak").protection("main", strong()).file("CODEOWNERS", File::text(text))
}

/// Forty repositories that the token may not administer, one of them with a credential, and one that fails.
fn troubled() -> Lab {
    let broken = FaultKind::Json(200, vec![], json!({ "url": 12 }));
    let mut host = acme()
        .repository(leaking())
        .repository(sound("web"))
        .repository(sound("api"))
        .fault(Fault::on("/repos/acme/api/branches/main/protection").kind(broken));
    for number in 0..40 {
        host = host.repository(sound(&format!("service-{number:02}")).admin(false));
    }
    Lab::new(host)
}

/// `collect --quiet`: the lines are grouped, whatever the number of repositories.
#[test]
fn a_quiet_collection_says_each_cause_once() {
    let lab = troubled();
    let run = says_why("many causes", lab.collect(&["--quiet"]), 3);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    insta::assert_snapshot!("many_causes", run.shown());
    let dry = says_why("a dry run", lab.collect(&["--quiet", "--dry-run"]), 3);
    assert_eq!(dry.stdout, "");
    insta::assert_snapshot!("dry_run", dry.shown());
    let leak = Lab::new(acme().repository(leaking()).repository(sound("web")));
    insta::assert_snapshot!("excluded", says_why("a secret", leak.collect(&["-q"]), 4).shown());
    // A complete run is silent.
    let good = Lab::new(acme().repository(sound("web")));
    assert_eq!(good.collect(&["-q"]).exits(0).stderr, "");
    assert_eq!(good.collect(&["-q", "-d"]).exits(0).stderr, "");
}

/// Every exit code of `collect --quiet`.
#[test]
fn a_quiet_collection_is_never_silent() {
    let one = || Lab::new(acme().repository(sound("web")));
    let everywhere = |kind| Lab::new(acme().repository(sound("web")).fault(Fault::everywhere().kind(kind)));
    let not_there = || {
        Lab::new(acme()).with(|config| {
            config.controls("[CC6.6, CC7.2]").source("repos", "[acme/nowhere, acme/elsewhere]")
        })
    };
    let nowhere = one();
    nowhere.write("evidence-bundles", "a file");
    for (name, lab, code) in [
        ("a wrong key", one().with(|config| config.source("branhc", "main")), 1),
        ("no token", one().without_env("CODEHOST_TOKEN"), 2),
        ("a page", everywhere(FaultKind::LoginPage), 2),
        ("a bad request", everywhere(FaultKind::Status(400, Body::Html)), 2),
        ("a control without a source", one().with(|config| config.controls("[CC6.1, CC7.1]")), 1),
        ("nothing", not_there(), 3),
        ("no directory", nowhere, 5),
    ] {
        says_why(name, lab.collect(&["--quiet"]), code);
        if code != 5 {
            says_why(name, lab.collect(&["--quiet", "--dry-run"]), if code == 3 { 3 } else { code });
        }
    }
}

fn desk(role: Role, lines: &str) -> (Lab, sandbox::Server<Platform>) {
    let platform = Platform::new()
        .organization(Organization::new("org_4711", "acme", "Acme GmbH"))
        .key(Key::new(KEY, "org_4711").role(role))
        .serve()
        .unwrap();
    let section = format!("upload:\n  api_url: {}\n{lines}", platform.url());
    let lab = Lab::new(acme().repository(leaking())).env("EVIDENCE_API_KEY", KEY);
    (lab.with(|config| config.rest(&section)), platform)
}

#[test]
fn a_quiet_upload_is_never_silent() {
    let (lab, _platform) = desk(Role::Read, "");
    says_why("collect --upload", lab.collect(&["--quiet", "--upload"]), 6);
    says_why("collect --upload --dry-run", lab.collect(&["--quiet", "--upload", "--dry-run"]), 6);
    let (lab, platform) = desk(Role::Upload, "  require_complete: true\n");
    let run = says_why("an incomplete bundle", lab.collect(&["--quiet", "--upload"]), 4)
        .says("left out as forbidden data")
        .says("not uploaded: the bundle is incomplete");
    let bundle = run.stdout.trim_end().to_string();
    drop(platform);
    let upload = |extra: &[&str]| {
        lab.run(&[&["upload", &bundle, "--quiet", "--config", "evidence.yaml"], extra].concat())
    };
    says_why("no platform", upload(&["--endpoint", "http://127.0.0.1:9/\u{1}"]), 1);
    lab.write("changed.tar.gz", "no bundle");
    says_why("no bundle", lab.run(&["upload", "changed.tar.gz", "-q", "-c", "evidence.yaml"]), 6);
    let keyless = lab.without_env("EVIDENCE_API_KEY");
    says_why("no key", keyless.run(&["upload", &bundle, "-q", "-c", "evidence.yaml"]), 2);
}

/// The commands that read a bundle, with every way to print the result.
#[test]
fn a_refused_bundle_is_named_on_standard_error() {
    let lab = Lab::new(acme().repository(sound("web")));
    let good = lab.collect(&["-q"]).exits(0).stdout.trim_end().to_string();
    let mut bytes = fs::read(lab.path(&good)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    lab.write("changed.tar.gz", bytes);
    lab.write("text.sig", [7; 64]);
    for (bundle, trust, code) in [
        ("changed.tar.gz", &["-k", "key.pub.pem"][..], 7),
        (good.as_str(), &["--fingerprint", &format!("sha256:{}", "0".repeat(64))], 7),
        (&good, &["-k", "key.pub.pem", "--expect-org", "another"], 7),
        (&good, &[], 1),
        (&good, &["-k", "nowhere.pem"], 1),
        ("nowhere.tar.gz", &["-k", "key.pub.pem"], 1),
    ] {
        for command in [
            &["verify", "--quiet"][..],
            &["verify", "--json"],
            &["verify"],
            &["show"],
            &["show", "--format", "json"],
            &["show", "--format", "csv"],
            &["show", "--format", "markdown"],
            &["sample", "--from", "checks", "--seed", "x", "--count", "3"],
            &["sample", "--from", "checks", "--seed", "x", "--count", "3", "--format", "json"],
            &["report", "-o", "report.html"],
        ] {
            let arguments = [command, &[bundle], trust].concat();
            let run = says_why(&arguments.join(" "), lab.run(&arguments), code);
            // One line that names the file, except for what is wrong with the command line.
            let named = run.stderr.contains(bundle.rsplit('/').next().unwrap());
            assert!(named || trust.contains(&"nowhere.pem"), "{arguments:?}: {}", run.stderr);
        }
    }
    for quiet in [&["--quiet"][..], &[]] {
        let all =
            [&["verify", "key.pub.pem", "--signature", "text.sig", "-k", "key.pub.pem"], quiet].concat();
        says_why("a signature", lab.run(&all), 7).says("key.pub.pem: FAILED: no trusted key signed");
    }
    // A verified bundle is not worth a line.
    assert_eq!(lab.run(&["verify", &good, "-k", "key.pub.pem", "-q"]).exits(0).all(), "");
}

#[test]
fn the_other_commands_are_never_silent() {
    let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", "soon");
    for arguments in [
        &["init", "--org", "acme"][..],
        &["keygen", "-o", "key.pem"],
        &["man", "-o", "manual"],
        &["collect", "--reproducible", "--quiet"],
        &["collect", "--resume", "--quiet"],
        &["verify"],
        &["nonsense"],
    ] {
        says_why(&arguments.join(" "), lab.run(arguments), 1);
    }
}
