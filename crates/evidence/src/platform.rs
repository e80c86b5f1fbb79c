//! The upload client: signs in to the evidence platform, uploads one bundle and has the platform verify it.
//!
//! It sends three repeatable requests: identify the key, store the bundle, verify it. It accepts the platform's claims
//! only where they match what was sent: the digest of the bytes, and the key that signed.
//!
//! This module never changes or deletes the local bundle, and never prints. It passes on the platform's text only as
//! one line of limited length that has passed the screen.

mod conversation;
mod error;
mod key;
mod problem;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use evidence_bundle::document::is_bundle_id;
use evidence_bundle::key::KeyId;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use self::conversation::{BadAnswer, Conversation, plain};
pub use self::error::{PlatformRefusal, UploadError, UploadStep};
pub use self::key::{ApiKey, ApiKeyError};
pub use self::problem::ProblemDetails;
use crate::config::UploadConfig;
use crate::env::Env;
use crate::origin::{Origin, PLATFORM};
use crate::report::{Event, Reporter, Uploading};
use evidence_http::{
    Answered, Client, ClientSettings, FailureKind, Invalidated, Login, ParseError, Proxy, RequestFailure,
    UploadClient, UploadFile, UploadRequest,
};
use evidence_screen::Screen;

/// The maximum number of bytes read of an answer. The platform's own answers are under 1 kB.
const ANSWER_LIMIT: usize = 64 * 1024;

/// How long to wait for an answer before a collection.
const BRIEF: Duration = Duration::from_secs(20);

/// A platform and its API key.
#[derive(Debug, Clone)]
pub struct UploadTarget {
    /// The upload configuration.
    pub config: UploadConfig,
    key: ApiKey,
}

impl UploadTarget {
    /// The configured platform with the key from the environment or a file.
    ///
    /// # Errors
    ///
    /// Fails if the configured place holds no key.
    pub fn new(config: UploadConfig, env: &Env) -> Result<UploadTarget, ApiKeyError> {
        let name = &config.api_key_env;
        let secret = env.secret(name)?.ok_or_else(|| ApiKeyError::Unset(name.clone()))?;
        let key = ApiKey::new(secret.text()).ok_or_else(|| ApiKeyError::Unusable(secret.place().clone()))?;
        Ok(UploadTarget { config, key })
    }

    /// The same platform, asked once and not for long: for a question whose answer can be awaited elsewhere.
    pub fn briefly(mut self) -> UploadTarget {
        self.config.retry_attempts = 0;
        self.config.timeout = self.config.timeout.min(BRIEF);
        self
    }

    /// Registers the key with the screen.
    pub fn register_secret(&self, screen: &Screen) {
        self.key.register_secret(screen);
    }

    /// The origin that the key goes to.
    pub fn origin(&self, env: &Env) -> Origin {
        let name = &self.config.api_key_env;
        let variable = env.provider(name).unwrap_or_else(|| name.clone());
        let url = self.config.api_url.clone();
        Origin { sender: PLATFORM, url, variables: vec![variable], named_by: None }
    }

    /// The address of the platform, safe to print.
    pub fn api_url(&self) -> &str {
        self.config.api_url.as_str().trim_end_matches('/')
    }
}

/// A bundle that the platform has stored and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    /// The platform's id of the bundle: the one in its manifest, on every platform that follows the interface.
    pub bundle_id: String,
    /// The page for people.
    pub url: String,
    /// The display name of the organization that it belongs to.
    pub organization: String,
    /// Whether the platform already had the same bytes.
    pub already: bool,
}

/// `GET /whoami`
#[derive(Deserialize)]
struct WhoAmI {
    organization: Organization,
    role: Option<String>,
    /// The names of the signing keys that the organization trusts, if the platform lists them.
    trusted_keys: Option<Vec<String>>,
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

/// One upload: the platform, and the reporter of its progress.
pub struct Upload<'a> {
    target: &'a UploadTarget,
    uplink: UploadClient,
    conversation: Arc<Conversation>,
}

