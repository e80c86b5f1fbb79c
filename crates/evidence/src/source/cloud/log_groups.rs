//! The log groups of every region, to the end of their listings, and what is to be said of them.
//!
//! A listing that breaks off is no listing: what was read of that region is not stored, and nothing is concluded from
//! it.

use std::collections::{HashMap, HashSet};

use evidence_bundle::path::BundlePath;
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::NAME;
use super::api::DESCRIBE_LOG_GROUPS;
use super::collect::{host_error, not_found, number, observed};
use super::config::CloudConfig;
use super::connect::{RegionFirst, log_group_page};
use super::endpoint::Region;
use super::look::Look;
use super::record::{LogGroup, LogGroupsRecord, NotRead, RegionLogGroups};
use super::rules::LOG_RETENTION;
use super::rules::retention::Retention;
use super::{CloudSession, scope};
use crate::evaluate::reason;
use crate::observation::Seen;
use crate::source::{Found, Question};

/// Pages of log groups at most: 100,000 groups in a region. Beyond, the listing is taken for one without an end.
const MAXIMUM_PAGES: usize = 2_000;

/// All log groups of a region, or why they were not read to the end.
pub(super) struct RegionGroups {
    region: Region,
    /// Those in scope, and how many there are in all.
    pub(super) groups: Look<(Vec<LogGroup>, u64)>,
    pub(super) pages: u64,
}

impl RegionGroups {
    /// How many are in scope and how many there are, as far as they were read.
    pub(super) fn counts(&self) -> (u64, u64) {
        match &self.groups {
            Look::Read((groups, seen), _) => (number(groups.len()), *seen),
            _ => (0, 0),
        }
    }
}

impl CloudSession {
    /// `log_groups.json`, a question for each region, what could not be read, and what was not found.
    pub(super) fn log_groups_found(&self, regions: &[RegionGroups]) -> Vec<Found> {
        let account = &self.caller.account;
        let mut record = LogGroupsRecord {
            scope: self.config.log_groups.clone(),
            regions_read: vec![],
            regions_not_read: vec![],
        };
        let (mut unread, mut questions, mut request) = (Vec::new(), Vec::new(), None);
        for RegionGroups { region, groups, .. } in regions {
            let subject = format!("{account}/{region}");
            match groups {
                Look::Read((groups, _), meta) => {
                    request.get_or_insert(meta);
                    questions.push((subject, Retention::of(groups)));
                    let log_groups = groups.clone();
                    record.regions_read.push(RegionLogGroups { region: region.to_string(), log_groups });
                }
                look => {
                    let code = look.unread().unwrap_or(&reason::HOST_ERROR).code;
                    record.regions_not_read.push(NotRead { region: region.to_string(), reason: code });
                    unread.extend(look.unseen().map(|seen| observed(&LOG_RETENTION, &subject, seen)));
                }
            }
        }
        let mut found = Vec::new();
        if unread.is_empty() {
            for entry in self.config.log_groups.iter().filter(|entry| !is_in(entry, &record)) {
                let what =
                    if entry.ends_with('*') { "no log group begins with" } else { "there is no log group" };
                let text = format!("{what} {} in {}", entry.trim_end_matches('*'), self.regions_in_words());
                found.push(observed(&LOG_RETENTION, account, Seen::Failed(not_found(text))));
            }
        }
        if let Some(meta) = request {
            let seen = Seen::artifact(NAME, "log_groups.json", record, meta);
            let evidence: Vec<BundlePath> = seen.path().cloned().into_iter().collect();
            found.insert(0, observed(&LOG_RETENTION, account, seen));
            found.extend(questions.into_iter().map(|(subject, facts)| {
                let (rule, facts, evidence) = (&LOG_RETENTION, Box::new(facts), evidence.clone());
                Found::Asked(Question { rule, subject: subject.into(), facts, evidence })
            }));
        }
        found.extend(unread);
        found
    }

    /// The log groups of every region to the end, side by side.
    pub(super) async fn all_log_groups(&self) -> Vec<RegionGroups> {
        join_all(self.first.regions.iter().map(|first| self.log_groups(first).boxed())).await
    }

    async fn log_groups(&self, first: &RegionFirst) -> RegionGroups {
        let region = first.region.clone();
        let failed = |look: Look<(Vec<LogGroup>, u64)>, pages| RegionGroups {
            region: region.clone(),
            groups: look,
            pages,
        };
        let (page, meta) = match &first.groups {
            Look::Read(page, meta) => (page, meta.clone()),
            other => return failed(other.without_value(), 1),
        };
        let mut listed = Listed::default();
        listed.add(&self.config, &page.groups);
        let (mut next, mut pages, mut tokens) = (page.next.clone(), 1, HashSet::new());
        while let Some(token) = next {
            let again = !tokens.insert(token.clone());
            if again || tokens.len() >= MAXIMUM_PAGES {
                let text = format!(
                    "{} in {region}: the pages of the listing do not come to an end",
                    DESCRIBE_LOG_GROUPS.permission()
                );
                return failed(Look::Failed(host_error(text)), pages);
            }
            pages += 1;
            match log_group_page(&self.config, &self.hosts, &region, Some(&token)).await {
                Look::Read(page, _) => {
                    listed.add(&self.config, &page.groups);
                    next = page.next;
                }
                other => return failed(other.without_value(), pages),
            }
        }
        let groups = Look::Read((listed.in_scope, listed.seen), meta);
        RegionGroups { region: region.clone(), groups, pages }
    }
}

/// Log groups as pages bring them.
#[derive(Default)]
struct Listed {
    in_scope: Vec<LogGroup>,
    seen: u64,
    /// Where each name is. A page that shifted while it was read shows a group twice.
    names: HashMap<String, LogGroup>,
}

impl Listed {
    fn add(&mut self, config: &CloudConfig, groups: &[LogGroup]) {
        for group in groups {
            let name = group.log_group_name.value();
            if name.and_then(|name| self.names.get(name)) == Some(group) {
                continue;
            }
            if let Some(name) = name {
                self.names.insert(name.clone(), group.clone());
            }
            self.seen += 1;
            let entries = &config.log_groups;
            let means = |entry: &String| scope::means_log_group(entry, name.map(String::as_str));
            if entries.is_empty() || entries.iter().any(means) {
                self.in_scope.push(group.clone());
            }
        }
    }
}

/// Whether an entry of the configuration means a log group of any region that was read.
fn is_in(entry: &str, record: &LogGroupsRecord) -> bool {
    record
        .regions_read
        .iter()
        .flat_map(|region| &region.log_groups)
        .any(|group| scope::means_log_group(entry, group.log_group_name.value().map(String::as_str)))
}
