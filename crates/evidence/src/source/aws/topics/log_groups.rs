//! The log groups of every region, read completely.
//!
//! An incomplete listing of a region is not stored, and no conclusion is drawn from it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::Value;

use super::alone::{self, inspected};
use crate::json::{Object, object};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB};
use crate::source::aws::host::compare::{differs, of_region};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{
    self, ReadResult, Recorded, Unread, failure, host_error, not_found, with_requests,
};
use crate::source::aws::names::{self, Arn, LOG_GROUP, common_beginning};
use crate::source::aws::observe::{denied, observation, unread};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Member, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Asked, Call, Meta, ParseError, Subject, recorded};
use evidence_rules::cloud::OF_LOG_GROUPS;
use evidence_rules::cloud::artifact::LOG_GROUPS;
use evidence_rules::cloud::record::{LogGroup, LogGroupsRecord, NotRead, RegionLogGroups};
use evidence_rules::cloud::retention::Retention;
use evidence_rules::rule::Settings;
use evidence_text::{saturating_u64, thousands};

/// Log groups per page: the provider's maximum.
const PAGE_SIZE: u64 = 50;

/// The maximum number of pages of log groups per region: enough for the maximum number of groups, at the provider's 50
/// per page. A longer listing is assumed to be endless.
const MAXIMUM_PAGES: u64 = 2_000;
/// The maximum number of log groups per region. A page limit is not enough: a server other than the provider can put
/// thousands on a page.
const MAXIMUM_GROUPS: usize = 100_000;
/// The maximum size of a region's answers in bytes: twice the size of the maximum number of groups at 300 bytes each.
/// All regions are in memory at the same time.
const MAXIMUM_BYTES: usize = 64 * 1024 * 1024;

/// The log groups.
pub(crate) static TOPIC: Topic = Topic {
    name: "log groups",
    kind: Some(&LOG_GROUPS),
    required: |config| config.collects(&LOG_GROUPS),
    counted: Some(("log group", "log groups")),
    open: |account| open(account).boxed(),
};

pub(crate) static DESCRIBE_LOG_GROUPS: Action<LogGroupPage> = Action {
    service: Service::Logs,
    call: Call {
        name: "logs:DescribeLogGroups",
        purpose: "`log-retention`",
        times: "once per region and 50 log groups",
        kind: Some("DescribeLogGroups"),
        media_type: Protocol::JSON,
        // A page of 50 log groups, each under 2 kB.
        limit: MIB,
        parse: LogGroupPage::parse,
        subject: Some(Subject {
            // Asked about: account and region.
            fields: "`arn`: account and region",
            other: |page, about| {
                page.groups.iter().find_map(|group: &LogGroup| {
                    let arn = Arn::new(group.arn.value()?)?;
                    let found = of_region(arn.account, arn.region);
                    differs(found == about.subject, &found, about.subject)
                })
            },
        }),
        keep: None,
    },
};

/// A page of `DescribeLogGroups`
#[derive(Debug, Clone)]
pub(crate) struct LogGroupPage {
    pub(crate) groups: Vec<LogGroup>,
    /// The token for the next page.
    pub(crate) next: Option<String>,
    /// The length of the answer in bytes.
    pub(crate) bytes: usize,
}

impl LogGroupPage {
    pub(crate) fn parse(bytes: &[u8]) -> Result<LogGroupPage, ParseError> {
        #[derive(Deserialize)]
        struct LogGroupList {
            #[serde(rename = "logGroups")]
            log_groups: Vec<Object<LogGroup>>,
            #[serde(rename = "nextToken")]
            next_token: Option<String>,
        }
        let LogGroupList { log_groups, next_token } = object(bytes)?;
        let groups = Object::all(log_groups);
        if groups.iter().any(|group| group.log_group_name.is_empty()) {
            return Err(ParseError::Shape("a log group without a name".to_string()));
        }
        let next = next_token.filter(|token| !token.is_empty());
        Ok(LogGroupPage { groups, next, bytes: bytes.len() })
    }
}