impl<'a> Upload<'a> {
    /// An upload to this platform.
    ///
    /// # Errors
    ///
    /// Fails if TLS cannot be set up.
    pub fn new(
        target: &'a UploadTarget,
        env: &Env,
        screen: &Screen,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Upload<'a>, UploadError> {
        let attempts = target.config.retry_attempts.saturating_add(1);
        let authorization = target.key.header().ok_or_else(|| {
            UploadError::Client("the API key has characters that a header cannot hold".to_string())
        })?;
        let settings = ClientSettings {
            timeout: target.config.timeout,
            attempts,
            proxy: Proxy::from_env(env),
            plain: target.config.api_url.scheme() == "http",
            ..ClientSettings::default()
        };
        let conversation = Arc::new(Conversation {
            attempts,
            screen: screen.clone(),
            reporter: Arc::clone(reporter),
            said: Mutex::default(),
        });
        let (dialect, watch) = (Arc::clone(&conversation), Arc::clone(&conversation));
        let credential = Arc::new(Login::fixed(authorization));
        let client = Client::new(settings, dialect, credential, env.clock.clone(), watch)
            .map_err(UploadError::Client)?;
        Ok(Upload { target, uplink: UploadClient::new(client), conversation })
    }

    /// Uploads the bundle and has the platform verify it. `signer` is the key that signed it, if the bundle was
    /// verified locally.
    ///
    /// # Errors
    ///
    /// Fails if the platform does not end up with the bundle, or does not report it as verified.
    pub async fn run(&self, parcel: &UploadFile, signer: Option<&KeyId>) -> Result<Uploaded, UploadError> {
        let (organization, _) = self.authenticate().await?;
        let (bundle_id, already) = self.store(parcel).await?;
        self.verify(&bundle_id, signer).await?;
        let url = self.address(&bundle_id)?;
        Ok(Uploaded { bundle_id, url, organization, already })
    }

    /// Signs in and checks whether the platform would accept a bundle that `signer` signs. Uploads nothing.
    ///
    /// # Errors
    ///
    /// Fails if the platform says that it would not accept the bundle.
    pub async fn check(&self, signer: &KeyId) -> Result<(), UploadError> {
        let (_, WhoAmI { role, trusted_keys, .. }) = self.authenticate().await?;
        if let Some(role) = role.filter(|role| role == "read") {
            return Err(UploadError::ReadOnly { role });
        }
        let key = signer.to_string();
        let trusted = trusted_keys.map(|keys| keys.contains(&key));
        if trusted == Some(false) {
            return Err(UploadError::SignerNotTrusted { key });
        }
        let known = trusted.is_some();
        self.conversation.reporter.event(Event::Upload(Uploading::Signer { key: &key, known }));
        Ok(())
    }

    /// The name of the key's organization and the whole answer. Fails if another organization was expected.
    async fn authenticate(&self) -> Result<(String, WhoAmI), UploadError> {
        let order = UploadRequest::question(self.call(&["whoami"])?);
        let Answered { value: identity, .. } = self.ask::<WhoAmI>(UploadStep::Authenticate, &order).await?;
        let WhoAmI { organization, role, .. } = &identity;
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
        self.conversation.reporter.event(Event::Upload(Uploading::Authenticated {
            organization: &shown,
            api_url: self.target.api_url(),
            role: role.as_deref(),
        }));
        Ok((shown, identity))
    }

    /// The bundle's id on the platform, and whether the platform already had it.
    async fn store(&self, parcel: &UploadFile) -> Result<(String, bool), UploadError> {
        let config = &self.target.config;
        let mut url = self.call(&["bundles"])?;
        url.query_pairs_mut()
            .append_pair("retention_days", &config.retention_days.to_string())
            .extend_pairs(config.tags.iter().map(|(name, value)| ("tag", format!("{name}={value}"))));
        self.conversation.reporter.event(Event::Upload(Uploading::Sending(parcel.bytes())));
        let answer =
            self.ask(UploadStep::Upload, &UploadRequest::upload(url, "application/gzip", parcel)).await;
        self.conversation.reporter.event(Event::Upload(Uploading::SendingOver));
        let Answered { value: Stored { bundle_id, sha256, status }, meta } = match parcel.take_invalidated() {
            Some(Invalidated::Changed) => return Err(UploadError::Changed),
            Some(Invalidated::Unreadable(error)) => {
                return Err(UploadError::Unreadable(self.clean(&error.to_string())));
            }
            None => answer?,
        };
        let sent = parcel.sha256();
        if !sha256.eq_ignore_ascii_case(&sent) {
            return Err(UploadError::OtherDigest { sent, kept: self.clean(&sha256) });
        }
        let strange = |text: String| Err(UploadError::Strange { step: UploadStep::Upload, text });
        if status != "stored" {
            return strange(format!(
                "the platform reports the bundle as `{}`, not `stored`",
                self.clean(&status)
            ));
        }
        if !is_bundle_id(&bundle_id) {
            return strange("the platform sent an invalid bundle id".to_string());
        }
        Ok((bundle_id, meta.status == 200))
    }

