//! `sources.altcloud`: the workspace directory, read by a service account on behalf of an administrator.

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::host::service_account::DEFAULT_TOKEN_URI;
use super::names::{MY_CUSTOMER, NAME, is_address, is_customer, is_domain};
use crate::config::controls::{self, Applied, controls_of, served_by};
use crate::config::shared::{self, TIMEOUT_SECONDS};
use crate::origin::OwnHosts;
use crate::source::Source;
use evidence_rules::altcloud as rules;
use evidence_rules::rule::{Rule, Settings};
use evidence_settings::declare::{
    DefaultValue, Format, Key, LINE, Section, Shape, URL, VARIABLE, Vocabulary,
};
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::format;
use evidence_settings::keys;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// The provider's own address.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://admin.googleapis.com`",
    is_own: |host| host == "admin.googleapis.com",
    mistaken: |_| None,
};

/// The provider's own address of the service that signs.
pub(crate) static IAM_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://iamcredentials.googleapis.com`",
    is_own: |host| host == "iamcredentials.googleapis.com",
    mistaken: |_| None,
};

/// The mode without a key file.
const SIGN_JWT: &str = "sign_jwt";

/// The provider's own address for policies.
pub(crate) static CLOUD_IDENTITY_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://cloudidentity.googleapis.com`",
    is_own: |host| host == "cloudidentity.googleapis.com",
    mistaken: |_| None,
};

/// The controls this source can serve.
static SERVED: Vocabulary = controls_of(|context| served_by(context, rules::RULES.rules));

/// `sources.altcloud`
#[derive(Debug, Clone)]
pub struct AltCloudConfig {
    /// `credentials_env`: the name of the variable that holds the path of the credentials file.
    pub credentials_env: String,
    /// `credentials_json_env`: the name of a variable that holds the content of the file instead.
    pub credentials_json_env: Option<String>,
    /// `mode: sign_jwt`: the provider signs, and no key is here.
    pub keyless: Option<Keyless>,
    /// `customer_id`
    pub customer_id: String,
    /// `admin_email`: the administrator that the service account acts for.
    pub admin_email: String,
    /// `domains`, in lower case; empty for the whole customer.
    pub domains: Vec<String>,
    /// The rules required by this source's `controls`, or by the top-level list as far as this source serves it.
    pub rules: Vec<&'static Rule>,
    /// `rules.settings`: the numbers that the rules judge by.
    pub rule_settings: Settings,
    /// `timeout_seconds` of one request.
    pub timeout: Duration,
    /// `api_url`: base of the API, https (or loopback), no trailing slash.
    pub api_url: Url,
    /// `cloud_identity_url`: base of the API for policies, likewise.
    pub cloud_identity_url: Url,
}

/// A service account without a key file, for which the provider signs.
#[derive(Debug, Clone)]
pub struct Keyless {
    /// `service_account`: its address.
    pub service_account: String,
    /// Whether a federation file says who asks for the signature; otherwise the identity attached to the machine does.
    pub federated: bool,
    /// `iam_url`: base of the service that signs.
    pub iam_url: Url,
    /// `token_uri`: the exchange of assertions for tokens.
    pub token_uri: Url,
}

impl AltCloudConfig {
    /// The customer. The alias means a different customer to every administrator, so the administrator's domain
    /// replaces it.
    pub(super) fn organization(&self) -> &str {
        if self.customer_id != MY_CUSTOMER {
            return &self.customer_id;
        }
        self.admin_email.rsplit_once('@').map_or(MY_CUSTOMER, |(_, domain)| domain)
    }

    /// Whether a request may go without TLS, on loopback.
    pub(super) fn is_plain(&self) -> bool {
        [&self.api_url, &self.cloud_identity_url].iter().any(|url| url.scheme() == "http")
    }

    /// Whether a rule needs the policies.
    pub(super) fn reads_policies(&self) -> bool {
        self.collects(&rules::artifact::POLICIES)
    }
}

