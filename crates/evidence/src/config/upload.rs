//! `upload`: the evidence platform that `--upload` delivers to.

use std::collections::BTreeMap;
use std::time::Duration;

use url::Url;

use evidence_settings::declare::{DefaultValue, Format, Key, Presence, Section, Shape};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::format;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

use super::UploadConfig;

const DEFAULT_API_KEY_ENV: &str = "EVIDENCE_API_KEY";
const DEFAULT_RETENTION_DAYS: u32 = 365;
const DEFAULT_TIMEOUT_SECONDS: u32 = 300;
const DEFAULT_RETRY_ATTEMPTS: u32 = 3;

static API_URL: Key = Key {
    name: "api_url",
    presence: Presence::Required,
    shape: Shape::Text(Format::Url),
    summary: "The base URL of the platform's API.",
    rule: "https, or http on loopback; no user, query or fragment",
    example: "https://evidence.example.com",
    synonyms: &["url", "endpoint", "base_url"],
};

static PLATFORM_URL: Key = Key {
    name: "platform_url",
    presence: Presence::Derived("the same as `api_url`"),
    shape: Shape::Text(Format::Url),
    summary: "The base URL of the page printed for an uploaded bundle.",
    rule: "https, or http on loopback; no user, query or fragment",
    example: "https://evidence.example.com",
    synonyms: &["web_url"],
};

static API_KEY_ENV: Key = Key {
    name: "api_key_env",
    presence: Presence::Default(DefaultValue::Text(DEFAULT_API_KEY_ENV)),
    shape: Shape::Text(Format::Variable),
    summary: "The environment variable that holds the platform's API key.",
    rule: "a name, never the key itself",
    example: "EVIDENCE_API_KEY",
    synonyms: &["api_key", "key", "key_env", "token", "token_env"],
};

static ORGANIZATION_ID: Key = Key {
    name: "organization_id",
    presence: Presence::Optional,
    shape: Shape::Text(Format::Line),
    summary: "The organization on the platform that the API key must belong to.",
    rule: "",
    example: "org_acme",
    synonyms: &["organization", "organisation_id", "org_id", "org"],
};

static RETENTION_DAYS: Key = Key {
    name: "retention_days",
    presence: Presence::Default(DefaultValue::Integer(DEFAULT_RETENTION_DAYS as _)),
    shape: Shape::Integer { minimum: 1, maximum: 36_500 },
    summary: "How many days the platform keeps the bundle.",
    rule: "",
    example: "365",
    synonyms: &["retention"],
};

static TAGS: Key = Key {
    name: "tags",
    presence: Presence::Default(DefaultValue::Empty("{}")),
    shape: Shape::Tags,
    summary: "Tags for the bundle on the platform.",
    rule: "names of 1 to 64 letters, digits and `._-/`, texts of at most 256 bytes",
    example: "{team: platform}",
    synonyms: &["labels", "tag"],
};

static VERIFY_BEFORE_UPLOAD: Key = Key {
    name: "verify_before_upload",
    presence: Presence::Default(DefaultValue::Boolean(true)),
    shape: Shape::Boolean,
    summary: "Verify the bundle on this machine before sending it.",
    rule: "",
    example: "true",
    synonyms: &["verify"],
};

static DELETE_AFTER_UPLOAD: Key = Key {
    name: "delete_after_upload",
    presence: Presence::Default(DefaultValue::Boolean(false)),
    shape: Shape::Boolean,
    summary: "Delete the local bundle once the platform has verified it.",
    rule: "",
    example: "false",
    synonyms: &["delete"],
};

static REQUIRE_COMPLETE: Key = Key {
    name: "require_complete",
    presence: Presence::Default(DefaultValue::Boolean(false)),
    shape: Shape::Boolean,
    summary: "Upload a collected bundle only if it is complete; an incomplete one stays on this machine.",
    rule: "",
    example: "false",
    synonyms: &["complete_only", "only_complete"],
};

static TIMEOUT_SECONDS: Key = Key {
    name: "timeout_seconds",
    presence: Presence::Default(DefaultValue::Integer(DEFAULT_TIMEOUT_SECONDS as _)),
    shape: Shape::Seconds { maximum: 86_400 },
    summary: "The time limit for one upload attempt, in seconds.",
    rule: "fractions are allowed",
    example: "300",
    synonyms: &["timeout"],
};

