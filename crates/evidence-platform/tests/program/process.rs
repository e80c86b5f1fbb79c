//! The program as a process.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::content_digest;

/// The location of a platform's data, as variables of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home {
    pub(crate) name: String,
    pub(crate) variables: Vec<(String, String)>,
    /// Additional arguments for `serve`.
    pub(crate) serve: Vec<&'static str>,
    /// The file for the log.
    pub(crate) log: Option<PathBuf>,
}

impl Home {
    pub(crate) fn local(directory: &Path) -> Home {
        let data = directory.join("data").to_str().unwrap().to_owned();
        let variables = vec![("EVIDENCE_PLATFORM_DATA".into(), data)];
        Home { name: "SQLite, directory".into(), variables, ..Home::default() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence-platform"));
        command.env_clear().envs(self.variables.iter().cloned()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The standard output of the program, which must succeed.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Creates an organization that trusts the test key; returns an admin key.
    pub(crate) fn organization(&self, directory: &Path) -> String {
        self.tenant(directory, "acme")
    }

    /// The same, with this short name.
    pub(crate) fn tenant(&self, directory: &Path, slug: &str) -> String {
        let file = directory.join("key.pub.pem");
        let key = crate::support::bundles::key();
        std::fs::write(&file, crate::support::bundles::public_pem(&key)).unwrap();
        self.ask(&["init"]);
        self.ask(&["organization", "create", "ACME Corp", "--slug", slug]);
        self.ask(&["trust", "add", "--organization", slug, file.to_str().unwrap()]);
        self.ask(&["key", "create", "--organization", slug, "--role", "admin"])
    }
}

/// A server process. Killed when dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) url: String,
    /// Its standard output.
    pub(crate) said: BufReader<std::process::ChildStdout>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    pub(crate) fn start(home: &Home, listen: &str) -> Serving {
        let log = match &home.log {
            Some(path) => File::create(path).unwrap().into(),
            None if listen.ends_with(":0") => Stdio::piped(),
            None => Stdio::null(),
        };
        Serving::start_with(home, listen, log)
    }

    /// The same with this standard error.
    pub(crate) fn start_with(home: &Home, listen: &str, log: Stdio) -> Serving {
        let mut command = home.command(&["serve", "--listen", listen]);
        command.args(&home.serve);
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Serving { child, url, said }
    }

    /// Its peak memory so far, in kB.
    pub(crate) fn most_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// Its current memory, in kB.
    pub(crate) fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Its processor time so far.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split_ascii_whitespace().collect();
        // User and system time, in hundredths of a second on every known Linux.
        let hundredths = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(hundredths * 10)
    }

    /// SIGKILL: without any clean-up.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGTERM; returns whether it succeeded, and the log.
    pub(crate) fn terminate(mut self) -> (bool, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut log = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut log).unwrap();
        }
        (self.child.wait().unwrap().success(), log)
    }
}

/// An address that was free a moment ago.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap()
}

pub(crate) async fn upload(
    client: &reqwest::Client,
    url: &str,
    key: &str,
    bytes: &[u8],
) -> reqwest::Result<(u16, String)> {
    let request = client.post(format!("{url}/api/v1/bundles")).bearer_auth(key);
    let request = request.header("content-digest", content_digest(bytes)).body(bytes.to_vec());
    let response = request.send().await?;
    let status = response.status().as_u16();
    let json: serde_json::Value = response.json().await?;
    Ok((status, json["bundle_id"].as_str().unwrap_or_default().to_owned()))
}
