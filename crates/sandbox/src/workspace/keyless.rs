//! Signing in without a key file: the machine's metadata service, the exchange of another identity provider's tokens,
//! and the service that signs with a key that only the provider has.
//!
//! The forms are those of the provider's documentation. The real services are at addresses of their own; here they share
//! the directory's port. The identity provider is made up, in the form of a CI service's: it signs with the sandbox's key.

use super::Workspace;
use super::refusal::Refusal;
use super::service_account::pem;
use super::token::{Assertion, Grant, Tokens};
use crate::server::Call;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::rsa::KeyPair;
use ring::signature::RSA_PKCS1_SHA256;
use serde_json::{Value, json};

pub(super) const METADATA: &str = "/computeMetadata/v1/instance/service-accounts/default/";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
/// The scopes with which something can be signed.
const SIGNING: [&str; 2] =
    ["https://www.googleapis.com/auth/iam", "https://www.googleapis.com/auth/cloud-platform"];
/// The longest life of what is signed, in seconds.
const LONGEST: i64 = 12 * 3600;

/// The secret with which a job asks the identity provider for its token.
pub const REQUEST_TOKEN: &str = "not-a-real-request-token";
/// The subject of that token.
pub const SUBJECT: &str = "repo:acme/audit:ref:refs/heads/main";
/// The pool's provider, by its full name.
pub const AUDIENCE: &str =
    "//iam.googleapis.com/projects/482910573661/locations/global/workloadIdentityPools/ci/providers/jobs";

/// What the metadata service answers: text or JSON.
pub(super) enum Said {
    Text(String),
    Json(Value),
}

/// `GET /computeMetadata/v1/instance/service-accounts/default/...`. `None` if there is nothing at that path.
pub(super) fn metadata(
    workspace: &Workspace,
    tokens: &Tokens,
    call: &Call,
) -> Result<Said, (u16, &'static str)> {
    if call.header("metadata-flavor") != Some("Google") {
        return Err((403, "Missing Metadata-Flavor:Google header."));
    }
    let Some((email, scopes)) = &workspace.attached else {
        return Err((404, "The service account was not found."));
    };
    let now = call.now.as_second();
    match call.path.strip_prefix(METADATA) {
        Some("email") => Ok(Said::Text(email.clone())),
        Some("") => Ok(Said::Json(json!({"aliases": ["default"], "email": email, "scopes": scopes}))),
        Some("token") => {
            let grant = Grant {
                subject: email.clone(),
                delegated: false,
                scopes: scopes.clone(),
                expires: now.saturating_add(workspace.token_seconds),
            };
            let token = tokens.issue(grant);
            let seconds = workspace.token_seconds;
            Ok(Said::Json(json!({"access_token": token, "expires_in": seconds, "token_type": "Bearer"})))
        }
        _ => Err((404, "Not found.")),
    }
}

/// `GET /idp/token`: the identity provider's token for a job.
pub(super) fn identity_token(url: &str, call: &Call) -> Result<Value, (u16, &'static str)> {
    if call.header("authorization") != Some(&format!("Bearer {REQUEST_TOKEN}")) {
        return Err((401, "The job's token is missing or has expired."));
    }
    Ok(json!({"count": 1, "value": subject_token(url, SUBJECT, call.now.as_second(), 300)}))
}

/// A token of the identity provider.
pub(super) fn subject_token(url: &str, subject: &str, now: i64, seconds: i64) -> String {
    let audience = format!("https:{AUDIENCE}");
    let issuer = format!("{url}/idp");
    let expires = now.saturating_add(seconds);
    let claims = json!({"iss": issuer, "aud": audience, "sub": subject, "iat": now, "exp": expires});
    sign("jobs-1", &claims.to_string())
}

