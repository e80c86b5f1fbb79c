//! The upload client: signs in at the evidence platform, hands one bundle over, has it verified there.
//!
//! Three requests, each of which may be repeated: who am I, keep this, verify it. The platform is believed only where
//! what it says fits what was sent: the digest of the bytes, the key that signed.
//!
//! What this module never does: change or delete the local bundle, print, or put a word of the platform anywhere before
//! it is one bounded line that has passed the screen.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evidence_bundle::key::KeyId;
use evidence_bundle::read::NewerBundle;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::config::UploadConfig;
use crate::env::Env;
use crate::exit::Exit;
use crate::http::upload::{
    Answer, Asked, Content, DAMAGED, Failed, Parcel, Problem, Settings, Uplink, Watch, Why,
};
use crate::http::{Obstacle, Place, Proxy, one_line};
use crate::report::{Event, Reporter, Uploading};
use crate::screen::{self, Screen};

/// The longest id of a bundle, in bytes.
const LONGEST_ID: usize = 128;

/// The platform's API key. `Debug` shows that there is one, never what it is; there is no `Display`.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// A key from a variable's value. White space around it is dropped, since a key read from a file brings a line break
    /// along. `None` if what is left cannot stand in a header, or is so weak that the screen does not look for it.
    pub fn new(value: &str) -> Option<ApiKey> {
        let value = value.trim();
        let usable = value.bytes().all(|byte| byte.is_ascii_graphic()) && screen::is_sought(value.as_bytes());
        usable.then(|| ApiKey(SecretString::from(value)))
    }

    /// `Authorization: Bearer <key>`, marked sensitive so that no layer below prints it.
    fn header(&self) -> Option<HeaderValue> {
        let mut header = HeaderValue::from_str(&format!("Bearer {}", self.0.expose_secret())).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(redacted)")
    }
}

/// Why there is no API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    /// The variable is not set, or empty.
    #[error("it is not set")]
    Unset,
    /// What it holds cannot be a key.
    #[error(
        "its value is shorter than any key, or has spaces, line breaks or other characters that no key has"
    )]
    Unusable,
}

/// A platform and the key to it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where and how.
    pub config: UploadConfig,
    key: ApiKey,
}

impl Target {
    /// The configured platform with the key from the environment.
    ///
    /// # Errors
    ///
    /// If there is no key in the variable that the configuration names.
    pub fn new(config: UploadConfig, env: &Env) -> Result<Target, ApiKeyError> {
        let value = env.var_os(&config.api_key_env).ok_or(ApiKeyError::Unset)?;
        let key = value.to_str().and_then(ApiKey::new).ok_or(ApiKeyError::Unusable)?;
        Ok(Target { config, key })
    }

    /// Lets the screen look for the key from now on.
    pub fn teach(&self, screen: &Screen) {
        screen.learn([self.key.0.expose_secret()]);
    }

    /// The address of the platform, fit to print.
    pub fn api_url(&self) -> &str {
        self.config.api_url.as_str().trim_end_matches('/')
    }
}

/// A bundle that the platform has, and has verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// Its id on the platform.
    pub bundle_id: String,
    /// Where a person finds it.
    pub url: String,
    /// The organization on the platform it belongs to, as people call it.
    pub organization: String,
    /// The platform had the same bytes already.
    pub already: bool,
}

/// What was being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Signing in.
    Authenticate,
    /// Handing over.
    Upload,
    /// Having it verified.
    Verify,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Authenticate => "sign in at the evidence platform",
            Step::Upload => "upload the bundle",
            Step::Verify => "have the platform verify the bundle",
        })
    }
}

/// What the platform refuses, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked.
    pub step: Step,
    /// The platform's address.
    pub api_url: String,
    /// Its words.
    pub problem: Problem,
    /// How often it was asked.
    pub attempts: u32,
    /// The variable that holds the key.
    pub api_key_env: String,
}

impl Refusal {
    fn may_pass(&self) -> bool {
        let damaged = || self.problem.code.as_deref().is_some_and(|code| DAMAGED.contains(&code));
        matches!(self.problem.status, 408 | 429 | 500..=599) || damaged()
    }

