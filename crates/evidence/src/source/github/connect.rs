//! The code host's connection test: the token exists, is accepted, has no write access, and shows the organization.
//! Also determines what it cannot read.

use evidence_bundle::document::Warning;
use futures_util::future::join;
use jiff::Timestamp;

use super::account::{cache, identity, nothing_to_resume};
use super::advice::{configuration, failed_error, refused_error};
use super::config::{CodeHostConfig, Repositories};
use super::host::Host;
use super::host::api::Api;
use super::host::bulk::Bulk;
use super::host::scopes::{Scopes, expiration};
use super::host::sign_in::SignedIn;
use super::names::NAME;
use super::preflight::preflight;
use super::session::CodeHostSession;
use super::shared::Shared;
use super::sign_in::sign_in;
use super::subject::warning;
use super::topics;
use super::topics::organization::answer::{ORGANIZATION, Organization};
use super::topics::organization::two_factor_hidden;
use crate::clock;
use crate::report::Event;
use crate::source::{ConnectError, RunContext, Source};
use evidence_http::{Answered, CallError, Client, Meta, Proxy, recorded};
use evidence_rules::codehost::TWO_FACTOR_REQUIRED;

/// Warn if the token expires within this many days, because scheduled runs will then fail.
const EXPIRY_WARNING_DAYS: i64 = 7;

/// Runs the connection test. The collection reuses all its answers as evidence: the organization, and one repository.
pub(super) async fn connect(
    mut config: CodeHostConfig,
    surroundings: &RunContext,
) -> Result<CodeHostSession, ConnectError> {
    let (signed_in, client) = sign_in(&config, surroundings).await?;
    let keeps = config.revalidate && !surroundings.env.is_reproducible();
    // Which kept answers a run may use depends on the account. Without them, the organization says first what is wrong.
    let mut user = None;
    let mut no_cache = None;
    let client = if keeps {
        let identity = identity(&config, &signed_in, &client)
            .await
            .map_err(|refused| refused_error(&refused, &config, &signed_in))?;
        let cache = match cache(&config, &signed_in, identity.as_ref(), surroundings) {
            Ok(cache) => Some(cache),
            Err(text) => {
                no_cache = Some(text);
                None
            }
        };
        let asked = cache.as_deref().filter(|_| surroundings.resume);
        if let Some(text) = asked.and_then(|cache| nothing_to_resume(cache, &signed_in, identity.as_ref())) {
            surroundings.reporter.event(Event::Warning(&warning("nothing_to_resume", text, &config.org)));
        }
        user = identity.map(|(user, _)| user);
        // The host makes its entity tags with the token, and an app has another one in each run.
        client.with_cache(cache).asking_by_time(signed_in.app().is_some())
    } else {
        client
    };
    let (tested, requests) = recorded(test(&config, &client, &signed_in, surroundings)).await;
    let (organization, meta) =
        tested.map_err(|error| error.after(client.requests(), client.retries()).asked(requests.clone()))?;
    // The configured name, as the host spells it.
    if let Some(login) = organization.settings.login.value() {
        config.org.clone_from(login);
    }
    let scopes = Scopes::of(&meta);
    let token_kind = match (&scopes, signed_in.kind()) {
        (Scopes::Classic(_) | Scopes::None, "token") => "classic token",
        (_, kind) => kind,
    };
    let mut warnings =
        warnings(&config, &signed_in, &scopes, &organization, &meta, surroundings.env.started());
    warnings.extend(clock::skewed(&meta, NAME, &config.org));
    warnings.extend(no_cache.map(|text| {
        let message = format!("nothing is revalidated, so everything is read again: {text}");
        warning("records_not_kept", message, &config.org)
    }));
    // Which pages a run asks for depends on what the host can take, and a reproducible one must not.
    let in_bulk = config.bulk && !surroundings.env.is_reproducible();
    let bulk = in_bulk.then(|| Bulk::new(&client, &config.api_url, surroundings.env.clock.clone()));
    let mut host = Host {
        bulk,
        config,
        client,
        scopes,
        token_kind,
        of_installation: signed_in.is_of_installation(),
        app: signed_in.app().cloned(),
        user,
        organization,
        meta,
        requests,
        shared: Shared::default(),
        env: surroundings.env.clone(),
    };
    // Neither needs the answer of the other.
    let account = async {
        match keeps {
            true => Ok(None),
            false => identity(&host.config, &signed_in, &host.client).await,
        }
    };
    let (account, preflight) = join(account, preflight(&host, surroundings.dry_run)).await;
    let account = account.map_err(|refused| refused_error(&refused, &host.config, &signed_in))?;
    host.user = account.map(|(user, _)| user).or(host.user);
    let mut preflight =
        preflight.map_err(|error| error.after(host.client.requests(), host.client.retries()))?;
    warnings.append(&mut preflight.warnings);
    Ok(CodeHostSession { host, preflight, warnings })
}

