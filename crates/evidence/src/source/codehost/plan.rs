//! What a collection would take, counted without collecting.

use super::artifact;
use super::calls::{self, PAGE_SIZE};
use super::config::Repositories;
use super::topic::Topic;
use super::{CodeHostSession, connect, wire};
use crate::number::saturating_u64;
use crate::source::{Configured as _, ConnectError, Plan, Session as _};
use evidence_http::Answered;
use evidence_http::cache::Cache;

/// Typical bytes of one artifact and its rows in the documents, compressed: measured on generated organizations.
const ESTIMATED_ARTIFACT_BYTES: u64 = 400;
/// The documents themselves, compressed.
const ESTIMATED_FIXED_BYTES: u64 = 4_000;

impl CodeHostSession {
    /// See [`Session::plan`](crate::source::Session::plan).
    pub(super) async fn planned(&self) -> Result<Plan, ConnectError> {
        let mut plan = Plan { requests_per_minute: self.config.requests_per_minute, ..Plan::default() };
        let (mut repositories, mut pages) = (0, 0);
        if self.topics().next().is_some() {
            (repositories, pages) = self.planned_repositories().await?;
        }
        if pages > 0 {
            plan.unlisted.extend(self.unlisted(repositories).map(|(text, _)| text));
        }
        plan.requests_minimum = 1 + pages;
        plan.requests_maximum = 1 + pages;
        if self.config.collects(&artifact::ORGANIZATION_SETTINGS) {
            plan.artifacts.push(("organization settings", 1));
        }
        // A repository that only the configuration names may have to be asked for itself.
        if matches!(self.config.repos, Repositories::Listed(_)) {
            plan.requests_maximum += repositories;
            plan.requests_minimum += if self.asks_details() { repositories } else { 0 };
        }
        if self.config.codeowners_errors && self.wants(Topic::Codeowners) {
            plan.requests_maximum += repositories;
        }
        for topic in self.topics() {
            plan.artifacts.push((topic.name(), repositories));
            plan.requests_minimum += repositories;
            plan.requests_maximum += repositories * topic.most_requests();
        }
        if let Some(cache) = self.client.cache() {
            self.spare(&mut plan, cache, repositories, pages);
        }
        plan.estimated_bytes = ESTIMATED_FIXED_BYTES + plan.artifact_count() * ESTIMATED_ARTIFACT_BYTES;
        plan.rate_limit = self.account().rate_limit;
        Ok(plan)
    }

    /// What a plan need not spend because an earlier run kept it: at most one answer for each repository and kind.
    fn spare(&self, plan: &mut Plan, cache: &Cache, repositories: u64, pages: u64) {
        let now = self.client.now();
        let mut add = |kind: Option<u8>, most: u64| {
            let Some(kind) = kind else { return };
            let taken_over = cache.count_taken_over(kind, now).min(most);
            plan.taken_over += taken_over;
            plan.requests_free += cache.count(kind).min(most).saturating_sub(taken_over);
        };
        add(calls::ORGANIZATION.kept_as(), 1);
        add(calls::REPOSITORIES.kept_as(), pages);
        for topic in self.topics() {
            add(topic.kept_as(), repositories);
        }
        plan.requests_minimum = plan.requests_minimum.saturating_sub(plan.taken_over);
        plan.requests_maximum = plan.requests_maximum.saturating_sub(plan.taken_over);
    }

    async fn planned_repositories(&self) -> Result<(u64, u64), ConnectError> {
        match &self.config.repos {
            Repositories::Listed(names) => Ok((saturating_u64(names.len()), 0)),
            Repositories::All => {
                let problem = |problem| connect::problem("repository discovery", problem);
                let (first, last) = self.api().first_page().await.map_err(problem)?;
                let count =
                    |page: &Answered<Vec<wire::Repository>>| u64::try_from(page.value.len()).unwrap_or(0);
                match last.filter(|last| last.number > 1) {
                    None if self.api().goes_on_uncounted(&first) => {
                        let mut listing = self.api().listing().await;
                        match listing.problems.pop() {
                            Some((_, found)) => Err(problem(found)),
                            None => {
                                let count = saturating_u64(listing.repositories.len());
                                Ok((count, listing.pages_read))
                            }
                        }
                    }
                    None => Ok((count(&first), 1)),
                    Some(last) => {
                        let end = self.api().last_page(&last).await.map_err(problem)?;
                        let before = last.number.saturating_sub(1).saturating_mul(PAGE_SIZE);
                        Ok((before.saturating_add(count(&end)), last.number))
                    }
                }
            }
        }
    }
}