/// `POST /v1/token`: the exchange of that token (RFC 8693).
pub(super) fn exchange(
    workspace: &Workspace,
    tokens: &Tokens,
    key: &[u8],
    url: &str,
    call: &Call,
) -> Result<Value, Refusal> {
    let form = crate::form::decode(&String::from_utf8_lossy(&call.body));
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let refused = |error: &str, description: &str| Refusal::token(400, error, description);
    if call.header("authorization").is_some() {
        return Err(refused("invalid_request", "Request should not carry an Authorization header."));
    }
    if field("grant_type") != GRANT {
        return Err(refused("unsupported_grant_type", "Unsupported grant type."));
    }
    if field("requested_token_type") != ACCESS_TOKEN || field("scope").is_empty() {
        return Err(refused("invalid_request", "Invalid requested_token_type or scope."));
    }
    if field("audience") != AUDIENCE {
        let description = "Invalid value for \"audience\". This value should be the full resource name of the Identity \
            Provider.";
        return Err(refused("invalid_request", description));
    }
    if field("subject_token_type") != JWT {
        return Err(refused("invalid_request", "Invalid subject token type."));
    }
    let token = Assertion::read(field("subject_token"))
        .ok_or_else(|| refused("invalid_request", "Unable to parse the ID Token."))?;
    if token.text("iss") != format!("{url}/idp") || !token.is_signed(key) {
        return Err(refused("invalid_grant", "Error connecting to the given credential's issuer."));
    }
    if token.text("aud") != format!("https:{AUDIENCE}") {
        return Err(refused(
            "invalid_grant",
            "The audience in ID Token does not match the expected audience.",
        ));
    }
    let now = call.now.as_second();
    if token.number("exp").is_none_or(|expires| expires <= now) {
        return Err(refused("invalid_grant", "The ID Token is stale to sign-in."));
    }
    if !workspace.federated.iter().any(|subject| subject == token.text("sub")) {
        return Err(Refusal::token(
            403,
            "unauthorized_client",
            "The given credential is rejected by the attribute condition.",
        ));
    }
    let grant = Grant {
        subject: token.text("sub").to_owned(),
        delegated: false,
        scopes: field("scope").split_whitespace().map(str::to_owned).collect(),
        expires: now.saturating_add(workspace.token_seconds),
    };
    Ok(json!({
        "access_token": tokens.issue(grant),
        "issued_token_type": ACCESS_TOKEN,
        "token_type": "Bearer",
        "expires_in": workspace.token_seconds,
    }))
}

/// `POST /v1/projects/-/serviceAccounts/{account}:signJwt`.
pub(super) fn sign_jwt(
    workspace: &Workspace,
    grant: &Grant,
    account: &str,
    call: &Call,
) -> Result<Value, Refusal> {
    if workspace.iam_disabled {
        return Err(Refusal::iam_disabled());
    }
    if !grant.scopes.iter().any(|scope| SIGNING.contains(&scope.as_str())) {
        return Err(Refusal::signing_scope());
    }
    let account = workspace.service_accounts.iter().find(|known| known.email == account && !known.deleted);
    // The provider does not say whether the account exists.
    let account = account.filter(|account| account.token_creators.contains(&grant.subject));
    let account = account.ok_or_else(Refusal::may_not_sign)?;
    let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let payload = body.get("payload").and_then(Value::as_str).unwrap_or_default();
    let claims: Value = serde_json::from_str(payload).unwrap_or_default();
    let expires = claims.get("exp").and_then(Value::as_i64);
    let now = call.now.as_second();
    if !claims.is_object() || expires.is_some_and(|expires| expires <= now || expires > now + LONGEST) {
        return Err(Refusal::invalid_argument());
    }
    let key_id = account.key_id();
    Ok(json!({"keyId": key_id, "signedJwt": sign(&key_id, payload)}))
}

/// A token with the sandbox's key. Empty if the key is not usable, which the crate's tests exclude.
fn sign(key_id: &str, claims: &str) -> String {
    let header = json!({"alg": "RS256", "kid": key_id, "typ": "JWT"}).to_string();
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let text = format!("{}.{}", part(&header), part(claims));
    let der: String = pem().lines().filter(|line| !line.starts_with("-----")).collect();
    let key = STANDARD.decode(der).ok().and_then(|der| KeyPair::from_pkcs8(&der).ok());
    let Some(key) = key else { return String::new() };
    let mut signature = vec![0; key.public().modulus_len()];
    match key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature) {
        Ok(()) => format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)),
        Err(_) => String::new(),
    }
}

/// The federation file for a token at this address, or in this file.
pub(super) fn federation_file(url: &str, file: Option<&str>) -> String {
    let source = match file {
        Some(file) => json!({"file": file, "format": {"type": "text"}}),
        None => json!({
            "url": format!("{url}/idp/token?audience=x"),
            "headers": {"Authorization": format!("Bearer {REQUEST_TOKEN}")},
            "format": {"type": "json", "subject_token_field_name": "value"},
        }),
    };
    let file = json!({
        "universe_domain": "googleapis.com",
        "type": "external_account",
        "audience": AUDIENCE,
        "subject_token_type": JWT,
        "token_url": format!("{url}/v1/token"),
        "credential_source": source,
    });
    format!("{file:#}\n")
}