static RETRY_ATTEMPTS: Key = Key {
    name: "retry_attempts",
    presence: Presence::Default(DefaultValue::Integer(DEFAULT_RETRY_ATTEMPTS as _)),
    shape: Shape::Integer { minimum: 0, maximum: 20 },
    summary: "How often an interrupted upload is retried.",
    rule: "",
    example: "3",
    synonyms: &["retries", "max_retries"],
};

/// `upload`
pub(super) static SECTION: Section = Section {
    path: "upload",
    summary: "The evidence platform that receives bundles from `--upload` and `evidence upload`.",
    keys: &[
        &API_URL,
        &PLATFORM_URL,
        &API_KEY_ENV,
        &ORGANIZATION_ID,
        &RETENTION_DAYS,
        &TAGS,
        &VERIFY_BEFORE_UPLOAD,
        &DELETE_AFTER_UPLOAD,
        &REQUIRE_COMPLETE,
        &TIMEOUT_SECONDS,
        &RETRY_ATTEMPTS,
    ],
    exactly_one: &[],
    planned: &[],
    not_empty: false,
};

/// The upload configuration.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<UploadConfig> {
    let api_url = decoder.text(fields, &API_URL).and_then(|text| format::url(&text.value).ok());
    let platform_url = decoder.text(fields, &PLATFORM_URL).and_then(|text| format::url(&text.value).ok());
    let api_key_env = decoder.text(fields, &API_KEY_ENV);
    let organization_id = decoder.text(fields, &ORGANIZATION_ID).map(|text| text.value);
    let retention_days = decoder.integer(fields, &RETENTION_DAYS);
    let tags = decoder.tags(fields, &TAGS);
    let verify_before_upload = decoder.boolean(fields, &VERIFY_BEFORE_UPLOAD);
    let delete_after_upload = decoder.boolean(fields, &DELETE_AFTER_UPLOAD);
    let require_complete = decoder.boolean(fields, &REQUIRE_COMPLETE);
    let timeout = decoder.seconds(fields, &TIMEOUT_SECONDS);
    let retry_attempts = decoder.integer(fields, &RETRY_ATTEMPTS);
    let api_url = api_url?;
    Some(UploadConfig {
        platform_url: platform_url.unwrap_or_else(|| api_url.clone()),
        api_url,
        api_key_env: api_key_env?.value,
        organization_id,
        retention_days: retention_days?,
        tags: tags?,
        verify_before_upload: verify_before_upload?,
        delete_after_upload: delete_after_upload?,
        require_complete: require_complete?,
        timeout: timeout?,
        retry_attempts: retry_attempts?,
    })
}

impl UploadConfig {
    /// The platform at this address, with defaults for everything else: an upload without a configuration file.
    pub fn at(api_url: Url) -> UploadConfig {
        UploadConfig {
            platform_url: api_url.clone(),
            api_url,
            api_key_env: DEFAULT_API_KEY_ENV.to_string(),
            organization_id: None,
            retention_days: DEFAULT_RETENTION_DAYS,
            tags: BTreeMap::new(),
            verify_before_upload: true,
            delete_after_upload: false,
            require_complete: false,
            timeout: Duration::from_secs(u64::from(DEFAULT_TIMEOUT_SECONDS)),
            retry_attempts: DEFAULT_RETRY_ATTEMPTS,
        }
    }
}

/// Parses a platform address from the command line, by the rule of `api_url`.
pub(crate) fn endpoint(text: &str) -> Result<Url, Complaint> {
    format::check(Format::Url, text)?;
    format::url(text)
}

/// Parses a tag from the command line, `name=text`, by the rules of `tags`.
pub(crate) fn tag(text: &str) -> Result<(String, String), Complaint> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Complaint::new(format!("{} is not a tag", quote(text))).help("write `name=text`"));
    };
    format::tag_name(name)?;
    format::check(Format::Line, value)?;
    format::tag_value(value)?;
    Ok((name.to_owned(), value.to_owned()))
}
