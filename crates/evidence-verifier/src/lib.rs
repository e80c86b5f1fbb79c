//! The strict verifier behind the verifier page.
//!
//! The page asks in JSON and shows the answers; this crate alone decides, with the code of `evidence verify`. It
//! releases nothing of a bundle before the last byte is verified. It uses no network, clock or file: the page provides
//! the bundle's bytes and the time.

mod answer;
mod collected;
#[cfg(target_family = "wasm")]
mod exports;
mod page;
mod question;
mod sample;
mod session;

pub use answer::Answer;
pub use session::Session;
