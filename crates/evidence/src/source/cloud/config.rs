//! `sources.cloud`: the account at the cloud provider.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::endpoint::Region;
use super::scope;
use crate::config::declare::{DefaultValue, Format, Key, Presence, Section, Shape};
use crate::config::decode::{Decoder, Fields, Placed};
use crate::config::format;
use crate::config::problem::{Complaint, Place};
use crate::config::secret::quote;
use crate::config::sources;
use crate::control::Control;
use crate::source::{Configured, Kind, Source, Surroundings};

/// The variable that stands for `region`.
pub(super) const REGION_VARIABLE: &str = "CLOUD_REGION";

/// The controls this source can serve.
pub(super) const SERVED: &[Control] = &[Control::Cc6_1, Control::Cc7_2];

/// `sources.cloud`
#[derive(Debug, Clone)]
pub struct CloudConfig {
    /// `mode`, and what belongs to it: the role to assume, or none for the credentials as they are.
    pub(super) role: Option<Role>,
    /// `access_key_id_env`, `secret_access_key_env`, `session_token_env`
    pub(super) variables: Variables,
    /// `region`, else the first of `regions`, else what `CLOUD_REGION` says: where the tool asks who it is. `None` if
    /// none of them is there, which the connection test reports.
    pub(super) home: Option<Region>,
    /// `regions`, else the home alone.
    pub(super) regions: Vec<Region>,
    /// `trails`: names or ARNs; empty for all.
    pub(super) trails: Vec<String>,
    /// `log_groups`: names, or beginnings of names with `*`; empty for all.
    pub(super) log_groups: Vec<String>,
    /// `controls` of this source, or the top-level list as far as this source serves it.
    pub(super) controls: Vec<Control>,
    /// `timeout_seconds` of one request.
    pub(super) timeout: Duration,
    /// `endpoint_url`: one address for all services.
    pub(super) endpoint_url: Option<Url>,
}

/// A role to assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Role {
    /// `role_arn`
    pub(super) arn: String,
    /// `external_id`
    pub(super) external_id: Option<String>,
    /// `session_duration`, in seconds.
    pub(super) duration: u32,
}

/// The variables that hold the credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variables {
    pub(super) access_key_id: String,
    pub(super) secret_access_key: String,
    pub(super) session_token: String,
}

