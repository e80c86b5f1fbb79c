//! The sample for a terminal or paper: its origin, then its items in the order of their hashes.

use std::io::{self, Write as _};

use evidence_bundle::read::VerifiedBundle;
use evidence_bundle::text::Printable;
use evidence_os::shell::posix_word;
use evidence_view::{Drawn, words};

use super::rows::{Rows, created, filters};
use crate::cli::SampleArgs;
use crate::console;
use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};
use evidence_text::saturating_u64;
use evidence_text::{counted, thousands};

pub(super) fn print(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> io::Result<()> {
    console::stdout().write_all(text(args, bundle, rows).as_bytes())
}

fn text(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> String {
    let safe = |text: &str| Printable(text).to_string();
    let complete = if bundle.complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
    let mut text = format!(
        "{BOLD}{}{BOLD:#}  {}  {} (claimed by the signer)\n{GREEN}verified{GREEN:#}, trusted by {}{complete}\n\n",
        safe(&bundle.organization),
        safe(&bundle.framework),
        created(bundle),
        safe(&bundle.trusted_by),
    );
    let filters = filters(args);
    let (one, many) = match rows {
        Rows::Checks(_) => ("check", "checks"),
        Rows::Population(_) => ("member of the population", "members of the population"),
    };
    let drawn = match rows {
        Rows::Checks(sample) => sample.drawn.len(),
        Rows::Population(sample) => sample.drawn.len(),
    };
    let of = counted(rows.of(), one, many);
    let fewer = if rows.of() < u64::from(args.count) {
        format!(": all, because there are fewer than {}", thousands(args.count.into()))
    } else {
        String::new()
    };
    text.push_str(&format!(
        "{BOLD}Sample{BOLD:#}  {} of {of}{fewer}\n  bundle   {}\n  seed     {}\n  filters  {}\n  \
         order    SHA-256 of seed:identity, smallest first\n\n",
        thousands(saturating_u64(drawn)),
        safe(&bundle.bundle_id),
        posix_word(&args.seed),
        if filters.is_empty() { "all" } else { &filters },
    ));
    let mut first = None;
    match rows {
        Rows::Checks(sample) => {
            for (index, item) in sample.drawn.iter().enumerate() {
                let check = &item.row.check;
                let (style, word) = (of_status(check.status), words::label(check.status).word);
                let criteria = match item.row.criteria.as_slice() {
                    [] => String::new(),
                    criteria => format!(" (criteria {})", criteria.join(" ")),
                };
                let what = format!(
                    "{BOLD}{}{BOLD:#}  {}{criteria}  {style}{word}{style:#}  {}",
                    check.subject,
                    item.row.control,
                    words::reason(&check.reason)
                );
                text.push_str(&entry(index, &what, item));
                first = first.or(Some(item.identity.as_str()));
            }
        }
        Rows::Population(sample) => {
            for (index, item) in sample.drawn.iter().enumerate() {
                let member = &item.row;
                let scope = match &member.reason {
                    _ if member.in_scope => "in scope".to_string(),
                    Some(reason) => format!("not in scope: {}", words::reason(reason)),
                    None => "not in scope".to_string(),
                };
                let what = format!("{BOLD}{}{BOLD:#}  {}  {scope}", member.name, member.kind);
                text.push_str(&entry(index, &what, item));
                first = first.or(Some(item.identity.as_str()));
            }
        }
    }
    match first {
        Some(identity) => text.push_str(&format!(
            "\nTo check the first hash by hand (docs/sampling.md draws the whole sample with stock tools):\n  \
             printf '%s:%s' {} {} | sha256sum\n",
            posix_word(&args.seed),
            posix_word(identity)
        )),
        None => text.push_str("Nothing matches the filters.\n"),
    }
    text
}

fn entry<T>(index: usize, what: &str, Drawn { sha256, identity, .. }: &Drawn<T>) -> String {
    format!("{:>5}  {what}\n       {DIM}{sha256}  {identity}{DIM:#}\n", index.saturating_add(1))
}
