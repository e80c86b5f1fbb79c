//! `sources.cloud`: one or more accounts at the cloud provider.

mod keys;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use url::Url;

pub(crate) use self::keys::KEY;
use self::keys::{
    ACCESS_KEY_ID_ENV, ACCOUNT_EXTERNAL_ID, ACCOUNT_LOG_GROUPS, ACCOUNT_NAME, ACCOUNT_REGIONS,
    ACCOUNT_ROLE_ARN, ACCOUNT_TRAILS, ACCOUNTS, CONTROLS, CREDENTIALS_COMMAND, ENDPOINT_URL,
    EXCLUDED_ACCOUNTS, EXTERNAL_ID, LOG_GROUPS, MODE, ORGANIZATION, ORGANIZATION_EXTERNAL_ID, REGION,
    REGIONS, ROLE_ARN, ROLE_NAME, SECRET_ACCESS_KEY_ENV, SECTION, SESSION_DURATION, SESSION_TOKEN_ENV,
    TRAILS,
};
use super::host::endpoint::{Partition, Region};
use super::names;
use crate::config::controls::{self, Applied, controls_of, served_by};
use crate::config::shared::TIMEOUT_SECONDS;
use crate::source::Source;
use evidence_http::single_line;
use evidence_rules::cloud::{self as rules, artifact};
use evidence_rules::rule::{Rule, Settings};
use evidence_settings::declare::{Key, Vocabulary};
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::format;
use evidence_settings::problem::{Complaint, Place};
use evidence_settings::secret::quote;

/// The variable that replaces `region` if neither it nor `regions` is set.
pub(super) const REGION_VARIABLE: &str = "CLOUD_REGION";

/// The maximum session duration, in seconds, of a role assumed with another role's credentials.
const CHAINED: u32 = 3_600;

/// The controls this source can serve.
pub(super) static SERVED: Vocabulary = controls_of(|context| served_by(context, rules::RULES.rules));

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

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `env` and `assume_role`: the configured variables.
    Variables,
    /// `command`: a program, `credentials_command`.
    Command(Vec<String>),
    /// `web_identity`
    WebIdentity,
    /// `container`
    Container,
    /// `instance`
    Instance,
    /// `default`: the first of the provider's own places that is there.
    Default,
}

/// What to read in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccountScope {
    /// `regions`, else only the home region.
    pub(super) regions: Vec<Region>,
    /// `trails`: names or ARNs; empty for all.
    pub(super) trails: Vec<String>,
    /// `log_groups`: names, or prefixes with `*`; empty for all.
    pub(super) log_groups: Vec<String>,
}

impl AccountScope {
    /// The settings by their names in the configuration.
    pub(super) fn settings(&self) -> [(&'static str, Value); 3] {
        let regions: Vec<String> = self.regions.iter().map(ToString::to_string).collect();
        [
            ("regions", regions.into()),
            ("trails", self.trails.clone().into()),
            ("log_groups", self.log_groups.clone().into()),
        ]
    }
}

/// One of `accounts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccountConfig {
    /// `role_arn`, `external_id`, and the `session_duration` of the source.
    pub(super) role: AssumedRole,
    /// The account number of the role: 12 digits.
    pub(super) number: String,
    /// `name`
    pub(super) name: Option<String>,
    /// `regions`, `trails`, `log_groups`, else those of the source.
    pub(super) scope: AccountScope,
}

impl AccountConfig {
    /// The account's name in messages.
    pub(super) fn shown(&self) -> String {
        match &self.name {
            Some(name) => format!("account {} ({})", self.number, single_line(name)),
            None => format!("account {}", self.number),
        }
    }
}

/// `accounts.organization`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrganizationSettings {
    /// `role_name`
    pub(super) role_name: String,
    /// `external_id`
    pub(super) external_id: Option<String>,
    /// `exclude`: the numbers of accounts.
    pub(super) exclude: Vec<String>,
    /// `session_duration` of the source, in seconds.
    duration: u32,
}

impl OrganizationSettings {
    /// The account with this number, in the partition of a region, read as the source says.
    pub(super) fn account(&self, number: &str, home: &Region, scope: &AccountScope) -> AccountConfig {
        let partition = match home.partition() {
            Some(Partition::China) => "aws-cn",
            Some(Partition::Government) => "aws-us-gov",
            Some(Partition::Public) | None => "aws",
        };
        let arn = format!("arn:{partition}:iam::{number}:role/{}", self.role_name);
        let role = AssumedRole { arn, external_id: self.external_id.clone(), duration: self.duration };
        AccountConfig { role, number: number.to_string(), name: None, scope: scope.clone() }
    }
}

