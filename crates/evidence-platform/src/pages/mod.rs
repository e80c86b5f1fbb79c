//! The pages: the service for people with a browser, rendered here, usable without JavaScript.
//!
//! No page has a script, and the policy forbids every one, so that nothing that a bundle says can run. The verifier page is
//! the exception: it is served as it is, and knows no bundle of the platform.
//! Templates escape whatever they print. A page shows what the service gives to its principal and decides nothing.

pub mod artifacts;
mod axis;
pub mod bundle;
pub mod checks;
pub mod compare;
pub mod cookie;
mod page;
mod picture;
pub mod problem;
mod query;
pub mod sign_in;
mod state;
pub mod style;
pub mod timeline;
pub mod verifier;
mod words;