impl Configured for CloudConfig {
    fn kind(&self) -> &'static Kind {
        &super::KIND
    }

    fn controls(&self) -> &[Control] {
        &self.controls
    }

    fn source(&self, surroundings: &Surroundings) -> Box<dyn Source> {
        Box::new(super::Cloud::new(self.clone(), surroundings.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The key of this source.
pub(crate) static KEY: Key = Key {
    name: super::NAME.id(),
    presence: Presence::Optional,
    shape: Shape::Section(&SECTION),
    summary: SECTION.summary,
    rule: "",
    example: "",
    synonyms: &["aws", "amazon"],
};

static MODE: Key = Key {
    name: "mode",
    presence: Presence::Required,
    shape: Shape::Text(Format::Choice(&["env", "assume_role"])),
    summary: "How the tool signs in: with the credentials in the variables, or with those of a role they may assume.",
    rule: "",
    example: "env",
    synonyms: &["auth", "auth_mode"],
};

static REGION: Key = Key {
    name: "region",
    presence: Presence::Derived("the first of `regions`, or the environment variable `CLOUD_REGION`"),
    shape: Shape::Text(Format::Line),
    summary: "The region where the tool asks who it is; without `regions` the only one that is read.",
    rule: "the name of a region, such as eu-central-1",
    example: "eu-central-1",
    synonyms: &["aws_region", "default_region"],
};

static REGIONS: Key = Key {
    name: "regions",
    presence: Presence::Derived("`region` alone"),
    shape: Shape::List { of: Format::Line, may_be_empty: false },
    summary: "The regions whose trails and log groups are read: every one that the account uses.",
    rule: "names of regions, each once, all of one partition",
    example: "[eu-central-1, us-east-1]",
    synonyms: &["aws_regions"],
};

static ROLE_ARN: Key = Key {
    name: "role_arn",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "The role to assume.",
    rule: "the ARN of a role; with `mode: assume_role`, and only with it",
    example: "arn:aws:iam::123456789012:role/evidence",
    synonyms: &["role", "assume_role_arn"],
};

static EXTERNAL_ID: Key = Key {
    name: "external_id",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "The external id that the role's trust policy asks for.",
    rule: "2 to 1224 letters, digits and `+=,.@:/_-`; only with `mode: assume_role`",
    example: "acme-evidence",
    synonyms: &[],
};

static SESSION_DURATION: Key = Key {
    name: "session_duration",
    presence: Presence::Default(DefaultValue::Integer(3600)),
    shape: Shape::Integer { minimum: 900, maximum: 43_200 },
    summary: "How long the role's temporary credentials last, in seconds.",
    rule: "not more than the role allows; only with `mode: assume_role`",
    example: "3600",
    synonyms: &["session_duration_seconds", "duration_seconds"],
};

static TRAILS: Key = Key {
    name: "trails",
    presence: Presence::Default(DefaultValue::Empty("[]")),
    shape: Shape::List { of: Format::Line, may_be_empty: true },
    summary: "The audit trails in scope; empty for every one that the regions show.",
    rule: "names or ARNs of trails, each once",
    example: "[main]",
    synonyms: &["audit_trails", "cloudtrail", "trail"],
};

static LOG_GROUPS: Key = Key {
    name: "log_groups",
    presence: Presence::Default(DefaultValue::Empty("[]")),
    shape: Shape::List { of: Format::Line, may_be_empty: true },
    summary: "The log groups in scope; empty for all.",
    rule: "names, or beginnings of names followed by `*`, each once; in quotes if one begins with `*`",
    example: "[\"/production/*\"]",
    synonyms: &["log_group", "loggroups"],
};

static CONTROLS: Key = Key {
    name: "controls",
    presence: Presence::Derived("the top-level `controls`"),
    shape: Shape::List { of: Format::Control(SERVED), may_be_empty: false },
    summary: "The controls to collect from this source; replaces the top-level list here.",
    rule: "at least one, each once; may name controls the top-level list does not",
    example: "[CC6.1]",
    synonyms: &[],
};

static TIMEOUT_SECONDS: Key = Key {
    name: "timeout_seconds",
    presence: Presence::Default(DefaultValue::Integer(60)),
    shape: Shape::Seconds { maximum: 3600 },
    summary: "The longest one request may take, in seconds.",
    rule: "fractions are allowed",
    example: "60",
    synonyms: &["timeout"],
};

static ENDPOINT_URL: Key = Key {
    name: "endpoint_url",
    presence: Presence::Derived("the provider's own address of each service"),
    shape: Shape::Text(Format::Url),
    summary: "One address for all services, for private endpoints and trials.",
    rule: "https, or http on loopback; no user, query or fragment",
    example: "https://cloud.example.com",
    synonyms: &["endpoint", "url", "api_url", "base_url"],
};

static ACCESS_KEY_ID_ENV: Key = Key {
    name: "access_key_id_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_ACCESS_KEY_ID")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the access key id.",
    rule: "a name, never the id itself",
    example: "CLOUD_ACCESS_KEY_ID",
    synonyms: &["access_key_id", "access_key", "aws_access_key_id", "key_id"],
};

static SECRET_ACCESS_KEY_ENV: Key = Key {
    name: "secret_access_key_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_SECRET_ACCESS_KEY")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the secret access key.",
    rule: "a name, never the key itself",
    example: "CLOUD_SECRET_ACCESS_KEY",
    synonyms: &["secret_access_key", "secret_key", "aws_secret_access_key"],
};

static SESSION_TOKEN_ENV: Key = Key {
    name: "session_token_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_SESSION_TOKEN")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the session token; temporary credentials have one, others do not.",
    rule: "a name, never the token itself",
    example: "CLOUD_SESSION_TOKEN",
    synonyms: &["session_token", "aws_session_token"],
};

/// `sources.cloud`
static SECTION: Section = Section {
    path: "sources.cloud",
    summary: "The cloud account: password policy, audit trails, retention of logs.",
    keys: &[
        &MODE,
        &REGION,
        &REGIONS,
        &ROLE_ARN,
        &EXTERNAL_ID,
        &SESSION_DURATION,
        &TRAILS,
        &LOG_GROUPS,
        &CONTROLS,
        &TIMEOUT_SECONDS,
        &ENDPOINT_URL,
        &ACCESS_KEY_ID_ENV,
        &SECRET_ACCESS_KEY_ENV,
        &SESSION_TOKEN_ENV,
    ],
    exactly_one: &[],
    planned: &[],
    not_empty: false,
};

/// The cloud account; `controls` is the top-level list, if it is good.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    controls: Option<&[Control]>,
) -> Option<Arc<dyn Configured>> {
    let mode = decoder.text(fields, &MODE);
    let role = role(decoder, fields, mode.as_ref().map(|mode| mode.value.as_str()));
    let endpoint_url = decoder.text(fields, &ENDPOINT_URL);
    let bad_url = endpoint_url.is_none() && fields.has(&ENDPOINT_URL);
    let endpoint_url = endpoint_url.and_then(|text| format::url(&text.value).ok());
    let places = places(decoder, fields, endpoint_url.is_some() || bad_url);
    let trails = checked(decoder, fields, &TRAILS, scope::check_trail);
    let log_groups = checked(decoder, fields, &LOG_GROUPS, scope::check_log_group);
    let controls = sources::controls(decoder, fields, &CONTROLS, SERVED, controls);
    let timeout = decoder.seconds(fields, &TIMEOUT_SECONDS);
    let access_key_id = decoder.text(fields, &ACCESS_KEY_ID_ENV);
    let secret_access_key = decoder.text(fields, &SECRET_ACCESS_KEY_ENV);
    let session_token = decoder.text(fields, &SESSION_TOKEN_ENV);
    if bad_url {
        return None;
    }
    mode?;
    let (home, regions) = places?;
    Some(Arc::new(CloudConfig {
        role: role?,
        variables: Variables {
            access_key_id: access_key_id?.value,
            secret_access_key: secret_access_key?.value,
            session_token: session_token?.value,
        },
        home,
        regions,
        trails: trails?,
        log_groups: log_groups?,
        controls: controls?,
        timeout: timeout?,
        endpoint_url,
    }))
}

