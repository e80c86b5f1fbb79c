//! `evidence report`: prints the report of a bundle that a trusted key signed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::path::Path;

use anstyle::AnsiColor;
use evidence_bundle::path::{REPORT, REQUIRED};
use evidence_bundle::read::{Failure, Limits};
use evidence_os::input;
use evidence_report::{Documents, Unknown};
use evidence_view::{FileReader, read};
use tempfile::{NamedTempFile, SpooledTempFile};

use super::print::unwritable;
use super::trust::{Terms, terms};
use super::verify;
use crate::cli::ReportArgs;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// The size up to which a file stays in memory before it moves to a temporary file.
const IN_MEMORY: usize = 4 << 20;

/// Runs the command.
pub(super) fn run(args: &ReportArgs, env: &Env) -> Result<Exit, Error> {
    let Terms { trust, expectations } = terms(&args.trust, env)?;
    let kept = input::open(&args.bundle).map_err(Failure::CannotJudge).and_then(|file| {
        let bundle = BufReader::with_capacity(256 * 1024, file);
        read(bundle, &trust, &expectations, &Limits::default(), Kept::default())
    });
    let (bundle, kept) = kept.map_err(|failure| {
        verify::print_failure(&args.bundle, "report", &failure, false);
        verify::error(&failure)
    })?;
    let mut made = SpooledTempFile::new(IN_MEMORY);
    evidence_report::write(REPORT, &kept, &mut made).map_err(unmakeable)?;
    let page = match kept.take(REPORT) {
        Some(mut signed) if !args.remake => {
            // Another version may render the page differently.
            let is_comparable = bundle.tool_version == env!("CARGO_PKG_VERSION");
            if is_comparable && !same(&mut signed, &mut made).map_err(unwritable)? {
                warn_of_difference();
            }
            signed
        }
        _ => made,
    };
    match &args.output {
        Some(path) => save(page, path)?,
        None => print(page)?,
    }
    Ok(Exit::Success)
}

/// Warns that the signed page differs from the bundle's documents.
fn warn_of_difference() {
    let yellow = AnsiColor::Yellow.on_default().bold();
    let text = format!(
        "{yellow}warning{yellow:#}: this version makes another page of the documents in the bundle\n  \
         help: the documents count; run with --remake to see the page that follows from them\n"
    );
    let _ = anstream::stderr().write_all(text.as_bytes());
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

/// The documents of a bundle and its report, held until the bundle is verified.
#[derive(Default)]
struct Kept(BTreeMap<String, RefCell<SpooledTempFile>>);

impl Kept {
    fn take(mut self, path: &str) -> Option<SpooledTempFile> {
        self.0.remove(path).map(RefCell::into_inner)
    }
}

impl FileReader for Kept {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        if REQUIRED.contains(&path) || path == REPORT {
            let mut file = SpooledTempFile::new(IN_MEMORY);
            io::copy(contents, &mut file)?;
            self.0.insert(path.to_string(), RefCell::new(file));
        }
        Ok(())
    }
}

impl Documents for Kept {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        let file = self.0.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut file = file.try_borrow_mut().map_err(io::Error::other)?;
        file.rewind()?;
        read(&mut BufReader::new(&mut *file))
    }
}

/// Whether two files have the same bytes.
fn same(one: &mut SpooledTempFile, other: &mut SpooledTempFile) -> io::Result<bool> {
    one.rewind()?;
    other.rewind()?;
    let (mut left, mut right) = (BufReader::new(one).bytes(), BufReader::new(other).bytes());
    loop {
        match (left.next().transpose()?, right.next().transpose()?) {
            (None, None) => return Ok(true),
            (one, other) if one == other => {}
            _ => return Ok(false),
        }
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
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new("."))).map_err(failed)?;
    page.rewind().and_then(|()| io::copy(&mut page, &mut file)).map_err(failed)?;
    file.persist(path).map(|_| ()).map_err(|error| failed(error.error))
}
