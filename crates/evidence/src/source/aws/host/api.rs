//! A client for each of the provider's hosts. `refusal` interprets the answers.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

use super::action::{Action, Question};
use super::compare;
use super::dialect::{CloudDialect, Skew};
use super::endpoint::{Protocol, Region, Service, ServiceEndpoint};
use super::login::Login;
use super::sign::Credentials;
use crate::env::Clock;
use crate::report::SourceWatch;
use crate::source::RunContext;
use crate::source::aws::config::CloudConfig;
use crate::source::aws::names::NAME;
use evidence_http::call::encoded;
use evidence_http::{Answered, CallError, Client, ClientSettings, GivenUp, Proxy, Request};

/// The maximum number of requests in flight per host. The provider allows five to ten such calls per second.
const MAXIMUM_CONCURRENCY: usize = 5;

/// The header that names the action of a JSON call.
const X_AMZ_TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// The header that names the account of a call about all its buckets.
const X_AMZ_ACCOUNT_ID: HeaderName = HeaderName::from_static("x-amz-account-id");

/// A host: one service at one address.
pub(crate) struct Host {
    client: Client,
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
pub(crate) struct Hosts {
    first: Arc<Host>,
    /// What signs; nothing before the run has signed in.
    login: Option<Arc<Login>>,
    skew: Arc<Skew>,
    began: Began,
    address: Option<url::Url>,
    /// The account, once it is known.
    account: Arc<OnceLock<String>>,
    others: Mutex<HashMap<(Service, Region), Arc<Host>>>,
    clock: Clock,
}

impl Hosts {
    /// The hosts for `config`, called with `credentials`, or without any by those who sign in otherwise. `home` is the
    /// region for STS.
    ///
    /// # Errors
    ///
    /// Fails with a message if TLS cannot be set up.
    pub(crate) fn new(
        config: &CloudConfig,
        home: &Region,
        credentials: Option<Credentials>,
        surroundings: &RunContext,
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
        let login = credentials.map(|credentials| Arc::new(Login::fixed(credentials)));
        let dialect = Arc::new(CloudDialect {
            login: login.clone(),
            endpoint: endpoint.clone(),
            skew: Arc::clone(&skew),
        });
        let clock = surroundings.env.clock.clone();
        let watch = SourceWatch::new(NAME, &surroundings.reporter);
        let client = Client::new(settings, dialect.clone(), dialect, clock.clone(), watch)?;
        let account = Arc::<OnceLock<String>>::default();
        let first_account = Arc::clone(&account);
        let first = Host { client, endpoint, region: home.clone(), account: first_account };
        let env = &surroundings.env;
        let began = Began { at: env.started(), is_fixed: env.is_reproducible() };
        let first = Arc::new(first);
        Ok(Hosts { first, login, skew, began, address, account, others: Mutex::default(), clock })
    }

    /// The same hosts, called with other credentials.
    pub(super) fn with_login(&self, login: Login) -> Hosts {
        let (login, account) = (Some(Arc::new(login)), Arc::default());
        let first = Arc::new(self.sibling(&login, &account, &self.first.endpoint, &self.first.region));
        let (skew, address) = (Arc::clone(&self.skew), self.address.clone());
        let (began, clock) = (self.began, self.clock.clone());
        Hosts { first, login, skew, began, address, account, others: Mutex::default(), clock }
    }

    /// Says which account the credentials belong to: from now on, answers about others are refused.
    pub(crate) fn belong_to(&self, account: &str) {
        self.account.get_or_init(|| account.to_string());
    }

    /// A host with its own gate, whose requests count towards the total.
    fn sibling(
        &self,
        login: &Option<Arc<Login>>,
        account: &Arc<OnceLock<String>>,
        endpoint: &ServiceEndpoint,
        region: &Region,
    ) -> Host {
        let (login, endpoint, skew) = (login.clone(), endpoint.clone(), Arc::clone(&self.skew));
        let dialect = Arc::new(CloudDialect { login, endpoint: endpoint.clone(), skew });
        let client = self.first.client.sibling(dialect.clone(), dialect);
        Host { client, endpoint, region: region.clone(), account: Arc::clone(account) }
    }

    /// The STS host, which identifies the credentials.
    pub(super) fn sts(&self) -> &Arc<Host> {
        &self.first
    }

