//! `upload`: the evidence platform that `--upload` delivers to.

use std::collections::BTreeMap;
use std::time::Duration;

use url::Url;

use evidence_settings::declare::{DefaultValue, Format, LINE, Section, Shape, URL};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::format;
use evidence_settings::keys;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// `upload`
#[derive(Debug, Clone)]
pub struct UploadConfig {
    /// `api_url`: base of the platform's API.
    pub api_url: Url,
    /// `platform_url`: base of the printed bundle URL.
    pub platform_url: Url,
    /// `api_key_env`: the variable that holds the API key.
    pub api_key_env: String,
    /// `organization_id`
    pub organization_id: Option<String>,
    /// `retention_days`
    pub retention_days: u32,
    /// `tags`, sorted by key.
    pub tags: BTreeMap<String, String>,
    /// `verify_before_upload`
    pub verify_before_upload: bool,
    /// `delete_after_upload`
    pub delete_after_upload: bool,
    /// `require_complete`
    pub require_complete: bool,
    /// `timeout_seconds` of one upload.
    pub timeout: Duration,
    /// `retry_attempts`
    pub retry_attempts: u32,
}

const DEFAULT_API_KEY_ENV: &str = "EVIDENCE_API_KEY";
const DEFAULT_RETENTION_DAYS: u32 = 365;
const DEFAULT_TIMEOUT_SECONDS: u32 = 300;
const DEFAULT_RETRY_ATTEMPTS: u32 = 3;

keys! {
    API_URL = required("api_url", URL, "The base URL of the platform's API.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://evidence.example.com", also &["url", "endpoint", "base_url"];
    PLATFORM_URL = derived("platform_url", "the same as `api_url`", URL,
        "The base URL of the page printed for an uploaded bundle.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://evidence.example.com", also &["web_url"];
    API_KEY_ENV = variable("api_key_env", DEFAULT_API_KEY_ENV,
        "The environment variable that holds the platform's API key.")
        rule "a name, never the key itself", example "EVIDENCE_API_KEY",
        also &["api_key", "key", "key_env", "token", "token_env"];
    ORGANIZATION_ID = optional("organization_id", LINE,
        "The organization on the platform that the API key must belong to.")
        example "org_acme", also &["organization", "organisation_id", "org_id", "org"];
    RETENTION_DAYS = integer("retention_days", DEFAULT_RETENTION_DAYS as _, 1..=36_500,
        "How many days the platform keeps the bundle.")
        example "365", also &["retention"];
    TAGS = default("tags", DefaultValue::Empty("{}"), Shape::Tags, "Tags for the bundle on the platform.")
        rule "names of 1 to 64 letters, digits and `._-/`, texts of at most 256 bytes",
        example "{team: platform}", also &["labels", "tag"];
    VERIFY_BEFORE_UPLOAD = boolean("verify_before_upload", true,
        "Verify the bundle on this machine before sending it.")
        example "true", also &["verify"];
    DELETE_AFTER_UPLOAD = boolean("delete_after_upload", false,
        "Delete the local bundle once the platform has verified it.")
        example "false", also &["delete"];
    REQUIRE_COMPLETE = boolean("require_complete", false,
        "Upload a collected bundle only if it is complete; an incomplete one stays on this machine.")
        example "false", also &["complete_only", "only_complete"];
    TIMEOUT_SECONDS = seconds("timeout_seconds", DEFAULT_TIMEOUT_SECONDS as _, 86_400,
        "The time limit for one upload attempt, in seconds.")
        rule "fractions are allowed", example "300", also &["timeout"];
    RETRY_ATTEMPTS = integer("retry_attempts", DEFAULT_RETRY_ATTEMPTS as _, 0..=20,
        "How often an interrupted upload is retried.")
        example "3", also &["retries", "max_retries"];
}

/// `upload`
pub(super) static SECTION: Section = Section::new(
    "upload",
    "The evidence platform that receives bundles from `--upload` and `evidence upload`.",
    &[
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
);

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