/// A role to assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssumedRole {
    /// `role_arn`
    pub(super) arn: String,
    /// `external_id`
    pub(super) external_id: Option<String>,
    /// `session_duration`, in seconds.
    pub(super) duration: u32,
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
        let regional = [&artifact::AUDIT_TRAILS, &artifact::LOG_GROUPS, &artifact::DISK_ENCRYPTION];
        regional.into_iter().any(|kind| self.collects(kind))
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

/// The modes whose credentials are those of a role.
const CHAINING: [&str; 3] = ["web_identity", "container", "instance"];

/// Where the credentials come from. `credentials_command` must be set with `mode: command` and only then.
fn credentials_mode(decoder: &mut Decoder<'_, '_>, fields: &Fields, mode: Option<&str>) -> Option<Mode> {
    let command = decoder.list(fields, &CREDENTIALS_COMMAND);
    let misplaced = |decoder: &mut Decoder<'_, '_>, message: String, help: &str| {
        let path = CREDENTIALS_COMMAND.path_in(&SECTION);
        decoder.problems.add(fields.place(), path, Complaint::new(message).help(help));
    };
    if mode != Some("command") && fields.has(&CREDENTIALS_COMMAND) {
        let message = format!("`credentials_command` has no meaning with `mode: {}`", mode?);
        misplaced(decoder, message, "write `mode: command`, or remove the key");
        return None;
    }
    Some(match mode? {
        "command" => match command {
            Some(words) if !words.is_empty() => {
                Mode::Command(words.into_iter().map(|word| word.value).collect())
            }
            _ if fields.has(&CREDENTIALS_COMMAND) => return None,
            _ => {
                let help = format!("add `credentials_command: {}`", CREDENTIALS_COMMAND.example);
                misplaced(decoder, "`mode: command` needs `credentials_command`".to_string(), &help);
                return None;
            }
        },
        "web_identity" => Mode::WebIdentity,
        "container" => Mode::Container,
        "instance" => Mode::Instance,
        "default" => Mode::Default,
        _ => Mode::Variables,
    })
}

/// `mode: assume_role` needs a role, `mode: env` takes none, and every other mode can have one. The outer `None`: a key is invalid.
fn role(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    mode: Option<&str>,
    duration: Option<u32>,
) -> Option<Option<AssumedRole>> {
    let arn = decoder.text(fields, &ROLE_ARN);
    let external_id = decoder.text(fields, &EXTERNAL_ID);
    // The places of keys that may be misplaced. Values of another type have been reported already.
    let places = [&arn, &external_id].map(|text| text.as_ref().map(|text| text.place.clone()));
    let arn = arn.and_then(|arn| good(decoder, arn, names::check_role));
    let bad_id = external_id.is_none() && fields.has(&EXTERNAL_ID);
    let external_id = external_id.map(|id| good(decoder, id, check_external_id));
    match mode {
        Some("assume_role") if !fields.has(&ROLE_ARN) => {
            let complaint = Complaint::new("`mode: assume_role` needs `role_arn`")
                .help(format!("add `role_arn: {}`, with your role", ROLE_ARN.example));
            decoder.problems.add(fields.place(), ROLE_ARN.path_in(&SECTION), complaint);
            None
        }
        // Every other mode can go on with a role.
        Some(mode) if mode != "env" && mode != "assume_role" && !fields.has(&ROLE_ARN) => {
            if !fields.has(&EXTERNAL_ID) {
                return Some(None);
            }
            let complaint =
                Complaint::new("`external_id` needs `role_arn`").help("add `role_arn`, or remove the key");
            decoder.problems.add(fields.place(), EXTERNAL_ID.path_in(&SECTION), complaint);
            None
        }
        Some(mode) if mode != "env" && !bad_id => {
            let external_id = match external_id {
                Some(id) => Some(id?),
                None => None,
            };
            Some(Some(AssumedRole { arn: arn?, external_id, duration: duration? }))
        }
        Some("env") => {
            let mut alone = true;
            let places = places.into_iter().chain([None]);
            for (key, place) in [&ROLE_ARN, &EXTERNAL_ID, &SESSION_DURATION].into_iter().zip(places) {
                // With `accounts` the key applies to their roles.
                let is_for_accounts = std::ptr::eq(key, &SESSION_DURATION) && fields.has(&ACCOUNTS);
                if fields.has(key) && !is_for_accounts {
                    alone = false;
                    let complaint = Complaint::new(format!("`{}` has no meaning with `mode: env`", key.name))
                        .help("write `mode: assume_role`, or remove the key");
                    let place = place.unwrap_or_else(|| fields.place());
                    decoder.problems.add(place, key.path_in(&SECTION), complaint);
                }
            }
            alone.then_some(None)
        }
        _ => None,
    }
}

