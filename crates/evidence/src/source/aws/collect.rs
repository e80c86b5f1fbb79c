//! The collection: the answers of the connection test, then the status and the event selectors of each trail. Log
//! groups have their own file.
//!
//! A region that was not read is recorded in the artifact's list of such regions, in the checks that it leaves open,
//! and, if it failed rather than being refused, among the errors.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, OptionFuture, join, join_all};
use futures_util::stream::{self, BoxStream};
use serde::Serialize;

use super::account::{ACCOUNTS_AT_ONCE, Account, Opened, RegionFirst};
use super::api::Host;
use super::calls::{
    Action, DESCRIBE_TRAILS, GET_ACCOUNT_PASSWORD_POLICY, GET_ACCOUNT_SUMMARY, GET_EVENT_SELECTORS,
    GET_TRAIL_STATUS,
};
use super::config::NAME;
use super::connect::no_address;
use super::elsewhere::not_delivering;
use super::endpoint::{Region, Service};
use super::found::{host_error, not_asked, not_found, observation, unread_reason};
use super::interpret::{self, Policy, ReadResult, Unread};
use super::log_groups::RegionGroups;
use super::session::CloudSession;
use super::trails::{self, Known, TrailHome};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::{CollectionItem, Member, PopulationScope};
use evidence_bundle::document::Scope;
use evidence_http::{Meta, recorded};
use evidence_rules::cloud::artifact::{
    ACCOUNT_SUMMARY, AUDIT_TRAILS, EVENT_SELECTORS, PASSWORD_POLICY, TRAIL_STATUS,
};
use evidence_rules::cloud::password::{self, PASSWORD_POLICY_MISSING};
use evidence_rules::cloud::record::{
    AuditTrailsRecord, EventSelectors, NotRead, PasswordPolicyRecord, Trail, TrailStatus,
};
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts, delivery, selection};
use evidence_rules::cloud::{self as rules, AUDIT_TRAIL};
use evidence_rules::inspection::Facts;
use evidence_rules::rule::{Verdict, reason};
use evidence_text::counted;
use evidence_text::saturating_u64;

/// The kinds of accounts and regions in the population.
pub(super) const ACCOUNT: &str = "account";
pub(super) const REGION: &str = "region";

/// The kind of a trail in the population.
const TRAIL: &str = "trail";

/// Everything about an account except the status of the trails.
struct Survey {
    counts: Counts,
    /// The account and its contents.
    members: Vec<Member>,
    /// The password policy, if required.
    policy: Option<CollectionItem>,
    /// The trails in scope, and what is known before reading their status; `None` if no region is required.
    trails: Option<(Vec<Known>, Trails)>,
    /// The log groups.
    log_groups: Vec<CollectionItem>,
}

/// The number of items to read.
#[derive(Default)]
struct Counts {
    trails: u64,
    log_groups: u64,
    regions: u64,
    /// The number of inspections that will follow.
    expected: u64,
    /// Whether a region was not read.
    unread: bool,
}

/// The observations and facts about the trails.
#[derive(Default)]
struct Trails {
    observations: Vec<Observation>,
    facts: AuditTrail,
}