async fn test(
    config: &CodeHostConfig,
    client: &Client,
    signed_in: &SignedIn,
    surroundings: &RunContext,
) -> Result<(Organization, Meta), ConnectError> {
    let api = Api { client, base: &config.api_url, organization: &config.org };
    match api.ask(&ORGANIZATION, &[("org", &config.org)]).await {
        Ok(Answered { value, meta }) => {
            forbid(&meta, config)?;
            Ok((value, meta))
        }
        Err(CallError::Refused(refused)) => {
            // A forbidden token is reported first, whatever else is wrong.
            forbid(&refused.meta, config)?;
            Err(refused_error(&refused, config, signed_in))
        }
        Err(CallError::Failed(failure)) => {
            let proxy = Proxy::from_env(&surroundings.env);
            Err(failed_error(&failure, config, &proxy, surroundings.dry_run))
        }
    }
}

/// Fails if the token could change anything.
fn forbid(meta: &Meta, config: &CodeHostConfig) -> Result<(), ConnectError> {
    let scopes = Scopes::of(meta);
    let forbidden = scopes.forbidden();
    if forbidden.is_empty() {
        return Ok(());
    }
    Err(configuration(
        format!(
            "Forbidden scope: the token in {} has write access ({}); nothing was collected",
            config.sign_in.holder(),
            forbidden.join(", ")
        ),
        vec![
            "create a classic token with only the scope read:org (and public_repo at most)".to_string(),
            "use a fine-grained token with read-only permissions for private repositories: the classic scope `repo` \
             includes writing"
                .to_string(),
        ],
    ))
}

/// Warns of what this token cannot read, with the consequences.
fn warnings(
    config: &CodeHostConfig,
    signed_in: &SignedIn,
    scopes: &Scopes,
    organization: &Organization,
    meta: &Meta,
    now: Timestamp,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code: &str, message: String| warnings.push(warning(code, message, &config.org));
    let undecided: Vec<String> = config
        .exclude
        .iter()
        .filter(|excluded| excluded.reason.is_none())
        .map(|excluded| format!("{}/{}", config.org, excluded.pattern))
        .collect();
    if let [first, others @ ..] = undecided.as_slice() {
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let text = format!(
            "the exclusion of {first}{more} has no reason: add `reason` and `approved_by` in `exclude`"
        );
        warn("exclusion_without_reason", text);
    }
    if config.wants(&TWO_FACTOR_REQUIRED)
        && let Some(shown) = two_factor_hidden(&organization.settings)
    {
        let remedy = match signed_in.app() {
            Some(_) => "the host does not show it to this app",
            None => "the token's user must be an organization owner",
        };
        let text = format!(
            "the two-factor setting is not visible to this token ({shown}): CC6.1 will be not verifiable; {remedy}"
        );
        warn("two_factor_not_visible", text);
    }
    if scopes.reads_organization() == Some(false) {
        let text = "the token lacks the scope read:org: data visible only to members cannot be read";
        warn("scope_missing", text.to_string());
    }
    let whole_organization =
        config.repos == Repositories::All && topics::of_repositories(config).next().is_some();
    if let Some(app) = signed_in.app()
        && app.repository_selection != "all"
    {
        let text = format!(
            "the app is installed for selected repositories of {} only: choose All repositories in its installation",
            config.org
        );
        warn("app_selected_repositories", text);
    }
    match scopes {
        // The host reports what an app's token may do when it issues the token.
        Scopes::NotReported if signed_in.app().is_some() => {}
        Scopes::NotReported => warn(
            "scopes_not_reported",
            "the host does not report this token's permissions, so read-only access cannot be verified".to_string(),
        ),
        Scopes::Classic(_) | Scopes::None
            if whole_organization && organization.counts.total_private_repos != Some(0) => warn(
            "private_repositories_unseen",
            "a classic token without write access lists only public repositories; private ones need a fine-grained \
             token"
                .to_string(),
        ),
        Scopes::Classic(_) | Scopes::None => {}
    }
    if let Some(days) = expiration(meta).map(|ends| ends.duration_since(now).as_hours() / 24)
        && days < EXPIRY_WARNING_DAYS
    {
        warn("token_expires_soon", format!("the token expires in {} days", days.max(0)));
    }
    warnings
}
