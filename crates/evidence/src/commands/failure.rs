//! How a command prints its error.

use std::io::Write as _;

use crate::console;
use crate::error::Error;

/// Prints `error: what failed`, then what to do; nothing if the command has printed it already.
pub(super) fn print_error(error: &Error) {
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
