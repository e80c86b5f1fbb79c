//! A directory, a code host, a configuration and a key for one test; runs of the binary; and readers for its output.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use evidence_bundle::SigningKey;
use evidence_bundle::read::{Expectations, Limits, UntrustedBundle};
use evidence_bundle::trust::TrustRoot;
use regex::Regex;
use sandbox::Server;
use sandbox::codehost::{CodeHost, Organization, Protection, Repository, Token};
use serde_json::Value;
use tempfile::TempDir;

/// The token of most tests, in the format of a real one.
pub(crate) const TOKEN: &str = "ghp_CliTestsOwnerTokenIsNotARealSecret01";

/// Longer than any run takes, including retries.
const PATIENCE: Duration = Duration::from_secs(180);

/// One key for the whole process, to save the time of key generation.
pub(crate) static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate().unwrap());

/// An organization that requires two factors, and a token with full read access and no write access.
pub(crate) fn acme() -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(Token::classic(TOKEN).login("olivia-owner").scopes(["read:org"]).sees_private(true))
}

/// A repository of `acme` without relevant settings or files.
pub(crate) fn repository(name: &str) -> Repository {
    Repository::new("acme", name)
}

/// A rule that passes, with the recommended second review.
pub(crate) fn strong() -> Protection {
    Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true)
}

/// A repository of `acme` that passes every check.
pub(crate) fn sound(name: &str) -> Repository {
    let owners = sandbox::codehost::File::text("* @acme/everyone\n");
    repository(name).protection("main", strong()).file(".github/CODEOWNERS", owners)
}

/// `evidence.yaml` as lines that tests extend and replace.
#[derive(Clone)]
pub(crate) struct Config {
    framework: String,
    controls: String,
    codehost: Vec<(String, String)>,
    bundle: Vec<(String, String)>,
    signing: Vec<(String, String)>,
    rest: String,
}

impl Config {
    fn new(api_url: &str) -> Config {
        let line = |key: &str, value: &str| (key.to_string(), value.to_string());
        Config {
            framework: "soc2_type1".to_string(),
            controls: "[CC6.1, CC6.6, CC7.2]".to_string(),
            codehost: vec![
                line("mode", "token"),
                line("org", "acme"),
                line("repos", "\"*\""),
                line("api_url", api_url),
                // Other tests cover pacing; here it would only cost time.
                line("requests_per_minute", "0"),
            ],
            bundle: Vec::new(),
            signing: vec![line("private_key_path", "key.pem")],
            rest: String::new(),
        }
    }

    pub(crate) fn framework(mut self, framework: &str) -> Config {
        self.framework = framework.to_string();
        self
    }

    pub(crate) fn controls(mut self, controls: &str) -> Config {
        self.controls = controls.to_string();
        self
    }

    /// A key of `sources.codehost`.
    pub(crate) fn source(mut self, key: &str, value: &str) -> Config {
        set(&mut self.codehost, key, value);
        self
    }

    /// A key of `bundle`.
    pub(crate) fn bundle(mut self, key: &str, value: &str) -> Config {
        set(&mut self.bundle, key, value);
        self
    }

    /// The keys of `bundle.signing`, all of them.
    pub(crate) fn signing(mut self, key: &str, value: &str) -> Config {
        self.signing = vec![(key.to_string(), value.to_string())];
        self
    }

    /// Text at the end of the file.
    pub(crate) fn rest(mut self, text: &str) -> Config {
        self.rest.push_str(text);
        self
    }

    pub(crate) fn text(&self) -> String {
        let lines = |lines: &[(String, String)], indent: &str| -> String {
            lines.iter().map(|(key, value)| format!("{indent}{key}: {value}\n")).collect()
        };
        format!(
            "framework: {}\ncontrols: {}\nsources:\n  codehost:\n{}bundle:\n{}  signing:\n{}{}",
            self.framework,
            self.controls,
            lines(&self.codehost, "    "),
            lines(&self.bundle, "  "),
            lines(&self.signing, "    "),
            self.rest
        )
    }
}

fn set(lines: &mut Vec<(String, String)>, key: &str, value: &str) {
    lines.retain(|(known, _)| known != key);
    lines.push((key.to_string(), value.to_string()));
}

/// Everything one test needs.
pub(crate) struct Lab {
    directory: Arc<TempDir>,
    pub(crate) server: Server,
    env: BTreeMap<String, String>,
    named: bool,
}

