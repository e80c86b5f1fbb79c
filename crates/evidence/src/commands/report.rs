//! `evidence report`: makes the report of a bundle that a trusted key signed.
//!
//! The page always follows from the documents. The signer's own page is written only on request, to a file, and without
//! anything that acts.

use std::io::{self, IsTerminal as _, Read as _, Seek as _, Write};
use std::path::Path;

use evidence_bundle::path::REPORT;
use evidence_bundle::read::Limits;
use evidence_report::{Documents as _, Kept, Signed, Unknown};
use evidence_text::{Safe, safe};
use evidence_view::read;
use tempfile::{NamedTempFile, SpooledTempFile};

use super::print::unwritable;
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::ReportArgs;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::YELLOW;

/// The size up to which a file stays in memory before it moves to a temporary file.
const IN_MEMORY: usize = 4 << 20;
/// The most bytes of a signer's report.
const SIGNED_BYTES: u64 = 16 << 20;

/// Runs the command.
pub(super) fn run(args: &ReportArgs, env: &Env) -> Result<Exit, Error> {
    if args.output.is_none() && io::stdout().is_terminal() {
        return Err(Error::Usage {
            message: "the report is a page for a browser, and standard output is a terminal".to_string(),
            help: "name a file: -o report.html".to_string(),
        });
    }
    let VerifyOptions { trust, expectations } = terms(&args.trust, env)?;
    let kept = Kept::new(|| Ok(SpooledTempFile::new(IN_MEMORY)));
    let kept = if args.as_signed { kept.with_signed() } else { kept };
    let kept = bundle_file::open(&args.bundle)
        .and_then(|bundle| read(bundle, &trust, &expectations, &Limits::default(), kept));
    let (bundle, kept) = kept.map_err(|failure| {
        verify::print_failure(&args.bundle, "report", &failure, false);
        verify::error(&failure)
    })?;
    let mut page = SpooledTempFile::new(IN_MEMORY);
    if args.as_signed {
        as_signed(&kept, &mut page)?;
        match kept.report(&mut io::sink()) {
            Ok(signed) => warn(signed, &bundle.tool_version),
            Err(error) => {
                warn_of(&format!("the signer's page was not compared: {error}"), "the documents count")
            }
        }
    } else {
        warn(kept.report(&mut page).map_err(unmakeable)?, &bundle.tool_version);
    }
    match &args.output {
        Some(path) => save(page, path)?,
        None => print(page)?,
    }
    Ok(Exit::Success)
}

/// Writes the signer's page, without anything that acts.
fn as_signed(kept: &Kept<SpooledTempFile>, page: &mut SpooledTempFile) -> Result<(), Error> {
    let mut signed = Vec::new();
    let read = kept
        .open(REPORT, &mut |contents| contents.take(SIGNED_BYTES + 1).read_to_end(&mut signed).map(|_| ()));
    let usage =
        |message: &str, help: &str| Error::Usage { message: message.to_string(), help: help.to_string() };
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(usage(
            "the bundle is verified, but its signer put no report into it",
            "run without --as-signed to make the report from the documents",
        )),
        Err(error) => Err(unwritable(error)),
        Ok(()) if u64::try_from(signed.len()).is_ok_and(|bytes| bytes > SIGNED_BYTES) => Err(usage(
            "the bundle is verified, but its signer's report has more than 16 MB",
            "run without --as-signed to make the report from the documents",
        )),
        Ok(()) => evidence_report::as_signed(&signed, page).map_err(unwritable),
    }
}

/// Warns if the signer's page is not the one that follows from the documents.
fn warn(signed: Signed, tool_version: &str) {
    let own = env!("CARGO_PKG_VERSION");
    match signed {
        Signed::Absent | Signed::Same => {}
        Signed::Different if tool_version == own => warn_of(
            "the signer's page in the bundle is not the one that its documents give",
            "the documents count; `report --as-signed -o FILE` writes the signer's page",
        ),
        // Another version may render the page differently.
        Signed::Different => warn_of(
            &format!(
                "the signer's page in the bundle, by evidence {tool_version}, is not the one that evidence {own} makes"
            ),
            "the documents count; `report --as-signed -o FILE` writes the signer's page",
        ),
    }
}

fn warn_of(message: &str, help: &'static str) {
    let (yellow, message) = (YELLOW.bold(), Safe::of(message));
    console::note(&safe!("{yellow}warning{yellow:#}: {message}\n  help: {help}\n"; yellow, message, help));
}

fn unmakeable(error: io::Error) -> Error {
    match error.downcast::<Unknown>() {
        Ok(unknown) => Error::Usage {
            message: format!("the bundle is verified, but {unknown}"),
            help: "install a newer version of evidence".to_string(),
        },
        Err(error) => unwritable(error),
    }
}

fn print(mut page: SpooledTempFile) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let printed = page.rewind().and_then(|()| io::copy(&mut page, &mut out)).and_then(|_| out.flush());
    match printed {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(()),
    }
}

/// Writes the page under this name, completely or not at all.
fn save(mut page: SpooledTempFile, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_path_buf(), source, help: None };
    // A terminal or a pipe under a name is no place for a page either.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(failed(io::Error::other("it exists and is not a regular file")));
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new("."))).map_err(failed)?;
    page.rewind().and_then(|()| io::copy(&mut page, &mut file)).map_err(failed)?;
    file.persist(path).map(|_| ()).map_err(|error| failed(error.error))
}
