//! Rows of `organizations`: organizations, and groups of them.

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
    /// The short name of its group.
    pub group: Option<String>,
}

/// A group of organizations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The id of its row, to which its keys belong.
    pub id: OrganizationId,
    /// Its short name. No organization has the same one.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: Time,
    /// How many organizations are in it.
    pub members: u64,
}

const SELECT: &str = "SELECT o.id, o.slug, o.name, o.created_at, o.expect_hours, \
                      COALESCE(g.slug, '') AS group_slug FROM organizations o \
                      LEFT JOIN organizations g ON g.id = o.group_id WHERE o.is_group = 0";

const SELECT_GROUP: &str = "SELECT g.id, g.slug, g.name, g.created_at, \
                            (SELECT COUNT(*) FROM organizations o WHERE o.group_id = g.id) AS members \
                            FROM organizations g WHERE g.is_group = 1";

impl Transaction {
    /// Adds an organization. `false` if the slug is taken.
    pub(crate) async fn add_organization(&mut self, new: &Organization) -> Result<bool, Error> {
        let done = sqlx::query(
            "INSERT INTO organizations (id, slug, name, created_at, expect_hours, is_group, group_id) \
             VALUES ($1, $2, $3, $4, $5, 0, \
             (SELECT g.id FROM organizations g WHERE g.is_group = 1 AND g.slug = $6)) ON CONFLICT DO NOTHING",
        )
        .bind(new.id.as_str())
        .bind(&new.slug)
        .bind(&new.name)
        .bind(new.created_at.0)
        .bind(new.expect_hours.map(i64::from))
        .bind(new.group.clone().unwrap_or_default())
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Changes the name, the expectation and the group of an organization.
    pub(crate) async fn update_organization(&mut self, new: &Organization) -> Result<(), Error> {
        sqlx::query(
            "UPDATE organizations SET name = $1, expect_hours = $2, group_id = \
             (SELECT g.id FROM organizations g WHERE g.is_group = 1 AND g.slug = $3) WHERE id = $4",
        )
        .bind(&new.name)
        .bind(new.expect_hours.map(i64::from))
        .bind(new.group.clone().unwrap_or_default())
        .bind(new.id.as_str())
        .execute(self.connection())
        .await?;
        Ok(())
    }

    /// Adds a group. `false` if the slug is taken.
    pub(crate) async fn add_group(&mut self, new: &Group) -> Result<bool, Error> {
        let done = sqlx::query(
            "INSERT INTO organizations (id, slug, name, created_at, is_group) VALUES ($1, $2, $3, $4, 1) \
             ON CONFLICT DO NOTHING",
        )
        .bind(new.id.as_str())
        .bind(&new.slug)
        .bind(&new.name)
        .bind(new.created_at.0)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Changes the name of a group.
    pub(crate) async fn rename_group(&mut self, group: &OrganizationId, name: &str) -> Result<(), Error> {
        sqlx::query("UPDATE organizations SET name = $1 WHERE id = $2 AND is_group = 1")
            .bind(name)
            .bind(group.as_str())
            .execute(self.connection())
            .await?;
        Ok(())
    }
}

impl Store {
    /// The organization with this slug.
    pub(crate) async fn organization(&self, slug: &str) -> Result<Option<Organization>, Error> {
        let sql = format!("{SELECT} AND o.slug = $1");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(slug);
        query.fetch_optional(&self.pool).await?.map(|row| organization(&row)).transpose()
    }

    /// The organization with this slug, if it is in this group.
    pub(crate) async fn member(
        &self,
        group: &OrganizationId,
        slug: &str,
    ) -> Result<Option<Organization>, Error> {
        let sql = format!("{SELECT} AND o.group_id = $1 AND o.slug = $2");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(group.as_str()).bind(slug);
        query.fetch_optional(&self.pool).await?.map(|row| organization(&row)).transpose()
    }

    /// Every organization, by slug.
    pub(crate) async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let sql = format!("{SELECT} ORDER BY o.slug");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&self.pool).await?;
        rows.iter().map(organization).collect()
    }

    /// The group with this slug.
    pub(crate) async fn group(&self, slug: &str) -> Result<Option<Group>, Error> {
        let sql = format!("{SELECT_GROUP} AND g.slug = $1");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(slug);
        query.fetch_optional(&self.pool).await?.map(|row| group(&row)).transpose()
    }

    /// The group of an organization.
    pub(crate) async fn group_of(&self, organization: &OrganizationId) -> Result<Option<Group>, Error> {
        let sql =
            format!("{SELECT_GROUP} AND g.id = (SELECT o.group_id FROM organizations o WHERE o.id = $1)");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str());
        query.fetch_optional(&self.pool).await?.map(|row| group(&row)).transpose()
    }

    /// Every group, by slug.
    pub(crate) async fn groups(&self) -> Result<Vec<Group>, Error> {
        let sql = format!("{SELECT_GROUP} ORDER BY g.slug");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&self.pool).await?;
        rows.iter().map(group).collect()
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
        group: Some(text(row, "group_slug")?).filter(|slug| !slug.is_empty()),
    })
}

fn group(row: &sqlx::any::AnyRow) -> Result<Group, Error> {
    Ok(Group {
        id: OrganizationId::stored(text(row, "id")?),
        slug: text(row, "slug")?,
        name: text(row, "name")?,
        created_at: Time(integer(row, "created_at")?),
        members: u64::try_from(integer(row, "members")?).unwrap_or_default(),
    })
}