    fn help(&self) -> Option<String> {
        if self.problem.code.as_deref() == Some("no-trusted-key") {
            return Some(TRUST.to_string());
        }
        if self.problem.code.as_deref() == Some(NewerBundle::CODE) {
            return Some(UPDATE.to_string());
        }
        let text = match (self.problem.status, self.step) {
            (401, _) => {
                let variable = &self.api_key_env;
                format!("{variable} must hold a key of this platform that has not been revoked")
            }
            (403, Step::Authenticate) => {
                "the platform knows the key and lets it do nothing: ask its administrator".to_string()
            }
            (403, _) => "the key must have the role `upload`: make one on the platform".to_string(),
            (404, Step::Authenticate) => ADDRESS.to_string(),
            (413, _) => {
                "have the platform's administrator raise its limit, or collect fewer repositories per \
                         configuration"
                    .to_string()
            }
            (422, _) => not_trusted(self.problem.reason.as_deref()),
            _ => return None,
        };
        Some(text)
    }
}

/// What to do if this is no platform.
const ADDRESS: &str = "is this the address of an evidence platform? upload.api_url (or --endpoint) is what stands before \
                       /api/v1";

/// What to do about a bundle that is not what a key signed that the platform trusts. What is wrong with it decides: a code
/// of the bundle format, or of the platform's store.
fn not_trusted(reason: Option<&str>) -> String {
    match reason {
        None | Some("signature-invalid" | "key-outside-validity" | "no-trusted-key") => TRUST.to_string(),
        Some(NewerBundle::CODE) => UPDATE.to_string(),
        Some("blob-missing" | "digest-mismatch") => {
            "the platform has lost or changed what it was given: tell its administrator".to_string()
        }
        Some(_) => "this is no bundle, or a damaged one: look at it with `evidence verify`".to_string(),
    }
}

/// What to do if the platform does not trust the signer.
const TRUST: &str = "the platform must trust the key that signed the bundle: have its administrator add your public key; \
                     `evidence verify` shows its id";

/// What to do if the platform is older than the bundle.
const UPDATE: &str = "have the platform's administrator update it, then upload the bundle again";

/// Why a bundle is not on the platform, or is not verified there. Every text has passed the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadError {
    /// The bundle that was just written is no longer what it was.
    Local(String),
    /// The client cannot be made.
    Client(String),
    /// The platform refuses.
    Refused(Box<Refusal>),
    /// There is no answer, or none of the platform's.
    NoAnswer {
        /// What was asked.
        step: Step,
        /// The platform's address.
        api_url: String,
        /// What came instead.
        text: String,
        /// How often it was asked.
        attempts: u32,
        /// Something answered that is no platform.
        foreign: bool,
        /// What stays in the way, if it stays.
        obstacle: Option<Box<Obstacle>>,
    },
    /// The platform's answer says something else than documented, or than can be true.
    Strange {
        /// What was asked.
        step: Step,
        /// What is wrong with the answer.
        text: String,
    },
    /// The file changed while it was sent.
    Changed,
    /// The file could not be read to its end.
    Unreadable(String),
    /// The key belongs to another organization.
    OtherOrganization {
        /// The one that was asked for.
        expected: String,
        /// The key's.
        actual: String,
    },
    /// The platform says it keeps other bytes than were sent.
    OtherDigest {
        /// What was sent.
        sent: String,
        /// What it says it keeps.
        kept: String,
    },
    /// The platform could not verify the bundle.
    NotVerified {
        /// The code of its reason.
        reason: Option<String>,
        /// The reason in words.
        words: Option<String>,
    },
    /// The platform says another key signed than was found here.
    OtherKey {
        /// The key that was found here.
        local: String,
        /// The key that the platform says.
        platform: String,
    },
    /// A signal.
    Interrupted(Exit),
}

