//! The files that a configuration names.

use std::path::{Path, PathBuf};

use super::declare::Variables;
use super::problem::Complaint;
use super::secret::quote;

/// The file that `text` names: with `~` expanded, relative to the working directory.
pub(crate) fn located(text: &str, directory: &Path, variables: &Variables<'_>) -> Result<PathBuf, Complaint> {
    let Some(rest) = text.strip_prefix('~') else {
        // An absolute path replaces the directory. A leading `./` would only lengthen messages.
        return Ok(if directory == Path::new(".") { PathBuf::from(text) } else { directory.join(text) });
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        let message = format!("{}: only your own home directory can be abbreviated", quote(text));
        return Err(Complaint::new(message)
            .help("write `~/...` or the full path; for a file whose name begins with `~`, write `./~...`"));
    }
    match variables("HOME") {
        Some(home) => Ok(PathBuf::from(home).join(rest.trim_start_matches('/'))),
        None => Err(Complaint::new("cannot expand `~`: the environment variable HOME is not set")
            .help("write the full path")),
    }
}
