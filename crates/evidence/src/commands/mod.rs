//! One file per command. A command connects the stages and owns what it prints to stdout.

mod bundles;
mod chain;
mod collect;
mod diff;
mod failure;
mod fleet;
mod history;
mod init;
mod keygen;
mod markdown;
mod next;
mod notify;
mod print;
mod rejudge;
mod report;
mod sample;
mod show;
mod signature;
mod trust;
mod upload;
mod verifier;
mod verify;
mod waivers;

use crate::cli::{Cli, Command};
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// Runs the command, prints its error and returns the exit code.
pub fn run(cli: Cli, env: &Env, arguments: &[String]) -> Exit {
    let outcome = match cli.command {
        Command::Collect(args) => collect::run(&args, env, arguments),
        Command::Fleet(args) => fleet::run(&args, env, arguments),
        Command::Verify(args) => match &args.signature {
            Some(signature) => signature::run(&args, signature, env),
            None => verify::run(&args, env),
        },
        Command::Show(args) => show::run(&args, env),
        Command::Rejudge(args) => rejudge::run(&args, env),
        Command::Report(args) => report::run(&args, env),
        Command::Sample(args) => sample::run(&args, env),
        Command::Diff(args) => diff::run(&args, env),
        Command::History(args) => history::run(&args, env),
        Command::Waivers(args) => waivers::run(&args.command, env),
        Command::Verifier(args) => verifier::run(&args),
        Command::Upload(args) => upload::run(&args, env),
        Command::Init(args) => init::run(&args, env),
        Command::Keygen(args) => keygen::run(&args),
        Command::Schema(args) => print::schema(args.of),
        Command::Completions(args) => print::completions(args.shell),
        Command::Man(args) => print::man(&args, env),
    };
    report(outcome)
}

/// Converts the outcome into an exit code. Prints an error as `error: what failed`, then what to do.
pub fn report(outcome: Result<Exit, Error>) -> Exit {
    match outcome {
        Ok(exit) => exit,
        Err(error) => {
            failure::print_error(&error);
            error.exit()
        }
    }
}
