//! `evidence verify`: the three verdicts, every way to trust a key, and the output.

use std::fs;

use sandbox::codehost::File;

use crate::common::{Lab, Run, acme, damage, repository, sound, strong};
use crate::stock;

/// A lab with one bundle at `b.tar.gz`, and its configuration beside it.
fn bundled() -> Lab {
    let owners = format!("# {}\n* @acme/all\n", sandbox::DEMO_SECRET);
    let host = acme()
        .repository(sound("api"))
        .repository(repository("bare"))
        .repository(repository("leak").protection("main", strong()).file("CODEOWNERS", File::text(owners)));
    let lab = Lab::new(host);
    lab.collect(&["-q"]).exits(4);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    lab
}

fn verify(lab: &Lab, arguments: &[&str]) -> Run {
    let mut all = vec!["verify", "b.tar.gz"];
    all.extend(arguments);
    lab.run(&all)
}

#[test]
fn verified_is_0() {
    let lab = bundled();
    let run = verify(&lab, &["--public-key", "key.pub.pem"]).exits(0);
    insta::assert_snapshot!("verified", run.shown());
    assert!(run.stdout.ends_with("\nVERIFIED\n"));
    assert!(run.stderr.is_empty());
    insta::assert_snapshot!("verified_verbose", verify(&lab, &["-k", "key.pub.pem", "-v"]).exits(0).shown());
    let run = verify(&lab, &["-k", "key.pub.pem", "--quiet"]).exits(0);
    assert_eq!(run.all(), "");
}

#[test]
fn failed_is_7() {
    let lab = bundled();
    damage(&lab, "b.tar.gz");
    let run = verify(&lab, &["-k", "key.pub.pem"]).exits(7);
    insta::assert_snapshot!("failed", run.shown());
    assert!(!run.all().contains("VERIFIED"));
    let quiet =
        verify(&lab, &["-k", "key.pub.pem", "-q"]).exits(7).says("b.tar.gz: FAILED checksum-mismatch");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.lines().count()), ("", 1));
}

#[test]
fn another_key_is_7() {
    let lab = bundled();
    lab.run(&["keygen", "-o", "other.pem"]).exits(0);
    let run = verify(&lab, &["-k", "other.pub.pem"]).exits(7);
    insta::assert_snapshot!("another_key", run.shown());
    // One trusted key of several is enough.
    verify(&lab, &["-k", "other.pub.pem", "-k", "key.pub.pem"]).exits(0);
}

#[test]
fn no_trust_root_is_1() {
    let lab = bundled();
    let run = verify(&lab, &[]).exits(1);
    insta::assert_snapshot!("intact", run.shown());
    assert!(run.stdout.contains("INTACT, NOT AUTHENTICATED"));
    assert!(!run.all().contains("VERIFIED"));
    // A damaged bundle is not even intact.
    damage(&lab, "b.tar.gz");
    verify(&lab, &[]).exits(7);
}

/// Versions, damage and unknown fields in all combinations: `crates/evidence-bundle/tests/versions.rs`.
#[test]
fn a_bundle_of_a_newer_version_is_1() {
    let lab = bundled();
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../evidence-bundle/tests/bundles");
    let copy = |from: &str, to: &str| lab.write(to, fs::read(corpus.join(from)).unwrap());
    copy("key.pub.pem", "signer.pub.pem");
    copy("newer-version_exit1/bundle.tar.gz", "b.tar.gz");
    insta::assert_snapshot!("newer", verify(&lab, &["-k", "signer.pub.pem"]).exits(1).shown());
    insta::assert_snapshot!("newer_json", verify(&lab, &["-k", "signer.pub.pem", "--json"]).exits(1).shown());
    insta::assert_snapshot!("newer_nobody", verify(&lab, &[]).exits(1).shown());
    verify(&lab, &["-k", "signer.pub.pem", "-q"]).exits(1).says("b.tar.gz: NOT JUDGED");
    // The key of another signer.
    verify(&lab, &["-k", "key.pub.pem"]).exits(7);
}

#[test]
fn a_bundle_that_cannot_be_read_is_1() {
    let lab = bundled();
    insta::assert_snapshot!(
        "unreadable",
        lab.run(&["verify", "nowhere.tar.gz", "-k", "key.pub.pem"]).exits(1).shown()
    );
    lab.run(&["verify", "evidence-bundles", "-k", "key.pub.pem"]).exits(1).says("no bundle in the folder");
    lab.run(&["verify", "nowhere.tar.gz", "-k", "key.pub.pem", "-q"]).exits(1).says("nowhere.tar.gz");
    let run = lab.run(&["verify", "nowhere.tar.gz", "-k", "key.pub.pem", "--json"]).exits(1);
    insta::assert_snapshot!("unreadable_json", run.shown());
}

