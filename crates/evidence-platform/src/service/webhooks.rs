//! Webhooks: what an organization is told, and the delivery of it.

use serde_json::{Value, json};

use super::operator::actor;
use super::{Operator, Service};
use crate::error::Error;
use crate::event::Event;
use crate::id::random_hex;
use crate::store::{Action, BundleRow, Outcome, Webhook};
use crate::webhook::{self, Sender};

/// The waits after each failed attempt, in seconds, as Standard Webhooks recommends; then a message is given up.
const WAITS: [u64; 9] = [5, 5 * 60, 30 * 60, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// How long an instance may keep messages that it took.
const TAKEN_SECONDS: u64 = 120;
/// How many messages to take at once. One attempt takes at most 15 seconds, and they are made at once.
const BATCH: i64 = 20;
/// The most webhooks of an organization.
const WEBHOOKS: usize = 20;

/// A new webhook.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret that signs, which the receiver needs.
    pub secret: String,
}

impl Operator {
    /// Adds a webhook for these events; for all of them if there are none.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn create_webhook(&self, slug: &str, url: &str, events: &[Event]) -> Result<NewWebhook, Error> {
        let (organization, service) = (self.organization(slug).await?, self.service());
        webhook::parse(url)?;
        if service.inner.store.webhooks(&organization.id).await?.len() >= WEBHOOKS {
            return Err(Error::Invalid(format!("an organization can have at most {WEBHOOKS} webhooks")));
        }
        let (now, secret) = (service.inner.clock.now(), webhook::new_secret()?);
        let new = Webhook {
            id: format!("webhook_{}", random_hex::<8>()?),
            url: url.to_owned(),
            secret: secret.clone(),
            events: events.iter().map(|event| event.as_str().to_owned()).collect(),
            created_at: now,
            waiting: 0,
            delivered_at: None,
            failure: String::new(),
        };
        let mut transaction = service.inner.store.begin().await?;
        transaction.add_webhook(&organization.id, &new).await?;
        let detail = json!({ "url": url, "events": new.events });
        let actor = actor(&organization);
        transaction.audit(actor.record(now, Action::WebhookCreate, &new.id, Outcome::Done, detail)).await?;
        transaction.commit().await?;
        Ok(NewWebhook { webhook: new, secret })
    }

    /// The webhooks of an organization.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn webhooks(&self, slug: &str) -> Result<Vec<Webhook>, Error> {
        self.service().inner.store.webhooks(&self.organization(slug).await?.id).await
    }

    /// Removes a webhook.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn remove_webhook(&self, slug: &str, id: &str) -> Result<(), Error> {
        let (organization, service) = (self.organization(slug).await?, self.service());
        let now = service.inner.clock.now();
        let mut transaction = service.inner.store.begin().await?;
        if !transaction.remove_webhook(&organization.id, id).await? {
            return Err(Error::NotFound("webhook"));
        }
        let actor = actor(&organization);
        transaction.audit(actor.record(now, Action::WebhookRemove, id, Outcome::Done, json!({}))).await?;
        transaction.commit().await
    }
}

impl Service {
    /// Puts an event into the outbox for each organization that has become late.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn report_late(&self) -> Result<(), Error> {
        let now = self.inner.clock.now();
        for held in self.inner.store.held(None, now).await? {
            let Some(since) = held.freshness.late_since() else { continue };
            let Some(organization) = self.inner.store.organization(&held.slug).await? else { continue };
            let mut transaction = self.inner.store.begin().await?;
            if !transaction.report_late(&held.slug, since).await? {
                continue;
            }
            let data = json!({
                "late_since": since,
                "age_seconds": held.freshness.age_seconds(),
                "newest_at": held.freshness.newest,
                "expect_hours": held.freshness.expect_hours,
            });
            transaction.emit(&organization.id, Event::OrganizationLate, now, data).await?;
            transaction.commit().await?;
            let organization = held.slug;
            tracing::warn!(organization, %since, "a bundle is overdue");
        }
        Ok(())
    }

    /// Sends what is due. Returns how many messages were delivered and how many were not.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`]; what was taken is sent again in two minutes.
    pub async fn deliver(&self) -> Result<(usize, usize), Error> {
        let (mut delivered, mut failed) = (0_usize, 0_usize);
        let mut sender: Option<Sender> = None;
        loop {
            let now = self.inner.clock.now();
            let until = now.plus_seconds(TAKEN_SECONDS);
            let mut transaction = self.inner.store.begin().await?;
            let due = transaction.take_due(self.inner.store.dialect(), now, until, BATCH).await?;
            transaction.commit().await?;
            if due.is_empty() {
                return Ok((delivered, failed));
            }
            let sender = match &sender {
                Some(sender) => sender,
                None => sender.insert(Sender::new(self.inner.settings.private_webhooks)?),
            };
            let sent = due.iter().map(|due| sender.send(&due.message, now));
            let outcomes = futures_util::future::join_all(sent).await;
            let now = self.inner.clock.now();
            for (due, outcome) in due.iter().zip(outcomes) {
                let outcome = match outcome {
                    Ok(()) => {
                        delivered = delivered.saturating_add(1);
                        Ok(now)
                    }
                    Err(failure) => {
                        failed = failed.saturating_add(1);
                        let past = usize::try_from(due.attempt.saturating_sub(1)).unwrap_or(usize::MAX);
                        let next = WAITS.get(past).map(|wait| now.plus_seconds(*wait));
                        let (message, given_up) = (&due.message.id, next.is_none());
                        tracing::warn!(message, failure, given_up, "a webhook was not delivered");
                        Err((failure, next))
                    }
                };
                let mut transaction = self.inner.store.begin().await?;
                transaction.settle(&due.message.id, outcome).await?;
                transaction.commit().await?;
            }
        }
    }
}

/// What is told about a stored bundle.
pub(super) fn stored(bundle: &BundleRow) -> Value {
    json!({
        "bundle_id": bundle.id,
        "sha256": bundle.digest.to_string(),
        "subject": bundle.overview.organization,
        "framework": bundle.overview.framework,
        "collected_at": bundle.collected_at,
        "complete": bundle.overview.complete,
        "tags": bundle.tags,
    })
}

/// The controls that turned to this status since the bundle before.
pub(super) fn turned(before: &BundleRow, now: &BundleRow, to: evidence_bundle::Status) -> Vec<Value> {
    let controls = |bundle: &BundleRow| {
        let judgement = bundle.overview.judgement.as_ref();
        judgement.map(|judgement| judgement.controls.clone()).unwrap_or_default()
    };
    let before = controls(before);
    let turned = controls(now).into_iter().filter(|control| control.status == to).filter_map(|control| {
        let was = before.iter().find(|known| known.id == control.id)?.status;
        (was != to).then(|| json!({ "id": control.id, "title": control.title, "from": was, "to": to }))
    });
    turned.collect()
}
