//! A call of one of the provider's services. Every call only reads; POST is used where the provider's protocol puts the
//! parameters into the body.

use super::endpoint::Service;
use evidence_http::Call;

/// The limit for an answer with few fields: the caller's identity, a role's credentials and a password policy are each
/// under 4 kB.
pub(crate) const SMALL_LIMIT: usize = 64 * 1024;
pub(crate) const MIB: usize = 1024 * 1024;

/// A call and its service.
pub(crate) struct Action<T: 'static> {
    pub(crate) service: Service,
    /// The call's name is the permission it requires: `iam:GetAccountPasswordPolicy`.
    pub(crate) call: Call<T>,
}

impl<T> Action<T> {
    /// The required permission, which is also the name in messages.
    pub(crate) fn permission(&self) -> &'static str {
        self.call.name
    }

    /// What it asks.
    pub(super) fn question(&self) -> Question {
        Question { service: self.service, call: self.call.question() }
    }

    /// Whether each region has its own host for the call.
    pub(crate) fn is_regional(&self) -> bool {
        self.question().is_regional()
    }

    /// Whether both are the same call.
    pub(crate) fn is<U>(&self, other: &Action<U>) -> bool {
        self.call.name == other.call.name
    }
}

/// What a call asks, without the type of its answer.
#[derive(Clone, Copy)]
pub(super) struct Question {
    pub(super) service: Service,
    pub(super) call: evidence_http::call::Question,
}

impl Question {
    /// See [`Action::permission`].
    pub(super) fn permission(&self) -> &'static str {
        self.call.name
    }

    /// The service's name for the call.
    pub(super) fn name(&self) -> &'static str {
        self.call.name.split_once(':').map_or(self.call.name, |(_, name)| name)
    }

    /// See [`Action::is_regional`].
    pub(super) fn is_regional(&self) -> bool {
        match self.service {
            Service::CloudTrail | Service::Logs | Service::Rds | Service::GuardDuty => true,
            // Any region lists the regions.
            Service::Ec2 => self.name() != "DescribeRegions",
            Service::Sts | Service::Iam | Service::Organizations | Service::S3 | Service::S3Control => false,
        }
    }
}
