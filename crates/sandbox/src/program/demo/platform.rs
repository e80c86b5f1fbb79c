//! The demo's platform: the real program as a child process on a loopback port, with its data in the demo's directory.
//!
//! Its own commands create organization, keys and trust once; later runs reuse them. The upload key is in a file and is
//! never printed. The read key is printed: it only gives access to made-up evidence on this machine.

use super::process::Process;
use super::screen::{say, typed};
use super::shell::{Shell, check};
use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader};
use std::process::{ChildStdout, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

const UPLOAD_KEY: &str = "upload-key";
const READ_KEY: &str = "read-key";
const LOG: &str = "evidence-platform.log";

/// A running platform.
#[derive(Debug)]
pub(super) struct Platform {
    process: Process,
    /// Its address.
    pub(super) url: String,
}

/// Creates what a platform needs before an upload: an organization, its keys, and a trusted signing key.
pub(super) fn prepare(shell: &Shell) -> io::Result<()> {
    typed("evidence-platform init");
    shell.ask(&mut shell.platform_command(&["init"]), "evidence-platform")?;
    let organizations =
        shell.ask(&mut shell.platform_command(&["organization", "list"]), "evidence-platform")?;
    let known = organizations.lines().any(|line| line.split_whitespace().nth(1) == Some("acme"));
    if known {
        say("  The organization and its keys are there from an earlier run.");
    } else {
        // Keys of a removed platform are worthless.
        for file in [UPLOAD_KEY, READ_KEY] {
            remove(shell, file)?;
        }
        shell.platform(&["organization", "create", "Acme", "--slug", "acme"])?;
    }
    for (role, file) in [("upload", UPLOAD_KEY), ("read", READ_KEY)] {
        // An empty file comes from a run that was interrupted here.
        if key(shell, file).is_err() {
            shell.platform_into(&["key", "create", "--organization", "acme", "--role", role], file)?;
        }
    }
    shell.platform(&["trust", "add", "--organization", "acme", "evidence-signing-key.pub.pem"])
}

/// The upload key, a secret.
pub(super) fn upload_key(shell: &Shell) -> io::Result<String> {
    typed(&format!("export EVIDENCE_API_KEY=$(cat {UPLOAD_KEY})"));
    key(shell, UPLOAD_KEY)
}

/// The read key, which signs in to the pages.
pub(super) fn read_key(shell: &Shell) -> io::Result<String> {
    key(shell, READ_KEY)
}

fn key(shell: &Shell, file: &str) -> io::Result<String> {
    let path = shell.directory().join(file);
    let key = std::fs::read_to_string(&path)?.trim().to_owned();
    match key.is_empty() {
        true => Err(io::Error::other(format!("{} is empty", path.display()))),
        false => Ok(key),
    }
}

fn remove(shell: &Shell, file: &str) -> io::Result<()> {
    match std::fs::remove_file(shell.directory().join(file)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Platform {
    /// Starts it on a free port, and waits until it listens.
    pub(super) fn start(shell: &Shell) -> io::Result<Self> {
        let arguments = ["serve", "--listen", "127.0.0.1:0"];
        typed(&format!("evidence-platform {} 2>> {LOG} &", arguments.join(" ")));
        let path = shell.directory().join(LOG);
        let log = OpenOptions::new().append(true).create(true).open(&path)?;
        let mut process =
            Process::start(shell.platform_command(&arguments).stdout(Stdio::piped()).stderr(log))?;
        let said = process.output().map(lines).transpose()?;
        let line = said.map_or(Ok(String::new()), |said| next(&said, shell))?;
        match line.strip_prefix("listening at ") {
            Some(url) => {
                say(&line);
                Ok(Self { url: url.to_owned(), process })
            }
            None => {
                Err(io::Error::other(format!("evidence-platform does not listen; see {}", path.display())))
            }
        }
    }

    /// Stops it in order.
    pub(super) fn stop(self) -> io::Result<()> {
        check(self.process.stop()?, 0, "evidence-platform")
    }

    /// Serves until a signal arrives, and stops in order.
    pub(super) fn serve(mut self, shell: &Shell) -> io::Result<()> {
        match self.process.wait(shell.signals()) {
            // Ctrl-C reaches both processes, and the platform may stop first.
            Ok(status) => check(status, 0, "evidence-platform"),
            Err(_) if shell.signals().raised().is_some() => self.stop(),
            Err(error) => Err(error),
        }
    }
}

/// The output of a child, line by line. A separate thread reads it to the end, since a child whose output pipe is full
/// or closed would fail.
fn lines(output: ChildStdout) -> io::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().name("platform".to_owned()).spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    })?;
    Ok(receiver)
}

/// The next line; empty at the end.
fn next(said: &mpsc::Receiver<String>, shell: &Shell) -> io::Result<String> {
    loop {
        match said.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => return Ok(line),
            Err(RecvTimeoutError::Disconnected) => return Ok(String::new()),
            Err(RecvTimeoutError::Timeout) => shell.signals().check()?,
        }
    }
}
