//! The strict verifier behind the verifier page.
//!
//! The page asks in JSON and shows the answers; what is right or wrong is decided here alone, by the code of `evidence
//! verify`. Nothing of a bundle is handed out before its last byte is verified. The crate knows no network, clock or file:
//! the page hands in the bundle's bytes and the time.

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
