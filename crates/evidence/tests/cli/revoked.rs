//! `--revoked-keys`: a revoked key counts nowhere, and a list that cannot be read never means that none is revoked.

use std::fs;

use evidence_bundle::PublicKey;
use serde_json::Value;

use crate::common::{Lab, acme, sound};

/// A lab with one bundle at `b.tar.gz`, and the key that signed it.
fn bundled() -> (Lab, PublicKey) {
    let lab = Lab::new(acme().repository(sound("web")));
    lab.collect(&["-q"]).exits(0);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    let key = PublicKey::parse(&fs::read(lab.path("key.pub.pem")).unwrap()).unwrap();
    (lab, key)
}

#[test]
fn a_revoked_key_counts_in_no_command() {
    let (lab, key) = bundled();
    let commands: [&[&str]; 7] = [
        &["verify", "b.tar.gz"],
        &["verify", "b.tar.gz", "--json"],
        &["show", "b.tar.gz"],
        &["show", "b.tar.gz", "--format", "json"],
        &["report", "b.tar.gz"],
        &["sample", "b.tar.gz", "--from", "checks", "--seed", "a", "--count", "1"],
        &["sample", "b.tar.gz", "--from", "population", "--seed", "a", "--count", "1"],
    ];
    let trusts: [&[&str]; 4] = [
        &["-k", "key.pub.pem"],
        &["--fingerprint", &key.key_id().to_string()],
        &["--config", "evidence.yaml"],
        // Without any trusted key.
        &[],
    ];
    for (id, since) in [
        (key.key_id().to_string(), "2020-01-01"),
        // The time that the signer claims does not count.
        (key.ssh_fingerprint(), "2999-01-01T00:00:00Z"),
    ] {
        lab.write("revoked", format!("# keys of acme\n{id} {since} laptop stolen\n"));
        for command in commands {
            for trust in trusts {
                let run = lab.run(&[command, &["--revoked-keys", "revoked"], trust].concat()).exits(7);
                assert!(run.all().contains("key-revoked"), "{command:?} {trust:?}: {}", run.all());
                assert!(run.all().contains("laptop stolen"), "{command:?} {trust:?}: {}", run.all());
            }
        }
    }
    let run = lab.run(&["verify", "b.tar.gz", "-k", "key.pub.pem", "--revoked-keys", "revoked"]).exits(7);
    let text = run.stdout.replace(&key.key_id().to_string(), "sha256:KEY");
    insta::assert_snapshot!("revoked", text);
    // Another key is revoked.
    lab.write("revoked", format!("sha256:{} 2020-01-01 lost\n", "0".repeat(64)));
    for command in commands {
        lab.run(&[command, &["--revoked-keys", "revoked", "-k", "key.pub.pem"]].concat()).exits(0);
    }
}

#[test]
fn a_revoked_key_signs_no_other_file() {
    let (lab, key) = bundled();
    lab.write("SHA256SUMS", "a list\n");
    let private =
        evidence_bundle::SigningKey::from_bytes_any(&fs::read(lab.path("key.pem")).unwrap(), None).unwrap();
    fs::write(lab.path("SHA256SUMS.sig"), private.sign(b"a list\n")).unwrap();
    let verify = ["verify", "SHA256SUMS", "--signature", "SHA256SUMS.sig", "-k", "key.pub.pem"];
    lab.run(&verify).exits(0);
    lab.write("revoked", format!("{} 2020-01-01 laptop stolen\n", key.key_id()));
    let run = lab.run(&[&verify[..], &["--revoked-keys", "revoked"]].concat()).exits(7);
    assert!(run.stdout.contains("FAILED key-revoked: ") && !run.stdout.contains("SIGNED"), "{}", run.stdout);
}

#[test]
fn a_list_that_cannot_be_read_is_an_error() {
    let (lab, key) = bundled();
    let verify = |list: &str| lab.run(&["verify", "b.tar.gz", "-k", "key.pub.pem", "--revoked-keys", list]);
    verify("missing").exits(1).says("cannot read the list of revoked keys missing");
    lab.write("empty", "");
    verify("empty").exits(1).says("empty: the file is empty");
    // All problems at once, with their lines.
    lab.write("bad", format!("# list\nnonsense\n{} soon stolen\n{0} 2020-01-01\n", key.key_id()));
    let run = verify("bad").exits(1);
    assert!(!run.all().contains("VERIFIED"), "{}", run.all());
    insta::assert_snapshot!("revoked_unreadable", run.stderr);
    let run =
        lab.run(&["verify", "b.tar.gz", "-k", "key.pub.pem", "--revoked-keys", "bad", "--json"]).exits(1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["verdict"], "not_judged");
}

#[test]
fn the_verdict_names_the_clock() {
    let (lab, key) = bundled();
    let signers = |options: &str| {
        let line = format!("a namespaces=\"evidence-bundle\"{options} {}\n", key.to_openssh());
        lab.write("signers", &line);
    };
    let report = |arguments: &[&str]| -> Value {
        let run = lab.run(&[&["verify", "b.tar.gz", "--json"], arguments].concat()).exits(0);
        serde_json::from_str(&run.stdout).unwrap()
    };
    lab.write("revoked", "# none\n");
    signers("");
    let unlimited = report(&["--allowed-signers", "signers"]);
    assert_eq!((&unlimited["key_clock"], &unlimited["revoked_keys"]), (&"none".into(), &Value::Null));
    signers(",valid-after=\"20200101Z\"");
    let limited = report(&["--allowed-signers", "signers", "--revoked-keys", "revoked"]);
    assert_eq!((&limited["key_clock"], &limited["revoked_keys"]), (&"signer".into(), &0.into()));
    let run = lab.run(&["verify", "b.tar.gz", "--allowed-signers", "signers", "--revoked-keys", "revoked"]);
    let said = "valid at the time that the signer claims (created_at); not in the list of 0 revoked keys";
    assert!(run.stdout.contains(&format!("  key         OK   {said}\n")), "{}", run.stdout);
}
