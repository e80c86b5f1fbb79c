//! The sample as a table for spreadsheets. Every row repeats what the sample was drawn from, so that a copied row keeps
//! it.

use std::borrow::Cow;
use std::io::{self, Write as _};

use evidence_bundle::document::Member;
use evidence_bundle::read::VerifiedBundle;
use evidence_view::csv::{BYTE_ORDER_MARK, Row, Table, checksum};
use evidence_view::{Drawn, ListEntry, Sample, SampledCheck};

use super::rows::{Rows, filters};
use crate::cli::SampleArgs;

/// The columns that every row repeats: seed, count, number of rows drawn from, filters, bundle.
type Origin = [String; 5];

/// An item: its position, what was drawn, and the origin.
struct Line<'a, T>(u64, &'a Drawn<T>, &'a Origin);

impl Row<14> for Line<'_, SampledCheck> {
    const COLUMNS: [&'static str; 14] = [
        "item",
        "sha256",
        "control",
        "criterion",
        "source",
        "rule",
        "subject",
        "status",
        "reason",
        "seed",
        "count",
        "of",
        "filters",
        "bundle_id",
    ];

    fn cells(&self) -> [Cow<'_, str>; 14] {
        let Line(item, Drawn { sha256, row, .. }, origin) = self;
        let [seed, count, of, filters, bundle_id] = origin.each_ref().map(Cow::from);
        [
            item.to_string().into(),
            checksum(sha256).into(),
            row.control.as_str().into(),
            row.criteria.join(" ").into(),
            row.check.source.as_str().into(),
            row.check.rule.as_str().into(),
            row.check.subject.as_str().into(),
            row.check.status.as_str().into(),
            row.check.reason.as_str().into(),
            seed,
            count,
            of,
            filters,
            bundle_id,
        ]
    }
}

impl Row<13> for Line<'_, Member> {
    const COLUMNS: [&'static str; 13] = [
        "item",
        "sha256",
        "source",
        "kind",
        "name",
        "id",
        "in_scope",
        "reason",
        "seed",
        "count",
        "of",
        "filters",
        "bundle_id",
    ];

    fn cells(&self) -> [Cow<'_, str>; 13] {
        let Line(item, Drawn { sha256, row, .. }, origin) = self;
        let [seed, count, of, filters, bundle_id] = origin.each_ref().map(Cow::from);
        [
            item.to_string().into(),
            checksum(sha256).into(),
            row.source.as_str().into(),
            row.kind.as_str().into(),
            row.name.as_str().into(),
            row.id.as_deref().unwrap_or_default().into(),
            if row.in_scope { "yes" } else { "no" }.into(),
            row.reason.as_deref().unwrap_or_default().into(),
            seed,
            count,
            of,
            filters,
            bundle_id,
        ]
    }
}

impl Row<16> for Line<'_, ListEntry> {
    const COLUMNS: [&'static str; 16] = [
        "item",
        "sha256",
        "source",
        "identity",
        "repository",
        "number",
        "login",
        "role",
        "approved_by",
        "merged_at",
        "commit",
        "seed",
        "count",
        "of",
        "filters",
        "bundle_id",
    ];

    fn cells(&self) -> [Cow<'_, str>; 16] {
        let Line(item, Drawn { sha256, row, identity }, origin) = self;
        let [seed, count, of, filters, bundle_id] = origin.each_ref().map(Cow::from);
        let text = |text: &'_ Option<String>| Cow::from(text.clone().unwrap_or_default());
        let [source, repository, number, login, role, approved, merged, commit]: [Cow<'_, str>; 8] = match row
        {
            ListEntry::Change(change) => [
                change.source.as_str().into(),
                change.repository.as_str().into(),
                change.number.to_string().into(),
                text(&change.author),
                "".into(),
                change.approved_by.join(" ").into(),
                change.merged_at.as_str().into(),
                text(&change.commit),
            ],
            ListEntry::Person(person) => [
                person.source.as_str().into(),
                "".into(),
                "".into(),
                person.login.as_str().into(),
                person.role.as_str().into(),
                "".into(),
                "".into(),
                "".into(),
            ],
        };
        [
            item.to_string().into(),
            checksum(sha256).into(),
            source,
            identity.as_str().into(),
            repository,
            number,
            login,
            role,
            approved,
            merged,
            commit,
            seed,
            count,
            of,
            filters,
            bundle_id,
        ]
    }
}

pub(super) fn print(args: &SampleArgs, bundle: &VerifiedBundle, rows: &Rows) -> io::Result<()> {
    let (seed, count, of) = (args.seed.clone(), args.count.to_string(), rows.of().to_string());
    let filters = Some(filters(args)).filter(|filters| !filters.is_empty());
    let filters = filters.unwrap_or_else(|| "all".to_string());
    let origin: Origin = [seed, count, of, filters, bundle.bundle_id.clone()];
    match rows {
        Rows::Checks(sample) => put(sample, &origin),
        Rows::Population(sample) => put(sample, &origin),
        Rows::List(sample) => put(sample, &origin),
    }
}

fn put<'a, T, const COLUMNS: usize>(sample: &'a Sample<T>, origin: &'a Origin) -> io::Result<()>
where
    Line<'a, T>: Row<COLUMNS>,
{
    let mut table = Table::of::<COLUMNS, Line<'a, T>>(Vec::new())?;
    for (item, drawn) in (1..).zip(&sample.drawn) {
        table.row(&Line(item, drawn, origin))?;
    }
    put_table(table)
}

/// Prints a table, with a byte-order mark if it needs one.
pub(super) fn put_table(table: Table<Vec<u8>>) -> io::Result<()> {
    let mark = if table.is_ascii() { "" } else { BYTE_ORDER_MARK };
    let mut out = io::stdout().lock();
    out.write_all(mark.as_bytes())?;
    out.write_all(&table.finish()?)?;
    out.flush()
}
