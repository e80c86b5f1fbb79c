//! Texts without findings: ordinary evidence, generated from a fixed seed.

use super::*;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use fastrand::Rng;

const ARTIFACTS: usize = 10_000;

fn hex(random: &mut Rng, length: usize) -> String {
    (0..length).map(|_| char::from_digit(random.u32(0..16), 16).unwrap()).collect()
}

fn bytes(random: &mut Rng, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.u8(..)).collect()
}

fn uuid(random: &mut Rng) -> String {
    let parts = [8, 4, 4, 4, 12].map(|length| hex(random, length));
    parts.join("-")
}

fn name(random: &mut Rng) -> String {
    const WORDS: &[&str] = &[
        "api",
        "key",
        "secret",
        "token",
        "password",
        "task",
        "risk",
        "desk",
        "test",
        "live",
        "vault",
        "private",
        "public",
        "access",
        "shelf",
        "half",
        "monkey",
        "they",
        "auth",
        "login",
        "credential",
        "github",
        "sk",
        "hf",
        "SG",
        "AKIA",
        "npm",
        "pypi",
        "dapi",
        "service",
        "core",
        "web",
        "infra",
        "prod",
        "stage",
        "x",
        "v2",
        "2026",
    ];
    const JOINTS: &[&str] = &["-", "_", ".", ""];
    let count = random.usize(1..6);
    let mut name = String::new();
    for _ in 0..count {
        name.push_str(random.choice(WORDS).unwrap());
        name.push_str(random.choice(JOINTS).unwrap());
    }
    name.push_str("end");
    name
}

fn node_id(random: &mut Rng) -> String {
    let number = random.u32(1..2_000_000_000);
    if random.bool() {
        STANDARD.encode(format!("012:Organization{number}"))
    } else {
        let kind = random.choice(["O_kgDO", "R_kgDO", "BPR_kwDO", "T_kwDO"]).unwrap();
        format!("{kind}{}", URL_SAFE_NO_PAD.encode(bytes(random, 9)))
    }
}

fn organization(random: &mut Rng) -> String {
    let (login, node, id) = (name(random), node_id(random), random.u32(..));
    let (tag, request) = (hex(random, 64), hex(random, 8));
    format!(
        r#"{{"login":"{login}","id":{id},"node_id":"{node}","url":"https://api.host/orgs/{login}","avatar_url":"https://avatars.host/u/{id}?v=4","gravatar_id":"{}","two_factor_requirement_enabled":true,"default_repository_permission":"read","email":"security@{login}.com","etag":"W/\"{tag}\"","request_id":"{request}:5A44:12B1374:155901B:6A4020A5","created_at":"2026-06-27T19:12:38Z"}}"#,
        hex(random, 32),
    )
}

fn protection(random: &mut Rng) -> String {
    let (owner, repo, sha) = (name(random), name(random), hex(random, 40));
    let url =
        format!("https://api.host:8443/repos/{owner}/{repo}/branches/release%2F{}/protection", name(random));
    let checks: Vec<String> = (0..random.usize(0..12))
        .map(|_| match random.u8(0..7) {
            0 => format!("\"ci/api-key-check: {}\"", hex(random, 12)),
            1 => format!("\"{} / {} ({})\"", name(random), name(random), hex(random, 40)),
            2 => format!("\"sha256:{}\"", hex(random, 64)),
            3 => format!("\"secret-scan: {}\"", hex(random, 40)),
            4 => format!("\"deploy to https://{}.host:8080/\"", name(random)),
            5 => format!("\"{}\"", uuid(random)),
            _ => format!("\"{}\"", name(random)),
        })
        .collect();
    format!(
        r#"{{"url":"{url}","required_status_checks":{{"strict":true,"contexts":[{}]}},"enforce_admins":{{"url":"{url}/enforce_admins","enabled":true}},"required_pull_request_reviews":{{"url":"{url}/required_pull_request_reviews","required_approving_review_count":2,"dismissal_restrictions":{{"users":[{{"login":"{owner}","gravatar_id":"{}","node_id":"{}"}}]}}}},"sha":"{sha}"}}"#,
        checks.join(","),
        hex(random, 32),
        node_id(random),
    )
}

