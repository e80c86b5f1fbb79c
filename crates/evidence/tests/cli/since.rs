//! What changed since the previous bundle in the output directory, as `collect` prints it.

use std::fs;

use sandbox::codehost::{CodeHost, Organization};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::common::{Bundle, Lab, Run, acme, repository, sound};

/// The lines below `Changes`.
fn changes(run: &Run) -> Vec<String> {
    let lines = run.stderr.lines().skip_while(|line| *line != "Changes").skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.trim_start().to_string()).collect()
}

/// A lab for this host with the bundles of another lab.
fn after(lab: &Lab, host: CodeHost) -> Lab {
    let next = Lab::new(host);
    fs::create_dir(next.path("evidence-bundles")).unwrap();
    for name in lab.output() {
        let place = |lab: &Lab| lab.path("evidence-bundles").join(&name);
        fs::copy(place(lab), place(&next)).unwrap();
    }
    next
}

#[test]
fn new_and_repaired_since_the_previous_bundle() {
    let lab = Lab::new(acme().repository(sound("api").id(7)).repository(repository("bare").id(8)));
    let run = lab.collect(&[]).exits(0);
    assert!(changes(&run).is_empty(), "no bundle before: {}", run.stderr);
    let first = lab.output()[0].clone();
    assert_eq!(changes(&lab.collect(&[]).exits(0)), [format!("since {first}: no change")]);
    let second = lab.output().into_iter().find(|name| *name != first).unwrap();

    // One is repaired, and one that breaks was renamed.
    let host = acme().repository(sound("bare").id(8)).repository(repository("web").id(7));
    let run = after(&lab, host).collect(&[]).exits(0);
    let new = ["new  acme/web: Branch not protected", "new  acme/web: No CODEOWNERS file"];
    let lines = changes(&run);
    assert_eq!(lines[0], format!("since {second}: 2 new, 2 repaired"));
    assert_eq!(lines[1..], new);

    // A failing one is deleted, and another one takes its name.
    let host = acme().repository(sound("api").id(7)).repository(sound("bare").id(9));
    let lines = changes(&after(&lab, host).collect(&[]).exits(0));
    assert_eq!(lines[0], "2 failing checks are gone");
    let counts = "0 new, 0 repaired; 2 gone (failing), 2 added";
    assert_eq!(lines[1..].join(" "), format!("since {second}: {counts}"));
}

/// What is no longer examined is not repaired, and comes first.
#[test]
fn leaving_the_scope_is_no_repair() {
    let host = (0..7).fold(acme(), |host, n| host.repository(repository(&format!("bare-{n}"))));
    let lab = Lab::new(host.repository(sound("api")));
    lab.collect(&["-q"]).exits(0);
    let lab = lab.with(|config| config.source("exclude", "[\"acme/bare-*\"]"));
    let run = lab.collect(&[]).exits(0);
    let lines = changes(&run);
    assert_eq!(lines[0], "14 failing checks left the scope");
    let counts = lines[1..].join(" ");
    assert!(counts.ends_with(": 0 new, 0 repaired; 14 left the scope (failing)"), "{lines:?}");
    assert!(run.stderr.lines().skip_while(|line| *line != "Changes").all(|line| line.chars().count() <= 80));
}

/// Anything else in the directory is skipped without an error.
#[test]
fn only_an_own_bundle_of_the_same_organization_is_the_previous_one() {
    let lab = Lab::new(acme().repository(sound("api")));
    lab.collect(&["-q"]).exits(0);
    let name = lab.output()[0].clone();
    let whole = fs::read(lab.path("evidence-bundles").join(&name)).unwrap();
    let alone = |contents: &[u8]| {
        let next = after(&lab, acme().repository(sound("api")));
        fs::write(next.path("evidence-bundles").join(&name), contents).unwrap();
        next
    };
    assert_eq!(changes(&alone(&whole).collect(&[]).exits(0)).len(), 1);
    for contents in [&b"no bundle"[..], &whole[..whole.len() / 2], &[]] {
        let run = alone(contents).collect(&[]).exits(0);
        assert!(changes(&run).is_empty(), "{}", run.stderr);
    }
    let other_key = alone(&whole);
    fs::remove_file(other_key.path("key.pem")).unwrap();
    fs::remove_file(other_key.path("key.pub.pem")).unwrap();
    other_key.run(&["keygen", "-o", "key.pem"]).exits(0);
    assert!(changes(&other_key.collect(&[]).exits(0)).is_empty());
    let other_sources = alone(&whole).with(|config| config.source("repos", "[acme/api]"));
    assert_eq!(changes(&other_sources.collect(&[]).exits(0)).len(), 1, "another scope is compared");
    let quiet = alone(&whole).collect(&["--quiet"]).exits(0);
    assert!(quiet.stderr.is_empty(), "{}", quiet.stderr);
}

