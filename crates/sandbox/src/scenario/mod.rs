//! Ready-made hosts: one organization with every interesting situation, and one that is simply large.

mod demo;
mod fleet;

pub use demo::{
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_SECRET, DEMO_TOKEN,
    DEMO_WRITE_TOKEN, demo_organization,
};
pub(crate) use fleet::Fleet;
pub use fleet::large_organization;
