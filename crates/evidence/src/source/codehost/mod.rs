//! The code host: organization settings, branch protection, CODEOWNERS.
//!
//! `config` is its section of the configuration, `dialect` how the host is spoken to, `calls` what it is asked, `wire` and
//! `answer` how answers are read, `api` and `ask` make the calls, `look` is what the answers mean, `record` the artifacts, `rules` what they must show, `scopes`
//! what the token may do, `connect` the connection test. This file is the collection: what is looked at, and in which order it comes out.
//! It never writes to the host and never asks for code, diffs, commits or secrets.

pub mod answer;
mod api;
mod artifact;
mod ask;
mod backlog;
mod calls;
pub mod codeowners;
pub mod config;
mod connect;
mod dialect;
mod look;
mod names;
pub mod record;
pub mod rules;
mod scopes;
mod token;
mod wire;

use std::collections::HashSet;
use std::sync::Arc;

use evidence_bundle::document::{Identity, RateLimitRecord, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::OnceCell;
use url::Url;

use self::api::{Api, Listing};
use self::backlog::Backlog;
use self::calls::PAGE_SIZE;
use self::config::{CodeHostConfig, Repositories};
use self::look::{Look, Target};
use self::record::OrganizationSettings;
use self::rules::TWO_FACTOR_REQUIRED;
use self::scopes::Scopes;
use super::{Account, Configured, ConnectError, Found, Kind, Plan, Scope, Session, Surroundings};
use crate::cache::Cache;
use crate::env::Env;
use crate::http::retry::Class;
use crate::http::{Answered, Client, Meta, Problem};
use crate::observation::{ArtifactKind, Failed, Inspection, Observation, Seen, SourceName};
use crate::report::format::counted;
use crate::rule::{Rule, reason};

/// Its name.
pub const NAME: SourceName = SourceName::new("codehost");

/// What the tool must know of it.
pub static KIND: Kind = Kind {
    name: NAME,
    rules: rules::ALL,
    reasons: rules::reason::ALL,
    calls: calls::CALLS,
    decode: config::decode,
};

/// How many looks may be prepared per request in flight. One slow answer holds back the results behind it, not the
/// requests: with a window as large as the limit of requests it would hold back both.
const WINDOW_PER_REQUEST: usize = 4;

/// Typical bytes of one artifact and its rows in the documents, compressed: measured on generated organizations.
const ESTIMATED_ARTIFACT_BYTES: u64 = 400;
/// The documents themselves, compressed.
const ESTIMATED_FIXED_BYTES: u64 = 4_000;

impl Configured for CodeHostConfig {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn keeps_records(&self) -> bool {
        self.revalidate
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        Ok(vec![connect::token(self, env)?.expose().to_string()])
    }

    fn scope(&self) -> Scope {
        Scope {
            source: NAME,
            organization: Some(self.org.clone()),
            subject: self.org.clone(),
            api_url: self.api_url.as_str().trim_end_matches('/').to_string(),
            rules: self.rules.clone(),
        }
    }

    fn hosts(&self, _env: &Env) -> Vec<Url> {
        vec![self.api_url.clone()]
    }

    fn connect<'a>(&'a self, run: &'a Surroundings) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}

/// A code host that accepted the token and showed the organization.
pub struct CodeHostSession {
    config: CodeHostConfig,
    client: Client,
    scopes: Scopes,
    token_kind: &'static str,
    settings: OrganizationSettings,
    counts: wire::RepositoryCounts,
    meta: Meta,
    warnings: Vec<Warning>,
}

/// A repository in scope.
#[derive(Debug, Clone)]
struct Repository {
    /// Owner and name: what everything about it is called, shared by all of it.
    subject: Arc<str>,
    archived: bool,
    /// For a repository that only the configuration names: what its answers say together.
    witness: Option<Arc<Witness>>,
}

impl Repository {
    fn target(&self) -> Target<'_> {
        let (owner, name) = self.subject.split_once('/').unwrap_or_default();
        Target { owner, name }
    }
}

/// What the answers about one repository say together: each look is made once, whoever needs it first.
#[derive(Debug, Default)]
struct Witness {
    protection: OnceCell<Look>,
    codeowners: OnceCell<Look>,
    visible: OnceCell<Result<bool, Look>>,
}

/// What is looked at in every repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    /// The protection of the branch.
    Protection,
    /// The CODEOWNERS file.
    Codeowners,
}

impl Topic {
    /// Every topic, in the order of the collection.
    const ALL: [Topic; 2] = [Topic::Protection, Topic::Codeowners];

