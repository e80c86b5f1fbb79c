//! Types that both systems share.

use std::borrow::Cow;
use std::io;

/// The owner and the mode of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The user it belongs to.
    pub owner: u32,
    /// The permission bits, with the sticky bit and its neighbours.
    pub mode: u32,
}

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Only its owner. On Windows, every user who may read the directory: in a user's profile, that user and
    /// administrators.
    Owner,
    /// Every user.
    Everyone,
}

/// Who wants the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The user: Ctrl-C (SIGINT), on Windows Ctrl-Break too.
    Interrupted,
    /// Another program or the system: SIGTERM; on Windows a closed console window.
    Terminated,
}

/// Quotes a text as one word for a POSIX shell, on every system. Empty for a text with a NUL, which no shell
/// passes on.
pub fn posix_word(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| String::new(), Cow::into_owned)
}

/// The error for something other than a regular file.
pub(crate) fn not_a_file(kind: io::ErrorKind, what: &str) -> io::Error {
    io::Error::new(kind, format!("it is {what}, not a file"))
}
