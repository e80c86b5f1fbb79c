//! The collector's own credentials, of every source and of the upload: the tool sends them to the right host in the
//! right header, and they appear nowhere else, whatever the hosts do.

use std::sync::{Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;
use sandbox::cloud::Principal;
use sandbox::codehost::{CodeHost, Token};
use sandbox::platform::{Key, Organization, Platform};
use sandbox::workspace::Workspace;
use sandbox::{BadLink, Body, Fault, FaultKind};
use serde_json::{Value, json};

use crate::common::{KEY, Lab, Run, TOKEN, acme, sound};
use crate::estate::{Estate, Plants};
use crate::kinds::KINDS;
use crate::search::Traces;
use crate::tap::Tap;
use crate::{full, random};

/// Parallel runs. A run mostly waits.
const SIDE_BY_SIDE: usize = 8;

/// Does not match any known format: the screen finds it only because the run uses it.
const PLAIN: &str = "k7Zp-2vXq_9wLm.4tRyT8nBsQd";

/// Every way in which a host can misbehave. `echoed` is a credential that the host repeats.
fn wrongs(other: &str, echoed: &str) -> Vec<FaultKind> {
    let echo = json!({
        "message": format!("not for {echoed}"),
        "error": { "code": 403, "message": format!("not for {echoed}"), "status": echoed },
        "__type": format!("AccessDeniedException:{echoed}"),
        "documentation_url": format!("https://host.example/?token={echoed}"),
    });
    let headers =
        ["etag", "x-github-request-id", "x-amzn-requestid", "x-oauth-scopes", "server", "retry-after"];
    let headers = headers.iter().map(|name| (name.to_string(), Some(echoed.to_string()))).collect();
    let status = |status, body| FaultKind::Status(status, body);
    vec![
        FaultKind::Json(200, Vec::new(), echo.clone()),
        FaultKind::Json(400, Vec::new(), echo.clone()),
        FaultKind::Json(401, Vec::new(), echo.clone()),
        FaultKind::Json(403, Vec::new(), echo.clone()),
        FaultKind::Json(404, Vec::new(), echo.clone()),
        FaultKind::Json(422, Vec::new(), echo.clone()),
        FaultKind::Json(200, Vec::new(), json!([echoed])),
        FaultKind::Json(200, Vec::new(), json!(echoed)),
        FaultKind::Headers(headers),
        FaultKind::Redirect(other.to_string()),
        FaultKind::Redirect(format!("{other}/?access_token={echoed}")),
        FaultKind::Redirect(format!("http://{echoed}@127.0.0.1:1/")),
        status(401, Body::Json),
        status(403, Body::Text(format!("<b>{echoed}</b>"))),
        status(200, Body::Text(format!("\u{feff}{echoed}"))),
        status(451, Body::Html),
        status(418, Body::Empty),
        FaultKind::LoginPage,
        FaultKind::InvalidUtf8,
        FaultKind::DeepJson(5_000),
        FaultKind::HugeBody(30_000_000),
        FaultKind::GzipBomb(100_000_000),
        FaultKind::HugeHeader(100_000),
        FaultKind::BadLink(BadLink::OtherHost(other.to_string())),
        FaultKind::BadLink(BadLink::ToItself),
    ]
}

/// The faults that a client retries.
fn passing(echoed: &str) -> Vec<FaultKind> {
    let echo = json!({ "message": echoed, "error": { "message": echoed } });
    vec![
        FaultKind::Status(500, Body::Json),
        FaultKind::Status(502, Body::Text(echoed.to_string())),
        FaultKind::Json(503, Vec::new(), echo.clone()),
        FaultKind::Json(429, vec![("retry-after".to_string(), "1".to_string())], echo),
        FaultKind::Reset,
        FaultKind::Truncate(20),
        FaultKind::WrongContentLength,
        FaultKind::BrokenChunk,
    ]
}

/// A fault of each kind, from the first request on or later. By default each occurs once, to save the time of retries.
fn faults(other: &str, echoed: &str) -> Vec<Fault> {
    let bound = |fault: Fault| if full() { fault } else { fault.times(1) };
    let lasting = wrongs(other, echoed).into_iter();
    let mut all: Vec<Fault> = lasting
        .flat_map(|kind| {
            let first = Fault::everywhere().kind(kind.clone());
            [bound(first), bound(Fault::everywhere().after(2).kind(kind))]
        })
        .collect();
    all.extend(passing(echoed).into_iter().map(|kind| bound(Fault::everywhere().after(1).kind(kind))));
    all
}

/// Runs all cases, several in parallel. A failed case fails the test.
fn side_by_side<T: Send>(jobs: Vec<T>, run: impl Fn(T) + Sync) -> usize {
    let count = jobs.len();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let Some(job) = jobs.lock().unwrap_or_else(PoisonError::into_inner).pop() else { break };
                    run(job);
                }
            });
        }
    });
    count
}

