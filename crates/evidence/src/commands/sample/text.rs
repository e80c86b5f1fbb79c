//! The sample for a terminal or paper: its origin, then its items in the order of their hashes.

use std::io;

use evidence_bundle::read::VerifiedBundle;
use evidence_os::shell::posix_word;
use evidence_view::{Drawn, ListEntry, words};

use super::super::print::{head, printed};
use super::rows::{Rows, filters};
use crate::cli::{SampleArgs, SampleFrom};
use crate::report::style::{BOLD, DIM, of_status};
use evidence_text::shown::{counted, thousands};
use evidence_text::{Safe, safe, saturating_u64};

pub(super) fn print(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> io::Result<()> {
    printed(&text(args, bundle, rows))
}

fn text(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> Safe {
    let mut text = safe!("{}\n", head(bundle, &bundle.framework));
    let filters = match filters(args) {
        filters if filters.is_empty() => "all".into(),
        filters => Safe::of(&filters),
    };
    let (one, many) = match rows {
        Rows::Checks(_) => ("check", "checks"),
        Rows::Population(_) => ("member of the population", "members of the population"),
        Rows::List(_) if args.from == SampleFrom::People => ("person", "people"),
        Rows::List(_) => ("merged change", "merged changes"),
    };
    let drawn = match rows {
        Rows::Checks(sample) => sample.drawn.len(),
        Rows::Population(sample) => sample.drawn.len(),
        Rows::List(sample) => sample.drawn.len(),
    };
    let of = counted(rows.of(), one, many);
    let fewer = if rows.of() < u64::from(args.count) {
        safe!(": all, because there are fewer than {}", thousands(args.count.into()))
    } else {
        Safe::default()
    };
    text.push(&safe!(
        "{BOLD}Sample{BOLD:#}  {} of {of}{fewer}\n  bundle   {}\n  seed     {}\n  filters  {filters}\n  \
         order    SHA-256 of seed:identity, smallest first\n\n",
        thousands(saturating_u64(drawn)),
        Safe::of(&bundle.bundle_id),
        Safe::of(&posix_word(&args.seed));
        BOLD, of, fewer, filters
    ));
    let mut first = None;
    match rows {
        Rows::Checks(sample) => {
            for (index, item) in sample.drawn.iter().enumerate() {
                let check = &item.row.check;
                let (style, word) = (of_status(check.status), words::label(check.status).word);
                let criteria = match item.row.criteria.as_slice() {
                    [] => Safe::default(),
                    criteria => safe!(" (criteria {})", Safe::of(&criteria.join(" "))),
                };
                let what = safe!(
                    "{BOLD}{}{BOLD:#}  {}{criteria}  {style}{word}{style:#}  {}",
                    Safe::of(&check.subject),
                    Safe::of(&item.row.control),
                    Safe::of(&words::reason(&check.reason));
                    BOLD, criteria, style, word
                );
                text.push(&entry(index, &what, item));
                first = first.or(Some(item.identity.as_str()));
            }
        }
        Rows::Population(sample) => {
            for (index, item) in sample.drawn.iter().enumerate() {
                let member = &item.row;
                let scope = match &member.reason {
                    _ if member.in_scope => "in scope".into(),
                    Some(reason) => safe!("not in scope: {}", Safe::of(&words::reason(reason))),
                    None => "not in scope".into(),
                };
                let (name, kind) = (Safe::of(&member.name), Safe::of(&member.kind));
                let what = safe!("{BOLD}{name}{BOLD:#}  {kind}  {scope}"; BOLD, name, kind, scope);
                text.push(&entry(index, &what, item));
                first = first.or(Some(item.identity.as_str()));
            }
        }
        Rows::List(sample) => {
            for (index, item) in sample.drawn.iter().enumerate() {
                text.push(&entry(index, &listed(&item.row), item));
                first = first.or(Some(item.identity.as_str()));
            }
        }
    }
    match first {
        Some(identity) => text.push(&safe!(
            "\nTo check the first hash by hand (docs/sampling.md draws the whole sample with stock tools):\n  \
             printf '%s:%s' {} {} | sha256sum\n",
            Safe::of(&posix_word(&args.seed)),
            Safe::of(&posix_word(identity))
        )),
        None => text.push(&"Nothing matches the filters.\n".into()),
    }
    text
}

/// An entry of a list.
fn listed(entry: &ListEntry) -> Safe {
    match entry {
        ListEntry::Change(change) => {
            let known = |login: &Option<String>| Safe::of(login.as_deref().unwrap_or("a deleted account"));
            let approved = match change.approved_by.as_slice() {
                [] => "no approval".into(),
                names => safe!("approved by {}", Safe::of(&names.join(", "))),
            };
            let (repository, author) = (Safe::of(&change.repository), known(&change.author));
            safe!(
                "{BOLD}{repository}#{}{BOLD:#}  merged {} by {author}  {approved}",
                change.number,
                Safe::of(&change.merged_at);
                BOLD, repository, author, approved
            )
        }
        ListEntry::Person(person) => {
            let factor = match person.two_factor {
                Some(true) => "second factor",
                Some(false) => "no second factor",
                None => "second factor not visible",
            };
            let (login, role) = (Safe::of(&person.login), Safe::of(&person.role.replace('_', " ")));
            let state = if person.suspended == Some(true) { "  suspended" } else { "" };
            safe!("{BOLD}{login}{BOLD:#}  {role}  {factor}{state}"; BOLD, login, role, factor, state)
        }
    }
}

fn entry<T>(index: usize, what: &Safe, Drawn { sha256, identity, .. }: &Drawn<T>) -> Safe {
    let (sha256, identity) = (Safe::of(sha256), Safe::of(identity));
    safe!(
        "{:>5}  {what}\n       {DIM}{sha256}  {identity}{DIM:#}\n",
        index.saturating_add(1); what, DIM, sha256, identity
    )
}
