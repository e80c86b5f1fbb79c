//! The sample as one JSON object. Texts of the bundle are safe to print: deceptive characters are escaped, long texts
//! cut.

use std::io;

use evidence_bundle::Status;
use evidence_bundle::document::Rows as List;
use evidence_bundle::read::VerifiedBundle;
use evidence_view::ListEntry;
use serde::Serialize;

use super::super::print::json;
use super::rows::{Rows, created, filters};
use crate::cli::SampleArgs;

/// The output. A field is never renamed.
#[derive(Serialize)]
struct Report<'a, I: Serialize> {
    verdict: &'static str,
    bundle_id: &'a str,
    key_id: String,
    trusted_by: &'a str,
    created_at: String,
    organization: &'a str,
    framework: &'a str,
    complete: bool,
    from: &'static str,
    seed: &'a str,
    filters: String,
    order: &'static str,
    /// The number of rows requested.
    count: u32,
    /// The number of rows that the sample was drawn from.
    of: u64,
    items: I,
}

#[derive(Serialize)]
struct CheckItem<'a> {
    sha256: &'a str,
    identity: &'a str,
    control: &'a str,
    criteria: &'a [String],
    source: &'a str,
    rule: &'a str,
    subject: &'a str,
    status: Status,
    reason: &'a str,
}

#[derive(Serialize)]
struct MemberItem<'a> {
    sha256: &'a str,
    identity: &'a str,
    source: &'a str,
    kind: &'a str,
    name: &'a str,
    id: Option<&'a str>,
    in_scope: bool,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct ListItem<'a> {
    sha256: &'a str,
    identity: &'a str,
    #[serde(flatten)]
    entry: Entry<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Change {
        source: &'a str,
        repository: &'a str,
        number: u64,
        branch: &'a str,
        author: Option<&'a str>,
        approved_by: &'a [String],
        merged_by: Option<&'a str>,
        merged_at: &'a str,
        commit: Option<&'a str>,
    },
    Person {
        source: &'a str,
        id: &'a str,
        login: &'a str,
        role: &'a str,
        two_factor: Option<bool>,
        created: Option<&'a str>,
        last_use: Option<&'a str>,
        suspended: Option<bool>,
    },
}

fn entry(entry: &ListEntry) -> Entry<'_> {
    match entry {
        ListEntry::Change(change) => Entry::Change {
            source: &change.source,
            repository: &change.repository,
            number: change.number,
            branch: &change.branch,
            author: change.author.as_deref(),
            approved_by: &change.approved_by,
            merged_by: change.merged_by.as_deref(),
            merged_at: &change.merged_at,
            commit: change.commit.as_deref(),
        },
        ListEntry::Person(person) => Entry::Person {
            source: &person.source,
            id: &person.id,
            login: &person.login,
            role: &person.role,
            two_factor: person.two_factor,
            created: person.created.as_deref(),
            last_use: person.last_use.as_deref(),
            suspended: person.suspended,
        },
    }
}

pub(super) fn print(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> io::Result<()> {
    match rows {
        Rows::Checks(sample) => {
            let items = sample.drawn.iter().map(|item| CheckItem {
                sha256: &item.sha256,
                identity: &item.identity,
                control: &item.row.control,
                criteria: &item.row.criteria,
                source: &item.row.check.source,
                rule: &item.row.check.rule,
                subject: &item.row.check.subject,
                status: item.row.check.status,
                reason: &item.row.check.reason,
            });
            write(&report(args, bundle, rows.of(), List::new(items)))
        }
        Rows::Population(sample) => {
            let items = sample.drawn.iter().map(|item| MemberItem {
                sha256: &item.sha256,
                identity: &item.identity,
                source: &item.row.source,
                kind: &item.row.kind,
                name: &item.row.name,
                id: item.row.id.as_deref(),
                in_scope: item.row.in_scope,
                reason: item.row.reason.as_deref(),
            });
            write(&report(args, bundle, rows.of(), List::new(items)))
        }
        Rows::List(sample) => {
            let items = sample.drawn.iter().map(|item| ListItem {
                sha256: &item.sha256,
                identity: &item.identity,
                entry: entry(&item.row),
            });
            write(&report(args, bundle, rows.of(), List::new(items)))
        }
    }
}

fn report<'a, I: Serialize>(
    args: &'a SampleArgs,
    bundle: &'a VerifiedBundle,
    of: u64,
    items: I,
) -> Report<'a, I> {
    Report {
        verdict: "verified",
        bundle_id: &bundle.bundle_id,
        key_id: bundle.key_id.to_string(),
        trusted_by: &bundle.trusted_by,
        created_at: created(bundle),
        organization: &bundle.organization,
        framework: &bundle.framework,
        complete: bundle.complete,
        from: super::name(args.from),
        seed: &args.seed,
        filters: filters(args),
        order: "sha256(seed:identity), smallest first",
        count: args.count,
        of,
        items,
    }
}

fn write(report: &impl Serialize) -> io::Result<()> {
    json(io::BufWriter::new(io::stdout().lock()), report)
}
