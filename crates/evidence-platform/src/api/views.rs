//! The JSON of requests and answers. Published: fields are added, never renamed or removed.

use std::collections::BTreeMap;

use evidence_view::Overview;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::principal::Principal;
use crate::role::Role;
use crate::service::{Changed, NewKey, Page, Stored, Verification};
use crate::store::{AuditRecord, BundleRow, KeyRow, TrustedKeyRow};

/// The bytes of a bundle; only described here, never held.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct BundleBytes(pub Vec<u8>);

/// Who the key belongs to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WhoAmI {
    /// The organization.
    pub organization: OrganizationView,
    /// The name of the key.
    pub key_id: String,
    /// The part of the key that is not secret.
    pub key_prefix: String,
    /// What the key is for.
    pub role: Role,
    /// The signing keys whose bundles the organization accepts: `sha256:` and the SHA-256 of the key's DER.
    pub trusted_keys: Vec<String>,
}

/// An organization.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OrganizationView {
    /// Its name on this platform.
    pub id: String,
    /// Its short name.
    pub slug: String,
    /// Its name for people.
    pub name: String,
}

impl WhoAmI {
    /// The key that was used, and the signing keys that its organization trusts.
    pub fn new(principal: &Principal, trusted_keys: Vec<String>) -> WhoAmI {
        WhoAmI {
            organization: OrganizationView {
                id: principal.organization().to_string(),
                slug: principal.slug().to_owned(),
                name: principal.name().to_owned(),
            },
            key_id: principal.key_id().to_owned(),
            key_prefix: principal.key_prefix().to_owned(),
            role: principal.role(),
            trusted_keys,
        }
    }
}

/// A bundle that is stored.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StoredView {
    /// The id of the bundle, from its manifest.
    pub bundle_id: String,
    /// The SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// Always `stored`.
    pub status: String,
}

impl From<&Stored> for StoredView {
    fn from(stored: &Stored) -> StoredView {
        StoredView {
            bundle_id: stored.bundle.id.clone(),
            sha256: stored.bundle.digest.to_string(),
            status: "stored".to_owned(),
        }
    }
}

/// The result of verifying the stored bytes again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VerificationView {
    /// Whether the stored bytes are what a key signed that the organization trusts now.
    pub verified: bool,
    /// The key that signed.
    pub key_id: Option<String>,
    /// Why not: a code of the bundle format, `digest-mismatch`, `blob-missing` or `no-trusted-key`.
    pub reason: Option<String>,
    /// The reason in words.
    pub detail: Option<String>,
}

impl From<Verification> for VerificationView {
    fn from(verification: Verification) -> VerificationView {
        let Verification { verified, key_id, reason, detail } = verification;
        VerificationView { verified, key_id, reason, detail }
    }
}

/// A stored bundle.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BundleView {
    /// Its id, from its manifest.
    pub bundle_id: String,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// When it was collected, as the signer claims (RFC 3339).
    pub collected_at: String,
    /// When it was stored here (RFC 3339).
    pub uploaded_at: String,
    /// The prefix of the key that uploaded it.
    pub uploaded_by: String,
    /// Until when it is kept (RFC 3339).
    pub retention_until: String,
    /// Whether it is kept regardless of its retention.
    pub legal_hold: bool,
    /// The uploader's tags.
    pub tags: BTreeMap<String, String>,
    /// What its signed documents say.
    pub facts: Overview,
}

impl From<BundleRow> for BundleView {
    fn from(row: BundleRow) -> BundleView {
        BundleView {
            bundle_id: row.id,
            sha256: row.digest.to_string(),
            size_bytes: row.size_bytes,
            collected_at: row.collected_at.to_string(),
            uploaded_at: row.uploaded_at.to_string(),
            uploaded_by: row.uploaded_by,
            retention_until: row.retention_until.to_string(),
            legal_hold: row.legal_hold,
            tags: row.tags,
            facts: row.overview,
        }
    }
}

/// A page of bundles, the latest collected first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct BundleList {
    /// The bundles.
    pub items: Vec<BundleView>,
    /// Where the next page begins; `null` on the last one.
    pub next_cursor: Option<String>,
}

impl From<Page<BundleRow>> for BundleList {
    fn from(page: Page<BundleRow>) -> BundleList {
        BundleList { items: page.items.into_iter().map(BundleView::from).collect(), next_cursor: page.next }
    }
}

/// An API key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeyView {
    /// Its name.
    pub key_id: String,
    /// The part of the key that is not secret.
    pub prefix: String,
    /// What it is for.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// When it was created (RFC 3339).
    pub created_at: String,
    /// When it was revoked (RFC 3339).
    pub revoked_at: Option<String>,
    /// When it ends by itself (RFC 3339).
    pub expires_at: Option<String>,
    /// When it was last used (RFC 3339), to the hour.
    pub last_used_at: Option<String>,
}

impl From<KeyRow> for KeyView {
    fn from(row: KeyRow) -> KeyView {
        KeyView {
            key_id: row.id,
            prefix: row.prefix,
            role: row.role,
            name: row.label,
            created_at: row.created_at.to_string(),
            revoked_at: row.revoked_at.map(|time| time.to_string()),
            expires_at: row.expires_at.map(|time| time.to_string()),
            last_used_at: row.last_used_at.map(|time| time.to_string()),
        }
    }
}

