//! Private memory: it holds tokens, signing keys and database credentials.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Turns core dumps off. On Linux, other processes of the same user can then neither attach to this one nor read its memory
/// and environment. Root still can.
///
/// # Errors
///
/// If the operating system refuses it.
pub fn keep_memory_private() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // The limit alone does not count where the kernel pipes core dumps to a program.
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}
