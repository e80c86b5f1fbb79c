//! Writes signed bundles that are valid and hostile: as much as possible of one thing each. For measurements of memory and
//! of the size of pages: `cargo run -p evidence-bundle --example bombs -- DIRECTORY [ROWS]`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;

use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE};
use serde_json::{Value, json};
use support::{File, bundle, key, small_files, with_manifest};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().expect("a directory");
    let rows: usize = arguments.next().map_or(300_000, |rows| rows.parse().unwrap());
    let directory = Path::new(&directory);
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("key.pub.pem"), key().public_key().to_spki_pem()).unwrap();
    let save = |name: &str, files: Vec<File>| {
        fs::write(directory.join(format!("{name}.tar.gz")), bundle(&files)).unwrap();
        println!("{name}: {} bytes of documents", files.iter().map(|(_, file)| file.len()).sum::<usize>());
    };
    save("reasons", checks(rows, |check, n| check["reason"] = json!(format!("reason_{n}"))));
    save("rules", checks(rows, |check, n| check["rule"] = json!(format!("rule_{n}"))));
    save(
        "reasons-allowed",
        checks(rows, |check, n| check["reason"] = json!(format!("reason_{}", n % 4_000))),
    );
    save("subjects", checks(rows, |check, n| check["subject"] = json!(format!("acme/{n}"))));
    save(
        "long-actual",
        checks(rows.min(60_000), |check, n| {
            check["subject"] = json!(format!("acme/{n}"));
            check["actual"] = json!("<&>\"'".repeat(400));
        }),
    );
    let long = "<".repeat(1 << 20);
    save("long-texts", checks(200, |check, n| check["actual"] = json!(format!("{n}{long}"))));
    save("text-16-mib", checks(1, |check, _| check["actual"] = json!("a".repeat(16 << 20))));
    save("warnings", manifest(|m| m["warnings"] = (0..rows).map(|n| warning(n, "m")).collect()));
    save("long-warnings", manifest(|m| m["warnings"] = (0..300).map(|n| warning(n, &long)).collect()));
    save("sources", manifest(|m| m["sources"] = (0..rows).map(|n| json!(format!("s{n}"))).collect()));
    save("controls", manifest(|m| m["controls"] = (0..rows).map(|n| json!(format!("c{n}"))).collect()));
    save("hints", document(HINTS, |h| h["hints"] = (0..rows).map(|n| hint(n, "r")).collect()));
    save("long-hints", document(HINTS, |h| h["hints"] = (0..200).map(|n| hint(n, &long)).collect()));
    save(
        "requests",
        document(OBSERVATIONS, |o| {
            let request = o["observations"][0]["requests"][0].clone();
            o["observations"][0]["requests"] = vec![request; 20_000].into();
        }),
    );
    save(
        "many-requests",
        document(OBSERVATIONS, |o| {
            let request = o["observations"][0]["requests"][0].clone();
            o["observations"][0]["requests"] = vec![request; rows].into();
        }),
    );
    save("kinds", members(rows, |member, n| member["kind"] = json!(format!("kind_{n}"))));
    save("members", members(rows, |member, n| member["name"] = json!(format!("acme/{n}"))));
    save(
        "criteria",
        document(NORMALIZED, |n| {
            let criteria = &mut n["controls"][0]["criteria"];
            (0..rows).for_each(|number| criteria[format!("rule_{number}")] = json!(["CC1.1"]));
        }),
    );
    save(
        "criteria-of-a-rule",
        document(NORMALIZED, |n| {
            let list: Value = (0..rows).map(|number| json!(number.to_string())).collect();
            n["controls"][0]["criteria"]["two-factor-required"] = list;
        }),
    );
    save(
        "rules-of-the-scope",
        document(SCOPE, |s| {
            let rule = s["rules"][0].clone();
            s["rules"].as_array_mut().unwrap().extend(vec![rule; 30_000]);
        }),
    );
    save(
        "settings",
        document(SCOPE, |s| s["sources"][0]["settings"]["x"] = (0..rows).map(|n| json!(n)).collect()),
    );
    save(
        "nested-settings",
        document(SCOPE, |s| s["sources"][0]["settings"]["x"] = vec![json!([]); 1_000_000].into()),
    );
    save("command", document(RUN, |r| r["command"] = vec![json!(""); 1_000_000].into()));
    save("honest", honest(rows));
}