impl Lab {
    /// Serves the host and writes a configuration for it.
    pub(crate) fn new(host: CodeHost) -> Lab {
        let directory = Arc::new(tempfile::Builder::new().prefix("evidence-cli-").tempdir().unwrap());
        let server = host.serve().unwrap();
        let env = BTreeMap::from([("CODEHOST_TOKEN".to_string(), TOKEN.to_string())]);
        let lab = Lab { directory, server, env, named: false };
        lab.write("evidence.yaml", lab.config().text());
        lab.write("key.pem", KEY.to_pkcs8_v1_pem().unwrap().as_bytes());
        lab.set_mode("key.pem", 0o600);
        lab.write("key.pub.pem", KEY.public_key().to_spki_pem());
        lab
    }

    /// Names the configuration in later runs of `collect`, which approves what it may not say otherwise.
    pub(crate) fn named(mut self) -> Lab {
        self.named = true;
        self
    }

    /// The lab with another configuration.
    pub(crate) fn with(self, change: impl FnOnce(Config) -> Config) -> Lab {
        self.write("evidence.yaml", change(self.config()).text());
        self
    }

    /// The configuration as it was first written.
    pub(crate) fn config(&self) -> Config {
        Config::new(&self.server.url())
    }

    /// Sets a variable for all later runs.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Lab {
        self.set_env(name, value);
        self
    }

    /// Sets a variable for all later runs.
    pub(crate) fn set_env(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_string(), value.to_string());
    }

    /// Removes a variable for all later runs.
    pub(crate) fn without_env(mut self, name: &str) -> Lab {
        self.env.remove(name);
        self
    }

    /// The directory in which the binary runs.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The names in the output directory, including hidden ones; empty if the directory does not exist.
    pub(crate) fn output(&self) -> Vec<String> {
        names(&self.path("evidence-bundles"))
    }

    /// The binary, with only the lab's directory and environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("HOME", self.directory.path())
            .envs(&self.env)
            .stdin(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_command(self.command(arguments))
    }

    pub(crate) fn run_command(&self, command: Command) -> Run {
        let mut command = tokio::process::Command::from(command);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Kills the run if it takes too long.
        let ended = async { tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output()).await };
        let output = runtime.block_on(ended);
        let output = output.unwrap_or_else(|_| panic!("not ended after {PATIENCE:?}")).unwrap();
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            directory: Arc::clone(&self.directory),
        }
    }

    /// The command prefix that makes file permissions apply to a program. It is empty unless root runs the tests; then
    /// another user owns the lab, and programs run as that user. `None` where that is not possible.
    pub(crate) fn unprivileged(&self) -> Option<&'static [&'static str]> {
        let probe = self.path("probe");
        fs::write(&probe, "").unwrap();
        fs::set_permissions(&probe, fs::Permissions::from_mode(0o000)).unwrap();
        let privileged = fs::read(&probe).is_ok();
        fs::remove_file(&probe).unwrap();
        if !privileged {
            return Some(&[]);
        }
        Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().ok()?;
        Command::new("chown").args(["-R", "65534"]).arg(self.path("")).status().ok()?;
        Some(&["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
    }

    /// Runs as a user to whom file permissions apply. `None` where that is not possible.
    pub(crate) fn run_unprivileged(&self, arguments: &[&str]) -> Option<Run> {
        let command = self.command(arguments);
        let Some((program, options)) = self.unprivileged()?.split_first() else {
            return Some(self.run_command(command));
        };
        let mut demoted = Command::new(program);
        demoted.args(options).arg(command.get_program()).args(arguments);
        demoted.current_dir(self.directory.path()).env_clear().stdin(Stdio::null());
        demoted.envs(command.get_envs().map(|(name, value)| (name, value.unwrap_or_default())));
        let run = self.run_command(demoted);
        // That user may not have access to the binary.
        (!matches!(run.code, Some(126 | 127))).then_some(run)
    }

    /// `evidence collect` and further arguments.
    pub(crate) fn collect(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["collect"];
        all.extend(self.named.then_some(["--config", "evidence.yaml"]).into_iter().flatten());
        all.extend(arguments);
        self.run(&all)
    }

    /// The paths of the requests to the host, in order of arrival.
    pub(crate) fn requested(&self) -> Vec<String> {
        self.server.requests().iter().map(|request| request.path_and_query.clone()).collect()
    }
}

impl Drop for Lab {
    /// In every test, the tool must not try to change anything.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.server.violations().is_empty(), "{:?}", self.server.violations());
        }
    }
}

