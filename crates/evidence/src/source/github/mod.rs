//! The code host: organization settings, branch protection, CODEOWNERS.
//!
//! The modules: `config` is the configuration section, `dialect` the protocol, `calls` the list of calls, `wire` and
//! `answer` parse and classify answers, `api` and `ask` make the calls, `interpret` and `owners` interpret the answers,
//! `record` defines the artifacts, `rules` the criteria, `scopes` the token's permissions, `connect`, `preflight`,
//! `named` and `account` are the connection test, `repository`, `population`, `exclusion`, `shared` and `collect` the collection, and `plan` its size. This file
//! implements the source for the rest of the tool. The source never writes to the host and never requests code, diffs,
//! commits or secrets.

mod account;
mod advice;
pub mod answer;
mod api;
mod ask;
mod backlog;
mod calls;
mod collect;
pub mod config;
mod connect;
mod dialect;
mod directories;
mod exclusion;
mod interpret;
mod named;
pub mod names;
mod owners;
mod place;
mod plan;
mod population;
mod preflight;
mod repository;
mod scopes;
mod shared;
mod subject;
mod token;
mod topic;
mod wire;

use std::sync::Arc;

use evidence_bundle::document::{Identity, RateLimitRecord, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use self::api::Api;
use self::config::{CodeHostConfig, Repositories};
use self::named::NamedRepository;
use self::preflight::Preflight;
use self::scopes::Scopes;
use self::shared::Shared;
use self::topic::Topic;
use super::{
    CollectionItem, Configured, ConnectError, Plan, Scope, Session, SessionSummary, SourceKind, Surroundings,
};
use crate::env::Env;
use crate::observation::{ArtifactKind, Observation, Seen, SourceName};
use crate::origin::Origin;
use evidence_http::cache::Cache;
use evidence_http::{Asked, Client, Meta};
use evidence_rules::codehost::record::OrganizationSettings;
use evidence_rules::rule::Rule;

/// The kind of a repository in the population.
const MEMBER: &str = "repository";

/// The name of this source.
pub const NAME: SourceName = SourceName::new("codehost");

/// The static description of this source.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    judged: &evidence_rules::codehost::RULES,
    calls: calls::CALLS,
    page: place::page,
    remedy: place::remedy,
    decode: config::decode,
};

impl Configured for CodeHostConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn keeps_records(&self) -> bool {
        self.revalidate
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        let named = |names: &[String]| names.iter().map(|name| format!("{}/{name}", self.org)).collect();
        let repos = match &self.repos {
            Repositories::All => Value::from("*"),
            Repositories::Listed(names) => named(names),
        };
        vec![
            ("org", self.org.as_str().into()),
            ("api_url", self.api_url.as_str().into()),
            ("repos", repos),
            ("exclude", self.exclude.iter().map(|excluded| excluded.setting(&self.org)).collect()),
            ("branch", self.branch.setting().map_or(Value::Null, Value::from)),
            ("codeowners_errors", self.codeowners_errors.into()),
            ("accept_unconfirmed", self.accept_unconfirmed.into()),
        ]
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        Ok(vec![connect::token(self, env)?.expose().to_string()])
    }

    fn scope(&self) -> Scope {
        Scope {
            source: NAME,
            organization: Some(self.org.clone()),
            kind: MEMBER,
            subject: self.org.clone(),
            api_url: self.api_url.as_str().trim_end_matches('/').to_string(),
            rules: self.rules.clone(),
        }
    }

    fn origins(&self, env: &Env) -> Vec<Origin> {
        let variable = env.provider(&self.token_env).unwrap_or_else(|| self.token_env.clone());
        let url = self.api_url.clone();
        vec![Origin { sender: NAME.id(), url, variables: vec![variable], named_by: None }]
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
    /// Whether the token is that of an app's installation.
    of_installation: bool,
    /// The account that the token acts for, if the host names it.
    user: Option<wire::User>,
    settings: OrganizationSettings,
    counts: wire::RepositoryCounts,
    meta: Meta,
    /// The requests of the connection test.
    requests: Vec<Asked>,
    warnings: Vec<Warning>,
    preflight: Preflight,
    /// The repositories in scope that the configuration names; in a dry run not all of a long list.
    named: Vec<NamedRepository>,
    shared: Shared,
    env: Env,
}

impl CodeHostSession {
    fn api(&self) -> Api<'_> {
        Api { client: &self.client, base: &self.config.api_url, organization: &self.config.org }
    }

    /// The subject for a repository of the organization.
    fn subject(&self, name: &str) -> Arc<str> {
        format!("{}/{name}", self.config.org).into()
    }

    /// The topics to check in every repository.
    fn topics(&self) -> impl Iterator<Item = Topic> + '_ {
        Topic::ALL.into_iter().filter(|topic| self.wants(*topic))
    }

    fn wants(&self, topic: Topic) -> bool {
        self.config.collects(topic.kind())
    }

    fn unread(&self, kind: &'static ArtifactKind, seen: Seen) -> CollectionItem {
        let subject = self.config.org.as_str();
        CollectionItem::Inspected(Observation::new(NAME, kind, subject, seen).into())
    }

    fn warning(&self, code: &str, message: String) -> Warning {
        Warning {
            code: code.to_string(),
            message,
            source: Some(NAME.id().to_string()),
            subject: Some(self.config.org.clone()),
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
        self.planned().boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        let organization = stream::iter(self.organization_found());
        organization.chain(stream::once(self.collect_repositories()).flatten()).boxed()
    }

    fn account(&self) -> SessionSummary {
        let rate_limit = self.client.quota().and_then(|status| {
            // Without a complete answer, report no limit rather than an invented one.
            let reset = jiff::Timestamp::from_second(status.reset?).ok()?.to_string();
            Some(RateLimitRecord { limit: status.limit?, remaining: status.remaining, reset })
        });
        SessionSummary {
            api_url: self.config.api_url.as_str().trim_end_matches('/').to_string(),
            identity: Identity {
                login: self.user.as_ref().map(|user| user.login.clone()),
                id: self.user.as_ref().map(|user| user.id.to_string()),
                scopes: self.scopes.text(),
            },
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
