//! How a command prints its error.

use evidence_text::{Safe, safe};

use crate::console;
use crate::error::Error;
use crate::report::style::{CYAN, RED};

/// Prints `error: what failed`, then what to do; nothing if the command has printed it already.
pub(super) fn print_error(error: &Error) {
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
