//! `evidence sample`: draws the checks, or the members of the population, for an auditor to examine.
//!
//! The sample is drawn while the bundle is verified, and printed only after the last byte was.

mod csv;
mod days;
mod json;
mod rows;
mod text;

use std::io;
use std::path::Path;

use evidence_bundle::read::Limits;
use evidence_text::saturating_usize;
use evidence_view::{CheckDraw, CheckReader, Draw, List, ListDraw, MemberDraw, MemberFilter, Seed, read};

use self::rows::Rows;
use super::bundles;
use super::print::{note_empty, unwritable};
use super::show::{filter, one_table, print_name, unknown_name};
use super::trust::{VerifyOptions, terms};
use super::verify;
use crate::bundle_file;
use crate::cli::{CheckFilterArgs, SampleArgs, SampleFormat, SampleFrom};
use crate::env::Env;
use crate::error::Error;
use crate::exit::Exit;

/// Runs the command.
pub(super) fn run(args: &SampleArgs, env: &Env) -> Result<Exit, Error> {
    let seed = Seed::new(&args.seed).map_err(|error| Error::Usage {
        message: error.to_string(),
        help: "give a line of text that the auditor chooses, such as --seed 'Acme 2026, draw 1'".to_string(),
    })?;
    if let Some(option) = foreign_option(args) {
        let list = name(args.from);
        return Err(Error::Usage {
            message: format!("{option} does not apply to --from {list}"),
            help: "`evidence sample --help` lists the filters of each list".to_string(),
        });
    }
    let terms = terms(&args.trust, env)?;
    if args.from == SampleFrom::Days {
        return days::run(args, seed, &terms);
    }
    let named = bundles::named(&args.bundles)?;
    if !named.is_one && args.format == SampleFormat::Csv {
        return Err(one_table());
    }
    let as_text = !named.is_one && args.format == SampleFormat::Text;
    bundles::each(&named, args.format == SampleFormat::Json, |path| {
        if as_text {
            print_name(path);
        }
        one(args, path, seed.clone(), &terms)
    })
}

/// Draws from one bundle.
fn one(args: &SampleArgs, path: &Path, seed: Seed, terms: &VerifyOptions) -> Result<Exit, Error> {
    let VerifyOptions { trust, expectations } = terms;
    let count = saturating_usize(args.count);
    let outcome = bundle_file::open(path).and_then(|bundle| {
        let limits = Limits::default();
        match args.from {
            SampleFrom::Checks => {
                let draw = CheckReader::new(CheckDraw::new(Draw::new(seed, count), filter(&args.filter)));
                let (bundle, drawn) = read(bundle, trust, expectations, &limits, draw)?;
                let unknown = drawn.sink.unknown(&bundle.sources);
                let rows = drawn.known.then(|| Rows::Checks(drawn.sink.draw.finish()));
                Ok((bundle, rows, unknown))
            }
            SampleFrom::Changes | SampleFrom::People => {
                let list = if args.from == SampleFrom::Changes { List::Changes } else { List::People };
                let draw = ListDraw::new(list, Draw::new(seed, count), member_filter(args));
                let (bundle, drawn) = read(bundle, trust, expectations, &limits, draw)?;
                let unknown = filter(&args.filter).unknown(&[], &bundle.sources);
                Ok((bundle, Some(Rows::List(drawn.finish())), unknown))
            }
            SampleFrom::Population | SampleFrom::Days => {
                let draw = MemberDraw::new(Draw::new(seed, count), member_filter(args));
                let (bundle, drawn) = read(bundle, trust, expectations, &limits, draw)?;
                let unknown = filter(&args.filter).unknown(&[], &bundle.sources);
                let rows = Some(Rows::Population(drawn.draw.finish()));
                Ok((bundle, rows, unknown))
            }
        }
    });
    let (bundle, rows, unknown) = match outcome {
        Ok(drawn) => drawn,
        Err(failure) => {
            verify::print_failure(path, "sample", &failure, args.format == SampleFormat::Json);
            return Err(verify::error(&failure));
        }
    };
    let Some(rows) = rows else {
        return Err(Error::Usage {
            message: "the bundle is verified, but the list has an unknown form".to_string(),
            help: "install a newer version of evidence".to_string(),
        });
    };
    unknown.map_or(Ok(()), |unknown| Err(unknown_name(&unknown)))?;
    if rows.of() == 0 && args.format != SampleFormat::Text {
        note_empty();
    }
    let printed = match args.format {
        SampleFormat::Text => text::print(args, &bundle, &rows),
        SampleFormat::Json => json::print(args, &bundle, &rows),
        SampleFormat::Csv => csv::print(args, &bundle, &rows),
    };
    match printed {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(Exit::Success),
    }
}

/// A filter that was given but belongs to the other list.
fn foreign_option(args: &SampleArgs) -> Option<&'static str> {
    let CheckFilterArgs { status, control, criterion, rule, source, subject } = &args.filter;
    let of_members = vec![("--kind", !args.kind.is_empty()), ("--in-scope", args.in_scope)];
    let of_checks = vec![
        ("--status", !status.is_empty()),
        ("--control", !control.is_empty()),
        ("--criterion", !criterion.is_empty()),
        ("--rule", !rule.is_empty()),
    ];
    let of_both = vec![("--source", !source.is_empty()), ("--subject", !subject.is_empty())];
    let of_days = vec![("--from-date", args.from_date.is_some())];
    let given = match args.from {
        SampleFrom::Checks => [of_members, of_days].concat(),
        SampleFrom::Population => [of_checks, of_days].concat(),
        SampleFrom::Changes | SampleFrom::People => [of_members, of_checks, of_days].concat(),
        SampleFrom::Days => [of_members, of_checks, of_both].concat(),
    };
    given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

/// The name of a list on the command line.
fn name(list: SampleFrom) -> &'static str {
    match list {
        SampleFrom::Checks => "checks",
        SampleFrom::Population => "population",
        SampleFrom::Changes => "changes",
        SampleFrom::People => "people",
        SampleFrom::Days => "days",
    }
}

fn member_filter(args: &SampleArgs) -> MemberFilter {
    MemberFilter {
        sources: args.filter.source.clone(),
        kinds: args.kind.clone(),
        names: args.filter.subject.clone(),
        in_scope: args.in_scope,
    }
}
