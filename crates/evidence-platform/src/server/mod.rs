//! The server: sockets, time limits, an orderly shutdown. It serves the [`api`](crate::api).
//!
//! HTTP/1.1 without TLS, which a reverse proxy on the same machine or network adds. The server does not rely on clients
//! being quick, announcing true lengths, or disconnecting.

pub mod client;
mod compress;
pub(crate) mod connections;
mod head;
pub mod host;
mod listen;
pub mod metrics;
pub(crate) mod observe;

pub use listen::{Limits, Server};
