//! Rows of `trusted_keys`: whose signatures an organization trusts.

use super::columns::{integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::time::Time;

/// A public key whose bundles are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKeyRow {
    /// `sha256:` and the SHA-256 of the key's DER.
    pub key_id: String,
    /// The base64 of the key's DER.
    pub public_key: String,
    /// The fingerprint that OpenSSH shows.
    pub fingerprint: String,
    /// Its label.
    pub label: String,
    /// When it was added.
    pub created_at: Time,
}

impl Store {
    /// The trusted keys of an organization, oldest first.
    pub(crate) async fn trusted_keys(
        &self,
        organization: &OrganizationId,
    ) -> Result<Vec<TrustedKeyRow>, Error> {
        let rows = sqlx::query(
            "SELECT key_id, public_key, fingerprint, label, created_at FROM trusted_keys \
             WHERE organization_id = $1 ORDER BY created_at, key_id",
        )
        .bind(organization.as_str())
        .fetch_all(&self.pool)
        .await?;
        let read = |row| {
            Ok(TrustedKeyRow {
                key_id: text(row, "key_id")?,
                public_key: text(row, "public_key")?,
                fingerprint: text(row, "fingerprint")?,
                label: text(row, "label")?,
                created_at: Time(integer(row, "created_at")?),
            })
        };
        rows.iter().map(read).collect()
    }
}

impl Transaction {
    /// Adds a trusted key. `false` if it is trusted already.
    pub(crate) async fn add_trusted_key(
        &mut self,
        organization: &OrganizationId,
        new: &TrustedKeyRow,
    ) -> Result<bool, Error> {
        let done = sqlx::query(
            "INSERT INTO trusted_keys (organization_id, key_id, public_key, fingerprint, label, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        )
        .bind(organization.as_str())
        .bind(&new.key_id)
        .bind(&new.public_key)
        .bind(&new.fingerprint)
        .bind(&new.label)
        .bind(new.created_at.0)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Whether a key is trusted at this moment.
    pub(crate) async fn trusts(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
    ) -> Result<bool, Error> {
        let sql = "SELECT key_id FROM trusted_keys WHERE organization_id = $1 AND key_id = $2";
        let query = sqlx::query(sql).bind(organization.as_str()).bind(key_id);
        Ok(query.fetch_optional(self.connection()).await?.is_some())
    }

    /// Ends the trust in a key. `false` if it was not trusted.
    pub(crate) async fn remove_trusted_key(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
    ) -> Result<bool, Error> {
        let done = sqlx::query("DELETE FROM trusted_keys WHERE organization_id = $1 AND key_id = $2")
            .bind(organization.as_str())
            .bind(key_id)
            .execute(self.connection())
            .await?;
        Ok(done.rows_affected() == 1)
    }
}