impl UploadError {
    /// Whether sending the same again can end better without anybody changing anything.
    pub fn may_pass(&self) -> bool {
        match self {
            UploadError::NoAnswer { foreign, obstacle, .. } => !foreign && obstacle.is_none(),
            UploadError::Refused(refusal) => refusal.may_pass(),
            UploadError::Interrupted(_) | UploadError::Unreadable(_) => true,
            UploadError::Local(_)
            | UploadError::Client(_)
            | UploadError::Strange { .. }
            | UploadError::Changed
            | UploadError::OtherOrganization { .. }
            | UploadError::OtherDigest { .. }
            | UploadError::NotVerified { .. }
            | UploadError::OtherKey { .. } => false,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Vec<String> {
        let text = match self {
            UploadError::Refused(refusal) => return refusal.help().into_iter().collect(),
            UploadError::NoAnswer { obstacle: Some(obstacle), api_url, .. } => {
                let url = Url::parse(api_url).ok();
                let host = url.as_ref().and_then(Url::host_str).unwrap_or("the platform");
                return obstacle.help(Place { host, address: "upload.api_url", ca_file: None });
            }
            UploadError::NotVerified { reason, .. } => not_trusted(reason.as_deref()),
            UploadError::NoAnswer { foreign: true, .. } => ADDRESS.to_string(),
            UploadError::NoAnswer { step: Step::Upload, .. } => {
                "check the proxy and the network; one that takes no bundle of this size may also just hang up"
                    .to_string()
            }
            UploadError::NoAnswer { .. } => "check upload.api_url, the proxy and the network".to_string(),
            UploadError::OtherOrganization { .. } => {
                "use a key of that organization, or correct upload.organization_id (or --organization); nothing was sent"
                    .to_string()
            }
            UploadError::Changed | UploadError::Local(_) => {
                "something else writes to this file; look at it with `evidence verify` before you send it".to_string()
            }
            UploadError::OtherDigest { .. } | UploadError::OtherKey { .. } => {
                "do not rely on this upload; tell the platform's administrator".to_string()
            }
            UploadError::Strange { .. } => {
                "platform and evidence may be of versions that do not fit: tell the platform's administrator".to_string()
            }
            UploadError::Client(_)
            | UploadError::Unreadable(_)
            | UploadError::Interrupted(_) => return Vec::new(),
        };
        vec![text]
    }
}

impl fmt::Display for UploadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |f: &mut fmt::Formatter<'_>, attempts: u32| match attempts {
            0 | 1 => Ok(()),
            more => write!(f, " (after {more} attempts)"),
        };
        match self {
            UploadError::Local(text) => write!(f, "the bundle is not uploaded: {text}"),
            UploadError::Client(text) => f.write_str(text),
            UploadError::Refused(refusal) => {
                let Refusal { step, api_url, problem, attempts, .. } = &**refusal;
                write!(f, "cannot {step}: {api_url} answers HTTP {}", problem.status)?;
                words(problem).iter().try_for_each(|words| write!(f, ": {words}"))?;
                problem.request_id.iter().try_for_each(|id| write!(f, " [request {id}]"))?;
                times(f, *attempts)
            }
            UploadError::NoAnswer { step, api_url, text, attempts, foreign, .. } => {
                let answers = if *foreign { " answers" } else { "" };
                let colon = if *foreign { "" } else { ":" };
                write!(f, "cannot {step}: {api_url}{answers}{colon} {text}")?;
                times(f, *attempts)
            }
            UploadError::Strange { step, text } => write!(f, "cannot {step}: {text}"),
            UploadError::Changed => {
                f.write_str("the bundle changed while it was uploaded; the platform does not have it")
            }
            UploadError::Unreadable(text) => write!(f, "the bundle cannot be read to its end: {text}"),
            UploadError::OtherOrganization { expected, actual } => {
                write!(f, "the API key belongs to the organization {actual}, not to {expected}")
            }
            UploadError::OtherDigest { sent, kept } => {
                write!(f, "the platform says it keeps other bytes than were sent: sha256 {kept}, not {sent}")
            }
            UploadError::NotVerified { reason, words } => {
                f.write_str("the platform has the bundle and could not verify it")?;
                joined(reason.as_deref(), words.as_deref()).iter().try_for_each(|text| write!(f, ": {text}"))
            }
            UploadError::OtherKey { local, platform } => {
                write!(f, "the platform says the bundle was signed by {platform}; it was signed by {local}")
            }
            UploadError::Interrupted(_) => f.write_str("interrupted: the upload is not complete"),
        }
    }
}

