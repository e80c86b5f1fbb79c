//! Who owns a file, and who may read and write it, as far as owner and mode say so.

use std::fs::Metadata;

use crate::system;

pub use crate::terms::Access;

/// Whether files have an owner and a mode here. On Windows they have access control lists, which these programs do not
/// read.
pub const HAS_MODES: bool = system::HAS_MODES;

/// The owner and the mode of a file or directory; `None` where files have none.
pub fn of(metadata: &Metadata) -> Option<Access> {
    system::access(metadata)
}

/// The user that this process acts as; 0 where files have no owner.
pub fn me() -> u32 {
    system::me()
}
