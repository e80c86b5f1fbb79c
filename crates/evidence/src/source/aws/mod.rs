//! The cloud provider: the account's password policy, audit trails and log retention.
//!
//! `host` is the provider, `topics` what is read, `names` what may be configured. The stages are functions: `connect` is
//! the connection test, `plan` the dry run, `collect` the collection. This file implements the source for the rest of the
//! tool.
//!
//! The source only gets and describes: it changes nothing in the account, and reads no event, log line or object in a
//! bucket.

mod account;
mod accounts;
mod collect;
pub mod config;
mod connect;
pub(crate) mod host;
mod names;
mod observe;
mod place;
mod plan;
mod session;
mod topic;
mod topics;

use evidence_bundle::document::{Identity, Warning};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;

use self::config::{AccountConfig, CloudConfig};
use self::host::endpoint::{Service, ServiceEndpoint};
use self::names::NAME;
use self::session::{AccountState, CloudSession};
use super::{
    CollectionItem, ConnectError, Plan, RunContext, Scope, Session, SessionSummary, Source, SourceKind,
};
use crate::env::Env;
use crate::observation::SourceName;
use crate::origin::Origin;
use evidence_rules::rule::Rule;

/// The static description of this source.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    judged: &evidence_rules::cloud::RULES,
    calls: topics::CALLS,
    page: place::page,
    remedy: place::remedy,
    decode: config::decode,
};

impl Source for CloudConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        let account = |account: &AccountConfig| {
            let own = [("role_arn", account.role.arn.as_str().into())];
            let all = own.into_iter().chain(account.scope.settings());
            Value::Object(all.map(|(name, value)| (name.to_string(), value)).collect())
        };
        let role = self.role.as_ref().map(|role| role.arn.clone());
        let mut settings = vec![("role_arn", role.into())];
        if let Some(organization) = &self.organization {
            settings.push(("role_name", organization.role_name.as_str().into()));
            settings.push(("exclude", organization.exclude.clone().into()));
        }
        // With `accounts`, each has its own settings.
        if self.accounts.is_empty() {
            settings.extend(self.scope.settings());
        } else {
            settings.push(("accounts", self.accounts.iter().map(account).collect()));
        }
        settings
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        match connect::provider(self, env)? {
            None => Ok(connect::credentials(self, env)?.secrets()),
            // The screen learns what it gives, when it gives it.
            Some(_) => Ok(Vec::new()),
        }
    }

    fn scope(&self) -> Scope {
        let role = self.role.as_ref();
        let account = role.and_then(|role| names::role_account(&role.arn));
        let address = |home| ServiceEndpoint::new(Service::Sts, home, self.endpoint_url.as_ref());
        let endpoint = self.home.as_ref().and_then(address);
        Scope {
            source: NAME,
            organization: account.map(str::to_string),
            kind: if self.wants_regions() { names::REGION } else { names::ACCOUNT },
            subject: account.unwrap_or(NAME.id()).to_string(),
            api_url: endpoint
                .map_or_else(String::new, |at| at.url.as_str().trim_end_matches('/').to_string()),
            rules: self.rules.clone(),
        }
    }

    fn origins(&self, env: &Env) -> Vec<Origin> {
        let CloudConfig { home, scope, accounts, endpoint_url, variables, .. } = self;
        let id = env.provider(&variables.access_key_id).unwrap_or_else(|| variables.access_key_id.clone());
        // The secret access key only signs.
        let sent: Vec<String> = match connect::provider(self, env) {
            Ok(Some(provider)) => vec![provider.holder().to_string()],
            Ok(None) | Err(_) => std::iter::once(id).chain(env.provider(&variables.session_token)).collect(),
        };
        let of_accounts = || accounts.iter().flat_map(|account| &account.scope.regions);
        let at = |service| {
            home.iter()
                .chain(&scope.regions)
                .chain(of_accounts())
                .filter_map(move |region| ServiceEndpoint::new(service, region, endpoint_url.as_ref()))
        };
        let asked = Service::ALL.into_iter().filter(|service| self.may_ask(*service));
        let endpoints = asked.flat_map(at);
        let origin = |endpoint: ServiceEndpoint| Origin {
            sender: NAME.id(),
            url: endpoint.url,
            variables: sent.clone(),
            named_by: None,
        };
        endpoints.map(origin).collect()
    }

    fn connect<'a>(&'a self, run: &'a RunContext) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}

impl Session for CloudSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.config.rules
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

    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        plan::plan(self).map(Ok).boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        collect::collect(self)
    }

    fn account(&self) -> SessionSummary {
        let of_accounts = self.accounts.iter().filter_map(AccountState::account);
        let of_accounts = of_accounts.map(|account| account.hosts.paused());
        let paused = of_accounts.chain([self.hosts.paused()]).max().unwrap_or_default();
        SessionSummary {
            api_url: self.hosts.address(),
            identity: Identity {
                login: Some(self.caller.arn.clone()),
                id: None,
                scopes: "not reported".to_string(),
                app: None,
            },
            requests: self.hosts.requests(),
            retries: self.hosts.retries(),
            revalidated: 0,
            resumed: None,
            rate_limit: None,
            given_up: self.hosts.given_up(),
            paused_seconds: u64::try_from(paused.as_secs()).unwrap_or(0),
        }
    }
}
