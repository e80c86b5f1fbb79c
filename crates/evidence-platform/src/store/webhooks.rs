//! Rows of `webhooks` and `outbox`. What is to be sent is written in the transaction of what happened, so that neither
//! happens without the other.

use serde_json::{Value, json};
use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::columns::{integer, text};
use super::database::{Store, Transaction};
use super::url::Dialect;
use crate::error::Error;
use crate::event::Event;
use crate::id::{OrganizationId, random_hex};
use crate::time::Time;
use crate::webhook::Message;

/// A webhook of an organization.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: String,
    /// The secret that signs what is sent.
    pub(crate) secret: String,
    /// The events that it wants; empty for all.
    pub events: Vec<String>,
    /// When it was created.
    pub created_at: Time,
    /// Messages that wait.
    pub waiting: u64,
    /// When one was last delivered.
    pub delivered_at: Option<Time>,
    /// Why the newest one failed; empty if it did not.
    pub failure: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A message that is due, with the number of this attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) message: Message,
    pub(crate) attempt: i64,
}

impl Transaction {
    /// Puts an event into the outbox of each webhook that wants it.
    pub(crate) async fn emit(
        &mut self,
        organization: &OrganizationId,
        event: Event,
        now: Time,
        data: Value,
    ) -> Result<(), Error> {
        let rows = sqlx::query(
            "SELECT w.id, w.events, o.slug FROM webhooks w JOIN organizations o \
                                ON o.id = w.organization_id WHERE w.organization_id = $1",
        )
        .bind(organization.as_str())
        .fetch_all(self.connection())
        .await?;
        for row in &rows {
            let events = text(row, "events")?;
            if !events.is_empty() && !events.split(',').any(|wanted| wanted == event.as_str()) {
                continue;
            }
            let slug = text(row, "slug")?;
            let body =
                json!({ "type": event.as_str(), "timestamp": now, "organization": slug, "data": data });
            sqlx::query(
                "INSERT INTO outbox (id, webhook_id, body, created_at, attempts, next_at, delivered_at, failure) \
                 VALUES ($1, $2, $3, $4, 0, $5, 0, '')",
            )
            .bind(format!("msg_{}", random_hex::<16>()?))
            .bind(text(row, "id")?)
            .bind(body.to_string())
            .bind(now.0)
            .bind(now.0.max(1))
            .execute(self.connection())
            .await?;
        }
        Ok(())
    }