keys! {
    /// The key of this source.
    pub(crate) KEY = optional_section(NAME.id(), &SECTION)
        also &["google", "gsuite", "workspace", "google_workspace", "gcp", "alt_cloud"];
    MODE = required("mode", Shape::Text(Format::Choice(&["service_account", SIGN_JWT])),
        "How the tool authenticates as a service account with read-only scopes delegated by an administrator: with the \
         account's key, or without one, by having the provider sign.")
        example "service_account", also &["auth", "auth_mode"];
    CREDENTIALS_ENV = variable("credentials_env", "ALTCLOUD_APPLICATION_CREDENTIALS",
        "The environment variable that holds the path of the service account's credentials file; with `mode: sign_jwt`, \
         of a federation file, without which the identity attached to the machine is used.")
        rule "a name, never the path or the credentials themselves",
        example "ALTCLOUD_APPLICATION_CREDENTIALS",
        also &["credentials", "credentials_file", "credentials_path", "key_file", "service_account_file"];
    CREDENTIALS_JSON_ENV = optional("credentials_json_env", VARIABLE,
        "The environment variable that holds the content of the credentials file, instead of its path.")
        rule "a name, never the content itself; without `credentials_env`", example "ALTCLOUD_CREDENTIALS_JSON",
        also &["credentials_json", "service_account_json"];
    SERVICE_ACCOUNT = optional("service_account", LINE,
        "The service account for which the provider signs.")
        rule "an e-mail address; needed with `mode: sign_jwt`, and only there",
        example "evidence@acme-audit.iam.gserviceaccount.com", also &["service_account_email", "client_email"];
    IAM_URL = default("iam_url", DefaultValue::Text("https://iamcredentials.googleapis.com"), URL,
        "The base URL of the service that signs, with `mode: sign_jwt`.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://iamcredentials.googleapis.com", also &["iam_credentials_url"];
    TOKEN_URI = default("token_uri", DefaultValue::Text(DEFAULT_TOKEN_URI), URL,
        "The address that exchanges assertions for tokens, with `mode: sign_jwt`; a key's file names its own.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://oauth2.googleapis.com/token", also &["token_url"];
    CUSTOMER_ID = default("customer_id", DefaultValue::Text(MY_CUSTOMER), LINE,
        "The customer whose directory is read; `my_customer` means the administrator's own.")
        rule "`my_customer`, or `C` and letters and digits", example "C01abc2de",
        also &["customer", "account_id"];
    ADMIN_EMAIL = required("admin_email", LINE,
        "The administrator on whose behalf the service account reads; it sees what this user can see.")
        rule "an e-mail address", example "auditor@acme.example",
        also &["admin", "subject", "delegated_user", "impersonate", "user_email"];
    DOMAINS = default("domains", DefaultValue::Empty("[]"),
        Shape::List { of: Format::Line, may_be_empty: true }, "The domains whose users are read; empty for all users of the customer.")
        rule "each a domain, once; case does not count", example "[acme.example]", also &["domain"];
    API_URL = default("api_url", DefaultValue::Text("https://admin.googleapis.com"), URL,
        "The base URL of the API.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://admin.googleapis.com", also &["url", "base_url", "endpoint", "endpoint_url"];
    CLOUD_IDENTITY_URL = default("cloud_identity_url", DefaultValue::Text("https://cloudidentity.googleapis.com"), URL,
        "The base URL of the API for policies, which only some rules of `tsc_2017` need.")
        rule "https, or http on loopback; no user, query or fragment",
        example "https://cloudidentity.googleapis.com", also &["policy_url", "policies_url"];
}

static CONTROLS: Key = shared::controls("those of the top-level `controls` that this source serves", &SERVED);

/// `sources.altcloud`
static SECTION: Section = Section::new(
    "sources.altcloud",
    "The workspace directory: two-step verification, administrators, account changes.",
    &[
        &MODE,
        &CREDENTIALS_ENV,
        &CREDENTIALS_JSON_ENV,
        &SERVICE_ACCOUNT,
        &CUSTOMER_ID,
        &ADMIN_EMAIL,
        &DOMAINS,
        &CONTROLS,
        &TIMEOUT_SECONDS,
        &API_URL,
        &IAM_URL,
        &TOKEN_URI,
        &CLOUD_IDENTITY_URL,
    ],
);

/// The workspace.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    applied: &Applied<'_>,
) -> Option<Arc<dyn Source>> {
    let mode = decoder.text(fields, &MODE);
    let credentials_env = decoder.text(fields, &CREDENTIALS_ENV);
    let json_env = decoder.text(fields, &CREDENTIALS_JSON_ENV);
    let both = fields.has(&CREDENTIALS_ENV) && fields.has(&CREDENTIALS_JSON_ENV);
    if both {
        let complaint = Complaint::new("`credentials_env` and `credentials_json_env` exclude each other")
            .help("remove one of them");
        decoder.problems.add(fields.place(), CREDENTIALS_JSON_ENV.path_in(&SECTION), complaint);
    }
    let keyless = keyless(decoder, fields, mode.as_ref().map(|mode| mode.value.as_str()));
    let no_json = json_env.is_none() && fields.has(&CREDENTIALS_JSON_ENV);
    let customer_id = decoder.text(fields, &CUSTOMER_ID);
    let customer_id = checked(decoder, customer_id, is_customer, || {
        Complaint::new("this is not a valid customer id")
            .help("write `my_customer`, or the id from the admin console: Account, Account settings, Profile")
    });
    let admin_email = decoder.text(fields, &ADMIN_EMAIL);
    let admin_email = checked(decoder, admin_email, is_address, || {
        Complaint::new("this is not an e-mail address").help("write the administrator's sign-in address")
    });
    let domains = decoder.list(fields, &DOMAINS);
    let domains = domains.and_then(|domains| lower_case(decoder, domains));
    let rules = controls::wanted(decoder, fields, &CONTROLS, rules::RULES.rules, applied);
    let timeout = decoder.seconds(fields, &TIMEOUT_SECONDS);
    let api_url = decoder.text(fields, &API_URL).and_then(|text| format::url(&text.value).ok());
    let cloud_identity_url =
        decoder.text(fields, &CLOUD_IDENTITY_URL).and_then(|text| format::url(&text.value).ok());
    mode?;
    if both || no_json {
        return None;
    }
    Some(Arc::new(AltCloudConfig {
        credentials_json_env: json_env.map(|name| name.value),
        credentials_env: credentials_env?.value,
        keyless: keyless?,
        customer_id: customer_id?,
        admin_email: admin_email?,
        domains: domains?,
        rules: rules?,
        rule_settings: applied.settings.clone(),
        timeout: timeout?,
        api_url: api_url?,
        cloud_identity_url: cloud_identity_url?,
    }))
}

/// What `mode: sign_jwt` needs and no other mode takes. The outer `None`: a key is invalid.
fn keyless(decoder: &mut Decoder<'_, '_>, fields: &Fields, mode: Option<&str>) -> Option<Option<Keyless>> {
    let service_account = decoder.text(fields, &SERVICE_ACCOUNT);
    let is_wrong = service_account.is_none() && fields.has(&SERVICE_ACCOUNT);
    let place = service_account.as_ref().map_or_else(|| fields.place(), |text| text.place.clone());
    let service_account = checked(decoder, service_account, is_address, || {
        Complaint::new("this is not an e-mail address")
            .help("write the service account's address, as the cloud console shows it")
    });
    let mut address = |key| decoder.text(fields, key).and_then(|text| format::url(&text.value).ok());
    let (iam_url, token_uri) = (address(&IAM_URL), address(&TOKEN_URI));
    let mut problem = |place, key: &Key, complaint: Complaint| {
        decoder.problems.add(place, key.path_in(&SECTION), complaint);
    };
    if mode? != SIGN_JWT {
        let keys = [&SERVICE_ACCOUNT, &IAM_URL, &TOKEN_URI];
        let misplaced: Vec<&'static Key> = keys.into_iter().filter(|key| fields.has(key)).collect();
        for key in &misplaced {
            let complaint =
                Complaint::new(format!("`{}` has no meaning with `mode: service_account`", key.name))
                    .help("write `mode: sign_jwt`, or remove the key");
            problem(fields.place(), key, complaint);
        }
        return misplaced.is_empty().then_some(None);
    }
    if !fields.has(&SERVICE_ACCOUNT) {
        let complaint = Complaint::new("`mode: sign_jwt` needs `service_account`")
            .help(format!("add `service_account: {}`, with your account", SERVICE_ACCOUNT.example));
        problem(place, &SERVICE_ACCOUNT, complaint);
        return None;
    }
    if is_wrong {
        return None;
    }
    let federated = fields.has(&CREDENTIALS_ENV) || fields.has(&CREDENTIALS_JSON_ENV);
    let (service_account, iam_url, token_uri) = (service_account?, iam_url?, token_uri?);
    Some(Some(Keyless { service_account, federated, iam_url, token_uri }))
}

/// The text, if it satisfies `rule`.
fn checked(
    decoder: &mut Decoder<'_, '_>,
    text: Option<Placed<String>>,
    rule: fn(&str) -> bool,
    complaint: impl FnOnce() -> Complaint,
) -> Option<String> {
    let Placed { value, place, path } = text?;
    if rule(&value) {
        return Some(value);
    }
    decoder.problems.add(place, path, complaint());
    None
}

/// The domains in lower case. An invalid or repeated domain is an error.
fn lower_case(decoder: &mut Decoder<'_, '_>, domains: Vec<Placed<String>>) -> Option<Vec<String>> {
    let mut kept: Vec<String> = Vec::new();
    let mut all_good = true;
    for Placed { value, place, path } in domains {
        let domain = value.to_ascii_lowercase();
        let complaint = if !is_domain(&domain) {
            let complaint = Complaint::new(format!("{} is not a valid domain", quote(&value)));
            complaint.help(
                "write the domain alone, such as `acme.example`; international names in their xn-- form",
            )
        } else if kept.contains(&domain) {
            Complaint::new(format!("{} is listed twice", quote(&value))).help("remove one of them")
        } else {
            kept.push(domain);
            continue;
        };
        decoder.problems.add(place, path, complaint);
        all_good = false;
    }
    all_good.then_some(kept)
}
