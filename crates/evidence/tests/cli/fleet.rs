//! `evidence fleet`: many organizations with one configuration, and the signed list of what became of each.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::codehost::{
    App, Body, CodeHost, Fault, FaultKind, Installation, Organization, Protection, Repository,
};
use serde_json::Value;

use crate::common::{KEY, Lab, acme, names};

/// An organization that passes, with one repository.
fn with_organization(host: CodeHost, name: &str, id: u64) -> CodeHost {
    let owners = sandbox::codehost::File::text(format!("* @{name}/everyone\n"));
    let rule = Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    let repository = Repository::new(name, "api").protection("main", rule).file("CODEOWNERS", owners);
    host.organization(Organization::new(name).id(id).two_factor(true)).repository(repository)
}

/// A host with this many organizations, `org-00` and so on, and a configuration that is a template.
pub(crate) fn fleet(organizations: u64, change: impl FnOnce(CodeHost) -> CodeHost) -> (Lab, String) {
    let names: Vec<String> = (0..organizations).map(|number| format!("org-{number:02}")).collect();
    let host = names.iter().zip(1_000..).fold(acme(), |host, (name, id)| with_organization(host, name, id));
    let lab = Lab::new(change(host)).with(|config| config.source("org", "\"{org}\""));
    (lab, names.join(","))
}

fn list(lab: &Lab) -> Value {
    serde_json::from_slice(&fs::read(lab.path("evidence-fleet/fleet.json")).unwrap()).unwrap()
}

/// The names of the organizations with this outcome.
pub(crate) fn with_outcome(list: &Value, outcome: &str) -> Vec<String> {
    let rows = list["organizations"].as_array().unwrap();
    let rows = rows.iter().filter(|row| row["outcome"] == outcome);
    rows.map(|row| row["organization"].as_str().unwrap().to_string()).collect()
}

fn verified(lab: &Lab, more: &[&str]) -> crate::common::Run {
    let mut arguments = vec!["verify", "-k", "key.pub.pem", "evidence-fleet/fleet.json"];
    arguments.extend(more);
    lab.run(&arguments)
}

#[test]
fn a_bundle_each_and_a_signed_list_of_all() {
    let gone = Fault::on("/repos/org-01/*").kind(FaultKind::Status(500, Body::Json));
    let (lab, names) = fleet(3, |host| host.fault(gone));
    let run = lab.run(&["fleet", "--orgs", &format!("{names},nobody"), "--workers", "1"]).exits(2);
    insta::assert_snapshot!("fleet", run.shown());
    let rows = list(&lab);
    assert_eq!(with_outcome(&rows, "bundle"), ["org-00", "org-02"]);
    assert_eq!(with_outcome(&rows, "incomplete"), ["org-01"]);
    assert_eq!(with_outcome(&rows, "not_an_organization"), ["nobody"]);
    let codes: Vec<&Value> =
        rows["organizations"].as_array().unwrap().iter().map(|row| &row["exit_code"]).collect();
    assert_eq!(codes, [2, 0, 3, 0]);
    let run = verified(&lab, &[]).exits(0);
    insta::assert_snapshot!("fleet_verified", run.shown());
    let run = verified(&lab, &["--json"]).exits(0);
    let verdict: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&verdict["verified"], verdict["bundles"].as_array().unwrap().len()), (&Value::Bool(true), 3));
    // Each bundle is one of its organization, and verifies alone.
    lab.run(&["verify", "-k", "key.pub.pem", "--expect-org", "org-02", "evidence-fleet/org-02"]).exits(0);

    // A second start collects only what is not complete.
    lab.server.clear_log();
    let run = lab.run(&["fleet", "--orgs", &names, "-q"]).exits(3);
    assert_eq!(run.stdout, "./evidence-fleet/fleet.json\n");
    let repositories = lab.requested().into_iter().filter(|path| path.contains("/repos/"));
    assert!(repositories.clone().all(|path| path.contains("org-01")), "{:?}", lab.requested());
    assert!(repositories.count() > 0);
    // Once the host answers, the list is whole. A bundle that is too old counts as none.
    lab.server.update(|host| host.clear_faults());
    lab.run(&["fleet", "--orgs", &names]).exits(0);
    assert_eq!(with_outcome(&list(&lab), "bundle").len(), 3);
    lab.run(&["fleet", "--orgs", &names, "--since", "2999-01-01"]).exits(0);
    assert_eq!(self::names(&lab.path("evidence-fleet/org-00")).len(), 2);
}

