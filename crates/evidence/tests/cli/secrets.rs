//! The collector's own token: the tool sends it only to the host, and it appears nowhere else, even if the host repeats
//! it.

use base64::Engine as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sandbox::codehost::{CodeHost, Fault, FaultKind, File, Token};
use serde_json::json;

use crate::common::{Lab, Run, TOKEN, acme, gunzip, repository, sound, strong};

/// Does not match any known token format: the screen finds it only because the run uses it.
const PLAIN: &str = "k7Zp-2vXq/9wLm+4tRy=8nBs";

/// Searches everything that a run printed and wrote for the token, also inside base64.
#[track_caller]
fn assert_absent(lab: &Lab, run: &Run, token: &str) {
    let standard = base64::engine::general_purpose::STANDARD;
    let url_encoded = utf8_percent_encode(token, NON_ALPHANUMERIC).to_string();
    // For each alignment, the part that does not depend on neighbouring bytes.
    let forms: Vec<Vec<u8>> = [token.as_bytes().to_vec(), url_encoded.into_bytes()]
        .into_iter()
        .chain((0..3).map(|offset| {
            let mut padded = vec![b'x'; offset];
            padded.extend_from_slice(token.as_bytes());
            let encoded = standard.encode(padded);
            encoded.as_bytes()[4..encoded.len() - 4].to_vec()
        }))
        .collect();
    let mut places = vec![
        ("stdout".to_string(), run.stdout.clone().into_bytes()),
        ("stderr".to_string(), run.stderr.clone().into_bytes()),
    ];
    for name in lab.output() {
        let packed = std::fs::read(lab.path("evidence-bundles").join(&name)).unwrap();
        places.push((name.clone(), gunzip(&packed)));
        places.push((format!("{name}, packed"), packed));
    }
    for (place, bytes) in places {
        for form in &forms {
            let found = bytes.windows(form.len()).any(|window| window == form.as_slice());
            assert!(!found, "{} is in {place}", String::from_utf8_lossy(form));
        }
    }
}

/// Runs with both tokens, with and without `--verbose`.
fn never(code: i32, host: impl Fn(&str) -> CodeHost) {
    for token in [TOKEN, PLAIN] {
        for flag in ["--verbose", "--quiet"] {
            let host = host(token)
                .token(Token::classic(token).login("olivia-owner").scopes(["read:org"]).sees_private(true));
            let lab = Lab::new(host).env("CODEHOST_TOKEN", token);
            let run = lab.collect(&[flag]).exits(code);
            assert!(lab.requested().len() > 1 || code == 2, "the token was not even used");
            assert_absent(&lab, &run, token);
        }
    }
}

#[test]
fn an_ordinary_run() {
    never(0, |_| acme().repository(sound("web")).repository(repository("bare")));
}

#[test]
fn echoed_in_the_connection_tests_error() {
    never(2, |token| {
        let body = json!({ "message": format!("Bad credentials: {token} is not known") });
        acme().fault(Fault::everywhere().kind(FaultKind::Json(401, Vec::new(), body)))
    });
    never(2, |token| {
        let body = json!({ "message": format!("{token} must not") });
        acme().fault(Fault::everywhere().kind(FaultKind::Json(403, Vec::new(), body)))
    });
}

/// Truncating a long message leaves no part of the token.
#[test]
fn echoed_across_the_end_of_a_long_message() {
    for before in [470, 480, 495, 499] {
        let body = json!({ "message": format!("{} {TOKEN} and more", "word ".repeat(before / 5)) });
        let fault = Fault::on("/repos/acme/web/*").kind(FaultKind::Json(403, Vec::new(), body.clone()));
        let lab = Lab::new(acme().repository(sound("web")).fault(fault));
        let run = lab.collect(&["--verbose"]).exits(3);
        assert_absent(&lab, &run, &TOKEN[..12]);
        let lab = Lab::new(acme().fault(Fault::everywhere().kind(FaultKind::Json(403, Vec::new(), body))));
        let run = lab.collect(&[]).exits(2);
        assert_absent(&lab, &run, &TOKEN[..12]);
    }
}

#[test]
fn echoed_in_a_redirect() {
    never(2, |token| {
        let target =
            format!("https://elsewhere.example/?token={}", utf8_percent_encode(token, NON_ALPHANUMERIC));
        acme().fault(Fault::everywhere().kind(FaultKind::Redirect(target)))
    });
}

