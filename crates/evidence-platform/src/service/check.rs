//! The check of everything that is stored: each bundle's bytes against its digest and its signature, rows without blobs,
//! blobs without rows.
//!
//! One process at a time checks; another goes on where it ended. Whether a key is still trusted does not matter here: what
//! is checked is that the bytes are those that were accepted.

use std::time::{Duration, Instant};

use evidence_bundle::NewerBundle;
use futures_util::StreamExt as _;
use serde_json::json;

use super::Service;
use super::gauges::CheckGauges;
use super::upload::Rows;
use crate::error::Error;
use crate::event::Event;
use crate::id::random_hex;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{CheckRun, Checked, Damage, Held, StoredBytes, StrayBlob};
use crate::time::Time;

/// How long another process waits for one that checks and says nothing.
const HOLD_SECONDS: i64 = 15 * 60;
/// How many bundles to list at once.
const BATCH: i64 = 100;
/// The most blobs without a bundle that are kept by name.
const STRAYS: usize = 100_000;

/// How to check.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckPlan {
    /// Bytes per second to read at most, on average.
    pub pace: Option<u64>,
    /// Begin anew, whatever an earlier run has checked.
    pub restart: bool,
}

/// What a check of everything found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The bundles that this process checked.
    pub bundles: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether it went on with an earlier run.
    pub resumed: bool,
    /// What is damaged, whoever found it.
    pub damaged: Vec<Damage>,
    /// Blobs without a bundle.
    pub strays: Vec<StrayBlob>,
}

