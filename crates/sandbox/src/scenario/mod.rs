//! Ready-made hosts: for each kind one with every interesting situation, and a large one.

mod account;
mod demo;
mod directory;
mod fleet;

pub use account::{
    DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_ACCOUNT, DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID,
    DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY, DEMO_CLOUD_EXPIRED_SESSION_TOKEN, DEMO_CLOUD_EXTERNAL_ID,
    DEMO_CLOUD_LIMITED_ACCESS_KEY_ID, DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY, DEMO_CLOUD_ROLE_ARN,
    DEMO_CLOUD_SECRET_ACCESS_KEY, demo_account, large_account,
};
pub use demo::{
    DEMO_EXPIRING_TOKEN, DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_SECRET, DEMO_TOKEN,
    DEMO_WRITE_TOKEN, demo_organization,
};
pub use directory::{
    DEMO_WORKSPACE_ADMIN, DEMO_WORKSPACE_COLLECTOR, DEMO_WORKSPACE_CUSTOMER, DEMO_WORKSPACE_MEMBER,
    DEMO_WORKSPACE_SERVICE_ACCOUNT, demo_workspace, large_workspace,
};
pub use fleet::large_organization;
