//! Where a user's files are, from the process's environment.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::system;

/// Whether `SSL_CERT_FILE` can name the trusted certificates. macOS and Windows judge certificate chains themselves.
pub const HAS_CERTIFICATE_FILE: bool = cfg!(not(any(windows, target_vendor = "apple")));

/// This user's cache directory: `$XDG_CACHE_HOME`, else `~/.cache` (XDG Base Directory Specification); on Windows
/// `%LOCALAPPDATA%` instead of the latter.
///
/// # Errors
///
/// Fails if none of the variables is set. The error is a text for the user.
pub fn caches(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, &'static str> {
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match path("XDG_CACHE_HOME") {
        Some(path) if path.is_absolute() => Ok(path),
        _ => system::caches(path),
    }
}