impl Service {
    /// What the check found in the organization.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn checked(&self, principal: &Principal) -> Result<Checked, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.checked(principal.organization()).await
    }

    /// How many bundles of an organization, which the caller may see, are damaged.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn damaged(&self, held: &Held) -> Result<u64, Error> {
        let found = self.inner.store.damage(Some(&held.id)).await?;
        Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
    }

    /// The numbers of the last check.
    pub fn check_gauges(&self) -> &CheckGauges {
        &self.inner.checks
    }

    /// Brings the numbers of the last check up to date.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn count_damage(&self) -> Result<CheckRun, Error> {
        let (store, gauges) = (&self.inner.store, &self.inner.checks);
        let run = store.check_run().await?;
        gauges.damaged.set(i64::try_from(store.damage(None).await?.len()).unwrap_or(i64::MAX));
        gauges.strays.set(i64::try_from(store.count_strays(None).await?).unwrap_or(i64::MAX));
        if run.started_at.0 > 0
            && let Some(finished) = run.finished_at
        {
            gauges.finished.set(finished.0.div_euclid(1_000));
        }
        Ok(run)
    }

    /// Checks everything if the last complete check is older than this, or was interrupted. `None` if it is not due, or
    /// another process is at it.
    ///
    /// # Errors
    /// Fails like [`Service::check_all`].
    pub async fn check_if_due(&self, days: u32, plan: CheckPlan) -> Result<Option<CheckReport>, Error> {
        let run = self.count_damage().await?;
        let now = self.inner.clock.now();
        let due = run.started_at.0 == 0 || run.finished_at.is_none_or(|last| last.plus_days(days) <= now);
        if !due {
            return Ok(None);
        }
        match self.check_all(plan).await {
            Err(Error::CheckHeld) => Ok(None),
            outcome => outcome.map(Some),
        }
    }

    /// Checks everything that is stored, or goes on with an interrupted check.
    ///
    /// # Errors
    /// Fails with [`Error::CheckHeld`] if another process checks, or with [`Error::Unavailable`] if the database or the
    /// storage does not answer: the next call goes on from there.
    pub async fn check_all(&self, plan: CheckPlan) -> Result<CheckReport, Error> {
        let holder = random_hex::<12>()?;
        let run = self.hold(&holder).await?.ok_or(Error::CheckHeld)?;
        let outcome = self.check_held(&holder, run, plan).await;
        // After an error too, so that the next process need not wait.
        let finished = outcome.is_ok().then(|| self.inner.clock.now());
        let mut transaction = self.inner.store.begin().await?;
        transaction.release_check(&holder, finished).await?;
        transaction.commit().await?;
        let report = outcome?;
        self.count_damage().await?;
        Ok(report)
    }

    async fn hold(&self, holder: &str) -> Result<Option<CheckRun>, Error> {
        let now = self.inner.clock.now();
        let until = Time(now.0.saturating_add(HOLD_SECONDS.saturating_mul(1_000)));
        let mut transaction = self.inner.store.begin().await?;
        let run = transaction.hold_check(holder, now, until).await?;
        transaction.commit().await?;
        Ok(run)
    }

    async fn check_held(&self, holder: &str, run: CheckRun, plan: CheckPlan) -> Result<CheckReport, Error> {
        let resumed = run.finished_at.is_none() && !plan.restart;
        let started = if resumed { run.started_at } else { self.inner.clock.now() };
        if !resumed {
            let mut transaction = self.inner.store.begin().await?;
            transaction.begin_check(started).await?;
            transaction.commit().await?;
        }
        let (mut bundles, mut bytes) = (0_u64, 0_u64);
        let mut after = (String::new(), String::new());
        loop {
            let batch = self.inner.store.unchecked(started, (&after.0, &after.1), BATCH).await?;
            let Some(last) = batch.last() else { break };
            after = (last.organization.as_str().to_owned(), last.id.clone());
            for bundle in &batch {
                // Another process may have taken over while this one was stopped.
                self.hold(holder).await?.ok_or(Error::CheckHeld)?;
                let begun = Instant::now();
                self.check_one(bundle, started).await?;
                (bundles, bytes) = (bundles.saturating_add(1), bytes.saturating_add(bundle.size_bytes));
                rest(plan.pace, bundle.size_bytes, begun).await;
            }
        }
        let strays = self.stray_blobs(holder).await?;
        let damaged = self.inner.store.damage(None).await?;
        Ok(CheckReport { bundles, bytes, resumed, damaged, strays })
    }

    /// Checks one bundle, and records what was found.
    async fn check_one(&self, bundle: &StoredBytes, started: Time) -> Result<(), Error> {
        let Some((reason, detail)) = self.find_damage(bundle).await? else { return Ok(()) };
        if !reason.is_empty() {
            self.inner.readings.forget(&bundle.digest);
        }
        // A clock that went back must not make the check endless.
        let at = self.inner.clock.now().max(started);
        let mut transaction = self.inner.store.begin().await?;
        let new = transaction.record_check(bundle, at, reason, &detail).await?;
        if new {
            let data = json!({ "bundle_id": bundle.id, "reason": reason, "detail": detail });
            transaction.emit(&bundle.organization, Event::BundleDamaged, at, data).await?;
        }
        transaction.commit().await?;
        if new {
            let (organization, bundle) = (&bundle.slug, &bundle.id);
            tracing::error!(organization, bundle, reason, detail, "a stored bundle is damaged");
        }
        Ok(())
    }

    /// The reason and the description of damage, empty if there is none; `None` if the bundle is deleted meanwhile.
    async fn find_damage(&self, bundle: &StoredBytes) -> Result<Option<(&'static str, String)>, Error> {
        let Some((verdict, digest)) = self.read_again(bundle, Rows::Drop).await? else {
            // A deletion removes the row first.
            let row = self.inner.store.bundle(&bundle.organization, &bundle.id).await?;
            let gone = row.is_none_or(|row| row.digest != bundle.digest);
            return Ok((!gone).then(|| ("blob-missing", "the stored bytes are missing".to_owned())));
        };
        if digest != Some(bundle.digest) {
            return Ok(Some(("digest-mismatch", Error::digest_mismatch().to_string())));
        }
        match verdict {
            Ok(_) => Ok(Some(("", String::new()))),
            Err(Error::Refused { reason, detail }) => Ok(Some((reason.code(), detail))),
            Err(error @ Error::NewerVersion(_)) => Ok(Some((NewerBundle::CODE, error.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Finds blobs that neither a bundle nor a claim names, and records them.
    async fn stray_blobs(&self, holder: &str) -> Result<Vec<StrayBlob>, Error> {
        let mut strays = Vec::new();
        let mut blobs = self.inner.blobs.list();
        let mut held = Instant::now();
        while let Some(blob) = blobs.next().await {
            let (organization, digest, size_bytes) = blob?;
            if held.elapsed() > Duration::from_secs(60) {
                self.hold(holder).await?.ok_or(Error::CheckHeld)?;
                held = Instant::now();
            }
            if self.inner.store.names_blob(&organization, &digest).await? {
                continue;
            }
            // A deletion may have removed it since it was listed.
            let there = self.inner.blobs.size(&organization, &digest).await?.is_some();
            if there && !self.inner.store.names_blob(&organization, &digest).await? && strays.len() < STRAYS {
                strays.push(StrayBlob { organization, digest, size_bytes });
            }
        }
        let mut transaction = self.inner.store.begin().await?;
        transaction.set_stray_blobs(&strays, self.inner.clock.now()).await?;
        transaction.commit().await?;
        Ok(strays)
    }
}

/// Waits until reading this many bytes has taken as long as the pace demands.
pub(super) async fn rest(pace: Option<u64>, bytes: u64, begun: Instant) {
    if let Some(pace) = pace.filter(|pace| *pace > 0) {
        let millis = u128::from(bytes).saturating_mul(1_000) / u128::from(pace);
        let least = Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX));
        tokio::time::sleep(least.saturating_sub(begun.elapsed())).await;
    }
}
