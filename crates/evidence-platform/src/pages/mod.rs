//! The pages: the service in a browser, rendered on the server, usable without JavaScript.
//!
//! No page has a script, and the policy forbids all scripts, so nothing in a bundle can run. The verifier page is the
//! exception: it is served unchanged, and knows no bundle of the platform. Templates escape everything they print. A
//! page shows what the service returns to its principal, and decides nothing.

mod accepted;
pub mod administration;
pub mod artifacts;
mod axis;
pub mod bundle;
pub mod checks;
pub mod compare;
pub mod cookie;
mod filter;
pub mod fleet;
pub mod integrity;
pub mod observations;
mod page;
pub mod period;
mod picture;
pub mod problem;
mod query;
pub mod raw;
pub mod report;
pub mod retention;
pub mod sign_in;
mod state;
pub mod style;
pub mod subject;
pub mod timeline;
pub mod verifier;
mod words;

pub(crate) use page::lead;
