//! Commands that are printed for a person to run.

use crate::system;

pub use crate::terms::posix_word;

/// Quotes a text as one word for the usual shell of this system: PowerShell on Windows, else a POSIX shell. Empty for a
/// text with a NUL, which no shell passes on.
pub fn word(text: &str) -> String {
    system::shell_word(text)
}
