//! The cloud provider: the account's password policy, its audit trails, and how long its logs are kept.
//!
//! `config` is its section of the configuration, `endpoint` where the services are, `sign` the credentials, `dialect` how
//! the provider is spoken to, `calls` what it is asked, `wire`, `xml` and `answer` how answers are read, `api` makes the
//! calls, `look` is what the answers mean, `scope` and `trails` which of them count, `record` the artifacts, `rules` what they must show, `connect` the
//! connection test, `collect` and `log_groups` the collection. This file is the source as the rest of the tool sees it.
//!
//! It only gets and describes: it never changes anything in the account, and never reads an event, a log line or what
//! lies in a bucket.

mod answer;
mod api;
mod artifact;
mod calls;
mod collect;
pub mod config;
mod connect;
mod dialect;
mod endpoint;
mod found;
mod log_groups;
mod look;
mod record;
pub mod rules;
mod scope;
mod sign;
mod trails;
mod wire;
mod xml;

use std::sync::Arc;

use evidence_bundle::document::{Identity, Warning};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;
use url::Url;

use self::api::Hosts;
use self::config::CloudConfig;
use self::connect::FirstAnswers;
use self::endpoint::{Service, ServiceEndpoint};
use self::look::{Policy, ReadResult, Unread};
use self::wire::Caller;
use super::{
    CollectionItem, Configured, ConnectError, Plan, Scope, Session, SessionSummary, SourceKind, Surroundings,
};
use crate::env::Env;
use crate::number::saturating_u64;
use crate::observation::SourceName;
use crate::rule::Rule;

/// Its name.
pub const NAME: SourceName = SourceName::new("cloud");

/// What the tool must know of it.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    rules: rules::ALL,
    reasons: rules::reason::ALL,
    calls: calls::CALLS,
    decode: config::decode,
};

/// Typical bytes of one artifact and its rows in the documents, compressed: measured on made-up accounts.
const ESTIMATED_ARTIFACT_BYTES: u64 = 400;
/// The documents themselves, compressed.
const ESTIMATED_FIXED_BYTES: u64 = 3_000;
/// Typical bytes of one log group, compressed.
const ESTIMATED_LOG_GROUP_BYTES: u64 = 15;

/// What failed, in words; what is denied is a warning of the connection test.
fn failed<T>(look: &ReadResult<T>) -> Option<String> {
    match look {
        Err(Unread::Failed(failed)) => Some(failed.message.clone()),
        Ok(_) | Err(Unread::Denied { .. }) => None,
    }
}

impl Configured for CloudConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        let regions: Vec<String> = self.regions.iter().map(ToString::to_string).collect();
        let role = self.role.as_ref().map(|role| role.arn.clone());
        vec![
            ("regions", regions.into()),
            ("role_arn", role.into()),
            ("trails", self.trails.clone().into()),
            ("log_groups", self.log_groups.clone().into()),
        ]
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        Ok(connect::credentials(self, env)?.secrets())
    }

    fn scope(&self) -> Scope {
        let role = self.role.as_ref();
        let account = role.and_then(|role| scope::role_account(&role.arn));
        let address = |home| ServiceEndpoint::new(Service::Sts, home, self.endpoint_url.as_ref());
        let endpoint = self.home.as_ref().and_then(address);
        Scope {
            source: NAME,
            organization: account.map(str::to_string),
            subject: account.unwrap_or(NAME.id()).to_string(),
            api_url: endpoint
                .map_or_else(String::new, |at| at.url.as_str().trim_end_matches('/').to_string()),
            rules: self.rules.clone(),
        }
    }

    fn hosts(&self, _env: &Env) -> Vec<Url> {
        let CloudConfig { home, regions, endpoint_url, .. } = self;
        let at = |service| {
            home.iter()
                .chain(regions)
                .filter_map(move |region| ServiceEndpoint::new(service, region, endpoint_url.as_ref()))
        };
        Service::ALL.into_iter().flat_map(at).map(|endpoint| endpoint.url).collect()
    }

    fn connect<'a>(&'a self, run: &'a Surroundings) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}

/// An account whose provider knows the credentials.
pub struct CloudSession {
    config: CloudConfig,
    hosts: Arc<Hosts>,
    caller: Caller,
    first: FirstAnswers,
    warnings: Vec<Warning>,
}

impl Session for CloudSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn organization(&self) -> &str {
        &self.caller.account
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn identity(&self) -> String {
        self.caller.arn.clone()
    }

    /// Reads the pages of log groups to count them; the status of trails and their event selectors are one request
    /// each.
    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        async move {
            let mut plan = Plan::default();
            let mut requests = 1 + u64::from(self.config.role.is_some());
            let mut log_groups = 0;
            if let Some(policy) = &self.first.policy {
                requests += 1;
                plan.artifacts
                    .push(("password policy", u64::from(matches!(policy, Ok((Policy::Set(_), _))))));
                plan.missing.extend(failed(policy));
            }
            if self.config.wants_regions() {
                let read = self.first.regions.iter().any(|region| region.trails.is_ok());
                plan.missing.extend(self.first.regions.iter().filter_map(|region| failed(&region.trails)));
                let known = self.trails_in_scope();
                let problems: Vec<String> = known.iter().filter_map(|known| known.place().err()).collect();
                let trails = saturating_u64(known.len() - problems.len());
                plan.missing
                    .extend(problems.iter().map(|text| collect::not_asked(&calls::GET_TRAIL_STATUS, text)));
                let needs = |known: &&trails::Known| known.needs_selectors() && known.place().is_ok();
                let selectors = saturating_u64(known.iter().filter(needs).count());
                let groups = self.all_log_groups().await;
                plan.missing.extend(groups.iter().filter_map(|region| failed(&region.groups)));
                let pages: u64 = groups.iter().map(|region| region.pages).sum();
                let groups_read = groups.iter().any(|region| region.groups.is_ok());
                requests += saturating_u64(self.first.regions.len()) + pages + trails + selectors;
                log_groups = groups.iter().map(|region| region.counts().0).sum();
                plan.artifacts.push(("audit trails", u64::from(read)));
                plan.artifacts.push(("trail status", trails));
                plan.artifacts.push(("event selectors", selectors));
                plan.artifacts.push(("log groups", u64::from(groups_read)));
            }
            // What is denied is not an artifact; the warnings have said so.
            plan.artifacts.retain(|(_, count)| *count > 0);
            plan.requests_minimum = requests;
            plan.requests_maximum = requests;
            plan.estimated_bytes = ESTIMATED_FIXED_BYTES
                + plan.artifact_count() * ESTIMATED_ARTIFACT_BYTES
                + log_groups * ESTIMATED_LOG_GROUP_BYTES;
            Ok(plan)
        }
        .boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        self.found()
    }

    fn account(&self) -> SessionSummary {
        SessionSummary {
            api_url: self.hosts.address(),
            identity: Identity { login: Some(self.caller.arn.clone()), scopes: "not reported".to_string() },
            requests: self.hosts.requests(),
            retries: self.hosts.retries(),
            revalidated: 0,
            taken_over: None,
            rate_limit: None,
            given_up: self.hosts.given_up(),
            paused_seconds: u64::try_from(self.hosts.paused().as_secs()).unwrap_or(0),
        }
    }
}
