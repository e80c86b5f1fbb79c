//! What is said about an older bundle that `bundle.keep` removes.

use std::io;
use std::path::Path;

/// That it was removed, or why not.
pub(super) fn removed(path: &Path, error: Option<&io::Error>) -> String {
    match error {
        None => format!("removed {} (bundle.keep)", path.display()),
        Some(error) => format!("could not remove {} (bundle.keep): {error}", path.display()),
    }
}
