//! The subcommands, one file each.

pub(crate) mod demo;
pub(crate) mod serve;
