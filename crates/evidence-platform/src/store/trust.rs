//! Rows of `trusted_keys`: whose signatures an organization trusts, and when.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::columns::{integer, optional, text};
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
    /// The first time of receipt at which it counts.
    pub valid_from: Option<Time>,
    /// The last second of receipt at which it counts.
    pub valid_until: Option<Time>,
    /// Since when it is revoked, and why: a bundle that was received before still counts.
    pub revoked: Option<(Time, String)>,
}

/// What a key is worth for a bundle that was received at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It counts.
    Counts,
    /// It counts later.
    NotYet,
    /// It counted before.
    Ended,
    /// It was revoked before.
    Revoked,
}

impl TrustedKeyRow {
    /// What the key is worth for a bundle that the platform received at this time.
    pub fn standing(&self, received: Time) -> Standing {
        let second = received.0.div_euclid(1_000);
        let seconds = |time: Time| time.0.div_euclid(1_000);
        if self.revoked.as_ref().is_some_and(|(since, _)| seconds(*since) <= second) {
            Standing::Revoked
        } else if self.valid_from.is_some_and(|from| seconds(from) > second) {
            Standing::NotYet
        } else if self.valid_until.is_some_and(|until| seconds(until) < second) {
            Standing::Ended
        } else {
            Standing::Counts
        }
    }
}

const COLUMNS: &str = "key_id, public_key, fingerprint, label, created_at, valid_from, valid_until, revoked_since, \
                       revoked_reason";

impl Store {
    /// The trusted keys of an organization, oldest first.
    pub(crate) async fn trusted_keys(
        &self,
        organization: &OrganizationId,
    ) -> Result<Vec<TrustedKeyRow>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM trusted_keys WHERE organization_id = $1 ORDER BY created_at, key_id"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str());
        query.fetch_all(&self.pool).await?.iter().map(read).collect()
    }

    /// How many bundles that this key signed were received in this second or later.
    pub(crate) async fn received_since(
        &self,
        organization: &OrganizationId,
        key_id: &str,
        since: Time,
    ) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) AS n FROM bundles WHERE organization_id = $1 AND key_id = $2 AND uploaded_at >= $3";
        let query = sqlx::query(sql).bind(organization.as_str()).bind(key_id).bind(since.0);
        Ok(u64::try_from(integer(&query.fetch_one(&self.pool).await?, "n")?).unwrap_or_default())
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
            "INSERT INTO trusted_keys (organization_id, key_id, public_key, fingerprint, label, created_at, \
             valid_from, valid_until) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
        )
        .bind(organization.as_str())
        .bind(&new.key_id)
        .bind(&new.public_key)
        .bind(&new.fingerprint)
        .bind(&new.label)
        .bind(new.created_at.0)
        .bind(new.valid_from.map(|time| time.0))
        .bind(new.valid_until.map(|time| time.0))
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// A trusted key.
    pub(crate) async fn trusted_key(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
    ) -> Result<Option<TrustedKeyRow>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM trusted_keys WHERE organization_id = $1 AND key_id = $2");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str()).bind(key_id);
        query.fetch_optional(self.connection()).await?.map(|row| read(&row)).transpose()
    }

    /// Whether a key counts for a bundle that is received now.
    pub(crate) async fn trusts(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
        now: Time,
    ) -> Result<bool, Error> {
        let found = self.trusted_key(organization, key_id).await?;
        Ok(found.is_some_and(|row| row.standing(now) == Standing::Counts))
    }

    /// Changes the times in which a key counts.
    pub(crate) async fn update_trusted_key(
        &mut self,
        organization: &OrganizationId,
        new: &TrustedKeyRow,
    ) -> Result<(), Error> {
        let (since, reason) = new.revoked.clone().unzip();
        sqlx::query(
            "UPDATE trusted_keys SET valid_from = $1, valid_until = $2, revoked_since = $3, revoked_reason = $4 \
             WHERE organization_id = $5 AND key_id = $6",
        )
        .bind(new.valid_from.map(|time| time.0))
        .bind(new.valid_until.map(|time| time.0))
        .bind(since.map(|time| time.0))
        .bind(reason)
        .bind(organization.as_str())
        .bind(&new.key_id)
        .execute(self.connection())
        .await?;
        Ok(())
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

fn read(row: &AnyRow) -> Result<TrustedKeyRow, Error> {
    let reason = row.try_get::<Option<String>, _>("revoked_reason")?;
    let since = optional(row, "revoked_since")?.map(Time);
    Ok(TrustedKeyRow {
        key_id: text(row, "key_id")?,
        public_key: text(row, "public_key")?,
        fingerprint: text(row, "fingerprint")?,
        label: text(row, "label")?,
        created_at: Time(integer(row, "created_at")?),
        valid_from: optional(row, "valid_from")?.map(Time),
        valid_until: optional(row, "valid_until")?.map(Time),
        revoked: since.map(|since| (since, reason.unwrap_or_default())),
    })
}
