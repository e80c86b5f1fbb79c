//! What the programs need from the operating system: regular input files, positioned file access, secrets in variables
//! and files, private files and memory, signals. Everything that differs between systems is here, function by function
//! in `unix.rs` and `windows.rs`; no other crate of the tool checks which system it runs on.

pub mod access;
pub mod file;
pub mod input;
pub mod place;
pub mod process;
pub mod secret;
pub mod shell;
pub mod signal;
mod terms;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;
