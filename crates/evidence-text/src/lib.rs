//! The smallest tools of text: makes untrusted text safe to print, shows errors with their causes on one line, and writes
//! numbers as people read them.
//!
//! A name or a message may hold any text: a terminal's escape sequence, a line break, or a mark that changes the
//! reading direction. Nothing here prints.

mod chain;
mod numbers;
mod printable;
mod safe;

pub use chain::Chain;
pub use numbers::{bytes, counted, duration, saturating_u64, thousands};
pub use printable::{Printable, Visible, is_deceptive, is_short, single_line, split};
pub use safe::{Safe, Shown, part, shown};
