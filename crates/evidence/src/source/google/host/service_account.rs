//! The service account, and what signs for it: the key in its credentials file, or the provider.
//!
//! No error quotes the file, since a typing error must not print a key. Nothing here signs or sends.

use std::fmt;

use evidence_settings::format::is_loopback;
use pkcs8::SecretDocument;
use ring::rsa::KeyPair as RsaKeyPair;
use serde_json::{Map, Value};
use url::Url;
use zeroize::Zeroizing;

use super::credentials_file::{self, CredentialsError, Loaded, object, text};
use super::identity::Identity;
use crate::origin::OwnHosts;

/// The default address of the exchange.
pub(crate) const DEFAULT_TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// The provider's own hosts that exchange assertions for tokens, present and past.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://oauth2.googleapis.com`, `https://accounts.google.com`, `https://www.googleapis.com`",
    is_own: |host| matches!(host, "oauth2.googleapis.com" | "accounts.google.com" | "www.googleapis.com"),
    mistaken: |_| None,
};

/// The only supported kind of file.
const KIND: &str = "service_account";

/// A service account.
pub(crate) struct ServiceAccount {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// The account's id, which domain-wide delegation is granted to. Only used in advice.
    pub(crate) client_id: Option<String>,
    /// The address that exchanges assertions for tokens.
    pub(crate) token_uri: Url,
    /// The same address exactly as in the file, for the assertion.
    pub(crate) audience: String,
}

/// A service account, and what signs its assertions.
#[derive(Debug)]
pub(crate) struct SignIn {
    pub(crate) account: ServiceAccount,
    pub(crate) signer: Signer,
}

/// What signs the assertions of a service account.
pub(crate) enum Signer {
    /// The key of its file.
    Key(Key),
    /// The provider, at this address, which holds the key. This identity asks it.
    Provider(Url, Identity),
}

/// A key of a service account.
pub(crate) struct Key {
    /// Its id.
    pub(crate) id: String,
    /// The key.
    pub(crate) pair: RsaKeyPair,
    /// The key as in the file.
    pem: Zeroizing<String>,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("email", &self.email).finish_non_exhaustive()
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signer::Key(_) => f.write_str("Key"),
            Signer::Provider(_, identity) => f.debug_tuple("Provider").field(identity).finish(),
        }
    }
}

impl SignIn {
    /// What must never be printed: the key as in its file, of which the screen looks for each line, or the headers of a
    /// request for a token.
    pub(crate) fn secrets(&self) -> Vec<String> {
        match &self.signer {
            Signer::Key(key) => vec![key.pem.to_string()],
            Signer::Provider(_, identity) => identity.secrets(),
        }
    }
}

/// Loads the account from the file at `value`, the value of `variable`.
pub(crate) fn load(variable: &str, value: Option<&str>) -> Result<Loaded<SignIn>, CredentialsError> {
    credentials_file::load(variable, value, parse)
}

/// Loads the account from the content of the file, the value of `variable`.
pub(crate) fn from_content(
    variable: &str,
    content: Option<&str>,
) -> Result<Loaded<SignIn>, CredentialsError> {
    credentials_file::from_content(variable, content, parse)
}

/// Parses a credentials file. Every message continues a sentence that begins with the file.
fn parse(bytes: &[u8]) -> Result<SignIn, CredentialsError> {
    let fields = object(bytes, download)?;
    kind(&fields)?;
    let email = text(&fields, "client_email", download)?;
    if !is_word(email, 320) || !email.contains('@') {
        return Err(download("has a client_email that is not an e-mail address".to_string()));
    }
    let key_id = text(&fields, "private_key_id", download)?;
    if !is_word(key_id, 256) {
        return Err(download("has an invalid private_key_id".to_string()));
    }
    let pem = Zeroizing::new(text(&fields, "private_key", download)?.to_string());
    let key = private_key(&pem)?;
    let token_uri = match fields.get("token_uri") {
        None | Some(Value::Null) => DEFAULT_TOKEN_URI,
        Some(_) => text(&fields, "token_uri", download)?,
    };
    let account = ServiceAccount {
        email: email.to_string(),
        client_id: fields
            .get("client_id")
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_string),
        token_uri: address(token_uri)?,
        audience: token_uri.to_string(),
    };
    Ok(SignIn { account, signer: Signer::Key(Key { id: key_id.to_string(), pair: key, pem }) })
}

/// Recognises other files that are commonly confused with the right one.
fn kind(fields: &Map<String, Value>) -> Result<(), CredentialsError> {
    let what = match fields.get("type").and_then(Value::as_str) {
        Some(KIND) => return Ok(()),
        Some("authorized_user") => {
            "is of type authorized_user, a person's own login: it cannot act for an administrator"
        }
        Some("external_account" | "external_account_authorized_user") => {
            "is of type external_account (workload identity federation): it has no key to sign with, and \
             `mode: sign_jwt` uses it"
        }
        Some("impersonated_service_account") => {
            "is of type impersonated_service_account: it has no key of its own to sign with"
        }
        Some(_) => "is of a type that is not supported",
        None if fields.contains_key("installed") || fields.contains_key("web") => {
            "is the file of an OAuth client, not of a service account"
        }
        None => "has no `type`",
    };
    Err(download(format!("{what}; its type must be {KIND}")))
}

fn private_key(pem: &str) -> Result<RsaKeyPair, CredentialsError> {
    let trimmed = pem.trim();
    if trimmed.starts_with("-----BEGIN RSA PRIVATE KEY") {
        return Err(download("has a private_key in PKCS#1 form; it must be PKCS#8".to_string()));
    }
    if trimmed.starts_with("-----BEGIN ENCRYPTED") {
        return Err(download("has a private_key that is encrypted".to_string()));
    }
    if trimmed.contains("\\n") {
        return Err(download(
            "has a private_key whose line breaks were escaped twice, as when it passes through a shell"
                .to_string(),
        ));
    }
    let (label, document) = SecretDocument::from_pem(trimmed)
        .map_err(|_| download("has a private_key that is not in PEM form".to_string()))?;
    if label != "PRIVATE KEY" {
        return Err(download("has a private_key that is not in PKCS#8 form".to_string()));
    }
    // The reason is one of a fixed set of words, never a part of the key.
    RsaKeyPair::from_pkcs8(document.as_bytes())
        .map_err(|reason| download(format!("has a private_key that is not a usable RSA key ({reason})")))
}

/// Anyone who reads the assertion can obtain a token, so it is sent only over https or to this machine.
fn address(text: &str) -> Result<Url, CredentialsError> {
    let bad = |what: &str| download(format!("has a token_uri that {what}"));
    let url = Url::parse(text).map_err(|_| bad("is not a URL"))?;
    if url.host().is_none() {
        return Err(bad("names no host"));
    }
    if !(url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url))) {
        return Err(bad("is not https"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(bad("has a user or a fragment"));
    }
    Ok(url)
}

fn is_word(text: &str, longest: usize) -> bool {
    text.len() <= longest && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn download(message: String) -> CredentialsError {
    let help = "create a key for the service account in the cloud console (Keys, Add key, JSON) and use the file \
                unchanged";
    CredentialsError { message, help: vec![help.to_string()] }
}

#[cfg(test)]
mod tests;
