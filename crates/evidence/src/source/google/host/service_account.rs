//! The service account's credentials file: found through a variable with its path, checked, read, and never printed.
//!
//! An error names the variable, the file and the remedy. It never quotes the file, since a typing error must not print
//! a key. Nothing here signs or sends.

use std::fmt;
use std::io;
use std::path::Path;

use evidence_os::access::{self, Access};
use evidence_os::input;
use evidence_settings::format::is_loopback;
use pkcs8::SecretDocument;
use ring::rsa::KeyPair as RsaKeyPair;
use serde_json::{Map, Value};
use url::Url;
use zeroize::Zeroizing;

use crate::origin::OwnHosts;

/// The provider's own file is 2.4 kB; a larger file than this is something else.
const FILE_LIMIT: u64 = 64 * 1024;

/// The default address of the exchange.
const DEFAULT_TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// The provider's own hosts that exchange assertions for tokens, present and past.
pub(crate) static OWN_HOSTS: OwnHosts = OwnHosts {
    shown: "`https://oauth2.googleapis.com`, `https://accounts.google.com`, `https://www.googleapis.com`",
    is_own: |host| matches!(host, "oauth2.googleapis.com" | "accounts.google.com" | "www.googleapis.com"),
    mistaken: |_| None,
};

/// The maximum length of a path: anything longer is probably the file's content.
const PATH_LIMIT: usize = 512;

/// The maximum length of a path without characters that distinguish it from base64, not even a dot.
const PLAIN_PATH_LIMIT: usize = 200;

/// A name this short cannot contain a useful part of a key.
const SHORT_NAME: usize = 12;

/// The only supported kind of file.
const KIND: &str = "service_account";

/// A service account with its key.
pub(crate) struct ServiceAccount {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// The account's id, which domain-wide delegation is granted to. Only used in advice.
    pub(crate) client_id: Option<String>,
    /// The id of this key.
    pub(crate) key_id: String,
    /// The key.
    pub(crate) key: RsaKeyPair,
    /// The address that exchanges assertions for tokens.
    pub(crate) token_uri: Url,
    /// The same address exactly as in the file, for the assertion.
    pub(crate) audience: String,
    /// The key as in the file.
    pem: Zeroizing<String>,
}

/// A credentials file, with a warning about it.
pub(crate) struct Loaded {
    /// The account.
    pub(crate) account: ServiceAccount,
    /// A warning if users other than the owner can read the file.
    pub(crate) warning: Option<String>,
}

/// The problem, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceAccountError {
    /// What failed.
    pub(crate) message: String,
    /// What to do, one line per step.
    pub(crate) help: Vec<String>,
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount").field("email", &self.email).finish_non_exhaustive()
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("account", &self.account).finish_non_exhaustive()
    }
}

impl ServiceAccount {
    /// The key as in the file, which must never be printed. The screen looks for each of its lines.
    pub(crate) fn secrets(&self) -> Vec<String> {
        vec![self.pem.to_string()]
    }
}

/// Loads the account from the file at `value`, the value of `variable`.
pub(crate) fn load(variable: &str, value: Option<&str>) -> Result<Loaded, ServiceAccountError> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Err(ServiceAccountError {
            message: format!(
                "the environment variable {variable} is not set: it must hold the path of the service account's \
                 credentials file"
            ),
            help: vec![format!(
                "export {variable}=/path/to/credentials.json, or name another variable as \
                 sources.altcloud.credentials_env"
            )],
        });
    };
    if !can_be_path(value) {
        return Err(ServiceAccountError {
            message: format!(
                "the environment variable {variable} does not hold a path: it must hold the path of the \
                 service account's credentials file, not its content"
            ),
            help: vec![
                format!("write the credentials to a file with mode 600, and set {variable} to its path"),
                "the value is not shown: it may be the credentials themselves".to_string(),
            ],
        });
    }
    let path = Path::new(value);
    // A path that does not exist may be a piece of a key.
    let place = if is_shown(value) {
        format!("the credentials file {}, which {variable} names,", path.display())
    } else {
        format!("the credentials file that {variable} names")
    };
    let (bytes, access) = read(path).map_err(|what| ServiceAccountError {
        message: format!("{place} {what}"),
        help: vec![format!(
            "check that {variable} holds the path of the file, not its content, and that you can read the file"
        )],
    })?;
    let account = parse(&bytes).map_err(|trouble| ServiceAccountError {
        message: format!("{place} {}", trouble.message),
        help: trouble.help,
    })?;
    let readable = access.filter(|access| access.mode & 0o077 != 0);
    let warning = readable.map(|Access { mode, .. }| {
        format!("{place} can be read by other users (mode {mode:o}): run chmod 600 {}", path.display())
    });
    Ok(Loaded { account, warning })
}

