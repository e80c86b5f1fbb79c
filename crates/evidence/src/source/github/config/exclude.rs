//! `exclude`: the repositories to leave out, and who decided that.
//!
//! Leaving a repository out is a way around every check of it. So the decision can be recorded where it takes effect:
//! why, by whom, when, and when to look at it again.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::super::names;
use crate::day::{DATE, date};
use evidence_settings::declare::{DefaultValue, Format, LINE, Section, Shape};
use evidence_settings::decode::{Decoder, Fields, ListEntry, Placed};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;

/// A pattern of repositories to leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// The name, or a pattern of names, without the organization.
    pub pattern: String,
    /// `reason`
    pub reason: Option<String>,
    /// `approved_by`
    pub approved_by: Option<String>,
    /// `approved_at`
    pub approved_at: Option<String>,
    /// `review_by`
    pub review_by: Option<String>,
}

impl Excluded {
    /// The setting as the configuration has it.
    pub(in super::super) fn setting(&self, org: &str) -> Value {
        let repository = format!("{org}/{}", self.pattern);
        let others = [
            (&REASON, &self.reason),
            (&APPROVED_BY, &self.approved_by),
            (&APPROVED_AT, &self.approved_at),
            (&REVIEW_BY, &self.review_by),
        ];
        let mut fields: Map<String, Value> = others
            .into_iter()
            .filter_map(|(key, text)| Some((key.name.to_string(), Value::from(text.as_deref()?))))
            .collect();
        if fields.is_empty() {
            return repository.into();
        }
        fields.insert(REPOSITORY.name.to_string(), repository.into());
        Value::Object(fields)
    }
}

keys! {
    pub(super) EXCLUDE = default("exclude", DefaultValue::Empty("[]"),
        Shape::Entries { of: Format::Custom(&names::EXCLUSION), section: &EXCLUSION },
        "Repositories to leave out on purpose: a list of org/repo, where `*` in the repository matches any \
         characters, or of mappings that also record the decision.")
        rule "each entry belongs to `org` and appears once; case does not count; an excluded repository is \
         named in the bundle and does not make it incomplete; an entry without a reason causes a warning",
        example "[acme/sandbox, acme/archive-*]", also &["excludes", "excluded", "ignore", "skip", "except"];
}

static EXCLUSION: Section = Section::new(
    "sources.codehost.exclude[]",
    "An exclusion, and the decision behind it.",
    &[&REPOSITORY, &REASON, &APPROVED_BY, &APPROVED_AT, &REVIEW_BY],
);

keys! {
    REPOSITORY = required("repository", Shape::Text(Format::Custom(&names::EXCLUSION)),
        "The repository, as in a plain entry.")
        example "acme/sandbox", also &["repo", "name", "pattern"];
    REASON = optional("reason", LINE, "Why it is left out.")
        rule "needs `approved_by`", example "no production code, deleted every month",
        also &["why", "because", "comment"];
    APPROVED_BY = optional("approved_by", LINE, "Who decided it.")
        example "j.roe@acme.example", also &["approver", "approved", "owner"];
    APPROVED_AT = optional("approved_at", Shape::Text(Format::Custom(&DATE)), "The day of the decision.")
        example "2026-11-02", also &["approved_on", "date"];
    REVIEW_BY = optional("review_by", Shape::Text(Format::Custom(&DATE)),
        "The last day before the decision must be reviewed, in UTC.")
        rule "not in the past when a run begins", example "2027-04-30",
        also &["expires", "expires_at", "until", "review"];
}

/// The entries of `exclude`, each with its place.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Vec<Placed<Excluded>>> {
    let entries = decoder.entries(fields, &EXCLUDE)?;
    let entries: Vec<_> = entries
        .into_iter()
        .map(|entry| match entry {
            ListEntry::Text(text) => Some(placed(text, [None, None, None, None])),
            ListEntry::Fields(fields) => of_fields(decoder, &fields),
        })
        .collect();
    entries.into_iter().collect()
}

fn of_fields(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Placed<Excluded>> {
    let repository = decoder.text(fields, &REPOSITORY);
    let mut good = true;
    let mut text = |decoder: &mut Decoder<'_, '_>, key| {
        let found = decoder.text(fields, key);
        good &= found.is_some() || !fields.has(key);
        found
    };
    let reason = text(decoder, &REASON);
    let approved_by = text(decoder, &APPROVED_BY);
    let approved_at = text(decoder, &APPROVED_AT);
    let review_by = text(decoder, &REVIEW_BY);
    if let Some(Placed { place, path, .. }) = reason.as_ref().filter(|_| !fields.has(&APPROVED_BY)) {
        let complaint = Complaint::new("the reason has no approver")
            .help("add `approved_by`: the person who decided to leave the repository out");
        decoder.problems.add(place.clone(), path.clone(), complaint);
        good = false;
    }
    if let Some(Placed { value, place, path }) = &review_by
        && date(value).is_some_and(|day| day < today(decoder.now))
    {
        let complaint = Complaint::new(format!("the exclusion was to be reviewed by {value}, which is past"))
            .help("review it: remove the entry, or set a later `review_by` with a new `approved_at`");
        decoder.problems.add(place.clone(), path.clone(), complaint);
        good = false;
    }
    let value = |text: Option<Placed<String>>| text.map(|text| text.value);
    let others = [value(reason), value(approved_by), value(approved_at), value(review_by)];
    repository.filter(|_| good).map(|repository| placed(repository, others))
}

fn placed(repository: Placed<String>, others: [Option<String>; 4]) -> Placed<Excluded> {
    let Placed { value: pattern, place, path } = repository;
    let [reason, approved_by, approved_at, review_by] = others;
    Placed { value: Excluded { pattern, reason, approved_by, approved_at, review_by }, place, path }
}

/// The day of this time, in seconds since 1970, in UTC.
fn today(now: i64) -> Date {
    let now = Timestamp::from_second(now).unwrap_or(Timestamp::UNIX_EPOCH);
    now.to_zoned(TimeZone::UTC).date()
}
