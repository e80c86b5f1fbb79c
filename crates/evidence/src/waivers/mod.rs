//! Waivers: failures that management accepts for a while.
//!
//! The file is named by `waivers:` in the configuration. A waiver changes no result: [`document`](fn@document) writes it
//! beside the results, and everything that shows a failure shows its waiver too.

mod accepted;
mod document;
mod file;
mod forecast;
mod gate;
mod keys;
mod overlap;

pub use accepted::Accepted;
pub use document::document;
pub use file::Waivers;
pub use forecast::{Expiry, expiries};
pub use gate::Gate;

/// The keys of the file as Markdown.
pub fn reference() -> String {
    keys::DOCUMENT.reference()
}
