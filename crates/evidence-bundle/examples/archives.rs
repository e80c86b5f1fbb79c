//! Writes the corpus of good and hostile archives to a folder, for other programs that read bundles or tar archives:
//! `cargo run -p evidence-bundle --example archives -- FOLDER`.
//!
//! `index.tsv` has a row per archive: the file, the verdict, and what the archive does. `key.pub.pem` is the public half
//! of a key whose seed is in the test sources: never trust it.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

#[path = "../tests/support/corpus/mod.rs"]
mod corpus;
#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: archives FOLDER");
        return ExitCode::from(1);
    };
    match corpus::write(folder.as_ref()) {
        Ok(count) => {
            println!("{count} archives, listed in index.tsv");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: failed to write the archives: {error}");
            ExitCode::from(2)
        }
    }
}
