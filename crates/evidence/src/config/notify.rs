//! `notify`: the addresses that learn how a run ended.

use url::Url;

use evidence_settings::declare::{Section, URL};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::format;
use evidence_settings::keys;

/// `notify`
#[derive(Debug, Clone, Default)]
pub struct NotifyConfig {
    /// `success_url`
    pub success_url: Option<Url>,
    /// `failure_url`
    pub failure_url: Option<Url>,
}

keys! {
    SUCCESS_URL = optional("success_url", URL,
        "The address that gets a POST after a collection that ends with exit code 0.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://hc-ping.com/UUID", also &["success", "ok_url", "url", "ping_url"];
    FAILURE_URL = optional("failure_url", URL,
        "The address that gets a POST after a collection that ends with any other exit code.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://hc-ping.com/UUID/fail", also &["failure", "fail_url", "error_url"];
}

/// `notify`
pub(super) static SECTION: Section = Section::new(
    "notify",
    "Addresses that learn how `evidence collect` ended, so that a run that stops coming is noticed. The body has the exit \
     code and nothing else. Needs `--config`.",
    &[&SUCCESS_URL, &FAILURE_URL],
);

/// The addresses.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> NotifyConfig {
    let success = decoder.text(fields, &SUCCESS_URL);
    let failure = decoder.text(fields, &FAILURE_URL);
    let url = |text: &str| format::url(text).ok();
    NotifyConfig {
        success_url: success.and_then(|text| url(&text.value)),
        failure_url: failure.and_then(|text| url(&text.value)),
    }
}