/// What a bundle says of the one before it, if it is this one.
fn follows(bundle: &Bundle, before: &Bundle) -> bool {
    let named = bundle.manifest()["previous"].clone();
    let list = hex::encode(Sha256::digest(before.file("checksums.sha256").unwrap()));
    named["bundle_id"] == before.manifest()["bundle_id"] && named["checksums_sha256"] == list
}

/// The bundle of this run, beside others.
fn made(lab: &Lab, arguments: &[&str]) -> Bundle {
    let run = lab.collect(&[&["-q"], arguments].concat()).exits(0);
    Bundle::open(&lab.path(run.stdout.trim()))
}

/// With a chain of bundles, a removed one leaves a gap.
#[test]
fn a_bundle_names_the_one_before_it() {
    let host = || acme().repository(sound("api"));
    let lab = Lab::new(host());
    let first = made(&lab, &[]);
    assert!(first.manifest()["previous"].is_null());
    let second = made(&lab, &[]);
    assert!(follows(&second, &first));
    // Of a bundle that does not verify nothing is known.
    let path = lab.path("evidence-bundles").join(second.path.file_name().unwrap());
    let mut contents = fs::read(&path).unwrap();
    let last = contents.len() - 40;
    contents[last] ^= 1;
    fs::write(&path, contents).unwrap();
    let third = made(&lab, &[]);
    assert!(follows(&third, &first));

    // After a rotation, the old key continues the row only if the configuration trusts it.
    let rotated = |trusted: &str| {
        let next = after(&lab, host()).with(|config| {
            config.signing(
                "private_key_path",
                &format!(
                    "key.pem
    trusted_keys: {trusted}"
                ),
            )
        });
        fs::rename(next.path("key.pub.pem"), next.path("old.pub.pem")).unwrap();
        fs::remove_file(next.path("key.pem")).unwrap();
        next.run(&["keygen", "-o", "key.pem"]).exits(0);
        next
    };
    let previous = |lab: &Lab| {
        let run = lab.collect(&["-q"]).exits(0);
        let verdict = lab.run(&["verify", "-k", "key.pub.pem", "--json", run.stdout.trim()]).exits(0);
        serde_json::from_str::<Value>(&verdict.stdout).unwrap()["previous"].clone()
    };
    assert!(previous(&rotated("[]")).is_null());
    let next = rotated("[old.pub.pem]");
    assert_eq!(previous(&next)["bundle_id"], third.manifest()["bundle_id"]);
    assert_eq!(changes(&next.collect(&[]).exits(0)).len(), 1);

    // Another organization has a row of its own.
    let host = host().organization(Organization::new("initech").two_factor(true));
    let next = after(&lab, host).with(|config| config.source("org", "initech"));
    assert!(made(&next, &[]).manifest()["previous"].is_null());
}

/// With a fixed time, a later bundle does not come before this one, and a repeated run does not find itself.
#[test]
fn a_fixed_time_has_only_earlier_bundles_before_it() {
    let mut lab = Lab::new(acme().repository(sound("api")));
    let mut at = |time: &str| {
        lab.set_env("SOURCE_DATE_EPOCH", time);
        made(&lab, &["--reproducible"])
    };
    let later = at("1767323045");
    let earlier = at("1767323000");
    assert!(earlier.manifest()["previous"].is_null() && later.manifest()["previous"].is_null());
    let last = at("1767323100");
    assert!(follows(&last, &later));
    assert_eq!(at("1767323100").path, last.path, "the same bytes");
}