#[test]
fn echoed_in_refusals_about_a_repository() {
    for (status, code) in [(403, 3), (404, 3), (451, 0)] {
        never(code, |token| {
            let body =
                json!({ "message": format!("Must have more than {token}"), "documentation_url": token });
            let fault = Fault::on("/repos/acme/web/*").kind(FaultKind::Json(status, Vec::new(), body));
            acme().repository(sound("web")).repository(sound("api")).fault(fault)
        });
    }
}

#[test]
fn echoed_in_an_answer_of_the_wrong_shape() {
    never(3, |token| {
        let body = json!({ "url": [token], token: token, "enforce_admins": token });
        acme().repository(sound("api")).repository(sound("web").protection("main", strong().body(body)))
    });
}

#[test]
fn inside_codeowners() {
    let standard = base64::engine::general_purpose::STANDARD;
    for form in [
        |token: &str, _: &base64::engine::GeneralPurpose| format!("# {token}\n* @acme/all\n"),
        |token: &str, b64: &base64::engine::GeneralPurpose| format!("# {}\n* @acme/all\n", b64.encode(token)),
        |token: &str, b64: &base64::engine::GeneralPurpose| {
            format!("# Basic {}\n* @acme/all\n", b64.encode(format!("x-token:{token}")))
        },
        |token: &str, _: &base64::engine::GeneralPurpose| {
            format!("# https://host/?t={}\n* @acme/all\n", utf8_percent_encode(token, NON_ALPHANUMERIC))
        },
    ] {
        never(4, |token| {
            let owners = File::text(form(token, &standard));
            acme().repository(sound("api")).repository(repository("web").file("CODEOWNERS", owners))
        });
    }
}

#[test]
fn in_a_large_codeowners_that_is_read_raw() {
    never(4, |token| {
        let text = format!("* @acme/all\n{}# {token}\n", "# nothing here\n".repeat(80_000));
        acme().repository(repository("web").file("CODEOWNERS", File::text(text)))
    });
}

#[test]
fn as_the_name_of_a_check() {
    never(4, |token| {
        let protection = strong().status_checks(["ci/build".to_string(), format!("deploy {token}")]);
        acme().repository(sound("web").protection("main", protection))
    });
}

/// The names that are part of a call, and so of the manifest's record of it.
#[test]
fn as_the_name_of_a_branch() {
    let token = TOKEN;
    let host = acme().repository(repository("web").default_branch(token).protection(token, strong()));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]").source("branch", token));
    let run = lab.collect(&["--verbose"]);
    assert_absent(&lab, &run, token);
}

#[test]
fn as_the_name_of_a_repository() {
    let token = TOKEN;
    let lab = Lab::new(acme().repository(sound("api")).repository(sound(token)));
    let run = lab.collect(&["--verbose"]);
    assert_absent(&lab, &run, token);
}

/// In headers that the manifest keeps.
#[test]
fn as_an_etag_or_request_id() {
    never(0, |token| {
        let headers = vec![
            ("etag".to_string(), Some(format!("\"{token}\""))),
            ("x-github-request-id".to_string(), Some(token.to_string())),
        ];
        acme().repository(sound("web")).fault(Fault::on("/repos/*").kind(FaultKind::Headers(headers)))
    });
}

/// As an argument by mistake: `run.json` records the command line.
#[test]
fn on_the_command_line() {
    let lab = Lab::new(acme().repository(sound("web")));
    let output = format!("out-{TOKEN}");
    let run = lab.collect(&["--output", &output]);
    let directory = lab.path(&output);
    for name in crate::common::names(&directory) {
        let bytes = gunzip(&std::fs::read(directory.join(name)).unwrap());
        assert!(!String::from_utf8_lossy(&bytes).contains(TOKEN), "the command line of run.json");
    }
    drop(run);
}

/// The key that signs, and its passphrase.
#[test]
fn signing_secrets_never_appear() {
    let lab = Lab::new(acme().repository(sound("web")));
    let pem = std::fs::read_to_string(lab.path("key.pem")).unwrap();
    let body = pem.lines().nth(1).unwrap().to_string();
    let lab = lab.with(|config| config.signing("private_key_env", "EVIDENCE_KEY")).env("EVIDENCE_KEY", &pem);
    let run = lab.collect(&["-v"]).exits(0);
    assert!(!run.all().contains(&body));
    for (path, content) in &run.bundle().entries {
        assert!(!String::from_utf8_lossy(content).contains(&body), "{path}");
    }
}