impl CloudSession {
    /// Yields everything: first the population, then the results, account by account and in the order of the controls.
    pub(super) fn found(&self) -> BoxStream<'_, CollectionItem> {
        let surveys: Vec<BoxFuture<'_, Survey>> =
            self.accounts.iter().map(|opened| self.survey(opened).boxed()).collect();
        let surveys = async move {
            let mut surveys: Vec<Survey> = stream::iter(surveys).buffered(ACCOUNTS_AT_ONCE).collect().await;
            (self.population(&mut surveys), surveys)
        };
        stream::once(surveys)
            .flat_map(move |(population, surveys)| {
                let accounts =
                    stream::iter(self.accounts.iter().zip(surveys)).flat_map(|(opened, survey)| {
                        let Survey { policy, trails, log_groups, .. } = survey;
                        let listing = match opened {
                            Opened::Account(account) => account.regions_listed(),
                            Opened::Unread { .. } => None,
                        };
                        let trails = match (opened, trails) {
                            (Opened::Account(account), Some((known, trails))) => {
                                stream::once(account.inspect_trails(known, trails)).boxed()
                            }
                            (Opened::Account(_) | Opened::Unread { .. }, _) => stream::empty().boxed(),
                        };
                        let first = stream::iter(listing.into_iter().chain(policy));
                        first.chain(trails).chain(stream::iter(log_groups))
                    });
                stream::iter([population]).chain(accounts)
            })
            .boxed()
    }

    async fn survey(&self, opened: &Opened) -> Survey {
        match opened {
            Opened::Account(account) => account.survey().await,
            Opened::Unread { number, why, asked } => {
                let missing = Opened::unread(&self.config, number, why, asked);
                let expected = saturating_u64(missing.len());
                let counts = Counts { expected, unread: true, ..Counts::default() };
                let members = vec![Member::new(ACCOUNT, number.as_str())];
                Survey { counts, members, policy: None, trails: None, log_groups: missing }
            }
        }
    }

    fn population(&self, surveys: &mut [Survey]) -> CollectionItem {
        // Each account shows a trail of the whole organization, but it is one trail.
        let mut trails = HashSet::new();
        let members = surveys.iter_mut().flat_map(|survey| std::mem::take(&mut survey.members));
        let members =
            members.filter(|member| member.kind != TRAIL || trails.insert(Arc::clone(&member.name)));
        let members: Vec<Member> = members.collect();
        let discovered = Some(saturating_u64(members.len()));
        let sum = |count: fn(&Counts) -> u64| surveys.iter().map(|survey| count(&survey.counts)).sum();
        let expected = sum(|counts| counts.expected);
        let whose = match self.config.accounts.len() {
            0 => self.caller.account.clone(),
            accounts => counted(saturating_u64(accounts), "account", "accounts"),
        };
        let in_scope = |kind| {
            let is_meant = |member: &&Member| member.kind == kind && member.out_of_scope.is_none();
            saturating_u64(members.iter().filter(is_meant).count())
        };
        if !self.config.wants_regions() {
            // The password policy belongs to the account: nothing else is listed.
            let all = if self.config.accounts.is_empty() { Scope::Whole } else { Scope::Chosen };
            let scope = PopulationScope::new(all, whose, ACCOUNT, in_scope(ACCOUNT));
            return CollectionItem::Population { discovered, expected, text: String::new(), members, scope };
        }
        let scope = self.region_scope(whose, in_scope(REGION));
        let (trails, groups) = (sum(|counts| counts.trails), sum(|counts| counts.log_groups));
        let accounts = match self.config.accounts.len() {
            0 => String::new(),
            accounts => format!(" of {}", counted(saturating_u64(accounts), "account", "accounts")),
        };
        CollectionItem::Population {
            discovered,
            expected,
            members,
            scope,
            text: format!(
                "{} and {} in scope in {}{accounts}{}",
                counted(trails, "trail", "trails"),
                counted(groups, "log group", "log groups"),
                counted(sum(|counts| counts.regions), "region", "regions"),
                if surveys.iter().any(|survey| survey.counts.unread) {
                    ", not all of them readable"
                } else {
                    ""
                },
            ),
        }
    }
}

