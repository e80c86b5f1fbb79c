//! `evidence diff`: how one verified bundle differs from another.

pub(super) mod markdown;
pub(super) mod text;

use std::io::{self, Write as _};
use std::path::Path;

use evidence_bundle::read::{Failure, Limits, VerifiedBundle};
use evidence_text::safe;
use evidence_text::shown::{counted, thousands};
use evidence_view::diff::{Diff, Side};
use evidence_view::difference::Class;
use evidence_view::read;

use super::bundles::Worst;
use super::print::{json, printed, unwritable};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::{DiffArgs, DiffFormat, DiffersOn};
use crate::console;
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(args: &DiffArgs, env: &Env) -> Result<Exit, Error> {
    let terms = terms(&args.trust, env)?;
    let sides = [&args.from, &args.to].map(|path| (path, side(path, &terms)));
    let mut worst = Worst::default();
    for (path, outcome) in &sides {
        if let Err(failure) = outcome {
            verify::print_failure(path, "diff", failure, false);
            worst.add(&verify::error(failure));
        }
    }
    worst.exit()?;
    let [(_, Ok(from)), (_, Ok(to))] = &sides else { return Err(Error::CannotJudge) };
    if !from.1.known() || !to.1.known() {
        return Err(Error::Usage {
            message: "the bundles are verified, but a document has an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        });
    }
    let diff = Diff::of((&from.0, &from.1), (&to.0, &to.1));
    let diff = if args.ignore_waivers { diff.without_waivers() } else { diff };
    let outcome = match (args.json, args.format) {
        (true, _) => json(io::BufWriter::new(io::stdout().lock()), &diff),
        (false, DiffFormat::Text) => printed(&text::text(&diff)),
        (false, DiffFormat::Markdown) => io::stdout().write_all(markdown::text(&diff).as_bytes()),
    };
    match outcome {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(unwritable(error)),
        _ => {}
    }
    let (unwaived, waived) = diff.unwaived(Class::Regression);
    if waived > 0 && args.fail_on.contains(&DiffersOn::Regression) {
        let unwaived = counted(unwaived, "regression", "regressions");
        console::note(
            &safe!("gate: {unwaived} without a waiver, {} with one\n", thousands(waived); unwaived),
        );
    }
    let is_found = |on: &DiffersOn| match on {
        DiffersOn::Regression => unwaived > 0,
        DiffersOn::LostSight => diff.count(Class::LostSight) > 0,
        DiffersOn::Any => !diff.checks.is_empty(),
    };
    Ok(if args.fail_on.iter().any(is_found) { Exit::Differs } else { Exit::Success })
}

fn side(path: &Path, terms: &VerifyOptions) -> Result<(VerifiedBundle, Side), Failure> {
    let bundle = bundle_file::open(path)?;
    read(bundle, &terms.trust, &terms.expectations, &Limits::default(), Side::default())
}
