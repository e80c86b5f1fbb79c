//! The provider's calls: a client for each host, and the parameters of each call. `interpret` interprets the answers.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

use super::calls::{
    ASSUME_ROLE, Action, DESCRIBE_LOG_GROUPS, DESCRIBE_REGIONS, DESCRIBE_TRAILS, GET_ACCOUNT_PASSWORD_POLICY,
    GET_ACCOUNT_SUMMARY, GET_CALLER_IDENTITY, GET_EVENT_SELECTORS, GET_TRAIL_STATUS, PAGE_SIZE,
};
use super::config::NAME;
use super::config::{AssumedRole, CloudConfig};
use super::dialect::{CloudDialect, Skew};
use super::endpoint::{Protocol, Region, Service, ServiceEndpoint};
use super::login::{Login, Renewal};
use super::sign::Credentials;
use super::subject;
use super::wire::{Caller, LogGroupPage, RoleLogin};
use crate::report::SourceWatch;
use crate::source::Surroundings;
use evidence_http::{Answered, CallError, Client, ClientSettings, GivenUp, Proxy};
use evidence_rules::cloud::record::{AccountSummary, EventSelectors, PasswordPolicy, Trail, TrailStatus};

/// The maximum number of requests in flight per host. The provider allows five to ten such calls per second.
const MAXIMUM_CONCURRENCY: usize = 5;

/// The header that names the action of a JSON call.
const X_AMZ_TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// The session name of the role in the provider's own logs.
const SESSION_NAME: &str = "evidence";

/// A host: one service at one address.
pub(super) struct Host {
    client: Client,
    login: Arc<Login>,
    endpoint: ServiceEndpoint,
    region: Region,
    account: Arc<OnceLock<String>>,
}

/// When a run began.
#[derive(Debug, Clone, Copy)]
struct Began {
    at: Timestamp,
    /// Whether the time was given, and so does not depend on this machine's clock.
    is_fixed: bool,
}

/// The hosts of one run, each created on first use. Each has its own gate, so that a refusal in one region does not
/// block the others.
pub(super) struct Hosts {
    first: Arc<Host>,
    login: Arc<Login>,
    skew: Arc<Skew>,
    began: Began,
    address: Option<url::Url>,
    /// The account, once it is known.
    account: Arc<OnceLock<String>>,
    others: Mutex<HashMap<(Service, Region), Arc<Host>>>,
}

impl Hosts {
    /// The hosts for `config`, called with `credentials`. `home` is the region for STS.
    ///
    /// # Errors
    ///
    /// Fails with a message if TLS cannot be set up.
    pub(super) fn new(
        config: &CloudConfig,
        home: &Region,
        credentials: Credentials,
        surroundings: &Surroundings,
    ) -> Result<Hosts, String> {
        let settings = ClientSettings {
            timeout: config.timeout,
            max_concurrency: NonZeroUsize::new(MAXIMUM_CONCURRENCY).unwrap_or(NonZeroUsize::MIN),
            proxy: Proxy::from_env(&surroundings.env),
            plain: config.endpoint_url.as_ref().is_some_and(|url| url.scheme() == "http"),
            ..ClientSettings::default()
        };
        let (address, skew) = (config.endpoint_url.clone(), Arc::<Skew>::default());
        let endpoint = ServiceEndpoint::new(Service::Sts, home, address.as_ref())
            .ok_or_else(|| format!("the address of {home} is not known"))?;
        let login = Arc::new(Login::new(credentials, None));
        let dialect =
            CloudDialect { login: Arc::clone(&login), endpoint: endpoint.clone(), skew: Arc::clone(&skew) };
        let clock = surroundings.env.clock.clone();
        let watch = SourceWatch::new(NAME, &surroundings.reporter);
        let client = Client::new(settings, Arc::new(dialect), clock, watch)?;
        let account = Arc::<OnceLock<String>>::default();
        let (first_login, first_account) = (Arc::clone(&login), Arc::clone(&account));
        let first =
            Host { client, login: first_login, endpoint, region: home.clone(), account: first_account };
        let env = &surroundings.env;
        let began = Began { at: env.started(), is_fixed: env.is_reproducible() };
        Ok(Hosts { first: Arc::new(first), login, skew, began, address, account, others: Mutex::default() })
    }

