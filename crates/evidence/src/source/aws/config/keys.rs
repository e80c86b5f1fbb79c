//! The keys of `sources.cloud`: their values and descriptions.

use super::SERVED;
use crate::source::aws::names::NAME;
use evidence_settings::declare::{CustomFormat, DefaultValue, Format, Key, Presence, Section, Shape};
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// The key of this source.
pub(crate) static KEY: Key = Key {
    name: NAME.id(),
    presence: Presence::Optional,
    shape: Shape::Section(&SECTION),
    summary: SECTION.summary,
    rule: "",
    example: "",
    synonyms: &["aws", "amazon"],
};

pub(super) static MODE: Key = Key {
    name: "mode",
    presence: Presence::Required,
    shape: Shape::Text(Format::Choice(&["env", "assume_role"])),
    summary: "How the tool authenticates: with the credentials in the variables, or with a role that they can assume.",
    rule: "",
    example: "env",
    synonyms: &["auth", "auth_mode"],
};

pub(super) static REGION: Key = Key {
    name: "region",
    presence: Presence::Derived("the first of `regions`, or the environment variable `CLOUD_REGION`"),
    shape: Shape::Text(Format::Line),
    summary: "The region used for authentication; the only one read if `regions` is absent.",
    rule: "the name of a region, such as eu-central-1",
    example: "eu-central-1",
    synonyms: &["aws_region", "default_region"],
};

/// One of several regions. The source checks more, because that depends on the other keys.
static REGION_NAME: CustomFormat = CustomFormat {
    noun: "the name of a region",
    shown: "text",
    hint: Some("write the names of the regions, such as `[eu-central-1, us-east-1]`"),
    ignores_case: false,
    check: |text| {
        match text.to_ascii_lowercase().as_str() {
        "all" | "*" | "any" | "global" => {
            Err(Complaint::new(format!("{} is not a region: each region must be named", quote(text))).help(
                "write the regions that the account uses, such as `regions: [eu-central-1, us-east-1]`; \
                 `aws account list-regions --region-opt-status-contains ENABLED ENABLED_BY_DEFAULT` lists those \
                 that are enabled",
            ))
        }
        _ => Ok(()),
    }
    },
    pattern: "^[a-z0-9-]+$",
    max_length: None,
};

pub(super) static REGIONS: Key = Key {
    name: "regions",
    presence: Presence::Derived("`region` alone"),
    shape: Shape::List { of: Format::Custom(&REGION_NAME), may_be_empty: false },
    summary: "The regions whose trails and log groups are read; list every region that the account uses.",
    rule: "names of regions, each once, all of one partition",
    example: "[eu-central-1, us-east-1]",
    synonyms: &["aws_regions"],
};

pub(super) static ROLE_ARN: Key = Key {
    name: "role_arn",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "The role to assume.",
    rule: "the ARN of a role; with `mode: assume_role`, and only with it",
    example: "arn:aws:iam::123456789012:role/evidence",
    synonyms: &["role", "assume_role_arn"],
};

pub(super) static EXTERNAL_ID: Key = Key {
    name: "external_id",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "The external id that the role's trust policy requires.",
    rule: "2 to 1224 letters, digits and `+=,.@:/_-`; only with `mode: assume_role`",
    example: "acme-evidence",
    synonyms: &[],
};

pub(super) static SESSION_DURATION: Key = Key {
    name: "session_duration",
    presence: Presence::Default(DefaultValue::Integer(3600)),
    shape: Shape::Integer { minimum: 900, maximum: 43_200 },
    summary: "How long the temporary credentials of roles last, in seconds.",
    rule: "not more than each role allows; only with `mode: assume_role` or `accounts`",
    example: "3600",
    synonyms: &["session_duration_seconds", "duration_seconds"],
};

pub(super) static TRAILS: Key = Key {
    name: "trails",
    presence: Presence::Default(DefaultValue::Empty("[]")),
    shape: Shape::List { of: Format::Line, may_be_empty: true },
    summary: "The audit trails in scope; empty for all.",
    rule: "names or ARNs of trails, each once",
    example: "[main]",
    synonyms: &["audit_trails", "cloudtrail", "trail"],
};

pub(super) static LOG_GROUPS: Key = Key {
    name: "log_groups",
    presence: Presence::Default(DefaultValue::Empty("[]")),
    shape: Shape::List { of: Format::Line, may_be_empty: true },
    summary: "The log groups in scope; empty for all.",
    rule: "names, or prefixes followed by `*`, each once",
    example: "[\"/production/*\"]",
    synonyms: &["log_group", "loggroups"],
};

pub(super) static ACCOUNTS: Key = Key {
    name: "accounts",
    presence: Presence::Optional,
    shape: Shape::Sections(&ACCOUNT),
    summary: "The accounts to read instead of the account of the credentials, each with a role in it.",
    rule: "each account once",
    example: "[{role_arn: \"arn:aws:iam::123456789012:role/evidence\"}]",
    synonyms: &["account", "account_ids", "roles"],
};

