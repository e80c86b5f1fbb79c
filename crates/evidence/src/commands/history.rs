//! `evidence history`: what the verified bundles of a period show.
//!
//! Standard error names files; standard output and the written files do not, so that the same bundles give the same bytes.

mod text;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use evidence_bundle::read::{Expectations, Failure, Limits};
use evidence_os::input;
use evidence_text::{Safe, safe};
use evidence_view::history::{Facts, FoldError, History, NotUsed, Series};
use evidence_view::read;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::bundles::{self, Worst};
use super::print::{json, printed, unwritable};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::bundle_file::BUFFER;
use crate::cli::HistoryArgs;
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(args: &HistoryArgs, env: &Env) -> Result<Exit, Error> {
    if args.trust.max_age.is_some() {
        return Err(Error::Usage {
            message: "--max-age does not apply to a period".to_string(),
            help: "name its days with --from and --to".to_string(),
        });
    }
    let terms = terms(&args.trust, env)?;
    let named = bundles::named(&args.paths)?;
    let series = Mutex::new(Series::default());
    let outcomes = bundles::in_parallel(&named.paths, |path| add(path, &terms, &series));
    let series = series.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut not_used, mut worst) = (Vec::new(), Worst::default());
    for (path, outcome) in named.paths.iter().zip(outcomes) {
        let why = match &outcome {
            Ok(None) => continue,
            Ok(Some(why)) => (*why).to_string(),
            Err(failure) => {
                verify::print_failure(path, "history", failure, false);
                worst.add(&verify::error(failure));
                code(failure).to_string()
            }
        };
        if why == UNKNOWN_FORM {
            note(&format!("{}: a document has an unknown form", verify::file_name(path)));
            worst.add(&Error::CannotJudge);
        }
        not_used.push(NotUsed { sha256: digest(path).unwrap_or_default(), why });
    }
    let outside = series.outside(args.from, args.to);
    if outside > 0 {
        note(&format!("{outside} of {} verified bundles are outside the period", series.len()));
    }
    let history = match series.fold(args.from, args.to, not_used) {
        Ok(history) if args.ignore_waivers => history.without_waivers(),
        Ok(history) => history,
        // Why there is none is the worse news.
        Err(FoldError::NoBundle) if worst.exit().is_err() => return worst.exit(),
        Err(error) => return Err(no_period(&error)),
    };
    if let Some(folder) = &args.output {
        write(folder, &history).map_err(|source| Error::Write {
            path: folder.clone(),
            source,
            help: None,
        })?;
    }
    let outcome = match args.json {
        true => json(io::BufWriter::new(io::stdout().lock()), &history),
        false => printed(&text::text(&history)),
    };
    match outcome {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => worst.exit(),
    }
}

/// Why a verified bundle is not used.
const OTHER_ORGANIZATION: &str = "other_organization";
const UNKNOWN_FORM: &str = "unknown_form";

/// Verifies a bundle and adds it to the others. `Some`: why it is not used.
fn add(path: &Path, terms: &VerifyOptions, series: &Mutex<Series>) -> Result<Option<&'static str>, Failure> {
    let bundle = bundle_file::open(path)?;
    // Another organization is no failure here: the folder may have bundles of several.
    let expectations = Expectations { organization: None, ..terms.expectations.clone() };
    let (bundle, facts) = read(bundle, &terms.trust, &expectations, &Limits::default(), Facts::default())?;
    let expected = terms.expectations.organization.as_deref();
    if expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(&bundle.organization)) {
        return Ok(Some(OTHER_ORGANIZATION));
    }
    if !facts.known() {
        return Ok(Some(UNKNOWN_FORM));
    }
    series.lock().unwrap_or_else(PoisonError::into_inner).add(&bundle, facts);
    Ok(None)
}

fn code(failure: &Failure) -> &'static str {
    match failure {
        Failure::NotWhatWasSigned(error) => error.reason.code(),
        Failure::IntactNotAuthenticated(_) => "not_authenticated",
        Failure::NewerVersion(_) => evidence_bundle::read::NewerBundle::CODE,
        Failure::CannotJudge(_) => "unreadable",
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (input::open(path)?, Sha256::new());
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn note(text: &str) {
    console::note(&safe!("note: {}\n", Safe::of(text)));
}

fn no_period(error: &FoldError) -> Error {
    let help = match error {
        FoldError::NoBundle => "name other days with --from and --to, or other bundles",
        FoldError::Several(_) => "name the organization with --expect-org, or only bundles of one framework",
        FoldError::Backwards => "name the earlier day with --from",
    };
    Error::Usage { message: error.to_string(), help: help.to_string() }
}

/// Writes the page and the tables. Each file is written completely or not at all.
fn write(folder: &Path, history: &History) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut page = Vec::new();
    evidence_report::period(history, &mut page)?;
    let tables = history.tables()?;
    let files = std::iter::once(("period.html", page)).chain(tables);
    let written: Vec<(&str, NamedTempFile)> = files
        .map(|(name, bytes)| {
            let mut file = NamedTempFile::new_in(folder)?;
            file.write_all(&bytes)?;
            Ok((name, file))
        })
        .collect::<io::Result<_>>()?;
    for (name, file) in written {
        file.persist(folder.join(name)).map_err(|error| error.error)?;
    }
    Ok(())
}
