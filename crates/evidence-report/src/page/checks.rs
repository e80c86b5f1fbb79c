//! The checks of each control, grouped by status, reason and rule.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts, Summary};
use evidence_bundle::path::NORMALIZED;
use evidence_view::words::{self, StatusLabel};
use evidence_view::{CheckSink, ControlHead, EachCheck, FileReader as _, sanitized};

use super::bar::Bar;
use super::evidence::Evidence;
use super::text;
use crate::documents::{Documents, unknown};

/// Up to this total, every check is listed.
const ALL_LISTED: u64 = 2_000;
/// Above that, the checks listed of a group that needs action.
const URGENT_LISTED: usize = 100;
/// Above that, the checks listed of any other group.
const OTHERS_LISTED: usize = 20;

/// A control and its checks.
pub(super) struct ControlSection {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) label: StatusLabel,
    /// The criteria of each rule.
    by_rule: BTreeMap<String, String>,
    pub(super) counts: Counts,
    pub(super) bar: Bar,
    /// Its rules that have checks.
    pub(super) rules: Vec<RuleResult>,
    /// The most urgent first.
    pub(super) groups: Vec<Group>,
}

/// A rule of a control, with the counts of its checks.
pub(super) struct RuleResult {
    pub(super) title: String,
    pub(super) criteria: String,
    pub(super) counts: Counts,
    pub(super) bar: Bar,
}

/// The checks of one control with one status, reason and rule.
pub(super) struct Group {
    status: Status,
    pub(super) label: StatusLabel,
    pub(super) reason: String,
    pub(super) reason_title: String,
    pub(super) rule: String,
    pub(super) rule_title: String,
    pub(super) criteria: String,
    pub(super) expected: String,
    /// The advice, if a hint has any.
    pub(super) remediation: Option<String>,
    pub(super) count: u64,
    pub(super) rows: Vec<CheckRow>,
}

/// One listed check.
pub(super) struct CheckRow {
    pub(super) source: String,
    pub(super) subject: String,
    pub(super) actual: String,
    /// Possible improvements of a passed check.
    pub(super) improvement: Option<String>,
    pub(super) evidence: Vec<Evidence>,
}

impl Group {
    /// How many checks of the group are listed.
    pub(super) fn listed(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX)
    }

    /// Whether the group needs action: its checks failed or could not be verified.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.status, Status::Fail | Status::NotVerifiable)
    }

    /// How many checks of the group are not listed.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(self.listed())
    }
}

/// Groups by urgency, reason and rule.
type Groups = BTreeMap<(u8, String, String), Group>;

/// All controls.
#[derive(Default)]
pub(super) struct Sections {
    summary: Summary,
    controls: Vec<(ControlSection, Groups)>,
}

impl Sections {
    pub(super) fn read(documents: &dyn Documents) -> io::Result<Sections> {
        let mut reader = EachCheck::new(Sections::default());
        documents.open(NORMALIZED, &mut |contents| reader.file(NORMALIZED, contents))?;
        if reader.known { Ok(reader.sink) } else { Err(unknown(NORMALIZED)) }
    }

    /// How many checks of each status there are.
    pub(super) fn counts(&self) -> Counts {
        self.summary.checks
    }

    /// How many checks there are.
    pub(super) fn total(&self) -> u64 {
        let Counts { pass, fail, not_verifiable, not_applicable } = self.summary.checks;
        [pass, fail, not_verifiable, not_applicable].into_iter().fold(0, u64::saturating_add)
    }

    /// Whether some groups list only their first checks.
    pub(super) fn shortened(&self) -> bool {
        self.controls.iter().any(|(_, groups)| groups.values().any(|group| group.more() > 0))
    }

    /// Every group, with the control that it belongs to.
    pub(super) fn groups_mut(&mut self) -> impl Iterator<Item = (&str, &mut Group)> {
        self.controls.iter_mut().flat_map(|(control, groups)| {
            let id = control.id.as_str();
            groups.values_mut().map(move |group| (id, group))
        })
    }

