//! `bulk: true` as a user sees it: the bundle, what it says about its requests, and that a verifier judges the same.

use sandbox::codehost::{File, Protection};
use sandbox::{Fault, FaultKind};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::common::{Bundle, Lab, acme, repository, sound};

const QUERIES: [&str; 2] = [
    include_str!("../../src/source/github/host/bulk/queries/branch_protection.graphql"),
    include_str!("../../src/source/github/host/bulk/queries/codeowners.graphql"),
];

/// One repository of each kind: `alpha` is tried first and read one by one.
fn lab() -> Lab {
    let weak = Protection::new().reviews(1).status_checks(["ci/build"]);
    let host = acme()
        .repository(sound("alpha"))
        .repository(sound("bravo"))
        .repository(repository("charlie").file("CODEOWNERS", File::text("* @acme/all\n")))
        .repository(repository("delta").protection("main", weak));
    Lab::new(host).with(|config| config.source("bulk", "true"))
}

/// The controls and checks. Of the requests they hold only the checksum.
fn judged(bundle: &Bundle) -> String {
    let observations = hex::encode(Sha256::digest(bundle.file("derived/observations.json").unwrap()));
    bundle.json("derived/normalized.json")["controls"].to_string().replace(&observations, "checksum")
}

fn verify(lab: &Lab, bundle: &Bundle) {
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
}

/// Method and path of every request for a kind of evidence about a subject.
fn requests(bundle: &Bundle, kind: &str, subject: &str) -> Vec<String> {
    let document = bundle.json("derived/observations.json");
    let rows = document["observations"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["kind"] == kind && row["subject"] == subject);
    let requests = rows.flat_map(|row| row["requests"].as_array().unwrap());
    requests
        .map(|request| {
            let path = request["path"].as_str().unwrap();
            let path = path.split_once("&page=").map_or(path, |(path, _)| path);
            format!("{} {path}", request["method"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn every_result_names_the_request_that_it_rests_on() {
    let lab = lab();
    let bundle = lab.collect(&[]).exits(0).bundle();
    verify(&lab, &bundle);
    let query = |name: &str, text: &str| {
        format!("POST /graphql?query={name}&sha256={}", hex::encode(Sha256::digest(text)))
    };
    let [protection, owners] = [query("branch-protection", QUERIES[0]), query("codeowners", QUERIES[1])];
    for (kind, subject, expected) in [
        ("branch_protection", "acme/alpha", vec!["GET /repos/acme/alpha/branches/main/protection"]),
        ("branch_protection", "acme/bravo", vec![protection.as_str()]),
        // A null proves nothing, and no rule does.
        ("branch_protection", "acme/charlie", vec!["GET /repos/acme/charlie/branches/main/protection"]),
        ("branch_rules", "acme/charlie", vec!["GET /repos/acme/charlie/rules/branches/main?per_page=100"]),
        ("branch_protection", "acme/delta", vec![protection.as_str()]),
        ("branch_rules", "acme/delta", vec!["GET /repos/acme/delta/rules/branches/main?per_page=100"]),
        ("codeowners", "acme/charlie", vec![owners.as_str()]),
        // Directories prove that there is no file.
        ("codeowners", "acme/delta", vec![owners.as_str()]),
    ] {
        assert_eq!(requests(&bundle, kind, subject), expected, "{kind} {subject}");
    }
    let run = bundle.json("run.json");
    let bulk = &run["sources"][0]["bulk"];
    assert_eq!((&bulk["queries"], &bulk["points"]), (&json!(2), &json!(2)), "{bulk}");
    std::fs::remove_file(&bundle.path).unwrap();
    let lab = lab.with(|config| config.source("bulk", "false"));
    let one_by_one = lab.collect(&[]).exits(0).bundle();
    assert_eq!(judged(&bundle), judged(&one_by_one));
    assert_eq!(one_by_one.json("run.json")["sources"][0].get("bulk"), None);
}

/// A refusal costs nothing but the requests: the exit code and the results are those of reading one by one.
#[test]
fn a_refusal_is_a_note() {
    let lab = lab();
    let refused = json!({"message": "Resource not accessible by personal access token"});
    lab.server
        .update(|host| host.add_fault(Fault::on("/graphql").kind(FaultKind::Json(403, Vec::new(), refused))));
    let bundle = lab.collect(&[]).exits(0).bundle();
    verify(&lab, &bundle);
    assert_eq!(bundle.warnings("acme"), ["bulk_unavailable"]);
    assert_eq!(
        requests(&bundle, "branch_protection", "acme/bravo"),
        ["GET /repos/acme/bravo/branches/main/protection"]
    );
}

/// Pages depend on what the host can take, so a reproducible run has none.
#[test]
fn a_reproducible_run_reads_one_by_one() {
    let lab = lab().env("SOURCE_DATE_EPOCH", "1795251913");
    lab.collect(&["--reproducible"]).exits(0);
    assert!(lab.server.requests().iter().all(|request| request.method == "GET"));
}