    /// The same hosts, called with the role's temporary credentials, which are renewed before they expire.
    pub(super) async fn assume(
        &self,
        role: &AssumedRole,
        surroundings: &Surroundings,
    ) -> Result<Hosts, CallError> {
        let credentials = self.first.assume_role(role).await?.value.credentials;
        surroundings.screen.learn(credentials.secrets());
        let (sts, role) = (Arc::clone(&self.first), role.clone());
        let ask = move || {
            let (sts, role) = (Arc::clone(&sts), role.clone());
            async move { Ok(sts.assume_role(&role).await?.value.credentials) }.boxed()
        };
        let (skew, clock) = (Arc::clone(&self.skew), surroundings.env.clock.clone());
        let now = move || clock.now().as_second().saturating_add(skew.seconds());
        let screen = Arc::clone(&surroundings.screen);
        let renewal = Renewal { ask: Box::new(ask), now: Box::new(now), screen };
        let login = Arc::new(Login::new(credentials, Some(renewal)));
        let account = Arc::default();
        let first = Arc::new(self.sibling(&login, &account, &self.first.endpoint, &self.first.region));
        let (skew, address) = (Arc::clone(&self.skew), self.address.clone());
        Ok(Hosts { first, login, skew, began: self.began, address, account, others: Mutex::default() })
    }

    /// Says which account the credentials belong to: from now on, answers about others are refused.
    pub(super) fn belong_to(&self, account: &str) {
        self.account.get_or_init(|| account.to_string());
    }

    /// A host with its own gate, whose requests count towards the total.
    fn sibling(
        &self,
        login: &Arc<Login>,
        account: &Arc<OnceLock<String>>,
        endpoint: &ServiceEndpoint,
        region: &Region,
    ) -> Host {
        let (login, endpoint, skew) = (Arc::clone(login), endpoint.clone(), Arc::clone(&self.skew));
        let dialect = CloudDialect { login: Arc::clone(&login), endpoint: endpoint.clone(), skew };
        let client = self.first.client.sibling(Arc::new(dialect));
        Host { client, login, endpoint, region: region.clone(), account: Arc::clone(account) }
    }

    /// The STS host, which identifies the credentials.
    pub(super) fn sts(&self) -> &Host {
        &self.first
    }

    /// The host of a service in a region; `None` if its address is not known.
    pub(super) fn host(&self, service: Service, region: &Region) -> Option<Arc<Host>> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = others.get(&(service, region.clone())) {
            return Some(Arc::clone(host));
        }
        let endpoint = ServiceEndpoint::new(service, region, self.address.as_ref())?;
        let host = Arc::new(self.sibling(&self.login, &self.account, &endpoint, region));
        others.insert((service, region.clone()), Arc::clone(&host));
        Some(host)
    }

    /// The address of the first host.
    pub(super) fn address(&self) -> String {
        self.first.endpoint.url.as_str().trim_end_matches('/').to_string()
    }

    /// The number of requests sent so far, retries included.
    pub(super) fn requests(&self) -> u64 {
        self.first.client.requests()
    }

    /// The number of retries.
    pub(super) fn retries(&self) -> u64 {
        self.first.client.retries()
    }

    /// The calls that were given up.
    pub(super) fn given_up(&self) -> Vec<GivenUp> {
        self.first.client.given_up()
    }

    /// The longest time that limits held back the requests to one host: hosts wait concurrently.
    pub(super) fn paused(&self) -> SignedDuration {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let paused = others.values().map(|host| host.client.paused());
        paused.chain([self.first.client.paused()]).max().unwrap_or(SignedDuration::ZERO)
    }

    /// When the run began, from which ages count: by the provider's clock, as far as it is known to differ.
    pub(super) fn began(&self) -> Timestamp {
        let Began { at, is_fixed } = self.began;
        let skew = SignedDuration::from_secs(if is_fixed { 0 } else { self.skew() });
        at.checked_add(skew).unwrap_or(at)
    }

    /// How many seconds this machine's clock is behind the provider's, if a refusal revealed it; else 0.
    pub(super) fn skew(&self) -> i64 {
        self.skew.seconds()
    }
}