impl std::error::Error for UploadError {}

/// `GET /whoami`
#[derive(Deserialize)]
struct WhoAmI {
    organization: Organization,
    role: Option<String>,
}

#[derive(Deserialize)]
struct Organization {
    id: String,
    slug: Option<String>,
    name: Option<String>,
}

/// `POST /bundles`
#[derive(Deserialize)]
struct Stored {
    bundle_id: String,
    sha256: String,
    status: String,
}

/// `POST /bundles/{id}/verify`
#[derive(Deserialize)]
struct Judged {
    verified: bool,
    key_id: Option<String>,
    reason: Option<String>,
    detail: Option<String>,
}

/// One upload: the platform, and who hears of it.
pub struct Upload<'a> {
    target: &'a Target,
    uplink: Uplink,
    screen: &'a Screen,
    reporter: &'a dyn Reporter,
}

impl<'a> Upload<'a> {
    /// An upload to this platform.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub fn new(
        target: &'a Target,
        env: &Env,
        screen: &'a Screen,
        reporter: &'a Arc<dyn Reporter>,
    ) -> Result<Upload<'a>, UploadError> {
        let attempts = target.config.retry_attempts.saturating_add(1);
        let authorization = target
            .key
            .header()
            .ok_or_else(|| UploadError::Client("the API key cannot stand in a header".to_string()))?;
        let settings = Settings {
            base: target.config.api_url.clone(),
            authorization,
            timeout: target.config.timeout,
            attempts,
            proxy: Proxy::from_env(env),
        };
        let watch = Arc::new(Told { attempts, screen: screen.clone(), reporter: Arc::clone(reporter) });
        let uplink = Uplink::new(settings, env.clock.clone(), watch).map_err(UploadError::Client)?;
        Ok(Upload { target, uplink, screen, reporter: &**reporter })
    }

    /// Hands the bundle over and has it verified. `signer` is the key that was found to have signed it, if it was looked
    /// at.
    ///
    /// # Errors
    ///
    /// If the platform does not have the bundle in the end, or does not say that it is verified.
    pub async fn run(&self, parcel: &Parcel, signer: Option<&KeyId>) -> Result<Uploaded, UploadError> {
        let organization = self.authenticate().await?;
        let (bundle_id, already) = self.store(parcel).await?;
        self.verify(&bundle_id, signer).await?;
        let url = self.address(&bundle_id)?;
        Ok(Uploaded { bundle_id, url, organization, already })
    }

    /// The organization that the key belongs to, if it is the one that is meant.
    async fn authenticate(&self) -> Result<String, UploadError> {
        let asked = Asked { path: &["whoami"], query: &[], content: Content::Question };
        let answer = self.ask(Step::Authenticate, &asked).await?;
        let WhoAmI { organization, role } = self.read(Step::Authenticate, &answer)?;
        let names = [Some(&organization.id), organization.slug.as_ref(), organization.name.as_ref()];
        let shown =
            names.iter().rev().find_map(|name| *name).map(|name| self.clean(name)).unwrap_or_default();
        if let Some(expected) = &self.target.config.organization_id
            && !names.iter().flatten().any(|name| *name == expected)
        {
            let id = self.clean(&organization.id);
            let actual = if shown == id { id } else { format!("{shown} ({id})") };
            return Err(UploadError::OtherOrganization { expected: self.clean(expected), actual });
        }
        self.reporter.event(Event::Upload(Uploading::Authenticated {
            organization: &shown,
            api_url: self.target.api_url(),
            role: role.as_deref(),
        }));
        Ok(shown)
    }

    /// The bundle's id on the platform, and whether it was there already.
    async fn store(&self, parcel: &Parcel) -> Result<(String, bool), UploadError> {
        let config = &self.target.config;
        let mut query = vec![("retention_days", config.retention_days.to_string())];
        query.extend(config.tags.iter().map(|(name, value)| ("tag", format!("{name}={value}"))));
        self.reporter.event(Event::Upload(Uploading::Sending(parcel.bytes())));
        let asked = Asked { path: &["bundles"], query: &query, content: Content::Parcel(parcel) };
        let answer = self.ask(Step::Upload, &asked).await;
        self.reporter.event(Event::Upload(Uploading::SendingOver));
        let answer = answer?;
        let Stored { bundle_id, sha256, status } = self.read(Step::Upload, &answer)?;
        let sent = parcel.sha256();
        if !sha256.eq_ignore_ascii_case(&sent) {
            return Err(UploadError::OtherDigest { sent, kept: self.clean(&sha256) });
        }
        let strange = |text: String| Err(UploadError::Strange { step: Step::Upload, text });
        if status != "stored" {
            return strange(format!(
                "the platform says `{}` of the bundle, not `stored`",
                self.clean(&status)
            ));
        }
        if !is_id(&bundle_id) {
            return strange("the platform gave the bundle an id that cannot be one".to_string());
        }
        Ok((bundle_id, answer.status == 200))
    }

    async fn verify(&self, bundle_id: &str, signer: Option<&KeyId>) -> Result<(), UploadError> {
        let asked = Asked { path: &["bundles", bundle_id, "verify"], query: &[], content: Content::Order };
        let answer = self.ask(Step::Verify, &asked).await?;
        let Judged { verified, key_id, reason, detail } = self.read(Step::Verify, &answer)?;
        if !verified {
            let told =
                |text: Option<String>| text.map(|text| self.clean(&text)).filter(|text| !text.is_empty());
            return Err(UploadError::NotVerified { reason: told(reason), words: told(detail) });
        }
        match (signer.map(ToString::to_string), key_id) {
            (Some(local), Some(platform)) if local != platform => {
                Err(UploadError::OtherKey { local, platform: self.clean(&platform) })
            }
            _ => Ok(()),
        }
    }

    /// `{platform_url}/bundles/<bundle_id>`
    fn address(&self, bundle_id: &str) -> Result<String, UploadError> {
        let mut url: Url = self.target.config.platform_url.clone();
        url.path_segments_mut()
            .map_err(|()| UploadError::Client("upload.platform_url cannot have a path".to_string()))?
            .pop_if_empty()
            .extend(["bundles", bundle_id]);
        Ok(url.into())
    }

    async fn ask(&self, step: Step, asked: &Asked<'_>) -> Result<Answer, UploadError> {
        self.uplink.send(asked).await.map_err(|failed| self.error(step, failed))
    }

    fn read<T: DeserializeOwned>(&self, step: Step, answer: &Answer) -> Result<T, UploadError> {
        serde_json::from_slice(&answer.body).map_err(|error| UploadError::Strange {
            step,
            text: format!("the answer is not of the documented form: {}", self.clean(&error.to_string())),
        })
    }

    fn error(&self, step: Step, failed: Failed) -> UploadError {
        let Failed { why, attempts } = failed;
        let api_url = self.target.api_url().to_string();
        let no_answer = |text: &str, foreign, obstacle| UploadError::NoAnswer {
            step,
            api_url: api_url.clone(),
            text: self.clean(text),
            attempts,
            foreign,
            obstacle: Option::map(obstacle, Box::new),
        };
        match why {
            Why::Refused(problem) => {
                let told = |text: Option<String>| text.map(|text| self.clean(&text));
                let problem = Problem {
                    status: problem.status,
                    code: told(problem.code),
                    words: told(problem.words),
                    reason: told(problem.reason),
                    request_id: told(problem.request_id),
                };
                let api_key_env = self.target.config.api_key_env.clone();
                UploadError::Refused(Box::new(Refusal { step, api_url, problem, attempts, api_key_env }))
            }
            Why::Transport(text) => no_answer(&text, false, None),
            Why::Obstacle(obstacle, text) => no_answer(&text, false, Some(obstacle)),
            Why::Foreign(text) => no_answer(&text, true, None),
            Why::Changed => UploadError::Changed,
            Why::Unreadable(error) => UploadError::Unreadable(self.clean(&error.to_string())),
        }
    }

    /// A stranger's text, fit to print.
    fn clean(&self, text: &str) -> String {
        clean(self.screen, text)
    }
}

