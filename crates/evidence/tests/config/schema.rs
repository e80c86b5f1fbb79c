//! The published schema against the decoder: the same keys, the same defaults, and the same verdicts where a schema can
//! express them.

use std::collections::BTreeSet;

use evidence::config::{reference, schema, template};
use serde_json::{Value, json};

use super::validator::Validator;
use super::{MINIMAL, fixtures, load, refuse};

/// Fixtures that only the decoder rejects: a schema cannot express the rule, or the file is not YAML.
const DECODER_ONLY: &[&str] = &[
    // A control of another framework.
    "controls-unknown",
    "cloud-control-not-served",
    "altcloud-admin",
    "altcloud-customer",
    "altcloud-domain",
    "altcloud-domains-repeated",
    "altcloud-sign-jwt-keys-with-a-file",
    "altcloud-sign-jwt-without-account",
    "branch-dots",
    "branch-ref",
    "cloud-accounts-repeated",
    "cloud-command-missing",
    "cloud-command-without-mode",
    "cloud-external-id",
    "cloud-external-id-without-role",
    "cloud-key-pasted",
    "cloud-log-group-star-inside",
    "cloud-region",
    "cloud-region-unknown-partition",
    "cloud-regions-of-two-partitions",
    "cloud-role-arn",
    "cloud-role-missing",
    "cloud-role-without-mode",
    "include-with-list",
    "mode-app",
    "mode-app-twice",
    "mode-token-with-app",
    "cloud-trail",
    "key-other-home",
    "org-dots",
    "repos-dots",
    "repos-other-organization",
    "repos-repeated",
    "source-serves-nothing",
    "tag-unknown",
    "token-as-branch",
    "token-env-token",
    "url-http-lookalike",
];

fn validator() -> Validator {
    Validator::new(schema())
}

/// The file as an editor's YAML support passes it to the schema; `None` if it is not YAML.
fn as_json(text: &str) -> Option<Value> {
    // The booleans of YAML 1.2, as in the tool and in editors.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).ok()
}

/// Every key as a dotted path, with its part of the schema.
fn keys(schema: &Value, path: &str) -> Vec<(String, Value)> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (name, below) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.extend(keys(below, &path));
        found.push((path, below.clone()));
    }
    found
}

/// The complete fixture with one key set to a value, or removed.
fn with(path: &str, value: Option<&Value>) -> String {
    let mut file = as_json(include_str!("valid/complete.yaml")).unwrap();
    if path.starts_with("sources.codehost.include.") {
        file["sources"]["codehost"]["include"] = json!({"archived": false});
    }
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut parent = &mut file;
    for step in parents.split('.').filter(|step| !step.is_empty()) {
        parent = &mut parent[step];
    }
    let parent = parent.as_object_mut().unwrap_or_else(|| panic!("valid/complete.yaml has no {parents}"));
    match value {
        Some(value) => drop(parent.insert(name.to_owned(), value.clone())),
        None => drop(parent.remove(name)),
    }
    // Exactly one of the two is allowed.
    if name == "private_key_path" && value.is_some() {
        parent.remove("private_key_env");
    }
    // Only the mode that assumes a role accepts one.
    if path == "sources.cloud.mode" && value == Some(&json!("env")) {
        ["role_arn", "external_id", "session_duration"].iter().for_each(|key| drop(parent.remove(*key)));
    }
    // The first framework has no choice of rules.
    if parents == "rules" && value.is_some_and(|value| value.as_array().is_some_and(|list| !list.is_empty()))
    {
        (file["framework"], file["controls"]) = (json!("tsc_2017"), json!("*"));
        let sources = file["sources"].as_object_mut().unwrap();
        sources.values_mut().for_each(|source| drop(source.as_object_mut().unwrap().remove("controls")));
    }
    // Only all repositories can be filtered.
    if path.starts_with("sources.codehost.include") && value.is_some() {
        file["sources"]["codehost"]["repos"] = json!("*");
    }
    // Only one mode runs a program.
    if path == "sources.cloud.credentials_command" && value.is_some() {
        file["sources"]["cloud"]["mode"] = json!("command");
    }
    // The file's content is instead of its path.
    if path == "sources.altcloud.credentials_json_env" && value.is_some() {
        file["sources"]["altcloud"].as_object_mut().unwrap().remove("credentials_env");
    }
    // Only without a key file does the configuration name the account and the addresses.
    let keyless = ["service_account", "iam_url", "token_uri"].map(|key| format!("sources.altcloud.{key}"));
    let is_keyless = keyless.iter().any(|key| key == path);
    if is_keyless || (path == "sources.altcloud.mode" && value == Some(&json!("sign_jwt"))) {
        let source = file["sources"]["altcloud"].as_object_mut().unwrap();
        source.insert("mode".to_owned(), json!("sign_jwt"));
        source.entry("service_account").or_insert_with(|| json!("reader@acme.example"));
    }
    // An app is named and signs in one way, and has no token.
    let of_app = ["app_id", "client_id", "private_key_path", "private_key_env", "installation_id"];
    let key = path.strip_prefix("sources.codehost.").filter(|key| of_app.contains(key) && value.is_some());
    if let Some(key) = key {
        let host = file["sources"]["codehost"].as_object_mut().unwrap();
        host.insert("mode".to_owned(), json!("app"));
        host.remove("token_env");
        if !key.ends_with("app_id") && key != "client_id" {
            host.insert("app_id".to_owned(), json!(1));
        }
        if !key.starts_with("private_key") {
            host.insert("private_key_path".to_owned(), json!("app.pem"));
        }
    }
    // JSON is YAML.
    file.to_string()
}

