//! The program protects its memory, and reads only regular files.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::process::{Home, Serving};
use crate::support::bundles;

/// The server holds the credentials of database and storage. It leaves no core dump, not even if the limit is raised.
#[test]
fn a_running_server_leaves_no_core_dump() {
    let directory = tempfile::tempdir().unwrap();
    let mut serving = Serving::start(&Home::local(directory.path()), "127.0.0.1:0");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", serving.child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_ascii_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{core}");
    let pid = Pid::from_child(&serving.child);
    if prlimit(Some(pid), Resource::Core, Rlimit { current: None, maximum: None }).is_err() {
        println!("SKIPPED: this user may not raise the limit of another process");
        return;
    }
    kill_process(pid, Signal::ABORT).unwrap();
    let status = serving.child.wait().unwrap();
    assert!(status.signal() == Some(6) && !status.core_dumped(), "{status}");
}

#[test]
fn files_of_trusted_keys() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::local(directory.path());
    home.organization(directory.path());
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let trust = |file: &str| ["trust", "add", "--organization", "acme", file].map(str::to_owned);
    // Both keys of a file, the first of which is already known.
    let known = bundles::public_pem(&bundles::key());
    let other = evidence_bundle::SigningKey::from_seed(&[77; 32]).public_key();
    std::fs::write(path("several"), format!("{known}{}\n", other.to_openssh())).unwrap();
    let arguments = trust(&path("several"));
    let said = home.ask(&arguments.each_ref().map(String::as_str));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("trusted already: sha256:"), "{said}");
    assert_eq!(lines[1], format!("trusted {}", other.key_id()));
    // A FIFO would wait for a writer, a device might never end.
    assert!(Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
    for file in [path("fifo"), "/dev/zero".to_owned(), directory.path().to_str().unwrap().to_owned()] {
        let arguments = trust(&file);
        let mut command = home.command(&arguments.each_ref().map(String::as_str));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(15) {
                child.kill().unwrap();
                panic!("{file}: it waits");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && text.contains("not a file"), "{file}: {text}");
    }
}
