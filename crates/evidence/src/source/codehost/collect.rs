//! The collection: which observations to make, and in which order to return them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::ask::{self, ClassicReading};
use super::backlog::Backlog;
use super::config::{Branch, FALLBACK_BRANCH};
use super::interpret;
use super::owners::FoundFile;
use super::population::{Itself, Known, Origin, Population, ScopedRepository};
use super::rules::branch_protection::{Facts, Rules, Viewer, judge, next_ruleset, wants_rules};
use super::rules::{self, BRANCH_PROTECTION, CODEOWNERS_DEFAULT_RULE};
use super::topic::Topic;
use super::{CodeHostSession, artifact};
use crate::number::saturating_u64;
use crate::observation::{Inspection, Observation};
use crate::report::format::{counted, thousands};
use crate::rule::{Status, Verdict};
use crate::source::{CollectionItem, Configured as _};
use evidence_http::recorded;

/// How many observations may be prepared per request in flight. A slow answer should hold back only the results behind it;
/// with a window as small as the number of requests, it would hold back the requests too.
const WINDOW_PER_REQUEST: usize = 4;

/// An observation to make.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) repository: ScopedRepository,
    pub(super) topic: Topic,
}

/// Records the requests of an observation.
async fn with_requests<T>(reading: impl Future<Output = (Observation, T)>) -> (Observation, T) {
    let ((observation, found), requests) = recorded(reading).await;
    (Observation { requests, ..observation }, found)
}

impl CodeHostSession {
    pub(super) fn organization_found(&self) -> Option<CollectionItem> {
        self.config.collects(&artifact::ORGANIZATION_SETTINGS).then(|| {
            let mut inspection = interpret::organization(&self.config.org, &self.settings, &self.meta);
            if let Some(observation) = inspection.observations.first_mut() {
                observation.requests.clone_from(&self.requests);
            }
            CollectionItem::Inspected(inspection)
        })
    }

