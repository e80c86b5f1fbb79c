//! One file per command. A command connects the stages and owns what it prints to stdout.

mod collect;
mod init;
mod keygen;
mod next;
mod print;
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
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::{CYAN, RED};
use evidence_text::{Safe, safe};

/// Runs the command, prints its error and returns the exit code.
pub fn run(cli: Cli, env: &Env, arguments: &[String]) -> Exit {
    let outcome = match cli.command {
        Command::Collect(args) => collect::run(&args, env, arguments),
        Command::Verify(args) => match &args.signature {
            Some(signature) => signature::run(&args, signature, env),
            None => verify::run(&args, env),
        },
        Command::Show(args) => show::run(&args, env),
        Command::Report(args) => report::run(&args, env),
        Command::Sample(args) => sample::run(&args, env),
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
            print_error(&error);
            error.exit()
        }
    }
}

fn print_error(error: &Error) {
    if error.is_reported() {
        return;
    }
    let red = RED.bold();
    let mut text = Safe::default();
    if let Error::Config(config) = error {
        // The configuration's problems have their own layout.
        let color = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        // Its parts were made safe where the file was read.
        text.push(&Safe::already(config.render_within(color, console::stderr_width())).trimmed());
        text.push(&"\n".into());
    } else {
        // The error may quote a host, and a host may quote a secret.
        let clean = |text: &str| Safe::lines(&evidence_screen::shared().redact(text));
        for (message, help) in error.failures() {
            text.push(&safe!("{red}error{red:#}: {}\n", clean(&message); red));
            for line in help {
                text.push(&safe!("  {CYAN}help{CYAN:#}: {}\n", clean(&line); CYAN));
            }
        }
    }
    console::note(&text);
}