fn clean(screen: &Screen, text: &str) -> String {
    screen.redact(&one_line(text.trim())).into_owned()
}

/// What the platform says, with its code for why a bundle is refused.
fn words(problem: &Problem) -> Option<String> {
    joined(problem.reason.as_deref(), problem.words.as_deref())
}

fn joined(code: Option<&str>, words: Option<&str>) -> Option<String> {
    match (code, words) {
        (Some(code), Some(words)) => Some(format!("{code}: {words}")),
        (code, words) => words.or(code).map(str::to_string),
    }
}

/// Whether the text can be an id: one segment of an address, whatever reads it.
fn is_id(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=LONGEST_ID).contains(&text.len())
        && text.bytes().all(allowed)
        && text.bytes().any(|byte| byte != b'.')
}

/// Tells the reporter how it goes.
struct Told {
    attempts: u32,
    screen: Screen,
    reporter: Arc<dyn Reporter>,
}

impl Watch for Told {
    fn sent(&self, bytes: u64) {
        self.reporter.event(Event::Upload(Uploading::Sent(bytes)));
    }

    fn again(&self, failed: &Failed, wait: Duration) {
        let text = match &failed.why {
            Why::Refused(problem) => {
                let status = format!("HTTP {}", problem.status);
                words(problem).map_or(status.clone(), |words| format!("{status}: {words}"))
            }
            Why::Transport(text) | Why::Obstacle(_, text) | Why::Foreign(text) => text.clone(),
            Why::Changed => "the bundle changed".to_string(),
            Why::Unreadable(error) => error.to_string(),
        };
        self.reporter.event(Event::Upload(Uploading::Again {
            text: &clean(&self.screen, &text),
            attempt: failed.attempts,
            of: self.attempts,
            wait,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_word_and_never_shown() {
        assert!(ApiKey::new("").is_none());
        assert!(ApiKey::new(" \n").is_none());
        assert!(ApiKey::new("two words").is_none());
        assert!(ApiKey::new("schlüssel").is_none());
        assert!(ApiKey::new("made-up\nkey").is_none());
        assert!(ApiKey::new("1234567").is_none());
        assert!(ApiKey::new("12345678").is_none());
        assert!(ApiKey::new("1234567x").is_some());
        let key = ApiKey::new(" made-up-key-of-no-platform\n").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(redacted)");
        let header = key.header().unwrap();
        assert!(header.is_sensitive());
        assert_eq!(header.to_str().unwrap(), "Bearer made-up-key-of-no-platform");
        assert!(!format!("{header:?}").contains("made-up"));
    }

    #[test]
    fn ids_are_one_segment() {
        let long = "a".repeat(LONGEST_ID);
        for id in ["0192f3a4-0000-8000-8000-000000000000", "a", "bundle_1.v2", "...a", &long] {
            assert!(is_id(id), "{id}");
        }
        let longer = "a".repeat(LONGEST_ID + 1);
        for id in ["", ".", "..", "a/b", "a?b", "a#b", "a b", "a%2fb", "é", "a\n", "\u{1b}[2J", &longer] {
            assert!(!is_id(id), "{id:?}");
        }
    }

    #[test]
    fn words_of_a_problem() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(joined(Some("signature-invalid"), Some("no")), some("signature-invalid: no"));
        assert_eq!(joined(Some("signature-invalid"), None), some("signature-invalid"));
        assert_eq!(joined(None, Some("no")), some("no"));
        assert_eq!(joined(None, None), None);
    }
}
