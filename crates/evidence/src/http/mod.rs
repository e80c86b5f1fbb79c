//! Talking to a host over HTTP: the only place that names the HTTP client.
//!
//! The parts that decide (`link`, `redirect`, `retry`, `quota`, `pace`, `concurrency`, `circuit`) are pure: they are given
//! headers and times, and never send, sleep or read a clock. `gate` holds their state for all workers; `client` sends.
//! `proxy` knows the proxy of the environment, `obstacle` why a connection failed.
//!
//! How hosts differ is a `Dialect` (see `request`), which each source brings.
//!
//! What this room never does: send a host anything but GET and questions by POST, follow a redirect away from the host's
//! origin, print a token, or read more of a body than the caller allows. Only `upload` sends something that is kept, and
//! only to an evidence platform.

mod circuit;
pub mod client;
pub mod concurrency;
mod gate;
pub mod json;
pub mod link;
mod obstacle;
pub mod pace;
pub mod proxy;
pub mod quota;
mod redirect;
pub mod reply;
pub mod request;
pub mod retry;
pub mod revalidate;
mod settings;
mod setup;
pub mod upload;
mod words;

pub use circuit::GivenUp;
pub use client::Client;
pub use obstacle::{Obstacle, Place};
pub use proxy::Proxy;
pub use reply::{Answered, Failure, FailureKind, Meta, Refused, Reply};
pub use request::{Answer, Dialect, Meaning, Method, ParseError, Request};
pub use revalidate::Keeping;
pub use settings::Settings;
pub use words::one_line;
