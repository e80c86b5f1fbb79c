//! The log groups of every region, read completely, and the items about them.
//!
//! An incomplete listing of a region is not stored, and no conclusion is drawn from it.

use std::collections::{HashMap, HashSet};

use futures_util::FutureExt;
use futures_util::future::join_all;

use super::account::{Account, RegionFirst};
use super::calls::DESCRIBE_LOG_GROUPS;
use super::connect::log_group_page;
use super::endpoint::Region;
use super::found::{host_error, not_found, observation, unread};
use super::interpret::{ReadResult, Unread};
use super::scope;
use super::wire::LogGroupPage;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::{CollectionItem, Member};
use evidence_http::{Asked, Meta, recorded};
use evidence_rules::cloud::LOG_RETENTION;
use evidence_rules::cloud::artifact::LOG_GROUPS;
use evidence_rules::cloud::record::{LogGroup, LogGroupsRecord, NotRead, RegionLogGroups};
use evidence_rules::cloud::retention::Retention;
use evidence_text::saturating_u64;
use evidence_text::thousands;

/// The maximum number of pages of log groups per region: enough for the maximum number of groups, at the provider's 50
/// per page. A longer listing is assumed to be endless.
const MAXIMUM_PAGES: u64 = 2_000;
/// The maximum number of log groups per region. A page limit is not enough: a server other than the provider can put
/// thousands on a page.
const MAXIMUM_GROUPS: usize = 100_000;
/// The maximum size of a region's answers in bytes: twice the size of the maximum number of groups at 300 bytes each.
/// All regions are in memory at the same time.
const MAXIMUM_BYTES: usize = 64 * 1024 * 1024;

/// All log groups of a region, or why they were not read completely.
pub(super) struct RegionGroups {
    region: Region,
    pub(super) groups: ReadResult<Groups>,
    pub(super) pages: u64,
    /// The requests for the pages.
    requests: Vec<Asked>,
}

/// The log groups of a region.
pub(super) struct Groups {
    in_scope: Vec<LogGroup>,
    /// The names of log groups that are out of scope.
    others: Vec<String>,
}

impl RegionGroups {
    /// The number of groups in scope, as far as they were read.
    pub(super) fn in_scope(&self) -> u64 {
        self.groups.as_ref().map_or(0, |(groups, _)| saturating_u64(groups.in_scope.len()))
    }

    /// The log groups as members of the population.
    pub(super) fn members(&self, account: &str) -> Vec<Member> {
        let Ok((groups, _)) = &self.groups else { return Vec::new() };
        let named = |name: &str| Member::new("log_group", format!("{account}/{}/{name}", self.region));
        let in_scope = groups.in_scope.iter().map(|group| named(&group.log_group_name));
        let others =
            groups.others.iter().map(|name| Member { out_of_scope: Some("excluded"), ..named(name) });
        in_scope.chain(others).collect()
    }
}

impl Account {
    /// `log_groups.json`, the verdict on each region, and what could not be read or found.
    pub(super) fn log_groups_found(&self, regions: Vec<RegionGroups>) -> Vec<CollectionItem> {
        let account = &self.number;
        let mut record = LogGroupsRecord {
            scope: self.extent.log_groups.clone(),
            regions_read: vec![],
            regions_not_read: vec![],
        };
        let (mut missing, mut shown, mut request): (_, _, Option<Meta>) = (Vec::new(), Vec::new(), None);
        let mut asked = Vec::new();
        for RegionGroups { region, groups, requests, .. } in regions {
            let subject = format!("{account}/{region}");
            match groups {
                Ok((Groups { in_scope: log_groups, .. }, meta)) => {
                    asked.extend(requests);
                    request.get_or_insert(meta);
                    shown.push((subject, Retention::of(&log_groups)));
                    record.regions_read.push(RegionLogGroups { region: region.to_string(), log_groups });
                }
                Err(why) => {
                    let reason = why.reason().code.into();
                    record.regions_not_read.push(NotRead { region: region.to_string(), reason });
                    missing.push(unread(&LOG_GROUPS, &subject, why.seen(), requests));
                }
            }
        }
        if missing.is_empty() {
            for entry in self.extent.log_groups.iter().filter(|entry| !is_in(entry, &record)) {
                let what =
                    if entry.ends_with('*') { "no log group begins with" } else { "there is no log group" };
                let text = format!("{what} {} in {}", entry.trim_end_matches('*'), self.regions_in_words());
                missing.push(unread(&LOG_GROUPS, account, Seen::Failed(not_found(text)), asked.clone()));
            }
        }
        let read = request.map(|meta| {
            let seen = self.artifact("log_groups.json", &record, &meta);
            let observation = Observation { requests: asked, ..observation(&LOG_GROUPS, account, seen) };
            let inspection = Inspection::from(observation);
            CollectionItem::Inspected(shown.into_iter().fold(inspection, |inspection, (subject, facts)| {
                inspection.judged(&LOG_RETENTION, subject, facts.judge())
            }))
        });
        read.into_iter().chain(missing).collect()
    }

