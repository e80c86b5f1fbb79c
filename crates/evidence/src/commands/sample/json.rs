//! The sample as one JSON object. Texts of the bundle are safe to print: deceptive characters are escaped, long texts
//! cut.

use std::io;

use evidence_bundle::Status;
use evidence_bundle::document::Rows as List;
use evidence_bundle::read::VerifiedBundle;
use serde::Serialize;

use super::super::print::json;
use super::rows::{Rows, created, filters};
use crate::cli::{SampleArgs, SampleFrom};

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
        from: match args.from {
            SampleFrom::Checks => "checks",
            SampleFrom::Population | SampleFrom::Days => "population",
        },
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
