//! The metadata: SQLite or PostgreSQL behind one text of SQL.
//!
//! Every statement that reads or changes what belongs to an organization has its name in the condition. This module
//! decides nothing: who may do what is the service's business.

mod audit;
mod bundles;
mod claims;
mod columns;
mod database;
mod keys;
mod organizations;
mod pooler;
mod private;
mod readiness;
mod schema;
mod sessions;
mod trust;
mod url;

pub use audit::{Action, AuditRecord, NewAudit, Outcome};
pub use bundles::{BundleRow, Position};
pub use claims::{Claim, ClaimKind};
pub use database::{Store, Transaction};
pub use keys::KeyRow;
pub use organizations::Organization;
pub use trust::TrustedKeyRow;
pub use url::{DatabaseUrl, Dialect};
