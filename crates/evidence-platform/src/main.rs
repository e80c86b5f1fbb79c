//! `evidence-platform`: reads the command line, starts the log, runs the command, exits.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use evidence_bundle::text::{Chain, Printable};
use evidence_platform::cli::Cli;

/// musl's own allocator takes a fifth more processor time, and more memory: see `bench/RESULTS.md`.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let log = match evidence_platform::log::start() {
        Ok(log) => log,
        Err(error) => {
            // There is no log to write it to. Ignore a closed pipe.
            let _ = writeln!(std::io::stderr(), "error: cannot start the log: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = evidence_os::process::keep_memory_private() {
        log.put(&format!("error: cannot turn off core dumps: {error}"));
        log.flush();
        return ExitCode::FAILURE;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => {
            runtime.block_on(evidence_platform::commands::run(cli)).map_err(|error| Chain(&error).to_string())
        }
        Err(error) => Err(format!("cannot start threads: {error}")),
    };
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            log.put(&format!("error: {}", Printable(&message)));
            ExitCode::FAILURE
        }
    };
    log.flush();
    code
}
