//! The token endpoint: takes a signed assertion and issues an access token. It really verifies the signature.

use super::refusal::Refusal;
use super::service_account::{ServiceAccount, public_key};
use super::shape::opaque;
use super::{MORE_SCOPES, SCOPES, Workspace};
use crate::lock::lock;
use crate::server::Call;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How far a clock may be off, in seconds. The real number is not published.
const SKEW: i64 = 300;
/// The endpoint's public address. The provider's own libraries use it as the audience, whatever their file says.
const PUBLIC: &str = "https://oauth2.googleapis.com/token";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The issued access tokens. No `Debug`.
#[derive(Default)]
pub(super) struct Tokens {
    granted: Mutex<HashMap<String, Grant>>,
    number: AtomicU64,
}

/// The rights of an access token.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// The person that the service account impersonates, or the service account itself.
    pub(super) subject: String,
    pub(super) delegated: bool,
    pub(super) scopes: Vec<String>,
    /// Seconds since 1970.
    pub(super) expires: i64,
}

impl Tokens {
    pub(super) fn find(&self, token: &str) -> Option<Grant> {
        lock(&self.granted).get(token).cloned()
    }

    pub(super) fn issue(&self, grant: Grant) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let seed = format!("{grant:?} {number} {:?}", std::time::Instant::now());
        let token = format!("ya29.c.{}", opaque(&seed, 180));
        lock(&self.granted).insert(token.clone(), grant);
        token
    }
}

fn grant_error(description: &str) -> Refusal {
    Refusal::token(400, "invalid_grant", description)
}

/// `POST /token`.
pub(super) fn exchange(
    workspace: &Workspace,
    tokens: &Tokens,
    key: &[u8],
    url: &str,
    call: &Call,
) -> Result<Value, Refusal> {
    let form = crate::form::decode(&String::from_utf8_lossy(&call.body));
    let Some(grant_type) = form.get("grant_type") else {
        return Err(Refusal::token(400, "invalid_request", "Missing required parameter: grant_type"));
    };
    if grant_type != GRANT {
        let description = format!("Invalid grant_type: {grant_type}");
        return Err(Refusal::token(400, "unsupported_grant_type", &description));
    }
    let Some(assertion) = form.get("assertion").filter(|assertion| !assertion.is_empty()) else {
        return Err(Refusal::token(400, "invalid_request", "Missing required parameter: assertion"));
    };
    let assertion = Assertion::read(assertion)
        .ok_or_else(|| Refusal::token(400, "invalid_request", "Could not parse the JWT assertion."))?;
    let account = workspace.service_accounts.iter().find(|account| account.email == assertion.text("iss"));
    let account = account.ok_or_else(|| grant_error("Invalid grant: account not found"))?;
    if account.deleted {
        // Whether the answer is this or the text above depends on how long ago it was deleted.
        return Err(Refusal::token(401, "invalid_client", "The OAuth client was not found."));
    }
    assertion.verify(account, key)?;
    let now = call.now.as_second();
    assertion.check_times(now)?;
    let audience = assertion.text("aud");
    if audience != format!("{url}/token") && audience != PUBLIC {
        return Err(grant_error("Invalid JWT: Failed audience check."));
    }
    let grant = grant(workspace, account, &assertion, now)?;
    let token = tokens.issue(grant);
    Ok(json!({ "access_token": token, "expires_in": workspace.token_seconds, "token_type": "Bearer" }))
}

fn grant(
    workspace: &Workspace,
    account: &ServiceAccount,
    assertion: &Assertion<'_>,
    now: i64,
) -> Result<Grant, Refusal> {
    let scopes: Vec<String> = assertion.text("scope").split_whitespace().map(str::to_owned).collect();
    if scopes.is_empty() {
        return Err(Refusal::token(400, "invalid_scope", "Empty or missing scope not allowed."));
    }
    if scopes.iter().any(|scope| !scope.starts_with("https://www.googleapis.com/auth/")) {
        let description = "Invalid OAuth scope or ID token audience provided.";
        return Err(Refusal::token(400, "invalid_scope", description));
    }
    let expires = now.saturating_add(workspace.token_seconds);
    let subject = assertion.text("sub");
    if subject.is_empty() || subject == account.email {
        return Ok(Grant { subject: account.email.clone(), delegated: false, scopes, expires });
    }
    let person = workspace.find_person(subject).filter(|person| person.deleted.is_none());
    // The answer for a suspended person is not known for certain.
    if person.is_none_or(|person| person.suspended) {
        return Err(grant_error("Invalid email or User ID"));
    }
    // One scope that is not delegated invalidates all of them.
    if scopes.iter().any(|scope| !account.delegated.contains(scope)) {
        return Err(Refusal::token(
            401,
            "unauthorized_client",
            "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the \
             scopes requested.",
        ));
    }
    let subject = person.map(|person| person.email.clone()).unwrap_or_default();
    Ok(Grant { subject, delegated: true, scopes, expires })
}

pub(super) struct Assertion<'a> {
    signed: &'a str,
    header: Value,
    claims: Value,
    signature: Vec<u8>,
}

impl<'a> Assertion<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let part = |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        Some(Self { signed, header: part(header)?, claims: part(claims)?, signature })
    }

    pub(super) fn text(&self, claim: &str) -> &str {
        self.claims.get(claim).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, claim: &str) -> Option<i64> {
        self.claims.get(claim).and_then(Value::as_i64)
    }

    /// Whether its signature is that of the key.
    pub(super) fn is_signed(&self, key: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key);
        let algorithm = self.header.get("alg").and_then(Value::as_str);
        algorithm == Some("RS256") && key.verify(self.signed.as_bytes(), &self.signature).is_ok()
    }

    fn verify(&self, account: &ServiceAccount, key: &[u8]) -> Result<(), Refusal> {
        let header = |name: &str| self.header.get(name).and_then(Value::as_str);
        // Without a key id, all keys of the account are tried.
        let known = header("kid").is_none_or(|kid| kid == account.key_id()) && !account.key_revoked;
        if known && self.is_signed(key) { Ok(()) } else { Err(grant_error("Invalid JWT Signature.")) }
    }

    fn check_times(&self, now: i64) -> Result<(), Refusal> {
        let reasonable = match (self.number("iat"), self.number("exp")) {
            (Some(issued), Some(expires)) => {
                let length = expires.saturating_sub(issued);
                (1..=3600).contains(&length) && issued <= now.saturating_add(SKEW) && expires > now - SKEW
            }
            _ => false,
        };
        if reasonable {
            return Ok(());
        }
        Err(grant_error(
            "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and \
             exp values in the JWT claim.",
        ))
    }
}

/// Whether the scopes include one that suffices for a kind of call: for reading, or also for writing.
pub(super) fn covers(scopes: &[String], place: usize) -> bool {
    SCOPES.iter().chain(&MORE_SCOPES).nth(place).is_some_and(|reading| {
        scopes
            .iter()
            .any(|scope| scope == reading || Some(scope.as_str()) == reading.strip_suffix(".readonly"))
    })
}

/// The key for verifying assertions. Verification fails if it is empty.
pub(crate) fn verifying_key() -> Vec<u8> {
    public_key().unwrap_or_default()
}
