//! The server: sockets, time limits, an orderly end. What is served is the [`api`](crate::api).
//!
//! HTTP/1.1 without TLS: a reverse proxy on the same machine or network does that. No client is trusted to be quick, to
//! announce true lengths, or to go away.

pub mod client;
pub(crate) mod connections;
mod listen;
pub mod metrics;
pub(crate) mod observe;

pub use listen::{Limits, Server};