#[test]
fn something_that_is_no_bundle_is_7() {
    let lab = bundled();
    for content in [&b""[..], b"hello", &[0x1f, 0x8b], &[0; 4096]] {
        lab.write("b.tar.gz", content);
        verify(&lab, &["-k", "key.pub.pem"]).exits(7);
        verify(&lab, &[]).exits(7);
    }
}

#[test]
fn json() {
    let lab = bundled();
    let run = verify(&lab, &["-k", "key.pub.pem", "--json"]).exits(0);
    insta::assert_snapshot!("verified_json", run.shown());
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["verdict"], "verified");
    insta::assert_snapshot!("intact_json", verify(&lab, &["--json"]).exits(1).shown());
    damage(&lab, "b.tar.gz");
    let run = verify(&lab, &["-k", "key.pub.pem", "--json"]).exits(7);
    insta::assert_snapshot!("failed_json", run.shown());
}

/// The roots in their order: a flag, the variable, the configuration's trusted keys, the configuration's own key.
#[test]
fn trust_roots() {
    let lab = bundled();
    lab.run(&["keygen", "-o", "other.pem"]).exits(0);
    let own = fs::read_to_string(lab.path("key.pub.pem")).unwrap();
    let public = evidence_bundle::PublicKey::parse(own.as_bytes()).unwrap();
    let id = public.key_id().to_string();
    // OpenSSH's two forms.
    lab.write("key.pub", format!("{}\n", public.to_openssh()));
    verify(&lab, &["-k", "key.pub"]).exits(0);
    // Several keys in one file, in both forms.
    let other = fs::read_to_string(lab.path("other.pub.pem")).unwrap();
    lab.write("several", format!("# of 2026\n{other}{}\n", public.to_openssh()));
    let run = verify(&lab, &["-k", "several"]).exits(0);
    assert!(run.stdout.contains("trusted by several, key 2\n"), "{}", run.stdout);
    verify(&lab, &["--fingerprint", &id]).exits(0);
    verify(&lab, &["--fingerprint", &public.ssh_fingerprint()]).exits(0);
    verify(&lab, &["--fingerprint", &format!("sha256:{}", "0".repeat(64))]).exits(7);
    verify(&lab, &["--fingerprint", "sha256:short"]).exits(1);
    let signers = |options: &str| format!("audit@acme.example {options} {}\n", public.to_openssh());
    lab.write("signers", signers("namespaces=\"evidence-bundle\""));
    verify(&lab, &["--allowed-signers", "signers"]).exits(0);
    lab.write("signers", signers("namespaces=\"evidence-bundle\",valid-before=\"20200101Z\""));
    let run = verify(&lab, &["--allowed-signers", "signers"]).exits(7);
    assert!(run.stdout.contains("key-outside-validity"), "{}", run.stdout);
    lab.write("signers", signers("namespaces=\"git\""));
    assert_ne!(verify(&lab, &["--allowed-signers", "signers"]).code, Some(0));
    // A key whose principal is both listed and negated is not trusted.
    let line = signers("namespaces=\"evidence-bundle\"");
    for (negated, code) in
        [("!audit@acme.example", 1), ("audit@acme.example,!*", 1), ("*,!audit@acme.example", 0)]
    {
        lab.write("signers", line.replacen("audit@acme.example", negated, 1));
        verify(&lab, &["--allowed-signers", "signers"]).exits(code);
    }
    // The configuration's own key counts only because `--config` names the configuration.
    let run = verify(&lab, &["--config", "evidence.yaml"]).exits(0);
    assert!(run.stdout.contains("trusted by the signing key of evidence.yaml"), "{}", run.stdout);
    // Trusted keys in place of the configuration's own key.
    let config = fs::read_to_string(lab.path("evidence.yaml")).unwrap();
    lab.write("evidence.yaml", format!("{config}    trusted_keys: [other.pub.pem]\n"));
    verify(&lab, &["--config", "evidence.yaml"]).exits(7);
    lab.write("evidence.yaml", format!("{config}    trusted_keys: [other.pub.pem, key.pub.pem]\n"));
    verify(&lab, &["--config", "evidence.yaml"]).exits(0);
    // The variable takes precedence over the configuration, and a flag over the variable.
    let lab = lab.env("EVIDENCE_TRUSTED_KEYS", "other.pub.pem");
    verify(&lab, &["--config", "evidence.yaml"]).exits(7);
    verify(&lab, &["-k", "key.pub.pem"]).exits(0);
    let lab = lab.env("EVIDENCE_TRUSTED_KEYS", "other.pub.pem:key.pub.pem");
    verify(&lab, &[]).exits(0);
    let lab = lab.env("EVIDENCE_TRUSTED_KEYS", "nowhere.pem");
    verify(&lab, &[]).exits(1).says("nowhere.pem");
}

