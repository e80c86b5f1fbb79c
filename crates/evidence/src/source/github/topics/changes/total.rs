//! The host's own total of merged pull requests: its search counts them for the whole organization.
//!
//! The search shows at most 1,000 results, so a period with more is asked for in halves. Its index lags, so it is asked
//! only up to an hour before the run.

use std::collections::BTreeMap;

use evidence_http::{Answered, Call, CallError, Meta, recorded};
use evidence_text::saturating_u64;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use crate::json::{Object, object};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::github::host::Host;
use crate::source::github::host::api::{Api, JSON, MIB, PAGE_SIZE};
use crate::source::github::host::refusal;
use crate::source::github::names::NAME;
use crate::source::github::topic::{Inspect, Requests, Topic};
use evidence_rules::codehost::artifact::CHANGES_TOTAL;
use evidence_rules::codehost::changes::{ChangesTotal, RepositoryTotal};

/// The total. Its requests are those of the search, and one for the reviews of each change that it counts.
pub(crate) static TOPIC: Topic = Topic {
    name: "totals of changes",
    kind: &CHANGES_TOTAL,
    asks_for_its_artifact: true,
    requests: |host| {
        let (searches, changes) = host.shared.merged_total().unwrap_or((1, 0));
        Requests { least: searches, most: searches.saturating_add(changes), usual: [0; 3], in_bulk: None }
    },
    kept_as: || [None, None],
    inspect: Inspect::Organization { by: inspect, warned: false },
};

/// How far the index of the search may lag.
const LAG: SignedDuration = SignedDuration::from_hours(1);

/// How many results of a search the host shows.
const SHOWN: u64 = 1_000;

/// The most searches: 100,000 changes.
const MOST_SEARCHES: u64 = 1_100;

/// A page of a search.
pub(crate) static SEARCH: Call<Found> = Call {
    name: "/search/issues?q={query}&sort=created&order=asc&per_page=100&page={page}",
    purpose: "`changes-approved`: the host's own total of merged pull requests",
    times: "once per 100 pull requests that were merged in the organization in the period; with `framework: tsc_2017`",
    kind: Some("searches"),
    media_type: JSON,
    limit: 32 * MIB,
    parse: |bytes| object(bytes),
    subject: None,
    keep: None,
};

/// What is kept of a page: how many results there are, and the repository of each.
#[derive(Deserialize)]
pub(crate) struct Found {
    total_count: u64,
    incomplete_results: bool,
    items: Vec<Object<Item>>,
}

#[derive(Deserialize)]
struct Item {
    repository_url: String,
}

/// The times that decide which changes are read and counted.
pub(super) struct Window {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    pub(super) total_to: Timestamp,
}

/// The configured period, as far as it is past.
pub(super) fn window(host: &Host) -> Window {
    let period = host.config.period;
    let began = host.env.started();
    let to = period.to.min(began);
    let settled = began.checked_sub(LAG).unwrap_or(began);
    Window { from: period.from, to, total_to: to.min(settled).max(period.from) }
}

fn inspect(host: &Host) -> BoxFuture<'_, Inspection> {
    observe(host).boxed()
}

async fn observe(host: &Host) -> Inspection {
    let Window { from, total_to, .. } = window(host);
    let (found, requests) = recorded(count(&host.api(), from, total_to)).await;
    let seen = match found {
        Ok((repositories, meta)) => {
            let total = repositories.values().sum();
            host.shared.merged(repositories.clone(), saturating_u64(requests.len()));
            let stamp = |at: Timestamp| evidence_bundle::time::format(at.as_second()).unwrap_or_default();
            let repositories =
                repositories.into_iter().map(|(repository, merged)| RepositoryTotal { repository, merged });
            let record = ChangesTotal {
                from: stamp(from),
                to: stamp(total_to),
                total,
                repositories: repositories.collect(),
            };
            Seen::artifact(NAME, "changes_total.json", &record, None, &meta)
        }
        Err(seen) => seen,
    };
    Observation { requests, ..Observation::new(NAME, &CHANGES_TOTAL, host.config.org.as_str(), seen) }.into()
}

/// How many pull requests were merged in each repository, in lower case, between the two times.
async fn count(api: &Api<'_>, from: Timestamp, to: Timestamp) -> Result<(BTreeMap<String, u64>, Meta), Seen> {
    let (mut found, mut first) = (BTreeMap::new(), None);
    let mut spans = vec![(from, to)];
    let mut searches = 0_u64;
    while let Some((from, to)) = spans.pop() {
        let mut page = 1;
        let mut counted = 0;
        let total = loop {
            searches += 1;
            let Answered { value, meta } = search(api, from, to, page).await.map_err(unread)?;
            let Found { total_count, incomplete_results, items } = value;
            first.get_or_insert_with(|| meta.clone());
            if incomplete_results || searches > MOST_SEARCHES {
                let text = "the search for merged pull requests is incomplete".to_string();
                return Err(refusal::unusable(&meta, text));
            }
            if total_count > SHOWN {
                let Some(middle) = middle(from, to) else {
                    let text = "too many pull requests were merged in one second to count them".to_string();
                    return Err(refusal::unusable(&meta, text));
                };
                spans.push((middle.checked_add(SignedDuration::from_secs(1)).unwrap_or(to), to));
                spans.push((from, middle));
                break None;
            }
            counted += saturating_u64(items.len());
            let is_last = saturating_u64(items.len()) < PAGE_SIZE || counted >= total_count;
            for Object(Item { repository_url }) in items {
                let name = repository_url.split_once("/repos/").map_or("", |(_, name)| name);
                *found.entry(name.to_ascii_lowercase()).or_default() += 1;
            }
            if is_last {
                break Some((total_count, meta));
            }
            page += 1;
        };
        if let Some((total, meta)) = total
            && counted != total
        {
            let text = format!("the search for merged pull requests counts {total} and shows {counted}");
            return Err(refusal::unusable(&meta, text));
        }
    }
    Ok((found, first.unwrap_or_default()))
}

/// The second in the middle, if there are two halves.
fn middle(from: Timestamp, to: Timestamp) -> Option<Timestamp> {
    let (from, to) = (from.as_second(), to.as_second());
    let middle = from.checked_add(to.checked_sub(from)? / 2)?;
    (from < to).then(|| Timestamp::from_second(middle).ok())?
}

async fn search(
    api: &Api<'_>,
    from: Timestamp,
    to: Timestamp,
    page: u64,
) -> Result<Answered<Found>, CallError> {
    let stamp = |at: Timestamp| evidence_bundle::time::format(at.as_second()).unwrap_or_default();
    let query = format!("org:{} is:pr is:merged merged:{}..{}", api.organization, stamp(from), stamp(to));
    let page = page.to_string();
    api.ask(&SEARCH, &[("query", query.as_str()), ("page", page.as_str())]).await
}

fn unread(problem: CallError) -> Seen {
    refusal::unread_of_organization("search for merged pull requests", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_cover_the_whole_and_end() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(middle(at(10), at(10)), None);
        assert_eq!(middle(at(10), at(11)), Some(at(10)));
        assert_eq!(middle(at(10), at(20)), Some(at(15)));
    }
}
