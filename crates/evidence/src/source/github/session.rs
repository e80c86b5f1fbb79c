//! A code host that has passed the connection test, as the rest of the tool uses it.

use evidence_bundle::document::{Identity, Warning};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::account::granted;
use super::collect::collect;
use super::host::Host;
use super::host::bulk::Bulk;
use super::host::scopes::Scopes;
use super::names::NAME;
use super::plan::plan;
use super::preflight::Preflight;
use crate::forecast::Standings;
use crate::observation::SourceName;
use crate::source::{CollectionItem, ConnectError, Plan, Session, SessionSummary};
use evidence_http::cache::Cache;
use evidence_rules::rule::Rule;

/// See the module.
pub(super) struct CodeHostSession {
    pub(super) host: Host,
    pub(super) preflight: Preflight,
    pub(super) warnings: Vec<Warning>,
}

impl Session for CodeHostSession {
    fn name(&self) -> SourceName {
        NAME
    }

    fn rules(&self) -> &[&'static Rule] {
        &self.host.config.rules
    }

    fn organization(&self) -> &str {
        &self.host.config.org
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn identity(&self) -> String {
        if let Some(app) = &self.host.app {
            let name = app.slug.as_deref().map_or_else(|| app.app_id.to_string(), str::to_string);
            return format!("app {name}, installation {}, permissions {}", app.installation_id, granted(app));
        }
        match &self.host.scopes {
            Scopes::Classic(_) => format!("{}, scopes {}", self.host.token_kind, self.host.scopes.text()),
            Scopes::None => format!("{} without scopes", self.host.token_kind),
            Scopes::NotReported => format!("{}, permissions not reported", self.host.token_kind),
        }
    }

    fn plan(&self) -> BoxFuture<'_, Result<Plan, ConnectError>> {
        plan(&self.host, &self.preflight).boxed()
    }

    fn collect(&self) -> BoxStream<'_, CollectionItem> {
        collect(&self.host, &self.preflight)
    }

    fn account(&self) -> SessionSummary {
        let host = &self.host;
        let identity = match &host.app {
            Some(app) => Identity {
                login: app.slug.clone(),
                id: Some(app.installation_id.to_string()),
                scopes: granted(app),
                app: Some(app.clone()),
            },
            None => Identity {
                login: host.user.as_ref().map(|user| user.login.clone()),
                id: host.user.as_ref().map(|user| user.id.to_string()),
                scopes: host.scopes.text(),
                app: None,
            },
        };
        SessionSummary {
            api_url: host.config.api_url.as_str().trim_end_matches('/').to_string(),
            identity,
            requests: host.client.requests(),
            retries: host.client.retries(),
            revalidated: host.client.revalidated(),
            resumed: host
                .client
                .cache()
                .and_then(Cache::resumed_run)
                .map(|began| (host.client.resumed(), began)),
            rate_limit: host.rate_limit(),
            bulk: host.bulk.as_ref().map(Bulk::record),
            given_up: host.client.given_up(),
            paused_seconds: u64::try_from(host.client.paused().as_secs()).unwrap_or(0),
        }
    }

    fn standings(&self) -> Option<Standings> {
        Some(self.host.standings())
    }

    fn collected(&self) {
        self.host.client.cache().inspect(|cache| cache.close());
    }

    fn delivered(&self) {
        self.host.client.cache().inspect(|cache| cache.finish());
    }
}