/// The tool's request without the headers for credentials.
fn without_credentials(bytes: &[u8], headers: &[&str]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let kept = text.split("\r\n").filter(|line| {
        !headers.iter().any(|name| line.to_ascii_lowercase().starts_with(&format!("{name}: ")))
    });
    kept.collect::<Vec<_>>().join("\r\n").into_bytes()
}

/// Asserts that the secret is absent from the output, the files and the requests, except in its header.
#[track_caller]
fn assert_nowhere(
    lab: &Lab,
    run: &Run,
    taps: &[(&Tap, &[&str])],
    other: &Tap,
    traces: &Traces,
    given: &[&str],
) {
    for text in [&run.stdout, &run.stderr] {
        traces.absent("output", text.as_bytes());
        // Also with invisible characters removed.
        traces.absent("output", text.replace("\u{200b}", "").replace("\\u{200b}", "").as_bytes());
    }
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    traces.absent_below(&lab.path(""), given);
    for (tap, headers) in taps {
        for connection in tap.heard() {
            traces.absent("a request", &without_credentials(&connection, headers));
        }
    }
    for connection in other.heard() {
        traces.absent("a request to another origin", &connection);
        let text = String::from_utf8_lossy(&connection).to_ascii_lowercase();
        assert!(!text.contains("authorization") && !text.contains("x-amz-security-token"), "{text}");
    }
}

/// Writes temporary files where the test searches them.
fn collect(lab: &Lab, arguments: &[&str]) -> Run {
    std::fs::create_dir_all(lab.path("tmp")).unwrap();
    let mut command = lab.command(arguments);
    command.env("TMPDIR", lab.path("tmp")).env("RUST_BACKTRACE", "full").env("RUST_LOG", "trace");
    lab.run_command(command)
}

const GIVEN: &[&str] = &["evidence.yaml", "key.pem", "key.pub.pem", "credentials.json"];

fn tokens(random: &mut Rng) -> Vec<String> {
    let of =
        |name: &str, random: &mut Rng| KINDS.iter().find(|kind| kind.name == name).unwrap().make(random).text;
    vec![
        of("code host, classic", random),
        of("code host, fine-grained", random),
        of("code host, installation", random),
        of("code host, installation with a web token", random),
        of("code host, application", random),
        PLAIN.to_string(),
    ]
}

/// The secret in one of the encodings in which a host may repeat it.
fn disguised(secret: &str, number: usize) -> String {
    match number % 5 {
        0 => secret.to_string(),
        1 => secret.chars().rev().collect(),
        2 => hex::encode(secret),
        3 => secret.chars().map(|letter| format!("{letter} ")).collect::<String>().trim().to_string(),
        _ => secret.chars().map(|letter| format!("{letter}\u{200b}")).collect(),
    }
}

