//! `evidence verifier`: writes the page that verifies bundles offline in a browser.

use std::io::{self, Write as _};

use super::print::unwritable;
use crate::cli::VerifierArgs;
use crate::error::Error;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(args: &VerifierArgs) -> Result<Exit, Error> {
    let page = verifier_page::page().ok_or_else(|| Error::Usage {
        message: "this build of evidence has no verifier page".to_string(),
        help: format!(
            "take the page from a release of the project, or run `rustup target add {}` and build evidence again",
            verifier_page::TARGET
        ),
    })?;
    let Some(path) = &args.output else {
        return match io::stdout().lock().write_all(page) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
            _ => Ok(Exit::Success),
        };
    };
    std::fs::write(path, page).map_err(|source| Error::Write { path: path.clone(), source, help: None })?;
    Ok(Exit::Success)
}