    async fn verify(&self, bundle_id: &str, signer: Option<&KeyId>) -> Result<(), UploadError> {
        let order = UploadRequest::command(self.call(&["bundles", bundle_id, "verify"])?);
        let Answered { value: Judged { verified, key_id, reason, detail }, .. } =
            self.ask(UploadStep::Verify, &order).await?;
        if !verified {
            let text_of =
                |text: Option<String>| text.map(|text| self.clean(&text)).filter(|text| !text.is_empty());
            return Err(UploadError::NotVerified { reason: text_of(reason), words: text_of(detail) });
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
        below(&self.target.config.platform_url, "upload.platform_url", &["bundles", bundle_id])
            .map(String::from)
    }

    /// The address of a call: `{api_url}/api/v1/...`
    fn call(&self, path: &[&str]) -> Result<Url, UploadError> {
        below(&self.target.config.api_url, "upload.api_url", &[&["api", "v1"], path].concat())
    }

    async fn ask<T: DeserializeOwned + Send>(
        &self,
        step: UploadStep,
        order: &UploadRequest,
    ) -> Result<Answered<T>, UploadError> {
        // A body that is not JSON, despite its media type, is treated like JSON of an unexpected shape: no retry.
        let parse = |bytes: &[u8]| {
            serde_json::from_slice(bytes).map_err(|error| ParseError::Shape(error.to_string()))
        };
        match self.uplink.send(order, ANSWER_LIMIT, &parse).await {
            Ok(Ok(answered)) => {
                self.conversation.take();
                Ok(answered)
            }
            Ok(Err(refused)) => {
                Err(self.error(step, FailureKind::HostFault(refused.text()), Some(refused.meta.status)))
            }
            Err(RequestFailure { kind, status, .. }) => Err(self.error(step, kind, status)),
        }
    }

    /// The error for a failed request: from the platform's answer, or else from the client's failure.
    fn error(&self, step: UploadStep, kind: FailureKind, status: Option<u16>) -> UploadError {
        let (said, api_url) = (self.conversation.take(), self.target.api_url().to_string());
        let attempts = said.attempts;
        let no_answer = |text: String, foreign, permanent| UploadError::NoAnswer {
            step,
            api_url: api_url.clone(),
            text: self.clean(&text),
            attempts,
            foreign,
            permanent: Option::map(permanent, Box::new),
        };
        match (said.refusal, kind) {
            (Some(BadAnswer::Problem(problem)), _) => {
                let api_key_env = self.target.config.api_key_env.clone();
                UploadError::Refused(Box::new(PlatformRefusal {
                    step,
                    api_url,
                    problem,
                    attempts,
                    api_key_env,
                }))
            }
            (Some(BadAnswer::Foreign(text)), _) => no_answer(text, true, None),
            (None, FailureKind::PermanentFailure(permanent, text)) => no_answer(text, false, Some(permanent)),
            (None, FailureKind::TooLarge { .. }) => {
                let status = status.unwrap_or_default();
                no_answer(
                    format!("HTTP {status} with an answer larger than the platform ever sends"),
                    true,
                    None,
                )
            }
            (None, kind @ FailureKind::UnexpectedShape(_)) => {
                UploadError::Strange { step, text: self.clean(&plain(kind)) }
            }
            (
                None,
                kind @ (FailureKind::Transport(_)
                | FailureKind::HostFault(_)
                | FailureKind::RateLimited { .. }
                | FailureKind::SecondaryLimit
                | FailureKind::Throttled(_)
                | FailureKind::Unauthorized(_)
                | FailureKind::Foreign(_)
                | FailureKind::Redirect(_)
                | FailureKind::GivenUp { .. }),
            ) => no_answer(plain(kind), false, None),
        }
    }

    /// Untrusted text, made safe to print.
    fn clean(&self, text: &str) -> String {
        self.conversation.clean(text)
    }
}

/// The URL with these path segments appended.
fn below(base: &Url, setting: &str, path: &[&str]) -> Result<Url, UploadError> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| UploadError::Client(format!("{setting} cannot have a path")))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}