/// Every secret of a run with all sources, in files that an outsider writes, in every encoding that the screen decodes.
#[test]
fn every_secret_of_a_run_in_codeowners() {
    const PASSPHRASE: &str = "correct horse battery staple";
    const UPLOAD_KEY: &str = "evp_ForbiddenTestsUploadKeyIsNotARealSecret7";
    let probe = sandbox::demo_workspace().serve().unwrap();
    let account: Value = serde_json::from_str(&Workspace::service_account_file(&probe)).unwrap();
    let account = account["private_key"].as_str().unwrap().to_string();
    let line = |pem: &str, number: usize| pem.lines().nth(number).unwrap().to_string();
    let key = KEY.to_pkcs8_v1_pem().unwrap().to_string();
    let secrets = [
        line(&key, 1),
        hex::encode(KEY.seed()),
        STANDARD.encode(KEY.seed()),
        PASSPHRASE.to_string(),
        UPLOAD_KEY.to_string(),
        TOKEN.to_string(),
        sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY.to_string(),
        line(&account, 1),
        line(&account, 14),
        account.lines().filter(|line| !line.starts_with('-')).collect(),
    ];
    let bytes = |text: &str, write: fn(u8) -> String| text.bytes().map(write).collect::<String>();
    let mut plants = Plants::default();
    let mut texts = Vec::new();
    for secret in &secrets {
        let mut forms: Vec<String> = (0..5).map(|number| disguised(secret, number)).collect();
        forms.extend((0..3).map(|before| STANDARD.encode(format!("{}{secret}.", &"ab"[..before]))));
        forms.push(URL_SAFE_NO_PAD.encode(format!("x{secret}")));
        forms.push(bytes(secret, |byte| format!("%{byte:02x}")));
        forms.push(bytes(secret, |byte| format!("\\u{byte:04x}")));
        forms.push(bytes(secret, |byte| format!("={byte:02X}")));
        forms.push(hex::encode_upper(secret));
        texts.extend(forms);
    }
    for (number, text) in texts.iter().enumerate() {
        plants.owners.push((format!("r{number}"), format!("* @acme/everyone # {text}\n/docs @acme/docs\n")));
    }
    let estate = Estate::new(plants);
    let path = estate.lab.path("evidence.yaml");
    let config = std::fs::read_to_string(&path).unwrap();
    let signing = "private_key_path: key.pem\n    passphrase_env: EVIDENCE_KEY_PASSPHRASE\n";
    let upload = "upload:\n  api_url: http://127.0.0.1:1\n";
    std::fs::write(path, config.replace("private_key_path: key.pem\n", signing) + upload).unwrap();
    let mut command = estate.lab.command(&["collect", "--verbose"]);
    command.env("EVIDENCE_KEY_PASSPHRASE", PASSPHRASE).env("EVIDENCE_API_KEY", UPLOAD_KEY);
    let run = estate.lab.run_command(command).exits(3);
    let manifest = run.bundle().manifest();
    let excluded = manifest["excluded"].as_array().unwrap();
    let missed: Vec<&String> = texts
        .iter()
        .enumerate()
        .filter(|(number, _)| {
            let name = format!("sources/codehost/repo_acme_r{number}_codeowners.json");
            !excluded.iter().any(|row| row["filename"] == name.as_str())
        })
        .map(|(_, text)| text)
        .collect();
    println!("{} secrets in {} texts, {} missed", secrets.len(), texts.len(), missed.len());
    assert!(missed.is_empty(), "{missed:#?}");
    assert_eq!(excluded.len(), texts.len(), "nothing else is left out");
    let traces = Traces::of(secrets.iter().map(String::as_str));
    traces.absent("stdout", run.stdout.as_bytes());
    traces.absent("stderr", run.stderr.as_bytes());
    traces.absent_below(&estate.lab.path(""), &estate.given());
}