    /// The criteria of this rule of this control.
    pub(super) fn criteria(&self, control: &str, rule: &str) -> &str {
        let section = self.controls.iter().find(|(section, _)| section.id == control);
        let criteria = section.and_then(|(section, _)| section.by_rule.get(rule));
        criteria.map_or("", String::as_str)
    }

    pub(super) fn into_controls(self) -> Vec<ControlSection> {
        let finished = |(mut control, groups): (ControlSection, Groups)| {
            control.groups = groups.into_values().collect();
            control.bar = Bar::new(control.counts);
            control.rules = rules(&control);
            control
        };
        self.controls.into_iter().map(finished).collect()
    }

    /// How many rows of a group are listed.
    fn limit(&self, status: Status) -> usize {
        match status {
            _ if self.total() <= ALL_LISTED => usize::MAX,
            Status::Fail | Status::NotVerifiable => URGENT_LISTED,
            Status::Pass | Status::NotApplicable => OTHERS_LISTED,
        }
    }
}

impl CheckSink for Sections {
    fn summary(&mut self, summary: Summary) {
        self.summary = summary;
    }

    fn control(&mut self, control: &ControlHead) {
        let section = ControlSection {
            id: sanitized(&control.id),
            title: sanitized(&control.title),
            label: words::label(control.status),
            by_rule: control
                .criteria
                .iter()
                .map(|(rule, criteria)| (rule.clone(), sanitized(&criteria.join(", "))))
                .collect(),
            counts: Counts::default(),
            bar: Bar::new(Counts::default()),
            rules: Vec::new(),
            groups: Vec::new(),
        };
        self.controls.push((section, BTreeMap::new()));
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        let limit = self.limit(check.status);
        let Some((section, groups)) = self.controls.last_mut() else { return Ok(()) };
        section.counts.add(check.status);
        let key = (urgency(check.status), check.reason.clone(), check.rule.clone());
        let group = groups.entry(key).or_insert_with(|| Group {
            status: check.status,
            label: words::label(check.status),
            reason: sanitized(&check.reason),
            reason_title: sanitized(&words::reason(&check.reason)),
            rule: sanitized(&check.rule),
            rule_title: text::rule(&check.rule),
            criteria: sanitized(&control.criteria(&check.rule).join(", ")),
            expected: sanitized(check.expected.as_deref().unwrap_or_default()),
            remediation: None,
            count: 0,
            rows: Vec::new(),
        });
        group.count += 1;
        if group.rows.len() < limit {
            group.rows.push(CheckRow {
                source: sanitized(&check.source),
                subject: sanitized(&check.subject),
                actual: sanitized(check.actual.as_deref().unwrap_or_default()),
                improvement: None,
                evidence: check.evidence.iter().map(Evidence::new).collect(),
            });
        }
        Ok(())
    }
}

/// The rules of a control that have checks, by code.
fn rules(control: &ControlSection) -> Vec<RuleResult> {
    let mut rules: BTreeMap<&str, RuleResult> = BTreeMap::new();
    for group in &control.groups {
        let rule = rules.entry(&group.rule).or_insert_with(|| RuleResult {
            title: group.rule_title.clone(),
            criteria: group.criteria.clone(),
            counts: Counts::default(),
            bar: Bar::new(Counts::default()),
        });
        let counts = &mut rule.counts;
        let count = match group.status {
            Status::Pass => &mut counts.pass,
            Status::Fail => &mut counts.fail,
            Status::NotVerifiable => &mut counts.not_verifiable,
            Status::NotApplicable => &mut counts.not_applicable,
        };
        *count = count.saturating_add(group.count);
    }
    let with_bar = |rule: RuleResult| RuleResult { bar: Bar::new(rule.counts), ..rule };
    rules.into_values().map(with_bar).collect()
}

/// The order of the groups: those that need action come first.
fn urgency(status: Status) -> u8 {
    match status {
        Status::Fail => 0,
        Status::NotVerifiable => 1,
        Status::Pass => 2,
        Status::NotApplicable => 3,
    }
}
