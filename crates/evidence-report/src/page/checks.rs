//! The checks of each control, grouped by status, reason and rule.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts, Summary};
use evidence_bundle::path::NORMALIZED;
use evidence_view::words::{self, StatusLabel};
use evidence_view::{CheckSink, ControlHead, EachCheck, FileReader as _, sanitized};

use super::bar::Bar;
use super::evidence::Evidence;
use super::room::{self, Room};
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
    /// The checks of further groups, for which the page has no room.
    ungrouped: Counts,
}

impl ControlSection {
    /// How many checks are in no group of the page.
    pub(super) fn ungrouped(&self) -> u64 {
        total(self.ungrouped)
    }
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
    /// Whether the page has no room for more rows.
    is_full: bool,
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

impl CheckRow {
    fn new(check: &Check) -> CheckRow {
        CheckRow {
            source: sanitized(&check.source),
            subject: sanitized(&check.subject),
            actual: sanitized(check.actual.as_deref().unwrap_or_default()),
            improvement: None,
            evidence: check.evidence.iter().map(Evidence::new).collect(),
        }
    }

    /// Takes the room for the row, whose evidence is named twice: as a link and as its text.
    fn fits(&self, room: &mut Room) -> bool {
        let evidence = self.evidence.iter().flat_map(|evidence| [evidence.file.as_str(); 2]);
        let markup = self.evidence.len().saturating_mul(200).saturating_add(150);
        room.take(markup, evidence.chain([self.source.as_str(), &self.subject, &self.actual]))
    }
}

impl Group {
    /// An empty group for checks like this one.
    fn new(control: &ControlHead, check: &Check) -> Group {
        Group {
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
            is_full: false,
        }
    }

    /// Takes the room for the head and the end of the group, and for the row of its rule in the results.
    fn fits(&self, room: &mut Room) -> bool {
        let twice = [self.reason.as_str(), &self.reason_title, &self.rule, &self.rule_title, &self.criteria];
        room.take(1_500, twice.repeat(2).into_iter().chain([self.expected.as_str()]))
    }

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
pub(super) struct Sections {
    summary: Summary,
    controls: Vec<(ControlSection, Groups)>,
    /// How many further controls there are, for which the page has no room.
    more_controls: u64,
    /// Whether the current control is one of them.
    is_left_out: bool,
    control_room: Room,
    group_room: Room,
    row_room: Room,
}

impl Default for Sections {
    fn default() -> Sections {
        Sections {
            summary: Summary::default(),
            controls: Vec::new(),
            more_controls: 0,
            is_left_out: false,
            control_room: Room::new(room::CONTROLS),
            group_room: Room::new(room::GROUPS),
            row_room: Room::new(room::CHECKS),
        }
    }
}

fn total(counts: Counts) -> u64 {
    let Counts { pass, fail, not_verifiable, not_applicable } = counts;
    [pass, fail, not_verifiable, not_applicable].into_iter().fold(0, u64::saturating_add)
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
        total(self.summary.checks)
    }

    /// How many controls the page has no room for.
    pub(super) fn more_controls(&self) -> u64 {
        self.more_controls
    }

    /// Whether some groups list only their first checks.
    pub(super) fn shortened(&self) -> bool {
        self.more_controls > 0
            || self.controls.iter().any(|(control, groups)| {
                control.ungrouped() > 0 || groups.values().any(|group| group.more() > 0)
            })
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
            ungrouped: Counts::default(),
        };
        // The title is there four times: at the top, in the results, in the checks and in a caption.
        let texts = [section.id.as_str(), &section.title];
        self.is_left_out = !self.control_room.take(3_000, texts.repeat(4));
        if self.is_left_out {
            self.more_controls += 1;
            return;
        }
        self.controls.push((section, BTreeMap::new()));
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        let limit = self.limit(check.status);
        if self.is_left_out {
            return Ok(());
        }
        let (group_room, row_room) = (&mut self.group_room, &mut self.row_room);
        let Some((section, groups)) = self.controls.last_mut() else { return Ok(()) };
        section.counts.add(check.status);
        let key = (urgency(check.status), check.reason.clone(), check.rule.clone());
        let group = match groups.entry(key) {
            Entry::Occupied(group) => group.into_mut(),
            Entry::Vacant(place) => {
                let group = Group::new(control, &check);
                if !group.fits(group_room) {
                    section.ungrouped.add(check.status);
                    return Ok(());
                }
                place.insert(group)
            }
        };
        group.count += 1;
        if group.rows.len() < limit && !group.is_full {
            let row = CheckRow::new(&check);
            group.is_full = !row.fits(row_room);
            if !group.is_full {
                group.rows.push(row);
            }
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
    let mut rules: Vec<RuleResult> = rules.into_values().collect();
    if control.ungrouped() > 0 {
        rules.push(RuleResult {
            title: "Checks that this page does not list".to_owned(),
            criteria: String::new(),
            counts: control.ungrouped,
            bar: Bar::new(Counts::default()),
        });
    }
    let with_bar = |rule: RuleResult| RuleResult { bar: Bar::new(rule.counts), ..rule };
    rules.into_iter().map(with_bar).collect()
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