    /// The log groups of every region, read concurrently.
    pub(super) async fn all_log_groups(&self) -> Vec<RegionGroups> {
        join_all(self.first.regions.iter().map(|first| self.log_groups(first).boxed())).await
    }

    async fn log_groups(&self, first: &RegionFirst) -> RegionGroups {
        let mut listed = Listed::default();
        let (listing, further) = recorded(self.listing(first, &mut listed)).await;
        let mut requests = self.first.asked(&DESCRIBE_LOG_GROUPS, Some(&first.region));
        requests.extend(further);
        let pages = listed.pages;
        let groups = listing.map(|meta| (listed.finish(&self.extent.log_groups), meta));
        RegionGroups { region: first.region.clone(), groups, pages, requests }
    }

    /// Reads every page of a region. Returns the metadata of the first answer.
    async fn listing(&self, first: &RegionFirst, listed: &mut Listed) -> Result<Meta, Unread> {
        let region = &first.region;
        let problem = |problem| {
            let text = format!("{} in {region}: {problem}", DESCRIBE_LOG_GROUPS.permission());
            Unread::Failed(host_error(text))
        };
        listed.pages = 1;
        let (page, meta) = first.groups.clone()?;
        let mut next = listed.add(page).map_err(problem)?;
        while let Some(token) = next {
            listed.pages += 1;
            let (page, _) = log_group_page(&self.extent, &self.hosts, region, Some(&token)).await?;
            next = listed.add(page).map_err(problem)?;
        }
        Ok(meta)
    }
}

/// The log groups read so far.
#[derive(Default)]
struct Listed {
    groups: Vec<LogGroup>,
    /// The number of requested pages.
    pages: u64,
    /// The total size of the answers in bytes.
    bytes: usize,
    /// The tokens of the pages requested after the first.
    tokens: HashSet<String>,
}

impl Listed {
    /// Adds a page. Returns the token for the next page, if there is one.
    ///
    /// # Errors
    ///
    /// Fails with a message if the listing exceeds a bound.
    fn add(&mut self, page: LogGroupPage) -> Result<Option<String>, String> {
        let LogGroupPage { groups, next, bytes } = page;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.groups.len().saturating_add(groups.len()) > MAXIMUM_GROUPS {
            let most = thousands(saturating_u64(MAXIMUM_GROUPS));
            return Err(format!("the listing has more than {most} log groups"));
        }
        if self.bytes > MAXIMUM_BYTES {
            return Err(format!("the answers exceed {} MiB in total", MAXIMUM_BYTES / 1024 / 1024));
        }
        self.groups.extend(groups);
        let Some(token) = next else { return Ok(None) };
        if self.pages >= MAXIMUM_PAGES || !self.tokens.insert(token.clone()) {
            return Err("the listing has too many pages, or its pages repeat".to_string());
        }
        Ok(Some(token))
    }

    /// The groups of all pages. If pages shifted while they were read, a group can appear twice; it counts once, unless
    /// it changed in between.
    fn finish(self, entries: &[String]) -> Groups {
        let mut last: HashMap<&str, &LogGroup> = HashMap::new();
        let mut new = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            new.push(last.insert(&group.log_group_name, group) != Some(group));
        }
        let means = |group: &LogGroup| {
            entries.is_empty()
                || entries.iter().any(|entry| scope::means_log_group(entry, &group.log_group_name))
        };
        let both = self.groups.into_iter().zip(new);
        let once = both.filter_map(|(group, new)| new.then_some(group));
        let (in_scope, others): (Vec<LogGroup>, Vec<LogGroup>) = once.partition(means);
        Groups { in_scope, others: others.into_iter().map(|group| group.log_group_name).collect() }
    }
}

/// Whether an entry of the configuration matches a log group of any region that was read.
fn is_in(entry: &str, record: &LogGroupsRecord) -> bool {
    record
        .regions_read
        .iter()
        .flat_map(|region| &region.log_groups)
        .any(|group| scope::means_log_group(entry, &group.log_group_name))
}