fn owners_file(random: &mut Rng) -> String {
    let mut file = String::from(
        "# The owners; see https://host:8443/docs/@org/x and ask a@example.com\n* @org/everyone\n",
    );
    for _ in 0..random.usize(0..20) {
        let owner = match random.u8(0..3) {
            0 => format!("@{}", name(random).replace('.', "-")),
            1 => format!("@org/{}", name(random)),
            _ => format!("{}@example.com", name(random)),
        };
        file.push_str(&format!(
            "/{}/{}*.{} {owner} # {}\n",
            name(random),
            name(random),
            name(random),
            uuid(random)
        ));
    }
    file
}

fn owners_artifact(random: &mut Rng) -> String {
    let (content, sha) = (STANDARD.encode(owners_file(random)), hex(random, 40));
    format!(
        r#"{{"name":"CODEOWNERS","path":".github/CODEOWNERS","sha":"{sha}","size":{},"content":"{content}","encoding":"base64"}}"#,
        content.len()
    )
}

fn manifest(random: &mut Rng) -> String {
    let key = STANDARD.encode(bytes(random, 32));
    let digest = STANDARD_NO_PAD.encode(bytes(random, 32));
    let mut text = format!(
        r#"{{"bundle_id":"{}","signer":{{"algorithm":"ed25519","public_key":"{key}","key_id":"{}","fingerprint":"SHA256:{digest}"}},"signature":"{}","tool":{{"commit":"{}"}},"#,
        uuid(random),
        hex(random, 16),
        STANDARD.encode(bytes(random, 64)),
        hex(random, 40),
    );
    text.push_str(&format!("\"ssh\":\"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{digest} comment\"}}\n"));
    for _ in 0..random.usize(0..10) {
        let line = format!(
            "{}  sources/codehost/repo_{}_{}_codeowners.json\n",
            hex(random, 64),
            name(random),
            name(random)
        );
        text.push_str(&line);
    }
    text
}

#[test]
fn ten_thousand_clean_artifacts_have_no_certain_finding() {
    let mut random = Rng::with_seed(20_261_121);
    let mut guesses = 0;
    for number in 0..ARTIFACTS {
        let text = match number % 5 {
            0 => organization(&mut random),
            1 => protection(&mut random),
            2 => owners_file(&mut random),
            3 => owners_artifact(&mut random),
            _ => manifest(&mut random),
        };
        let findings = screen().check(text.as_bytes());
        assert!(
            findings.iter().all(|finding| finding.confidence == Confidence::Low),
            "{findings:?} in {text}"
        );
        guesses += findings.len();
    }
    // Checks named `secret-scan: <sha>` do not count: the key word beside the value is another one.
    assert_eq!(guesses, 0);
}

#[test]
fn harmless_values_one_by_one() {
    for text in [
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  manifest.json",
        "MDEyOk9yZ2FuaXphdGlvbjEwNzQyNA==",
        "\"node_id\":\"O_kgDOBmQxYg\"",
        "\"node_id\":\"R_kgDOHfR1Vw\"",
        "W/\"b1523e3f0f7f6f1d2a1f5f3c9c1b1a1f0e9d8c7b6a5948372615049382716059\"",
        "ci/api-key-check: 0a1b2c3d4e5f",
        "https://avatars.host/u/107424?v=4",
        "https://secure.gravatar.com/avatar/205e460b479e2e5b48aec07710c08d50",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "SHA256:uNiVztksCsDhcc0u9e8BrKXewdUbR8qd0K9cVgYqkRM",
        "\"public_key\":\"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\"",
        "* @org/secrets-team security@example.com # token: see the handbook",
        "repo_org_secret-token-0a1b2c3d4e5f_codeowners.json",
        "x-oauth-scopes: repo:read, read:org",
        "variable CODEHOST_TOKEN is not set",
        "bad credentials (401) for https://api.host/orgs/acme",
        "\"token_expires_at\":\"2026-11-21T10:00:00Z\"",
        "\"sk-learn-test-suite-of-the-project-2026\"",
        "2001:AAAA:0db8:85a3::8a2e:0370:7334",
        "oauth2.googleapis.com/token",
    ] {
        assert_eq!(screen().check(text.as_bytes()), [], "{text}");
    }
}
