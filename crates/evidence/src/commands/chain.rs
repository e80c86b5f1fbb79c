//! `evidence verify --chain`: checks that bundles form a row in which each names the one before it.

use std::io::IsTerminal as _;

use evidence_bundle::read::{Failure, VerifiedBundle};
use evidence_text::shown::counted;
use evidence_text::{Safe, safe, saturating_u64};
use evidence_view::chain::{Link, Row, rows};
use evidence_view::history::span;
use evidence_view::verdict::Report;
use serde::Serialize;

use super::print::json;
use crate::console;
use crate::error::Error;
use crate::exit::Exit;
use crate::report::style::{BOLD, GREEN, RED, YELLOW};

/// A file with its verdict.
pub(super) type Judged<'a> = (String, &'a Result<VerifiedBundle, Failure>);

/// The output. A field is never renamed.
#[derive(Serialize)]
struct Chains<'a> {
    rows: &'a [Row],
    not_verified: Vec<NotVerified<'a>>,
}

#[derive(Serialize)]
struct NotVerified<'a> {
    file: &'a str,
    #[serde(flatten)]
    report: Report<'a>,
}

/// Prints the rows of these bundles. `failed` is the outcome of verifying them.
pub(super) fn print(
    judged: &[Judged<'_>],
    as_json: bool,
    quiet: bool,
    failed: Result<Exit, Error>,
) -> Result<Exit, Error> {
    let verified = judged.iter().filter_map(|(_, verdict)| verdict.as_ref().ok());
    let rows = rows(verified.map(Link::of).collect());
    if as_json {
        let failed = judged.iter().filter_map(|(file, verdict)| Some((file, verdict.as_ref().err()?)));
        let not_verified = failed.map(|(file, failure)| NotVerified {
            file,
            report: match failure {
                Failure::CannotJudge(error) => Report::not_judged(error.to_string()),
                failure => Report::of(Err(failure)),
            },
        });
        let chains = Chains { rows: &rows, not_verified: not_verified.collect() };
        // Ignore a closed pipe: the exit code has the result as well.
        let _ = json(std::io::stdout().lock(), &chains);
    } else if !quiet {
        console::print(&text(&rows));
    }
    if quiet || !std::io::stdout().is_terminal() {
        say_causes(&rows);
    }
    failed?;
    if rows.iter().all(|row| row.unbroken) { Ok(Exit::Success) } else { Err(Error::NotVerified) }
}

/// Says on standard error what breaks a row: job logs and the mail of a scheduler show that stream.
fn say_causes(rows: &[Row]) {
    for finding in rows.iter().flat_map(|row| &row.findings).filter(|finding| finding.breaks) {
        let (bundle, meaning) = (Safe::of(&finding.bundle_id), Safe::of(finding.meaning));
        console::note(&safe!("{RED}BROKEN{RED:#} bundle {bundle}: {meaning}\n"; RED, bundle, meaning));
    }
}

fn text(rows: &[Row]) -> Safe {
    let mut text = Safe::default();
    for row in rows {
        let (first, last) = (row.bundles.first(), row.bundles.last());
        let time = |link: Option<&Link>| {
            Safe::of(link.and_then(|link| link.created_at.as_deref()).unwrap_or_default())
        };
        text.push(&safe!(
            "\n{BOLD}{}{BOLD:#}  {}\n  {} from {} to {}\n",
            Safe::of(&row.organization),
            Safe::of(&row.framework),
            counted(saturating_u64(row.bundles.len()), "bundle", "bundles"),
            time(first),
            time(last);
            BOLD
        ));
        if let Some(gap) = &row.longest_gap {
            let gap = format!("{}, from {} to {}", span(gap.seconds), gap.after, gap.before);
            text.push(&safe!("  longest time between two bundles: {}\n", Safe::of(&gap)));
        }
        for finding in &row.findings {
            let (style, word) = if finding.breaks { (RED, "broken") } else { (YELLOW, "note") };
            let (bundle, meaning) = (Safe::of(&finding.bundle_id), Safe::of(finding.meaning));
            text.push(&safe!(
                "  {style}{word}{style:#}  bundle {bundle}: {meaning}\n";
                style, word, bundle, meaning
            ));
        }
        text.push(&if row.unbroken {
            safe!("{GREEN}UNBROKEN{GREEN:#}: each bundle follows the one that it names\n"; GREEN)
        } else {
            safe!("{RED}BROKEN{RED:#}: a bundle is missing, or the order is wrong\n"; RED)
        });
    }
    if rows.len() > 1 {
        text.push(&safe!("\nThe bundles are about {} organizations or frameworks.\n", rows.len()));
    }
    text
}
