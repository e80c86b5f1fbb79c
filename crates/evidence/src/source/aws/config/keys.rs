//! The keys of `sources.cloud`: their values and descriptions.

use crate::config::controls::{controls_of, served_by};
use crate::config::shared::{self, TIMEOUT_SECONDS};
use crate::source::aws::names::{NAME, is_account};
use evidence_rules::cloud as rules;
use evidence_settings::declare::{
    CustomFormat, DefaultValue, Format, Key, LINE, Section, Shape, URL, Vocabulary,
};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

keys! {
    /// The key of this source.
    pub(crate) KEY = optional_section(NAME.id(), &SECTION)
        also &["aws", "amazon"];
    pub(super) MODE = required("mode", Shape::Text(Format::Choice(&[
            "env", "assume_role", "default", "command", "web_identity", "container", "instance",
        ])),
        "How the tool authenticates: with the credentials in the variables, with a role that they can assume, \
         or with credentials of a program, of an identity provider's token, of a container or of an instance; \
         `default` takes the first that is there.")
        example "env", also &["auth", "auth_mode"];
    pub(super) CREDENTIALS_COMMAND = optional("credentials_command",
        Shape::List { of: Format::Line, may_be_empty: false },
        "The program that prints credentials, and its arguments: the contract of `credential_process`.")
        rule "with `mode: command`, and only with it; runs without a shell",
        example "[aws, configure, export-credentials, --profile, audit]",
        also &["credential_process", "command", "process"];
    pub(super) REGION = derived("region",
        "the first of `regions`, or the environment variable `CLOUD_REGION`", LINE,
        "The region used for authentication; the only one read if `regions` is absent.")
        rule "the name of a region, such as eu-central-1", example "eu-central-1",
        also &["aws_region", "default_region"];
}

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

keys! {
    pub(super) REGIONS = derived("regions", "`region` alone",
        Shape::List { of: Format::Custom(&REGION_NAME), may_be_empty: false },
        "The regions whose trails and log groups are read; list every region that the account uses.")
        rule "names of regions, each once, all of one partition", example "[eu-central-1, us-east-1]",
        also &["aws_regions"];
    pub(super) ROLE_ARN = optional("role_arn", LINE, "The role to assume.")
        rule "the ARN of a role; required with `mode: assume_role`, not with `mode: env`",
        example "arn:aws:iam::123456789012:role/evidence", also &["role", "assume_role_arn"];
    pub(super) EXTERNAL_ID = optional("external_id", LINE,
        "The external id that the role's trust policy requires.")
        rule "2 to 1224 letters, digits and `+=,.@:/_-`; only with `role_arn`",
        example "acme-evidence";
    pub(super) SESSION_DURATION = integer("session_duration", 3600, 900..=43_200,
        "How long the temporary credentials of roles last, in seconds.")
        rule "not more than each role allows; not with `mode: env`, unless with `accounts`", example "3600",
        also &["session_duration_seconds", "duration_seconds"];
    pub(super) TRAILS = default("trails", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Line, may_be_empty: true }, "The audit trails in scope; empty for all.")
        rule "names or ARNs of trails, each once", example "[main]",
        also &["audit_trails", "cloudtrail", "trail"];
    pub(super) LOG_GROUPS = default("log_groups", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Line, may_be_empty: true }, "The log groups in scope; empty for all.")
        rule "names, or prefixes followed by `*`, each once", example "[\"/production/*\"]",
        also &["log_group", "loggroups"];
    pub(super) ACCOUNTS = optional("accounts",
        Shape::OrSection { plain: &Shape::Sections(&ACCOUNT), section: &ACCOUNTS_OF },
        "The accounts to read instead of the account of the credentials, each with a role in it: a list, or all \
         active accounts of the organization.")
        rule "each account once", example "[{role_arn: \"arn:aws:iam::123456789012:role/evidence\"}]",
        also &["account", "account_ids", "roles"];
    pub(super) ACCOUNT_ROLE_ARN = required(ROLE_ARN.name, LINE, "The role to assume in the account.")
        rule "the ARN of a role", example ROLE_ARN.example, also ROLE_ARN.synonyms;
    pub(super) ACCOUNT_EXTERNAL_ID = optional(EXTERNAL_ID.name, LINE, EXTERNAL_ID.summary)
        rule "2 to 1224 letters, digits and `+=,.@:/_-`", example EXTERNAL_ID.example,
        also EXTERNAL_ID.synonyms;
    pub(super) ACCOUNT_NAME = optional("name", LINE,
        "What messages call the account, in addition to its number.")
        example "production", also &["alias", "label"];
    pub(super) ACCOUNT_REGIONS = derived(REGIONS.name, "`regions` of the source", REGIONS.shape,
        "The regions of this account that are read.")
        rule REGIONS.rule, example REGIONS.example, also REGIONS.synonyms;
    pub(super) ACCOUNT_TRAILS = derived(TRAILS.name, "`trails` of the source", TRAILS.shape,
        "The audit trails of this account in scope; empty for all.")
        rule TRAILS.rule, example TRAILS.example, also TRAILS.synonyms;
    pub(super) ACCOUNT_LOG_GROUPS = derived(LOG_GROUPS.name, "`log_groups` of the source", LOG_GROUPS.shape,
        "The log groups of this account in scope; empty for all.")
        rule LOG_GROUPS.rule, example LOG_GROUPS.example, also LOG_GROUPS.synonyms;
}

