//! The metadata in SQLite or PostgreSQL, with the same SQL for both.
//!
//! Every statement that reads or changes an organization's data has the organization's id in its condition. This
//! module makes no decisions: the service checks permissions.

mod audit;
mod bundles;
mod checks;
mod claims;
mod clock;
mod columns;
mod database;
mod freshness;
mod keys;
mod organizations;
mod period;
mod pooler;
mod private;
mod readiness;
mod retention;
mod schema;
mod search;
mod sessions;
mod trust;
mod url;
mod webhooks;

pub use audit::{Action, AuditRecord, NewAudit, Outcome};
pub use bundles::{BundleRow, Position};
pub(crate) use checks::StoredBytes;
pub use checks::{CheckRun, Checked, Damage, StrayBlob};
pub use claims::{Claim, ClaimKind};
pub use database::{Store, Transaction};
pub use freshness::Held;
pub use keys::KeyRow;
pub use organizations::{Group, Organization};
pub use period::SeriesName;
pub use retention::{Due, TagHold};
pub use search::BundleFilter;
pub use trust::{Standing, TrustedKeyRow};
pub use url::{DatabaseUrl, Dialect};
pub use webhooks::Webhook;
