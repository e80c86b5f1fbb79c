//! The workspace directory: two-step verification, administrators, account changes.
//!
//! The modules: `config` is the configuration section, `service_account` the credentials file, `assertion` the token
//! request signed with it, `access` the tokens, `dialect` the protocol, `calls` the list of calls, `wire` and `answer`
//! parse and classify answers, `api` makes the calls, `listing` holds what was read, `interpret` interprets it, `record`
//! defines the artifacts, `rules` judges them, `connect` is the connection test, `advice` its help, and `collect` the
//! collection. This file implements the source for the rest of the tool. The source only reads: its scopes permit
//! nothing else.

mod access;
mod advice;
mod answer;
mod api;
mod assertion;
mod calls;
mod collect;
pub mod config;
mod connect;
mod dialect;
mod interpret;
mod listing;
mod place;
mod scopes;
mod service_account;
mod session;
mod subject;
mod wire;

use evidence_bundle::document::{Identity, Warning};
use futures_util::future::{BoxFuture, join, join_all};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use self::calls::{ACTIVITIES, EVENTS};
use self::config::{AltCloudConfig, NAME};
use self::listing::Recorded;
use self::scopes::OAuthScope;
use self::session::AltCloudSession;
use self::wire::Activity;
use super::{
    CollectionItem, Configured, ConnectError, Plan, Session, SessionSummary, SourceKind, Surroundings,
    estimate,
};
use crate::env::Env;
use crate::observation::SourceName;
use crate::origin::{NamedBy, Origin};
use evidence_rules::altcloud::{TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG};
use evidence_rules::rule::Rule;
use evidence_text::saturating_u64;

/// This source.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    judged: &evidence_rules::altcloud::RULES,
    calls: calls::CALLS,
    page: place::page,
    remedy: crate::source::place::no_remedy,
    decode: config::decode,
};

fn api_url(config: &AltCloudConfig) -> String {
    config.api_url.as_str().trim_end_matches('/').to_string()
}

impl Configured for AltCloudConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        vec![
            ("customer_id", self.customer_id.as_str().into()),
            ("domains", self.domains.clone().into()),
            ("admin_email", self.admin_email.as_str().into()),
            ("api_url", self.api_url.as_str().into()),
        ]
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        Ok(connect::account(self, env)?.account.secrets())
    }

    fn scope(&self) -> super::Scope {
        super::Scope {
            source: NAME,
            organization: Some(self.organization().to_string()),
            kind: collect::USER,
            subject: self.organization().to_string(),
            api_url: api_url(self),
            rules: self.rules.clone(),
        }
    }

    fn origins(&self, env: &Env) -> Vec<Origin> {
        let variable = &self.credentials_env;
        let origin =
            |url, named_by| Origin { sender: NAME.id(), url, variables: vec![variable.clone()], named_by };
        let exchange = connect::account(self, env).ok().map(|loaded| {
            let named_by = NamedBy {
                key: "sources.altcloud.credentials_env",
                file: format!("the credentials file in {variable}"),
                own: &service_account::OWN_HOSTS,
            };
            origin(loaded.account.token_uri, Some(named_by))
        });
        exchange.into_iter().chain([origin(self.api_url.clone(), None)]).collect()
    }

    fn connect<'a>(&'a self, run: &'a Surroundings) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}

impl Session for AltCloudSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn organization(&self) -> &str {
        self.config.organization()
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn identity(&self) -> String {
        connect::identity(&self.config, self.access.account(), &self.scopes)
    }

    /// Only a page names the next one, so counting requires reading everything but the log.
    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        async move {
            let mut plan = Plan { requests_per_minute: connect::REQUESTS_PER_MINUTE, ..Plan::default() };
            let users = self.users().await;
            interpret::plan_gaps(&mut plan, users.gaps());
            if self.config.wants(&TWO_STEP_VERIFICATION) {
                plan.artifacts.push(("two-step verification", 1));
            }
            let administrators = self.administrators();
            let events = self.config.wants(&USER_LIFECYCLE_LOG);
            let firsts = async {
                let asked =
                    EVENTS.iter().filter(|_| events && self.refused::<()>(OAuthScope::Reports).is_none());
                join_all(asked.map(|event| async move { (*event, self.first_event(event).await) })).await
            };
            let (administrators, firsts) = join(administrators, firsts).await;
            if let Some((roles, assignments)) = administrators {
                plan.artifacts.push(("administrator roles", 1));
                let of_roles = [
                    interpret::gap(interpret::ROLES, &roles),
                    interpret::gap(interpret::ASSIGNMENTS, &assignments),
                ];
                interpret::plan_gaps(&mut plan, of_roles.into_iter().flatten());
            }
            if events {
                plan.artifacts.push(("user lifecycle", 1));
                let log = self.refused::<Activity>(OAuthScope::Reports);
                let gap = log.as_ref().and_then(|log| interpret::gap("the log of account changes", log));
                interpret::plan_gaps(&mut plan, gap);
            }
            let of_events = firsts.iter().filter_map(|(event, first)| {
                Some((interpret::events_of(event), first.0.as_ref().err()?, first.1.as_slice()))
            });
            interpret::plan_gaps(&mut plan, of_events);
            let goes_on = |(_, first): &&(_, Recorded<Activity>)| {
                first.0.as_ref().is_ok_and(|page| page.value.next.is_some())
            };
            let longer = saturating_u64(firsts.iter().filter(goes_on).count());
            // A collection repeats these requests and adds those for the rest of the log.
            let (requests, retries) = self.access.requests();
            let made = requests.saturating_sub(retries);
            plan.requests_minimum = made.saturating_add(longer);
            plan.requests_maximum =
                made.saturating_add(longer.saturating_mul(ACTIVITIES.pages.saturating_sub(1)));
            let users = saturating_u64(users.all().len());
            plan.estimated_bytes =
                estimate::DOCUMENTS + estimate::DIRECTORY + users * estimate::DIRECTORY_USER;
            Ok(plan)
        }
        .boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        stream::once(self.found()).flat_map(stream::iter).boxed()
    }

    fn account(&self) -> SessionSummary {
        let (requests, retries) = self.access.requests();
        SessionSummary {
            api_url: api_url(&self.config),
            identity: Identity {
                login: Some(self.access.account().email.clone()),
                id: None,
                scopes: scopes::names(&self.scopes),
            },
            requests,
            retries,
            revalidated: 0,
            taken_over: None,
            // The provider reports a limit only when it is exceeded, and then the wait is short.
            rate_limit: None,
            given_up: self.access.given_up(),
            paused_seconds: u64::try_from(self.access.paused().as_secs()).unwrap_or(0),
        }
    }
}
