//! Secrets in files, as systemd, Docker and Kubernetes give them: accepted files, refused files, and that no message
//! shows their contents.

use std::fs;
use std::os::unix::fs::symlink;

use base64::Engine as _;
use sandbox::codehost::{Fault, FaultKind, Token};
use serde_json::json;

use crate::common::{Lab, Run, TOKEN, acme, gunzip, sound};

/// Does not match any known token format: the screen finds it only because the run uses it.
const PLAIN: &str = "k7Zp-2vXq/9wLm+4tRy=8nBs";

fn lab() -> Lab {
    Lab::new(acme().repository(sound("web")))
        .without_env("CODEHOST_TOKEN")
        .env("CODEHOST_TOKEN_FILE", "token")
}

/// Asserts that the run neither printed nor wrote the first bytes of a secret.
#[track_caller]
fn hidden(lab: &Lab, run: &Run, secret: &str) {
    let part = secret.get(..12).unwrap();
    assert!(!run.all().contains(part), "{}", run.all());
    for name in lab.output() {
        let bundle = gunzip(&fs::read(lab.path("evidence-bundles").join(name)).unwrap());
        assert!(!bundle.windows(part.len()).any(|window| window == part.as_bytes()));
    }
}

#[test]
fn a_token_in_a_file() {
    for content in [TOKEN.to_string(), format!("{TOKEN}\n"), format!("{TOKEN}\r\n"), format!(" {TOKEN}\n\n")]
    {
        let lab = lab();
        lab.write("token", content);
        // As Docker mounts it.
        lab.set_mode("token", 0o444);
        let run = lab.collect(&["--verbose"]).exits(0).says_not("token can be read");
        hidden(&lab, &run, TOKEN);
    }
    // As Kubernetes mounts it.
    let lab = lab();
    fs::create_dir(lab.path("..2026_11_23")).unwrap();
    lab.write("..2026_11_23/token", TOKEN);
    symlink("..2026_11_23", lab.path("..data")).unwrap();
    symlink("..data/token", lab.path("token")).unwrap();
    lab.collect(&[]).exits(0);
    // An empty variable counts as not set, and a configured variable name also has a `_FILE` variant.
    lab.env("CODEHOST_TOKEN", "").collect(&[]).exits(0);
    let named = Lab::new(acme().repository(sound("web")))
        .with(|config| config.source("token_env", "GITHUB_OTHER"))
        .env("GITHUB_OTHER_FILE", "token");
    named.write("token", TOKEN);
    named.collect(&[]).exits(0);
}

#[test]
fn a_file_without_a_token_is_2_before_anything_is_asked() {
    let not_utf8 = [TOKEN.as_bytes(), b"\xff"].concat();
    let large = TOKEN.repeat(2_000);
    let contents: [(&[u8], &str); 6] = [
        (b"", "the file token (CODEHOST_TOKEN_FILE) is empty"),
        (b"\n", "the file token (CODEHOST_TOKEN_FILE) is empty"),
        (&not_utf8, "the file token (CODEHOST_TOKEN_FILE) is not UTF-8 text"),
        (large.as_bytes(), "the file token (CODEHOST_TOKEN_FILE) is larger than 65536 bytes"),
        (b"made up by two words", "the file token (CODEHOST_TOKEN_FILE) does not hold an access token"),
        (b"made-up-lines\nof-a-file", "the file token (CODEHOST_TOKEN_FILE) does not hold an access token"),
    ];
    for (content, text) in contents {
        let lab = lab();
        lab.write("token", content);
        for arguments in [&[][..], &["--dry-run"]] {
            let run = lab.collect(arguments).exits(2).says(text).says_not("made").leaves_nothing();
            hidden(&lab, &run, TOKEN);
        }
        assert!(lab.requested().is_empty());
    }
    let lab = lab();
    insta::assert_snapshot!("token_file_absent", lab.collect(&[]).exits(2).shown());
    fs::create_dir(lab.path("token")).unwrap();
    lab.collect(&[]).exits(2).says("the file token (CODEHOST_TOKEN_FILE) cannot be read: it is a directory");
    // The token itself in the variable for the path.
    let pasted = lab.env("CODEHOST_TOKEN_FILE", PLAIN);
    let run = pasted.collect(&[]).exits(2).says("the file that CODEHOST_TOKEN_FILE names cannot be read");
    hidden(&pasted, &run, PLAIN);
    let both = pasted.env("CODEHOST_TOKEN", TOKEN);
    let run = both.collect(&[]).exits(2).leaves_nothing();
    hidden(&both, &run, TOKEN);
    insta::assert_snapshot!("token_and_token_file", run.shown());
    assert!(both.requested().is_empty());
}

#[test]
fn a_file_that_this_user_may_not_read() {
    let lab = lab();
    lab.write("token", TOKEN);
    lab.set_mode("token", 0o000);
    if let Some(run) = lab.run_unprivileged(&["collect"]) {
        run.exits(2).says("the file token (CODEHOST_TOKEN_FILE) cannot be read: Permission denied");
    }
}

/// The screen knows the contents of the file.
#[test]
fn a_host_that_echoes_the_token() {
    let token = || Token::classic(PLAIN).login("olivia-owner").scopes(["read:org"]).sees_private(true);
    let body = json!({ "message": format!("Must have more than {PLAIN}"), "documentation_url": PLAIN });
    for (place, code) in [("/repos/acme/web/*", 3), ("/*", 2)] {
        let fault = Fault::on(place).kind(FaultKind::Json(403, Vec::new(), body.clone()));
        let lab = Lab::new(acme().repository(sound("web")).token(token()).fault(fault))
            .without_env("CODEHOST_TOKEN")
            .env("CODEHOST_TOKEN_FILE", "token");
        lab.write("token", format!("{PLAIN}\n"));
        let run = lab.collect(&["--verbose"]).exits(code);
        assert!(!lab.requested().is_empty());
        hidden(&lab, &run, PLAIN);
    }
}

#[test]
fn a_signing_key_in_a_file() {
    let lab = || {
        Lab::new(acme().repository(sound("web")))
            .with(|config| config.signing("private_key_env", "EVIDENCE_KEY"))
            .env("EVIDENCE_KEY_FILE", "key.pem")
    };
    let made = lab();
    made.collect(&[]).exits(0).says_not("key.pem can be read");
    // The same in base64, as in some secret stores.
    let pem = fs::read(made.path("key.pem")).unwrap();
    made.write("key.pem", base64::engine::general_purpose::STANDARD.encode(&pem) + "\n");
    let run = made.collect(&[]).exits(0);
    hidden(&made, &run, "MC4CAQAwBQYDK2VwBCIEI");
    // The mode that Kubernetes uses is accepted. A key that other users could replace is refused.
    made.set_mode("key.pem", 0o644);
    made.collect(&[]).exits(0).says_not("key.pem can be read");
    made.set_mode("key.pem", 0o620);
    made.collect(&[]).exits(1).says("other users could replace the signing key key.pem");
    fs::remove_file(made.path("key.pem")).unwrap();
    made.collect(&[]).exits(1).says("the file that EVIDENCE_KEY_FILE names cannot be read: No such file");
    made.without_env("EVIDENCE_KEY_FILE")
        .collect(&[])
        .exits(1)
        .says("variable EVIDENCE_KEY is not set")
        .says("EVIDENCE_KEY_FILE=<file");
    let both = lab().env("EVIDENCE_KEY", "x");
    both.collect(&[])
        .exits(1)
        .says("the environment variables EVIDENCE_KEY and EVIDENCE_KEY_FILE are both set");
}
