//! Plans a collection: counts its requests and artifacts without collecting.

use super::advice;
use super::config::Repositories;
use super::exclusion::{Exclusion, Selection};
use super::host::Host;
use super::host::api::PAGE_SIZE;
use super::host::scopes::expiration;
use super::population::{extent, in_words, is_incomplete, remedy};
use super::preflight::Preflight;
use super::repositories::{self, REPOSITORIES, is_partial};
use super::repository::{Names, Repository};
use super::topic::{InBulk, Requests, Topic};
use super::topics;
use super::topics::organization::answer::ORGANIZATION;
use crate::forecast::{self, PerHundred, Work};
use crate::source::{ConnectError, Plan, estimate};
use evidence_bundle::document::Scope;
use evidence_text::saturating_u64;
use jiff::SignedDuration;

/// How long an installation's token lives.
const INSTALLATION_TOKEN: SignedDuration = SignedDuration::from_hours(1);

/// See [`Session::plan`](crate::source::Session::plan).
pub(super) async fn plan(host: &Host, preflight: &Preflight) -> Result<Plan, ConnectError> {
    let mut plan = Plan::default();
    plan.unreadable.clone_from(&preflight.unreadable);
    let mut count = RepositoryCount::default();
    if topics::of_repositories(&host.config).next().is_some() {
        count = planned_repositories(host, preflight).await?;
    }
    let RepositoryCount { listed, excluded, archived, seen, pages, partial } = count;
    let repositories = listed.saturating_sub(excluded);
    // Nothing is asked about an archived repository.
    let asked = repositories.saturating_sub(archived);
    if pages > 0 {
        let scope = match host.organization.counts.total() {
            _ if partial => Scope::Partial,
            None => Scope::Unconfirmed,
            Some(total) if total != listed => Scope::Partial,
            Some(_) if excluded > 0 || host.config.include.is_some() => Scope::Chosen,
            Some(_) => Scope::Whole,
        };
        let scope = extent(host, scope, listed, &host.organization.counts);
        if is_incomplete(host, scope.scope) {
            let (sentence, remedy) = (in_words(&scope, repositories), remedy(&scope, partial));
            plan.omitted.push(format!("{sentence}. {remedy}"));
        }
    }
    // A list of several pages is compared with the organization's count at its end.
    let again = u64::from(pages > 1);
    // The organization, and the account; or the organization, the installation and its token.
    let test = match (&host.app, host.of_installation) {
        (Some(_), _) => 3,
        (None, true) => 1,
        (None, false) => 2,
    };
    plan.requests_minimum = test + pages + again;
    plan.requests_maximum = test + pages + again;
    for topic in topics::of_organization(&host.config) {
        plan.artifacts.push((topic.name, 1));
        let Requests { least, most, .. } = (topic.requests)(host);
        plan.requests_minimum += least;
        plan.requests_maximum += most;
    }
    // Every repository that the configuration names is looked up.
    if matches!(host.config.repos, Repositories::Listed(_)) {
        plan.requests_maximum += repositories;
        plan.requests_minimum += repositories;
    }
    plan.requests_before = plan.requests_minimum;
    let standings = host.standings();
    for topic in topics::of_repositories(&host.config) {
        let of_archived = if topic.asks_for_its_artifact { 0 } else { archived };
        plan.artifacts.push((topic.name, asked + of_archived));
        let Requests { least, most, in_bulk, .. } = (topic.requests)(host);
        plan.requests_maximum += asked * most;
        plan.requests_minimum += match (standings.queries, in_bulk) {
            (Some(queries), Some(_)) => {
                let queries = asked.div_ceil(queries.page);
                plan.requests_maximum += queries;
                queries
            }
            _ => asked * least,
        };
    }
    // On the pages that a plan does not read, usually as many are archived.
    let unread = listed.saturating_sub(seen);
    let usually_archived = archived.saturating_mul(unread).checked_div(seen).unwrap_or(0);
    plan.work = work(host, asked.saturating_sub(usually_archived));
    spare(host, &mut plan, repositories, pages);
    plan.estimated_bytes = estimate::DOCUMENTS + plan.artifact_count() * estimate::REPOSITORY_ARTIFACT;
    plan.rate_limit = host.rate_limit();
    plan.standings = Some(standings);
    plan.unreadable.extend(ends_before(host, &plan));
    Ok(plan)
}

