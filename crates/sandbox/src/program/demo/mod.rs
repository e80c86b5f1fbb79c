//! `sandbox demo`: a complete run of the real programs against a made-up company with a code host, a cloud account
//! and a directory. Collects, verifies, and uploads to a platform.
//!
//! It runs the commands that a user would type, and shows each one first. The files remain for inspection; a second
//! run adds a second bundle. No process outlives it.

mod build;
mod company;
mod platform;
mod process;
mod screen;
mod shell;
mod signals;

use clap::Args as ClapArgs;
use company::{CHANGES, CREDENTIALS, Company};
use platform::Platform;
use sandbox::{DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_SECRET_ACCESS_KEY, DEMO_FINE_GRAINED_TOKEN};
use screen::{heading, say, typed};
use shell::Shell;
use signals::Signals;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// The bundle is incomplete: the token may not read the branch protection of one repository.
const INCOMPLETE: i32 = 3;
/// How many lines of the archive's listing to show.
const LISTED: usize = 9;

/// The options.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Collect four times, with changes in between, and leave the platform running until Ctrl-C.
    ///
    /// It prints the address of the platform's pages and a key to sign in with.
    #[arg(long)]
    keep: bool,
}

/// Runs the demo.
pub(crate) fn run(args: &Args) -> io::Result<ExitCode> {
    let signals = Signals::watch()?;
    match (demo(args, &signals), signals.raised()) {
        (Ok(()), _) => Ok(ExitCode::SUCCESS),
        // A signal caused the failure.
        (Err(_), Some(code)) => Ok(ExitCode::from(code)),
        (Err(error), None) => Err(error),
    }
}

fn demo(args: &Args, signals: &Signals) -> io::Result<()> {
    let programs = build::programs(signals)?;
    let directory = programs.join("demo");
    std::fs::create_dir_all(&directory)?;
    let mut shell = Shell::new(programs, directory, signals.clone());
    let company = Company::serve()?;

    introduce(&mut shell, &company)?;
    let bundle = collect(&shell)?;
    verify(&shell, &bundle)?;
    let platform = hand_over(&mut shell, &bundle)?;
    if !args.keep {
        platform.stop()?;
        return farewell(&shell, &bundle);
    }
    for change in &CHANGES {
        heading(&format!("Later: {}", change.title));
        change.announced.iter().for_each(|line| say(&format!("  {line}")));
        (change.happens)(&company);
        again(&shell, if change.incomplete { INCOMPLETE } else { 0 })?;
    }
    drop(company);
    heading("The platform is yours to look at");
    say(&format!("  {}/bundles", platform.url));
    sign_in(&shell)?;
    say("  Ctrl-C ends it.");
    platform.serve(&shell)
}

fn introduce(shell: &mut Shell, company: &Company) -> io::Result<()> {
    heading("A company on this machine: 14 repositories, a cloud account, a directory");
    say(&format!("  codehost  {}", company.codehost.url()));
    say(&format!("  cloud     {}", company.cloud.url()));
    say(&format!("  altcloud  {}", company.workspace.url()));
    heading("A configuration with all three, and a key pair");
    // The ports differ in every run; the keys do not.
    let configuration = company.configuration();
    std::fs::write(shell.directory().join("evidence.yaml"), &configuration)?;
    shell.private_file(CREDENTIALS)?.write_all(company.credentials().as_bytes())?;
    say(configuration.trim_end());
    shell.export("CODEHOST_TOKEN", DEMO_FINE_GRAINED_TOKEN);
    shell.export("CLOUD_ACCESS_KEY_ID", DEMO_CLOUD_ACCESS_KEY_ID);
    shell.export("CLOUD_SECRET_ACCESS_KEY", DEMO_CLOUD_SECRET_ACCESS_KEY);
    shell.export("ALTCLOUD_APPLICATION_CREDENTIALS", CREDENTIALS);
    if !shell.directory().join("evidence-signing-key.pem").exists() {
        shell.evidence(&["keygen"], 0)?;
    }
    // In a variable instead of a path: working copies are often in group-writable directories, where the tool
    // refuses a key.
    let key = std::fs::read_to_string(shell.directory().join("evidence-signing-key.pem"))?;
    typed("export EVIDENCE_SIGNING_KEY=\"$(cat evidence-signing-key.pem)\"");
    shell.export("EVIDENCE_SIGNING_KEY", key);
    Ok(())
}