/// What belongs to `mode: assume_role` is there with it and only with it. The outer `None`: something is wrong.
fn role(decoder: &mut Decoder<'_, '_>, fields: &Fields, mode: Option<&str>) -> Option<Option<Role>> {
    let arn = decoder.text(fields, &ROLE_ARN);
    let arn = arn.and_then(|arn| good(decoder, arn, scope::check_role));
    let external_id = decoder.text(fields, &EXTERNAL_ID);
    let bad_id = external_id.is_none() && fields.has(&EXTERNAL_ID);
    let external_id = external_id.map(|id| good(decoder, id, check_external_id));
    let duration = decoder.integer(fields, &SESSION_DURATION);
    match mode {
        Some("assume_role") if !fields.has(&ROLE_ARN) => {
            let complaint = Complaint::new("`mode: assume_role` needs `role_arn`")
                .help(format!("add `role_arn: {}`, with your role", ROLE_ARN.example));
            decoder.problems.add(fields.place(), ROLE_ARN.path_in(&SECTION), complaint);
            None
        }
        Some("assume_role") if !bad_id => {
            let external_id = match external_id {
                Some(id) => Some(id?),
                None => None,
            };
            Some(Some(Role { arn: arn?, external_id, duration: duration? }))
        }
        Some("env") => {
            let mut alone = true;
            for key in [&ROLE_ARN, &EXTERNAL_ID, &SESSION_DURATION] {
                if fields.has(key) {
                    alone = false;
                    let complaint = Complaint::new(format!("`{}` has no meaning with `mode: env`", key.name))
                        .help("write `mode: assume_role`, or remove the key");
                    decoder.problems.add(fields.place(), key.path_in(&SECTION), complaint);
                }
            }
            alone.then_some(None)
        }
        _ => None,
    }
}

/// The home region and the regions that are read. Without any, home is `None` and nothing is read.
fn places(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    has_address: bool,
) -> Option<(Option<Region>, Vec<Region>)> {
    let own = decoder.text(fields, &REGION);
    let listed = decoder.list(fields, &REGIONS);
    let mut all_good = (own.is_some() || !fields.has(&REGION)) && (listed.is_some() || !fields.has(&REGIONS));
    let mut first: Option<Region> = None;
    let mut read =
        |decoder: &mut Decoder<'_, '_>, text: &Placed<String>| match region(&text.value, has_address, &first)
        {
            Ok(region) => {
                first.get_or_insert_with(|| region.clone());
                Some(region)
            }
            Err(complaint) => {
                decoder.problems.add(text.place.clone(), text.path.clone(), complaint);
                all_good = false;
                None
            }
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

/// `CLOUD_REGION`, if it is set. The outer `None`: it is wrong.
fn from_environment(decoder: &mut Decoder<'_, '_>, has_address: bool) -> Option<Option<Region>> {
    let Some(value) = decoder.env.var_os(REGION_VARIABLE) else { return Some(None) };
    let result = match value.to_str() {
        None => Err(Complaint::new("it is not UTF-8 text").help("correct the variable, or set `region`")),
        Some(text) => region(text, has_address, &None),
    };
    match result {
        Ok(region) => Some(Some(region)),
        Err(complaint) => {
            let message = format!(
                "the environment variable {REGION_VARIABLE} stands for this key: {}",
                complaint.message
            );
            decoder.problems.add(
                Place::Nowhere,
                REGION.path_in(&SECTION),
                Complaint { message, ..complaint },
            );
            None
        }
    }
}

/// A region whose addresses are known, of the same partition as `first`: credentials belong to one.
fn region(text: &str, has_address: bool, first: &Option<Region>) -> Result<Region, Complaint> {
    let region = Region::new(text).ok_or_else(|| {
        Complaint::new(format!("{} cannot be a region", quote(text)))
            .help("write the name of a region, such as `eu-central-1`")
    })?;
    if region.partition().is_none() && !has_address {
        return Err(Complaint::new(format!(
            "the addresses of {} are not known to this version",
            quote(text)
        ))
        .help(
            "set `endpoint_url`, or name a region of the public, the Chinese or the government partition",
        ));
    }
    match first {
        Some(first) if first.partition() != region.partition() => Err(Complaint::new(format!(
            "{} and {} are of different partitions",
            quote(text),
            quote(first.as_str())
        ))
        .help("an account belongs to one partition: collect from the other with a configuration of its own")),
        _ => Ok(region),
    }
}

/// A list whose entries keep a rule of this source.
fn checked(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    check: fn(&str) -> Result<(), Complaint>,
) -> Option<Vec<String>> {
    let entries = decoder.list(fields, key)?;
    // Each is checked before any is asked for, so that all their problems are found.
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
    Err(Complaint::new(format!("{} cannot be an external id", quote(text)))
        .help("it has 2 to 1224 letters, digits and `+=,.@:/_-`"))
}
