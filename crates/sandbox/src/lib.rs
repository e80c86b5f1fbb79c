//! Simulated hosts behind real ports: for tests, manual trials and the demo. Not shipped.
//!
//! A [`codehost::CodeHost`] consists of organizations, repositories, tokens, limits and faults; a [`cloud::Cloud`] is
//! an account with principals, trails and log groups; a [`workspace::Workspace`] consists of people, administrator
//! roles and their log. `serve` puts one behind a loopback port, and it answers like the real host, whether or not that
//! suits our client. A [`replay::Replay`] serves recorded answers instead. All of them return a [`Server`].
//!
//! This crate never leaves the loopback interface, changes its state because of a request (a write is refused and
//! logged as a violation; only counters and temporary credentials change), or shows a credential in its `Debug` output.
//! Only a [`platform::Platform`] stores what clients send, since that is its purpose.

pub mod cloud;
pub mod codehost;
pub mod platform;
pub mod replay;
pub mod workspace;

mod clock;
mod delay;
mod fault;
mod form;
mod json;
mod lock;
mod scenario;
mod server;
mod sha1;
mod throttle;

pub use fault::{AmbiguousLength, BadLink, Body, Fault, FaultKind};
pub use scenario::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_ACCOUNT, DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID,
    DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY, DEMO_CLOUD_EXPIRED_SESSION_TOKEN, DEMO_CLOUD_EXTERNAL_ID,
    DEMO_CLOUD_LIMITED_ACCESS_KEY_ID, DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY, DEMO_CLOUD_ROLE_ARN,
    DEMO_CLOUD_SECRET_ACCESS_KEY, DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN,
    DEMO_SECRET, DEMO_TOKEN, DEMO_WORKSPACE_ADMIN, DEMO_WORKSPACE_COLLECTOR, DEMO_WORKSPACE_CUSTOMER,
    DEMO_WORKSPACE_MEMBER, DEMO_WORKSPACE_SERVICE_ACCOUNT, DEMO_WRITE_TOKEN, demo_account, demo_organization,
    demo_workspace, large_account, large_organization, large_workspace,
};
pub use server::{Identity, Request, Summary};
pub use throttle::Throttle;

/// A running host, by default a code host. Dropping it closes the port and every connection.
pub type Server<Host = codehost::CodeHost> = server::Server<Host>;