/// A machine that only verifies, with unusable key files.
#[test]
fn trust_roots_that_cannot_be_used_are_1() {
    let lab = bundled();
    lab.write("rsa.pem", include_str!("rsa-key.pem"));
    lab.write("empty", "");
    for key in ["nowhere.pem", "rsa.pem", "empty", ".", "b.tar.gz"] {
        verify(&lab, &["-k", key]).exits(1);
        verify(&lab, &["--allowed-signers", key]).exits(1);
    }
    // The private key in place of the public one.
    let run = verify(&lab, &["-k", "key.pem"]).exits(1);
    assert!(!run.all().contains("PRIVATE KEY-----"), "{}", run.all());
    verify(&lab, &["--config", "nowhere.yaml"]).exits(1);
}

#[test]
fn expectations() {
    let lab = bundled();
    let with = |arguments: &[&str]| {
        let mut all = vec!["-k", "key.pub.pem"];
        all.extend(arguments);
        verify(&lab, &all)
    };
    with(&["--expect-org", "acme", "--max-age", "1d"]).exits(0);
    let run = with(&["--expect-org", "other"]).exits(7);
    assert!(run.stdout.contains("FAILED wrong-org"), "{}", run.stdout);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let run = with(&["--max-age", "0s"]).exits(7);
    assert!(run.stdout.contains("FAILED too-old"), "{}", run.stdout);
    with(&["--max-age", "soon"]).exits(1).says("--max-age");
}

#[test]
fn a_fixed_time_is_shown_and_has_no_age() {
    // One second old, so the age alone would be acceptable.
    let now = (jiff::Timestamp::now().as_second() - 1).to_string();
    let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", &now);
    let run = lab.collect(&["--reproducible"]).exits(0).says("set with --reproducible");
    let manifest = run.bundle().manifest();
    let codes: Vec<_> = manifest["warnings"].as_array().unwrap().iter().map(|w| &w["code"]).collect();
    assert_eq!(codes, ["fixed_time"]);
    let path = format!("evidence-bundles/{}", lab.output()[0]);
    let verify = |more: &[&str]| lab.run(&[&["verify", &path, "-k", "key.pub.pem"], more].concat());
    let run = verify(&[]).exits(0);
    assert!(run.stdout.contains("  time        fixed with --reproducible"), "{}", run.stdout);
    let run = verify(&["--verbose"]).exits(0);
    assert!(run.stdout.contains("when it was collected is not recorded"), "{}", run.stdout);
    let report: serde_json::Value = serde_json::from_str(&verify(&["--json"]).exits(0).stdout).unwrap();
    assert_eq!(report["source_date_epoch"].to_string(), now);
    assert_eq!(report["warnings"][0]["code"], "fixed_time");
    let run = verify(&["--max-age", "1d"]).exits(7);
    assert!(run.stdout.contains("FAILED too-old"), "{}", run.stdout);
}

/// The commands of the documentation, of the bundle's own README and of its report: one text in every place, and each
/// copy as it is shown accepts a bundle of the tool and refuses it with a byte more.
#[test]
fn stock_tools_agree() {
    let lab = bundled();
    let file = |path: &str| {
        let output = std::process::Command::new("tar")
            .args(["-xzOf", "b.tar.gz", path])
            .current_dir(lab.path(""))
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let copies = [
        (stock::FORMAT, stock::documented()),
        ("derived/README.txt", stock::indented(&file("derived/README.txt"))),
        ("derived/report.html", stock::block(&file("derived/report.html"), "<pre>", "</pre>")),
    ];
    let bundle = fs::read(lab.path("b.tar.gz")).unwrap();
    for (place, commands) in copies {
        assert_eq!(commands, evidence_bundle::by_hand::COMMANDS, "{place}");
        for (more, good) in [(&b""[..], true), (b"x", false)] {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(stock::BUNDLE), [&bundle, more].concat()).unwrap();
            fs::copy(lab.path("key.pub.pem"), directory.path().join("key.pub.pem")).unwrap();
            let output = stock::check("bash", &commands, None, directory.path());
            assert_eq!(stock::is_good(&output), good, "{place}: {output:?}");
            assert_eq!(stock::is_refused(&output), !good, "{place}: {output:?}");
        }
    }
}

