//! The sandbox as a program: how the demo ends, and that it leaves no processes behind.
//!
//! The tool and the platform are stand-ins; the gate runs the demo with the real ones.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests, which clippy does not see as tests here"
)]

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program and its stand-ins in a separate directory.
struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // Not a symbolic link: the program looks for the others beside its own file.
        std::fs::hard_link(env!("CARGO_BIN_EXE_sandbox"), directory.path().join("sandbox")).unwrap();
        let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/fakes");
        for name in ["evidence", "evidence-platform"] {
            std::os::unix::fs::symlink(fakes.join(name), directory.path().join(name)).unwrap();
        }
        Self(directory)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.0.path().join("sandbox"));
        // If it is set, the program builds the real ones.
        command.args(arguments).env_remove("CARGO").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn demo(&self) -> Output {
        self.command(&["demo"]).output().unwrap()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join("demo").join(name)).unwrap_or_default()
    }

    /// How many recorded calls begin with this text.
    fn calls(&self, start: &str) -> usize {
        self.file("calls").lines().filter(|line| line.starts_with(start)).count()
    }

    /// Whether the process whose id is in this file exists.
    fn lives(&self, file: &str) -> bool {
        let pid = Pid::from_raw(self.file(file).trim().parse().unwrap()).unwrap();
        test_kill_process(pid).is_ok()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn it_ends_the_platform_and_finds_the_organization_again() {
    let lab = Lab::new();
    for run in 1..=2 {
        let output = lab.demo();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(lab.calls("evidence upload"), run);
        assert_eq!(lab.calls("evidence-platform serve"), run);
        assert_eq!(lab.calls("the platform ended"), run);
        assert!(!lab.lives("serving"));
        let (upload, read) = (lab.file("upload-key"), lab.file("read-key"));
        assert!(upload.starts_with("evp_made") && upload != read, "{upload} {read}");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!said.contains(upload.trim()), "{said}");
        assert!(said.contains(read.trim()), "{said}");
        assert!(said.contains("listening at http://127.0.0.1:9\n"), "{said}");
    }
    assert_eq!(lab.calls("evidence keygen"), 1);
    assert_eq!(lab.calls("evidence-platform organization create"), 1);
    assert_eq!(lab.calls("evidence-platform key create"), 2);
    assert_eq!(lab.calls("evidence-platform trust add"), 2);
    for name in ["upload-key", "read-key", "service-account.json"] {
        let mode = lab.0.path().join("demo").join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others can read {name}");
    }
    assert!(lab.file("evidence.yaml").ends_with("upload:\n  api_url: http://127.0.0.1:9\n"));
    assert!(
        lab.file("variables-of-upload").contains(&format!("EVIDENCE_API_KEY={}", lab.file("upload-key")))
    );
}

/// A user's environment may contain real credentials.
#[test]
fn variables_from_outside_reach_no_program() {
    let lab = Lab::new();
    let mut command = lab.command(&["demo"]);
    for name in ["EVIDENCE_PLATFORM_DATABASE", "AWS_ENDPOINT_URL", "EVIDENCE_API_KEY", "CODEHOST_TOKEN"] {
        command.env(name, "from-outside");
    }
    assert!(command.output().unwrap().status.success());
    for of in ["collect", "upload", "organization", "key", "trust", "serve"] {
        let variables = lab.file(&format!("variables-of-{of}"));
        assert!(variables.contains("PATH=") && !variables.contains("from-outside"), "{of}: {variables}");
    }
    // The platform must not get the tool's credentials.
    assert!(lab.file("variables-of-collect").contains("CODEHOST_TOKEN="));
    assert!(!lab.file("variables-of-serve").contains("CODEHOST_TOKEN="));
}

#[test]
fn a_failure_ends_the_platform_too() {
    let lab = Lab::new();
    let output = lab.command(&["demo"]).env("FAKE_UPLOAD", "6").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("error: evidence ended with exit code 6, not 0"), "{said}");
    assert_eq!(lab.calls("the platform ended"), 1);
    assert!(!lab.lives("serving"));
    // The next run succeeds.
    assert_eq!(lab.demo().status.code(), Some(0));
}

#[test]
fn a_platform_that_does_not_listen_is_a_failure() {
    let lab = Lab::new();
    let output = lab.command(&["demo"]).env("FAKE_SERVE", "fails").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("does not listen; see ") && said.contains("evidence-platform.log"), "{said}");
    assert_eq!(lab.calls("evidence upload"), 0);
}

#[test]
fn kept_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let lab = Lab::new();
        // The arguments that `cargo demo -- --keep` passes on.
        let mut child = lab.command(&["demo", "--", "--keep"]).spawn().unwrap();
        let mut said = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        while !said.contains("Ctrl-C ends it.") {
            assert_ne!(output.read_line(&mut said).unwrap(), 0, "{said}");
        }
        assert!(lab.lives("serving"));
        assert_eq!(lab.calls("evidence collect"), 4);
        assert!(said.contains("http://127.0.0.1:9/bundles\n"), "{said}");
        assert!(said.contains(lab.file("read-key").trim()), "{said}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(lab.calls("the platform ended"), 1);
        assert!(!lab.lives("serving"));
    }
}

#[test]
fn a_signal_in_the_middle_ends_everything() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let lab = Lab::new();
        let mut child = lab.command(&["demo"]).env("FAKE_UPLOAD", "hangs").spawn().unwrap();
        let begun = Instant::now();
        while !lab.file("hanging").ends_with('\n') {
            assert!(begun.elapsed() < Duration::from_secs(60), "the demo does not get to its upload");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(lab.calls("the platform ended"), 1);
        assert!(!lab.lives("serving") && !lab.lives("hanging"));
    }
}

/// For measurements that another program makes.
#[test]
fn the_counts_are_written_when_a_signal_ends_it() {
    let lab = Lab::new();
    let summary = lab.0.path().join("summary.json");
    let arguments = ["serve", "--scenario", "large", "--size", "3", "--summary", summary.to_str().unwrap()];
    let mut child = lab.command(&arguments).spawn().unwrap();
    let mut said = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    while !said.contains("Ctrl-C ends it.") {
        assert_ne!(output.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let (_, address) = said.split_once("http://").unwrap();
    let mut stream = TcpStream::connect(address.split(',').next().unwrap()).unwrap();
    for _ in 0..2 {
        stream.write_all(b"HEAD /orgs/acme HTTP/1.1\r\nHost: sandbox\r\nUser-Agent: test\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.extend_from_slice(&byte);
        }
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let counted: serde_json::Value = serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    assert_eq!((&counted["requests"], &counted["connections"]), (&2.into(), &1.into()), "{counted}");
    assert_eq!(counted["highest_concurrency"], 1, "{counted}");
    assert!(counted["first_request"].as_f64() < counted["last_answer"].as_f64(), "{counted}");
}

#[test]
fn help_explains_how_to_keep_it() {
    let output = Lab::new().command(&["demo", "--help"]).output().unwrap();
    assert!(output.status.success() && text(&output.stdout).contains("--keep"), "{}", text(&output.stdout));
}
