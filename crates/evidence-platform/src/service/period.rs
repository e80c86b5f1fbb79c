//! The period of an organization, folded from its stored bundles by the code of `evidence history`.
//!
//! Every bundle is verified again for every period, so a period is always current and shows no unverified byte.

use std::collections::BTreeMap;

use evidence_view::history::{Day, Facts, FoldError, History, NotUsed, Series};

use super::Service;
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{BundleRow, SeriesName};
use crate::time::{DAY_MS, Time};

/// The days of a period whose first day is not named.
const DAYS: i64 = 365;
/// The most days of a period: three years.
const MOST_DAYS: i64 = 3 * 366;
/// The most bundles of a period. All are read.
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
}

/// A period.
#[derive(Debug)]
pub struct Period {
    /// What the bundles show.
    pub history: History,
    /// When the platform stored each bundle, by its id. The history knows only the times that signers claim.
    pub stored: BTreeMap<String, Time>,
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
    ) -> Result<Option<Period>, Error> {
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
        let limit = i64::try_from(MOST_BUNDLES).unwrap_or(i64::MAX).saturating_add(1);
        let light = |mut bundle: BundleRow| {
            bundle.overview.judgement = None;
            bundle
        };
        let span = (Time(begin), Time(until));
        let bundles = store.bundles_between(organization, &name, span, limit, light).await?;
        if bundles.len() > MOST_BUNDLES {
            let detail = format!("the period has more than {MOST_BUNDLES} bundles: name fewer days");
            return Err(Error::Invalid(detail));
        }
        self.fold(principal, request.from, to, bundles).await
    }

    async fn fold(
        &self,
        principal: &Principal,
        from: Option<Day>,
        to: Day,
        bundles: Vec<BundleRow>,
    ) -> Result<Option<Period>, Error> {
        let viewer = self.viewer(principal).await?;
        let (mut series, mut not_used) = (Series::default(), Vec::new());
        for bundle in &bundles {
            let mut skip =
                |why: &str| not_used.push(NotUsed { sha256: bundle.digest.to_string(), why: why.to_owned() });
            match viewer.read_verified(principal, bundle, Facts::default()).await {
                Ok((_, facts)) if !facts.known() => skip("unknown_form"),
                Ok((verified, facts)) => series.add(&verified, facts),
                Err(Error::Damaged { reason, .. }) => skip(reason),
                Err(Error::Refused { reason, .. }) => skip(reason.code()),
                // It was deleted meanwhile.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let stored = bundles.into_iter().map(|bundle| (bundle.id, bundle.uploaded_at)).collect();
        let folded = viewer.work(move || series.fold(from, Some(to), not_used)).await?;
        match folded {
            Ok(history) => Ok(Some(Period { history, stored })),
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