/// The names in a directory, sorted; empty if the directory does not exist.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The result of a run.
pub(crate) struct Run {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Keeps the directory while a test may read the bundle.
    directory: Arc<TempDir>,
}

impl Run {
    /// Everything that the run printed, for a message or a search.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Run {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that stderr contains this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Run {
        assert!(self.stderr.contains(text), "{text:?} is not in\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says_not(self, text: &str) -> Run {
        assert!(!self.all().contains(text), "{text:?} is in\n{}", self.all());
        self
    }

    /// The only bundle in the default output directory.
    #[track_caller]
    pub(crate) fn bundle(&self) -> Bundle {
        let directory = self.directory.path().join("evidence-bundles");
        let names = names(&directory);
        assert_eq!(names.len(), 1, "{names:?}\n{}", self.all());
        Bundle::open(&directory.join(&names[0]))
    }

    /// Asserts that the output directory is empty.
    #[track_caller]
    pub(crate) fn leaves_nothing(self) -> Run {
        let names = names(&self.directory.path().join("evidence-bundles"));
        assert!(names.is_empty(), "{names:?}\n{}", self.all());
        self
    }

    /// For a snapshot: the code and both streams, without values that differ between runs.
    pub(crate) fn shown(&self) -> String {
        let code = self.code.map_or("a signal".to_string(), |code| code.to_string());
        let text =
            format!("exit code {code}\n--- stdout ---\n{}--- stderr ---\n{}", self.stdout, self.stderr);
        redact(&text, self.directory.path())
    }
}

/// The format of bundle ids and request ids.
pub(crate) const UUID: &str = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/// Replaces paths, ports, times, sizes, ids and keys.
pub(crate) fn redact(text: &str, directory: &Path) -> String {
    static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
            (r"evidence-bundle-\d{8}-\d{6}\.tar\.gz", "evidence-bundle-[TIME].tar.gz"),
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
            (r"\d\d:\d\d:\d\dZ", "[TIME]"),
            // A forecast depends on how fast this machine answers.
            (r"(?m)^( +time +)(about|usually) .*$", "$1[DURATION]"),
            (r"sha256:[0-9a-f]{64}", "sha256:[KEY]"),
            (r"\b[0-9a-f]{64}\b", "[SHA256]"),
            (UUID, "[ID]"),
            (r"SHA256:[A-Za-z0-9+/]{43}", "SHA256:[FINGERPRINT]"),
            (r"ssh-ed25519 [A-Za-z0-9+/]{68}", "ssh-ed25519 [PUBLIC KEY]"),
            (r"\d[\d,]*(\.\d)? (B|kB|MB)\b", "[SIZE]"),
            (r"\d[\d,]* bytes\b", "[SIZE]"),
            // Sizes in a column.
            (r"(?m)^ +\[SIZE\]", "  [SIZE]"),
            (r#""bytes": \d+"#, r#""bytes": [SIZE]"#),
        ]
        .into_iter()
        .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
        .collect()
    });
    let mut text = text.replace(&*directory.to_string_lossy(), "[DIR]");
    for (pattern, with) in RULES.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    text
}

/// A verified bundle, unpacked in memory.
pub(crate) struct Bundle {
    pub(crate) path: PathBuf,
    /// Every entry of the archive in its order.
    pub(crate) entries: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    /// Verifies the file as strictly as `evidence verify`, and unpacks it.
    #[track_caller]
    pub(crate) fn open(path: &Path) -> Bundle {
        let packed = fs::read(path).unwrap();
        let mut trust = TrustRoot::new();
        trust.add_key("the tests' key", KEY.public_key());
        UntrustedBundle::new(packed.as_slice())
            .verify(&trust, &Expectations::default(), &Limits::default())
            .unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
        Bundle { path: path.to_path_buf(), entries: untar(&gunzip(&packed)) }
    }

