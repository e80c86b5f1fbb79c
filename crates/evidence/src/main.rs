//! `evidence`: reads the environment once, parses the command line, runs the command and exits.

use std::process::ExitCode;

use clap::Parser as _;
use evidence::cli::Cli;
use evidence::console;
use evidence::env::Env;
use evidence::error::Error;
use evidence::exit::Exit;
use evidence_text::Safe;

/// musl's own allocator uses 20 % more CPU time, and more memory: see `bench/RESULTS.md`.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Err(error) = evidence_os::process::keep_memory_private() {
        return ExitCode::from(evidence::commands::report(Err(Error::System(error))).code());
    }
    // Install the provider before anything in the process uses TLS. This fails only on a second call, and there is only
    // one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let env = Env::from_process();
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let exit = match Cli::try_parse() {
        Ok(cli) => evidence::commands::run(cli, &env, &arguments),
        Err(error) => {
            // clap returns `--help` and `--version` as errors; they are not. The text quotes only the command line.
            let text = Safe::already(error.render().ansi().to_string());
            if error.use_stderr() {
                console::note(&text);
                Exit::Configuration
            } else {
                console::print(&text);
                Exit::Success
            }
        }
    };
    ExitCode::from(exit.code())
}