impl Account {
    /// The password policy, and whether anyone has a password.
    fn policy_found(&self) -> Option<CollectionItem> {
        let account = self.number.as_str();
        let requests = self.first.asked(&GET_ACCOUNT_PASSWORD_POLICY, None);
        let (seen, verdict) = match self.first.policy.as_ref()? {
            Ok((Policy::Set(policy), meta)) => {
                let record = PasswordPolicyRecord { policy: policy.clone() };
                (self.artifact("password_policy.json", &record, meta), Some(password::judge(policy)))
            }
            Ok((Policy::Missing(detail), _)) => {
                (Seen::Nothing { reason: &PASSWORD_POLICY_MISSING, detail: detail.clone() }, None)
            }
            Err(unread) => (unread.seen(), None),
        };
        let verdict = match (&seen, verdict) {
            (Seen::Artifact { .. }, Some(verdict)) => verdict,
            (Seen::Nothing { reason, detail }, _) => Verdict::fail(reason, detail),
            (seen, _) => {
                let (reason, detail) = seen.gap().unwrap_or((&reason::NO_EVIDENCE, ""));
                Verdict::unknown(reason, detail)
            }
        };
        let verdict = if self.first.has_no_users() { password::without_users() } else { verdict };
        let mut observations = vec![Observation { requests, ..observation(&PASSWORD_POLICY, account, seen) }];
        observations.extend(self.first.summary.as_ref().map(|summary| {
            let seen = match summary {
                Ok((record, meta)) => self.artifact("account_summary.json", record, meta),
                Err(unread) => unread.seen(),
            };
            let requests = self.first.asked(&GET_ACCOUNT_SUMMARY, None);
            Observation { requests, ..observation(&ACCOUNT_SUMMARY, account, seen) }
        }));
        let inspection = Inspection::of(observations).concluded(&rules::PASSWORD_POLICY, account, verdict);
        Some(CollectionItem::Inspected(inspection))
    }

    async fn survey(&self) -> Survey {
        let policy = self.policy_found();
        let mut counts = Counts { expected: saturating_u64(policy.iter().count()), ..Counts::default() };
        if !self.config.wants_regions() {
            let members = vec![Member::new(ACCOUNT, self.number.as_str())];
            return Survey { counts, members, policy, trails: None, log_groups: Vec::new() };
        }
        let regions = self.all_log_groups().await;
        let known = self.trails_in_scope();
        let trails = self.trails_found(&known);
        counts.log_groups = regions.iter().map(RegionGroups::in_scope).sum();
        counts.trails = saturating_u64(known.len());
        counts.regions = saturating_u64(self.first.regions.len());
        counts.unread = self.first.regions.iter().any(|first| first.trails.is_err())
            || regions.iter().any(|region| region.groups.is_err());
        let members = self.members(&regions);
        let log_groups = self.log_groups_found(regions);
        // All trails share one inspection.
        counts.expected += saturating_u64(log_groups.iter().filter(|item| item.is_inspection()).count()) + 1;
        Survey { counts, members, policy, trails: Some((known, trails)), log_groups }
    }

    /// The account, its regions, and their contents.
    fn members(&self, regions: &[RegionGroups]) -> Vec<Member> {
        let account = self.number.as_str();
        let mut members = vec![Member::new(ACCOUNT, account)];
        members.extend(
            self.first.regions.iter().map(|first| Member::new(REGION, format!("{account}/{}", first.region))),
        );
        members.extend(self.regions_not_read());
        members.extend(self.trails().into_iter().map(|known| {
            let out_of_scope = (!self.is_in_scope(&known)).then_some("excluded");
            Member { out_of_scope, ..Member::new(TRAIL, known.arn().unwrap_or_default()) }
        }));
        members.extend(regions.iter().flat_map(|region| region.members(account)));
        members
    }

    /// Every trail that the regions show.
    fn trails(&self) -> Vec<Known> {
        trails::merge(self.first.regions.iter().filter_map(|first| match &first.trails {
            Ok((trails, _)) => Some((&first.region, trails.as_slice())),
            Err(_) => None,
        }))
    }

    fn is_in_scope(&self, known: &Known) -> bool {
        let entries = &self.extent.trails;
        entries.is_empty() || entries.iter().any(|entry| known.trail.is_meant_by(entry))
    }

    /// The trails in scope.
    pub(super) fn trails_in_scope(&self) -> Vec<Known> {
        self.trails().into_iter().filter(|known| self.is_in_scope(known)).collect()
    }

