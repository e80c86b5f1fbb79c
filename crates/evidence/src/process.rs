//! The memory of this process is its own: it holds tokens and the signing key.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// No core dump, and on Linux no look from outside: other processes of the same user can neither attach to this one nor
/// read its memory and environment. Root still can.
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