/// The keys of the organization.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeyList {
    /// The keys, oldest first, including revoked ones.
    pub items: Vec<KeyView>,
}

/// A key to create.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeyRequest {
    /// What it is for.
    pub role: Role,
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// When it ends (RFC 3339); never by default.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// A new key. It is shown only once.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct NewKeyView {
    /// The key: keep it secret.
    pub api_key: String,
    /// Its record.
    pub key: KeyView,
}

impl std::fmt::Debug for NewKeyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKeyView").field("key", &self.key).finish_non_exhaustive()
    }
}

impl From<NewKey> for NewKeyView {
    fn from(new: NewKey) -> NewKeyView {
        NewKeyView { api_key: new.key.reveal().to_owned(), key: new.row.into() }
    }
}

/// A public key whose bundles are accepted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TrustedKeyView {
    /// `sha256:` and the SHA-256 of the key's DER.
    pub key_id: String,
    /// The fingerprint that OpenSSH shows.
    pub fingerprint: String,
    /// The base64 of the key's DER.
    pub public_key: String,
    /// Its name.
    pub name: String,
    /// When it was added (RFC 3339).
    pub created_at: String,
    /// The first time of receipt at which it counts (RFC 3339).
    pub valid_from: Option<String>,
    /// The last second of receipt at which it counts (RFC 3339).
    pub valid_until: Option<String>,
    /// Since when it is revoked (RFC 3339): bundles that were received earlier still count.
    pub revoked_since: Option<String>,
    /// Why it is revoked.
    pub revoked_reason: Option<String>,
}

impl From<TrustedKeyRow> for TrustedKeyView {
    fn from(row: TrustedKeyRow) -> TrustedKeyView {
        TrustedKeyView {
            key_id: row.key_id,
            fingerprint: row.fingerprint,
            public_key: row.public_key,
            name: row.label,
            created_at: row.created_at.to_string(),
            valid_from: row.valid_from.map(|time| time.to_string()),
            valid_until: row.valid_until.map(|time| time.to_string()),
            revoked_since: row.revoked.as_ref().map(|(since, _)| since.to_string()),
            revoked_reason: row.revoked.map(|(_, reason)| reason),
        }
    }
}

/// The keys that the organization trusts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TrustedKeyList {
    /// The keys, oldest first.
    pub items: Vec<TrustedKeyView>,
}

/// A public key to trust.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrustedKey {
    /// The Ed25519 public key, as PEM or as an OpenSSH line.
    pub public_key: String,
    /// Its name.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The first time of receipt at which it counts (RFC 3339); no limit by default.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub valid_from: Option<String>,
    /// The last second of receipt at which it counts (RFC 3339); no limit by default.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub valid_until: Option<String>,
}

/// The validity of a trusted key, by the time at which a bundle is received. A missing time sets no limit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustValidity {
    /// The first time (RFC 3339).
    #[serde(default)]
    #[schema(format = DateTime)]
    pub valid_from: Option<String>,
    /// The last second (RFC 3339).
    #[serde(default)]
    #[schema(format = DateTime)]
    pub valid_until: Option<String>,
}

/// Since when a trusted key is revoked, and why.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustRevocation {
    /// Bundles that are received from this time on do not count (RFC 3339).
    #[schema(format = DateTime)]
    pub since: String,
    /// Why.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

/// A trusted key after a change.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChangedTrust {
    /// The key.
    pub key: TrustedKeyView,
    /// How many stored bundles by this key were received too late to count any longer.
    pub bundles_outside: u64,
}

impl From<Changed> for ChangedTrust {
    fn from(changed: Changed) -> ChangedTrust {
        ChangedTrust { key: changed.row.into(), bundles_outside: changed.outside }
    }
}

/// Whether a bundle is kept regardless of its retention.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LegalHold {
    /// Whether it is under legal hold.
    pub legal_hold: bool,
}

/// Until when a bundle is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// RFC 3339; not before the time until which it is kept already.
    #[schema(format = DateTime)]
    pub retention_until: String,
}

/// A record of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditView {
    /// The name of the record.
    pub id: String,
    /// When (RFC 3339).
    pub at: String,
    /// Who: `key:` and the prefix of the key, or `cli`.
    pub actor: String,
    /// What: a stable code.
    pub action: String,
    /// To what.
    pub target: String,
    /// `done`, `unchanged` or `refused`.
    pub outcome: String,
    /// Further details.
    #[schema(value_type = Object)]
    pub detail: serde_json::Value,
    /// The request, as in the platform's log.
    pub request_id: String,
}

impl From<AuditRecord> for AuditView {
    fn from(record: AuditRecord) -> AuditView {
        AuditView {
            id: record.id,
            at: record.at.to_string(),
            actor: record.actor,
            action: record.action,
            target: record.target,
            outcome: record.outcome,
            detail: record.detail,
            request_id: record.request_id,
        }
    }
}

/// A page of the audit log, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditList {
    /// The records.
    pub items: Vec<AuditView>,
    /// Where the next page begins; `null` on the last one.
    pub next_cursor: Option<String>,
}

impl From<Page<AuditRecord>> for AuditList {
    fn from(page: Page<AuditRecord>) -> AuditList {
        AuditList { items: page.items.into_iter().map(AuditView::from).collect(), next_cursor: page.next }
    }
}
