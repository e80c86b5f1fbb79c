//! The collection: which observations to make, and in which order to return them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::CodeHostSession;
use super::ask::{self, ClassicReading};
use super::backlog::Backlog;
use super::config::{Branch, FALLBACK_BRANCH};
use super::interpret::{self, RepositoryName};
use super::owners::FoundFile;
use super::population::Population;
use super::repository::{Details, Origin, ScopedRepository};
use super::shared::{Gone, Turn};
use super::topic::Topic;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::{CollectionItem, Configured as _};
use evidence_http::recorded;
use evidence_rules::codehost::artifact;
use evidence_rules::codehost::branch_protection::{
    BranchFacts, Classic, Rules, Unread, Viewer, is_of_organization, judge, next_ruleset, wants_branch,
    wants_rules,
};
use evidence_rules::codehost::record::Ruleset;
use evidence_rules::codehost::{BRANCH_PROTECTION, CODEOWNERS_DEFAULT_RULE};
use evidence_rules::rule::{Status, Verdict, reason};
use evidence_text::saturating_u64;
use evidence_text::{counted, thousands};

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
                    None => self.observe(task, Some(number)).await,
                };
                self.shared.done(number);
                backlog.add(found.weight());
                found
            }
        });
        let observed = observed.buffered(window).inspect(move |found| taken.take(found.weight()));
        stream::iter(std::iter::once(population).chain(found)).chain(observed)
    }

    /// Makes an observation. `number` is its place in the order of the collection, if it has one.
    pub(super) async fn observe(&self, task: Task, number: Option<usize>) -> CollectionItem {
        let Task { repository, topic } = task;
        let target = repository.target();
        let details = match &repository.origin {
            Origin::Shown(details) => details,
            Origin::Hidden(hidden) => {
                let seen = interpret::about(topic.name(), hidden.seen.clone());
                let observation = target.observation(topic.kind(), seen);
                let requests = hidden.requests.clone();
                return CollectionItem::Inspected(Observation { requests, ..observation }.into());
            }
        };
        let exempt = details.exempt();
        if details.disabled {
            // Its contents cannot be read, and no setting of it has an effect.
            let observation = target.observation(topic.kind(), interpret::disabled());
            return CollectionItem::Inspected(Inspection { exempt, ..Inspection::from(observation) });
        }
        let inspection = match topic {
            Topic::Protection => self.protection(&repository, details, number).await,
            Topic::Codeowners => self.codeowners(&repository, details).await,
        };
        CollectionItem::Inspected(Inspection { exempt, ..inspection })
    }

    /// What the host now says of a repository that it has shown, and about which every answer was "Not Found" since.
    async fn gone(&self, repository: &ScopedRepository, details: &Details) -> Gone {
        let ask = || async {
            let (answer, requests) = recorded(ask::repository(&self.api(), repository.target())).await;
            let is_gone = matches!(answer, Err(Seen::Failed(failed)) if *failed.reason == reason::NOT_FOUND);
            let gone = requests.last().filter(|_| is_gone).map(|asked| {
                interpret::gone(&self.env.stamp_of(details.listed_at), &self.env.stamp_of(asked.at))
            });
            (gone, requests)
        };
        self.shared.unseen(&repository.subject).get_or_init(ask).await.clone()
    }

    async fn protection(
        &self,
        repository: &ScopedRepository,
        details: &Details,
        number: Option<usize>,
    ) -> Inspection {
        self.shared.begin(&repository.subject);
        let (inspection, unseen) = self.read_protection(repository, details, number).await;
        self.shared.end(&repository.subject, unseen);
        inspection
    }

    /// Reads and judges the protection. Also returns whether every answer was "Not Found".
    async fn read_protection(
        &self,
        repository: &ScopedRepository,
        details: &Details,
        number: Option<usize>,
    ) -> (Inspection, bool) {
        let target = repository.target();
        let default = details.default_branch.as_deref();
        let branch = match (&self.config.branch, default) {
            (Branch::Unset, _) => FALLBACK_BRANCH,
            (Branch::Named(name), _) => name,
            (Branch::Default, Some(default)) => default,
            (Branch::Default, None) => return (interpret::no_default_branch(target).into(), false),
        };
        // The host shows a branch to everyone, but its rule only to administrators. A token without that right must get
        // the same result as a run without kept records.
        let api = self.api();
        let branch_first = details.administered && ask::begins_with_branch(&api, target, branch);
        let classic = ask::classic(&api, target, branch, details.may_be_empty, branch_first);
        let asked = with_requests(Box::pin(classic)).await;
        let (mut observation, ClassicReading { classic, may_be_missing, renamed }) = asked;
        let differs = default.filter(|default| *default != branch);
        let mut facts = BranchFacts {
            branch: branch.to_string(),
            other_default: differs.filter(|_| self.config.branch == Branch::Unset).map(str::to_string),
            classic,
            state: None,
            rules: Rules::NotAsked,
            rulesets: BTreeMap::new(),
            viewer: Viewer::default(),
        };
        let mut others = Vec::new();
        // Nothing can be changed in an archived repository, so its settings do not matter.
        let archived = details.archived;
        if !archived && wants_rules(&facts) {
            let (seen, rules) = with_requests(ask::rules(&self.api(), target, branch, renamed)).await;
            facts.rules = rules;
            others.push(seen);
        }
        let unseen = may_be_missing && others.iter().all(interpret::is_not_found);
        let mut is_gone = false;
        if unseen && !archived {
            let (gone, requests) = self.gone(repository, details).await;
            observation.requests.extend(requests);
            if let Some(gone) = gone {
                let gone = interpret::about(Topic::Protection.name(), gone);
                let unread = Unread::of(gone.shown());
                for one in std::iter::once(&mut observation).chain(&mut others) {
                    one.seen = gone.clone();
                }
                is_gone = true;
                facts.classic = unread.clone().map_or(facts.classic, Classic::Unread);
                facts.rules = unread.map_or(facts.rules, Rules::Unread);
            }
        }
        if !archived && wants_branch(&facts) {
            let (seen, state) = with_requests(ask::branch(&self.api(), target, branch)).await;
            facts.state = state;
            others.push(seen);
        }
        if next_ruleset(&facts).is_some() {
            // The host shows this setting only to owners.
            let owns = self.settings.two_factor_requirement_enabled.value().is_some();
            facts.viewer = Viewer { administers: details.administered, owns };
        }
        while let Some(id) = next_ruleset(&facts) {
            let of_organization = facts.viewer.owns && !renamed && is_of_organization(&facts, id);
            let number = of_organization.then_some(number);
            let (seen, ruleset) = with_requests(self.ruleset(target, id, renamed, number)).await;
            facts.rulesets.insert(id, ruleset);
            others.push(seen);
        }
        observation.facts = facts.beside_artifacts();
        let verdict = judge(&facts);
        if !is_gone {
            observation.warnings.extend(interpret::branch_warnings(target, &facts, differs, &verdict));
        }
        let observations = std::iter::once(observation).chain(others).collect();
        let subject = Arc::clone(&repository.subject);
        (Inspection::of(observations).concluded(&BRANCH_PROTECTION, subject, verdict), unseen)
    }

    /// Reads a ruleset. `order` is set for one of the organization, if its owner asks: the answer is then the same for
    /// every repository, and the first observation in order reads it for all.
    async fn ruleset(
        &self,
        target: RepositoryName<'_>,
        id: u64,
        renamed: bool,
        order: Option<Option<usize>>,
    ) -> (Observation, Result<Ruleset, Unread>) {
        let turn = match order {
            Some(number) => self.shared.turn(id, number).await,
            None => Turn::Alone,
        };
        if let Turn::Read(found) = turn {
            return interpret::ruleset(target, id, Ok(&*found));
        }
        let answer = ask::ruleset(&self.api(), target, id, renamed).await;
        if matches!(turn, Turn::ForAll) {
            let found = answer.as_ref().ok().filter(|(_, meta)| meta.redirected_to.is_none());
            self.shared.keep(id, found.cloned());
        }
        interpret::ruleset(target, id, answer.as_ref().map_err(Clone::clone))
    }

    async fn codeowners(&self, repository: &ScopedRepository, details: &Details) -> Inspection {
        let target = repository.target();
        let (mut reading, requests) = recorded(Box::pin(ask::codeowners(&self.api(), target))).await;
        reading.observation.requests = requests;
        if matches!(reading.found, FoundFile::NotFound) && self.is_unseen(repository, details).await {
            let (gone, requests) = self.gone(repository, details).await;
            reading.observation.requests.extend(requests);
            if let Some(gone) = gone {
                reading.observation.seen = interpret::about(Topic::Codeowners.name(), gone);
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

    /// Whether nothing else about a repository was found.
    async fn is_unseen(&self, repository: &ScopedRepository, details: &Details) -> bool {
        details.exempt().is_none()
            && (!self.wants(Topic::Protection) || self.shared.is_unseen(&repository.subject).await)
    }
}