/// That the token ends before the planned requests are answered, if it does.
fn ends_before(host: &Host, plan: &Plan) -> Option<String> {
    let now = host.client.now();
    let done = forecast::of(plan, now).most.done;
    let (ends, why) = match expiration(&host.meta) {
        // An app's token is renewed.
        _ if host.app.is_some() => return None,
        Some(ends) => (ends, "the token expires at"),
        // The host does not say when it was made, only that it lives for an hour.
        None if host.of_installation => {
            (now.checked_add(INSTALLATION_TOKEN).ok()?, "an installation's token expires at the latest at")
        }
        None => return None,
    };
    (done > ends).then(|| {
        format!(
            "{why} {}, before the run would be done at {}: use a token that lives longer, or collect in parts",
            host.env.stamp_of(ends),
            host.env.stamp_of(done)
        )
    })
}

/// The usual requests about this many repositories that are asked about, by topic.
pub(super) fn work(host: &Host, repositories: u64) -> Vec<Work> {
    // A run without changes: the host confirms what was kept.
    let is_free = host.keeps_answers() && host.app.is_none();
    let again = |requests: u64| PerHundred { requests, counted: if is_free { 0 } else { requests } };
    let work = |topic: &'static Topic| {
        let Requests { usual: [from_nothing, from_kept, rest], in_bulk, .. } = (topic.requests)(host);
        let (kept, resumed) = known(host, &(topic.kept_as)(), repositories);
        // Of those that are asked about.
        let asked = repositories.saturating_sub(resumed).max(1);
        let new = asked.saturating_sub(kept.saturating_sub(resumed));
        let counted = from_nothing * new;
        let requests = counted + from_kept * (asked - new);
        let usual = PerHundred { requests: requests.div_ceil(asked), counted: counted.div_ceil(asked) };
        let work = Work { subjects: repositories, resumed, rest: again(rest), usual, in_bulk: None };
        let Some((queries, InBulk { kept_as, usual, rest })) = host.standings().queries.zip(in_bulk) else {
            return work;
        };
        // The pages of the interrupted run.
        let (_, pages) = known(host, &[kept_as], repositories);
        let resumed = pages.saturating_mul(queries.page).min(repositories);
        let in_bulk = Some(PerHundred { requests: usual, counted: usual });
        Work { resumed, rest: again(rest), in_bulk, ..work }
    };
    topics::of_repositories(&host.config).map(work).collect()
}

/// About how many subjects there is an answer of these kinds for that costs nothing: one that the host can be asked about,
/// or that an interrupted run has read. And how many the latter are.
fn known(host: &Host, kinds: &[Option<u8>], most: u64) -> (u64, u64) {
    let Some(cache) = host.client.cache() else { return (0, 0) };
    let kinds: Vec<u8> = kinds.iter().copied().flatten().collect();
    let (known, resumed) = cache.count_subjects(&kinds, host.client.now());
    // The host makes entity tags with the token, and an app has another one in each run.
    let known = if host.app.is_some() { resumed } else { known };
    (known.min(most), resumed.min(most))
}

/// How many answers would be taken over from an interrupted run, and about how many others the host can be asked whether
/// they still hold, at no cost.
fn kept(host: &Host, kinds: &[Option<u8>], most: u64) -> (u64, u64) {
    let Some(cache) = host.client.cache() else { return (0, 0) };
    let (now, kinds) = (host.client.now(), || kinds.iter().flatten());
    let resumed = kinds().map(|kind| cache.count_taken_over(*kind, now)).sum::<u64>().min(most);
    if host.app.is_some() {
        return (resumed, 0);
    }
    let kept = kinds().map(|kind| cache.count(*kind)).sum::<u64>().min(most);
    (resumed, kept.saturating_sub(resumed))
}