/// Loads the account from the content of the file, the value of `variable`.
pub(crate) fn from_content(variable: &str, content: Option<&str>) -> Result<Loaded, ServiceAccountError> {
    let Some(content) = content else {
        return Err(ServiceAccountError {
            message: format!(
                "the environment variable {variable} is not set: it must hold the content of the service account's \
                 credentials file"
            ),
            help: vec![format!(
                "export {variable}=\"$(cat credentials.json)\", or write `export {variable}_FILE=PATH`"
            )],
        });
    };
    let account = parse(content.as_bytes()).map_err(|trouble| ServiceAccountError {
        message: format!("the content of {variable} {}", trouble.message),
        help: trouble.help,
    })?;
    Ok(Loaded { account, warning: None })
}

/// Whether the value may be a path: not JSON, PEM or a base64 file.
fn can_be_path(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    let is_content = value.starts_with('{')
        || value.contains("-----")
        || value.contains("PRIVATE KEY")
        || value.chars().any(char::is_control)
        || (value.len() > PLAIN_PATH_LIMIT && value.bytes().all(is_base64));
    !is_content && value.len() <= PATH_LIMIT
}

/// Whether the value is certainly a path, so that a message may quote it: the path exists, or it ends like the right
/// file's name (unlike any piece of a file), or its directory exists and the rest is short.
fn is_shown(value: &str) -> bool {
    let path = Path::new(value);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._- ~@".contains(&byte);
    let is_named = || value.ends_with(".json") && value.bytes().all(is_plain);
    let is_short = || path.file_name().is_some_and(|name| name.len() <= SHORT_NAME);
    let in_directory =
        || path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir());
    path.symlink_metadata().is_ok() || is_named() || (is_short() && in_directory())
}

/// Reads the file and its permissions. The `Err` text continues a sentence that begins with the file.
fn read(path: &Path) -> Result<(Zeroizing<Vec<u8>>, Option<Access>), String> {
    let read = || {
        let (bytes, file) = input::read(path, FILE_LIMIT)?;
        Ok((bytes, access::of(&file.metadata()?)))
    };
    match read() {
        Ok(read) => Ok(read),
        Err(error) if io::Error::kind(&error) == io::ErrorKind::FileTooLarge => {
            Err(format!("is larger than {FILE_LIMIT} bytes, too large for a credentials file"))
        }
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// Parses a credentials file. Every message continues a sentence that begins with the file.
fn parse(bytes: &[u8]) -> Result<ServiceAccount, ServiceAccountError> {
    // A generic tree, because a struct's errors would quote invalid values.
    let tree: Value = serde_json::from_slice(bytes).map_err(|error| {
        let what = if bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
            "is a key in PEM form; the JSON file from the cloud console is needed".to_string()
        } else {
            format!("is not JSON (line {}, column {})", error.line(), error.column())
        };
        download(what)
    })?;
    let Value::Object(fields) = tree else {
        return Err(download("is JSON, but not an object".to_string()));
    };
    kind(&fields)?;
    let email = text(&fields, "client_email")?;
    if !is_word(email, 320) || !email.contains('@') {
        return Err(download("has a client_email that is not an e-mail address".to_string()));
    }
    let key_id = text(&fields, "private_key_id")?;
    if !is_word(key_id, 256) {
        return Err(download("has an invalid private_key_id".to_string()));
    }
    let pem = Zeroizing::new(text(&fields, "private_key")?.to_string());
    let key = private_key(&pem)?;
    let token_uri = match fields.get("token_uri") {
        None | Some(Value::Null) => DEFAULT_TOKEN_URI,
        Some(_) => text(&fields, "token_uri")?,
    };
    Ok(ServiceAccount {
        email: email.to_string(),
        client_id: fields
            .get("client_id")
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_digit()))
            .map(str::to_string),
        key_id: key_id.to_string(),
        key,
        token_uri: address(token_uri)?,
        audience: token_uri.to_string(),
        pem,
    })
}

/// Recognises other files that are commonly confused with the right one.
fn kind(fields: &Map<String, Value>) -> Result<(), ServiceAccountError> {
    let what = match fields.get("type").and_then(Value::as_str) {
        Some(KIND) => return Ok(()),
        Some("authorized_user") => {
            "is of type authorized_user, a person's own login: it cannot act for an administrator"
        }
        Some("external_account" | "external_account_authorized_user") => {
            "is of type external_account (workload identity federation): it has no key to sign with"
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

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, ServiceAccountError> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.as_str()),
        Some(Value::String(_)) => Err(download(format!("has an empty {name}"))),
        Some(_) => Err(download(format!("has a {name} that is not text"))),
        None => Err(download(format!("has no {name}"))),
    }
}

fn private_key(pem: &str) -> Result<RsaKeyPair, ServiceAccountError> {
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
fn address(text: &str) -> Result<Url, ServiceAccountError> {
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

fn download(message: String) -> ServiceAccountError {
    let help = "create a key for the service account in the cloud console (Keys, Add key, JSON) and use the file \
                unchanged";
    ServiceAccountError { message, help: vec![help.to_string()] }
}

#[cfg(test)]
mod tests;
