//! The connection test: finds the credentials, identifies them, and determines their permissions.
//!
//! Identification comes first, so that wrong credentials cause one clear error. Then the test makes every call that
//! does not depend on another answer, for each configured account. The collection reuses these answers as evidence.

use std::sync::Arc;

use evidence_bundle::document::Warning;
use futures_util::future::{BoxFuture, join, join_all, join4};
use futures_util::stream;
use futures_util::{FutureExt as _, StreamExt as _};

use super::account::{ACCOUNTS_AT_ONCE, Account, FirstAnswers, Opened, RegionFirst};
use super::answer::is_unknown_key;
use super::api::Hosts;
use super::calls::{
    ASSUME_ROLE, Action, DESCRIBE_LOG_GROUPS, DESCRIBE_REGIONS, DESCRIBE_TRAILS, GET_ACCOUNT_PASSWORD_POLICY,
    GET_ACCOUNT_SUMMARY, GET_CALLER_IDENTITY,
};
use super::config::{AccountConfig, AssumedRole, CloudConfig, Extent, NAME, REGION_VARIABLE};
use super::endpoint::{Region, Service};
use super::found::host_error;
use super::interpret::{self, ReadResult, Unread, words};
use super::scope::common_beginning;
use super::session::CloudSession;
use super::sign::{ACCESS_KEY_ID, CredentialError, Credentials, SECRET_ACCESS_KEY, SESSION_TOKEN};
use super::wire::{Caller, LogGroupPage};
use crate::clock;
use crate::credential;
use crate::env::Env;
use crate::observation::Failed;
use crate::source::{Configured, ConnectError, ConnectErrorKind, Surroundings};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{
    Answered, CallError, FailureKind, HelpTarget, Obstacle, Refused, RequestFailure, recorded,
};
use evidence_os::secret::how_to_set;
use evidence_rules::cloud as rules;
use evidence_rules::cloud::reason::{REGION_NOT_ENABLED, ROLE_NOT_ASSUMED};
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
                use_it.into_iter().chain([set]).collect(),
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

pub(super) async fn connect(
    config: CloudConfig,
    surroundings: &Surroundings,
) -> Result<CloudSession, ConnectError> {
    let credentials = credentials(&config, &surroundings.env)?;
    let home = config.home.clone().ok_or_else(|| {
        connection(
            format!(
                "no region: neither `region` nor `regions` is configured, and {REGION_VARIABLE} is not set"
            ),
            vec![format!("export {REGION_VARIABLE}=eu-central-1, or set sources.cloud.region")],
        )
    })?;
    let test = Test { config: &config, temporary: credentials.is_temporary() && !credentials.has_token() };
    let own = Hosts::new(&config, &home, credentials, surroundings).map_err(|text| ConnectError {
        kind: ConnectErrorKind::Configuration,
        ..connection(text, Vec::new())
    })?;
    let hosts = match &config.role {
        Some(role) => test.assume(&own, role, surroundings).await,
        None => Ok(own),
    };
    let hosts = hosts?;
    let caller = test.caller(&hosts).await;
    let Answered { value: caller, meta } =
        caller.map_err(|error| error.after(hosts.requests(), hosts.retries()))?;
    hosts.belong_to(&caller.account);
    let (config, hosts) = (Arc::new(config), Arc::new(hosts));
    let accounts = if config.accounts.is_empty() {
        let first = first(&config, &config.extent, &hosts, &home).await;
        let (number, folder, label) = (caller.account.clone(), String::new(), String::new());
        let (extent, hosts) = (config.extent.clone(), Arc::clone(&hosts));
        vec![Opened::Account(Box::new(Account {
            config: Arc::clone(&config),
            extent,
            hosts,
            number,
            folder,
            label,
            first,
        }))]
    } else {
        let opened = config.accounts.iter();
        let opened = opened.map(|account| open(&config, account, &hosts, &home, surroundings).boxed());
        let opened: Vec<BoxFuture<'_, Opened>> = opened.collect();
        stream::iter(opened).buffered(ACCOUNTS_AT_ONCE).collect().await
    };
    let skewed = skewed(&hosts, &caller.account).or_else(|| clock::skewed(&meta, NAME, &caller.account));
    let mut warnings: Vec<Warning> = skewed.into_iter().collect();
    for opened in &accounts {
        if let Opened::Account(account) = opened {
            account.warn(&mut warnings);
        }
    }
    Ok(CloudSession { config, hosts, caller, accounts, warnings })
}

