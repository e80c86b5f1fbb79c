//! The operations of the platform, for the API, the pages and the command line.
//!
//! Tenancy and roles are enforced only here: every method that touches an organization takes an authenticated
//! [`Principal`](crate::principal::Principal), requires the capability, and passes only its organization to the store. Nothing here knows
//! HTTP.

mod admin;
mod apply;
mod attempts;
mod bundles;
mod check;
mod clock;
mod fill;
mod freshness;
mod gauges;
mod groups;
mod operator;
mod page;
mod period;
mod periods;
mod platform;
mod probe;
mod ready;
mod refused;
mod retention;
mod sessions;
mod settings;
mod shares;
mod sweep;
mod trust;
mod upload;
mod viewer;
mod webhooks;
mod window;

pub use admin::NewKey;
pub use apply::{Change, Owner, Plan, Wanted, WantedKey, WantedOrganization, WantedTrust};
pub use attempts::Attempt;
pub use bundles::Download;
pub use check::{CheckPlan, CheckReport};
pub use fill::Filled;
pub use freshness::Update;
pub use gauges::CheckGauges;
pub use groups::MemberState;
pub use operator::Operator;
pub use page::{Page, PageRequest};
pub use period::PeriodRequest;
pub use periods::Period;
pub use platform::{RequestId, Service};
pub use retention::{Purged, RetentionState};
pub use sessions::SESSION_SECONDS;
pub use settings::Settings;
pub use sweep::Swept;
pub use trust::Changed;
pub use upload::{NewUpload, Stored, Verification, check_tags};
pub use viewer::{PageShare, Viewer};
pub use webhooks::NewWebhook;
pub use window::Window;
