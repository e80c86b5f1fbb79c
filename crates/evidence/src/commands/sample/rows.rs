//! What every form of the sample shows: the rows, and what they were drawn from.

use evidence_bundle::document::Member;
use evidence_bundle::read::VerifiedBundle;
use evidence_view::{ListEntry, Sample, SampledCheck};

use crate::cli::{CheckFilterArgs, SampleArgs};

/// The drawn rows.
pub(super) enum Rows {
    Checks(Sample<SampledCheck>),
    Population(Sample<Member>),
    List(Sample<ListEntry>),
}

impl Rows {
    /// The number of rows that the sample was drawn from.
    pub(super) fn of(&self) -> u64 {
        match self {
            Rows::Checks(sample) => sample.rows,
            Rows::Population(sample) => sample.rows,
            Rows::List(sample) => sample.rows,
        }
    }
}

/// The filters as command-line options, for the record; empty without any.
pub(super) fn filters(args: &SampleArgs) -> String {
    let CheckFilterArgs { status, control, criterion, rule, source, subject } = &args.filter;
    let status: Vec<String> = status.iter().filter_map(clap_name).collect();
    let lists = [
        ("--status", &status),
        ("--control", control),
        ("--criterion", criterion),
        ("--rule", rule),
        ("--source", source),
        ("--subject", subject),
        ("--kind", &args.kind),
    ];
    let mut words: Vec<String> = lists
        .iter()
        .flat_map(|(option, values)| {
            values.iter().map(move |value| format!("{option} {}", printable_word(value)))
        })
        .collect();
    if args.in_scope {
        words.push("--in-scope".to_string());
    }
    words.join(" ")
}

fn clap_name(value: &impl clap::ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_string())
}

// The same on every system, because it is part of the record of a draw.
fn printable_word(text: &str) -> String {
    evidence_os::shell::posix_word(&evidence_bundle::text::Printable(text).to_string())
}

/// The creation time in the bundle.
pub(super) fn created(bundle: &VerifiedBundle) -> String {
    evidence_bundle::time::format(bundle.created_at).unwrap_or_default()
}
