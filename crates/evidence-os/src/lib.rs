//! What the programs ask of the operating system: regular input files only, and memory that stays private.

pub mod input;
pub mod process;