/// Collects, and returns the path of the bundle relative to the demo's directory.
fn collect(shell: &Shell) -> io::Result<String> {
    heading("The evidence, as one signed bundle");
    let before = bundles(shell)?;
    shell.evidence(&["collect"], INCOMPLETE)?;
    let bundle = bundles(shell)?.into_iter().find(|name| !before.contains(name));
    let bundle = bundle.ok_or_else(|| io::Error::other("collect wrote no bundle"))?;
    say(&format!(
        "\n  Exit code {INCOMPLETE}: the token may not read the branch protection of one repository, and the bundle says so."
    ));
    say("  The CODEOWNERS file of acme/infra contains a token in a comment: that artifact was left out.");
    Ok(format!("evidence-bundles/{bundle}"))
}

fn bundles(shell: &Shell) -> io::Result<Vec<String>> {
    let directory = shell.directory().join("evidence-bundles");
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

fn verify(shell: &Shell, bundle: &str) -> io::Result<()> {
    heading("What the auditor does with it");
    shell.evidence(&["verify", "-k", "evidence-signing-key.pub.pem", bundle], 0)?;
    // It is an ordinary archive, so list it with the system's tar, if there is one.
    say("");
    typed(&format!("tar -tzf {bundle}"));
    match shell.ask(&mut shell.command("tar", &["-tzf", bundle]), "tar") {
        Ok(listing) => {
            listing.lines().take(LISTED).for_each(say);
            say(&format!("  ... and {} more", listing.lines().count().saturating_sub(LISTED)));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            say("  (tar is not installed)");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Starts a platform and uploads the bundle.
fn hand_over(shell: &mut Shell, bundle: &str) -> io::Result<Platform> {
    heading("A platform for bundles: an organization, its keys, whom it trusts");
    platform::prepare(shell)?;
    let platform = Platform::start(shell)?;
    heading("The bundle, handed over");
    let url = &platform.url;
    typed(&format!("printf 'upload:\\n  api_url: {url}\\n' >> evidence.yaml"));
    let mut file = std::fs::OpenOptions::new().append(true).open(shell.directory().join("evidence.yaml"))?;
    file.write_all(format!("upload:\n  api_url: {url}\n").as_bytes())?;
    let key = platform::upload_key(shell)?;
    shell.export("EVIDENCE_API_KEY", key);
    shell.evidence(&["upload", "--config", "evidence.yaml", bundle], 0)?;
    Ok(platform)
}

/// Collects and uploads one more bundle.
fn again(shell: &Shell, expected: i32) -> io::Result<()> {
    // The names of bundles have a resolution of one second.
    std::thread::sleep(Duration::from_secs(1));
    shell.evidence(&["collect", "--upload", "--quiet"], expected)
}

fn farewell(shell: &Shell, bundle: &str) -> io::Result<()> {
    let directory = shell.directory().display();
    heading("Where everything is");
    say(&format!("  {directory}/evidence.yaml"));
    say(&format!("  {directory}/{bundle}"));
    say(&format!("  {directory}/evidence-platform-data"));
    heading("The platform has ended. To look at its pages, with bundles to compare");
    say("  cargo demo -- --keep");
    sign_in(shell)?;
    heading("The same with your own organization");
    say("  cargo install --locked --path crates/evidence");
    say("  evidence init --org <your-organization> --generate-keys");
    say("  export CODEHOST_TOKEN=<a read-only token; see docs/getting-started.md>");
    say("  evidence collect --dry-run");
    say("  evidence collect");
    Ok(())
}

fn sign_in(shell: &Shell) -> io::Result<()> {
    say("  Sign in there with this key. It is for this demo only:");
    say(&format!("  {}", platform::read_key(shell)?));
    Ok(())
}
