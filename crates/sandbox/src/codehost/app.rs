//! Apps, their installations, how an app proves who it is, and the tokens that it gets.
//!
//! The signature of an app's proof is really verified. Every app signs with one made-up key, which is in the repository and
//! not secret. Sources of the texts: the host's documentation of app authentication, and issues of programs that print
//! them. The answer to an app's proof at other endpoints is not known for certain.

use super::{Selection, Token};
use crate::lock::lock;
use crate::workspace;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The longest life of a proof, in seconds, with what the host tolerates.
const LONGEST: i64 = 600;
const TOLERATED: i64 = 60;

/// An app.
#[derive(Clone, Debug)]
pub struct App {
    pub(crate) id: u64,
    pub(crate) client_id: String,
    pub(crate) slug: String,
    pub(crate) installations: Vec<Installation>,
    pub(crate) token_seconds: i64,
    pub(crate) key_deleted: bool,
}

impl App {
    /// An app without installations, whose tokens live for an hour.
    pub fn new(id: u64, slug: impl Into<String>) -> Self {
        let client_id = format!("Iv23li{id:014}");
        Self {
            id,
            client_id,
            slug: slug.into(),
            installations: Vec::new(),
            token_seconds: 3600,
            key_deleted: false,
        }
    }

    /// Adds an installation.
    pub fn installed(mut self, installation: Installation) -> Self {
        self.installations.push(installation);
        self
    }

    /// How long its tokens live, in seconds.
    pub fn token_seconds(mut self, seconds: i64) -> Self {
        self.token_seconds = seconds;
        self
    }

    /// Whether its key is deleted: proofs are then not valid.
    pub fn key_deleted(mut self, deleted: bool) -> Self {
        self.key_deleted = deleted;
        self
    }

    /// Its client id.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    /// The private key of every app here, in the form in which the host gives it out.
    pub fn private_key() -> String {
        let text: String =
            workspace::signing_key().lines().filter(|line| !line.starts_with("-----")).collect();
        let der = STANDARD.decode(text).unwrap_or_default();
        // PKCS#8 has the key in the form of PKCS#1 after 26 bytes.
        let inner = STANDARD.encode(der.get(26..).unwrap_or_default());
        let mut pem = "-----BEGIN RSA PRIVATE KEY-----\n".to_owned();
        let mut rest = inner.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at_checked(64).unwrap_or((rest, ""));
            pem.push_str(line);
            pem.push('\n');
            rest = after;
        }
        pem.push_str("-----END RSA PRIVATE KEY-----\n");
        pem
    }
}

/// Where an app is installed, and what it may do there.
#[derive(Clone, Debug)]
pub struct Installation {
    pub(crate) id: u64,
    pub(crate) account: String,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) selection: Selection,
    pub(crate) suspended: Option<String>,
    pub(crate) granted_anyway: Vec<(String, String)>,
}

impl Installation {
    /// An installation for an organization, with `metadata: read` and all repositories.
    pub fn new(id: u64, account: impl Into<String>) -> Self {
        let permissions = BTreeMap::from([("metadata".to_owned(), "read".to_owned())]);
        let account = account.into();
        Self {
            id,
            account,
            permissions,
            selection: Selection::All,
            suspended: None,
            granted_anyway: Vec::new(),
        }
    }

    /// Grants a permission, with its level: `read`, `write` or `admin`.
    pub fn permission(mut self, name: &str, level: &str) -> Self {
        self.permissions.insert(name.to_owned(), level.to_owned());
        self
    }

    /// The repositories it covers.
    pub fn repositories(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Since when it is suspended.
    pub fn suspended(mut self, since: impl Into<String>) -> Self {
        self.suspended = Some(since.into());
        self
    }

    /// A permission that its tokens get although nobody asked for it, as a host with a fault.
    pub fn granted_anyway(mut self, name: &str, level: &str) -> Self {
        self.granted_anyway.push((name.to_owned(), level.to_owned()));
        self
    }
}

/// The issued tokens, with the second in which each ends. No `Debug`.
#[derive(Default)]
pub(super) struct Issued {
    tokens: Mutex<HashMap<String, (Arc<Token>, i64)>>,
    number: AtomicU64,
}

impl Issued {
    /// Adds a token that ends at this second.
    pub(super) fn put(&self, secret: &str, token: Token, ends: i64) {
        lock(&self.tokens).insert(secret.to_owned(), (Arc::new(token), ends));
    }

    /// A number that no other token has.
    pub(super) fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn find(&self, secret: &str, now: Timestamp) -> Option<Arc<Token>> {
        let tokens = lock(&self.tokens);
        tokens.get(secret).filter(|(_, ends)| now.as_second() < *ends).map(|(token, _)| token.clone())
    }
}

/// What an app's proof proves: the app, or why it proves nothing, with the status.
pub(super) fn proof(apps: &[App], token: &str, now: Timestamp) -> Result<App, (u16, &'static str)> {
    const UNREADABLE: (u16, &str) = (401, "A JSON web token could not be decoded");
    let (signed, signature) = token.rsplit_once('.').ok_or(UNREADABLE)?;
    let (header, claims) = signed.split_once('.').ok_or(UNREADABLE)?;
    let json =
        |part: &str| -> Option<Value> { serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok() };
    let (header, claims) = (json(header).ok_or(UNREADABLE)?, json(claims).ok_or(UNREADABLE)?);
    let issuer = claims.get("iss");
    let app = apps.iter().find(|app| {
        issuer.and_then(Value::as_u64) == Some(app.id)
            || issuer
                .and_then(Value::as_str)
                .is_some_and(|text| text == app.client_id || text == app.id.to_string())
    });
    let app = app.ok_or((404, "Integration not found"))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| UNREADABLE)?;
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, workspace::verifying_key());
    let is_good = header.get("alg").and_then(Value::as_str) == Some("RS256")
        && !app.key_deleted
        && key.verify(signed.as_bytes(), &signature).is_ok();
    if !is_good {
        return Err(UNREADABLE);
    }
    let time = |claim: &str| claims.get(claim).and_then(Value::as_i64);
    let now = now.as_second();
    match (time("iat"), time("exp")) {
        (None, _) => Err((401, "Missing 'issued at' claim ('iat') in assertion")),
        (Some(issued), _) if issued > now => Err((
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        )),
        (_, Some(ends)) if ends > now + LONGEST + TOLERATED => {
            Err((401, "'Expiration time' claim ('exp') is too far in the future"))
        }
        (_, Some(ends)) if ends > now => Ok(app.clone()),
        _ => Err((
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the \
             assertion expires",
        )),
    }
}

/// Whose installation is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Organization(String),
    Number(String),
}
