//! The connection test: finds the credentials, identifies them, and determines their permissions.
//!
//! Identification comes first, so that wrong credentials cause one clear error. Then every topic makes each call that does
//! not depend on another answer, for each configured account. The collection reuses these answers as evidence.

use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::future::{BoxFuture, join, join_all};
use futures_util::stream;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::OnceCell;

use super::account::Account;
use super::accounts;
use super::accounts::OrganizationAccounts;
use super::config::{AccountConfig, AssumedRole, CloudConfig, OrganizationSettings, REGION_VARIABLE};
use super::host::action::Action;
use super::host::answer::is_unknown_key;
use super::host::api::Hosts;
use super::host::endpoint::Region;
use super::host::provider::{self, Provider};
use super::host::refusal::words;
use super::host::sign::{ACCESS_KEY_ID, CredentialError, Credentials, SECRET_ACCESS_KEY, SESSION_TOKEN};
use super::host::sts::{self, ASSUME_ROLE, Caller, GET_CALLER_IDENTITY};
use super::names::NAME;
use super::observe::warning;
use super::session::{ACCOUNTS_AT_ONCE, AccountState, CloudSession, OpenAccount};
use super::topics;
use crate::clock;
use crate::credential;
use crate::env::Env;
use crate::observation::Failed;
use crate::source::{ConnectError, ConnectErrorKind, RunContext};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{
    Answered, CallError, FailureKind, HelpTarget, PermanentFailure, Refused, RequestFailure, recorded,
};
use evidence_os::secret::how_to_set;
use evidence_rules::cloud::reason::ROLE_NOT_ASSUMED;
use evidence_rules::rule::reason;

/// The credentials in the configured variables.
pub(super) fn credentials(config: &CloudConfig, env: &Env) -> Result<Credentials, ConnectError> {
    let variables = &config.variables;
    let optional =
        |name: &str| env.secret(name).map_err(|error| connection(error.to_string(), vec![error.help()]));
    let required = |name: &str, what: &str, key: &str, usual: &str| {
        optional(name)?.ok_or_else(|| {
            let export = how_to_set(name, "value");
            let is_set = name != usual && env.provider(usual).is_some();
            let use_it = is_set.then(|| {
                format!("{usual} is set but not read: to use it, write `{key}: {usual}` in sources.cloud")
            });
            let set = format!("{export}, or name another variable as sources.cloud.{key}");
            connection(
                format!("the {what} is missing: the environment variable {name} is not set"),
                use_it.into_iter().chain(provider::noticed(env)).chain([set]).collect(),
            )
        })
    };
    let id = required(&variables.access_key_id, "access key id", "access_key_id_env", "AWS_ACCESS_KEY_ID")?;
    let key = required(
        &variables.secret_access_key,
        "secret access key",
        "secret_access_key_env",
        "AWS_SECRET_ACCESS_KEY",
    )?;
    let session = optional(&variables.session_token)?;
    let others = session.iter().map(|session| (&**session, &SESSION_TOKEN));
    for (secret, expected) in [(&*id, &ACCESS_KEY_ID), (&*key, &SECRET_ACCESS_KEY)].into_iter().chain(others)
    {
        if let Some((message, help)) = credential::refusal(secret, expected) {
            return Err(connection(message, help));
        }
    }
    let token = session.as_ref().map(|secret| secret.text());
    Credentials::new(id.text(), key.text(), token).map_err(|error| {
        let secret = match error {
            CredentialError::AccessKeyId => Some(&id),
            CredentialError::SecretAccessKey => Some(&key),
            CredentialError::SessionToken => session.as_ref(),
        };
        let place = secret.map(|secret| secret.place());
        connection(
            place.map_or_else(|| error.to_string(), |place| format!("{place} has an invalid value: {error}")),
            place.map(|place| place.advice("the value alone, on one line")).into_iter().collect(),
        )
    })
}