/// Assumes the role of an account and makes every call that does not depend on another answer. A failure affects only
/// this account.
async fn open(
    config: &Arc<CloudConfig>,
    account: &AccountConfig,
    hosts: &Hosts,
    home: &Region,
    surroundings: &Surroundings,
) -> Opened {
    let (assumed, asked) = recorded(hosts.assume(&account.role, surroundings)).await;
    match assumed {
        Ok(hosts) => {
            hosts.belong_to(&account.number);
            let first = first(config, &account.extent, &hosts, home).await;
            Opened::Account(Box::new(Account {
                config: Arc::clone(config),
                extent: account.extent.clone(),
                hosts: Arc::new(hosts),
                number: account.number.clone(),
                folder: format!("{}/", account.number),
                label: format!("{}: ", account.shown()),
                first,
            }))
        }
        Err(error) => {
            Opened::Unread { number: account.number.clone(), why: not_opened(account, error), asked }
        }
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
    /// The access key is temporary, but there is no session token.
    temporary: bool,
}

impl Test<'_> {
    async fn assume(
        &self,
        own: &Hosts,
        role: &AssumedRole,
        surroundings: &Surroundings,
    ) -> Result<Hosts, ConnectError> {
        let error = match own.assume(role, surroundings).await {
            Ok(hosts) => return Ok(hosts),
            Err(CallError::Refused(refused)) => self.refused(&ASSUME_ROLE, &refused, false),
            Err(CallError::Failed(failure)) => self.failed(own, &ASSUME_ROLE, &failure),
        };
        Err(error.after(own.requests(), own.retries()))
    }

    async fn caller(&self, hosts: &Hosts) -> Result<Answered<Caller>, ConnectError> {
        match hosts.sts().caller_identity().await {
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
                        format!("name the user or role of {} in the role's trust policy", variables.access_key_id),
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
            FailureKind::Obstacle(Obstacle::Page, _) => self.address_help(),
            FailureKind::Obstacle(obstacle, _) => {
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

/// Makes every call that does not depend on another answer, in all regions concurrently.
async fn first(config: &CloudConfig, extent: &Extent, hosts: &Hosts, home: &Region) -> FirstAnswers {
    let policy = async {
        if !config.wants(&rules::PASSWORD_POLICY) {
            return None;
        }
        Some(match hosts.host(Service::Iam, home) {
            Some(host) => interpret::of_policy(host.password_policy().await),
            None => Err(no_address(&GET_ACCOUNT_PASSWORD_POLICY, home)),
        })
    };
    let regions: &[Region] = if config.wants_regions() { &extent.regions } else { &[] };
    let regions = join_all(regions.iter().map(|region| async move {
        let trails = async {
            match hosts.host(Service::CloudTrail, region) {
                Some(host) => interpret::of(&DESCRIBE_TRAILS, Some(region), host.trails().await),
                None => Err(no_address(&DESCRIBE_TRAILS, region)),
            }
        };
        let groups = log_group_page(extent, hosts, region, None);
        let (trails, groups) = join(trails, groups).await;
        RegionFirst { region: region.clone(), trails, groups }
    }));
    let summary = async {
        if !config.wants(&rules::PASSWORD_POLICY) {
            return None;
        }
        Some(match hosts.host(Service::Iam, home) {
            Some(host) => interpret::of(&GET_ACCOUNT_SUMMARY, None, host.account_summary().await),
            None => Err(no_address(&GET_ACCOUNT_SUMMARY, home)),
        })
    };
    let enabled = async {
        if !config.wants_regions() {
            return None;
        }
        Some(match hosts.host(Service::Ec2, home) {
            Some(host) => interpret::of(&DESCRIBE_REGIONS, None, host.regions().await),
            None => Err(no_address(&DESCRIBE_REGIONS, home)),
        })
    };
    let read = join4(policy, summary, enabled, regions);
    let ((policy, summary, enabled, regions), requests) = recorded(read).await;
    FirstAnswers { policy, summary, enabled, regions, requests }
}

/// A page of a region's log groups: the first, or the one for `token`.
pub(super) async fn log_group_page(
    extent: &Extent,
    hosts: &Hosts,
    region: &Region,
    token: Option<&str>,
) -> ReadResult<LogGroupPage> {
    let beginning = common_beginning(&extent.log_groups);
    match hosts.host(Service::Logs, region) {
        Some(host) => {
            interpret::of(&DESCRIBE_LOG_GROUPS, Some(region), host.log_groups(beginning, token).await)
        }
        None => Err(no_address(&DESCRIBE_LOG_GROUPS, region)),
    }
}

/// Can only happen for the home region of a trail: the configuration checks its own regions.
pub(super) fn no_address<T>(action: &Action<T>, region: &Region) -> Unread {
    let text = format!("{}: the address of {region} is not known", action.permission());
    Unread::Failed(host_error(text))
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

impl Account {
    /// Warns of what the credentials may not see, with the consequences.
    fn warn(&self, warnings: &mut Vec<Warning>) {
        let account = &self.number;
        if let Some(policy) = &self.first.policy
            && !self.first.has_no_users()
        {
            warnings.extend(denied(policy, "the password policy will be not verifiable", account));
        }
        for RegionFirst { region, trails, groups } in &self.first.regions {
            let subject = format!("{account}/{region}");
            // No more than that, since another region may show the trail that passes.
            warnings.extend(denied(trails, &format!("the trails of {region} are not known"), &subject));
            let lost = format!("the retention of the log groups in {region} will be not verifiable");
            warnings.extend(denied(groups, &lost, &subject));
        }
    }
}

/// A warning for a refusal. `lost` describes the consequence for the checks.
fn denied<T>(read: &ReadResult<T>, lost: &str, subject: &str) -> Option<Warning> {
    let Err(Unread::Denied { reason, detail }) = read else { return None };
    let text = format!("{detail}; {lost}");
    Some(if **reason == REGION_NOT_ENABLED {
        warning("region_not_enabled", text, subject)
    } else {
        warning("permission_denied", text, subject)
    })
}

pub(super) fn warning(code: &str, message: String, subject: &str) -> Warning {
    Warning {
        code: code.to_string(),
        message,
        source: Some(NAME.id().to_string()),
        subject: Some(subject.to_string()),
    }
}

fn connection(message: String, help: Vec<String>) -> ConnectError {
    ConnectError::new(NAME, ConnectErrorKind::Connection, message, help)
}