/// A page of a region's log groups: the first, or the one for `token`.
async fn page(account: &Account, region: &Region, token: Option<&str>) -> ReadResult<LogGroupPage> {
    let beginning = common_beginning(&account.scope.log_groups);
    let mut question = vec![("limit", Value::from(PAGE_SIZE))];
    question.extend(beginning.map(|beginning| ("logGroupNamePrefix", Value::from(beginning))));
    question.extend(token.map(|token| ("nextToken", Value::from(token))));
    let host = account.host(&DESCRIBE_LOG_GROUPS, region)?;
    let answer = host.ask(&DESCRIBE_LOG_GROUPS, &question, None).await;
    refusal::of(&DESCRIBE_LOG_GROUPS, Some(region), answer)
}

/// The first page of each region.
struct FirstPages(Vec<(Region, Recorded<LogGroupPage>)>);

async fn open(account: &Account) -> Box<dyn Answers> {
    let pages = account.regions().iter().map(|region| async move {
        (region.clone(), with_requests(&DESCRIBE_LOG_GROUPS, page(account, region, None)).await)
    });
    Box::new(FirstPages(join_all(pages).await))
}

impl Answers for FirstPages {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let of_region = self.0.iter().filter(|(of, _)| Some(of) == region);
        let warnings = of_region.filter_map(|(region, (page, _))| {
            let lost = format!("the retention of the log groups in {region} will be not verifiable");
            denied(page, &lost, &account.subject_in(region))
        });
        warnings.collect()
    }

    fn plan<'a>(&'a self, account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        async move {
            let regions = self.all(account).await;
            plan.failed.extend(regions.iter().filter_map(|region| failure(&region.groups)));
            plan.requests += regions.iter().map(|region| region.pages).sum::<u64>();
            plan.log_groups = regions.iter().map(RegionGroups::in_scope).sum();
            let is_read = regions.iter().any(|region| region.groups.is_ok());
            plan.artifacts.push((TOPIC.name, u64::from(is_read)));
        }
        .boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        async move {
            let regions = self.all(account).await;
            let number = account.number.as_str();
            let members = regions.iter().flat_map(|region| region.members(number)).collect();
            let count = regions.iter().map(RegionGroups::in_scope).sum();
            let incomplete = regions.iter().any(|region| region.groups.is_err());
            Reading { members, count, incomplete, ..Reading::of(found(account, regions)) }
        }
        .boxed()
    }
}

impl FirstPages {
    /// The log groups of every region, read concurrently.
    async fn all(&self, account: &Account) -> Vec<RegionGroups> {
        join_all(self.0.iter().map(|(region, first)| log_groups(account, region, first).boxed())).await
    }
}

/// All log groups of a region, or why they were not read completely.
struct RegionGroups {
    region: Region,
    groups: ReadResult<Groups>,
    pages: u64,
    /// The requests for the pages.
    requests: Vec<Asked>,
}

/// The log groups of a region.
struct Groups {
    in_scope: Vec<LogGroup>,
    /// The names of log groups that are out of scope.
    others: Vec<String>,
}

impl RegionGroups {
    /// The number of groups in scope, as far as they were read.
    fn in_scope(&self) -> u64 {
        self.groups.as_ref().map_or(0, |(groups, _)| saturating_u64(groups.in_scope.len()))
    }

    /// The log groups as members of the population.
    fn members(&self, account: &str) -> Vec<Member> {
        let Ok((groups, _)) = &self.groups else { return Vec::new() };
        let named = |name: &str| Member::new(LOG_GROUP, format!("{account}/{}/{name}", self.region));
        let in_scope = groups.in_scope.iter().map(|group| named(&group.log_group_name));
        let others =
            groups.others.iter().map(|name| Member { out_of_scope: Some("excluded"), ..named(name) });
        in_scope.chain(others).collect()
    }
}

