//! Forbidden data: no credential may leave in a bundle or in a line of output.
//!
//! [`Screen::check`] reports where a text has something that looks like a credential, by the rules of [`PATTERNS`] and
//! by the caller's own secrets in every form. [`find_pasted`] is stricter, for texts that people type: it also finds
//! what only begins like a credential. Nothing here reports, stores or prints a finding's text, only its place and its
//! rule.
//!
//! The forms are data, in `patterns.toml`.

mod credible;
mod names;
mod own;
mod pasted;
mod patterns;
mod runs;
mod screen;
mod shape;
mod values;
mod views;
mod words;

pub use evidence_text::{Printable, is_deceptive};
pub use own::is_sought;
pub use pasted::find_pasted;
pub use patterns::{Confidence, Context, PATTERNS, Pattern, Value};
pub use screen::{ENTANGLED, Finding, OWN_CREDENTIAL, Screen, shared};