    /// The host of a service in a region; `None` if its address is not known.
    pub(crate) fn host(&self, service: Service, region: &Region) -> Option<Arc<Host>> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = others.get(&(service, region.clone())) {
            return Some(Arc::clone(host));
        }
        let mut endpoint = ServiceEndpoint::new(service, region, self.address.as_ref())?;
        if service == Service::S3Control && self.address.is_none() {
            endpoint = endpoint.of_account(self.account.get()?)?;
        }
        let host = Arc::new(self.sibling(&self.login, &self.account, &endpoint, region));
        others.insert((service, region.clone()), Arc::clone(&host));
        Some(host)
    }

    /// The address of the first host.
    pub(crate) fn address(&self) -> String {
        self.first.endpoint.url.as_str().trim_end_matches('/').to_string()
    }

    /// The number of requests sent so far, retries included.
    pub(crate) fn requests(&self) -> u64 {
        self.first.client.requests()
    }

    /// The number of retries.
    pub(crate) fn retries(&self) -> u64 {
        self.first.client.retries()
    }

    /// The calls that were given up.
    pub(crate) fn given_up(&self) -> Vec<GivenUp> {
        self.first.client.given_up()
    }

    /// The longest time that limits held back the requests to one host: hosts wait concurrently.
    pub(crate) fn paused(&self) -> SignedDuration {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let paused = others.values().map(|host| host.client.paused());
        paused.chain([self.first.client.paused()]).max().unwrap_or(SignedDuration::ZERO)
    }

    /// When the run began, from which ages count: by the provider's clock, as far as it is known to differ.
    pub(crate) fn began(&self) -> Timestamp {
        let Began { at, is_fixed } = self.began;
        let skew = SignedDuration::from_secs(if is_fixed { 0 } else { self.skew() });
        at.checked_add(skew).unwrap_or(at)
    }

    /// Waits for the provider to finish what it began.
    pub(crate) async fn wait(&self, duration: SignedDuration) {
        let now = self.clock.now();
        self.clock.sleep_until(now.checked_add(duration).unwrap_or(now)).await;
    }

    /// The error of this machine's clock, as far as it is known.
    pub(super) fn shared_skew(&self) -> Arc<Skew> {
        Arc::clone(&self.skew)
    }

    /// How many seconds this machine's clock is behind the provider's, if a refusal revealed it; else 0.
    pub(crate) fn skew(&self) -> i64 {
        self.skew.seconds()
    }
}

impl Host {
    /// Makes a call about `subject`, or else about the account and the region.
    pub(crate) async fn ask<T: Send>(
        &self,
        action: &Action<T>,
        question: &[(&str, Value)],
        subject: Option<&str>,
    ) -> Result<Answered<T>, CallError> {
        let request = self.request(action.question(), question, subject);
        self.client.ask(&request, &action.call).await
    }

    fn request(&self, action: Question, question: &[(&str, Value)], subject: Option<&str>) -> Request {
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
            Protocol::Rest => self.get(action, &[], &question_of(question), &label),
        };
        let region = || Some(compare::of_region(self.account.get()?, self.region.as_str()));
        request.subject = subject.map(str::to_string).or_else(region);
        request
    }

    /// Makes a call whose question is an address: segments of the path, and a query. `about` names what it asks about, in
    /// the label too.
    pub(crate) async fn ask_at<T: Send>(
        &self,
        action: &Action<T>,
        path: &[&str],
        query: &[(&str, String)],
        about: &str,
    ) -> Result<Answered<T>, CallError> {
        let label = format!("{} {about}", action.permission());
        let mut request = self.get(action.question(), path, query, &label);
        request.subject = Some(about.to_string());
        self.client.ask(&request, &action.call).await
    }

    fn get(&self, action: Question, path: &[&str], query: &[(&str, String)], label: &str) -> Request {
        let base = &self.endpoint.url;
        let mut url = base.clone();
        if !path.is_empty()
            && let Ok(mut segments) = url.path_segments_mut()
        {
            segments.pop_if_empty().extend(path);
        }
        let pairs: Vec<String> = query
            .iter()
            .map(|(name, value)| match value.as_str() {
                "" => (*name).to_string(),
                value => format!("{name}={}", encoded(value)),
            })
            .collect();
        url.set_query((!pairs.is_empty()).then(|| pairs.join("&")).as_deref());
        let mut request = action.call.get_at(base, url);
        request.label = label.to_string();
        if action.service == Service::S3Control {
            let account = self.account.get().and_then(|account| HeaderValue::try_from(account).ok());
            request.headers.extend(account.map(|account| (X_AMZ_ACCOUNT_ID, account)));
        }
        request
    }
}

/// A question as the query of an address.
fn question_of<'a>(question: &[(&'a str, Value)]) -> Vec<(&'a str, String)> {
    question.iter().map(|(name, value)| (*name, plain(value))).collect()
}

/// A value in form encoding.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