    fn kind(self) -> &'static ArtifactKind {
        match self {
            Topic::Protection => &artifact::PROTECTION,
            Topic::Codeowners => &artifact::CODEOWNERS,
        }
    }

    /// For people.
    fn name(self) -> &'static str {
        match self {
            Topic::Protection => "branch protection",
            Topic::Codeowners => "CODEOWNERS",
        }
    }

    fn other(self) -> Topic {
        match self {
            Topic::Protection => Topic::Codeowners,
            Topic::Codeowners => Topic::Protection,
        }
    }

    /// Requests at most: a CODEOWNERS file may be in the second place, and so large that it is read once more.
    fn most_requests(self) -> u64 {
        match self {
            Topic::Protection => 1,
            Topic::Codeowners => 3,
        }
    }

    /// What the cache calls its answers.
    fn kept_as(self) -> Option<u8> {
        match self {
            Topic::Protection => calls::PROTECTION.kept_as(),
            Topic::Codeowners => calls::PLACES[0].record.kept_as(),
        }
    }
}

/// One look to make.
#[derive(Debug, Clone)]
struct Task {
    repository: Repository,
    topic: Topic,
}

/// The repositories in scope, and what could not be found out about them.
struct Population {
    discovered: Option<u64>,
    repositories: Vec<Repository>,
    found: Vec<Found>,
}

