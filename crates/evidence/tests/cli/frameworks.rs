//! What each framework asks of the hosts and puts into a bundle.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::common::Bundle;
use super::reproducible::{archive, company, open};
use super::several_sources::Company;

/// The requests of a run, without those of its order.
fn requests(company: &Company) -> Vec<String> {
    let mut all: Vec<String> = company
        .lab
        .server
        .requests()
        .iter()
        .map(|request| format!("codehost {} {}", request.method, request.path_and_query))
        .chain(company.cloud.requests().iter().map(|request| {
            let region = request.region.as_deref().unwrap_or("-");
            format!("cloud {} {region}", request.action.as_deref().unwrap_or("-"))
        }))
        .chain(
            company
                .workspace
                .requests()
                .iter()
                .map(|request| format!("altcloud {} {}", request.method, request.path_and_query)),
        )
        .collect();
    all.sort();
    all
}

/// A text without what differs from run to run: the ports of the hosts, and digests over them.
fn stable(text: &str) -> String {
    let ports = regex::Regex::new(r"127\.0\.0\.1:[0-9]+").unwrap();
    let digests = regex::Regex::new(r"[0-9a-f]{64}").unwrap();
    digests.replace_all(&ports.replace_all(text, "HOST"), "DIGEST").into_owned()
}

/// The signed facts and judgements: each file with the digest of its stable text.
fn files(bundle: &Bundle) -> Vec<String> {
    let is_signed_fact = |path: &&str| {
        path.starts_with("sources/") || (path.starts_with("derived/") && path.ends_with(".json"))
    };
    let mut paths: Vec<&str> = bundle.paths().into_iter().filter(is_signed_fact).collect();
    paths.sort_unstable();
    let line = |path: &str| {
        let text = stable(&String::from_utf8_lossy(bundle.file(path).unwrap()));
        format!("{} {path}", &hex::encode(Sha256::digest(text))[..16])
    };
    paths.into_iter().map(line).collect()
}

/// The first framework is what the specification demands: no rule, request or byte of evidence is added to it or changed
/// by rules that it does not have.
#[test]
fn the_first_framework_stays_what_it_is() {
    let company = company();
    let bundle = open(&archive(&company, &super::reproducible::PLAIN).unwrap());
    let scope = bundle.json("derived/scope.json");
    let rules = scope["rules"].as_array().unwrap().iter().map(|rule| {
        let text = |key: &str| rule[key].as_str().unwrap().to_string();
        format!("{} {} version {}", text("control"), text("code"), rule["version"])
    });
    let mut of_artifacts = BTreeMap::new();
    for artifact in bundle.json("manifest.json")["artifacts"].as_array().unwrap() {
        let text = artifact["artifact_type"].as_str().unwrap().to_string();
        of_artifacts.insert(text, artifact["controls"].to_string());
    }
    let kinds = of_artifacts.into_iter().map(|(kind, controls)| format!("{kind} {controls}"));
    let parts = [
        rules.collect::<Vec<_>>().join("\n"),
        kinds.collect::<Vec<_>>().join("\n"),
        files(&bundle).join("\n"),
        requests(&company).join("\n"),
    ];
    insta::assert_snapshot!("first_framework", parts.join("\n\n"));
}
