//! The sandbox as a program: a host to try things against by hand.
//!
//! One subcommand, one module below `program/`. It never opens a port that is not loopback.

mod program;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The hosts as state behind real loopback ports. Not shipped.
#[derive(Debug, Parser)]
#[command(name = "sandbox", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a scenario until Ctrl-C.
    Serve(program::serve::Args),
    /// Collect from the demo organization with the real binary, verify the bundle, and show both.
    Demo,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(args) => program::serve::run(&args),
        Command::Demo => program::demo::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