/// `accounts.organization`, if `accounts` is a mapping. The outer `None`: a key is invalid.
fn organization(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    duration: Option<u32>,
) -> Option<Option<OrganizationSettings>> {
    if !fields.has_mapping(&ACCOUNTS) {
        return Some(None);
    }
    let accounts = decoder.section(fields, &ACCOUNTS)?;
    let fields = decoder.section(&accounts, &ORGANIZATION)?;
    let role_name = decoder.text(&fields, &ROLE_NAME);
    let role_name = role_name.and_then(|name| good(decoder, name, check_role_name));
    let external_id = optional(decoder, &fields, &ORGANIZATION_EXTERNAL_ID, check_external_id);
    let exclude = decoder.list(&fields, &EXCLUDED_ACCOUNTS);
    Some(Some(OrganizationSettings {
        role_name: role_name?,
        external_id: external_id?,
        exclude: exclude?.into_iter().map(|number| number.value).collect(),
        duration: duration?,
    }))
}

fn check_role_name(text: &str) -> Result<(), Complaint> {
    names::check_role(&format!("arn:aws:iam::123456789012:role/{text}")).map_err(|_| {
        Complaint::new(format!("{} is not the name of a role", quote(text)))
            .help("write the name that the role has in every account, without `role/`")
    })
}

/// Settings that all accounts of the source share.
struct SourceSettings<'a> {
    home: Option<&'a Region>,
    scope: &'a AccountScope,
    has_address: bool,
    /// The session duration of the accounts' roles, if valid.
    duration: Option<u32>,
}

/// The configured accounts. Listing one twice is an error.
fn accounts(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    source: &SourceSettings<'_>,
) -> Option<Vec<AccountConfig>> {
    let mut accounts: Vec<AccountConfig> = Vec::new();
    let mut all_good = true;
    for section in decoder.sections(fields, &ACCOUNTS)? {
        let Some(account) = account(decoder, &section, source) else {
            all_good = false;
            continue;
        };
        if accounts.iter().any(|other| other.number == account.number) {
            all_good = false;
            let complaint = Complaint::new(format!("the account {} is listed twice", account.number))
                .help("remove one of them: an account is read with one role");
            decoder.problems.add(section.place(), section.path(), complaint);
            continue;
        }
        accounts.push(account);
    }
    all_good.then_some(accounts)
}

fn account(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    source: &SourceSettings<'_>,
) -> Option<AccountConfig> {
    let arn = decoder.text(fields, &ACCOUNT_ROLE_ARN);
    let arn = arn.and_then(|arn| good(decoder, arn, names::check_role));
    let external_id = optional(decoder, fields, &ACCOUNT_EXTERNAL_ID, check_external_id);
    let name = optional(decoder, fields, &ACCOUNT_NAME, |_| Ok(()));
    let regions = match decoder.list(fields, &ACCOUNT_REGIONS) {
        Some(texts) => {
            let mut first = source.home.cloned();
            let read = texts.iter().map(|text| listed_region(decoder, text, source.has_address, &mut first));
            // Decode every entry before unwrapping any, so that all problems are found.
            let read: Vec<_> = read.collect();
            read.into_iter().collect()
        }
        None if fields.has(&ACCOUNT_REGIONS) => None,
        None => Some(source.scope.regions.clone()),
    };
    let own = |decoder: &mut Decoder<'_, '_>, key, check, others: &[String]| match fields.has(key) {
        true => checked(decoder, fields, key, check),
        false => Some(others.to_vec()),
    };
    let trails = own(decoder, &ACCOUNT_TRAILS, names::check_trail, &source.scope.trails);
    let log_groups = own(decoder, &ACCOUNT_LOG_GROUPS, names::check_log_group, &source.scope.log_groups);
    let (arn, external_id) = (arn?, external_id?);
    let number = names::role_account(&arn)?.to_string();
    Some(AccountConfig {
        role: AssumedRole { arn, external_id, duration: source.duration? },
        number,
        name: name?,
        scope: AccountScope { regions: regions?, trails: trails?, log_groups: log_groups? },
    })
}