#[test]
fn the_code_hosts_token() {
    let mut random = random();
    let tokens = tokens(&mut random);
    let mut jobs = Vec::new();
    let count = faults("", "").len();
    for (number, token) in tokens.iter().enumerate() {
        let chosen = |index: &usize| full() || index % tokens.len() == number;
        jobs.extend((0..count).filter(chosen).map(|index| (index, token.clone())));
    }
    let runs = side_by_side(jobs, |(index, token)| {
        let other = Tap::other();
        let echoed = disguised(&token, index);
        let fault = faults(&other.url(), &echoed).swap_remove(index);
        let host: CodeHost = acme()
            .repository(sound("web"))
            .token(Token::classic(&token).login("olivia-owner").scopes(["read:org"]).sees_private(true))
            .fault(fault);
        let lab = Lab::new(host).env("CODEHOST_TOKEN", &token);
        let tap = Tap::to(lab.server.address());
        let lab = lab.with(|config| config.source("api_url", &tap.url()));
        let run = collect(&lab, &["collect", "--verbose"]);
        let sent: Vec<u8> = tap.heard().concat();
        assert!(String::from_utf8_lossy(&sent).contains(&token), "the token was not even used");
        let traces = Traces::of([token.as_str(), echoed.as_str()].into_iter().filter(|text| text.is_ascii()));
        assert_nowhere(&lab, &run, &[(&tap, &["authorization"])], &other, &traces, GIVEN);
    });
    println!("{runs} runs with {} forms of tokens, 0 leaks", tokens.len());
}

#[test]
fn the_clouds_secret_key_and_session_token() {
    let mut random = random();
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/+";
    let letters: Vec<char> = letters.chars().collect();
    let mut word =
        |count: usize| -> String { (0..count).map(|_| *random.choice(&letters).unwrap()).collect() };
    let (secret, session) = (word(40), format!("IQoJb3JpZ2lu{}==", word(340)));
    let jobs: Vec<(usize, bool)> = (0..faults("", "").len())
        .flat_map(|index| [(index, index % 2 == 0), (index, index % 2 == 1)])
        .collect();
    let jobs: Vec<(usize, bool)> = jobs.into_iter().step_by(if full() { 1 } else { 3 }).collect();
    let runs = side_by_side(jobs, |(index, echo_session)| {
        let other = Tap::other();
        let echoed = if echo_session { &session } else { &secret };
        let fault = faults(&other.url(), echoed).swap_remove(index);
        let id = "ASIAFORBIDDENTESTS22";
        let arn = "arn:aws:sts::123456789012:assumed-role/evidence-readonly/nightly";
        let reading = ["iam:GetAccountPasswordPolicy", "cloudtrail:*", "logs:DescribeLogGroups"];
        let principal = Principal::user(id, &secret, arn).allow(reading).session(&session, 4_000_000_000);
        let cloud = sandbox::demo_account().principal(principal).fault(fault).serve().unwrap();
        let tap = Tap::to(cloud.address());
        let lab = Lab::new(acme())
            .env("CLOUD_ACCESS_KEY_ID", id)
            .env("CLOUD_SECRET_ACCESS_KEY", &secret)
            .env("CLOUD_SESSION_TOKEN", &session);
        lab.write(
            "evidence.yaml",
            format!(
                "framework: soc2_type1\ncontrols: [CC6.1, CC7.2]\nsources:\n  cloud:\n    mode: env\n    regions: [eu-west-1]\n    \
                 endpoint_url: {}\nbundle:\n  signing:\n    private_key_path: key.pem\n",
                tap.url()
            ),
        );
        let run = collect(&lab, &["collect", "--verbose"]);
        assert!(!tap.heard().is_empty());
        // The secret key only signs: the tool never sends it, not even in a header.
        assert_nowhere(&lab, &run, &[(&tap, &[])], &other, &Traces::of([secret.as_str()]), GIVEN);
        let traces = Traces::of([session.as_str()]);
        assert_nowhere(&lab, &run, &[(&tap, &["x-amz-security-token"])], &other, &traces, GIVEN);
    });
    println!("{runs} runs with a secret key and a session token, 0 leaks");
}

