//! Rows of `organizations`.

use super::columns::{integer, optional, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::time::Time;

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Its id in the database and in the storage.
    pub id: OrganizationId,
    /// Its short name, chosen by the operator.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Time,
    /// After how many hours a bundle is expected.
    pub expect_hours: Option<u32>,
}

impl Transaction {
    /// Adds an organization. `false` if the slug is taken.
    pub(crate) async fn add_organization(&mut self, new: &Organization) -> Result<bool, Error> {
        let done = sqlx::query(
            "INSERT INTO organizations (id, slug, name, created_at, expect_hours) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT DO NOTHING",
        )
        .bind(new.id.as_str())
        .bind(&new.slug)
        .bind(&new.name)
        .bind(new.created_at.0)
        .bind(new.expect_hours.map(i64::from))
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Changes the name and the expectation of an organization.
    pub(crate) async fn update_organization(&mut self, new: &Organization) -> Result<(), Error> {
        sqlx::query("UPDATE organizations SET name = $1, expect_hours = $2 WHERE id = $3")
            .bind(&new.name)
            .bind(new.expect_hours.map(i64::from))
            .bind(new.id.as_str())
            .execute(self.connection())
            .await?;
        Ok(())
    }
}

impl Store {
    /// The organization with this slug.
    pub(crate) async fn organization(&self, slug: &str) -> Result<Option<Organization>, Error> {
        let row =
            sqlx::query("SELECT id, slug, name, created_at, expect_hours FROM organizations WHERE slug = $1")
                .bind(slug)
                .fetch_optional(&self.pool)
                .await?;
        row.map(|row| organization(&row)).transpose()
    }

    /// Every organization, by slug.
    pub(crate) async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let rows =
            sqlx::query("SELECT id, slug, name, created_at, expect_hours FROM organizations ORDER BY slug")
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(organization).collect()
    }
}

/// The expectation in a row.
pub(super) fn hours(row: &sqlx::any::AnyRow) -> Result<Option<u32>, Error> {
    Ok(optional(row, "expect_hours")?.and_then(|hours| u32::try_from(hours).ok()))
}

fn organization(row: &sqlx::any::AnyRow) -> Result<Organization, Error> {
    Ok(Organization {
        id: OrganizationId::stored(text(row, "id")?),
        slug: text(row, "slug")?,
        name: text(row, "name")?,
        created_at: Time(integer(row, "created_at")?),
        expect_hours: hours(row)?,
    })
}