#[test]
fn what_the_decoder_accepts_the_schema_accepts() {
    let validator = validator();
    let mut files = fixtures("valid");
    files.push(("template".to_owned(), template("soc2_type1", "acme", "key.pem").into_bytes()));
    for (name, bytes) in files {
        assert!(load(&bytes).is_ok(), "{name}");
        // The anchors fixture uses merges. Editors expand them before validation, and so does the library.
        let value = as_json(std::str::from_utf8(&bytes).unwrap()).unwrap();
        validator.validate(&value).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn what_the_schema_refuses_the_decoder_refuses() {
    let validator = validator();
    let mut unsaid = Vec::new();
    for (name, bytes) in fixtures("invalid") {
        refuse(&bytes);
        // A file that is not YAML never reaches the schema.
        let Some(value) = as_json(std::str::from_utf8(&bytes).unwrap()) else { continue };
        if validator.validate(&value).is_ok() {
            unsaid.push(name);
        }
    }
    let stale: Vec<_> =
        DECODER_ONLY.iter().filter(|name| !unsaid.iter().any(|other| other == *name)).collect();
    assert!(stale.is_empty(), "the schema refuses {stale:?} too");
    unsaid.retain(|name| !DECODER_ONLY.contains(&name.as_str()));
    assert!(unsaid.is_empty(), "the schema accepts {unsaid:?}");
}

#[test]
fn every_key_of_the_schema_is_one_the_decoder_reads() {
    for (path, key) in keys(&schema(), "") {
        // A value that no key accepts: the decoder must report this key.
        let wrong = json!([[1]]);
        let error = refuse(with(&path, Some(&wrong)));
        assert!(
            error
                .problems
                .iter()
                .any(|problem| problem.key == path || problem.key.starts_with(&format!("{path}["))),
            "{path} is not read: {error:?}"
        );
        assert!(!key["description"].as_str().unwrap().is_empty(), "{path} has no description");
    }
}

#[test]
fn every_key_the_decoder_knows_is_in_the_schema() {
    // For an unknown key, the decoder lists the section's keys.
    let keys: Vec<String> = keys(&schema(), "").into_iter().map(|(path, _)| path).collect();
    for section in [
        "",
        "sources",
        "sources.codehost",
        "sources.cloud",
        "sources.altcloud",
        "bundle",
        "bundle.signing",
        "upload",
        "notify",
    ] {
        let unknown = if section.is_empty() { "zzzzzzzz".to_owned() } else { format!("{section}.zzzzzzzz") };
        let error = refuse(with(&unknown, Some(&json!(1))));
        let help =
            error.problems.iter().find(|problem| problem.key == unknown).unwrap().help.clone().unwrap();
        let known: BTreeSet<&str> = help.split('`').skip(1).step_by(2).collect();
        let prefix = if section.is_empty() { String::new() } else { format!("{section}.") };
        let in_schema: BTreeSet<&str> = keys
            .iter()
            .filter_map(|key| key.strip_prefix(&prefix))
            .filter(|rest| !rest.contains('.'))
            .collect();
        assert_eq!(known, in_schema, "{section}");
    }
}

/// Lists of sections, whose keys have no dotted path.
#[test]
fn every_key_of_a_listed_section_is_in_the_schema_and_in_the_reference() {
    let schema = schema();
    let listed = &schema["properties"]["sources"]["properties"]["cloud"]["properties"]["accounts"]["anyOf"]
        [0]["items"];
    let in_schema: BTreeSet<&str> =
        listed["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let error = refuse(with("sources.cloud.accounts", Some(&json!([{ "zzzzzzzz": 1 }]))));
    let unknown = error.problems.iter().find(|problem| problem.key == "sources.cloud.accounts[0].zzzzzzzz");
    let help = unknown.unwrap().help.clone().unwrap();
    let known: BTreeSet<&str> = help.split('`').skip(1).step_by(2).collect();
    assert_eq!(known, in_schema);
    let reference = reference();
    let section =
        reference.split("### `sources.cloud.accounts[]`").nth(1).unwrap().split("###").next().unwrap();
    for key in known {
        assert!(section.contains(&format!("| `{key}` |")), "{key}");
    }
}

#[test]
fn leaving_a_key_out_is_the_same_as_its_default() {
    let mut tried = 0;
    for (path, key) in keys(&schema(), "") {
        let Some(default) = key.get("default") else { continue };
        let spelled_out = super::accept(with(&path, Some(default)));
        let left_out = super::accept(with(&path, None));
        let comparable = |config: evidence::config::Config| {
            let evidence::config::Config {
                path: _,
                file_sha256: _,
                prepared_by,
                cadence,
                waivers,
                framework,
                controls,
                choice,
                settings,
                sources,
                bundle,
                upload,
                notify,
                people,
            } = config;
            format!(
                "{prepared_by:?} {cadence:?} {waivers:?} {people:?} {framework:?} {controls:?} {choice:?} {settings:?} {sources:?} {bundle:?} {upload:?} {notify:?}"
            )
        };
        assert_eq!(comparable(spelled_out), comparable(left_out), "{path}");
        tried += 1;
    }
    assert!(tried >= 14, "only {tried} defaults");
}

#[test]
fn every_example_is_valid() {
    let validator = validator();
    for (path, key) in keys(&schema(), "") {
        let Some(examples) = key.get("examples").and_then(Value::as_array) else {
            assert_eq!(key["type"], "object", "{path} has no example");
            continue;
        };
        for example in examples {
            let text = with(&path, Some(example)).replace("\"Acme\"", "\"acme\"");
            assert!(load(&text).is_ok(), "{path}: {}", load(&text).unwrap_err().render(false));
            let verdict = validator.validate(&as_json(&text).unwrap());
            verdict.unwrap_or_else(|error| panic!("{path}: {example}: {error}"));
        }
    }
}

#[test]
fn every_key_is_in_the_template_and_in_the_reference() {
    let (template, reference) = (template("soc2_type1", "acme", "key.pem"), reference());
    for (path, _) in keys(&schema(), "") {
        let name = path.rsplit('.').next().unwrap();
        assert!(template.contains(&format!("{name}:")), "{path} is not in the template");
        assert!(reference.contains(&format!("| `{name}` |")), "{path} is not in the reference");
    }
}

#[test]
fn the_schema_has_no_address_and_names_itself() {
    let schema = schema();
    assert_eq!(schema["title"], "evidence configuration");
    assert!(schema.get("$id").is_none());
    assert_eq!(validator().validate(&as_json(MINIMAL).unwrap()), Ok(()));
}