/// Accounts for answers kept from an earlier run: at most one per repository and topic.
fn spare(host: &Host, plan: &mut Plan, repositories: u64, pages: u64) {
    let mut add = |kinds: &[Option<u8>], most: u64| {
        let (resumed, kept) = kept(host, kinds, most);
        plan.resumed += resumed;
        plan.requests_free += kept;
    };
    add(&[ORGANIZATION.kept_as()], 1);
    add(&[REPOSITORIES.kept_as()], pages);
    for topic in topics::of_organization(&host.config) {
        add(&(topic.kept_as)(), 1);
    }
    for topic in topics::of_repositories(&host.config) {
        add(&(topic.kept_as)(), repositories);
    }
    plan.requests_minimum = plan.requests_minimum.saturating_sub(plan.resumed);
    plan.requests_maximum = plan.requests_maximum.saturating_sub(plan.resumed);
}

async fn planned_repositories(host: &Host, preflight: &Preflight) -> Result<RepositoryCount, ConnectError> {
    let mut count = RepositoryCount::default();
    if let Repositories::Listed(names) = &host.config.repos {
        let mut exclusion = Exclusion::new(&host.config.exclude);
        names.iter().for_each(|name| count.add(exclusion.excludes(name)));
        return Ok(count);
    }
    let mut selection = Selection::new(&host.config);
    let problem = |problem| advice::problem("repository discovery", problem);
    let now = host.client.now();
    let mut add = |count: &mut RepositoryCount, page: &[Repository]| {
        let name = |repository: &Repository| {
            repositories::scoped(&host.config.org, repository, &mut Names::default(), now)
                .ok()
                .map(|scoped| scoped.subject)
        };
        for repository in page {
            let name = name(repository);
            let name = name.as_deref().and_then(|name| name.split_once('/'));
            let excluded = name.is_some_and(|(_, name)| selection.leaves_out(name, repository).is_some());
            count.add(excluded);
            count.seen += 1;
            count.archived += u64::from(!excluded && repository.archived == Some(true));
        }
    };
    let (first, last) = preflight.first_page(host).await.map_err(problem)?;
    match last.filter(|last| last.number > 1) {
        None if repositories::goes_on_uncounted(&host.api(), &first) => {
            let mut listed = |page: Vec<Repository>, _| add(&mut count, &page);
            let mut listing = repositories::listing(&host.api(), Ok((first, None)), &mut listed).await;
            if let Some((_, found)) = listing.problems.pop() {
                return Err(problem(found));
            }
            (count.pages, count.partial) = (listing.pages_read, listing.partial);
        }
        None => {
            add(&mut count, &first.value);
            (count.pages, count.partial) = (1, is_partial(&first.meta));
        }
        Some(last) => {
            let end = repositories::last_page(&host.api(), &last).await.map_err(problem)?;
            // Of the pages between, only the number is known, so none of their repositories count as excluded.
            add(&mut count, &first.value);
            add(&mut count, &end.value);
            let before = last.number.saturating_sub(1).saturating_mul(PAGE_SIZE);
            count.listed = before.saturating_add(saturating_u64(end.value.len()));
            (count.pages, count.partial) = (last.number, is_partial(&first.meta) || is_partial(&end.meta));
        }
    }
    Ok(count)
}

/// The number of repositories, as far as a plan reads them.
#[derive(Default)]
struct RepositoryCount {
    listed: u64,
    /// How many of them are known to be excluded.
    excluded: u64,
    /// How many of the others are known to be archived.
    archived: u64,
    /// How many the plan has read of the list.
    seen: u64,
    pages: u64,
    /// Whether the host says that it omitted some.
    partial: bool,
}

impl RepositoryCount {
    fn add(&mut self, excluded: bool) {
        self.listed += 1;
        self.excluded += u64::from(excluded);
    }
}
