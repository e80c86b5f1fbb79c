//! The checks: counted by criterion and control, and listed by status, reason and rule.

mod criteria;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Counts, Summary};
use evidence_bundle::path::NORMALIZED;
use evidence_bundle::text::saturating_u64;
use evidence_view::waivers::{self, Waiver, Waivers};
use evidence_view::words::{self, StatusLabel};
use evidence_view::{CheckSink, ControlHead, each_check, sanitized};

use self::criteria::{Criteria, CriterionResult};
use super::bar::Bar;
use super::evidence::Evidence;
use super::room::{self, Room};
use crate::documents::{Documents, unknown};

/// Up to this total, every check is listed.
const ALL_LISTED: u64 = 2_000;
/// Above that, the checks listed of a group that needs action.
const URGENT_LISTED: usize = 100;
/// Above that, the checks listed of any other group.
const OTHERS_LISTED: usize = 20;

/// The reason of checks that an incomplete list leaves open.
pub(super) const POPULATION_INCOMPLETE: &str = "population_incomplete";

/// What their texts are on the page: the scope at the top says it, once for all of them.
pub(super) const INCOMPLETE_LIST: &str = "the list is incomplete: see the scope at the top";

/// A control, with the counts of its checks.
pub(super) struct ControlSection {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) label: StatusLabel,
    /// The criteria of each rule.
    by_rule: BTreeMap<String, Vec<String>>,
    pub(super) counts: Counts,
    pub(super) bar: Bar,
    /// The checks of further groups, for which the page has no room.
    ungrouped: Counts,
}

impl ControlSection {
    fn criteria(&self, rule: &str) -> &[String] {
        self.by_rule.get(rule).map_or(&[], Vec::as_slice)
    }
}

/// The checks of one control with one status, reason and rule.
pub(super) struct Group {
    pub(super) status: Status,
    /// Identifier and title of the control.
    pub(super) control: String,
    pub(super) control_title: String,
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
    /// The number of its first check among all checks of the status.
    pub(super) first: u64,
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
    /// The mark of its waiver.
    pub(super) waiver: Option<String>,
    pub(super) evidence: Vec<Evidence>,
}

impl CheckRow {
    fn new(check: &Check) -> CheckRow {
        CheckRow {
            source: sanitized(&check.source),
            subject: sanitized(&check.subject),
            actual: match check.reason.as_str() {
                POPULATION_INCOMPLETE => INCOMPLETE_LIST.to_owned(),
                _ => sanitized(check.actual.as_deref().unwrap_or_default()),
            },
            improvement: None,
            waiver: None,
            evidence: check.evidence.iter().map(Evidence::new).collect(),
        }
    }

    /// Takes the room for the row, whose evidence is named twice: as a link and as its text.
    fn fits(&self, room: &mut Room) -> bool {
        let evidence = self.evidence.iter().flat_map(|evidence| [evidence.file.as_str(); 2]);
        let markup = self.evidence.len().saturating_mul(200).saturating_add(150);
        let waiver = self.waiver.as_deref().unwrap_or_default();
        room.take(markup, evidence.chain([self.source.as_str(), &self.subject, &self.actual, waiver]))
    }
}

impl Group {
    /// An empty group for checks like this one.
    fn new(control: &ControlHead, check: &Check) -> Group {
        Group {
            status: check.status,
            control: sanitized(&control.id),
            control_title: sanitized(&control.title),
            label: words::label(check.status),
            reason: sanitized(&check.reason),
            reason_title: sanitized(&words::reason(&check.reason)),
            rule: sanitized(&check.rule),
            rule_title: words::rule(&check.rule).into_owned(),
            criteria: sanitized(&control.criteria(&check.rule).join(", ")),
            expected: sanitized(check.expected.as_deref().unwrap_or_default()),
            remediation: None,
            count: 0,
            first: 1,
            rows: Vec::new(),
            is_full: false,
        }
    }

    /// Takes the room for the head and the end of the group.
    fn fits(&self, room: &mut Room) -> bool {
        let twice = [
            self.reason.as_str(),
            &self.reason_title,
            &self.rule,
            &self.rule_title,
            &self.criteria,
            &self.control,
            &self.control_title,
        ];
        room.take(1_500, twice.repeat(2).into_iter().chain([self.expected.as_str()]))
    }

    /// How many checks of the group are listed.
    pub(super) fn listed(&self) -> u64 {
        saturating_u64(self.rows.len())
    }

    /// Whether the group needs action: its checks failed or could not be verified.
    pub(super) fn is_urgent(&self) -> bool {
        matches!(self.status, Status::Fail | Status::NotVerifiable)
    }

    /// The number of the listed check at this place.
    pub(super) fn number(&self, place: &usize) -> u64 {
        self.first.saturating_add(saturating_u64(*place))
    }

    /// How many checks of the group are not listed.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(self.listed())
    }
}

/// Groups by urgency, reason and rule.
type Groups = BTreeMap<(usize, String, String), Group>;

/// All checks.
pub(super) struct Sections {
    summary: Summary,
    controls: Vec<(ControlSection, Groups)>,
    /// How many further controls there are, for which the page has no room.
    more_controls: u64,
    /// Whether the current control is one of them.
    is_left_out: bool,
    criteria: Criteria,
    /// The reason, source and subject of each check that did not pass.
    reported: BTreeSet<u64>,
    control_room: Room,
    group_room: Room,
    row_room: Room,
    waivers: Option<Waivers>,
}