pub(super) static ACCOUNT_ROLE_ARN: Key = Key {
    name: ROLE_ARN.name,
    presence: Presence::Required,
    shape: Shape::Text(Format::Line),
    summary: "The role to assume in the account.",
    rule: "the ARN of a role",
    example: ROLE_ARN.example,
    synonyms: ROLE_ARN.synonyms,
};

pub(super) static ACCOUNT_EXTERNAL_ID: Key = Key {
    name: EXTERNAL_ID.name,
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: EXTERNAL_ID.summary,
    rule: "2 to 1224 letters, digits and `+=,.@:/_-`",
    example: EXTERNAL_ID.example,
    synonyms: EXTERNAL_ID.synonyms,
};

pub(super) static ACCOUNT_NAME: Key = Key {
    name: "name",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "What messages call the account, in addition to its number.",
    rule: "",
    example: "production",
    synonyms: &["alias", "label"],
};

pub(super) static ACCOUNT_REGIONS: Key = Key {
    name: REGIONS.name,
    presence: Presence::Derived("`regions` of the source"),
    shape: REGIONS.shape,
    summary: "The regions of this account that are read.",
    rule: REGIONS.rule,
    example: REGIONS.example,
    synonyms: REGIONS.synonyms,
};

pub(super) static ACCOUNT_TRAILS: Key = Key {
    name: TRAILS.name,
    presence: Presence::Derived("`trails` of the source"),
    shape: TRAILS.shape,
    summary: "The audit trails of this account in scope; empty for all.",
    rule: TRAILS.rule,
    example: TRAILS.example,
    synonyms: TRAILS.synonyms,
};

pub(super) static ACCOUNT_LOG_GROUPS: Key = Key {
    name: LOG_GROUPS.name,
    presence: Presence::Derived("`log_groups` of the source"),
    shape: LOG_GROUPS.shape,
    summary: "The log groups of this account in scope; empty for all.",
    rule: LOG_GROUPS.rule,
    example: LOG_GROUPS.example,
    synonyms: LOG_GROUPS.synonyms,
};

/// One of `sources.cloud.accounts`
static ACCOUNT: Section = Section {
    path: "sources.cloud.accounts[]",
    summary: "One account, read with the temporary credentials of a role in it.",
    keys: &[
        &ACCOUNT_ROLE_ARN,
        &ACCOUNT_EXTERNAL_ID,
        &ACCOUNT_NAME,
        &ACCOUNT_REGIONS,
        &ACCOUNT_TRAILS,
        &ACCOUNT_LOG_GROUPS,
    ],
    exactly_one: &[],
    planned: &[],
    not_empty: false,
};

pub(super) static CONTROLS: Key = Key {
    name: "controls",
    presence: Presence::Derived("those of the top-level `controls` that this source serves"),
    shape: Shape::List { of: Format::Word(&SERVED), may_be_empty: false },
    summary: "The controls to collect from this source; replaces the top-level list here.",
    rule: "at least one, each once; may include controls that the top-level list does not",
    example: "[CC6.1]",
    synonyms: &[],
};

pub(super) static TIMEOUT_SECONDS: Key = Key {
    name: "timeout_seconds",
    presence: Presence::Default(DefaultValue::Integer(60)),
    shape: Shape::Seconds { maximum: 3600 },
    summary: "The time limit for one request, in seconds.",
    rule: "fractions are allowed",
    example: "60",
    synonyms: &["timeout"],
};

pub(super) static ENDPOINT_URL: Key = Key {
    name: "endpoint_url",
    presence: Presence::Derived("the provider's own address of each service"),
    shape: Shape::Text(Format::Url),
    summary: "One address for all services, for private endpoints and tests.",
    rule: "https, or http on loopback; no user, query or fragment",
    example: "https://cloud.example.com",
    synonyms: &["endpoint", "url", "api_url", "base_url"],
};

pub(super) static ACCESS_KEY_ID_ENV: Key = Key {
    name: "access_key_id_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_ACCESS_KEY_ID")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the access key id.",
    rule: "a name, never the id itself",
    example: "CLOUD_ACCESS_KEY_ID",
    synonyms: &["access_key_id", "access_key", "aws_access_key_id", "key_id"],
};

pub(super) static SECRET_ACCESS_KEY_ENV: Key = Key {
    name: "secret_access_key_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_SECRET_ACCESS_KEY")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the secret access key.",
    rule: "a name, never the key itself",
    example: "CLOUD_SECRET_ACCESS_KEY",
    synonyms: &["secret_access_key", "secret_key", "aws_secret_access_key"],
};

pub(super) static SESSION_TOKEN_ENV: Key = Key {
    name: "session_token_env",
    presence: Presence::Default(DefaultValue::Text("CLOUD_SESSION_TOKEN")),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the session token; only temporary credentials have one.",
    rule: "a name, never the token itself",
    example: "CLOUD_SESSION_TOKEN",
    synonyms: &["session_token", "aws_session_token"],
};

/// `sources.cloud`
pub(super) static SECTION: Section = Section {
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
        &ACCOUNTS,
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
