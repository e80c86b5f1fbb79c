//! A sample of the days of a period, each with its verified bundles. A day without a bundle can be drawn too.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use evidence_bundle::read::{Failure, Limits, VerifiedBundle};
use evidence_os::shell::posix_word;
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe, saturating_u64, saturating_usize};
use evidence_view::csv::{Row, Table, checksum};
use evidence_view::history::{Day, Period};
use evidence_view::{Draw, Drawn, Sample, Seed};
use serde::Serialize;

use super::super::bundles::{self, Worst};
use super::super::print::{json, printed, unwritable};
use super::super::trust::VerifyOptions;
use super::super::verify;
use super::csv::put_table;
use super::rows::created;
use crate::bundle_file;
use crate::cli::{SampleArgs, SampleFormat};
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::{BOLD, DIM, YELLOW};

/// A day that was drawn.
struct DrawnDay {
    date: String,
    /// Its bundles, by time.
    bundles: Vec<BundleRecord>,
}

/// A verified bundle of a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct BundleRecord {
    created_at: String,
    bundle_id: String,
    checksums_sha256: String,
    complete: bool,
}

/// The output. A field is never renamed.
#[derive(Serialize)]
struct Report<'a> {
    from: &'static str,
    from_date: String,
    to_date: String,
    seed: &'a str,
    order: &'static str,
    /// The number of days requested.
    count: u32,
    /// The number of days of the period.
    of: u64,
    items: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    sha256: &'a str,
    identity: &'a str,
    bundles: &'a [BundleRecord],
}

/// Draws the days.
pub(super) fn run(args: &SampleArgs, seed: Seed, terms: &VerifyOptions) -> Result<Exit, Error> {
    let (Some(from), Some(to)) = (args.from_date, args.to_date) else {
        return Err(Error::Usage {
            message: "--from days needs a period".to_string(),
            help: "name its first and last day with --from-date and --to-date".to_string(),
        });
    };
    let period = Period::new(from, to).ok_or_else(|| Error::Usage {
        message: "the period ends before it begins".to_string(),
        help: "name the earlier day with --from-date".to_string(),
    })?;
    let (by_day, worst) = by_day(args, terms)?;
    let count = saturating_usize(args.count);
    let mut draw = Draw::new(seed, count);
    for date in period.dates() {
        draw.offer(&date, || {
            let bundles = by_day.get(&date).cloned().unwrap_or_default();
            DrawnDay { date: date.clone(), bundles }
        });
    }
    let sample = draw.finish();
    let outcome = match args.format {
        SampleFormat::Text => printed(&text(args, &sample, (from, to))),
        SampleFormat::Json => {
            let items = sample.drawn.iter().map(|Drawn { sha256, identity, row }| Item {
                sha256,
                identity,
                bundles: &row.bundles,
            });
            let report = Report {
                from: "days",
                from_date: from.to_string(),
                to_date: to.to_string(),
                seed: &args.seed,
                order: "sha256(seed:identity), smallest first",
                count: args.count,
                of: sample.rows,
                items: items.collect(),
            };
            json(io::BufWriter::new(io::stdout().lock()), &report)
        }
        SampleFormat::Csv => csv(args, &sample),
    };
    match outcome {
        // Ignore a closed pipe.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => worst.exit(),
    }
}

/// The verified bundles by day. The same bundle twice counts once.
fn by_day(
    args: &SampleArgs,
    terms: &VerifyOptions,
) -> Result<(BTreeMap<String, Vec<BundleRecord>>, Worst), Error> {
    let mut by_day: BTreeMap<String, Vec<BundleRecord>> = BTreeMap::new();
    let mut worst = Worst::default();
    if args.bundles.is_empty() {
        return Ok((by_day, worst));
    }
    let named = bundles::named(&args.bundles)?;
    let verdicts = bundles::in_parallel(&named.paths, |path| verified(path, terms));
    for (path, verdict) in named.paths.iter().zip(verdicts) {
        match verdict {
            Ok(bundle) => {
                let day = Day::of(bundle.created_at).to_string();
                let record = BundleRecord {
                    created_at: created(&bundle),
                    checksums_sha256: hex::encode(bundle.checksums_sha256),
                    complete: bundle.complete,
                    bundle_id: bundle.manifest.bundle_id,
                };
                by_day.entry(day).or_default().push(record);
            }
            Err(failure) => {
                verify::print_failure(path, "sample", &failure, false);
                worst.add(&verify::error(&failure));
            }
        }
    }
    for bundles in by_day.values_mut() {
        bundles.sort();
        bundles.dedup();
    }
    Ok((by_day, worst))
}

fn verified(path: &Path, terms: &VerifyOptions) -> Result<VerifiedBundle, Failure> {
    let bundle = bundle_file::open(path)?;
    evidence_rules::repeat::verify(bundle, &terms.trust, &terms.expectations, &Limits::default())
}

fn text(args: &SampleArgs, sample: &Sample<DrawnDay>, (from, to): (Day, Day)) -> Safe {
    let mut text = safe!(
        "{BOLD}Sample{BOLD:#}  {} of {}\n  period   {} to {}, in UTC\n  seed     {}\n  \
         order    SHA-256 of seed:day, smallest first\n\n",
        thousands(saturating_u64(sample.drawn.len())),
        counted(sample.rows, "day", "days"),
        Safe::of(&from.to_string()),
        Safe::of(&to.to_string()),
        Safe::of(&posix_word(&args.seed));
        BOLD
    );
    for (item, Drawn { sha256, row, .. }) in (1_u64..).zip(&sample.drawn) {
        let bundles = match row.bundles.len() {
            0 => safe!("{YELLOW}no bundle{YELLOW:#}"; YELLOW),
            count => counted(saturating_u64(count), "bundle", "bundles"),
        };
        let date = Safe::of(&row.date);
        text.push(&safe!("{:>5}  {BOLD}{date}{BOLD:#}  {bundles}\n", item; BOLD, date, bundles));
        for bundle in &row.bundles {
            let complete = if bundle.complete { "" } else { ", incomplete" };
            let (time, id) = (Safe::of(&bundle.created_at), Safe::of(&bundle.bundle_id));
            text.push(&safe!("       {time}  {id}{complete}\n"; time, id, complete));
        }
        text.push(&safe!("       {DIM}{}{DIM:#}\n", Safe::of(sha256); DIM));
    }
    text
}

/// An item of the table.
struct Line<'a>(u64, &'a Drawn<DrawnDay>, &'a SampleArgs, u64);

impl Row<7> for Line<'_> {
    const COLUMNS: [&'static str; 7] = ["item", "sha256", "day", "bundle_ids", "seed", "count", "of"];

    fn cells(&self) -> [Cow<'_, str>; 7] {
        let Line(item, drawn, args, of) = self;
        let ids: Vec<&str> = drawn.row.bundles.iter().map(|bundle| bundle.bundle_id.as_str()).collect();
        [
            item.to_string().into(),
            checksum(&drawn.sha256).into(),
            drawn.row.date.as_str().into(),
            ids.join("; ").into(),
            args.seed.as_str().into(),
            args.count.to_string().into(),
            of.to_string().into(),
        ]
    }
}

fn csv(args: &SampleArgs, sample: &Sample<DrawnDay>) -> io::Result<()> {
    let mut table = Table::of::<7, Line<'_>>(Vec::new())?;
    for (item, drawn) in (1..).zip(&sample.drawn) {
        table.row(&Line(item, drawn, args, sample.rows))?;
    }
    put_table(table)
}
