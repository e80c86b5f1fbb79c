//! Builds the real programs beside this one, with the same profile.

use super::process::Process;
use super::screen::say;
use super::shell::check;
use super::signals::Signals;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;

const PROGRAMS: [&str; 2] = ["evidence", "evidence-platform"];

/// Builds them and returns their directory.
pub(super) fn programs(signals: &Signals) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let directory = own.parent().ok_or_else(|| io::Error::other("this program has no directory"))?;
    let missing = PROGRAMS.iter().find(|name| !directory.join(name).exists());
    // Set by `cargo run`. Without it, the program was started by hand and uses existing programs.
    match (std::env::var_os("CARGO"), missing) {
        (Some(cargo), missing) => {
            say("Building evidence and evidence-platform (the first time takes a few minutes) ...");
            let release = directory.file_name() == Some(OsStr::new("release"));
            // A build of several minutes needs visible progress.
            let quiet = missing.is_none();
            let status = Process::start(&mut build(&cargo, release, quiet))?.wait(signals)?;
            check(status, 0, "cargo build")?;
        }
        (None, None) => {}
        (None, Some(missing)) => {
            let text = format!("there is no {missing} beside this program: run `cargo demo`");
            return Err(io::Error::other(text));
        }
    }
    Ok(directory.to_path_buf())
}

/// One build for both, of the whole workspace, like the alias `cargo demo` built this program: with another selection
/// of packages cargo would choose other features, and compile many dependencies again.
fn build(cargo: &OsStr, release: bool, quiet: bool) -> Command {
    let mut build = Command::new(cargo);
    build.args(["build", "--workspace"]);
    for name in PROGRAMS {
        build.args(["--bin", name]);
    }
    if quiet {
        build.arg("--quiet");
    }
    // Variables that `cargo run` sets for this package. Build scripts that depend on them would run again in
    // every demo, and everything above would be recompiled.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    if release {
        build.arg("--release");
    }
    build
}
