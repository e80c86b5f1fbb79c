//! The bundle that the command writes: its contents, their order, and whether its counts agree.

use std::collections::BTreeSet;

use evidence_bundle::document::LACKING_REASONS;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use sandbox::codehost::{File, Repository};

use crate::common::{Bundle, Lab, acme, names, repository, sound, strong};
use crate::report::VIEWS;
use crate::validator::Validator;

/// The demo's organization: fourteen repositories that cover every case.
fn demo() -> Lab {
    Lab::new(sandbox::demo_organization()).env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN)
}

fn of_demo() -> Bundle {
    demo().collect(&["-q"]).exits(3).bundle()
}

#[test]
fn entries_and_their_order() {
    let bundle = of_demo();
    let paths = bundle.paths();
    assert_eq!(paths[..4], ["checksums.sha256", "signature.sig", "manifest.json", "run.json"]);
    assert!(paths[9..].is_sorted(), "{paths:#?}");
    assert_eq!(
        paths[4..9],
        [
            "derived/hints.json",
            "derived/normalized.json",
            "derived/observations.json",
            "derived/population.json",
            "derived/scope.json",
        ]
    );
    assert_eq!(paths[9..16], VIEWS);
    assert!(paths[16..].iter().all(|path| path.starts_with("sources/codehost/")), "{paths:#?}");
    insta::assert_snapshot!("entries", paths.join("\n"));
}

#[test]
fn the_list_and_the_manifest_name_every_entry() {
    let bundle = of_demo();
    let list: Vec<String> = bundle.entries[2..]
        .iter()
        .map(|(path, content)| format!("{}  {path}\n", hex::encode(Sha256::digest(content))))
        .collect();
    assert_eq!(bundle.file("checksums.sha256").unwrap(), list.concat().as_bytes());
    let manifest = bundle.manifest();
    let files: Vec<String> = manifest["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let path = file["path"].as_str().unwrap();
            assert_eq!(file["size"], bundle.file(path).unwrap().len(), "{path}");
            format!("{}  {path}\n", file["sha256"].as_str().unwrap())
        })
        .collect();
    assert_eq!(files, list[1..], "every entry but the list, the signature and the manifest itself");
}

#[test]
fn documents_validate_against_their_schemas() {
    let lab = demo();
    let bundle = lab.collect(&["-q"]).exits(3).bundle();
    for (of, path) in [
        ("manifest", "manifest.json"),
        ("run", "run.json"),
        ("normalized", "derived/normalized.json"),
        ("hints", "derived/hints.json"),
    ] {
        let schema: Value = serde_json::from_str(&lab.run(&["schema", of]).stdout).unwrap();
        assert_eq!(Validator::new(schema).validate(&bundle.json(path)), Ok(()), "{path}");
    }
}