impl CodeHostSession {
    fn api(&self) -> Api<'_> {
        Api { client: &self.client, base: &self.config.api_url, organization: &self.config.org }
    }

    /// What a repository of the organization is called.
    fn subject(&self, name: &str) -> Arc<str> {
        format!("{}/{name}", self.config.org).into()
    }

    /// What is looked at in every repository.
    fn topics(&self) -> impl Iterator<Item = Topic> + '_ {
        Topic::ALL.into_iter().filter(|topic| self.wants(*topic))
    }

    fn wants(&self, topic: Topic) -> bool {
        topic.kind().rules.iter().any(|rule| self.config.wants(rule))
    }

    fn unread(&self, kind: &'static ArtifactKind, seen: Seen) -> Found {
        let subject = self.config.org.as_str().into();
        Found::Inspected(Observation { source: NAME, kind, subject, seen, warnings: Vec::new() }.into())
    }

    fn warning(&self, code: &str, message: String) -> Warning {
        Warning {
            code: code.to_string(),
            message,
            source: Some(NAME.id().to_string()),
            subject: Some(self.config.org.clone()),
        }
    }

    /// The repositories in scope: those of the configuration, or what discovery lists.
    async fn population(&self) -> Population {
        if self.topics().next().is_none() {
            return Population { discovered: None, repositories: Vec::new(), found: Vec::new() };
        }
        match &self.config.repos {
            Repositories::Listed(names) => {
                let repositories = names.iter().map(|name| Repository {
                    subject: self.subject(name),
                    archived: false,
                    witness: Some(Arc::default()),
                });
                Population { discovered: None, repositories: repositories.collect(), found: Vec::new() }
            }
            Repositories::All => self.discovered(self.api().listing().await),
        }
    }

    fn discovered(&self, listing: Listing) -> Population {
        let mut found = Vec::new();
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        let mut repositories = Vec::new();
        let (mut discovered, mut repeated) = (0, 0_u64);
        for repository in &listing.repositories {
            if repository.id.is_some_and(|id| !ids.insert(id)) {
                // A page that shifted while it was read shows a repository twice.
                repeated += 1;
                continue;
            }
            discovered += 1;
            let full_name = match (&repository.full_name, &repository.name) {
                (Some(full_name), _) => Some(full_name.clone()),
                (None, Some(name)) => Some(format!("{}/{name}", self.config.org)),
                (None, None) => None,
            };
            match self.accept(full_name.as_deref(), &mut names) {
                // Without an id, a name that comes twice is one repository on two pages that shifted.
                Err(_) if repository.id.is_none() && self.is_known(full_name.as_deref(), &names) => {
                    discovered -= 1;
                    repeated += 1;
                }
                Ok(name) => repositories.push(Repository {
                    subject: self.subject(&name),
                    archived: repository.archived.unwrap_or(false),
                    witness: None,
                }),
                Err(problem) => self.undiscovered(&mut found, &problem),
            }
        }
        repositories.sort_by(|a, b| a.target().name.cmp(b.target().name));
        for (page, problem) in &listing.problems {
            let mut problem = match problem {
                Problem::Refused(refused) => look::refused_failure("refused", refused),
                Problem::Failed(failure) => Failed::of(failure),
            };
            problem.message = format!("repository discovery, page {page}: {}", problem.message);
            self.undiscovered(&mut found, &problem);
        }
        if listing.partial {
            let text =
                "the host left repositories out of the list: the token is not authorized for single sign-on";
            found.push(Found::Warned(self.warning("partial_listing", text.to_string())));
        }
        if listing.problems.is_empty()
            && let Some((text, unlisted)) = self.unlisted(discovered)
        {
            let text = format!("{text}: {unlisted} are not in this bundle");
            if repeated > 0 {
                // Where some come twice, others did not come: that is no matter of what the token may see.
                let message = format!("repository discovery: {repeated} came twice, and {text}");
                let problem = Failed { reason: &reason::HOST_ERROR, message, status: None, request_id: None };
                self.undiscovered(&mut found, &problem);
            } else {
                found.push(Found::Warned(self.warning("incomplete_listing", text)));
            }
        }
        Population { discovered: Some(discovered), repositories, found }
    }

    /// If the organization says that it has more repositories than were listed: that in words, and how many more.
    fn unlisted(&self, listed: u64) -> Option<(String, u64)> {
        let (public, private) = (self.counts.public_repos, self.counts.total_private_repos);
        let told = public.unwrap_or(0).saturating_add(private.unwrap_or(0));
        let unlisted = told.checked_sub(listed).filter(|unlisted| *unlisted > 0)?;
        let text = format!("the token lists {listed} repositories and the organization says it has {told}");
        Some((text, unlisted))
    }

    fn is_known(&self, full_name: Option<&str>, names: &HashSet<String>) -> bool {
        let name = full_name.and_then(|full_name| full_name.split_once('/'));
        name.is_some_and(|(_, name)| names.contains(&name.to_ascii_lowercase()))
    }

    /// The repository's name, if it may become part of a path and of a call.
    fn accept(&self, full_name: Option<&str>, names: &mut HashSet<String>) -> Result<Box<str>, Failed> {
        let problem = |text: String| Failed {
            reason: &reason::HOST_ERROR,
            message: format!("repository discovery: {text}"),
            status: Some(200),
            request_id: None,
        };
        let full_name =
            full_name.ok_or_else(|| problem("the host listed a repository without a name".into()))?;
        let shown = crate::http::one_line(full_name);
        let valid = full_name.split_once('/').filter(|(_, name)| is_repository_name(name));
        let Some((owner, name)) = valid else {
            return Err(problem(format!(
                "the host listed a repository with a name that cannot be one: {shown}"
            )));
        };
        if !owner.eq_ignore_ascii_case(&self.config.org) {
            return Err(problem(format!("the host listed {shown}, which belongs to another organization")));
        }
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(problem(format!("the host listed {shown} twice under different ids")));
        }
        Ok(name.into())
    }

    /// A part of the population is unknown: for everything that is looked at in repositories, something was not read.
    fn undiscovered(&self, found: &mut Vec<Found>, problem: &Failed) {
        for topic in self.topics() {
            found.push(self.unread(topic.kind(), Seen::Failed(problem.clone())));
        }
    }

    async fn look(&self, task: Task) -> Found {
        let Task { repository, topic } = task;
        let look = match &repository.witness {
            None => self.fresh_look(&repository, topic).await,
            Some(witness) => self.witnessed_look(&repository, topic, witness).await,
        };
        let exempt = repository.archived.then_some(&rules::reason::ARCHIVED);
        let inspection = look.inspection(topic.kind(), repository.subject);
        Found::Inspected(Inspection { exempt, ..inspection })
    }

    async fn fresh_look(&self, repository: &Repository, topic: Topic) -> Look {
        let (api, target) = (self.api(), repository.target());
        match topic {
            Topic::Protection => ask::protection(&api, target, &self.config.branch).await,
            Topic::Codeowners => ask::codeowners(&api, target).await,
        }
    }

    async fn look_once(&self, repository: &Repository, topic: Topic, witness: &Witness) -> Look {
        let cell = match topic {
            Topic::Protection => &witness.protection,
            Topic::Codeowners => &witness.codeowners,
        };
        cell.get_or_init(|| self.fresh_look(repository, topic)).await.clone()
    }

    /// A look at a repository that only the configuration names. "Not Found" is settled by the other answers about
    /// it: does any of them show that it is there?
    async fn witnessed_look(&self, repository: &Repository, topic: Topic, witness: &Witness) -> Look {
        let mut look = self.look_once(repository, topic, witness).await;
        if look.exists {
            return look;
        }
        // The other look will be made anyway, so it is asked first.
        let other = topic.other();
        if self.wants(other) && self.look_once(repository, other, witness).await.shows_repository() {
            return look;
        }
        match witness.visible.get_or_init(|| self.visible(repository)).await {
            Ok(true) => return look,
            Ok(false) => {}
            Err(other) => {
                look.seen = other.seen.clone();
                look.warnings.extend(other.warnings.iter().cloned());
                return look;
            }
        }
        look.seen = Seen::Failed(look::repository_not_found(topic.name()));
        look
    }

    /// Whether the host shows the repository. Where it says neither yes nor no, nothing follows for either.
    async fn visible(&self, repository: &Repository) -> Result<bool, Look> {
        let Target { owner, name } = repository.target();
        match self.api().ask(&calls::REPOSITORY, &[("owner", owner), ("repo", name)]).await {
            Ok(_) => Ok(true),
            Err(Problem::Refused(refused)) if refused.class == Class::NotFound => Ok(false),
            Err(Problem::Refused(refused)) => Err(look::denied(repository.target(), "repository", &refused)),
            Err(Problem::Failed(failure)) => Err(Look::failed("repository", &failure)),
        }
    }

    fn organization_found(&self) -> Option<Found> {
        self.config.wants(&TWO_FACTOR_REQUIRED).then(|| {
            let inspection = look::organization(&self.config.org, &self.settings, &self.meta);
            Found::Inspected(inspection)
        })
    }

    async fn collect_repositories(&self) -> impl stream::Stream<Item = Found> + Send + '_ {
        let Population { discovered, repositories, found } = self.population().await;
        let topics: Vec<Topic> = self.topics().collect();
        let in_scope = u64::try_from(repositories.len()).unwrap_or(u64::MAX);
        let per_repository = u64::try_from(topics.len()).unwrap_or(u64::MAX);
        let found_by =
            if discovered.is_some() { "found by discovery" } else { "listed in the configuration" };
        let population = Found::Population {
            discovered,
            in_scope,
            expected: in_scope.saturating_mul(per_repository),
            text: if per_repository == 0 {
                String::new()
            } else {
                format!("{} {found_by}", counted(in_scope, "repository", "repositories"))
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
        let looks = stream::iter(tasks.enumerate()).map(move |(number, task)| {
            let backlog = Arc::clone(&backlog);
            async move {
                backlog.enter(number).await;
                let found = self.look(task).await;
                backlog.add(found.weight());
                found
            }
        });
        let looks = looks.buffered(window).inspect(move |found| taken.take(found.weight()));
        stream::iter(std::iter::once(population).chain(found)).chain(looks)
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
            Repositories::Listed(names) => Ok((u64::try_from(names.len()).unwrap_or(u64::MAX), 0)),
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
                                let count = u64::try_from(listing.repositories.len()).unwrap_or(u64::MAX);
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

impl Session for CodeHostSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn organization(&self) -> &str {
        &self.config.org
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn identity(&self) -> String {
        match &self.scopes {
            Scopes::Classic(_) => format!("{}, scopes {}", self.token_kind, self.scopes.text()),
            Scopes::None => format!("{} without scopes", self.token_kind),
            Scopes::NotReported => format!("{}, permissions not reported", self.token_kind),
        }
    }

    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        async move {
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
            if self.config.wants(&TWO_FACTOR_REQUIRED) {
                plan.artifacts.push(("organization settings", 1));
            }
            // A repository that only the configuration names may have to be asked for itself.
            if matches!(self.config.repos, Repositories::Listed(_)) {
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
        .boxed()
    }

    fn collect(&self) -> BoxStream<'_, Found> {
        let organization = stream::iter(self.organization_found());
        organization.chain(stream::once(self.collect_repositories()).flatten()).boxed()
    }

    fn account(&self) -> Account {
        let rate_limit = self.client.quota().and_then(|status| {
            // A host that leaves out a part is not quoted with a made-up one.
            let reset = jiff::Timestamp::from_second(status.reset?).ok()?.to_string();
            Some(RateLimitRecord { limit: status.limit?, remaining: status.remaining, reset })
        });
        Account {
            api_url: self.config.api_url.as_str().trim_end_matches('/').to_string(),
            identity: Identity { login: None, scopes: self.scopes.text() },
            requests: self.client.requests(),
            retries: self.client.retries(),
            revalidated: self.client.revalidated(),
            taken_over: self
                .client
                .cache()
                .and_then(Cache::resumed_run)
                .map(|began| (self.client.taken_over(), began)),
            rate_limit,
            given_up: self.client.given_up(),
            paused_seconds: u64::try_from(self.client.paused().as_secs()).unwrap_or(0),
        }
    }

    fn collected(&self) {
        self.client.cache().inspect(|cache| cache.close());
    }

    fn delivered(&self) {
        self.client.cache().inspect(|cache| cache.finish());
    }
}

/// A name that can be part of a path and a file name without becoming another one.
fn is_repository_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && name != "."
        && name != ".."
}
