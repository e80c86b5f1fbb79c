//! The smallest tools of text: makes untrusted text safe to print, shows errors with their causes on one line, matches names
//! against patterns, and writes numbers as people read them.
//!
//! A name or a message may hold any text: a terminal's escape sequence, a line break, or a mark that changes the
//! reading direction. Nothing here prints.

mod chain;
mod glob;
mod numbers;
mod printable;
mod safe;

pub use chain::Chain;
pub use glob::matches as glob_matches;
pub use numbers::{
    bytes, counted, duration, saturating_i64, saturating_u32, saturating_u64, saturating_usize, thousands,
};
pub use printable::{Printable, Visible, is_deceptive, is_short, single_line, split};
pub use safe::{Safe, Shown, part, shown};

/// [`Safe`] text of safe parts, like `format!`. Variables named in the text follow a semicolon, and so do widths:
///
/// ```
/// use evidence_text::{Safe, safe};
/// let (name, width) = (Safe::of("a\u{1b}[2J"), 9);
/// assert_eq!(safe!("  {:<width$} {name}", 14_u64; name, width = width).as_str(), "  14        a\\u{1b}[2J");
/// ```
///
/// A part that is not safe does not compile:
///
/// ```compile_fail
/// evidence_text::safe!("{}", String::from("of a host"));
/// ```
///
/// Nor does one that is only named in the text, or text that is borrowed:
///
/// ```compile_fail
/// let name = "of a host";
/// evidence_text::safe!("{name}");
/// ```
///
/// ```compile_fail
/// let name = String::from("of a host");
/// evidence_text::safe!("{}", name.as_str());
/// ```
#[macro_export]
macro_rules! safe {
    ($format:literal $(, $part:expr)* $(; $($name:ident $(= $width:expr)?),+)? $(,)?) => {
        // A literal that a macro makes captures no variables.
        $crate::Safe::composed(format_args!(
            concat!($format) $(, $crate::part(&$part))* $($(, $name = $crate::safe_part!($name $(= $width)?))+)?
        ))
    };
}

/// A named part of [`safe!`]: a variable, or a width.
#[doc(hidden)]
#[macro_export]
macro_rules! safe_part {
    ($name:ident) => {
        $crate::part(&$name)
    };
    ($name:ident = $width:expr) => {
        $width
    };
}