    pub(crate) fn paths(&self) -> Vec<&str> {
        self.entries.iter().map(|(path, _)| path.as_str()).collect()
    }

    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        self.entries.iter().find(|(known, _)| known == path).map(|(_, content)| content.as_slice())
    }

    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> Value {
        let content = self.file(path).unwrap_or_else(|| panic!("no {path} in {:?}", self.paths()));
        serde_json::from_slice(content).unwrap()
    }

    pub(crate) fn manifest(&self) -> Value {
        self.json("manifest.json")
    }

    /// The part of `run.json` about the code host.
    pub(crate) fn source(&self) -> Value {
        self.json("run.json")["sources"][0].clone()
    }

    /// The request that this artifact answers.
    #[track_caller]
    pub(crate) fn request_of(&self, path: &str) -> Value {
        let observations = self.json("derived/observations.json")["observations"].take();
        let is_of = |row: &&Value| row["artifact"] == path;
        let row = observations.as_array().unwrap().iter().find(is_of).unwrap();
        let good = |request: &&Value| request["status"].as_u64().is_some_and(|status| status < 400);
        row["requests"].as_array().unwrap().iter().rev().find(good).unwrap().clone()
    }

    /// An artifact of the code host.
    pub(crate) fn artifact(&self, name: &str) -> Option<Value> {
        let content = self.file(&format!("sources/codehost/{name}"))?;
        Some(serde_json::from_slice(content).unwrap())
    }

    /// Status and reason of the one check of this control about this subject.
    #[track_caller]
    pub(crate) fn check(&self, control: &str, subject: &str) -> (String, String) {
        let check = self.check_record(control, subject);
        let text = |key: &str| check[key].as_str().unwrap().to_string();
        (text("status"), text("reason"))
    }

    #[track_caller]
    pub(crate) fn check_record(&self, control: &str, subject: &str) -> Value {
        let normalized = self.json("derived/normalized.json");
        let checks: Vec<&Value> = normalized["controls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|known| known["id"] == control)
            .flat_map(|known| known["checks"].as_array().unwrap())
            .filter(|check| check["subject"] == subject)
            .collect();
        assert_eq!(checks.len(), 1, "{control} {subject}: {normalized:#}");
        checks[0].clone()
    }

    /// Status of a control.
    pub(crate) fn control(&self, id: &str) -> String {
        let normalized = self.json("derived/normalized.json");
        let controls = normalized["controls"].as_array().unwrap();
        let control = controls.iter().find(|control| control["id"] == id).unwrap();
        control["status"].as_str().unwrap().to_string()
    }

    /// The codes of the manifest's warnings about this subject.
    pub(crate) fn warnings(&self, subject: &str) -> Vec<String> {
        let manifest = self.manifest();
        let warnings = manifest["warnings"].as_array().unwrap().iter();
        warnings
            .filter(|warning| warning["subject"] == subject)
            .map(|warning| warning["code"].as_str().unwrap().to_string())
            .collect()
    }

    /// Code, subject and message of the manifest's errors.
    pub(crate) fn errors(&self) -> Vec<(String, String, String)> {
        let manifest = self.manifest();
        let text = |error: &Value, key: &str| error[key].as_str().unwrap().to_string();
        let errors = manifest["errors"].as_array().unwrap().iter();
        errors.map(|error| (text(error, "code"), text(error, "subject"), text(error, "message"))).collect()
    }
}

/// Changes one letter of an artifact, and repacks the archive in the required format.
pub(crate) fn damage(lab: &Lab, bundle: &str) {
    let mut tar = gunzip(&fs::read(lab.path(bundle)).unwrap());
    let found = b"\"login\": \"acme\"";
    let at = tar.windows(found.len()).position(|window| window == found).unwrap();
    tar[at + found.len() - 2] = b'f';
    let header = flate2::GzBuilder::new().mtime(0).operating_system(255);
    let mut packed = header.write(Vec::new(), flate2::Compression::new(6));
    packed.write_all(&tar).unwrap();
    lab.write(bundle, packed.finish().unwrap());
}

pub(crate) fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Reads only what a bundle's archive contains: ustar headers, and pax `path` records for long names.
fn untar(mut tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |bytes: &[u8]| {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8(bytes[..end].to_vec()).unwrap()
    };
    let mut entries = Vec::new();
    let mut long = None;
    while tar[0] != 0 {
        let header = &tar[..512];
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        let content = tar[512..512 + size].to_vec();
        if header[156] == b'x' {
            let record = String::from_utf8(content).unwrap();
            long = Some(record.trim_end().split_once("path=").unwrap().1.to_string());
        } else {
            let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
            let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            entries.push((long.take().unwrap_or(name), content));
        }
        tar = &tar[512 + size.next_multiple_of(512)..];
    }
    entries
}
