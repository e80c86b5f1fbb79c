//! Reads verified bundles for pages, reports and comparisons.
//!
//! Everything is read while `evidence-bundle` verifies the bytes, and released only after the last byte is verified.
//! Lists are read row by row: of a bundle of 50,000 repositories only the displayed rows stay in memory. The crate
//! knows no network, clock, database or HTML, opens no file and starts no thread.

mod artifacts;
pub mod chain;
mod check_page;
mod check_query;
mod check_table;
mod checks;
mod comparison;
pub mod csv;
pub mod diff;
pub mod difference;
mod filter;
mod findings;
pub mod history;
mod json;
mod list_lengths;
mod lists;
mod observations;
mod overview;
mod read;
mod reasons;
pub mod rejudged;
mod results;
mod rows;
mod sample;
mod sanitize;
pub mod scope;
mod since;
pub mod terms;
mod timeline;
mod transcript;
pub mod verdict;
pub mod waivers;
pub mod words;

pub use artifacts::{ArtifactSearch, FileContents, FileText, decoded};
pub use check_page::{CheckPage, Choices, ShownCheck};
pub use check_query::{CheckQuery, Position, Sort, SortBy};
pub use check_table::CheckTable;
pub use checks::{CheckReader, CheckSink, each_check};
pub use comparison::{
    ArtifactChange, ArtifactPath, Change, CheckChange, CheckChanges, CheckSide, Comparable, Comparison,
    ControlChange, CountChange, compare,
};
pub use evidence_bundle::read::{ControlHead, Row, Sink};
pub use evidence_rules::listed::{COUNTED, ENTRIES, HOST_TOTAL};
pub use evidence_text::glob_matches;
pub use filter::{CheckFilter, MemberFilter, UnknownName};
pub use findings::{CheckGroup, Checks, HintGroup, HintGroups, Subjects};
pub use json::document;
pub use list_lengths::{ListLengths, ListRow};
pub use lists::{ChangeEntry, List, ListDraw, ListEntry, PersonEntry, PersonRecord};
pub use observations::{ObservationSearch, outcome_word};
pub use overview::{ControlOverview, HintCounts, Judgement, Overview, OverviewReader};
pub use read::{read, rejudge};
pub use results::{ControlResult, LeftOut, ManifestHead, Results};
pub use rows::{FIRST_ROWS, Truncated};
pub use sample::{
    CheckDraw, Draw, Drawn, MemberDraw, Sample, SampledCheck, Seed, SeedError, check_identity,
    member_identity,
};
pub use sanitize::{Sanitize, sanitized, sanitized_lines};
pub use since::Since;
pub use timeline::{Timeline, timelines};
pub use transcript::{NOT_OF_A_PERIOD, Recorder, Skipped, replay, replay_without};
