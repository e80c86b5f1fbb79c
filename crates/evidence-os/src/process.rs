//! Private memory: it holds tokens, signing keys and database credentials.

use std::io;

use crate::system;

/// Turns core dumps off. On Linux, other processes of the same user can then neither attach to this process nor read
/// its memory and environment. Root still can. Does nothing on Windows.
///
/// # Errors
///
/// Fails if the operating system refuses.
pub fn keep_memory_private() -> io::Result<()> {
    system::keep_memory_private()
}
