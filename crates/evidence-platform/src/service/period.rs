//! The period of an organization, folded from its stored bundles by the code of `evidence history`.
//!
//! It is folded from the rows that verified readings found, and the folded period is kept in memory until what it follows from
//! changes: the bundles, the revoked keys, or what a check found damaged.

use std::sync::Arc;

use evidence_view::history::{Day, Facts, FoldError, Named, NotUsed, Series};
use evidence_view::{NOT_OF_A_PERIOD, Skipped};
use sha2::{Digest as _, Sha256};

use super::Service;
use super::periods::{Key, Period, weight};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{BundleRow, SeriesName};
use crate::time::{DAY_MS, Time};

/// The days of a period whose first day is not named.
const DAYS: i64 = 365;
/// The most days of a period: three years.
const MOST_DAYS: i64 = 3 * 366;
/// The most bundles of a period. The rows of all are read.
const MOST_BUNDLES: usize = 1_200;

/// Which period is wanted.
#[derive(Debug, Clone, Default)]
pub struct PeriodRequest {
    /// The first day. By default, that of the first bundle of the year that ends with the last day.
    pub from: Option<Day>,
    /// The last day. By default, that of the newest bundle.
    pub to: Option<Day>,
    /// The subject and the framework. By default, those of the newest bundle.
    pub series: Option<SeriesName>,
    /// The only subject whose checks count, such as a repository. By default, all do.
    pub about: Option<String>,
}

impl Service {
    /// The subjects and frameworks of the organization's bundles.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn series(&self, principal: &Principal) -> Result<Vec<SeriesName>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.series(principal.organization()).await
    }

    /// The period. `None` without a bundle in it that verifies.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the period ends before it begins, or is too long or has too many bundles,
    /// with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn period(
        &self,
        principal: &Principal,
        request: &PeriodRequest,
    ) -> Result<Option<Arc<Period>>, Error> {
        principal.require(Capability::Read)?;
        let (store, organization) = (&self.inner.store, principal.organization());
        let backwards =
            || Error::Invalid("the period ends before it begins: `from` is later than `to`".into());
        if request.from.zip(request.to).is_some_and(|(from, to)| from > to) {
            return Err(backwards());
        }
        let end = request.to.map_or(Time(i64::MAX), |to| Time(start(to).saturating_add(DAY_MS)));
        let Some(newest) = store.newest_of(organization, request.series.as_ref(), end).await? else {
            return Ok(None);
        };
        let name = SeriesName {
            subject: newest.overview.organization.clone(),
            framework: newest.overview.framework.clone(),
        };
        let to = request.to.unwrap_or(Day::of(newest.overview.created_at));
        let until = start(to).saturating_add(DAY_MS);
        let begin = request.from.map_or(until.saturating_sub(DAYS * DAY_MS), start);
        if begin >= until {
            return Err(backwards());
        }
        if until.saturating_sub(begin) > MOST_DAYS * DAY_MS {
            return Err(Error::Invalid(format!("the period has more than {MOST_DAYS} days: name fewer")));
        }
        let span = (Time(begin), Time(until));
        let key = self.period_key(principal, &name, request, to, span).await?;
        if let Some(period) = self.inner.periods.find(&key) {
            return Ok(Some(period));
        }
        let limit = i64::try_from(MOST_BUNDLES).unwrap_or(i64::MAX).saturating_add(1);
        let light = |mut bundle: BundleRow| {
            bundle.overview.judgement = None;
            bundle
        };
        let bundles = store.bundles_between(organization, &name, span, limit, light).await?;
        if bundles.len() > MOST_BUNDLES {
            let detail = format!("the period has more than {MOST_BUNDLES} bundles: name fewer days");
            return Err(Error::Invalid(detail));
        }
        let Some((period, bytes)) = self.fold(principal, request, to, bundles).await? else {
            return Ok(None);
        };
        let period = Arc::new(period);
        self.inner.periods.keep(key, bytes, Arc::clone(&period));
        Ok(Some(period))
    }

    /// The digest of everything that a period follows from.
    async fn period_key(
        &self,
        principal: &Principal,
        name: &SeriesName,
        request: &PeriodRequest,
        to: Day,
        span: (Time, Time),
    ) -> Result<Key, Error> {
        let (store, organization) = (&self.inner.store, principal.organization());
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            digest.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(text);
        };
        let from = request.from.map(|day| day.to_string()).unwrap_or_default();
        add(request.about.as_ref().map_or("all", |_| "one"));
        add(request.about.as_deref().unwrap_or_default());
        let named = [organization.as_str(), &name.subject.to_ascii_lowercase(), &name.framework, &from];
        named.into_iter().for_each(&mut add);
        add(&to.to_string());
        for (id, sha256, stored) in store.names_between(organization, name, span).await? {
            [id, sha256, stored.to_string()].iter().for_each(|text| add(text));
        }
        for row in store.trusted_keys(organization).await? {
            if let Some((since, reason)) = row.revoked {
                [row.key_id, since.to_string(), reason].iter().for_each(|text| add(text));
            }
        }
        for damage in store.damage(Some(organization)).await? {
            [damage.bundle_id, damage.reason].iter().for_each(|text| add(text));
        }
        Ok(digest.finalize().into())
    }

    async fn fold(
        &self,
        principal: &Principal,
        request: &PeriodRequest,
        to: Day,
        bundles: Vec<BundleRow>,
    ) -> Result<Option<(Period, u64)>, Error> {
        let viewer = self.viewer(principal).await?;
        let (mut series, mut not_used, from) = (Series::default(), Vec::new(), request.from);
        let skipped = Skipped {
            kinds: &NOT_OF_A_PERIOD,
            checks_not_about: request.about.clone(),
            details_of_checks: true,
        };
        for bundle in &bundles {
            let mut skip =
                |why: &str| not_used.push(NotUsed { sha256: bundle.digest.to_string(), why: why.to_owned() });
            let facts = Facts::about(request.about.as_deref());
            match viewer.rows_without(principal, bundle, &skipped, facts).await {
                Ok((facts, _)) if !facts.known() => skip("unknown_form"),
                Ok((facts, _)) => {
                    let overview = &bundle.overview;
                    let named = Named {
                        key_id: overview.key_id.clone(),
                        checksums_sha256: overview.checksums_sha256.clone(),
                        fixed_time: overview.fixed_time,
                    };
                    series.add_named(named, facts);
                }
                Err(Error::Damaged { reason, .. }) => skip(reason),
                Err(Error::Refused { reason, .. }) => skip(reason.code()),
                // It was deleted meanwhile.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let stored = bundles.into_iter().map(|bundle| (bundle.id, bundle.uploaded_at)).collect();
        let folded = viewer.work(move || {
            let history = series.fold(from, Some(to), not_used)?;
            let bytes = weight(&history);
            Ok((history, bytes))
        });
        match folded.await? {
            Ok((history, bytes)) => Ok(Some((Period { history, stored }, bytes))),
            Err(FoldError::NoBundle) => Ok(None),
            Err(error @ (FoldError::Several(_) | FoldError::Backwards)) => {
                Err(Error::Invalid(error.to_string()))
            }
        }
    }
}

/// The first millisecond of a day.
fn start(day: Day) -> i64 {
    Time::parse(&format!("{day}T00:00:00Z")).map_or(0, |time| time.0)
}