/// A bundle with one document changed before the manifest was made.
fn document(path: &str, change: impl FnOnce(&mut Value)) -> Vec<File> {
    let mut files = small_files().split_off(1);
    let (_, contents) = files.iter_mut().find(|(name, _)| name == path).unwrap();
    let mut document = serde_json::from_slice(contents).unwrap();
    change(&mut document);
    *contents = written(&document);
    with_manifest(files, &key())
}

/// The document as the tool writes it: the checks of a control come after its other fields, and readers that keep
/// nothing rely on that.
fn written(document: &Value) -> Vec<u8> {
    let Some(controls) = document["controls"].as_array() else {
        return serde_json::to_vec(document).unwrap();
    };
    let mut rest = document.as_object().unwrap().clone();
    rest.remove("controls");
    let controls = controls.iter().map(|control| {
        let mut head = control.as_object().unwrap().clone();
        let checks = head.remove("checks").unwrap();
        let head = Value::Object(head).to_string();
        format!("{},\"checks\":{checks}}}", head.strip_suffix('}').unwrap())
    });
    let controls: Vec<String> = controls.collect();
    let rest = Value::Object(rest).to_string();
    format!("{},\"controls\":[{}]}}", rest.strip_suffix('}').unwrap(), controls.join(",")).into_bytes()
}

fn manifest(change: impl FnOnce(&mut Value)) -> Vec<File> {
    let mut files = small_files();
    let mut document: Value = serde_json::from_slice(&files[0].1).unwrap();
    change(&mut document);
    files[0] = (MANIFEST.to_owned(), serde_json::to_vec(&document).unwrap());
    files
}

/// This many checks, each changed by its number.
fn checks(count: usize, change: impl Fn(&mut Value, usize)) -> Vec<File> {
    document(NORMALIZED, |n| {
        let check = n["controls"][0]["checks"][0].clone();
        let numbered = (0..count).map(|number| {
            let mut check = check.clone();
            change(&mut check, number);
            check
        });
        let checks: Vec<Value> = numbered.collect();
        n["summary"]["checks"]["pass"] = json!(count);
        n["controls"][0]["checks"] = checks.into();
    })
}

/// The same for checks that fail, with subjects and few reasons, as a large organization has them.
fn honest(count: usize) -> Vec<File> {
    checks(count, |check, n| {
        check["subject"] = json!(format!("acme/repository-{n}"));
        check["reason"] = json!(["ok", "archived", "empty_repository"][n % 3]);
    })
}

fn members(count: usize, change: impl Fn(&mut Value, usize)) -> Vec<File> {
    document(POPULATION, |p| {
        let member = p["members"][0].clone();
        let others = (0..count).map(|number| {
            let mut member = member.clone();
            member["in_scope"] = json!(false);
            member["reason"] = json!("excluded");
            change(&mut member, number);
            member
        });
        let others: Vec<Value> = others.collect();
        p["members"].as_array_mut().unwrap().extend(others);
        p["sources"][0]["members"] = json!(count + 1);
    })
}

fn warning(number: usize, message: &str) -> Value {
    json!({"code": format!("c{number}"), "message": message, "source": "codehost"})
}

fn hint(number: usize, remediation: &str) -> Value {
    json!({
        "id": number.to_string(), "control": "CC6.1", "severity": "low", "category": "missing",
        "source": "codehost", "subject": format!("acme/{number}"), "title": format!("t{number}"), "detail": "d",
        "remediation": remediation, "evidence": [],
    })
}