    /// Adds a webhook.
    pub(crate) async fn add_webhook(
        &mut self,
        organization: &OrganizationId,
        new: &Webhook,
    ) -> Result<(), Error> {
        sqlx::query(
            "INSERT INTO webhooks (id, organization_id, url, secret, events, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(&new.id)
        .bind(organization.as_str())
        .bind(&new.url)
        .bind(&new.secret)
        .bind(new.events.join(","))
        .bind(new.created_at.0)
        .execute(self.connection())
        .await?;
        Ok(())
    }

    /// Removes a webhook and what waits for it. `false` if the organization has none with this id.
    pub(crate) async fn remove_webhook(
        &mut self,
        organization: &OrganizationId,
        id: &str,
    ) -> Result<bool, Error> {
        let done = sqlx::query("DELETE FROM webhooks WHERE organization_id = $1 AND id = $2")
            .bind(organization.as_str())
            .bind(id)
            .execute(self.connection())
            .await?;
        let removed = done.rows_affected() == 1;
        if removed {
            sqlx::query("DELETE FROM outbox WHERE webhook_id = $1")
                .bind(id)
                .execute(self.connection())
                .await?;
        }
        Ok(removed)
    }

    /// Takes messages that are due. Until then, no other instance takes them.
    pub(crate) async fn take_due(
        &mut self,
        dialect: Dialect,
        now: Time,
        until: Time,
        limit: i64,
    ) -> Result<Vec<Due>, Error> {
        let lock = match dialect {
            // The transaction is the only writer.
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE SKIP LOCKED",
        };
        let sql = format!(
            "UPDATE outbox SET attempts = attempts + 1, next_at = $1 WHERE id IN (SELECT id FROM outbox WHERE \
             next_at > 0 AND next_at <= $2 ORDER BY next_at, id LIMIT $3{lock}) RETURNING id, webhook_id, body, attempts"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(until.0).bind(now.0).bind(limit);
        let mut due = Vec::new();
        for row in &query.fetch_all(self.connection()).await? {
            let webhook = sqlx::query("SELECT url, secret FROM webhooks WHERE id = $1")
                .bind(text(row, "webhook_id")?)
                .fetch_optional(self.connection())
                .await?;
            let Some(webhook) = webhook else { continue };
            let message = Message {
                id: text(row, "id")?,
                url: text(&webhook, "url")?,
                secret: text(&webhook, "secret")?,
                body: text(row, "body")?,
            };
            due.push(Due { message, attempt: integer(row, "attempts")? });
        }
        Ok(due)
    }

    /// Records that a message was delivered, or why not and when to try again; without a time it is given up.
    pub(crate) async fn settle(
        &mut self,
        id: &str,
        outcome: Result<Time, (String, Option<Time>)>,
    ) -> Result<(), Error> {
        let (delivered, next, failure) = match outcome {
            Ok(now) => (now.0, 0, String::new()),
            Err((failure, next)) => (0, next.map_or(0, |time| time.0), failure),
        };
        sqlx::query("UPDATE outbox SET delivered_at = $1, next_at = $2, failure = $3 WHERE id = $4")
            .bind(delivered)
            .bind(next)
            .bind(failure)
            .bind(id)
            .execute(self.connection())
            .await?;
        Ok(())
    }

    /// Removes messages that were settled before this time.
    pub(crate) async fn clear_outbox(&mut self, before: Time) -> Result<(), Error> {
        let sql = "DELETE FROM outbox WHERE next_at = 0 AND created_at < $1";
        sqlx::query(sql).bind(before.0).execute(self.connection()).await?;
        Ok(())
    }

    /// Records that an organization is reported as late since then. `false` if that was reported before.
    pub(crate) async fn report_late(&mut self, organization: &str, since: Time) -> Result<bool, Error> {
        let done = sqlx::query(
            "UPDATE organizations SET late_reported = $1 WHERE slug = $2 AND (late_reported IS NULL OR late_reported <> $3)",
        )
        .bind(since.0)
        .bind(organization)
        .bind(since.0)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

impl Store {
    /// The webhooks of an organization, oldest first.
    pub(crate) async fn webhooks(&self, organization: &OrganizationId) -> Result<Vec<Webhook>, Error> {
        let rows = sqlx::query(
            "SELECT w.id, w.url, w.secret, w.events, w.created_at, \
             (SELECT COUNT(*) FROM outbox b WHERE b.webhook_id = w.id AND b.next_at > 0) AS waiting, \
             (SELECT MAX(b.delivered_at) FROM outbox b WHERE b.webhook_id = w.id) AS delivered_at, \
             (SELECT b.failure FROM outbox b WHERE b.webhook_id = w.id AND b.attempts > 0 \
              ORDER BY b.created_at DESC, b.id DESC LIMIT 1) AS failure \
             FROM webhooks w WHERE w.organization_id = $1 ORDER BY w.created_at, w.id",
        )
        .bind(organization.as_str())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(webhook).collect()
    }
}

fn webhook(row: &AnyRow) -> Result<Webhook, Error> {
    let events = text(row, "events")?;
    let delivered = super::columns::optional(row, "delivered_at")?.filter(|time| *time > 0);
    Ok(Webhook {
        id: text(row, "id")?,
        url: text(row, "url")?,
        secret: text(row, "secret")?,
        events: events.split(',').filter(|event| !event.is_empty()).map(str::to_owned).collect(),
        created_at: Time(integer(row, "created_at")?),
        waiting: u64::try_from(integer(row, "waiting")?).unwrap_or_default(),
        delivered_at: delivered.map(Time),
        failure: row.try_get::<Option<String>, _>("failure")?.unwrap_or_default(),
    })
}
