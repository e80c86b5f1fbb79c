//! Where a user's files are, from the process's environment.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::system;

/// Whether `SSL_CERT_FILE` can name the trusted certificates. On macOS and Windows the system itself judges a chain.
pub const HAS_CERTIFICATE_FILE: bool = cfg!(not(any(windows, target_vendor = "apple")));

/// Where this user's caches are: `$XDG_CACHE_HOME`, else `~/.cache` (XDG Base Directory Specification); on Windows
/// `%LOCALAPPDATA%` in place of the latter.
///
/// # Errors
///
/// If none of the variables is set; in words.
pub fn caches(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, &'static str> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match path("XDG_CACHE_HOME") {
        Some(path) if path.is_absolute() => Ok(path),
        _ => system::caches(path),
    }
}
