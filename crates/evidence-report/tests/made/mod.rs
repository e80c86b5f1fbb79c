//! Made-up bundles, and the report of one as an HTML5 tokenizer reads it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{self, Read};

use evidence_report::Documents;
use html5gum::{DefaultEmitter, HtmlString, Token, Tokenizer};
use serde_json::{Value, json};

/// The void elements of HTML that the page uses.
pub(crate) const VOID: [&str; 4] = ["br", "col", "meta", "wbr"];

/// The documents of a made-up bundle, by path.
#[derive(Default)]
pub(crate) struct Made(pub(crate) BTreeMap<String, String>);

impl Documents for Made {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        let text = self.0.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        read(&mut text.as_bytes())
    }
}

/// A check of a made-up bundle.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) status: &'static str,
    pub(crate) reason: String,
    pub(crate) subject: String,
    pub(crate) actual: String,
}

pub(crate) fn check(status: &'static str, subject: impl Into<String>) -> Row {
    let reason = if status == "pass" { "ok" } else { "branch_unprotected" };
    Row { status, reason: reason.to_owned(), subject: subject.into(), actual: "as found".to_owned() }
}

/// A bundle with these checks of one control, with `text` in every free text.
pub(crate) fn bundle(checks: &[Row], text: &str) -> Made {
    let digest = "ab".repeat(32);
    let count = |status: &str| checks.iter().filter(|check| check.status == status).count();
    let counts = json!({
        "pass": count("pass"), "fail": count("fail"),
        "not_verifiable": count("not_verifiable"), "not_applicable": count("not_applicable"),
    });
    let file = |index: usize| format!("sources/codehost/repo_{index}%20_x.json");
    // Failures and what could not be verified rest on an observation without an artifact.
    let evidence = |index: usize, check: &Row| match check.status {
        "fail" | "not_verifiable" => {
            json!([{"filename": "derived/observations.json", "checksum": digest, "id": format!("codehost:{index}")}])
        }
        _ => json!([{"filename": file(index), "checksum": digest}]),
    };
    let rows: Vec<String> = checks.iter().enumerate().map(|(index, check)| {
        json!({
            "rule": "branch-protection", "source": "codehost", "subject": check.subject, "status": check.status,
            "reason": check.reason, "actual": check.actual, "evidence": evidence(index, check),
        }).to_string()
    }).collect();
    let worst = if count("fail") > 0 { "fail" } else { "pass" };
    // The order of the members matters: a whole comes before its parts.
    let normalized = format!(
        r#"{{"schema_version":"1.0","framework":"soc2_type1","summary":{{"controls":{{"pass":0,"fail":1,"not_verifiable":0,"not_applicable":0}},"checks":{counts}}},"controls":[{{"id":"CC7.2","title":{title},"status":"{worst}","reason":"ok","criteria":{{"branch-protection":["CC8.1"]}},"expected":{{"branch-protection":{title}}},"checks":[{rows}]}}]}}"#,
        title = json!(text),
        rows = rows.join(",\n"),
    );
    let request = json!({
        "method": "GET", "path": format!("/repos/{text}"), "status": 404, "message": text, "request_id": text,
        "at": "2026-11-23T01:37:43Z",
    });
    let observations: Vec<Value> = checks.iter().enumerate().map(|(index, check)| match check.status {
        "fail" | "not_verifiable" => json!({
            "id": format!("codehost:{index}"), "source": "codehost", "subject": check.subject, "kind": "branch_protection",
            "outcome": if check.status == "fail" { "nothing" } else { "denied" }, "reason": check.reason, "detail": text,
            "requests": vec![request.clone(); 25],
        }),
        _ => json!({
            "id": format!("codehost:{index}"), "source": "codehost", "subject": check.subject, "kind": "branch_protection",
            "outcome": "artifact", "artifact": file(index), "requests": [request.clone()],
        }),
    }).collect();
    let hints: Vec<Value> = checks.iter().enumerate().filter(|(_, check)| check.status == "fail").map(|(index, check)| json!({
        "id": format!("CC7.2:{}:{}", check.reason, check.subject), "control": "CC7.2", "rule": "branch-protection",
        "reason": check.reason, "severity": "high",
        "category": "missing", "source": "codehost", "subject": check.subject, "title": text, "detail": text,
        "remediation": format!("Protect it: {text}"), "evidence": evidence(index, check),
    })).collect();
    let member = |name: &str, in_scope: bool| {
        let mut member =
            json!({"source": "codehost", "kind": "repository", "name": name, "in_scope": in_scope});
        if !in_scope {
            member["reason"] = json!("excluded");
        }
        member
    };
    let mut members: Vec<Value> = checks.iter().map(|check| member(&check.subject, true)).collect();
    members.push(member(text, false));
    let tool = json!({"name": "evidence", "version": "0.1.0"});
    let documents = [
        ("derived/normalized.json", normalized),
        ("derived/observations.json", json!({"schema_version": "1.0", "observations": observations}).to_string()),
        ("derived/hints.json", json!({"schema_version": "1.0", "hints": hints}).to_string()),
        ("derived/population.json", json!({
            "schema_version": "1.0",
            "sources": [{"source": "codehost", "scope": "chosen", "organization": text, "kind": "repository",
                "listed": members.len(), "members": members.len(), "in_scope": checks.len(), "host_total": members.len(),
                "host_totals": {"public_repos": 1, "total_private_repos": checks.len()}}],
            "members": members,
        }).to_string()),
        ("derived/scope.json", json!({
            "schema_version": "1.0", "framework": "soc2_type1", "organization": text, "tool": tool,
            "sources": [{"source": "codehost", "controls": ["CC7.2"], "settings": {"repos": "*", "branch": text}}],
            "rules": [{"code": "branch-protection", "version": 1, "source": "codehost", "kind": "repository",
                "control": "CC7.2", "expected": text, "reads": text,
                "not_checked": text}],
        }).to_string()),
        ("manifest.json", json!({
            "bundle_version": "1.0", "tool_version": "0.1.0", "created_at": "2026-11-23T01:37:47Z",
            "framework": "soc2_type1", "controls": ["CC7.2"], "sources": [{"id": "codehost", "kind": "codehost"}], "artifacts": [], "files": [],
            "signer": {"algorithm": "Ed25519", "public_key": "", "key_id": format!("sha256:{digest}")},
            "bundle_id": "f5d9e117-307a-85ba-abbd-58a724380110", "organization": text, "complete": false,
            "warnings": [{"code": "blocked", "message": text, "source": "codehost", "subject": text}],
            "excluded": [{"filename": text, "rule": text}],
            "errors": [{"code": "host_error", "message": text, "source": "codehost", "subject": text}],
        }).to_string()),
        ("run.json", json!({
            "started_at": "2026-11-23T01:37:42Z", "completed_at": "2026-11-23T01:37:47Z", "duration_seconds": 5,
            "hostname": text, "platform": "linux-x86_64", "tool": tool, "command": ["evidence", text],
            "config": {"path": text, "sha256": digest}, "exit_code": 3,
            "sources": [{
                "name": "codehost", "api_url": "https://host.example/", "identity": {"login": text, "scopes": text},
                "discovered": 1, "in_scope": 1, "requested": 5, "collected": 2, "not_found": 1, "denied": 1, "failed": 1,
                "excluded": 0, "requests": 9, "retries": 0, "revalidated": 0, "paused_seconds": 0,
            }],
        }).to_string()),
        ("derived/checks.csv", String::new()),
        ("derived/artifacts.csv", String::new()),
        ("derived/population.csv", String::new()),
        ("derived/observations.csv", String::new()),
        ("derived/README.txt", String::new()),
    ];
    let mut made: BTreeMap<String, String> =
        documents.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
    made.extend((0..checks.len()).map(|index| (file(index), String::new())));
    Made(made)
}