/// The place that the credentials come from, if not from the configured variables.
pub(super) fn provider(config: &CloudConfig, env: &Env) -> Result<Option<Provider>, ConnectError> {
    provider::find(&config.mode, config.duration, env).map_err(|(message, help)| connection(message, help))
}

/// Identifies the credentials, then opens every configured account.
pub(super) async fn connect(
    config: CloudConfig,
    surroundings: &RunContext,
) -> Result<CloudSession, ConnectError> {
    let provider = provider(&config, &surroundings.env)?;
    let credentials = match &provider {
        None => Some(credentials(&config, &surroundings.env)?),
        Some(_) => None,
    };
    let home = config.home.clone().ok_or_else(|| {
        connection(
            format!(
                "no region: neither `region` nor `regions` is configured, and {REGION_VARIABLE} is not set"
            ),
            noticed_region(&surroundings.env)
                .into_iter()
                .chain([format!("export {REGION_VARIABLE}=eu-central-1, or set sources.cloud.region")])
                .collect(),
        )
    })?;
    let temporary = credentials.as_ref().is_some_and(|found| found.is_temporary() && !found.has_token());
    let test = Test { config: &config, provider: provider.as_ref().map(Provider::shown), temporary };
    let own = Hosts::new(&config, &home, credentials, surroundings).map_err(|text| ConnectError {
        kind: ConnectErrorKind::Configuration,
        ..connection(text, Vec::new())
    })?;
    let own = match provider {
        None => own,
        Some(provider) => test.sign_in(provider, own, surroundings).await?,
    };
    let hosts = match &config.role {
        Some(role) => test.assume(&own, role, surroundings).await,
        None => Ok(own),
    };
    let hosts = hosts?;
    let caller = test.caller(&hosts).await;
    let Answered { value: caller, meta } =
        caller.map_err(|error| error.after(hosts.requests(), hosts.retries()))?;
    hosts.belong_to(&caller.account);
    let (mut config, hosts) = (config, Arc::new(hosts));
    let region = home.clone();
    let listed = match &config.organization {
        None => None,
        Some(settings) => {
            let listed = accounts::list(&hosts, &region).await;
            let accounts = of_organization(settings, &listed, &config, &home);
            let accounts = accounts.map_err(|error| error.after(hosts.requests(), hosts.retries()))?;
            config.accounts = accounts;
            Some(listed)
        }
    };
    let config = Arc::new(config);
    let organization = async {
        match listed {
            Some(listed) => listed,
            None => accounts::list(&hosts, &region).await,
        }
    };
    let accounts = async {
        if config.accounts.is_empty() {
            let account = Account {
                config: Arc::clone(&config),
                scope: config.scope.clone(),
                hosts: Arc::clone(&hosts),
                home,
                number: caller.account.clone(),
                folder: String::new(),
                label: String::new(),
                summary: OnceCell::new(),
            };
            vec![open(account).await]
        } else {
            let opened = config.accounts.iter();
            let opened = opened.map(|account| assume(&config, account, &hosts, &home, surroundings).boxed());
            let opened: Vec<BoxFuture<'_, AccountState>> = opened.collect();
            stream::iter(opened).buffered(ACCOUNTS_AT_ONCE).collect().await
        }
    };
    let (accounts, organization) = join(accounts, organization).await;
    let skewed = skewed(&hosts, &caller.account).or_else(|| clock::skewed(&meta, NAME, &caller.account));
    let mut warnings: Vec<Warning> = skewed.into_iter().collect();
    for state in &accounts {
        if let AccountState::Open(open) = state {
            warn(open, &mut warnings);
        }
    }
    Ok(CloudSession { config, hosts, caller, accounts, organization, warnings })
}

