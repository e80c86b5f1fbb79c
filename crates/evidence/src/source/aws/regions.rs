//! The regions of an account beside those that are enabled: what the configuration leaves out.

use super::account::{Account, Opened};
use super::calls::DESCRIBE_REGIONS;
use super::collect::REGION;
use super::endpoint::Region;
use super::session::CloudSession;
use crate::source::{CollectionItem, Member, PopulationScope};
use evidence_bundle::document::Scope;
use evidence_text::saturating_u64;

/// The name of the list of enabled regions in documents.
const REGION_LISTING: &str = "region_listing";

/// The code for an enabled region that the configuration does not name.
const NOT_CONFIGURED: &str = "not_configured";

impl CloudSession {
    /// The scope of the regions beside those that are enabled.
    pub(super) fn region_scope(&self, whose: String, in_scope: u64) -> PopulationScope {
        let accounts = || self.accounts.iter().map(Opened::account);
        let sum = |count: fn(&Account) -> Option<usize>| {
            let mut counts = accounts().map(|account| account.and_then(count));
            counts.try_fold(0, |sum, count| Some(saturating_u64(count?).saturating_add(sum)))
        };
        let host_total = sum(|account| Some(account.enabled()?.len()));
        let listed = sum(Account::enabled_in_scope).unwrap_or(in_scope);
        // The configuration chooses accounts, trails and log groups, too.
        let chooses = |account: &Account| {
            !account.folder.is_empty()
                || !account.extent.trails.is_empty()
                || !account.extent.log_groups.is_empty()
        };
        let is_whole =
            host_total == Some(in_scope) && listed == in_scope && !accounts().flatten().any(chooses);
        let scope = if is_whole { Scope::Whole } else { Scope::Chosen };
        PopulationScope {
            host_total,
            host_totals: host_total.map(|total| ("enabled_regions", total)).into_iter().collect(),
            ..PopulationScope::new(scope, whose, REGION, listed)
        }
    }
}

impl Account {
    /// The enabled regions, if the provider lists them.
    fn enabled(&self) -> Option<&[Region]> {
        let (regions, _) = self.first.enabled.as_ref()?.as_ref().ok()?;
        Some(regions)
    }

    /// How many of the regions in scope are enabled.
    fn enabled_in_scope(&self) -> Option<usize> {
        let enabled = self.enabled()?;
        Some(self.first.regions.iter().filter(|first| enabled.contains(&first.region)).count())
    }

    /// The request for the enabled regions.
    pub(super) fn regions_listed(&self) -> Option<CollectionItem> {
        self.first.enabled.as_ref()?;
        Some(CollectionItem::Listed {
            kind: REGION_LISTING,
            subject: self.number.as_str().into(),
            requests: self.first.asked(&DESCRIBE_REGIONS, None),
        })
    }

    /// The enabled regions that the configuration does not name.
    pub(super) fn regions_not_read(&self) -> impl Iterator<Item = Member> + '_ {
        let is_read = move |region: &Region| self.first.regions.iter().any(|first| first.region == *region);
        let others = self.enabled().unwrap_or_default().iter().filter(move |region| !is_read(region));
        others.map(|region| Member {
            out_of_scope: Some(NOT_CONFIGURED),
            ..Member::new(REGION, format!("{}/{region}", self.number))
        })
    }
}