/// An optional text that must satisfy a rule of this source. The outer `None`: it does not.
fn optional(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<Option<String>> {
    match decoder.text(fields, key) {
        Some(text) => good(decoder, text, check).map(Some),
        None if fields.has(key) => None,
        None => Some(None),
    }
}

/// A region of a list. `first` is an earlier one, whose partition it must share.
fn listed_region(
    decoder: &mut Decoder<'_, '_>,
    text: &Placed<String>,
    has_address: bool,
    first: &mut Option<Region>,
) -> Option<Region> {
    match region(&text.value, has_address, first) {
        Ok(region) => {
            first.get_or_insert_with(|| region.clone());
            Some(region)
        }
        Err(complaint) => {
            decoder.problems.add(text.place.clone(), text.path.clone(), complaint);
            None
        }
    }
}

/// The home region and the regions to read. Without any, home is `None` and nothing is read.
fn places(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    has_address: bool,
) -> Option<(Option<Region>, Vec<Region>)> {
    let own = decoder.text(fields, &REGION);
    let listed = decoder.list(fields, &REGIONS);
    let mut all_good = (own.is_some() || !fields.has(&REGION)) && (listed.is_some() || !fields.has(&REGIONS));
    let mut first: Option<Region> = None;
    let mut read = |decoder: &mut Decoder<'_, '_>, text: &Placed<String>| {
        let region = listed_region(decoder, text, has_address, &mut first);
        all_good &= region.is_some();
        region
    };
    let home = own.as_ref().and_then(|text| read(decoder, text));
    let mut regions: Vec<Region> = listed.iter().flatten().filter_map(|text| read(decoder, text)).collect();
    if !all_good {
        return None;
    }
    let home = match home.or_else(|| regions.first().cloned()) {
        Some(home) => Some(home),
        None => from_environment(decoder, has_address)?,
    };
    if regions.is_empty() {
        regions.extend(home.clone());
    }
    Some((home, regions))
}

/// `CLOUD_REGION`, if it is set. The outer `None`: it is invalid.
fn from_environment(decoder: &mut Decoder<'_, '_>, has_address: bool) -> Option<Option<Region>> {
    let Some(value) = (decoder.variables)(REGION_VARIABLE) else { return Some(None) };
    let result = match value.to_str() {
        None => Err(Complaint::new("it is not UTF-8 text").help("correct the variable, or set `region`")),
        Some(text) => region(text, has_address, &None),
    };
    match result {
        Ok(region) => Some(Some(region)),
        Err(complaint) => {
            let message =
                format!("the environment variable {REGION_VARIABLE} sets this key: {}", complaint.message);
            decoder.problems.add(
                Place::Nowhere,
                REGION.path_in(&SECTION),
                Complaint { message, ..complaint },
            );
            None
        }
    }
}

/// A region with known addresses in the same partition as `first`: credentials belong to one partition.
fn region(text: &str, has_address: bool, first: &Option<Region>) -> Result<Region, Complaint> {
    let region = Region::new(text).ok_or_else(|| {
        Complaint::new(format!("{} is not a valid region", quote(text)))
            .help("write the name of a region, such as `eu-central-1`")
    })?;
    if region.partition().is_none() && !has_address {
        return Err(Complaint::new(format!("this version does not know the addresses of {}", quote(text)))
            .help(
                "set `endpoint_url`, or name a region of the public, the Chinese or the government partition",
            ));
    }
    match first {
        Some(first) if first.partition() != region.partition() => Err(Complaint::new(format!(
            "{} and {} belong to different partitions",
            quote(text),
            quote(first.as_str())
        ))
        .help("use a separate configuration for the other partition: an account belongs to one")),
        _ => Ok(region),
    }
}

/// A list whose entries must satisfy a rule of this source.
fn checked(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<Vec<String>> {
    let entries = decoder.list(fields, key)?;
    // Check every entry before unwrapping any, so that all problems are found.
    let entries: Vec<_> = entries.into_iter().map(|entry| good(decoder, entry, check)).collect();
    entries.into_iter().collect()
}

fn good(
    decoder: &mut Decoder<'_, '_>,
    text: Placed<String>,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<String> {
    match check(&text.value) {
        Ok(()) => Some(text.value),
        Err(complaint) => {
            decoder.problems.add(text.place, text.path, complaint);
            None
        }
    }
}

fn check_external_id(text: &str) -> Result<(), Complaint> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@:/_-".contains(&byte);
    if (2..=1224).contains(&text.len()) && text.bytes().all(good) {
        return Ok(());
    }
    Err(Complaint::new(format!("{} is not a valid external id", quote(text)))
        .help("it has 2 to 1224 letters, digits and `+=,.@:/_-`"))
}
