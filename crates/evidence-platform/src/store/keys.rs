//! Rows of `api_keys`, which hold only hashes.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::columns::{corrupt, integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::principal::Principal;
use crate::role::Role;
use crate::secret::KeyHash;
use crate::time::Time;

/// An API key, without its secret.
#[derive(Debug, Clone)]
pub struct KeyRow {
    /// Its id.
    pub id: String,
    /// The part of the key that is not secret.
    pub prefix: String,
    /// What it is for.
    pub role: Role,
    /// Its label.
    pub label: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
}

const PRINCIPAL: &str = "SELECT k.id, k.prefix, k.hash, k.role, k.organization_id, o.slug, o.name \
     FROM api_keys k JOIN organizations o ON o.id = k.organization_id WHERE k.revoked_at IS NULL AND ";

impl Store {
    /// The principal and the hash of the key with this prefix, unless it is revoked.
    pub(crate) async fn key_by_prefix(&self, prefix: &str) -> Result<Option<(Principal, KeyHash)>, Error> {
        self.principal("k.prefix = $1", prefix, None).await
    }

    /// The principal and the hash of the key that this condition selects, with a text parameter and optionally a
    /// time.
    pub(super) async fn principal(
        &self,
        condition: &'static str,
        value: &str,
        now: Option<Time>,
    ) -> Result<Option<(Principal, KeyHash)>, Error> {
        let mut query = sqlx::query(sqlx::AssertSqlSafe(format!("{PRINCIPAL}{condition}"))).bind(value);
        if let Some(now) = now {
            query = query.bind(now.0);
        }
        let Some(row) = query.fetch_optional(&self.pool).await? else { return Ok(None) };
        let principal = Principal {
            organization: OrganizationId::stored(text(&row, "organization_id")?),
            slug: text(&row, "slug")?,
            name: text(&row, "name")?,
            key_id: text(&row, "id")?,
            key_prefix: text(&row, "prefix")?,
            role: role(&row)?,
            freshness: None,
        };
        let hash = KeyHash::stored(&text(&row, "hash")?).ok_or_else(|| corrupt("a key's hash is damaged"))?;
        Ok(Some((principal, hash)))
    }

    /// The keys of an organization, oldest first, including revoked ones.
    pub(crate) async fn keys(&self, organization: &OrganizationId) -> Result<Vec<KeyRow>, Error> {
        let rows = sqlx::query(
            "SELECT id, prefix, role, label, created_at, revoked_at FROM api_keys \
             WHERE organization_id = $1 ORDER BY created_at, id",
        )
        .bind(organization.as_str())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(key).collect()
    }
}

impl Transaction {
    /// Adds a key.
    pub(crate) async fn add_key(
        &mut self,
        organization: &OrganizationId,
        new: &KeyRow,
        hash: &KeyHash,
    ) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO api_keys (id, organization_id, prefix, hash, role, label, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(&new.id)
        .bind(organization.as_str())
        .bind(&new.prefix)
        .bind(hash.to_stored())
        .bind(new.role.as_str())
        .bind(&new.label)
        .bind(new.created_at.0)
        .execute(self.connection())
        .await?;
        Ok(())
    }

    /// Whether a key is valid at this moment.
    pub(crate) async fn key_counts(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
    ) -> Result<bool, Error> {
        let sql = "SELECT id FROM api_keys WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL";
        let query = sqlx::query(sql).bind(organization.as_str()).bind(key_id);
        Ok(query.fetch_optional(self.connection()).await?.is_some())
    }

    /// Revokes a key by its id or its prefix. `None` if the organization has no such key; `false` if it was already
    /// revoked.
    pub(crate) async fn revoke_key(
        &mut self,
        organization: &OrganizationId,
        id: &str,
        now: Time,
    ) -> Result<Option<(KeyRow, bool)>, Error> {
        let done = sqlx::query(
            "UPDATE api_keys SET revoked_at = $1 \
             WHERE organization_id = $2 AND (id = $3 OR prefix = $4) AND revoked_at IS NULL",
        )
        .bind(now.0)
        .bind(organization.as_str())
        .bind(id)
        .bind(id)
        .execute(self.connection())
        .await?;
        let row = sqlx::query(
            "SELECT id, prefix, role, label, created_at, revoked_at FROM api_keys \
             WHERE organization_id = $1 AND (id = $2 OR prefix = $3)",
        )
        .bind(organization.as_str())
        .bind(id)
        .bind(id)
        .fetch_optional(self.connection())
        .await?;
        row.map(|row| Ok((key(&row)?, done.rows_affected() == 1))).transpose()
    }
}

fn role(row: &AnyRow) -> Result<Role, Error> {
    Role::stored(&text(row, "role")?).ok_or_else(|| corrupt("a key's role is unknown"))
}

fn key(row: &AnyRow) -> Result<KeyRow, Error> {
    Ok(KeyRow {
        id: text(row, "id")?,
        prefix: text(row, "prefix")?,
        role: role(row)?,
        label: text(row, "label")?,
        created_at: Time(integer(row, "created_at")?),
        revoked_at: row.try_get::<Option<i64>, _>("revoked_at")?.map(Time),
    })
}