/// The checks as the page shows them.
pub(super) struct Listed {
    pub(super) criteria: Vec<CriterionResult>,
    pub(super) controls: Vec<ControlSection>,
    pub(super) failed: Part,
    pub(super) unverified: Part,
    /// Passed, and not applicable.
    pub(super) others: Part,
    /// How many checks are under no criterion of the page.
    pub(super) unfiled: u64,
}

/// The groups of checks with one status, or with several.
#[derive(Default)]
pub(super) struct Part {
    pub(super) groups: Vec<Group>,
    /// The number of its checks.
    pub(super) count: u64,
    /// How many of its checks are in no group, because the page has no room.
    pub(super) ungrouped: u64,
}

impl Part {
    fn add(&mut self, mut group: Group) {
        group.first = self.count.saturating_add(1);
        self.count = self.count.saturating_add(group.count);
        self.groups.push(group);
    }

    fn add_ungrouped(&mut self, count: u64) {
        self.ungrouped = self.ungrouped.saturating_add(count);
        self.count = self.count.saturating_add(count);
    }
}

impl Default for Sections {
    fn default() -> Sections {
        Sections {
            summary: Summary::default(),
            controls: Vec::new(),
            more_controls: 0,
            is_left_out: false,
            criteria: Criteria::default(),
            reported: BTreeSet::new(),
            control_room: Room::new(room::CONTROLS),
            group_room: Room::new(room::GROUPS),
            row_room: Room::new(room::CHECKS),
            waivers: None,
        }
    }
}

fn total(counts: Counts) -> u64 {
    let Counts { pass, fail, not_verifiable, not_applicable } = counts;
    [pass, fail, not_verifiable, not_applicable].into_iter().fold(0, u64::saturating_add)
}

/// A fact that several documents report: its reason, source and subject, as one number.
pub(super) fn fact(reason: &str, source: &str, subject: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (reason, source, subject).hash(&mut hasher);
    hasher.finish()
}

impl Sections {
    pub(super) fn read(documents: &dyn Documents, waivers: Option<Waivers>) -> io::Result<Sections> {
        let (mut sections, mut known) = (Sections { waivers, ..Sections::default() }, false);
        documents.open(NORMALIZED, &mut |contents| {
            known = each_check(contents, &mut sections)?;
            Ok(())
        })?;
        if known { Ok(sections) } else { Err(unknown(NORMALIZED)) }
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

    /// Whether a check that did not pass reports this already.
    pub(super) fn reports(&self, reason: &str, source: &str, subject: &str) -> bool {
        self.reported.contains(&fact(reason, source, subject))
    }

    /// Whether some groups list only their first checks.
    pub(super) fn shortened(&self) -> bool {
        self.more_controls > 0
            || self.controls.iter().any(|(control, groups)| {
                total(control.ungrouped) > 0 || groups.values().any(|group| group.more() > 0)
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
    pub(super) fn criteria(&self, control: &str, rule: &str) -> String {
        let section = self.controls.iter().find(|(section, _)| section.id == control);
        section.map(|(section, _)| section.criteria(rule).join(", ")).unwrap_or_default()
    }

    pub(super) fn into_listed(self) -> Listed {
        let unfiled = self.criteria.unfiled;
        let criteria = self.criteria.into_results();
        let (mut failed, mut unverified, mut others) = (Part::default(), Part::default(), Part::default());
        let mut controls = Vec::new();
        for (mut control, groups) in self.controls {
            for group in groups.into_values() {
                match group.status {
                    Status::Fail => failed.add(group),
                    Status::NotVerifiable => unverified.add(group),
                    Status::Pass | Status::NotApplicable => others.add(group),
                }
            }
            let left = control.ungrouped;
            failed.add_ungrouped(left.fail);
            unverified.add_ungrouped(left.not_verifiable);
            others.add_ungrouped(left.pass.saturating_add(left.not_applicable));
            control.bar = Bar::new(control.counts);
            controls.push(control);
        }
        Listed { criteria, controls, failed, unverified, others, unfiled }
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
                .map(|(rule, criteria)| (rule.clone(), criteria.iter().map(|id| sanitized(id)).collect()))
                .collect(),
            counts: Counts::default(),
            bar: Bar::new(Counts::default()),
            ungrouped: Counts::default(),
        };
        self.is_left_out = !self.control_room.take(1_500, [section.id.as_str(), &section.title]);
        if self.is_left_out {
            self.more_controls += 1;
            return;
        }
        self.controls.push((section, BTreeMap::new()));
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        let limit = self.limit(check.status);
        if matches!(check.status, Status::Fail | Status::NotVerifiable) {
            self.reported.insert(fact(&check.reason, &check.source, &check.subject));
        }
        self.criteria.file(control, &check);
        if self.is_left_out {
            return Ok(());
        }
        let (group_room, row_room) = (&mut self.group_room, &mut self.row_room);
        let Some((section, groups)) = self.controls.last_mut() else { return Ok(()) };
        section.counts.add(check.status);
        let key = (check.status.urgency(), check.reason.clone(), check.rule.clone());
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
            let mut row = CheckRow::new(&check);
            let key = waivers::key(&control.id, &check.source, &check.rule, &check.subject);
            let waiver = self.waivers.as_ref().and_then(|waivers| waivers.of(key));
            row.waiver = waiver.map(Waiver::mark);
            group.is_full = !row.fits(row_room);
            if !group.is_full {
                group.rows.push(row);
            }
        }
        Ok(())
    }
}
