//! Rows of `audit_log`: who did what, when. Rows can be added and read; triggers refuse anything else.

use serde_json::Value;

use super::columns::{integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::store::bundles::Position;
use crate::time::Time;

/// An action. The codes are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// An organization was created.
    OrganizationCreate,
    /// An organization got another name, or another expectation of bundles.
    OrganizationUpdate,
    /// A group was created.
    GroupCreate,
    /// A group got another name.
    GroupUpdate,
    /// An API key was created.
    KeyCreate,
    /// An API key was revoked.
    KeyRevoke,
    /// A signing key became trusted.
    TrustAdd,
    /// A signing key is trusted from or until another time.
    TrustUpdate,
    /// A signing key was revoked.
    TrustRevoke,
    /// A signing key is no longer trusted.
    TrustRemove,
    /// A webhook was created.
    WebhookCreate,
    /// A webhook was removed.
    WebhookRemove,
    /// A bundle was uploaded.
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
    /// Every bundle with a tag was put under legal hold.
    TagHold,
    /// The hold of a tag ended.
    TagRelease,
    /// Someone signed in to the pages with a key.
    SessionBegin,
    /// Someone signed out.
    SessionEnd,
    /// A key was refused.
    KeyRefuse,
    /// A sign-in to the pages was refused.
    SessionRefuse,
}

impl Action {
    /// Every action.
    pub const ALL: [Action; 24] = [
        Action::OrganizationCreate,
        Action::OrganizationUpdate,
        Action::GroupCreate,
        Action::GroupUpdate,
        Action::KeyCreate,
        Action::KeyRevoke,
        Action::TrustAdd,
        Action::TrustUpdate,
        Action::TrustRevoke,
        Action::TrustRemove,
        Action::WebhookCreate,
        Action::WebhookRemove,
        Action::BundleUpload,
        Action::BundleVerify,
        Action::BundleDownload,
        Action::BundleHold,
        Action::BundleRetain,
        Action::BundleDelete,
        Action::TagHold,
        Action::TagRelease,
        Action::SessionBegin,
        Action::SessionEnd,
        Action::KeyRefuse,
        Action::SessionRefuse,
    ];

    /// The code.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::OrganizationCreate => "organization.create",
            Action::OrganizationUpdate => "organization.update",
            Action::GroupCreate => "group.create",
            Action::GroupUpdate => "group.update",
            Action::KeyCreate => "key.create",
            Action::KeyRevoke => "key.revoke",
            Action::TrustAdd => "trust.add",
            Action::TrustUpdate => "trust.update",
            Action::TrustRevoke => "trust.revoke",
            Action::TrustRemove => "trust.remove",
            Action::WebhookCreate => "webhook.create",
            Action::WebhookRemove => "webhook.remove",
            Action::BundleUpload => "bundle.upload",
            Action::BundleVerify => "bundle.verify",
            Action::BundleDownload => "bundle.download",
            Action::BundleHold => "bundle.hold",
            Action::BundleRetain => "bundle.retain",
            Action::BundleDelete => "bundle.delete",
            Action::TagHold => "tag.hold",
            Action::TagRelease => "tag.release",
            Action::SessionBegin => "session.begin",
            Action::SessionEnd => "session.end",
            Action::KeyRefuse => "key.refuse",
            Action::SessionRefuse => "session.refuse",
        }
    }
}

/// The outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was done.
    Done,
    /// Nothing changed.
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

/// A record to add.
#[derive(Debug, Clone)]
pub struct NewAudit<'a> {
    /// The organization whose log it belongs to.
    pub organization: &'a OrganizationId,
    /// When.
    pub at: Time,
    /// Who: `key:` and the prefix of the key, `cli`, or `address:` and the address of a client without a good key.
    pub actor: String,
    /// The action.
    pub action: Action,
    /// The object of the action.
    pub target: &'a str,
    /// The outcome.
    pub outcome: Outcome,
    /// Further details, without secrets.
    pub detail: Value,
    /// The request, as in the server's log.
    pub request_id: &'a str,
}

/// A stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Time,
    /// Who.
    pub actor: String,
    /// The code of an [`Action`].
    pub action: String,
    /// The object of the action.
    pub target: String,
    /// The code of an [`Outcome`].
    pub outcome: String,
    /// Further details.
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
