//! The collection: first the population, then the results, account by account and topic by topic.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};

use super::account::Account;
use super::config::CloudConfig;
use super::names::{ACCOUNT, REGION, TRAIL};
use super::observe::unread;
use super::session::{ACCOUNTS_AT_ONCE, AccountState, CloudSession, OpenAccount};
use super::topic::{EnabledRegions, Topic};
use super::topics;
use crate::observation::{Failed, Seen};
use crate::source::{CollectionItem, Member, PopulationScope, Source as _};
use evidence_bundle::document::Scope;
use evidence_http::Asked;
use evidence_text::{counted, saturating_u64};

/// What is read of an account before the population is known.
struct AccountReading<'a> {
    /// The account and its contents.
    members: Vec<Member>,
    /// How many regions are read.
    regions: u64,
    /// How many there are in scope of what each topic counts.
    counts: Vec<(&'static Topic, u64)>,
    /// The number of inspections that will follow.
    expected: u64,
    /// Whether a part was not read.
    incomplete: bool,
    enabled: Option<EnabledRegions>,
    items: BoxStream<'a, CollectionItem>,
}

/// Yields every item of every account.
pub(super) fn collect(session: &CloudSession) -> BoxStream<'_, CollectionItem> {
    let readings = session.accounts.iter().map(|state| read(&session.config, state).boxed());
    let readings: Vec<BoxFuture<'_, AccountReading<'_>>> = readings.collect();
    let all = async move {
        let mut readings: Vec<AccountReading<'_>> =
            stream::iter(readings).buffered(ACCOUNTS_AT_ONCE).collect().await;
        let population = population(session, &mut readings);
        let items = stream::iter(readings).flat_map(|reading| reading.items);
        let accounts = session.organization.listing(&session.caller.account);
        stream::iter([population, accounts]).chain(items)
    };
    all.flatten_stream().boxed()
}

async fn read<'a>(config: &'a CloudConfig, state: &'a AccountState) -> AccountReading<'a> {
    match state {
        AccountState::Open(open) => of_account(open).await,
        AccountState::Unread { number, failed, requests } => {
            let items = missing(config, number, failed, requests);
            AccountReading {
                members: vec![Member::new(ACCOUNT, number.as_str())],
                regions: 0,
                counts: Vec::new(),
                expected: saturating_u64(items.len()),
                incomplete: true,
                enabled: None,
                items: stream::iter(items).boxed(),
            }
        }
    }
}

/// The items of an account that cannot be read: every required artifact is missing.
fn missing(config: &CloudConfig, number: &str, failed: &Failed, requests: &[Asked]) -> Vec<CollectionItem> {
    let kinds = topics::TOPICS.iter().filter_map(|topic| topic.kind);
    let required = kinds.filter(|kind| config.collects(kind));
    required.map(|kind| unread(kind, number, Seen::Failed(failed.clone()), requests.to_vec())).collect()
}

async fn of_account(OpenAccount { account, answers }: &OpenAccount) -> AccountReading<'_> {
    let readings = answers.iter().map(|(_, answers)| answers.read(account));
    let readings = join_all(readings).await;
    let mut members = vec![Member::new(ACCOUNT, account.number.as_str())];
    let (mut counts, mut expected, mut incomplete, mut enabled) = (Vec::new(), 0, false, None);
    let mut items = Vec::new();
    for ((topic, _), reading) in answers.iter().zip(readings) {
        members.extend(reading.members);
        counts.push((*topic, reading.count));
        expected += reading.expected;
        incomplete |= reading.incomplete;
        enabled = enabled.or(reading.enabled);
        items.push(reading.items);
    }
    let regions = saturating_u64(account.regions().len());
    let items = stream::iter(items).flatten().boxed();
    AccountReading { members, regions, counts, expected, incomplete, enabled, items }
}