#[test]
fn nothing_in_the_list_can_be_changed() {
    let (lab, names) = fleet(2, |host| host);
    lab.run(&["fleet", "--orgs", &names]).exits(0);
    let path = lab.path("evidence-fleet/fleet.json");
    let signed = fs::read_to_string(&path).unwrap();
    for (from, to) in [("org-01", "org-02"), ("bundle", "failed"), ("\n", "\n\n"), ("1001", "1002")] {
        fs::write(&path, signed.replacen(from, to, 1)).unwrap();
        verified(&lab, &[]).exits(7).says("FAILED");
    }
    // What the signer itself says wrongly is found in the bundles.
    let row = signed.lines().find(|line| line.contains("org-00")).unwrap().trim_end_matches(',').to_string();
    let without = regex::Regex::new(r#","bundle":.*\}"#).unwrap().replace(&row, "}").into_owned();
    for (from, to, why) in [
        (
            "\"outcome\":\"bundle\"".to_string(),
            "\"outcome\":\"incomplete\"".to_string(),
            "unlike the list says",
        ),
        (row, without, "names none"),
    ] {
        let forged = signed.replacen(&from, &to, 1);
        assert_ne!(forged, signed);
        fs::write(&path, &forged).unwrap();
        fs::write(lab.path("evidence-fleet/fleet.json.sig"), KEY.sign(forged.as_bytes())).unwrap();
        let run = verified(&lab, &[]).exits(7);
        assert!(run.stdout.contains(why), "{}", run.stdout);
    }
    fs::write(lab.path("evidence-fleet/fleet.json.sig"), KEY.sign(signed.as_bytes())).unwrap();
    fs::write(&path, &signed).unwrap();
    // Another key.
    lab.run(&["keygen", "-o", "other"]).exits(0);
    let other =
        self::names(&lab.path("")).into_iter().find(|name| name.starts_with("other") && name.contains("pub"));
    lab.run(&["verify", "-k", &other.unwrap(), "evidence-fleet/fleet.json"]).exits(7).says("no trusted key");
    // Another bundle of the same signer in the place of one.
    let folder = |name: &str| lab.path(&format!("evidence-fleet/{name}"));
    let file = |name: &str| folder(name).join(&self::names(&folder(name))[0]);
    let kept = fs::read(file("org-01")).unwrap();
    fs::copy(file("org-00"), file("org-01")).unwrap();
    let run = verified(&lab, &[]).exits(7);
    assert!(run.stdout.contains("another SHA-256"), "{}", run.stdout);
    // A bundle that is not here.
    fs::remove_file(file("org-01")).unwrap();
    verified(&lab, &[]).exits(1).says("1 of 2 bundles that the list names are not here");
    let run = verified(&lab, &["--json"]).exits(1);
    assert!(run.stdout.contains("\"verified\": false"), "{}", run.stdout);
    fs::write(folder("org-01").join("evidence-bundle-20260102-030405.tar.gz"), kept).unwrap();
    // No signature at all.
    fs::remove_file(lab.path("evidence-fleet/fleet.json.sig")).unwrap();
    verified(&lab, &[]).exits(1).says("needs its signature beside it");
}

#[test]
fn shards_share_the_organizations_and_name_all() {
    let (lab, names) = fleet(12, |host| host);
    let mut seen = BTreeSet::new();
    for shard in 1..=3 {
        let output = format!("part-{shard}");
        lab.run(&["fleet", "--orgs", &names, "--shard", &format!("{shard}/3"), "-o", &output, "-q"]).exits(0);
        let text = fs::read(lab.path(&format!("{output}/fleet.json"))).unwrap();
        let rows: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(rows["organizations"].as_array().unwrap().len(), 12);
        assert_eq!(rows["shard"], format!("{shard}/3"));
        let mine = with_outcome(&rows, "bundle");
        assert_eq!(mine.len() + with_outcome(&rows, "other_shard").len(), 12);
        assert!(mine.into_iter().all(|name| seen.insert(name)));
    }
    assert_eq!(seen.len(), 12);
}

/// Every run beside the others respects the same limit.
#[test]
fn all_runs_share_one_credential() {
    let (lab, names) = fleet(8, |host| host.latency(Duration::from_millis(20)));
    let lab = lab.with(|config| config.source("org", "\"{org}\"").source("max_concurrency", "3"));
    lab.run(&["fleet", "--orgs", &names, "--workers", "8", "-q"]).exits(0);
    assert_eq!(lab.server.highest_concurrency(), 3);
}

/// A killed fleet leaves whole bundles only, and a second start does the rest.
#[test]
fn a_killed_fleet_goes_on() {
    let (lab, names) = fleet(10, |host| host.latency(Duration::from_millis(50)));
    for signal in ["KILL", "TERM"] {
        let mut command = lab.command(&["fleet", "--orgs", &names, "--workers", "2"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        let finished = || {
            let folders = self::names(&lab.path("evidence-fleet"));
            folders.iter().filter(|name| has_bundle(&lab, name)).count()
        };
        let before = finished();
        while finished() < before + 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the fleet does not get on");
            std::thread::sleep(Duration::from_millis(5));
        }
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        assert!(!lab.path("evidence-fleet/fleet.json").exists(), "a list only of a fleet that ended");
    }
    let skipped = lab.run(&["fleet", "--orgs", &names]).exits(0);
    assert!(skipped.stderr.matches("was finished before").count() >= 4, "{}", skipped.stderr);
    assert_eq!(with_outcome(&list(&lab), "bundle").len(), 10);
    verified(&lab, &[]).exits(0);
}

fn has_bundle(lab: &Lab, organization: &str) -> bool {
    let folder = names(&lab.path(&format!("evidence-fleet/{organization}")));
    folder.iter().any(|name| name.ends_with(".tar.gz"))
}

#[test]
fn mistakes() {
    let (lab, _) = fleet(1, |host| host);
    lab.collect(&[]).exits(1).says("run `evidence fleet`, which fills it");
    lab.run(&["fleet", "--orgs", "a/b"]).exits(1).says("is not the name of an organization");
    lab.run(&["fleet", "--orgs", ","]).exits(1).says("name them: --orgs");
    lab.run(&["fleet"]).exits(1).says("a token does not say which organizations are meant");
    lab.run(&["fleet", "--orgs", "a", "--shard", "3/2"]).exits(1).says("write the number of the part");
    lab.run(&["fleet", "--orgs", "a", "--since", "yesterday"]).exits(1).says("neither a day nor a time");
    assert_eq!(lab.server.request_count(), 0);
    let lab = lab.with(|config| config.source("org", "org-00"));
    lab.run(&["fleet", "--orgs", "org-00"]).exits(1).says("has no {org}");
    // A token that is not accepted ends the fleet before anything is collected.
    let (lab, names) = fleet(3, |host| host);
    let lab = lab.env("CODEHOST_TOKEN", "ghp_SomebodyElsesTokenIsNotARealSecret01");
    lab.run(&["fleet", "--orgs", &names]).exits(2).says("Bad credentials");
    assert!(!lab.path("evidence-fleet").exists());
}

/// An app is a budget for each installation, and knows where it is installed.
#[test]
fn an_app_finds_its_organizations() {
    let granted = |id: u64, account: &str| {
        ["administration", "contents", "organization_administration"]
            .into_iter()
            .fold(Installation::new(id, account), |installation, name| installation.permission(name, "read"))
    };
    let app = App::new(12, "evidence-reader")
        .installed(granted(70, "org-00"))
        .installed(granted(71, "org-01").suspended("2026-10-01T00:00:00Z"))
        .installed(granted(72, "org-02"));
    let (lab, _) = fleet(4, |host| host.app(app));
    let lab = lab.without_env("CODEHOST_TOKEN").with(|config| {
        let config = config.source("org", "\"{org}\"").source("mode", "app").source("app_id", "12");
        config.source("private_key_path", "app.pem")
    });
    lab.write("app.pem", App::private_key());
    lab.set_mode("app.pem", 0o600);
    lab.run(&["fleet"]).exits(3).says("org-01: the app's installation is suspended since 2026-10-01");
    let rows = list(&lab);
    assert_eq!(with_outcome(&rows, "bundle"), ["org-00", "org-02"]);
    assert_eq!(with_outcome(&rows, "suspended"), ["org-01"]);
    let numbers: Vec<&Value> =
        rows["organizations"].as_array().unwrap().iter().map(|row| &row["installation_id"]).collect();
    assert_eq!(numbers, [70, 71, 72]);
    verified(&lab, &[]).exits(0);
    lab.run(&["fleet", "--orgs", "org-00,org-03"]).exits(2).says("org-03: the app is not installed there");
    assert_eq!(with_outcome(&list(&lab), "not_installed"), ["org-03"]);
    let lab = lab.with(|config| {
        let config = config.source("org", "\"{org}\"").source("mode", "app").source("app_id", "12");
        config.source("private_key_path", "app.pem").source("installation_id", "70")
    });
    lab.run(&["fleet"]).exits(1).says("remove sources.codehost.installation_id");
}
