//! Ctrl-C and SIGTERM while the host does not answer: the run ends immediately and leaves no files.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::codehost::{Fault, FaultKind, Limits, Primary};

use crate::common::{Lab, acme, sound};

/// Starts a collection, waits until the host has seen this many requests, sends the signal, and returns the exit code
/// and the output.
fn interrupted(lab: &Lab, arguments: &[&str], signal: &str, requests: u64) -> (Option<i32>, String) {
    let mut command = lab.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while lab.server.request_count() < requests {
        assert!(begun.elapsed() < Duration::from_secs(30), "the run does not get to its requests");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Leaves time for the remaining answers to arrive.
    std::thread::sleep(Duration::from_millis(200));
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let sent = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(sent.elapsed() < Duration::from_secs(30), "the signal took {:?}", sent.elapsed());
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The connection test goes well: the organization, discovery and everything about the first repository answer, in four
/// requests. Everything about the second hangs, in two.
fn hanging() -> Lab {
    let fault = Fault::on("/repos/acme/web/*").kind(FaultKind::Hang);
    Lab::new(acme().repository(sound("web")).repository(sound("api")).fault(fault))
}

#[test]
fn sigint_is_130() {
    let lab = hanging();
    let (code, stderr) = interrupted(&lab, &["collect"], "INT", 6);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: no bundle was written"), "{stderr}");
    assert!(stderr.contains("help: set sources.codehost.revalidate: true to resume"), "{stderr}");
    assert!(lab.output().is_empty(), "{:?}", lab.output());
}

/// The hint repeats the typed command, and the command works.
#[test]
fn what_was_read_can_be_resumed() {
    let lab = hanging().with(|config| config.source("revalidate", "true"));
    let (code, stderr) = interrupted(&lab, &["collect", "-o", "my bundles"], "INT", 6);
    assert_eq!(code, Some(130), "{stderr}");
    let hint = "help: resume within 24 hours with `evidence collect -o 'my bundles' --resume`";
    assert!(stderr.contains(hint), "{stderr}");
    lab.server.clear_log();
    // The resumed run does not read the first repository again.
    let (_, stderr) = interrupted(&lab, &["collect", "-q", "--resume"], "INT", 4);
    assert!(stderr.contains("with `evidence collect -q --resume`"), "{stderr}");
}

#[test]
fn sigterm_is_143() {
    let lab = hanging();
    let (code, stderr) = interrupted(&lab, &["collect", "--quiet"], "TERM", 6);
    assert_eq!(code, Some(143), "{stderr}");
    assert!(lab.output().is_empty(), "{:?}", lab.output());
}

#[test]
fn sigint_during_the_connection_test() {
    let lab = Lab::new(acme().fault(Fault::everywhere().kind(FaultKind::Hang)));
    for arguments in [&["collect"][..], &["collect", "--dry-run"]] {
        lab.server.clear_log();
        let (code, stderr) = interrupted(&lab, arguments, "INT", 1);
        assert_eq!(code, Some(130), "{arguments:?}: {stderr}");
        // No answers exist to resume from yet.
        assert!(!stderr.contains("resume"), "{arguments:?}: {stderr}");
    }
    assert!(lab.output().is_empty(), "{:?}", lab.output());
}

/// The wait for an exhausted limit takes most of an hour: the tool shows it, and a signal ends it.
#[test]
fn sigint_during_the_wait_for_the_limit() {
    let lab = Lab::new(acme().repository(sound("web")).limits(Limits::primary(Primary::new(5000, 40))));
    let (code, stderr) = interrupted(&lab, &["collect"], "INT", 1);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("wait "), "{stderr}");
    assert!(stderr.contains("Ctrl-C"), "{stderr}");
    assert!(lab.output().is_empty(), "{:?}", lab.output());
}
