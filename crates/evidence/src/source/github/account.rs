//! The account that a token acts for, and the answers that are kept for it between runs.

use std::sync::Arc;

use evidence_bundle::document::AppIdentity;
use serde::Deserialize;

use super::config::{Branch, CodeHostConfig, FALLBACK_BRANCH};
use super::host::api::{Api, JSON, MIB};
use super::host::scopes::Scopes;
use super::host::sign_in::SignedIn;
use super::names;
use crate::json::object;
use crate::source::RunContext;
use evidence_http::cache::{Cache, CacheOwner, Purpose};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Answered, Call, CallError, Client, ParseError, Refused};

/// Whom the token acts for. Kept answers depend on it, so it is not kept itself.
pub(super) static USER: Call<User> = Call {
    name: "/user",
    purpose: "the account behind the token, for `run.json`; `--resume` continues the run of the same account",
    times: "once; never for an app's installation token",
    kind: None,
    media_type: JSON,
    limit: MIB,
    parse: user,
    subject: None,
    keep: None,
};

/// `GET /user`: whom the token acts for. Nothing else of the answer is read, because the rest is personal.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
    pub(super) id: u64,
}

fn user(bytes: &[u8]) -> Result<User, ParseError> {
    object(bytes)
}

/// The account that the token acts for, and the token's scopes; `None` if the host does not say. The run does not need
/// it, so only a host that does not accept the token ends it.
pub(super) async fn identity(
    config: &CodeHostConfig,
    signed_in: &SignedIn,
    client: &Client,
) -> Result<Option<(User, Scopes)>, Box<Refused>> {
    if signed_in.is_of_installation() {
        return Ok(None);
    }
    let api = Api { client, base: &config.api_url, organization: &config.org };
    match api.ask(&USER, &[]).await {
        Ok(Answered { value, meta }) => Ok(Some((value, Scopes::of(&meta)))),
        Err(CallError::Refused(refused))
            if refused.class == Class::Unauthorized
                || refused.class == Class::Forbidden(RefusalCause::LoginAttempts) =>
        {
            Err(Box::new(refused))
        }
        Err(_) => Ok(None),
    }
}

/// The cache of answers. If it cannot be used, the run still collects.
///
/// Answers of a known account, or of an app's installation, serve its next token too, if that has the same scopes; what protects them is the signing
/// key. Otherwise they serve, and are protected by, this token alone.
pub(super) fn cache(
    config: &CodeHostConfig,
    signed_in: &SignedIn,
    identity: Option<&(User, Scopes)>,
    surroundings: &RunContext,
) -> Result<Arc<Cache>, String> {
    let env = &surroundings.env;
    let directory = evidence_http::cache::directory(env)?;
    let of_key = surroundings.cache_secret.as_slice();
    let (secret, account) = match (signed_in, identity) {
        (SignedIn::App(app), _) => {
            (of_key, format!("app {} installation {} {}", app.app_id, app.installation_id, granted(app)))
        }
        (SignedIn::Token(_), Some((user, scopes))) => (of_key, format!("user {} {}", user.id, scopes.text())),
        (SignedIn::Token(token), None) => (token.expose().as_bytes(), String::new()),
    };
    let about = match &config.branch {
        Branch::Unset => FALLBACK_BRANCH.to_string(),
        Branch::Default => names::DEFAULT_BRANCH.to_string(),
        Branch::Named(name) => name.clone(),
        branches @ Branch::ByPattern(_) => branches.setting().to_string(),
    };
    let owner = CacheOwner {
        api_url: config.api_url.as_str(),
        tenant: &config.org,
        about: &about,
        account: &account,
        secret,
    };
    let resume = surroundings.resume;
    let purpose = if surroundings.dry_run { Purpose::Plan { resume } } else { Purpose::Collect { resume } };
    let cache = Cache::open(&directory, owner, purpose, Arc::clone(&surroundings.screen), env.clock.now())
        .map_err(|error| format!("cannot store records in {}: {error}", directory.display()))?;
    Ok(Arc::new(cache))
}

/// Why a run that resumes has nothing to resume.
pub(super) fn nothing_to_resume(
    cache: &Cache,
    signed_in: &SignedIn,
    identity: Option<&(User, Scopes)>,
) -> Option<String> {
    if cache.resumed_run().is_some() {
        return None;
    }
    let whose = match (signed_in.app(), identity) {
        (Some(app), _) => {
            format!("of the installation {} with permissions {}", app.installation_id, granted(app))
        }
        (None, Some((user, scopes))) => format!("as {} with scopes {}", user.login, scopes.text()),
        (None, None) => "with this token".to_string(),
    };
    Some(format!("nothing to resume: no run {whose} was interrupted, so everything is read"))
}

/// The permissions of an app's token, as the scopes of other tokens are written.
pub(super) fn granted(app: &AppIdentity) -> String {
    let permissions = app.permissions.iter().map(|(name, level)| format!("{name}:{level}"));
    permissions.collect::<Vec<_>>().join(", ")
}
