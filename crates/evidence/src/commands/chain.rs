//! `evidence verify --chain`: checks that bundles form a row in which each names the one before it.

use std::io::{IsTerminal as _, Write as _};

use evidence_bundle::read::{Failure, VerifiedBundle};
use evidence_bundle::text::Printable;
use evidence_text::{counted, saturating_u64};
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
        let _ = console::stdout().write_all(text(&rows).as_bytes());
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
        let bundle = Printable(&finding.bundle_id);
        let _ = writeln!(console::stderr(), "{RED}BROKEN{RED:#} bundle {bundle}: {}", finding.meaning);
    }
}

fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let (first, last) = (row.bundles.first(), row.bundles.last());
        let time = |link: Option<&Link>| link.and_then(|link| link.created_at.clone()).unwrap_or_default();
        text.push_str(&format!(
            "\n{BOLD}{}{BOLD:#}  {}\n  {} from {} to {}\n",
            Printable(&row.organization),
            Printable(&row.framework),
            counted(saturating_u64(row.bundles.len()), "bundle", "bundles"),
            time(first),
            time(last),
        ));
        if let Some(gap) = &row.longest_gap {
            let gap = format!("{}, from {} to {}", span(gap.seconds), gap.after, gap.before);
            text.push_str(&format!("  longest time between two bundles: {gap}\n"));
        }
        for finding in &row.findings {
            let (style, word) = if finding.breaks { (RED, "broken") } else { (YELLOW, "note") };
            let bundle = Printable(&finding.bundle_id);
            text.push_str(&format!("  {style}{word}{style:#}  bundle {bundle}: {}\n", finding.meaning));
        }
        let verdict = if row.unbroken {
            format!("{GREEN}UNBROKEN{GREEN:#}: each bundle follows the one that it names\n")
        } else {
            format!("{RED}BROKEN{RED:#}: a bundle is missing, or the order is wrong\n")
        };
        text.push_str(&verdict);
    }
    if rows.len() > 1 {
        text.push_str(&format!("\nThe bundles are about {} organizations or frameworks.\n", rows.len()));
    }
    text
}
