//! Commands on several bundles: which files they mean, one verdict after the other, and one exit code.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use evidence_bundle::text::{Chain, Printable};
use evidence_view::verdict::Report;

use super::failure::print_error;
use super::print::json;
use crate::error::Error;
use crate::exit::Exit;
use crate::previous::SUFFIX;

/// The most bundles that are verified at the same time.
const THREADS: usize = 8;

/// The bundles that the arguments of a command name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Their files, in the order of the arguments, those of a folder by name.
    pub(super) paths: Vec<PathBuf>,
    /// Whether the only argument is a file: the output is about that one.
    pub(super) is_one: bool,
}

/// The bundles that these arguments name: files, and the bundles of folders. Subfolders are not searched.
pub(super) fn named(arguments: &[PathBuf]) -> Result<Named, Error> {
    let mut paths = Vec::new();
    let mut is_one = arguments.len() == 1;
    for argument in arguments {
        if !argument.is_dir() {
            paths.push(argument.clone());
            continue;
        }
        is_one = false;
        let shown = Printable(&argument.to_string_lossy()).to_string();
        let mut found = bundles_of(argument).map_err(|error| Error::Usage {
            message: format!("cannot list the folder {shown}: {error}"),
            help: "name the bundles themselves".to_string(),
        })?;
        if found.is_empty() {
            return Err(Error::Usage {
                message: format!("no bundle in the folder {shown}"),
                help: format!("name a folder with files that end in {SUFFIX}; subfolders are not searched"),
            });
        }
        paths.append(&mut found);
    }
    Ok(Named { paths, is_one })
}

/// The bundles of a folder, by name.
fn bundles_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(SUFFIX) && !path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a command on each of these bundles. As JSON, `one` prints one object for each, or its error is reported as one.
///
/// # Errors
/// Fails with the worst error: a bundle that is not verified, else one that was not judged. A gate that is not met counts
/// only without an error.
pub(super) fn each(
    named: &Named,
    as_json: bool,
    mut one: impl FnMut(&Path) -> Result<Exit, Error>,
) -> Result<Exit, Error> {
    if let (true, [only]) = (named.is_one, named.paths.as_slice()) {
        return one(only);
    }
    let mut worst = Worst::default();
    for (index, path) in named.paths.iter().enumerate() {
        if as_json {
            put(if index == 0 { "{\"bundles\": [\n" } else { ",\n" });
        }
        match one(path) {
            Err(error @ Error::Write { .. }) => return Err(error),
            Err(error) => {
                if !error.is_reported() {
                    print_error(&error);
                    if as_json {
                        let _ = json(io::stdout().lock(), &Report::not_judged(Chain(&error).to_string()));
                    }
                }
                worst.add(&error);
            }
            Ok(exit) => worst.differs |= exit == Exit::Differs,
        }
    }
    if as_json {
        put("]}\n");
    }
    worst.exit()
}

/// Ignores a closed pipe: the exit code has the result as well.
fn put(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

/// The worst outcome so far. Not verified is worse than not judged: something was found to be wrong.
#[derive(Debug, Default)]
pub(super) struct Worst {
    not_judged: bool,
    not_verified: bool,
    /// A gate is not met.
    differs: bool,
}

impl Worst {
    /// Takes an outcome, which is already reported.
    pub(super) fn add(&mut self, error: &Error) {
        match error {
            Error::NotVerified => self.not_verified = true,
            _ => self.not_judged = true,
        }
    }

    /// The outcome of all.
    pub(super) fn exit(&self) -> Result<Exit, Error> {
        match self {
            Worst { not_verified: true, .. } => Err(Error::NotVerified),
            Worst { not_judged: true, .. } => Err(Error::CannotJudge),
            Worst { differs: true, .. } => Ok(Exit::Differs),
            Worst { .. } => Ok(Exit::Success),
        }
    }
}

/// Applies `work` to every bundle, several at a time. The results have the order of the paths.
pub(super) fn in_parallel<T: Send>(paths: &[PathBuf], work: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(paths.len()));
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(paths.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { break };
                    let result = work(path);
                    if let Ok(mut done) = done.lock() {
                        done.push((index, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