fn population(session: &CloudSession, readings: &mut [AccountReading<'_>]) -> CollectionItem {
    let config = &session.config;
    // Each account shows a trail of the whole organization, but it is one trail.
    let mut trails = HashSet::new();
    let members = readings.iter_mut().flat_map(|reading| std::mem::take(&mut reading.members));
    let members = members.filter(|member| member.kind != TRAIL || trails.insert(Arc::clone(&member.name)));
    let numbers = session.numbers();
    let members: Vec<Member> = members.chain(session.organization.others(&numbers)).collect();
    let discovered = Some(saturating_u64(members.len()));
    let expected = readings.iter().map(|reading| reading.expected).sum();
    let mut whose = match config.accounts.len() {
        0 => session.caller.account.clone(),
        accounts => counted(saturating_u64(accounts), "account", "accounts"),
    };
    whose.push_str(&session.organization.in_words(&numbers));
    let in_scope = |kind| {
        let is_meant = |member: &&Member| member.kind == kind && member.out_of_scope.is_none();
        saturating_u64(members.iter().filter(is_meant).count())
    };
    if !config.wants_regions() {
        // The password policy belongs to the account: nothing else is listed.
        let all = if chooses_accounts(session) { Scope::Chosen } else { Scope::Whole };
        let scope = PopulationScope {
            host_totals: totals(session).collect(),
            ..PopulationScope::new(all, whose, ACCOUNT, in_scope(ACCOUNT))
        };
        let (work, text) = Default::default();
        return CollectionItem::Population { discovered, expected, work, text, members, scope };
    }
    let scope = region_scope(session, readings, whose, in_scope(REGION));
    let text = in_words(config, readings);
    CollectionItem::Population { discovered, expected, work: Vec::new(), members, scope, text }
}

/// What was found, in words.
fn in_words(config: &CloudConfig, readings: &[AccountReading<'_>]) -> String {
    let found = topics::required(config).filter_map(|topic| {
        let (one, several) = topic.counted?;
        let counts = readings.iter().flat_map(|reading| &reading.counts);
        let of_topic = counts.filter(|(other, _)| std::ptr::eq(*other, topic));
        Some(counted(of_topic.map(|(_, count)| count).sum(), one, several))
    });
    let found = found.collect::<Vec<_>>().join(" and ");
    let regions = readings.iter().map(|reading| reading.regions).sum();
    let accounts = match config.accounts.len() {
        0 => String::new(),
        accounts => format!(" of {}", counted(saturating_u64(accounts), "account", "accounts")),
    };
    let incomplete = readings.iter().any(|reading| reading.incomplete);
    format!(
        "{found} in scope in {}{accounts}{}",
        counted(regions, "region", "regions"),
        if incomplete { ", not all of them readable" } else { "" },
    )
}

/// Whether there are other accounts, or the configuration names some and it is not known that they are all.
fn chooses_accounts(session: &CloudSession) -> bool {
    let are_all = session.organization.are_all(&session.numbers());
    let has_others = session.organization.total().is_some();
    !are_all && (has_others || !session.config.accounts.is_empty())
}

/// The provider's count of accounts.
fn totals(session: &CloudSession) -> impl Iterator<Item = (&'static str, u64)> {
    session.organization.total().map(|total| ("accounts", total)).into_iter()
}

/// The scope of the regions beside those that are enabled.
fn region_scope(
    session: &CloudSession,
    readings: &[AccountReading<'_>],
    whose: String,
    in_scope: u64,
) -> PopulationScope {
    let sum = |count: fn(EnabledRegions) -> u64| {
        let mut counts = readings.iter().map(|reading| reading.enabled.map(count));
        counts.try_fold(0_u64, |sum, count| Some(count?.saturating_add(sum)))
    };
    let host_total = sum(|enabled| enabled.total);
    let listed = sum(|enabled| enabled.in_scope).unwrap_or(in_scope);
    // The configuration chooses accounts, trails and log groups, too.
    let chooses =
        |account: &Account| !account.scope.trails.is_empty() || !account.scope.log_groups.is_empty();
    let opened = session.accounts.iter().filter_map(AccountState::account);
    let is_chosen = chooses_accounts(session) || opened.into_iter().any(chooses);
    let is_whole = host_total == Some(in_scope) && listed == in_scope && !is_chosen;
    let scope = if is_whole { Scope::Whole } else { Scope::Chosen };
    PopulationScope {
        host_total,
        host_totals: host_total
            .map(|total| ("enabled_regions", total))
            .into_iter()
            .chain(totals(session))
            .collect(),
        ..PopulationScope::new(scope, whose, REGION, listed)
    }
}
