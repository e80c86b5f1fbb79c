//! What a period comes to, in the names of `evidence history --json`. A field is never renamed.

use evidence_bundle::Status;
use evidence_bundle::document::Cadence;
use serde::Serialize;

use super::accepted::ExceptionWaiver;

/// A period, folded from verified bundles.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Period))]
#[derive(Debug, Clone, Serialize)]
pub struct History {
    /// The organization.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// How often bundles are expected, as the newest bundle says. `None` if it does not say: then days are counted.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub cadence: Option<Cadence>,
    /// What is covered.
    pub coverage: Coverage,
    /// The longest time without a verified bundle.
    pub longest_gap: Gap,
    /// The failures.
    pub exceptions: Vec<Exception>,
    /// How large the population of each source was in its first and in its last bundle.
    pub population_sizes: Vec<PopulationSize>,
    /// How the population changed.
    pub population: Vec<PopulationChange>,
    /// How tool, rules, configuration, identity, cadence, key and waivers changed.
    pub changes: Vec<Change>,
    /// The keys that signed.
    pub keys: Vec<KeyUse>,
    /// The bundles of the period.
    pub inputs: Vec<Input>,
    /// The files that were given and not used.
    pub not_used: Vec<NotUsed>,
    /// The days of each rule.
    #[serde(skip)]
    pub rules: Vec<RuleDays>,
}

/// What is covered.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodCoverage))]
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// How many intervals the period has: days, or those of the cadence.
    pub expected: usize,
    /// Those with a complete bundle.
    pub complete: usize,
    /// Those with bundles, none of them complete.
    pub incomplete: usize,
    /// Those without a bundle.
    pub missing: usize,
    /// Each rule.
    pub rules: Vec<RuleCoverage>,
}

/// What is covered of one rule.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodRuleCoverage))]
#[derive(Debug, Clone, Serialize)]
pub struct RuleCoverage {
    /// The source.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// How many intervals the period has.
    pub expected: usize,
    /// Those with a bundle in which nothing was missing for the rule.
    pub covered: usize,
}

/// A time without a verified bundle.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodGap))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The bundle before, or the start of the period.
    pub after: String,
    /// The bundle after, or the end of the period.
    pub before: String,
    /// Its length.
    pub seconds: i64,
    /// Its length in whole days.
    pub days: i64,
}

/// How a failure began.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodBegan))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Began {
    /// It was there in the first bundle of the period.
    Start,
    /// The check failed when it was first judged in the period.
    FirstSight,
    /// The check had passed in the period.
    Regression,
}

/// How a failure ended.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodEnded))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The check passed.
    Repaired,
    /// Its subject was excluded.
    Excluded,
    /// Its subject was archived.
    Archived,
    /// Its subject no longer exists.
    Deleted,
    /// It was no longer judged, and its subject may exist.
    OutOfSight,
    /// It did not end.
    Open,
}

impl Began {
    /// As the JSON has it.
    pub fn code(self) -> &'static str {
        match self {
            Began::Start => "start",
            Began::FirstSight => "first_sight",
            Began::Regression => "regression",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Began::Start => "open at the start",
            Began::FirstSight => "at first sight",
            Began::Regression => "regression",
        }
    }
}

impl Ended {
    /// As the JSON has it.
    pub fn code(self) -> &'static str {
        match self {
            Ended::Repaired => "repaired",
            Ended::Excluded => "excluded",
            Ended::Archived => "archived",
            Ended::Deleted => "deleted",
            Ended::OutOfSight => "out_of_sight",
            Ended::Open => "open",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::Repaired => "repaired",
            Ended::Excluded => "excluded while failing",
            Ended::Archived => "archived while failing",
            Ended::Deleted => "deleted while failing",
            Ended::OutOfSight => "out of sight while failing",
            Ended::Open => "open at the end",
        }
    }
}

