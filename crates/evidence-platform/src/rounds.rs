//! What a server does besides answering: it removes leftovers, counts refused keys, sends webhooks, checks what is stored and
//! reads what pages will need.

use std::time::Duration;

use crate::service::{CheckPlan, CheckReport, Filled, Purged, Service, Swept};
use crate::time::Time;

/// How soon after its start the server reads bundles whose rows are missing, and how often it looks for new ones.
const FILL_DELAY: Duration = Duration::from_secs(5);
const FILL_TICK: Duration = Duration::from_secs(60);
/// Other instances may have another time: so much is looked at again.
const FILL_OVERLAP_SECONDS: u64 = 3_600;
/// How soon after its start the server looks whether a check is due, and how often.
const CHECK_DELAY: Duration = Duration::from_secs(60);
const CHECK_TICK: Duration = Duration::from_secs(600);
/// How often the server looks whether a webhook is due.
const MESSAGE_TICK: Duration = Duration::from_secs(10);
/// A megabyte.
pub(crate) const MEGABYTE: u64 = 1_000_000;

/// Removes leftovers now and every hour, and what is due if that is the policy.
pub(crate) async fn sweep(service: Service) {
    let mut hours = tokio::time::interval(Duration::from_secs(3_600));
    loop {
        hours.tick().await;
        match service.sweep().await {
            Ok(swept) if swept == Default::default() => {}
            Ok(swept) => {
                let Swept { uploads, blobs, failed } = swept;
                tracing::info!(uploads, blobs, failed, "removed leftovers");
            }
            Err(error) => tracing::warn!(error = ?error, "could not remove leftovers"),
        }
        let Some(days) = service.settings().purge_after_days else { continue };
        match service.purge(days, "retention").await {
            Ok(Purged { bundles: 0, .. }) => {}
            Ok(Purged { bundles, bytes }) => tracing::info!(bundles, bytes, "deleted what was due"),
            Err(error) => tracing::warn!(error = ?error, "what is due is deleted later"),
        }
    }
}

/// Records every minute how many keys were refused.
pub(crate) async fn minutes(service: Service) {
    let mut minutes = tokio::time::interval(Duration::from_secs(60));
    loop {
        minutes.tick().await;
        service.end_minute().await;
    }
}

/// Looks for late organizations, and delivers what waits in the outbox.
pub(crate) async fn messages(service: Service) {
    let mut ticks = tokio::time::interval(MESSAGE_TICK);
    loop {
        ticks.tick().await;
        if let Err(error) = service.report_late().await {
            tracing::warn!(error = ?error, "late organizations are reported later");
        }
        if let Err(error) = service.deliver().await {
            tracing::warn!(error = ?error, "webhooks are delivered later");
        }
    }
}

/// Checks what is stored when that is due. Several instances take turns.
pub(crate) async fn checks(service: Service, days: u32, pace: u64) {
    let first = tokio::time::Instant::now() + CHECK_DELAY;
    let mut ticks = tokio::time::interval_at(first, CHECK_TICK);
    let plan = CheckPlan { pace: Some(pace.saturating_mul(MEGABYTE)), restart: false };
    loop {
        ticks.tick().await;
        let outcome = match days {
            0 => service.count_damage().await.map(|_| None),
            days => service.check_if_due(days, plan).await,
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(CheckReport { bundles, bytes, damaged, strays, .. })) => {
                let (damaged, blobs_without_bundle) = (damaged.len(), strays.len());
                tracing::info!(bundles, bytes, damaged, blobs_without_bundle, "checked what is stored");
            }
            Err(error) => tracing::warn!(error = ?error, "the check of what is stored goes on later"),
        }
    }
}

/// Reads bundles whose rows this machine does not have.
pub(crate) async fn fill(service: Service, pace: u64) {
    if pace == 0 {
        return;
    }
    let first = tokio::time::Instant::now() + FILL_DELAY;
    let mut ticks = tokio::time::interval_at(first, FILL_TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut since = Time(0);
    loop {
        ticks.tick().await;
        match service.fill_rows(since, pace.saturating_mul(MEGABYTE)).await {
            Ok(Filled { bundles, newest }) => {
                since = newest.minus_seconds(FILL_OVERLAP_SECONDS);
                if bundles > 0 {
                    tracing::info!(bundles, "read bundles whose rows were missing");
                }
            }
            Err(error) => tracing::warn!(error = ?error, "bundles whose rows are missing are read later"),
        }
    }
}