#[test]
fn documents_have_the_form_of_the_format() {
    let bundle = of_demo();
    let time = regex::Regex::new(r#""[a-z_]+_at": "([^"]*)""#).unwrap();
    let rfc3339 = regex::Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$").unwrap();
    for (path, content) in bundle.entries.iter().filter(|(path, _)| path.ends_with(".json")) {
        let text = std::str::from_utf8(content).unwrap();
        assert!(text.ends_with("}\n") && !text.contains('\r') && !text.contains('\t'), "{path}");
        assert!(text.starts_with("{\n  \"") || text == "{}\n", "{path}: {text}");
        for found in time.captures_iter(text) {
            assert!(rfc3339.is_match(&found[1]), "{path}: {}", &found[0]);
        }
        assert_no_floats(&bundle.json(path), path);
    }
}

fn assert_no_floats(value: &Value, path: &str) {
    match value {
        Value::Number(number) => assert!(!number.is_f64(), "{path}: {number}"),
        Value::Array(items) => items.iter().for_each(|item| assert_no_floats(item, path)),
        Value::Object(fields) => fields.values().for_each(|field| assert_no_floats(field, path)),
        _ => {}
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {value:#}"))
}

fn length(value: &Value) -> u64 {
    value.as_array().unwrap().len() as u64
}

/// The counts that an auditor reconciles.
fn assert_numbers_agree(bundle: &Bundle, requests: u64) {
    let (manifest, normalized, source) =
        (bundle.manifest(), bundle.json("derived/normalized.json"), bundle.source());
    let sum: u64 = ["collected", "not_found", "denied", "failed", "excluded"]
        .iter()
        .map(|key| number(&source, key))
        .sum();
    assert_eq!(number(&source, "requested"), sum, "{source:#}");
    let excluded = length(&manifest["excluded"]);
    let artifacts = bundle.paths().iter().filter(|path| path.starts_with("sources/")).count() as u64;
    assert_eq!(length(&manifest["artifacts"]), artifacts);
    assert_eq!((number(&source, "collected"), number(&source, "excluded")), (artifacts, excluded));
    assert_eq!(number(&source, "failed"), length(&manifest["errors"]));
    assert_eq!(number(&source, "requests"), requests, "requests as the host counted them");
    assert_eq!(length(&manifest["files"]), bundle.entries.len() as u64 - 3);
    // The summary counts the checks, and every check has evidence.
    let mut counts = std::collections::BTreeMap::new();
    let mut lacking = false;
    for control in normalized["controls"].as_array().unwrap() {
        for check in control["checks"].as_array().unwrap() {
            *counts.entry(check["status"].as_str().unwrap().to_string()).or_insert(0) += 1;
            lacking |= LACKING_REASONS.contains(&check["reason"].as_str().unwrap());
            assert!(length(&check["evidence"]) > 0, "{check:#}");
        }
    }
    assert_eq!(manifest["complete"], excluded == 0 && number(&source, "failed") == 0 && !lacking);
    for status in ["pass", "fail", "not_verifiable", "not_applicable"] {
        let counted = counts.get(status).copied().unwrap_or(0);
        assert_eq!(number(&normalized["summary"]["checks"], status), counted, "{status}");
    }
    // The bundle contains every referenced file with this checksum, and every artifact is referenced.
    let mut referred = BTreeSet::new();
    for reference in references(&normalized).into_iter().chain(references(&bundle.json("derived/hints.json")))
    {
        let (filename, checksum) = reference;
        let content = bundle.file(&filename).unwrap_or_else(|| panic!("no {filename}"));
        assert_eq!(checksum, hex::encode(Sha256::digest(content)), "{filename}");
        referred.insert(filename);
    }
    for artifact in manifest["artifacts"].as_array().unwrap() {
        let filename = artifact["filename"].as_str().unwrap();
        assert!(referred.contains(filename), "{filename} is evidence of nothing");
        let content = bundle.file(filename).unwrap();
        assert_eq!(artifact["checksum"], hex::encode(Sha256::digest(content)));
        assert_eq!(artifact["size_bytes"], content.len());
        assert_eq!(artifact["source"], "codehost");
    }
}

/// Every `{filename, checksum}` in a document.
fn references(value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(fields) => match (fields.get("filename"), fields.get("checksum")) {
            (Some(Value::String(filename)), Some(Value::String(checksum))) => {
                vec![(filename.clone(), checksum.clone())]
            }
            _ => fields.values().flat_map(references).collect(),
        },
        _ => Vec::new(),
    }
}

#[test]
fn numbers_agree() {
    let lab = demo();
    let bundle = lab.collect(&["-q"]).exits(3).bundle();
    assert_numbers_agree(&bundle, lab.server.request_count());
    let source = bundle.source();
    assert_eq!((number(&source, "discovered"), number(&source, "in_scope")), (14, 14));
    assert_eq!(number(&source, "requested"), 36);
    assert_eq!(number(&source, "retries"), 2, "the mobile app's bad minute");
}

#[test]
fn numbers_agree_in_a_partial_bundle() {
    let host = acme().repository(sound("web")).repository(repository("bare"));
    let lab = Lab::new(host)
        .with(|config| config.source("repos", "[acme/web, acme/bare, acme/nowhere, acme/elsewhere]"));
    let bundle = lab.collect(&["-q"]).exits(3).bundle();
    assert_numbers_agree(&bundle, lab.server.request_count());
    let source = bundle.source();
    assert_eq!((number(&source, "discovered"), number(&source, "in_scope")), (0, 4));
    assert_eq!((number(&source, "requested"), number(&source, "failed")), (10, 4));
}

#[test]
fn the_manifest_says_what_the_run_was() {
    let lab = demo();
    let bundle = lab.collect(&["--quiet"]).exits(3).bundle();
    let (manifest, run) = (bundle.manifest(), bundle.json("run.json"));
    assert_eq!(manifest["bundle_version"], "1.0");
    assert_eq!(manifest["tool_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["framework"], "soc2_type1");
    assert_eq!(manifest["controls"], serde_json::json!(["CC6.1", "CC6.6", "CC7.2"]));
    assert_eq!(manifest["sources"], serde_json::json!([{"id": "codehost", "kind": "codehost"}]));
    assert_eq!(manifest["organization"], "acme");
    assert_eq!(manifest["signer"]["algorithm"].as_str().unwrap().to_lowercase(), "ed25519");
    let name = bundle.path.file_name().unwrap().to_string_lossy().into_owned();
    let stamp: String =
        manifest["created_at"].as_str().unwrap().chars().filter(char::is_ascii_digit).collect();
    assert_eq!(name, format!("evidence-bundle-{}-{}.tar.gz", &stamp[..8], &stamp[8..]));
    assert_eq!(run["tool"]["name"], "evidence");
    assert_eq!(run["command"][1], "collect");
    assert_eq!(run["command"][2], "--quiet");
    let config = std::fs::read(lab.path("evidence.yaml")).unwrap();
    assert_eq!(run["config"]["file_sha256"], hex::encode(Sha256::digest(config)));
    assert_eq!(run["sources"][0]["api_url"], lab.server.url());
    let time = |name: &str| run[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
    assert_eq!(run["duration_seconds"], time("completed_at") - time("started_at"));
}

#[test]
fn hints_are_most_severe_first() {
    let hints = of_demo().json("derived/hints.json");
    let severities: Vec<usize> = hints["hints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| {
            let order = ["critical", "high", "medium", "low", "info"];
            order.iter().position(|known| hint["severity"] == *known).unwrap()
        })
        .collect();
    assert!(severities.len() > 10 && severities.is_sorted(), "{severities:?}");
    let lines: Vec<String> = hints["hints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| {
            let text = |key: &str| hint[key].as_str().unwrap().to_string();
            assert!(!text("remediation").is_empty() && !text("title").is_empty());
            format!(
                "{} {} {}: {}: {}",
                text("severity"),
                text("category"),
                text("subject"),
                text("title"),
                text("detail")
            )
        })
        .collect();
    insta::assert_snapshot!("hints", lines.join("\n"));
}

#[test]
fn checks_of_the_demo() {
    let normalized = of_demo().json("derived/normalized.json");
    let mut lines = Vec::new();
    for control in normalized["controls"].as_array().unwrap() {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or("-").to_string();
        lines.push(format!(
            "{} {} {}",
            text(control, "id"),
            text(control, "status"),
            text(control, "reason")
        ));
        for check in control["checks"].as_array().unwrap() {
            lines.push(format!(
                "  {} {} {}: {}",
                text(check, "subject"),
                text(check, "status"),
                text(check, "reason"),
                text(check, "actual")
            ));
        }
    }
    insta::assert_snapshot!("checks", lines.join("\n"));
}

#[test]
fn a_name_that_is_taken_is_never_overwritten() {
    let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", "1795251913");
    for number in 1..=3 {
        // Otherwise all runs would make the same bundle.
        lab.server.update(|host| host.put_repository(sound(&format!("web-{number}"))));
        lab.collect(&["-q", "--reproducible"]).exits(0);
        assert_eq!(lab.output().len(), number);
    }
    assert_eq!(
        lab.output(),
        [
            "evidence-bundle-20261121-090513.tar.gz",
            "evidence-bundle-20261121-090514.tar.gz",
            "evidence-bundle-20261121-090515.tar.gz"
        ]
    );
    for name in lab.output() {
        let bundle = Bundle::open(&lab.path("evidence-bundles").join(&name));
        let created = bundle.manifest()["created_at"].as_str().unwrap().to_string();
        let stamp: String = created.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(name, format!("evidence-bundle-{}-{}.tar.gz", &stamp[..8], &stamp[8..]));
    }
}

#[test]
fn a_time_that_cannot_be_fixed_is_refused() {
    let lab = || Lab::new(acme().repository(sound("web")));
    for value in ["yesterday", "-1", "1.5", "+", " 1", "8589934592", "99999999999999999999"] {
        let lab = lab().env("SOURCE_DATE_EPOCH", value);
        lab.collect(&["--reproducible"]).exits(1).says("not a number of seconds since 1970").leaves_nothing();
        assert!(lab.requested().is_empty(), "{value}");
    }
    lab().collect(&["--reproducible"]).exits(1).says("SOURCE_DATE_EPOCH, which is not set").leaves_nothing();
    let lab = lab().env("SOURCE_DATE_EPOCH", "").with(|config| config.source("revalidate", "true"));
    lab.collect(&["--reproducible"]).exits(1).says("SOURCE_DATE_EPOCH, which is not set").leaves_nothing();
    let lab = lab.env("SOURCE_DATE_EPOCH", "1795251913");
    lab.collect(&["--reproducible", "--resume"])
        .exits(1)
        .says("--resume cannot be combined")
        .leaves_nothing();
}

/// Without the flag, the tool ignores the variable, whatever its value.
#[test]
fn the_variable_alone_changes_nothing() {
    for value in ["1795251913", "0", "yesterday"] {
        let lab = Lab::new(acme().repository(sound("web"))).env("SOURCE_DATE_EPOCH", value);
        let before = jiff::Timestamp::now().as_second();
        let bundle = lab.collect(&[]).exits(0).says_not("SOURCE_DATE_EPOCH").bundle();
        let manifest = bundle.manifest();
        let created: jiff::Timestamp = manifest["created_at"].as_str().unwrap().parse().unwrap();
        assert!((before..=jiff::Timestamp::now().as_second()).contains(&created.as_second()), "{created}");
        assert!(!bundle.json("run.json").as_object().unwrap().contains_key("source_date_epoch"));
        assert_eq!(manifest["warnings"].as_array().unwrap().len(), 0, "{manifest}");
    }
}

/// Settings that the host sends but that are not evidence.
#[test]
fn forbidden_fields_never_appear() {
    let web = |name: &str| -> Repository {
        let actors = sandbox::codehost::Actors::new().user("olivia-owner").team("core").app("deploy");
        sound(name).private(true).protection(
            "main",
            strong()
                .dismissal_restrictions(actors.clone())
                .bypass_allowances(actors.clone())
                .restrictions(actors),
        )
    };
    let lab = Lab::new(acme().repository(web("api")).repository(web("web").archived(true)));
    // The host sends these settings.
    let bundle = lab.collect(&[]).exits(0).bundle();
    for (path, content) in &bundle.entries {
        let text = String::from_utf8_lossy(content);
        for field in [
            "download_url",
            "temp_clone_token",
            "avatar_url",
            "gravatar",
            "email",
            "?token=",
            "html_url",
            "git_url",
            "_links",
            "clone_url",
            "ssh_url",
            "billing",
            "private_gists",
            "Authorization",
        ] {
            assert!(!text.contains(field), "{field} is in {path}");
        }
    }
}

/// The order of results does not depend on the order of answers.
#[test]
fn the_order_is_the_specifications_whatever_answers_first() {
    use sandbox::codehost::{Fault, FaultKind};
    let mut host = acme();
    for name in ["a", "b", "c", "d", "e"] {
        host = host.repository(sound(name));
    }
    // The first answers are the slowest.
    for name in ["a", "b"] {
        let slow = FaultKind::SlowBody { bytes_per_second: 2_000 };
        host = host.fault(Fault::on(format!("/repos/acme/{name}/branches/main/protection")).kind(slow));
    }
    let run = Lab::new(host).collect(&["--verbose"]).exits(0);
    let files: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.contains(" file "))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("sources/")))
        .collect();
    let protection = |name: &str| format!("sources/codehost/repo_acme_{name}_branch_protection.json");
    let owners = |name: &str| format!("sources/codehost/repo_acme_{name}_codeowners.json");
    let mut expected = vec!["sources/codehost/org_settings.json".to_string()];
    expected.extend(["a", "b", "c", "d", "e"].map(protection));
    expected.extend(["a", "b", "c", "d", "e"].map(owners));
    assert_eq!(files, expected);
}

/// A run leaves no temporary files.
#[test]
fn the_output_directory_holds_bundles_only() {
    let lab = Lab::new(acme().repository(sound("web").file("x", File::text("y"))));
    lab.collect(&[]).exits(0);
    lab.collect(&[]).exits(0);
    let left = names(&lab.path("evidence-bundles"));
    assert_eq!(left.len(), 2);
    assert!(
        left.iter().all(|name| name.starts_with("evidence-bundle-") && name.ends_with(".tar.gz")),
        "{left:?}"
    );
}
