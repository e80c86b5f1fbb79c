//! Commands that are printed for a person to run.

use crate::system;

pub use crate::terms::posix_word;

/// A text as one word in the shell that people use here: a POSIX shell, on Windows PowerShell. Empty for a text with a NUL,
/// which no shell passes on.
pub fn word(text: &str) -> String {
    system::shell_word(text)
}