keys! {
    pub(super) ORGANIZATION = required("organization", Shape::Section(&OF_ORGANIZATION),
        "All active accounts of the organization that the credentials may list.")
        also &["org"];
    pub(super) ROLE_NAME = required("role_name", LINE, "The name of the role in every account.")
        rule "1 to 64 letters, digits and `+=,.@_-`, or a path and such a name", example "evidence",
        also &["role"];
    pub(super) ORGANIZATION_EXTERNAL_ID = optional(EXTERNAL_ID.name, LINE, EXTERNAL_ID.summary)
        rule "2 to 1224 letters, digits and `+=,.@:/_-`", example EXTERNAL_ID.example,
        also EXTERNAL_ID.synonyms;
    pub(super) EXCLUDED_ACCOUNTS = default("exclude", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Custom(&ACCOUNT_NUMBER), may_be_empty: true },
        "The numbers of accounts to leave out on purpose; the population names them.")
        rule "each once, in quotes", example "[\"123456789012\"]", also &["excludes", "ignore", "skip"];
}

/// The number of an account.
static ACCOUNT_NUMBER: CustomFormat = CustomFormat {
    noun: "the number of an account",
    shown: "text",
    hint: Some("write the 12 digits in quotes, such as `[\"123456789012\"]`"),
    ignores_case: false,
    check: |text| {
        if is_account(text) {
            return Ok(());
        }
        Err(Complaint::new(format!("{} is not the number of an account", quote(text)))
            .help("write its 12 digits in quotes"))
    },
    pattern: "^[0-9]{12}$",
    max_length: None,
};

/// `sources.cloud.accounts`, as a mapping
static ACCOUNTS_OF: Section = Section::new(
    "sources.cloud.accounts",
    "The accounts to read, by where they are listed.",
    &[&ORGANIZATION],
);

/// `sources.cloud.accounts.organization`
static OF_ORGANIZATION: Section = Section::new(
    "sources.cloud.accounts.organization",
    "All active accounts of the organization, each read with a role of the same name.",
    &[&ROLE_NAME, &ORGANIZATION_EXTERNAL_ID, &EXCLUDED_ACCOUNTS],
);

/// One of `sources.cloud.accounts`
static ACCOUNT: Section = Section::new(
    "sources.cloud.accounts[]",
    "One account, read with the temporary credentials of a role in it.",
    &[
        &ACCOUNT_ROLE_ARN,
        &ACCOUNT_EXTERNAL_ID,
        &ACCOUNT_NAME,
        &ACCOUNT_REGIONS,
        &ACCOUNT_TRAILS,
        &ACCOUNT_LOG_GROUPS,
    ],
);

/// The controls this source can serve.
static SERVED: Vocabulary = controls_of(|context| served_by(context, rules::RULES.rules));

pub(super) static CONTROLS: Key =
    shared::controls("those of the top-level `controls` that this source serves", &SERVED);

keys! {
    pub(super) ENDPOINT_URL = derived("endpoint_url", "the provider's own address of each service", URL,
        "One address for all services, for private endpoints and tests.")
        rule "https, or http on loopback; no user, query or fragment", example "https://cloud.example.com",
        also &["endpoint", "url", "api_url", "base_url"];
    pub(super) ACCESS_KEY_ID_ENV = variable("access_key_id_env", "CLOUD_ACCESS_KEY_ID",
        "The environment variable that holds the access key id.")
        rule "a name, never the id itself", example "CLOUD_ACCESS_KEY_ID",
        also &["access_key_id", "access_key", "aws_access_key_id", "key_id"];
    pub(super) SECRET_ACCESS_KEY_ENV = variable("secret_access_key_env", "CLOUD_SECRET_ACCESS_KEY",
        "The environment variable that holds the secret access key.")
        rule "a name, never the key itself", example "CLOUD_SECRET_ACCESS_KEY",
        also &["secret_access_key", "secret_key", "aws_secret_access_key"];
    pub(super) SESSION_TOKEN_ENV = variable("session_token_env", "CLOUD_SESSION_TOKEN",
        "The environment variable that holds the session token; only temporary credentials have one.")
        rule "a name, never the token itself", example "CLOUD_SESSION_TOKEN",
        also &["session_token", "aws_session_token"];
}

/// `sources.cloud`
pub(super) static SECTION: Section = Section::new(
    "sources.cloud",
    "The cloud account: password policy, audit trails, retention of logs.",
    &[
        &MODE,
        &CREDENTIALS_COMMAND,
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
);
