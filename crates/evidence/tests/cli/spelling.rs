//! Names in documents, subjects and files: spelled as on the host, and escaped only where a file name requires it.

use sandbox::codehost::{CodeHost, Organization, Repository, Token};
use serde_json::Value;

use crate::common::{Bundle, Lab, TOKEN, acme, sound};

/// Every subject in the documents.
fn subjects(bundle: &Bundle) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("subject").and_then(Value::as_str).map(str::to_string));
                fields.values().for_each(|value| walk(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for document in ["manifest.json", "derived/normalized.json", "derived/hints.json"] {
        walk(&bundle.json(document), &mut found);
    }
    found
}

#[test]
fn the_organization_is_spelled_as_the_host_spells_it() {
    // One repository lacks everything, so warnings and hints also have subjects.
    let host = || {
        CodeHost::new()
            .organization(Organization::new("AcMe").two_factor(true))
            .token(Token::classic(TOKEN).login("olivia-owner").scopes(["read:org"]).sees_private(true))
            .repository(Repository::new("AcMe", "bare"))
    };
    for (org, repos) in [("acme", "\"*\""), ("ACME", "\"*\""), ("AcMe", "\"*\""), ("acme", "[ACME/bare]")] {
        let lab = Lab::new(host()).with(|config| config.source("org", org).source("repos", repos));
        let bundle = lab.collect(&["-q"]).exits(0).bundle();
        let manifest = bundle.manifest();
        assert_eq!(manifest["organization"], "AcMe", "{org} {repos}");
        let codes: Vec<&Value> =
            manifest["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert!(!codes.iter().any(|code| *code == "organization_name_differs"), "{org}: {codes:?}");
        let subjects = subjects(&bundle);
        assert!(subjects.iter().any(|subject| subject == "AcMe/bare"), "{org}: {subjects:?}");
        assert!(subjects.iter().all(|subject| subject.starts_with("AcMe")), "{org}: {subjects:?}");
        for path in bundle.paths().iter().filter(|path| path.contains("repo_")) {
            assert!(path.contains("/repo_AcMe_bare_"), "{org}: {path}");
        }
        let path = format!("evidence-bundles/{}", lab.output()[0]);
        for (expected, code) in [("acme", 0), ("ACME", 0), ("AcMe", 0), ("acme2", 7)] {
            lab.run(&["verify", &path, "-k", "key.pub.pem", "--expect-org", expected]).exits(code);
        }
    }
}

/// A host that answers for another organization: its settings are not evidence about the configured one.
#[test]
fn another_name_is_refused() {
    use sandbox::codehost::{Fault, FaultKind};
    let renamed = Fault::on("/orgs/acme").kind(FaultKind::Redirect("/orgs/other".to_string()));
    let host = acme().organization(Organization::new("other").two_factor(true));
    let host = host.repository(sound("web")).fault(renamed);
    Lab::new(host).collect(&[]).exits(2).says("the answer is about other instead of acme");
}

/// Windows reserves these names only as a whole path component.
#[test]
fn names_of_devices_need_no_escape_inside_a_component() {
    let names = ["con", "nul.json", "COM1", "a..b", "aux_codeowners"];
    let host = names.iter().fold(acme(), |host, name| host.repository(sound(name)));
    let bundle = Lab::new(host).collect(&["-q"]).exits(0).bundle();
    for name in names {
        for kind in ["branch_protection", "codeowners"] {
            let path = format!("sources/codehost/repo_acme_{name}_{kind}.json");
            assert!(bundle.file(&path).is_some(), "{path} is not in {:?}", bundle.paths());
        }
    }
}
