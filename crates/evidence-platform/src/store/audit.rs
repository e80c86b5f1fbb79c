//! Rows of `audit_log`: who did what, when. There is a way to add and a way to read, and triggers refuse any other.

use serde_json::Value;

use super::columns::{integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::store::bundles::Position;
use crate::time::Time;

/// What was done. The codes are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The organization was made.
    OrganizationCreate,
    /// An API key was made.
    KeyCreate,
    /// An API key was revoked.
    KeyRevoke,
    /// A signing key was trusted.
    TrustAdd,
    /// The trust in a signing key was ended.
    TrustRemove,
    /// A bundle was sent.
    BundleUpload,
    /// A stored bundle was verified again.
    BundleVerify,
    /// A bundle was downloaded.
    BundleDownload,
    /// A bundle was put under legal hold, or released.
    BundleHold,
    /// The retention of a bundle was extended.
    BundleRetain,
    /// A bundle was deleted.
    BundleDelete,
    /// Somebody signed in to the pages with a key.
    SessionBegin,
    /// Somebody signed out.
    SessionEnd,
    /// A key was refused.
    KeyRefuse,
    /// Signing in to the pages was refused.
    SessionRefuse,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 15] = [
        Action::OrganizationCreate,
        Action::KeyCreate,
        Action::KeyRevoke,
        Action::TrustAdd,
        Action::TrustRemove,
        Action::BundleUpload,
        Action::BundleVerify,
        Action::BundleDownload,
        Action::BundleHold,
        Action::BundleRetain,
        Action::BundleDelete,
        Action::SessionBegin,
        Action::SessionEnd,
        Action::KeyRefuse,
        Action::SessionRefuse,
    ];

    /// The code.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::OrganizationCreate => "organization.create",
            Action::KeyCreate => "key.create",
            Action::KeyRevoke => "key.revoke",
            Action::TrustAdd => "trust.add",
            Action::TrustRemove => "trust.remove",
            Action::BundleUpload => "bundle.upload",
            Action::BundleVerify => "bundle.verify",
            Action::BundleDownload => "bundle.download",
            Action::BundleHold => "bundle.hold",
            Action::BundleRetain => "bundle.retain",
            Action::BundleDelete => "bundle.delete",
            Action::SessionBegin => "session.begin",
            Action::SessionEnd => "session.end",
            Action::KeyRefuse => "key.refuse",
            Action::SessionRefuse => "session.refuse",
        }
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was so before.
    Unchanged,
    /// It was refused.
    Refused,
}

impl Outcome {
    /// The code.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Unchanged => "unchanged",
            Outcome::Refused => "refused",
        }
    }
}

/// A record to be added.
#[derive(Debug, Clone)]
pub struct NewAudit<'a> {
    /// Whose log it goes to.
    pub organization: &'a OrganizationId,
    /// When.
    pub at: Time,
    /// Who: `key:` and the prefix of the key, `cli`, or `address:` and the address of a client without a good key.
    pub actor: String,
    /// What.
    pub action: Action,
    /// To what.
    pub target: &'a str,
    /// With what end.
    pub outcome: Outcome,
    /// What else is worth knowing; no secret.
    pub detail: Value,
    /// The request, as in the server's log.
    pub request_id: &'a str,
}

/// A record as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its name.
    pub id: String,
    /// When.
    pub at: Time,
    /// Who.
    pub actor: String,
    /// What: the code of an [`Action`].
    pub action: String,
    /// To what.
    pub target: String,
    /// The code of an [`Outcome`].
    pub outcome: String,
    /// What else is worth knowing.
    pub detail: Value,
    /// The request.
    pub request_id: String,
}

impl Transaction {
    /// Adds a record.
    pub(crate) async fn audit(&mut self, new: NewAudit<'_>) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO audit_log (id, organization_id, at, actor, action, target, outcome, detail, request_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(crate::id::ordered(new.at)?)
        .bind(new.organization.as_str())
        .bind(new.at.0)
        .bind(new.actor)
        .bind(new.action.as_str())
        .bind(new.target)
        .bind(new.outcome.as_str())
        .bind(new.detail.to_string())
        .bind(new.request_id)
        .execute(self.connection())
        .await?;
        Ok(())
    }
}

impl Store {
    /// Records of an organization, newest first, older than this position.
    pub(crate) async fn audit_log(
        &self,
        organization: &OrganizationId,
        after: &Position,
        limit: i64,
    ) -> Result<Vec<AuditRecord>, Error> {
        let rows = sqlx::query(
            "SELECT id, at, actor, action, target, outcome, detail, request_id FROM audit_log \
             WHERE organization_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4",
        )
        .bind(organization.as_str())
        .bind(after.time.0)
        .bind(&after.id)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        let read = |row| {
            Ok(AuditRecord {
                id: text(row, "id")?,
                at: Time(integer(row, "at")?),
                actor: text(row, "actor")?,
                action: text(row, "action")?,
                target: text(row, "target")?,
                outcome: text(row, "outcome")?,
                detail: serde_json::from_str(&text(row, "detail")?).unwrap_or_default(),
                request_id: text(row, "request_id")?,
            })
        };
        rows.iter().map(read).collect()
    }
}
