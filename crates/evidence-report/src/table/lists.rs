//! `derived/changes.csv` and `derived/people.csv`: the lists that auditors draw samples from.

use std::borrow::Cow;
use std::io::{self, Write};

use evidence_bundle::document::ArtifactRecord;
use evidence_bundle::path::MANIFEST;
use evidence_view::csv::{Row, Table, checksum};
use evidence_view::{List, PersonRecord};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, rows};
use crate::shared::Shared;

/// `derived/changes.csv`
pub(crate) fn changes(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    table::<13, Change>(documents, shared, out, (List::Changes, "changes"))
}

/// `derived/people.csv`
pub(crate) fn people(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    table::<11, PersonRecord>(documents, shared, out, (List::People, "people"))
}

/// A row for each entry of the list in the artifacts of this type, which are named alike.
fn table<const COLUMNS: usize, T: DeserializeOwned>(
    documents: &dyn Documents,
    shared: &mut Shared,
    out: &mut dyn Write,
    (list, name): (List, &str),
) -> io::Result<()>
where
    for<'a> Entry<'a, T>: Row<COLUMNS>,
{
    let origin = Origin::of(documents, shared)?;
    let mut artifacts: Vec<ArtifactRecord> = Vec::new();
    rows(documents, MANIFEST, "artifacts", |artifact: ArtifactRecord| {
        if list.kinds().contains(&artifact.artifact_type.as_str()) {
            artifacts.push(artifact);
        }
        Ok(())
    })?;
    let paths: Vec<&str> = artifacts.iter().map(|one| one.filename.as_str()).chain([MANIFEST]).collect();
    mark(documents, shared, &paths, out)?;
    let mut table = Table::with::<COLUMNS, Entry<'_, T>>(out, &ORIGIN)?;
    for artifact in &artifacts {
        rows(documents, &artifact.filename, name, |row: T| {
            table.row_with(&Entry(artifact, &row), &origin.cells())
        })?;
    }
    table.finish().map(|_| ())
}

/// An entry with the artifact that holds it.
struct Entry<'a, T>(&'a ArtifactRecord, &'a T);

/// A merged change.
#[derive(Deserialize)]
struct Change {
    number: u64,
    author: Option<Account>,
    merged_by: Option<String>,
    merged_at: String,
    commit: Option<String>,
    head: Option<String>,
    reviews: Vec<Review>,
}

#[derive(Deserialize)]
struct Account {
    login: String,
}

#[derive(Deserialize)]
struct Review {
    by: Option<Account>,
    state: String,
    at: Option<String>,
    commit: Option<String>,
}

impl Row<13> for Entry<'_, Change> {
    const COLUMNS: [&'static str; 13] = [
        "source",
        "repository",
        "number",
        "author",
        "merged_by",
        "merged_at",
        "commit",
        "head",
        "reviewed_by",
        "review_states",
        "reviewed_at",
        "reviewed_commits",
        "evidence_file",
    ];

    fn cells(&self) -> [Cow<'_, str>; 13] {
        let Entry(artifact, change) = self;
        let text = |text: &Option<String>| Cow::from(text.clone().unwrap_or_default());
        let each =
            |text: fn(&Review) -> &str| change.reviews.iter().map(text).collect::<Vec<_>>().join("; ").into();
        [
            artifact.source.as_str().into(),
            artifact.subject.as_str().into(),
            change.number.to_string().into(),
            change.author.as_ref().map_or("", |account| account.login.as_str()).into(),
            text(&change.merged_by),
            change.merged_at.as_str().into(),
            text(&change.commit),
            text(&change.head),
            each(|review| review.by.as_ref().map_or("", |account| account.login.as_str())),
            each(|review| review.state.as_str()),
            each(|review| review.at.as_deref().unwrap_or_default()),
            each(|review| review.commit.as_deref().unwrap_or_default()),
            artifact.filename.as_str().into(),
        ]
    }
}

/// Someone with access.
impl Row<11> for Entry<'_, PersonRecord> {
    const COLUMNS: [&'static str; 11] = [
        "source",
        "id",
        "login",
        "role",
        "two_factor",
        "created",
        "last_use",
        "suspended",
        "evidence_file",
        "sha256",
        "collected_at",
    ];

    fn cells(&self) -> [Cow<'_, str>; 11] {
        let Entry(artifact, person) = self;
        let flag = |flag: Option<bool>| match flag {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        [
            artifact.source.as_str().into(),
            person.id().into(),
            person.login.as_str().into(),
            person.role.as_str().into(),
            flag(person.two_factor).into(),
            person.created.as_deref().unwrap_or_default().into(),
            person.last_use.as_deref().unwrap_or_default().into(),
            flag(person.suspended).into(),
            artifact.filename.as_str().into(),
            checksum(&artifact.checksum).into(),
            artifact.collected_at.as_str().into(),
        ]
    }
}
