//! A file with credentials, or how to get them: found through a variable with its path or its content, checked, read, and
//! never printed.
//!
//! An error names the variable, the file and the remedy. It never quotes the file, since a typing error must not print
//! a key. Nothing here knows what the file says.

use std::io;
use std::path::Path;

use evidence_os::access::{self, Access};
use evidence_os::input;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// The provider's own file is 2.4 kB; a larger file than this is something else.
const FILE_LIMIT: u64 = 64 * 1024;

/// The maximum length of a path: anything longer is probably the file's content.
const PATH_LIMIT: usize = 512;

/// The maximum length of a path without characters that distinguish it from base64, not even a dot.
const PLAIN_PATH_LIMIT: usize = 200;

/// A name this short cannot contain a useful part of a key.
const SHORT_NAME: usize = 12;

/// What a file says, with a warning about it.
#[derive(Debug)]
pub(crate) struct Loaded<T> {
    /// What it says.
    pub(crate) value: T,
    /// A warning if users other than the owner can read the file.
    pub(crate) warning: Option<String>,
}

/// The problem, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CredentialsError {
    /// What failed.
    pub(crate) message: String,
    /// What to do, one line per step.
    pub(crate) help: Vec<String>,
}

/// Loads the file at `value`, the value of `variable`.
pub(crate) fn load<T>(
    variable: &str,
    value: Option<&str>,
    parse: fn(&[u8]) -> Result<T, CredentialsError>,
) -> Result<Loaded<T>, CredentialsError> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return Err(CredentialsError {
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
        return Err(CredentialsError {
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
    let (bytes, access) = read(path).map_err(|what| CredentialsError {
        message: format!("{place} {what}"),
        help: vec![format!(
            "check that {variable} holds the path of the file, not its content, and that you can read the file"
        )],
    })?;
    let value = parse(&bytes).map_err(|trouble| CredentialsError {
        message: format!("{place} {}", trouble.message),
        help: trouble.help,
    })?;
    let readable = access.filter(|access| access.mode & 0o077 != 0);
    let warning = readable.map(|Access { mode, .. }| {
        format!("{place} can be read by other users (mode {mode:o}): run chmod 600 {}", path.display())
    });
    Ok(Loaded { value, warning })
}

/// Loads the content of the file, the value of `variable`.
pub(crate) fn from_content<T>(
    variable: &str,
    content: Option<&str>,
    parse: fn(&[u8]) -> Result<T, CredentialsError>,
) -> Result<Loaded<T>, CredentialsError> {
    let Some(content) = content else {
        return Err(CredentialsError {
            message: format!(
                "the environment variable {variable} is not set: it must hold the content of the service account's \
                 credentials file"
            ),
            help: vec![format!(
                "export {variable}=\"$(cat credentials.json)\", or write `export {variable}_FILE=PATH`"
            )],
        });
    };
    let value = parse(content.as_bytes()).map_err(|trouble| CredentialsError {
        message: format!("the content of {variable} {}", trouble.message),
        help: trouble.help,
    })?;
    Ok(Loaded { value, warning: None })
}

/// Whether the value may be a path: not JSON, PEM or a base64 file.
pub(super) fn can_be_path(value: &str) -> bool {
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
pub(super) fn is_shown(value: &str) -> bool {
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

/// The fields of a file. `wrong` makes an error of a problem.
pub(crate) fn object(
    bytes: &[u8],
    wrong: fn(String) -> CredentialsError,
) -> Result<Map<String, Value>, CredentialsError> {
    // A generic tree, because a struct's errors would quote invalid values.
    let tree: Value = serde_json::from_slice(bytes).map_err(|error| {
        let what = if bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
            "is a key in PEM form; the JSON file from the cloud console is needed".to_string()
        } else {
            format!("is not JSON (line {}, column {})", error.line(), error.column())
        };
        wrong(what)
    })?;
    match tree {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong("is JSON, but not an object".to_string())),
    }
}

/// The text of a field. `wrong` makes an error of a problem.
pub(crate) fn text<'a>(
    fields: &'a Map<String, Value>,
    name: &str,
    wrong: fn(String) -> CredentialsError,
) -> Result<&'a str, CredentialsError> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.as_str()),
        Some(Value::String(_)) => Err(wrong(format!("has an empty {name}"))),
        Some(_) => Err(wrong(format!("has a {name} that is not text"))),
        None => Err(wrong(format!("has no {name}"))),
    }
}
