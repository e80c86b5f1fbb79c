//! The service account's credentials file: found through a variable that holds its path, checked, read, never shown.
//!
//! An error names the variable, the file and what to do. It never quotes the file: a slip of the pen in it must not
//! print a key. Nothing here signs or sends.

use std::fmt;
use std::io;
use std::path::Path;

use evidence_os::access::{self, Access};
use evidence_os::input;
use pkcs8::SecretDocument;
use ring::rsa::KeyPair as RsaKeyPair;
use serde_json::{Map, Value};
use url::{Host, Url};
use zeroize::Zeroizing;

/// The provider's own file is 2.4 kB; a file that is larger than this is another file.
const FILE_LIMIT: u64 = 64 * 1024;

/// Where the exchange goes if the file does not say.
const DEFAULT_TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// The longest path that is tried: more is not a path but what should be in the file.
const PATH_LIMIT: usize = 512;

/// The longest path that is tried if nothing in it, not even a dot, tells it from text in base64.
const PLAIN_PATH_LIMIT: usize = 200;

/// A name this short holds no part of a key that is worth anything.
const SHORT_NAME: usize = 12;

/// The only kind of file that works.
const KIND: &str = "service_account";

/// A service account with its key.
pub(super) struct ServiceAccount {
    /// Its name, an e-mail address.
    pub(super) email: String,
    /// Its number, which domain-wide delegation is granted to; only for advice.
    pub(super) client_id: Option<String>,
    /// Which of its keys this is.
    pub(super) key_id: String,
    /// The key.
    pub(super) key: RsaKeyPair,
    /// Where an assertion is exchanged for a token.
    pub(super) token_uri: Url,
    /// The same as the file has it: what the assertion must say.
    pub(super) audience: String,
    /// The key as the file has it.
    pem: Zeroizing<String>,
}

/// A credentials file, and what is worth saying about it.
pub(super) struct Loaded {
    /// The account.
    pub(super) account: ServiceAccount,
    /// Others than its owner can read the file.
    pub(super) warning: Option<String>,
}

/// What is wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceAccountError {
    /// What failed.
    pub(super) message: String,
    /// What to do, a line each.
    pub(super) help: Vec<String>,
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
    /// What must never be shown: the key as the file has it. The screen looks for each of its lines.
    pub(super) fn secrets(&self) -> Vec<String> {
        vec![self.pem.to_string()]
    }
}

/// The account in the file whose path is `value`, the content of `variable`.
pub(super) fn load(variable: &str, value: Option<&str>) -> Result<Loaded, ServiceAccountError> {
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
                format!("write the credentials to a file of mode 600, and its path into {variable}"),
                "the value is not shown: it may be the credentials themselves".to_string(),
            ],
        });
    }
    let path = Path::new(value);
    // A path to nowhere may be a piece of a key.
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

/// Whether it is worth trying as a path: neither JSON nor PEM nor a file in base64.
fn can_be_path(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    let is_content = value.starts_with('{')
        || value.contains("-----")
        || value.contains("PRIVATE KEY")
        || value.chars().any(char::is_control)
        || (value.len() > PLAIN_PATH_LIMIT && value.bytes().all(is_base64));
    !is_content && value.len() <= PATH_LIMIT
}

/// Whether it is a path for certain, so that a message may have it: something is there, or it is called like the
/// right file, which no piece of a file is, or there is the directory and the rest is short.
fn is_shown(value: &str) -> bool {
    let path = Path::new(value);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._- ~@".contains(&byte);
    let is_named = || value.ends_with(".json") && value.bytes().all(is_plain);
    let is_short = || path.file_name().is_some_and(|name| name.len() <= SHORT_NAME);
    let in_directory =
        || path.parent().is_some_and(|parent| parent.as_os_str().is_empty() || parent.is_dir());
    path.symlink_metadata().is_ok() || is_named() || (is_short() && in_directory())
}

/// The file's bytes and its permissions. `Err` continues a sentence that begins with the file.
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

/// Reads a credentials file. Every message continues a sentence that begins with the file.
fn parse(bytes: &[u8]) -> Result<ServiceAccount, ServiceAccountError> {
    // Into a tree, not into a struct: the struct's errors quote the values they do not like.
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

/// Other files that look like the right one, each by its name.
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

/// The assertion is worth a token to whoever reads it, so it goes over https, or stays on this machine.
fn address(text: &str) -> Result<Url, ServiceAccountError> {
    let bad = |what: &str| download(format!("has a token_uri that {what}"));
    let url = Url::parse(text).map_err(|_| bad("is not a URL"))?;
    let loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => return Err(bad("names no host")),
    };
    if !(url.scheme() == "https" || (url.scheme() == "http" && loopback)) {
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
