//! Lines of an allowed-signers file, and what OpenSSH makes of them: for which the key may sign bundles.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use evidence_bundle::PublicKey;
use evidence_bundle::trust::{KeyTrust, TrustRoot};

/// 2026-06-01T00:00:00Z, the time at which the lines are asked.
const TIME: i64 = 1_780_272_000;

/// Whether OpenSSH accepts the key of `KEY` for the principal `alice`, by line.
const LINES: &[(bool, &str)] = &[
    (true, r#"alice namespaces="evidence-bundle" KEY"#),
    // Values need quotation marks.
    (false, r#"alice namespaces=evidence-bundle KEY"#),
    (false, r#"alice namespaces=evidence-bundle,git KEY"#),
    (false, r#"alice namespaces=git,evidence-bundle KEY"#),
    (false, r#"alice namespaces='evidence-bundle' KEY"#),
    (false, r#"alice namespaces= KEY"#),
    (false, r#"alice namespaces KEY"#),
    (false, r#"alice namespaces="evidence-bundle KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after=20260101 KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after=20260101Z KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-before=20270101 KEY"#),
    (false, r#"alice namespaces=evidence-bundle,valid-after="20260101Z" KEY"#),
    // Lists of namespaces.
    (true, r#"alice namespaces="git,evidence-bundle" KEY"#),
    (false, r#"alice namespaces="git, evidence-bundle" KEY"#),
    (true, r#"alice namespaces="evidence-*" KEY"#),
    (true, r#"alice namespaces="!git,*" KEY"#),
    (false, r#"alice namespaces="*,!evidence-bundle" KEY"#),
    (false, r#"alice namespaces="" KEY"#),
    (false, r#"alice namespaces="Evidence-Bundle" KEY"#),
    (true, r#"alice NAMESPACES="evidence-bundle" KEY"#),
    (false, r#"alice namespaces="evidence\"-bundle" KEY"#),
    (true, r#"alice namespaces="a\",evidence-bundle" KEY"#),
    // What surrounds the options.
    (false, r#"alice namespaces="evidence-bundle"x KEY"#),
    (false, r#"alice namespaces="evidence-bundle", KEY"#),
    (true, r#"alice ,namespaces="evidence-bundle" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",,valid-after="20260101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle"valid-after="20270101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle" valid-after="20270101Z" KEY"#),
    (false, r#"alice namespaces ="evidence-bundle" KEY"#),
    (false, r#"alice namespaces= "evidence-bundle" KEY"#),
    (false, r#"alice namespaces="evidence-bundle"KEY"#),
    (false, r#"alice namespaces="evidence-bundle",namespaces="git" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",no-touch KEY"#),
    (false, r#"alice cert-authority,namespaces="evidence-bundle" KEY"#),
    (false, r#"alice cert-authority-x,namespaces="evidence-bundle" KEY"#),
    (true, "  alice   namespaces=\"evidence-bundle\"   KEY"),
    (true, "\talice\tnamespaces=\"evidence-bundle\"\tKEY"),
    (true, "alice namespaces=\"evidence-bundle\" KEY\r"),
    (true, r#"alice namespaces="evidence-bundle" KEY comment more"#),
    (true, r#"alice namespaces="evidence-bundle" KEY # comment"#),
    // Principals.
    (true, r#""alice" namespaces="evidence-bundle" KEY"#),
    (true, r#""alice,bob" namespaces="evidence-bundle" KEY"#),
    (true, r#""bob smith,alice" namespaces="evidence-bundle" KEY"#),
    (true, r#"al"ice" namespaces="evidence-bundle" KEY"#),
    (true, r#"al"ice"namespaces="evidence-bundle" KEY"#),
    (true, r#"bob,alice namespaces="evidence-bundle" KEY"#),
    (false, r#"alice,!alice namespaces="evidence-bundle" KEY"#),
    // Times.
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101Z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101UTC" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="202601010000Z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101000000Z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260601000000Z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-before="20260601000000Z" KEY"#),
    (true, r#"alice namespaces="evidence-bundle",valid-after="20260101Z",valid-before="20270201Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260101Z",valid-before="20260201Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260101Z",valid-before="20260101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20270101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-before="20260101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260101Z",valid-after="20260102Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="2026" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260132Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="2026010100000Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260101006000Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after=" 20260101Z" KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="20260101Z " KEY"#),
    (false, r#"alice namespaces="evidence-bundle",valid-after="0x20260101Z" KEY"#),
];

/// Where this program is stricter, on purpose: lines that OpenSSH accepts.
const STRICTER: &[&str] = &[
    // Without namespaces, a key is for other purposes.
    "alice KEY",
    r#"alice valid-after="20260101Z" KEY"#,
    // A date that does not exist.
    r#"alice namespaces="evidence-bundle",valid-after="20260231Z" KEY"#,
    r#"alice namespaces="evidence-bundle",valid-after="20260101000060Z" KEY"#,
];

fn file(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/keys/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn accepts(line: &str, key: &PublicKey) -> bool {
    let mut trust = TrustRoot::new();
    let _ = trust.add_allowed_signers("signers", line.as_bytes());
    matches!(trust.judge(key, TIME), KeyTrust::Trusted(_))
}

#[test]
fn lines_mean_what_openssh_means() {
    let public = PublicKey::parse(&file("openssh.pub")).unwrap();
    let line = |text: &str| format!("{}\n", text.replace("KEY", &public.to_openssh()));
    for (accepted, text) in LINES {
        assert_eq!(accepts(&line(text), &public), *accepted, "{text}");
    }
    for text in STRICTER {
        assert!(!accepts(&line(text), &public), "{text}");
    }
    // The same lines, asked of OpenSSH.
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let run = |arguments: &[&str]| {
        let message = fs::File::open(path("message")).unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args(arguments).current_dir(directory.path()).stdin(message).output()
    };
    fs::write(path("message"), "a list of checksums\n").unwrap();
    fs::write(path("key"), file("openssh")).unwrap();
    fs::set_permissions(path("key"), fs::Permissions::from_mode(0o600)).unwrap();
    let signed = run(&["-Y", "sign", "-f", "key", "-n", "evidence-bundle", "message"]);
    if !signed.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: ssh-keygen is not installed or cannot sign");
        return;
    }
    let rows = LINES.iter().copied().chain(STRICTER.iter().map(|text| (true, *text)));
    for (accepted, text) in rows {
        fs::write(path("signers"), line(text)).unwrap();
        let arguments = ["-Y", "verify", "-f", "signers", "-I", "alice", "-n", "evidence-bundle"];
        let rest = ["-s", "message.sig", "-Overify-time=20260601000000Z"];
        let output = run(&[&arguments[..], &rest[..]].concat()).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), accepted, "OpenSSH: {text}: {said}");
    }
}
