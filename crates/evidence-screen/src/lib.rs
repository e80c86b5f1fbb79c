//! Forbidden data: no credential may leave in a bundle or in a line of output.
//!
//! [`Screen::check`] reports where in a text something looks like a credential, by the rules of [`PATTERNS`] and by the
//! caller's own secrets, which are looked for in every form. [`find_pasted`] is the wider question for texts that
//! people type: what only begins like a credential counts too. Nothing here reports, stores or prints what it found, only
//! where and by which rule.
//!
//! The forms are data, in `patterns.toml`.

mod credible;
mod names;
mod own;
mod pasted;
mod patterns;
mod screen;
mod views;
mod words;

pub use evidence_text::{Printable, is_deceptive};
pub use own::is_sought;
pub use pasted::find_pasted;
pub use patterns::{Confidence, Context, PATTERNS, Pattern, Value};
pub use screen::{Finding, OWN_CREDENTIAL, Screen, shared};