    pub(super) async fn collect_repositories(
        &self,
    ) -> impl stream::Stream<Item = CollectionItem> + Send + '_ {
        let Population { discovered, repositories, members, scope, found } = self.population().await;
        let topics: Vec<Topic> = self.topics().collect();
        let in_scope = saturating_u64(repositories.len());
        let per_repository = saturating_u64(topics.len());
        let found_by =
            if discovered.is_some() { "found by discovery" } else { "listed in the configuration" };
        let excluded = members.iter().filter(|member| member.out_of_scope.is_some()).count();
        let undiscovered = found.iter().filter(|item| item.is_inspection()).count();
        let population = CollectionItem::Population {
            discovered,
            expected: in_scope.saturating_mul(per_repository).saturating_add(saturating_u64(undiscovered)),
            members,
            scope,
            text: if per_repository == 0 {
                String::new()
            } else {
                let excluded = match excluded {
                    0 => String::new(),
                    excluded => format!(", {} excluded", thousands(saturating_u64(excluded))),
                };
                format!("{} {found_by}{excluded}", counted(in_scope, "repository", "repositories"))
            },
        };
        let repositories = Arc::new(repositories);
        let tasks = topics.into_iter().flat_map(move |topic| {
            let repositories = Arc::clone(&repositories);
            (0..repositories.len())
                .filter_map(move |index| repositories.get(index).cloned())
                .map(move |repository| Task { repository, topic })
        });
        let window = self.config.max_concurrency.get().saturating_mul(WINDOW_PER_REQUEST);
        let backlog = Arc::new(Backlog::new(self.config.max_concurrency.get()));
        let taken = Arc::clone(&backlog);
        let observed = stream::iter(tasks.enumerate()).map(move |(number, task)| {
            let backlog = Arc::clone(&backlog);
            async move {
                backlog.enter(number).await;
                let found = match self.probed(&task) {
                    Some(found) => found,
                    None => self.observe(task).await,
                };
                backlog.add(found.weight());
                found
            }
        });
        let observed = observed.buffered(window).inspect(move |found| taken.take(found.weight()));
        stream::iter(std::iter::once(population).chain(found)).chain(observed)
    }

    pub(super) async fn observe(&self, task: Task) -> CollectionItem {
        let Task { repository, topic } = task;
        // If the branch depends on a repository that only the configuration names, request the repository first, so
        // that every topic knows the same about it.
        let known = match &repository.origin {
            Origin::Discovered(_) => Some(self.known(&repository).await),
            Origin::Named(_) if self.asks_details() => Some(self.known(&repository).await),
            Origin::Named(_) => None,
        };
        if let Some(known) = known.filter(|known| known.details.is_err()) {
            let observation = repository.target().observation(topic.kind(), interpret::nothing());
            return CollectionItem::Inspected(known.behind(observation, topic.name()).into());
        }
        let inspection = match topic {
            Topic::Protection => self.protection(&repository, known).await,
            Topic::Codeowners => self.codeowners(&repository).await,
        };
        let details = known.and_then(|known| known.details.ok());
        let archived = details.is_some_and(|details| details.archived);
        let exempt = archived.then_some(&rules::reason::ARCHIVED);
        CollectionItem::Inspected(Inspection { exempt, ..inspection })
    }

    /// Whether every repository that only the configuration names must be requested: its default branch determines
    /// which branch is checked, or whether that is the right one.
    pub(super) fn asks_details(&self) -> bool {
        self.wants(Topic::Protection) && !matches!(self.config.branch, Branch::Named(_))
    }

    /// The host's record of the repository.
    async fn known<'a>(&self, repository: &'a ScopedRepository) -> Known<'a> {
        match &repository.origin {
            Origin::Discovered(details) => Known { details: Ok(details), requests: &[] },
            Origin::Named(cell) => {
                let ask = || async {
                    let (details, requests) = recorded(ask::details(&self.api(), repository.target())).await;
                    Itself { details, requests }
                };
                let Itself { details, requests } = cell.get_or_init(ask).await;
                Known { details: details.as_ref(), requests }
            }
        }
    }

    async fn protection(&self, repository: &ScopedRepository, mut known: Option<Known<'_>>) -> Inspection {
        let target = repository.target();
        let details = known.and_then(|known| known.details.ok());
        let default = details.and_then(|details| details.default_branch.as_deref());
        let branch = match (&self.config.branch, default) {
            (Branch::Unset, _) => FALLBACK_BRANCH,
            (Branch::Named(name), _) => name,
            (Branch::Default, Some(default)) => default,
            (Branch::Default, None) => return interpret::no_default_branch(target).into(),
        };
        let may_be_empty = details.is_none_or(|details| details.may_be_empty);
        // The host shows a branch to everyone, but its rule only to administrators. A token without that right must get
        // the same result as a run without kept records.
        let branch_first = ask::begins_with_branch(&self.api(), target, branch) && {
            let found = match known {
                Some(found) => found,
                None => *known.insert(self.known(repository).await),
            };
            found.details.is_ok_and(|details| details.administered)
        };
        let asked =
            with_requests(Box::pin(ask::classic(&self.api(), target, branch, may_be_empty, branch_first)))
                .await;
        let (mut observation, ClassicReading { classic, may_be_missing, renamed }) = asked;
        if may_be_missing {
            let found = known.insert(self.known(repository).await);
            if found.details.is_err() {
                return found.behind(observation, Topic::Protection.name()).into();
            }
        }
        let differs = default.filter(|default| *default != branch);
        let mut facts = Facts {
            branch: branch.to_string(),
            other_default: differs.filter(|_| self.config.branch == Branch::Unset).map(str::to_string),
            classic,
            rules: Rules::NotAsked,
            rulesets: BTreeMap::new(),
            viewer: Viewer::default(),
        };
        let mut others = Vec::new();
        // Nothing can be changed in an archived repository, so its settings do not matter.
        let archived = details.is_some_and(|details| details.archived);
        if !archived && wants_rules(&facts) {
            let (seen, rules) = with_requests(ask::rules(&self.api(), target, branch, renamed)).await;
            facts.rules = rules;
            others.push(seen);
        }
        if next_ruleset(&facts).is_some() {
            let found = match known {
                Some(found) => found,
                None => *known.insert(self.known(repository).await),
            };
            let administers = found.details.is_ok_and(|details| details.administered);
            // The host shows this setting only to owners.
            let owns = self.settings.two_factor_requirement_enabled.value().is_some();
            facts.viewer = Viewer { administers, owns };
        }
        while let Some(id) = next_ruleset(&facts) {
            let (seen, ruleset) = with_requests(ask::ruleset(&self.api(), target, id, renamed)).await;
            facts.rulesets.insert(id, ruleset);
            others.push(seen);
        }
        let verdict = judge(&facts);
        if let Some(known) = known.filter(|known| known.details.is_ok()) {
            observation = known.behind(observation, Topic::Protection.name());
        }
        observation.warnings.extend(interpret::branch_warnings(target, &facts, differs, &verdict));
        let observations = std::iter::once(observation).chain(others).collect();
        Inspection::of(observations).concluded(&BRANCH_PROTECTION, Arc::clone(&repository.subject), verdict)
    }

    async fn codeowners(&self, repository: &ScopedRepository) -> Inspection {
        let target = repository.target();
        let (mut reading, requests) = recorded(Box::pin(ask::codeowners(&self.api(), target))).await;
        reading.observation.requests = requests;
        if matches!(reading.found, FoundFile::NotFound) && !self.asks_details() {
            let known = self.known(repository).await;
            reading.observation = known.behind(reading.observation, Topic::Codeowners.name());
            if known.details.is_err() {
                return reading.observation.into();
            }
        }
        let path = match &reading.found {
            FoundFile::File { path, .. } if self.config.codeowners_errors => path.clone(),
            _ => return reading.judged(target, &HashSet::new()),
        };
        let judged = reading.clone().judged(target, &HashSet::new());
        let passes = judged.judgements.iter().all(|judgement| judgement.verdict.status == Status::Pass);
        if !passes {
            return judged;
        }
        let (observation, unknown) = with_requests(ask::unknown_owners(&self.api(), target, &path)).await;
        let mut inspection = match unknown {
            Ok(unknown) => reading.judged(target, &unknown),
            // Unknown owners could make a file pass that does not.
            Err(unread) => {
                let verdict = Verdict::unknown(unread.reason, unread.detail);
                let subject = Arc::clone(&repository.subject);
                Inspection::from(reading.observation).concluded(&CODEOWNERS_DEFAULT_RULE, subject, verdict)
            }
        };
        inspection.observations.push(observation);
        inspection
    }
}
