//! The cloud provider: an account, and others if wanted, with principals, a password policy, audit trails and log
//! groups. One port serves all services and regions; the credential scope of each signature says which are meant.
//!
//! The services are STS, IAM, EC2 and RDS (form parameters in, XML out), CloudTrail, CloudWatch Logs and Organizations (JSON
//! 1.1), GuardDuty (REST, JSON), S3 and S3 Control (REST, XML). Signatures
//! are recomputed with the provider's own signer. The state is plain data with a builder; serving it changes nothing in
//! it: temporary credentials are stored beside it, and no request creates, changes or deletes a resource. Comments mark
//! texts of the real provider that are not known for certain.

mod audit;
mod audit_endpoints;
mod buckets_endpoints;
mod caller;
mod endpoints;
mod live;
mod logs;
mod logs_endpoints;
mod metadata;
mod organization_endpoints;
mod policy;
mod principal;
mod refusal;
mod resources;
mod resources_endpoints;
mod session;
mod signature;
mod state;
mod users;
mod users_endpoints;
mod wire;

pub use crate::server::{Identity, Request, Server};
pub use crate::throttle::Throttle;
pub use crate::{Body, Fault, FaultKind};
pub use audit::Trail;
pub use logs::LogGroup;
pub use policy::PasswordPolicy;
pub use principal::{Principal, Role};
pub use resources::{AccessBlock, Bucket, Database, SecurityGroup};
pub use state::Cloud;
pub use users::{ReportRow, RootUser};

use crate::clock::Clock;
use live::Live;
use std::io;
use std::sync::Arc;

impl Cloud {
    /// Serves it on a loopback port until the server is dropped.
    ///
    /// # Errors
    /// Fails if no port or thread is available.
    pub fn serve(self) -> io::Result<Server<Self>> {
        let clock = Clock::default();
        Server::start(self.settings.clone(), clock.clone(), move |_| {
            let live = Arc::new(Live::new(self, clock));
            (live.clone(), Some(live))
        })
    }
}
