//! The screen must keep ten thousand artifacts of everyday evidence, full of digests, identifiers and names with words
//! such as *secret* and *token*. An auditor could not recover an excluded artifact.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use evidence_screen::Screen;
use fastrand::Rng;
use sandbox::codehost::{File, Protection};
use serde_json::{Value, json};

use crate::common::repository;
use crate::estate::{Answer, Estate, Plants, protection_url};
use crate::{full, random};

fn hex(random: &mut Rng, count: usize) -> String {
    (0..count).map(|_| char::from_digit(random.u32(..16), 16).unwrap()).collect()
}

fn bytes(random: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

fn uuid(random: &mut Rng) -> String {
    [8, 4, 4, 4, 12].map(|count| hex(random, count)).join("-")
}

/// A typical name of a team, check or repository.
fn name(random: &mut Rng) -> String {
    let words = [
        "token",
        "secret",
        "password",
        "api-key",
        "credential",
        "vault",
        "rotator",
        "scanner",
        "sk",
        "hf",
        "npm",
        "pypi",
        "dapi",
        "live",
        "test",
        "glsa",
        "key",
        "private",
        "login",
        "auth",
        "service",
        "core",
        "web",
        "payments",
        "gateway",
        "github",
        "akia",
        "xox",
        "ops",
        "v2",
        "2026",
        "eyes",
    ];
    let count = random.usize(2..5);
    let words: Vec<&str> = (0..count).map(|_| *random.choice(&words).unwrap()).collect();
    words.join(random.choice(&["-", "_", "."]).unwrap())
}

/// The name of a status check; some have a digest after a word that suggests a secret.
fn check(random: &mut Rng) -> String {
    match random.u8(..9) {
        0 => format!("ci/api-key-check: {}", hex(random, 12)),
        1 => format!("secret-scan: {}", hex(random, 40)),
        2 => format!("sha256:{}", hex(random, 64)),
        3 => format!("{} / {} ({})", name(random), name(random), uuid(random)),
        4 => format!("deploy to https://{}.example:8443/path%2Fof/{}", name(random), hex(random, 20)),
        5 => format!("W/\"{}\"", hex(random, 64)),
        6 => STANDARD.encode(format!("012:Organization{}", random.u32(..))),
        7 => format!("cursor:v2:{}", STANDARD.encode(bytes(random, 40))),
        _ => format!("100% {} \\ {}", name(random), name(random)),
    }
}

fn arn(random: &mut Rng) -> String {
    format!("arn:aws:iam::{:012}:role/{}", random.u64(..1_000_000_000_000), name(random))
}

/// A CODEOWNERS file with digests, identifiers, addresses and words in its comments.
fn owners(random: &mut Rng) -> String {
    let mut text =
        String::from("# See https://host.example:8443/docs/@org/x; ask security@acme.example\n* @acme/all\n");
    for _ in 0..random.usize(1..15) {
        let comment = match random.u8(..8) {
            0 => format!("password: see the handbook, {}", uuid(random)),
            1 => format!("pinned to {}", hex(random, 40)),
            2 => arn(random),
            3 => format!("integrity sha512-{}", STANDARD.encode(bytes(random, 64))),
            4 => format!("node R_kgDO{}", URL_SAFE_NO_PAD.encode(bytes(random, 9))),
            5 => format!(
                "https://host.example/{}?after=Y3Vyc29yOnYyOpK5{}&per_page=100",
                name(random),
                hex(random, 8)
            ),
            6 => format!("\u{fc}ber {} \\u00fc %20 {}", name(random), name(random)),
            _ => format!("{}@acme.example", name(random)),
        };
        text.push_str(&format!("/{}/{} @acme/{} # {comment}\n", name(random), name(random), name(random)));
    }
    text
}

fn protection(random: &mut Rng, repository: &str) -> Value {
    let mut body = Answer::Protection.body();
    let url = protection_url(repository);
    body["url"] = url.clone().into();
    body["enforce_admins"]["url"] = format!("{url}/enforce_admins").into();
    let checks: Vec<String> = (0..random.usize(1..10)).map(|_| check(random)).collect();
    body["required_status_checks"]["contexts"] = checks.into();
    let restrictions = &mut body["required_pull_request_reviews"]["dismissal_restrictions"];
    restrictions["teams"] = json!([{ "slug": name(random) }]);
    restrictions["users"] = json!([{ "login": name(random) }]);
    body
}

/// With the real binary: two artifacts of each repository, a few hundred repositories per run.
#[test]
fn nothing_clean_is_left_out() {
    let mut random = random();
    let (runs, repositories) = if full() { (13, 400) } else { (1, 400) };
    let (mut artifacts, mut warned) = (0, 0);
    for _ in 0..runs {
        let mut plants = Plants::default();
        for number in 0..repositories {
            let name = format!("{}-{number}", name(&mut random));
            let rule = Protection::new().body(protection(&mut random, &name));
            let file = File::text(owners(&mut random));
            plants.repositories.push(repository(&name).protection("main", rule).file("CODEOWNERS", file));
        }
        let estate = Estate::new(plants);
        let run = estate.lab.collect(&["--quiet"]).exits(3);
        let manifest = run.bundle().manifest();
        let rows = manifest["artifacts"].as_array().unwrap().len();
        assert!(rows >= 2 * repositories, "{rows}");
        assert_eq!(manifest["excluded"], json!([]));
        let warnings = manifest["warnings"].as_array().unwrap().iter();
        warned += warnings.filter(|row| row["code"] == "possible_secret").count();
        artifacts += rows;
    }
    println!("{artifacts} clean artifacts through the binary, 0 left out, {warned} warned of");
}

/// The same artifacts and those of the other sources, passed to the screen as bytes.
#[test]
fn ten_thousand_clean_artifacts() {
    let screen = Screen::new(&["a-made-up-credential-of-the-collector"]);
    let mut random = random();
    let count = if full() { 100_000 } else { 10_000 };
    let (mut left_out, mut size) = (Vec::new(), 0);
    for number in 0..count {
        let texts = match number % 5 {
            0 => {
                let text = owners(&mut random);
                let artifact = json!({ "name": "CODEOWNERS", "path": ".github/CODEOWNERS", "content": STANDARD.encode(&text), "encoding": "base64", "size": text.len() });
                vec![serde_json::to_vec_pretty(&artifact).unwrap(), text.into_bytes()]
            }
            1 | 2 => {
                let name = name(&mut random);
                vec![serde_json::to_vec_pretty(&protection(&mut random, &name)).unwrap()]
            }
            3 => {
                let mut body = Answer::Trails.body();
                body["trailList"][0]["Name"] = name(&mut random).into();
                body["trailList"][0]["KmsKeyId"] =
                    format!("arn:aws:kms:eu-west-1:123456789012:key/{}", uuid(&mut random)).into();
                body["trailList"][0]["S3BucketName"] =
                    format!("{}-{}", name(&mut random), hex(&mut random, 12)).into();
                vec![serde_json::to_vec_pretty(&body).unwrap()]
            }
            _ => {
                let mut body = Answer::Users.body();
                body["users"][0]["id"] = format!("{:021}", random.u64(..)).into();
                body["users"][0]["primaryEmail"] = format!("{}@acme.example", name(&mut random)).into();
                body["etag"] = format!(
                    "\"{}/{}\"",
                    URL_SAFE_NO_PAD.encode(bytes(&mut random, 32)),
                    URL_SAFE_NO_PAD.encode(bytes(&mut random, 20))
                )
                .into();
                body["nextPageToken"] = URL_SAFE_NO_PAD.encode(bytes(&mut random, 60)).into();
                vec![serde_json::to_vec_pretty(&body).unwrap()]
            }
        };
        for text in texts {
            size += text.len();
            let findings = screen.check(&text);
            if findings.iter().any(|finding| finding.confidence == evidence_screen::Confidence::High) {
                left_out.push(format!("{findings:?} in {}", String::from_utf8_lossy(&text)));
            }
        }
    }
    println!("{count} clean artifacts of {size} bytes, {} left out", left_out.len());
    assert!(left_out.is_empty(), "{left_out:#?}");
}
