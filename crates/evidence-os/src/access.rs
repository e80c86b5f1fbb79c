//! The owner of a file, and who may read and write it, as far as owner and mode decide.

use std::fs::Metadata;

use crate::system;

pub use crate::terms::Access;

/// Whether files have an owner and a mode on this system. Windows uses access control lists, which these programs do
/// not read.
pub const HAS_MODES: bool = system::HAS_MODES;

/// The owner and the mode of a file or directory; `None` on a system without them.
pub fn of(metadata: &Metadata) -> Option<Access> {
    system::access(metadata)
}

/// The effective user of this process; 0 on a system without file owners.
pub fn me() -> u32 {
    system::me()
}
