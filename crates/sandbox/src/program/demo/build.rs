//! The real programs, built beside this one with the same profile.

use super::process::Process;
use super::screen::say;
use super::shell::check;
use super::signals::Signals;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;

const PROGRAMS: [&str; 2] = ["evidence", "evidence-platform"];

/// Builds them, and says in which directory they are.
pub(super) fn programs(signals: &Signals) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let directory = own.parent().ok_or_else(|| io::Error::other("this program has no directory"))?;
    let missing = PROGRAMS.iter().find(|name| !directory.join(name).exists());
    // Set by `cargo run`; without it, this program was started by hand and takes the programs that are there.
    match (std::env::var_os("CARGO"), missing) {
        (Some(cargo), missing) => {
            say("Building evidence and evidence-platform (the first time takes a few minutes) ...");
            let release = directory.file_name() == Some(OsStr::new("release"));
            // Minutes without a word would look as if nothing happened.
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

/// One build for both, of the whole workspace, as the alias `cargo demo` has built this program: with another selection
/// of packages cargo would select other features, and compile much of what they have in common once more.
fn build(cargo: &OsStr, release: bool, quiet: bool) -> Command {
    let mut build = Command::new(cargo);
    build.args(["build", "--workspace"]);
    for name in PROGRAMS {
        build.args(["--bin", name]);
    }
    if quiet {
        build.arg("--quiet");
    }
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
    build
}
