//! The sandbox as a program, for manual trials.
//!
//! Each subcommand has a module below `program/`. It only opens loopback ports.

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
    /// Collect from the demo organization with the real programs, verify the bundle, and upload it to a platform.
    Demo(program::demo::Args),
}

fn main() -> ExitCode {
    // `cargo demo -- --keep`: the alias already ends with `--`, so cargo passes the second one on.
    let arguments = std::env::args_os().filter(|argument| argument != "--");
    let outcome = match Cli::parse_from(arguments).command {
        Command::Serve(args) => program::serve::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Demo(args) => program::demo::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