/// `log_groups.json`, the verdict on each region, and what could not be read or found.
fn found(account: &Account, regions: Vec<RegionGroups>) -> Vec<CollectionItem> {
    let number = &account.number;
    let mut record = LogGroupsRecord {
        scope: account.scope.log_groups.clone(),
        regions_read: vec![],
        regions_not_read: vec![],
    };
    let (mut missing, mut shown, mut request): (_, Vec<Arc<str>>, Option<Meta>) =
        (Vec::new(), Vec::new(), None);
    let mut asked = Vec::new();
    for RegionGroups { region, groups, requests, .. } in regions {
        let subject = account.subject_in(&region);
        match groups {
            Ok((Groups { in_scope: log_groups, .. }, meta)) => {
                asked.extend(requests);
                request.get_or_insert(meta);
                shown.push(Arc::from(subject));
                record.regions_read.push(RegionLogGroups { region: region.to_string(), log_groups });
            }
            Err(unread_region) => {
                let reason = unread_region.reason().code.into();
                record.regions_not_read.push(NotRead { region: region.to_string(), reason });
                missing.push(unread(&LOG_GROUPS, &subject, unread_region.seen(), requests));
            }
        }
    }
    if missing.is_empty() {
        for entry in account.scope.log_groups.iter().filter(|entry| !is_in(entry, &record)) {
            let what =
                if entry.ends_with('*') { "no log group begins with" } else { "there is no log group" };
            let text = format!("{what} {} in {}", entry.trim_end_matches('*'), account.regions_in_words());
            missing.push(unread(&LOG_GROUPS, number, Seen::Failed(not_found(text)), asked.clone()));
        }
    }
    let read = request.map(|meta| {
        let seen = account.artifact("log_groups.json", &record, &meta);
        let observation = Observation { requests: asked, ..observation(&LOG_GROUPS, number, seen) };
        let inspection = Inspection::from(observation);
        let settings = &account.config.rule_settings;
        let of_region = |inspection: Inspection, (subject, region): (&Arc<str>, &RegionLogGroups)| {
            inspection.judged_by(OF_LOG_GROUPS, subject, region, settings)
        };
        CollectionItem::Inspected(shown.iter().zip(&record.regions_read).fold(inspection, of_region))
    });
    read.into_iter().chain(missing).collect()
}

async fn log_groups(
    account: &Account,
    region: &Region,
    (first, requests): &Recorded<LogGroupPage>,
) -> RegionGroups {
    let mut listed = Listed::default();
    let (listing, further) = recorded(list(account, region, first, &mut listed)).await;
    let requests = [requests.as_slice(), &further].concat();
    let pages = listed.pages;
    let groups = listing.map(|meta| (listed.finish(&account.scope.log_groups), meta));
    RegionGroups { region: region.clone(), groups, pages, requests }
}

/// Reads every page of a region. Returns the metadata of the first answer.
async fn list(
    account: &Account,
    region: &Region,
    first: &ReadResult<LogGroupPage>,
    listed: &mut Listed,
) -> Result<Meta, Unread> {
    let problem = |problem| {
        let text = format!("{} in {region}: {problem}", DESCRIBE_LOG_GROUPS.permission());
        Unread::Failed(host_error(text))
    };
    listed.pages = 1;
    let (first, meta) = first.clone()?;
    let mut next = listed.add(first).map_err(problem)?;
    while let Some(token) = next {
        listed.pages += 1;
        let (further, _) = page(account, region, Some(&token)).await?;
        next = listed.add(further).map_err(problem)?;
    }
    Ok(meta)
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
                || entries.iter().any(|entry| names::means_log_group(entry, &group.log_group_name))
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
        .any(|group| names::means_log_group(entry, &group.log_group_name))
}

/// A page of log groups, as if there were no other.
pub(super) fn offline(page: LogGroupPage) -> Vec<CollectionItem> {
    let log_groups = page.groups;
    let facts = Retention::of(&log_groups, &Settings::default());
    let record = LogGroupsRecord {
        scope: Vec::new(),
        regions_read: vec![RegionLogGroups { region: alone::REGION.to_string(), log_groups }],
        regions_not_read: Vec::new(),
    };
    inspected(&LOG_GROUPS, "log_groups.json", &record, facts.judge())
}
