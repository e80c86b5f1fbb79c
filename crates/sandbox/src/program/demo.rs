//! `sandbox demo`: the whole main job with the real binary, collect and then verify, against a made-up company: a code
//! host, a cloud account and a directory.
//!
//! What it runs is what a user would type, and it is shown before it runs. The files stay where they are, so that
//! they can be looked at; a second run adds a second bundle.

use sandbox::workspace::Workspace;
use sandbox::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_SECRET_ACCESS_KEY, DEMO_FINE_GRAINED_TOKEN, DEMO_WORKSPACE_ADMIN,
    demo_account, demo_organization, demo_workspace,
};
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The bundle was written, and one artifact was left out: one of the repositories has a secret in a comment.
const FORBIDDEN_DATA: i32 = 4;

/// Runs the demo.
pub(crate) fn run() -> io::Result<()> {
    let tool = build_tool()?;
    let directory = tool.with_file_name("demo");
    std::fs::create_dir_all(&directory)?;
    let codehost = demo_organization().serve()?;
    let cloud = demo_account().serve()?;
    let workspace = demo_workspace().serve()?;
    let demo = Demo { tool, directory };

    heading("A company on this machine: a code host with 14 repositories, a cloud account, a directory");
    say(&format!("  codehost  {}", codehost.url()));
    say(&format!("  cloud     {}", cloud.url()));
    say(&format!("  altcloud  {}", workspace.url()));
    heading("A configuration with all three, and a key pair");
    // The ports are others in every run; the keys stay.
    let configuration = configuration(&codehost.url(), &cloud.url(), &workspace.url());
    std::fs::write(demo.directory.join("evidence.yaml"), &configuration)?;
    let credentials = demo.directory.join(CREDENTIALS);
    std::fs::write(&credentials, Workspace::service_account_file(&workspace))?;
    // It holds a private key, if only a made-up one.
    std::fs::set_permissions(&credentials, std::fs::Permissions::from_mode(0o600))?;
    say(&configuration);
    if !demo.directory.join("evidence-signing-key.pem").exists() {
        demo.evidence(&["keygen"], &[0])?;
    }
    heading("The evidence, as one signed bundle");
    let before = demo.bundles()?;
    demo.evidence(&["collect"], &[FORBIDDEN_DATA])?;
    let bundle = demo.bundles()?.into_iter().find(|name| !before.contains(name));
    let bundle = bundle.ok_or_else(|| io::Error::other("collect wrote no bundle"))?;
    say(&format!(
        "  Exit code {FORBIDDEN_DATA}: somebody left a token in a comment of acme/infra's CODEOWNERS, so that"
    ));
    say("  artifact is not in the bundle. Everything else is.");
    heading("What the auditor does with it");
    let path = format!("evidence-bundles/{bundle}");
    demo.evidence(&["verify", "--public-key", "evidence-signing-key.pub.pem", &path], &[0])?;
    demo.show_contents(&path)?;
    demo.farewell(&path);
    Ok(())
}

/// The file with the service account's key, in the demo's directory.
const CREDENTIALS: &str = "service-account.json";

fn configuration(codehost: &str, cloud: &str, workspace: &str) -> String {
    format!(
        "framework: soc2_type1
controls: [CC6.1, CC6.6, CC7.2]
sources:
  codehost:
    mode: token
    org: acme
    repos: \"*\"
    api_url: {codehost}
  cloud:
    mode: env
    regions: [eu-west-1, us-east-1]
    endpoint_url: {cloud}
  altcloud:
    mode: service_account
    admin_email: {DEMO_WORKSPACE_ADMIN}
    domains: [acme.example, acme-labs.example]
    api_url: {workspace}
bundle:
  signing:
    private_key_path: evidence-signing-key.pem
"
    )
}

struct Demo {
    tool: PathBuf,
    directory: PathBuf,
}

impl Demo {
    /// Shows the command line, runs it in the demo's directory, and compares its exit code.
    fn evidence(&self, arguments: &[&str], expected: &[i32]) -> io::Result<()> {
        say(&format!("$ evidence {}\n", arguments.join(" ")));
        let status = Command::new(&self.tool)
            .args(arguments)
            .current_dir(&self.directory)
            .env("CODEHOST_TOKEN", DEMO_FINE_GRAINED_TOKEN)
            .env("CLOUD_ACCESS_KEY_ID", DEMO_CLOUD_ACCESS_KEY_ID)
            .env("CLOUD_SECRET_ACCESS_KEY", DEMO_CLOUD_SECRET_ACCESS_KEY)
            .env("ALTCLOUD_APPLICATION_CREDENTIALS", CREDENTIALS)
            .env_remove("CODEHOST_API_URL")
            .env_remove("CLOUD_SESSION_TOKEN")
            .env_remove("CLOUD_REGION")
            .env_remove("SOURCE_DATE_EPOCH")
            .env_remove("EVIDENCE_TRUSTED_KEYS")
            .status()?;
        check(status, expected, "evidence")
    }

    fn bundles(&self) -> io::Result<Vec<String>> {
        let directory = self.directory.join("evidence-bundles");
        if !directory.exists() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".tar.gz") {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// The archive is an ordinary one: shown with the machine's own tar, where there is one.
    fn show_contents(&self, bundle: &str) -> io::Result<()> {
        heading("What is inside");
        say(&format!("$ tar -tzf {bundle}\n"));
        match Command::new("tar").args(["-tzf", bundle]).current_dir(&self.directory).status() {
            Ok(status) => check(status, &[0], "tar"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                say("  (there is no tar on this machine)");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn farewell(&self, bundle: &str) {
        let directory = self.directory.display();
        heading("Where everything is");
        say(&format!("  {directory}/evidence.yaml"));
        say(&format!("  {directory}/{bundle}"));
        heading("The same with your own organization");
        say("  cargo install --path crates/evidence");
        say("  evidence init --org <your-organization> --generate-keys");
        say("  export CODEHOST_TOKEN=<a fine-grained token with read-only permissions; see README.md>");
        say("  evidence collect --dry-run");
        say("  evidence collect");
    }
}

/// Builds the real binary beside this one, with the same profile, and says where it is.
fn build_tool() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let tool = own.with_file_name("evidence");
    let release = own.parent().and_then(Path::file_name) == Some(OsStr::new("release"));
    // Set by `cargo run`; without it, this program was started by hand and takes the binary that is there.
    match std::env::var_os("CARGO") {
        Some(cargo) => {
            say("Building evidence (the first time takes a few minutes) ...");
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--package", "evidence"]);
            // What `cargo run` tells this program about its own package; a build script that looks at these would be run
            // again in every demo, and everything above it compiled anew.
            for (name, _) in std::env::vars_os() {
                let text = name.to_string_lossy();
                if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                    build.env_remove(&name);
                }
            }
            if release {
                build.arg("--release");
            }
            check(build.status()?, &[0], "cargo build")?;
        }
        None if tool.exists() => {}
        None => {
            return Err(io::Error::other("there is no evidence binary beside this one: run `cargo demo`"));
        }
    }
    Ok(tool)
}

fn check(status: ExitStatus, expected: &[i32], what: &str) -> io::Result<()> {
    match status.code() {
        Some(code) if expected.contains(&code) => Ok(()),
        Some(code) => Err(io::Error::other(format!("{what} ended with exit code {code}"))),
        None => Err(io::Error::other(format!("{what} was ended by a signal"))),
    }
}

fn heading(text: &str) {
    anstream::println!("\n\u{1b}[1;36m=== {text}\u{1b}[0m");
}

fn say(text: &str) {
    anstream::println!("{text}");
}