    /// `audit_trails.json`, and the regions and trails that could not be read or found.
    fn trails_found(&self, known: &[Known]) -> Trails {
        let account = &self.number;
        let regions = &self.first.regions;
        let read: Vec<(&Region, &Meta)> = regions
            .iter()
            .filter_map(|first| match &first.trails {
                Ok((_, meta)) => Some((&first.region, meta)),
                Err(_) => None,
            })
            .collect();
        let mut trails = Trails::default();
        let Trails { observations, facts } = &mut trails;
        let mut not_read = Vec::new();
        for RegionFirst { region, trails, .. } in regions {
            let Some(unread) = trails.as_ref().err() else { continue };
            // One multi-region trail is enough, wherever its home is: a refusal leaves the question open only if no
            // other region shows such a trail. A failure is an error in any case.
            let seen = unread.seen();
            if read.is_empty() || matches!(seen, Seen::Failed(_)) {
                let requests = self.first.asked(&DESCRIBE_TRAILS, Some(region));
                let subject = format!("{account}/{region}");
                observations.push(Observation { requests, ..observation(&AUDIT_TRAILS, &subject, seen) });
            }
            let reason = unread.reason();
            facts.unread.push((format!("the trails of {region}"), reason));
            not_read.push(NotRead { region: region.to_string(), reason: reason.code.into() });
        }
        let Some((_, meta)) = read.first() else { return trails };
        let all = self.first.asked(&DESCRIBE_TRAILS, None);
        if not_read.is_empty() {
            let is_found = |entry: &&String| known.iter().any(|known| known.trail.is_meant_by(entry));
            for entry in self.extent.trails.iter().filter(|entry| !is_found(entry)) {
                let text = format!("the trail {entry} was not found in {}", self.regions_in_words());
                let (seen, requests) = (Seen::Failed(not_found(text)), all.clone());
                observations.push(Observation { requests, ..observation(&AUDIT_TRAILS, account, seen) });
                facts.unread.push((format!("the trail {entry}"), &reason::NOT_FOUND));
            }
        }
        let record = AuditTrailsRecord {
            trail_list: known.iter().map(|known| known.trail.clone()).collect::<Vec<Trail>>(),
            scope: self.extent.trails.clone(),
            regions_read: read.iter().map(|(region, _)| region.to_string()).collect(),
            regions_not_read: not_read,
        };
        let seen = self.artifact("audit_trails.json", &record, meta);
        observations.insert(0, Observation { requests: all, ..observation(&AUDIT_TRAILS, account, seen) });
        trails
    }

    /// Reads the status and the event selectors of all trails concurrently, and judges them together in order.
    async fn inspect_trails(&self, known: Vec<Known>, trails: Trails) -> CollectionItem {
        let statuses = join_all(known.iter().map(|known| {
            let selectors = known.trail.needs_selectors().then(|| recorded(self.selectors(known)));
            join(recorded(self.status(known)), OptionFuture::from(selectors))
        }));
        let Trails { mut observations, mut facts } = trails;
        let stems = trails::file_stems(&known);
        for ((known, stem), (status, selectors)) in known.iter().zip(&stems).zip(statuses.await) {
            let mut of_trail = TrailFacts {
                name: known.name().to_string(),
                logs: Criterion::Met(String::new()),
                covers_all_regions: Criterion::all_regions(&known.trail.is_multi_region_trail),
                delivers: Criterion::Met(String::new()),
                // Default selectors record every management event. Those of a single-region trail do not matter.
                records: Criterion::Met(String::new()),
            };
            let (status, requests) = status;
            let observation = self.inspect_status(known, stem, status, &mut of_trail);
            observations.push(Observation { requests, ..observation });
            observations.extend(selectors.map(|(read, requests)| {
                let observation = self.inspect_selectors(known, stem, read, &mut of_trail);
                Observation { requests, ..observation }
            }));
            facts.trails.push(of_trail);
        }
        // The first trail that would pass must not fail to deliver in another region.
        let mut looked_at = 0;
        while let Some((index, trail)) =
            facts.trails.iter_mut().enumerate().skip(looked_at).find(|(_, trail)| trail.is_good())
        {
            looked_at = index + 1;
            let (Some(known), Some(stem)) = (known.get(index), stems.get(index)) else { break };
            observations.extend(self.inspect_elsewhere(known, stem, trail).await);
            if trail.is_good() {
                break;
            }
        }
        let account = self.number.as_str();
        CollectionItem::Inspected(Inspection::of(observations).judged(&AUDIT_TRAIL, account, facts.judge()))
    }