/// The active accounts of the organization, without those that the configuration excludes.
fn of_organization(
    settings: &OrganizationSettings,
    listed: &OrganizationAccounts,
    config: &CloudConfig,
    home: &Region,
) -> Result<Vec<AccountConfig>, ConnectError> {
    let failed = |message: String| {
        let help = "use credentials of the organization's management account or of a delegated administrator, which \
                    may call organizations:ListAccounts; or list the accounts in sources.cloud.accounts";
        connection(message, vec![help.to_string()])
    };
    if let Some((problem, asked)) = listed.refused() {
        let message = format!("the accounts of the organization cannot be listed: {problem}");
        return Err(failed(message).asked(asked.to_vec()));
    }
    let wanted = |number: &&str| !settings.exclude.iter().any(|excluded| excluded == number);
    let active = listed.active().into_iter().flatten().filter(wanted);
    let accounts: Vec<AccountConfig> =
        active.map(|number| settings.account(number, home, &config.scope)).collect();
    if accounts.is_empty() {
        return Err(failed("the organization has no active account that is not excluded".to_string()));
    }
    Ok(accounts)
}

/// The usual variable of the region, if it is set and not read.
fn noticed_region(env: &Env) -> Option<String> {
    let (name, value) =
        ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| Some((name, env.var(name)?)))?;
    let value = Region::new(value).map_or("NAME", |_| value);
    Some(format!("{name} is set but not read: to use it, write `region: {value}` in sources.cloud"))
}

/// Assumes the role of an account and opens it. A failure affects only this account.
async fn assume(
    config: &Arc<CloudConfig>,
    account: &AccountConfig,
    hosts: &Hosts,
    home: &Region,
    surroundings: &RunContext,
) -> AccountState {
    let (assumed, requests) = recorded(sts::assume(hosts, &account.role, surroundings)).await;
    match assumed {
        Ok(hosts) => {
            hosts.belong_to(&account.number);
            let account = Account {
                config: Arc::clone(config),
                scope: account.scope.clone(),
                hosts: Arc::new(hosts),
                home: home.clone(),
                number: account.number.clone(),
                folder: format!("{}/", account.number),
                label: format!("{}: ", account.shown()),
                summary: OnceCell::new(),
            };
            open(account).await
        }
        Err(error) => {
            let failed = not_opened(account, error);
            AccountState::Unread { number: account.number.clone(), failed, requests }
        }
    }
}

/// Makes every call that does not depend on another answer, for all topics concurrently.
async fn open(account: Account) -> AccountState {
    let answers = topics::required(&account.config).map(|topic| {
        let opened = (topic.open)(&account);
        async move { (topic, opened.await) }
    });
    let answers = join_all(answers).await;
    AccountState::Open(Box::new(OpenAccount { account, answers }))
}

/// Warns of what the credentials may not see: of the account, then region by region.
fn warn(OpenAccount { account, answers }: &OpenAccount, warnings: &mut Vec<Warning>) {
    for region in [None].into_iter().chain(account.regions().iter().map(Some)) {
        warnings.extend(answers.iter().flat_map(|(_, answers)| answers.warnings(account, region)));
    }
}

/// Why an account cannot be read.
fn not_opened(account: &AccountConfig, error: CallError) -> Failed {
    let what = format!("{}: {} of {}", account.shown(), ASSUME_ROLE.permission(), account.role.arn);
    match error {
        CallError::Refused(refused) => Failed {
            reason: match refused.class {
                Class::Forbidden(RefusalCause::Intermediary) => &reason::HOST_ERROR,
                _ => &ROLE_NOT_ASSUMED,
            },
            message: format!("{what} is refused: {} (HTTP {})", words(&refused), refused.meta.status),
            status: Some(refused.meta.status),
            request_id: refused.meta.request_id,
        },
        CallError::Failed(failure) => Failed {
            reason: &reason::HOST_ERROR,
            message: format!("{what}: {failure}"),
            status: failure.status,
            request_id: failure.request_id,
        },
    }
}

/// The context for explaining an error.
struct Test<'a> {
    config: &'a CloudConfig,
    /// Where the credentials come from, if not from the configured variables.
    provider: Option<String>,
    /// The access key is temporary, but there is no session token.
    temporary: bool,
}