/// The scripts of the format, which share no code with the program.
#[test]
fn stock_check_scripts_agree() {
    let scripts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../evidence-bundle/tests");
    let lab = bundled();
    for (interpreter, script) in [("bash", "stock_check.sh"), ("python3", "stock_check.py")] {
        let check = || {
            std::process::Command::new(interpreter)
                .arg(scripts.join(script))
                .args(["b.tar.gz", "key.pub.pem"])
                .current_dir(lab.path(""))
                .output()
        };
        let Ok(output) = check() else {
            eprintln!("SKIPPED: there is no {interpreter}");
            continue;
        };
        if output.status.code() == Some(77) {
            eprintln!("SKIPPED: {script}: {}", String::from_utf8_lossy(&output.stdout));
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{script}: {output:?}");
        let whole = fs::read(lab.path("b.tar.gz")).unwrap();
        damage(&lab, "b.tar.gz");
        assert_ne!(check().unwrap().status.code(), Some(0), "{script} takes a changed bundle");
        lab.write("b.tar.gz", whole);
    }
}

/// Every directory of the format's collection of valid and invalid bundles, with the real binary.
#[test]
fn the_formats_collection_of_bundles() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../evidence-bundle/tests/bundles");
    let directories: Vec<String> =
        crate::common::names(&root).into_iter().filter(|name| root.join(name).is_dir()).collect();
    if directories.is_empty() {
        eprintln!("SKIPPED: there is no collection of bundles at {}", root.display());
        return;
    }
    let lab = bundled();
    for name in directories {
        let directory = root.join(&name);
        let expected: serde_json::Value =
            serde_json::from_slice(&fs::read(directory.join("expect.json")).unwrap()).unwrap();
        let arguments: Vec<&str> =
            expected["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let mut all = vec!["verify", "--json", "bundle.tar.gz"];
        all.extend(arguments);
        let mut command = lab.command(&all);
        command.current_dir(&directory);
        let run = lab.run_command(command);
        assert_eq!(run.code.map(i64::from), expected["exit"].as_i64(), "{name}: {}", run.all());
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["reason"], expected["reason"], "{name}: {}", run.all());
    }
}

/// The list of checksums of a release, signed by openssl with a key of `evidence keygen`.
#[test]
fn the_signature_of_any_file() {
    let lab = Lab::new(acme());
    lab.run(&["keygen", "-o", "release.pem"]).exits(0);
    lab.run(&["keygen", "-o", "other.pem"]).exits(0);
    lab.write("SHA256SUMS", "e3b0c442  evidence.tar.gz\n");
    let key = evidence_bundle::SigningKey::from_bytes_any(&fs::read(lab.path("release.pem")).unwrap(), None)
        .unwrap();
    let good = key.sign(&fs::read(lab.path("SHA256SUMS")).unwrap());
    lab.write("SHA256SUMS.sig", good);
    let check = |arguments: &[&str]| {
        let mut all = vec!["verify", "--signature", "SHA256SUMS.sig", "SHA256SUMS"];
        all.extend(arguments);
        lab.run(&all)
    };
    insta::assert_snapshot!("signed", check(&["-k", "release.pub.pem"]).exits(0).shown());
    check(&["-k", "other.pub.pem", "-k", "release.pub.pem"]).exits(0);
    assert_eq!(check(&["-k", "release.pub.pem", "-q"]).exits(0).all(), "");
    insta::assert_snapshot!("signed_by_another", check(&["-k", "other.pub.pem"]).exits(7).shown());
    check(&[]).exits(1).says("no key to check the signature with");
    // An expired key is not accepted.
    let public = key.public_key().to_openssh();
    for (window, exit) in [("valid-after=\"20200101Z\"", 0), ("valid-before=\"20200101Z\"", 7)] {
        lab.write("signers", format!("a namespaces=\"evidence-bundle\",{window} {public}\n"));
        check(&["--allowed-signers", "signers"]).exits(exit);
    }
    for bit in [0, 255, 256, 511] {
        let mut changed = good;
        changed[bit / 8] ^= 1 << (bit % 8);
        lab.write("SHA256SUMS.sig", changed);
        check(&["-k", "release.pub.pem"]).exits(7);
    }
    lab.write("SHA256SUMS.sig", &good[1..]);
    check(&["-k", "release.pub.pem"]).exits(1).says("64 bytes");
    lab.write("SHA256SUMS.sig", good);
    lab.write("SHA256SUMS", "e3b0c442  evidence.tar.gz\n\n");
    check(&["-k", "release.pub.pem", "-q"]).exits(7);
    fs::remove_file(lab.path("SHA256SUMS")).unwrap();
    check(&["-k", "release.pub.pem"]).exits(1).says("cannot read SHA256SUMS");
}
