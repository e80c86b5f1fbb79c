//! Rows of `api_keys`, which hold only hashes.

use sqlx::any::AnyRow;

use super::columns::{corrupt, integer, optional, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::principal::{Caller, GroupPrincipal, Principal};
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
    /// When it ends.
    pub expires_at: Option<Time>,
    /// When it was last used, to the hour.
    pub last_used_at: Option<Time>,
}

impl KeyRow {
    /// Whether the key has ended by itself at this time.
    pub fn has_expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// A key that a request brings.
pub(crate) struct KnownKey {
    pub(crate) caller: Caller,
    pub(crate) hash: KeyHash,
    pub(crate) last_used_at: Option<Time>,
}

const PRINCIPAL: &str = "SELECT k.id, k.prefix, k.hash, k.role, k.organization_id, k.expires_at, k.last_used_at, o.slug, \
     o.name, o.is_group FROM api_keys k JOIN organizations o ON o.id = k.organization_id \
     WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $1) AND ";

const COLUMNS: &str = "id, prefix, role, label, created_at, revoked_at, expires_at, last_used_at";

impl Store {
    /// The key with this prefix, unless it is revoked or has ended.
    pub(crate) async fn key_by_prefix(&self, prefix: &str, now: Time) -> Result<Option<KnownKey>, Error> {
        self.known_key("k.prefix = $2", prefix, now, None).await
    }

    /// The key that this condition selects, with a text as the second parameter and optionally a time as the third.
    pub(super) async fn known_key(
        &self,
        condition: &'static str,
        value: &str,
        now: Time,
        time: Option<Time>,
    ) -> Result<Option<KnownKey>, Error> {
        let sql = format!("{PRINCIPAL}{condition}");
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(now.0).bind(value);
        if let Some(time) = time {
            query = query.bind(time.0);
        }
        let Some(row) = query.fetch_optional(&self.pool).await? else { return Ok(None) };
        let key = GroupPrincipal {
            id: OrganizationId::stored(text(&row, "organization_id")?),
            slug: text(&row, "slug")?,
            name: text(&row, "name")?,
            key_id: text(&row, "id")?,
            key_prefix: text(&row, "prefix")?,
            role: role(&row)?,
            expires_at: optional(&row, "expires_at")?.map(Time),
        };
        let caller = match integer(&row, "is_group")? {
            0 => Caller::Organization(Principal::of(key)),
            _ => Caller::Group(key),
        };
        let hash = KeyHash::stored(&text(&row, "hash")?).ok_or_else(|| corrupt("a key's hash is damaged"))?;
        let last_used_at = optional(&row, "last_used_at")?.map(Time);
        Ok(Some(KnownKey { caller, hash, last_used_at }))
    }

    /// The keys of an organization, oldest first, including revoked ones.
    pub(crate) async fn keys(&self, organization: &OrganizationId) -> Result<Vec<KeyRow>, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM api_keys WHERE organization_id = $1 ORDER BY created_at, id");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str());
        query.fetch_all(&self.pool).await?.iter().map(key).collect()
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
            "INSERT INTO api_keys (id, organization_id, prefix, hash, role, label, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&new.id)
        .bind(organization.as_str())
        .bind(&new.prefix)
        .bind(hash.to_stored())
        .bind(new.role.as_str())
        .bind(&new.label)
        .bind(new.created_at.0)
        .bind(new.expires_at.map(|time| time.0))
        .execute(self.connection())
        .await?;
        Ok(())
    }

    /// Whether a key is valid at this moment.
    pub(crate) async fn key_counts(
        &mut self,
        organization: &OrganizationId,
        key_id: &str,
        now: Time,
    ) -> Result<bool, Error> {
        let sql = "SELECT id FROM api_keys WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL \
                   AND (expires_at IS NULL OR expires_at > $3)";
        let query = sqlx::query(sql).bind(organization.as_str()).bind(key_id).bind(now.0);
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
        let sql =
            format!("SELECT {COLUMNS} FROM api_keys WHERE organization_id = $1 AND (id = $2 OR prefix = $3)");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str()).bind(id).bind(id);
        let row = query.fetch_optional(self.connection()).await?;
        row.map(|row| Ok((key(&row)?, done.rows_affected() == 1))).transpose()
    }

    /// Records that a key was used.
    pub(crate) async fn touch_key(&mut self, key_id: &str, now: Time) -> Result<(), Error> {
        sqlx::query("UPDATE api_keys SET last_used_at = $1 WHERE id = $2")
            .bind(now.0)
            .bind(key_id)
            .execute(self.connection())
            .await?;
        Ok(())
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
        revoked_at: optional(row, "revoked_at")?.map(Time),
        expires_at: optional(row, "expires_at")?.map(Time),
        last_used_at: optional(row, "last_used_at")?.map(Time),
    })
}
