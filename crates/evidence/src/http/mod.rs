//! Talking to a host over HTTP: the only place that names the HTTP client.
//!
//! The parts that decide (`link`, `retry`, `quota`, `pace`, `concurrency`) are pure: they are given headers and
//! times, and never send, sleep or read a clock. `gate` holds their state for all workers; `client` sends.
//!
//! What this room never does: send anything but GET, follow a redirect away from the host's origin, print a token,
//! or read more of a body than the caller allows.

pub mod client;
pub mod concurrency;
mod gate;
pub mod link;
pub mod pace;
pub mod quota;
pub mod reply;
pub mod retry;
mod token;

pub use client::{Accept, Client, Settings};
pub use reply::{Answered, Failure, FailureKind, Meta, Refused, Reply, one_line};
pub use token::Token;