impl Host {
    pub(super) async fn assume_role(&self, role: &AssumedRole) -> Result<Answered<RoleLogin>, CallError> {
        let mut question = vec![
            ("RoleArn", Value::from(role.arn.as_str())),
            ("RoleSessionName", Value::from(SESSION_NAME)),
            ("DurationSeconds", Value::from(role.duration)),
        ];
        question.extend(role.external_id.as_deref().map(|id| ("ExternalId", Value::from(id))));
        self.ask(&ASSUME_ROLE, &question, Some(&role.arn)).await
    }

    pub(super) async fn caller_identity(&self) -> Result<Answered<Caller>, CallError> {
        self.ask(&GET_CALLER_IDENTITY, &[], None).await
    }

    pub(super) async fn password_policy(&self) -> Result<Answered<PasswordPolicy>, CallError> {
        self.ask(&GET_ACCOUNT_PASSWORD_POLICY, &[], None).await
    }

    pub(super) async fn account_summary(&self) -> Result<Answered<AccountSummary>, CallError> {
        self.ask(&GET_ACCOUNT_SUMMARY, &[], None).await
    }

    pub(super) async fn regions(&self) -> Result<Answered<Vec<Region>>, CallError> {
        self.ask(&DESCRIBE_REGIONS, &[], None).await
    }

    /// The trails that the region shows, including those of other home regions. Otherwise an account whose only trail
    /// is at home in an unconfigured region would seem to have none.
    pub(super) async fn trails(&self) -> Result<Answered<Vec<Trail>>, CallError> {
        let question = [("includeShadowTrails", Value::Bool(true))];
        self.ask(&DESCRIBE_TRAILS, &question, None).await
    }

    pub(super) async fn trail_status(&self, trail: &str) -> Result<Answered<TrailStatus>, CallError> {
        let question = [("Name", Value::from(trail))];
        self.ask(&GET_TRAIL_STATUS, &question, Some(trail)).await
    }

    pub(super) async fn event_selectors(&self, trail: &str) -> Result<Answered<EventSelectors>, CallError> {
        let question = [("TrailName", Value::from(trail))];
        self.ask(&GET_EVENT_SELECTORS, &question, Some(trail)).await
    }

    /// A page of the log groups with this name prefix: the first page, or the one for `token`.
    pub(super) async fn log_groups(
        &self,
        beginning: Option<&str>,
        token: Option<&str>,
    ) -> Result<Answered<LogGroupPage>, CallError> {
        let mut question = vec![("limit", Value::from(PAGE_SIZE))];
        question.extend(beginning.map(|beginning| ("logGroupNamePrefix", Value::from(beginning))));
        question.extend(token.map(|token| ("nextToken", Value::from(token))));
        self.ask(&DESCRIBE_LOG_GROUPS, &question, None).await
    }

    /// Makes a call about `subject`, or else about the account and the region.
    async fn ask<T>(
        &self,
        action: &Action<T>,
        question: &[(&str, Value)],
        subject: Option<&str>,
    ) -> Result<Answered<T>, CallError> {
        self.login.renew().await?;
        let label = match action.is_regional() {
            true => format!("{} {}", action.permission(), self.region),
            false => action.permission().to_string(),
        };
        let url = self.endpoint.url.clone();
        let mut request = match action.service.protocol() {
            Protocol::Query { version } => {
                let mut form = Serializer::new(String::new());
                form.append_pair("Action", action.name())
                    .append_pair("Version", version)
                    .extend_pairs(question.iter().map(|(name, value)| (name, plain(value))));
                action.call.post(url, label, form.finish().into_bytes())
            }
            Protocol::Json { target } => {
                let members = question.iter().map(|(name, value)| ((*name).to_string(), value.clone()));
                let body = Value::Object(members.collect::<Map<_, _>>()).to_string();
                let target = HeaderValue::try_from(format!("{target}.{}", action.name()));
                let mut request = action.call.post(url, label, body.into_bytes());
                request.headers.extend(target.ok().map(|target| (X_AMZ_TARGET, target)));
                request
            }
        };
        let region = || Some(subject::of_region(self.account.get()?, self.region.as_str()));
        request.subject = subject.map(str::to_string).or_else(region);
        self.client.ask(&request, &action.call).await
    }
}

/// A value in form encoding.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
