//! `sources.cloud`: one or more accounts at the cloud provider.

mod accounts;
mod checks;
mod keys;
mod model;
mod regions;
mod sign_in;

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use self::accounts::{SourceSettings, accounts, organization};
use self::checks::checked;
pub(crate) use self::keys::KEY;
use self::keys::{
    ACCESS_KEY_ID_ENV, ACCOUNTS, CONTROLS, ENDPOINT_URL, LOG_GROUPS, MODE, ROLE_ARN, SECRET_ACCESS_KEY_ENV,
    SESSION_DURATION, SESSION_TOKEN_ENV, TRAILS,
};
pub(super) use self::model::{AccountConfig, AccountScope, OrganizationSettings};
pub(crate) use self::model::{AssumedRole, Mode};
pub(super) use self::regions::REGION_VARIABLE;
use self::regions::places;
use self::sign_in::{CHAINING, credentials_mode, role};
use super::host::endpoint::{Region, Service};
use super::names;
use crate::config::controls::{self, Applied};
use crate::config::shared::TIMEOUT_SECONDS;
use crate::source::Source;
use evidence_rules::cloud::{self as rules, artifact};
use evidence_rules::rule::{Rule, Settings};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::format;

/// The maximum session duration, in seconds, of a role assumed with another role's credentials.
const CHAINED: u32 = 3_600;

/// `sources.cloud`
#[derive(Debug, Clone)]
pub struct CloudConfig {
    /// `mode`: where the credentials come from.
    pub(super) mode: Mode,
    /// `session_duration`, in seconds.
    pub(super) duration: u32,
    /// `role_arn` and its keys: the role to assume, or `None` to use the credentials directly.
    pub(super) role: Option<AssumedRole>,
    /// `access_key_id_env`, `secret_access_key_env`, `session_token_env`
    pub(super) variables: CredentialVariables,
    /// `region`, else the first of `regions`, else `CLOUD_REGION`: the region for identifying the credentials. `None`
    /// if none is set, which the connection test reports.
    pub(super) home: Option<Region>,
    /// What to read, unless an account overrides it.
    pub(super) scope: AccountScope,
    /// `accounts`: the accounts to read instead of the credentials' own; empty for that one.
    pub(super) accounts: Vec<AccountConfig>,
    /// `accounts.organization`: all active accounts of the organization instead.
    pub(super) organization: Option<OrganizationSettings>,
    /// The numbers that its rules judge by.
    pub rule_settings: Settings,
    /// The rules required by this source's `controls`, or by the top-level list as far as this source serves it.
    pub(super) rules: Vec<&'static Rule>,
    /// `timeout_seconds` of one request.
    pub(super) timeout: Duration,
    /// `endpoint_url`: one address for all services.
    pub(super) endpoint_url: Option<Url>,
}

/// The variables that hold the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CredentialVariables {
    pub(super) access_key_id: String,
    pub(super) secret_access_key: String,
    pub(super) session_token: String,
}

impl CloudConfig {
    /// Whether any required rule reads regions.
    pub(super) fn wants_regions(&self) -> bool {
        let regional = [&artifact::AUDIT_TRAILS, &artifact::LOG_GROUPS];
        regional.iter().chain(artifact::REGIONAL).any(|kind| self.collects(kind))
    }

    /// Whether a required rule may ask this service. The first six are asked for whatever is required, or belong to the
    /// connection test.
    pub(super) fn may_ask(&self, service: Service) -> bool {
        match service {
            Service::Rds => self.collects(&artifact::DATABASES),
            Service::GuardDuty => self.collects(&artifact::DETECTORS),
            Service::S3 | Service::S3Control => self.collects(&artifact::PUBLIC_ACCESS),
            _ => true,
        }
    }
}

/// The cloud account.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    applied: &Applied<'_>,
) -> Option<Arc<dyn Source>> {
    let mode = decoder.text(fields, &MODE);
    let duration: Option<u32> = decoder.integer(fields, &SESSION_DURATION);
    let credentials = credentials_mode(decoder, fields, mode.as_ref().map(|mode| mode.value.as_str()));
    let role = role(decoder, fields, mode.as_ref().map(|mode| mode.value.as_str()), duration);
    let endpoint_url = decoder.text(fields, &ENDPOINT_URL);
    let bad_url = endpoint_url.is_none() && fields.has(&ENDPOINT_URL);
    let endpoint_url = endpoint_url.and_then(|text| format::url(&text.value).ok());
    let places = places(decoder, fields, endpoint_url.is_some() || bad_url);
    let trails = checked(decoder, fields, &TRAILS, names::check_trail);
    let log_groups = checked(decoder, fields, &LOG_GROUPS, names::check_log_group);
    let rules = controls::wanted(decoder, fields, &CONTROLS, rules::RULES.rules, applied);
    let timeout = decoder.seconds(fields, &TIMEOUT_SECONDS);
    let access_key_id = decoder.text(fields, &ACCESS_KEY_ID_ENV);
    let secret_access_key = decoder.text(fields, &SECRET_ACCESS_KEY_ENV);
    let session_token = decoder.text(fields, &SESSION_TOKEN_ENV);
    // All but the configured variables, a program and the default are roles already, and these can be.
    let chained =
        fields.has(&ROLE_ARN) || mode.as_ref().is_some_and(|mode| CHAINING.contains(&mode.value.as_str()));
    let session = duration;
    // With a role's own credentials, the provider limits role sessions to an hour.
    let duration = duration.map(|seconds| if chained { seconds.min(CHAINED) } else { seconds });
    let (home, regions) = places.clone().unwrap_or_default();
    let all = AccountScope {
        regions,
        trails: trails.clone().unwrap_or_default(),
        log_groups: log_groups.clone().unwrap_or_default(),
    };
    let has_address = endpoint_url.is_some() || bad_url;
    let source = SourceSettings { home: home.as_ref(), scope: &all, has_address, duration };
    let by_organization = organization(decoder, fields, duration);
    let accounts = match fields.has_mapping(&ACCOUNTS) {
        true => Some(Vec::new()),
        false => accounts(decoder, fields, &source),
    };
    if bad_url {
        return None;
    }
    mode?;
    let (home, regions) = places?;
    Some(Arc::new(CloudConfig {
        mode: credentials?,
        duration: session?,
        rule_settings: applied.settings.clone(),
        role: role?,
        variables: CredentialVariables {
            access_key_id: access_key_id?.value,
            secret_access_key: secret_access_key?.value,
            session_token: session_token?.value,
        },
        home,
        scope: AccountScope { regions, trails: trails?, log_groups: log_groups? },
        accounts: accounts?,
        organization: by_organization?,
        rules: rules?,
        timeout: timeout?,
        endpoint_url,
    }))
}