impl Test<'_> {
    /// The hosts, called with the credentials of the provider. `unsigned` are the same without any.
    async fn sign_in(
        &self,
        provider: Provider,
        unsigned: Hosts,
        surroundings: &RunContext,
    ) -> Result<Hosts, ConnectError> {
        let unsigned = Arc::new(unsigned);
        let (shown, help) = (provider.shown(), provider.help());
        let (signed, asked) = recorded(provider.sign_in(Arc::clone(&unsigned), surroundings)).await;
        let error = match signed {
            Ok(hosts) => return Ok(hosts),
            Err(CallError::Refused(refused)) => {
                format!("no credentials from {shown}: '{}' (HTTP {})", words(&refused), refused.meta.status)
            }
            Err(CallError::Failed(failure)) => format!("no credentials from {shown}: {failure}"),
        };
        Err(connection(error, help).after(unsigned.requests(), unsigned.retries()).asked(asked))
    }

    async fn assume(
        &self,
        own: &Hosts,
        role: &AssumedRole,
        surroundings: &RunContext,
    ) -> Result<Hosts, ConnectError> {
        let error = match sts::assume(own, role, surroundings).await {
            Ok(hosts) => return Ok(hosts),
            Err(CallError::Refused(refused)) => self.refused(&ASSUME_ROLE, &refused, false),
            Err(CallError::Failed(failure)) => self.failed(own, &ASSUME_ROLE, &failure),
        };
        Err(error.after(own.requests(), own.retries()))
    }

    async fn caller(&self, hosts: &Hosts) -> Result<Answered<Caller>, ConnectError> {
        match sts::caller(hosts).await {
            Ok(answered) => Ok(answered),
            Err(CallError::Refused(refused)) => {
                Err(self.refused(&GET_CALLER_IDENTITY, &refused, self.config.role.is_some()))
            }
            Err(CallError::Failed(failure)) => Err(self.failed(hosts, &GET_CALLER_IDENTITY, &failure)),
        }
    }

    /// The error for a refusal. `of_role` means that the role's credentials were refused, so that no variable is at
    /// fault.
    fn refused<T>(&self, action: &Action<T>, refused: &Refused, of_role: bool) -> ConnectError {
        let variables = &self.config.variables;
        let (what, code) = (action.permission(), refused.code.as_deref().unwrap_or_default());
        let said = format!("{what}: '{}'", words(refused));
        match refused.class {
            Class::Unauthorized if of_role => connection(
                format!("the role's own credentials are refused; {said} (HTTP {})", refused.meta.status),
                vec!["if the region was enabled minutes ago, wait: it refuses new credentials for a while".into()],
            ),
            Class::Unauthorized => {
                let (blame, help) = self.blame(code);
                connection(format!("{blame}; {said} (HTTP {})", refused.meta.status), help)
            }
            Class::Forbidden(RefusalCause::Permission) if action.is(&ASSUME_ROLE) => {
                let role = self.config.role.as_ref().map_or("", |role| role.arn.as_str());
                connection(
                    format!("the credentials cannot assume the role {role}; {said} (HTTP {})", refused.meta.status),
                    vec![
                        format!(
                            "name the user or role of {} in the role's trust policy",
                            self.provider.as_ref().unwrap_or(&variables.access_key_id)
                        ),
                        "if the trust policy requires an external id, set sources.cloud.external_id to it".to_string(),
                        "allow the user sts:AssumeRole on the role".to_string(),
                    ],
                )
            }
            Class::Forbidden(RefusalCause::Intermediary) => connection(
                format!("{said} (HTTP {})", refused.meta.status),
                vec!["check for a proxy: the answer does not come from the provider".to_string()],
            ),
            _ if action.is(&ASSUME_ROLE) => connection(
                format!("{said} (HTTP {})", refused.meta.status),
                vec!["lower session_duration: it must not exceed the role's maximum, or one hour if the credentials \
                      belong to a role themselves"
                    .to_string()],
            ),
            _ => connection(format!("{said} (HTTP {})", refused.meta.status), self.address_help()),
        }
    }

    /// The variable at fault when credentials are refused with this code, and what to do.
    fn blame(&self, code: &str) -> (String, Vec<String>) {
        let variables = &self.config.variables;
        let (id, secret, token) =
            (&variables.access_key_id, &variables.secret_access_key, &variables.session_token);
        if let Some(provider) = &self.provider {
            return (
                format!("the provider does not accept the credentials from {provider}"),
                vec![
                    "check that they are of this partition and not expired, and the clock of this machine"
                        .to_string(),
                ],
            );
        }
        if self.temporary {
            let help = format!("set {token} to the session token of this temporary access key");
            return (format!("the session token in {token} is missing"), vec![help]);
        }
        match code {
            _ if code.starts_with("ExpiredToken") => (
                format!("the temporary credentials in {id}, {secret} and {token} have expired"),
                vec!["get new ones, and set all three variables".to_string()],
            ),
            _ if is_unknown_key(code) => (
                format!("the provider does not know the access key in {id}"),
                vec![
                    format!(
                        "check that the key exists, is active and of this partition, and that {token} belongs to it"
                    ),
                    format!("unset {token} for a key that is not temporary"),
                    "set `region` to a region that is enabled for the account: others know no key"
                        .to_string(),
                ],
            ),
            "SignatureDoesNotMatch" | "InvalidSignatureException" => (
                format!("the secret access key in {secret} does not belong to the access key in {id}"),
                vec![format!("set {secret} again, without quotes or spaces around it")],
            ),
            _ => (
                format!("the provider does not accept the credentials in {id} and {secret}"),
                vec!["check the variables, and the clock of this machine".to_string()],
            ),
        }
    }

    fn failed<T>(&self, hosts: &Hosts, action: &Action<T>, failure: &RequestFailure) -> ConnectError {
        let help = match &failure.kind {
            FailureKind::Transport(_) => vec![
                format!("check the network, the name of the region, and the address {}", hosts.address()),
                "behind a proxy, set HTTPS_PROXY".to_string(),
            ],
            FailureKind::PermanentFailure(PermanentFailure::Page, _) => self.address_help(),
            FailureKind::PermanentFailure(obstacle, _) => {
                let address = hosts.address();
                let host = address.trim_start_matches("https://");
                obstacle.help(HelpTarget { host, address: "sources.cloud.endpoint_url", ca_file: None })
            }
            FailureKind::Throttled(_) | FailureKind::SecondaryLimit | FailureKind::RateLimited { .. } => {
                vec!["wait a few minutes and run again".to_string()]
            }
            FailureKind::HostFault(_)
            | FailureKind::UnexpectedShape(_)
            | FailureKind::TooLarge { .. }
            | FailureKind::Foreign(_)
            | FailureKind::Redirect(_) => self.address_help(),
            FailureKind::Unauthorized(_) | FailureKind::GivenUp { .. } => Vec::new(),
        };
        connection(format!("{} at {}: {failure}", action.permission(), hosts.address()), help)
    }

    fn address_help(&self) -> Vec<String> {
        match &self.config.endpoint_url {
            Some(url) => vec![format!("check that {url} is the address of the provider's services")],
            None => vec!["try again later; a proxy can also be the cause".to_string()],
        }
    }
}

/// A warning if this machine's clock is wrong.
fn skewed(hosts: &Hosts, account: &str) -> Option<Warning> {
    let skew = hosts.skew();
    let side = if skew > 0 { "behind" } else { "ahead of" };
    let text = format!(
        "this machine's clock is {} s {side} the provider's: requests are signed with the provider's time; times in \
         this bundle are this machine's",
        skew.unsigned_abs()
    );
    (skew != 0).then(|| warning("clock_skewed", text, account))
}

fn connection(message: String, help: Vec<String>) -> ConnectError {
    ConnectError::new(NAME, ConnectErrorKind::Connection, message, help)
}