#[test]
fn the_directorys_private_key_and_access_token() {
    let jobs: Vec<usize> = (0..faults("", "").len()).step_by(if full() { 1 } else { 3 }).collect();
    let runs = side_by_side(jobs, |index| {
        let other = Tap::other();
        // The host repeats the key in the credentials file.
        let probe = sandbox::demo_workspace().serve().unwrap();
        let file: serde_json::Value = serde_json::from_str(&Workspace::service_account_file(&probe)).unwrap();
        let pem = file["private_key"].as_str().unwrap().to_string();
        let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let fault = faults(&other.url(), &body).swap_remove(index);
        let workspace = sandbox::demo_workspace().fault(fault).serve().unwrap();
        let tap = Tap::to(workspace.address());
        let lab = Lab::new(acme()).env("ALTCLOUD_APPLICATION_CREDENTIALS", "credentials.json");
        lab.write("credentials.json", Workspace::service_account_file(&workspace));
        lab.set_mode("credentials.json", 0o600);
        lab.write(
            "evidence.yaml",
            format!(
                "framework: soc2_type1\ncontrols: [CC6.1, CC6.6]\nsources:\n  altcloud:\n    mode: service_account\n    \
                 admin_email: {}\n    api_url: {}\nbundle:\n  signing:\n    private_key_path: key.pem\n",
                sandbox::DEMO_WORKSPACE_ADMIN,
                tap.url()
            ),
        );
        let run = collect(&lab, &["collect", "--verbose"]);
        assert_nowhere(&lab, &run, &[(&tap, &[])], &other, &Traces::of([body.as_str()]), GIVEN);
        // The host issues the access token, so the test reads it from the tap.
        let sent = tap.heard().concat();
        let sent = String::from_utf8_lossy(&sent).into_owned();
        let bearer = sent
            .split("\r\n")
            .find_map(|line| line.split_once(": Bearer ").map(|(_, token)| token.trim().to_string()));
        if let Some(access) = bearer {
            let traces = Traces::of([access.as_str()]);
            assert_nowhere(&lab, &run, &[(&tap, &["authorization"])], &other, &traces, GIVEN);
        }
    });
    println!("{runs} runs with a private key and its access tokens, 0 leaks");
}

#[test]
fn the_uploads_key() {
    let key = "evp_ForbiddenTestsUploadKeyIsNotARealSecret7";
    let made = Lab::new(acme().repository(sound("web"))).collect(&["--quiet"]).exits(0);
    let bundle = std::fs::read(made.bundle().path).unwrap();
    let jobs: Vec<usize> = (0..faults("", "").len()).step_by(if full() { 1 } else { 2 }).collect();
    let runs = side_by_side(jobs, |index| {
        let other = Tap::other();
        let fault = faults(&other.url(), key).swap_remove(index);
        let platform = Platform::new()
            .organization(Organization::new("org_4711", "acme", "Acme GmbH"))
            .key(Key::new(key, "org_4711"))
            .fault(fault)
            .serve()
            .unwrap();
        let tap = Tap::to(platform.address());
        let section = format!("upload:\n  api_url: {}\n", tap.url());
        let lab = Lab::new(acme()).env("EVIDENCE_API_KEY", key).with(|config| config.rest(&section));
        lab.write("bundle.tar.gz", &bundle);
        let run = collect(&lab, &["upload", "bundle.tar.gz"]);
        let sent = tap.heard().concat();
        assert!(String::from_utf8_lossy(&sent).contains(key), "the key was not even used\n{}", run.all());
        assert_nowhere(&lab, &run, &[(&tap, &["authorization"])], &other, &Traces::of([key]), GIVEN);
    });
    println!("{runs} runs with a key of the platform, 0 leaks");
}
