//! Runs what a user would type in the demo's directory: shows the command line, runs it, and checks its exit
//! code.
//!
//! The programs do not inherit the user's own variables: no real token, no real platform's database.

use super::process::Process;
use super::screen::{say, typed};
use super::signals::Signals;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The prefixes of variables that the programs read.
const VARIABLES: [&str; 5] = ["EVIDENCE_", "CODEHOST_", "CLOUD_", "ALTCLOUD_", "AWS_"];

/// The demo's directory, and the programs to run in it.
#[derive(Debug)]
pub(super) struct Shell {
    programs: PathBuf,
    directory: PathBuf,
    signals: Signals,
    /// Only for the tool: the platform must not get its credentials.
    exported: Vec<(&'static str, String)>,
}

impl Shell {
    pub(super) fn new(programs: PathBuf, directory: PathBuf, signals: Signals) -> Self {
        Self { programs, directory, signals, exported: Vec::new() }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Sets a variable for all later runs of the tool.
    pub(super) fn export(&mut self, name: &'static str, value: impl Into<String>) {
        self.exported.retain(|(known, _)| *known != name);
        self.exported.push((name, value.into()));
    }

    /// Shows the command line of the tool and runs it.
    pub(super) fn evidence(&self, arguments: &[&str], expected: i32) -> io::Result<()> {
        typed(&format!("evidence {}", arguments.join(" ")));
        if !arguments.contains(&"--quiet") {
            say("");
        }
        let mut command = self.command(self.programs.join("evidence"), arguments);
        command.envs(self.exported.iter().map(|(name, value)| (name, value)));
        check(self.run(&mut command)?, expected, "evidence")
    }

    /// Shows the command line of the platform and runs it.
    pub(super) fn platform(&self, arguments: &[&str]) -> io::Result<()> {
        typed(&format!("evidence-platform {}", quoted(arguments)));
        let status = self.run(&mut self.platform_command(arguments))?;
        check(status, 0, "evidence-platform")
    }

    /// The same, with its output in a file that only its owner may read.
    pub(super) fn platform_into(&self, arguments: &[&str], file: &str) -> io::Result<()> {
        typed(&format!("evidence-platform {} > {file}", quoted(arguments)));
        let out = self.private_file(file)?;
        let status = self.run(self.platform_command(arguments).stdout(out))?;
        check(status, 0, "evidence-platform")
    }

    /// The output of a program, without showing the command.
    pub(super) fn ask(&self, command: &mut Command, what: &str) -> io::Result<String> {
        let mut child = Process::start(command.stdout(Stdio::piped()))?;
        let mut said = String::new();
        if let Some(mut output) = child.output() {
            output.read_to_string(&mut said)?;
        }
        check(child.wait(&self.signals)?, 0, what)?;
        Ok(said)
    }

    /// The platform's program, with these arguments.
    pub(super) fn platform_command(&self, arguments: &[&str]) -> Command {
        self.command(self.programs.join("evidence-platform"), arguments)
    }

    /// A program in the demo's directory, without variables that would affect it.
    pub(super) fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if VARIABLES.iter().any(|start| text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        command
    }

    /// An empty file in the demo's directory that only its owner may read.
    pub(super) fn private_file(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(self.directory.join(name))
    }

    fn run(&self, command: &mut Command) -> io::Result<ExitStatus> {
        self.signals.check()?;
        Process::start(command)?.wait(&self.signals)
    }
}

/// Fails unless it exited with this code.
pub(super) fn check(status: ExitStatus, expected: i32, what: &str) -> io::Result<()> {
    match status.code() {
        Some(code) if code == expected => Ok(()),
        Some(code) => Err(io::Error::other(format!("{what} ended with exit code {code}, not {expected}"))),
        None => Err(io::Error::other(format!("{what} was ended by a signal"))),
    }
}

/// The arguments quoted for a shell.
fn quoted(arguments: &[&str]) -> String {
    let quote = |argument: &&str| match argument.contains(' ') {
        true => format!("\"{argument}\""),
        false => (*argument).to_owned(),
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}
