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

use std::io::Write as _;

use crate::cli::{Cli, Command};
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

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
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default();
    let mut text = String::new();
    if let Error::Config(config) = error {
        // The configuration's problems have their own layout.
        let color = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
        text.push_str(&config.render_within(color, console::stderr_width()));
        if !text.ends_with('\n') {
            text.push('\n');
        }
    } else {
        // The error may quote a host, and a host may quote a secret.
        let clean = |text: &str| evidence_screen::shared().redact(text).into_owned();
        for (message, help) in error.failures() {
            text.push_str(&format!("{red}error{red:#}: {}\n", clean(&message)));
            for line in help {
                text.push_str(&format!("  {cyan}help{cyan:#}: {}\n", clean(&line)));
            }
        }
    }
    // Ignore a closed pipe.
    let _ = console::stderr().write_all(text.as_bytes());
}