/// A run of failing observations of one check.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodException))]
#[derive(Debug, Clone, Serialize)]
pub struct Exception {
    /// A stable number: the beginning of the SHA-256 of source, rule, subject and the first bundle.
    pub number: String,
    /// The control.
    pub control: String,
    /// The source.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// The subject, as the last failing bundle names it.
    pub subject: String,
    /// Why it failed first, as a stable code.
    pub reason: String,
    /// How it began.
    pub began: Began,
    /// The last pass before it, in the period.
    pub last_pass: Option<String>,
    /// The first bundle in which it fails.
    pub first_fail: String,
    /// The last bundle in which it fails.
    pub last_fail: String,
    /// The first pass after it.
    pub first_pass: Option<String>,
    /// How it ended.
    pub ended: Ended,
    /// In how many bundles it fails.
    pub bundles: u64,
    /// In how many intervals from the first to the last fail it was not seen to fail: without a bundle, or not verifiable.
    pub unseen: usize,
    /// The waivers of the failure, by id. They change nothing else.
    pub waivers: Vec<ExceptionWaiver>,
    /// The same instants in seconds: last pass, first fail, last fail, first pass.
    #[serde(skip)]
    pub seconds: [Option<i64>; 4],
}

/// How large the population of a source was in a bundle.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodPopulationSize))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PopulationSize {
    /// When the bundle was made, as its signer claims.
    pub time: String,
    /// The source.
    pub source: String,
    /// What is counted, such as `repository`.
    pub kind: String,
    /// How many were listed.
    pub listed: u64,
    /// How many were in scope.
    pub in_scope: u64,
    /// How many the source reports; `None` if it does not report it.
    pub host_total: Option<u64>,
    /// The scope as a sentence.
    #[serde(skip)]
    pub sentence: String,
}

impl PopulationSize {
    /// The day of the bundle.
    pub fn day(&self) -> &str {
        self.time.split_once('T').map_or(&*self.time, |(day, _)| day)
    }
}

/// A change of the population.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodPopulationChange))]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PopulationChange {
    /// The day.
    pub date: String,
    /// What happened: `added`, `renamed`, `excluded`, `archived`, `included`, `deleted`, `out_of_sight` or `seen_again`.
    pub change: &'static str,
    /// The name.
    pub name: String,
    /// The name before, of one that was renamed.
    pub was: Option<String>,
}

/// A change of what decides the results.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodChange))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The first bundle after it.
    pub time: String,
    /// What changed: `tool`, `rules`, `configuration`, `identity`, `cadence`, `key` or `waiver`.
    pub change: &'static str,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
}

/// A key that signed.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodKeyUse))]
#[derive(Debug, Clone, Serialize)]
pub struct KeyUse {
    /// The id of the key.
    pub key_id: String,
    /// Its first bundle.
    pub first: String,
    /// Its last bundle.
    pub last: String,
    /// How many bundles it signed.
    pub bundles: u64,
}

/// A bundle of the period.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodInput))]
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// The id of the bundle.
    pub bundle_id: String,
    /// When it was made, as its signer claims.
    pub created_at: String,
    /// The SHA-256 of its list of checksums.
    pub checksums_sha256: String,
    /// The id of its key.
    pub key_id: String,
    /// Whether everything that was asked for was collected.
    pub complete: bool,
    /// Whether its time is fixed, and not that of a clock.
    pub fixed_time: bool,
    /// Whether the bundle that it follows is newer: then it covers no day.
    pub back_dated: bool,
}

/// A file that was given and not used.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PeriodNotUsed))]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotUsed {
    /// The SHA-256 of the file; empty if it could not be read.
    pub sha256: String,
    /// Why, as a stable code.
    pub why: String,
}

/// The days of a rule.
#[derive(Debug, Clone)]
pub struct RuleDays {
    /// The control.
    pub control: String,
    /// The source.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// Every day of the period.
    pub days: Vec<RuleDay>,
}

/// A rule on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleDay {
    /// The bundles that apply the rule.
    pub bundles: u32,
    /// Whether nothing was missing for the rule in one of them.
    pub covered: bool,
    /// The worst result; `None` without a bundle.
    pub result: Option<Status>,
    /// The most failing checks in one bundle.
    pub failing: u64,
}

/// The letter of a result; a day without a bundle is a dot.
pub fn letter(result: Option<Status>) -> char {
    match result {
        Some(Status::Pass) => 'P',
        Some(Status::Fail) => 'F',
        Some(Status::NotVerifiable) => '?',
        Some(Status::NotApplicable) => 'n',
        None => '·',
    }
}