    async fn status(&self, known: &Known) -> ReadResult<TrailStatus> {
        let (host, place) = self.at_home(known, &GET_TRAIL_STATUS)?;
        interpret::of(&GET_TRAIL_STATUS, Some(&place.region), host.trail_status(&place.arn).await)
    }

    async fn selectors(&self, known: &Known) -> ReadResult<EventSelectors> {
        let (host, place) = self.at_home(known, &GET_EVENT_SELECTORS)?;
        interpret::of(&GET_EVENT_SELECTORS, Some(&place.region), host.event_selectors(&place.arn).await)
    }

    /// The host to call about a trail, and the trail's home.
    fn at_home<T>(&self, known: &Known, action: &Action<T>) -> Result<(Arc<Host>, TrailHome), Unread> {
        let place = known
            .place()
            .map_err(|text| Unread::Failed(host_error(not_asked(action.permission(), &text))))?;
        match self.hosts.host(Service::CloudTrail, &place.region) {
            Some(host) => Ok((host, place)),
            None => Err(no_address(action, &place.region)),
        }
    }

    /// The observation of a trail's status, which also fills in `facts`.
    fn inspect_status(
        &self,
        known: &Known,
        stem: &str,
        read: ReadResult<TrailStatus>,
        facts: &mut TrailFacts,
    ) -> Observation {
        let subject = known.subject();
        let mut warnings = Vec::new();
        let mut beside = Facts::new();
        let seen = match read {
            Ok((status, meta)) => {
                let began = self.hosts.began();
                facts.logs = Criterion::logging(&status);
                facts.delivers = delivery::of(&status, began);
                beside.extend(delivery::judged_at(began));
                if let Some(error) = delivery::error(&status) {
                    warnings.push(not_delivering(known, &error, None));
                }
                self.artifact(&format!("{stem}_status.json"), &status, &meta)
            }
            Err(unread) => unread.seen(),
        };
        if let Some(reason) = unread_reason(&seen) {
            // A status that cannot be stored counts as not read.
            facts.logs = Criterion::Open(reason, "status not read".to_string());
            facts.delivers = facts.logs.clone();
        }
        Observation { warnings, facts: beside, ..observation(&TRAIL_STATUS, &subject, seen) }
    }

    /// The observation of a trail's event selectors, which also fills in `facts`.
    fn inspect_selectors(
        &self,
        known: &Known,
        stem: &str,
        read: ReadResult<EventSelectors>,
        facts: &mut TrailFacts,
    ) -> Observation {
        let seen = match read {
            Ok((selectors, meta)) => {
                facts.records = selection::of(&selectors);
                self.artifact(&format!("{stem}_event_selectors.json"), &selectors, &meta)
            }
            Err(unread) => unread.seen(),
        };
        if let Some(reason) = unread_reason(&seen) {
            facts.records = Criterion::Open(reason, "event selectors not read".to_string());
        }
        observation(&EVENT_SELECTORS, &known.subject(), seen)
    }

    /// The artifact of a setting that was read, in the account's directory.
    pub(super) fn artifact(&self, filename: &str, record: &impl Serialize, meta: &Meta) -> Seen {
        Seen::artifact(NAME, &format!("{}{filename}", self.folder), record, None, meta)
    }

    /// The regions to read, as text.
    pub(super) fn regions_in_words(&self) -> String {
        self.extent.regions.iter().map(Region::as_str).collect::<Vec<_>>().join(", ")
    }
}