pub(crate) fn made(documents: &Made, path: &str) -> String {
    let mut out = Vec::new();
    evidence_report::write(path, documents, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// An element: its name, its attributes and all text inside it.
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) text: String,
}

/// The page as an HTML5 tokenizer reads it.
pub(crate) struct Page {
    pub(crate) source: String,
    pub(crate) elements: Vec<Element>,
}

impl Page {
    pub(crate) fn of(documents: &Made) -> Page {
        Page::parse(made(documents, "derived/report.html"))
    }

    pub(crate) fn parse(source: String) -> Page {
        let elements = elements(&source);
        Page { source, elements }
    }

    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    pub(crate) fn values(&self, attribute: &str) -> impl Iterator<Item = &str> {
        self.elements.iter().filter_map(move |element| element.attributes.get(attribute).map(String::as_str))
    }

    pub(crate) fn text(&self) -> &str {
        self.all("body").next().map_or("", |body| &body.text)
    }
}

/// Every element, in the order of the start tags. Each must have its own end tag, which is stricter than HTML, so that
/// the nesting is unambiguous.
pub(crate) fn elements(source: &str) -> Vec<Element> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let text = |bytes: HtmlString| String::from_utf8(bytes.to_vec()).unwrap();
    let (mut elements, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    for token in Tokenizer::new_with_emitter(source, emitter).flatten() {
        match token {
            Token::StartTag(tag) => {
                let name = text(tag.name);
                let drawn = open.iter().any(|place| elements[*place].name == "svg");
                if !(VOID.contains(&name.as_str()) || drawn && tag.self_closing) {
                    open.push(elements.len());
                }
                let attributes =
                    tag.attributes.into_iter().map(|(name, value)| (text(name), text(value.value)));
                elements.push(Element { name, attributes: attributes.collect(), text: String::new() });
            }
            Token::EndTag(tag) => {
                let name = text(tag.name);
                let place = open.pop().unwrap_or_else(|| panic!("{name} is closed and not open"));
                assert_eq!(elements[place].name, name, "the inner element is closed first");
            }
            Token::String(string) => {
                let string = text(string.value);
                open.iter().for_each(|place| elements[*place].text.push_str(&string));
            }
            Token::Comment(_) | Token::Doctype(_) => {}
            Token::Error(error) => panic!("{}", error.value),
        }
    }
    assert!(open.is_empty() && source.starts_with("<!doctype html>"));
    elements
}

pub(crate) fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, after @ ..]) => {
                let hex = format!("{}{}", char::from(*high), char::from(*low));
                bytes.push(u8::from_str_radix(&hex, 16).unwrap());
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}
