//! The workspace directory: two-step verification, administrators, account changes.
//!
//! `host` is the provider, `users` the population, `topics` what else is read, `names` what may be configured. The stages
//! are functions: `connect` is the connection test with what `sign_in` finds and the help in `advice`, `plan` the dry run, `collect` the collection.
//! This file implements the source for the rest of the tool. The source only reads: its scopes permit nothing else.

mod advice;
mod collect;
pub mod config;
mod connect;
pub(crate) mod host;
mod names;
mod observe;
mod place;
mod plan;
mod session;
mod sign_in;
mod topic;
mod topics;
mod users;

use evidence_bundle::document::{Identity, Warning};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

use self::config::AltCloudConfig;
use self::host::credentials_file::Loaded;
use self::host::federation::{self, TokenPlace};
use self::host::identity::Identity as Asking;
use self::host::scopes;
use self::host::service_account::{self, SignIn, Signer};
use self::names::{NAME, USER};
use self::session::AltCloudSession;
use super::{CollectionItem, ConnectError, Plan, RunContext, Session, SessionSummary, Source, SourceKind};
use crate::env::Env;
use crate::observation::SourceName;
use crate::origin::{NamedBy, Origin};
use evidence_rules::rule::Rule;

/// This source.
pub static KIND: SourceKind = SourceKind {
    name: NAME,
    judged: &evidence_rules::altcloud::RULES,
    calls: topics::CALLS,
    page: place::page,
    remedy: crate::source::place::no_remedy,
    decode: config::decode,
};

/// What is sent for the identity attached to the machine, in the place of a variable.
const ATTACHED: &str = "the attached identity";

fn api_url(config: &AltCloudConfig) -> String {
    config.api_url.as_str().trim_end_matches('/').to_string()
}

impl Source for AltCloudConfig {
    fn kind(&self) -> &'static SourceKind {
        &KIND
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    fn settings(&self, _env: &Env) -> Vec<(&'static str, Value)> {
        let mut settings = vec![
            ("customer_id", self.customer_id.as_str().into()),
            ("domains", self.domains.clone().into()),
            ("admin_email", self.admin_email.as_str().into()),
            ("api_url", self.api_url.as_str().into()),
        ];
        if let Some(keyless) = &self.keyless {
            settings.push(("service_account", keyless.service_account.as_str().into()));
        }
        if self.reads_policies() {
            settings.push(("cloud_identity_url", self.cloud_identity_url.as_str().into()));
        }
        settings
    }

    fn credentials(&self, env: &Env) -> Result<Vec<String>, ConnectError> {
        Ok(sign_in::find(self, env)?.value.secrets())
    }

    fn scope(&self) -> super::Scope {
        super::Scope {
            source: NAME,
            organization: Some(self.organization().to_string()),
            kind: USER,
            subject: self.organization().to_string(),
            api_url: api_url(self),
            rules: self.rules.clone(),
        }
    }

    fn origins(&self, env: &Env) -> Vec<Origin> {
        let variable = self.credentials_json_env.as_ref().unwrap_or(&self.credentials_env);
        let is_attached = self.keyless.as_ref().is_some_and(|keyless| !keyless.federated);
        let sent = if is_attached { ATTACHED } else { variable.as_str() };
        let origin =
            |url, named_by| Origin { sender: NAME.id(), url, variables: vec![sent.to_string()], named_by };
        let named_by = |own| NamedBy {
            key: match self.credentials_json_env {
                Some(_) => "sources.altcloud.credentials_json_env",
                None => "sources.altcloud.credentials_env",
            },
            file: format!("the credentials file in {variable}"),
            own,
        };
        let mut origins = Vec::new();
        if let Ok(Loaded { value: SignIn { account, signer }, .. }) = sign_in::find(self, env) {
            match signer {
                Signer::Key(_) => {
                    origins.push(origin(account.token_uri, Some(named_by(&service_account::OWN_HOSTS))));
                }
                Signer::Provider(iam_url, identity) => {
                    if let Asking::Federated(federation) = identity {
                        let own = Some(named_by(&federation::OWN_HOSTS));
                        if let TokenPlace::Address(url, _) = federation.place {
                            origins.push(origin(url, None));
                        }
                        origins.push(origin(federation.token_url, own));
                    }
                    origins.extend([iam_url, account.token_uri].map(|url| origin(url, None)));
                }
            }
        }
        origins.push(origin(self.api_url.clone(), None));
        origins.extend(self.reads_policies().then(|| origin(self.cloud_identity_url.clone(), None)));
        origins
    }

    fn connect<'a>(&'a self, run: &'a RunContext) -> BoxFuture<'a, Result<Box<dyn Session>, ConnectError>> {
        async move { Ok(Box::new(connect::connect(self.clone(), run).await?) as Box<dyn Session>) }.boxed()
    }
}

impl Session for AltCloudSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.host.config.rules
    }

    fn organization(&self) -> &str {
        self.host.config.organization()
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn identity(&self) -> String {
        connect::identity(&self.host.config, &self.host.access, &self.host.scopes)
    }

    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        plan::plan(self).map(Ok).boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        stream::once(collect::collect(self)).flat_map(stream::iter).boxed()
    }

    fn account(&self) -> SessionSummary {
        let (requests, retries) = self.host.access.requests();
        SessionSummary {
            api_url: api_url(&self.host.config),
            identity: Identity {
                login: Some(self.host.access.account().email.clone()),
                id: None,
                scopes: scopes::names(&self.host.scopes),
                app: None,
            },
            requests,
            retries,
            revalidated: 0,
            resumed: None,
            // The provider reports a limit only when it is exceeded, and then the wait is short.
            rate_limit: None,
            bulk: None,
            given_up: self.host.access.given_up(),
            paused_seconds: u64::try_from(self.host.access.paused().as_secs()).unwrap_or(0),
        }
    }
}
