//! The hosts as state behind real ports: for tests, for trials by hand and for the demo. Not shipped.
//!
//! A [`codehost::CodeHost`] is organizations, repositories, tokens, limits and faults; [`codehost::CodeHost::serve`]
//! puts it behind a loopback port and answers as the real code host answers, whether or not that suits our client.
//! A [`replay::Replay`] serves recorded answers instead. Both hand back the same [`Server`].
//!
//! What this crate never does: leave the loopback interface, change a host's state because of a request (every
//! method but GET and HEAD is refused and logged as a violation), or show a token in its `Debug` output. Only the
//! evidence platform keeps what is sent to it: that is what it is for.

pub mod cloud;
pub mod codehost;
pub mod platform;
pub mod replay;
pub mod workspace;

mod clock;
mod fault;
mod form;
mod json;
mod scenario;
mod server;
mod sha1;
mod throttle;

pub use fault::{BadLink, Body, Fault, FaultKind};
pub use scenario::{
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_SECRET, DEMO_TOKEN,
    DEMO_WRITE_TOKEN, demo_organization, large_organization,
};
pub use server::{Identity, Request, Server};
pub use throttle::Throttle;
