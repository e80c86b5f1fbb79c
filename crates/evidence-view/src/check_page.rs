//! One page of the checks of a bundle: filtered, searched and sorted. Keeps only the rows to show.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::io;

use evidence_bundle::document::{Check, Counts};
use evidence_bundle::read::ControlHead;
use evidence_text::saturating_u64;

use crate::check_query::{CheckQuery, Position, Sort};
use crate::checks::CheckSink;
use crate::sanitize::{Sanitize as _, sanitized};

/// The most values that one filter offers.
const CHOICES: usize = 200;

/// A check to show, made safe to print.
#[derive(Debug)]
pub struct ShownCheck {
    position: Position,
    /// The identifier of its control.
    pub control: String,
    /// The framework's own criteria under which its evidence is commonly filed.
    pub criteria: Vec<String>,
    /// The check.
    pub check: Check,
}

/// The possible values of filters: those in the bundle.
#[derive(Debug, Default)]
pub struct Choices {
    /// The identifiers and titles of the controls.
    pub controls: Vec<(String, String)>,
    /// The codes of rules.
    pub rules: BTreeSet<String>,
    /// The names of sources.
    pub sources: BTreeSet<String>,
    /// The codes of reasons.
    pub reasons: BTreeSet<String>,
}

/// Collects one page.
#[derive(Debug)]
pub struct CheckPage {
    query: CheckQuery,
    sort: Sort,
    after: Option<Position>,
    rows_per_page: usize,
    ordinal: u64,
    /// The rows of the page, in order.
    pub rows: Vec<ShownCheck>,
    /// The last positions before the page, in order: the previous page begins there.
    before: Vec<Position>,
    /// The number of checks of the bundle.
    pub total: u64,
    /// The number of matches by status, regardless of the selected statuses.
    pub found: Counts,
    /// The number of matches.
    pub matching: u64,
    /// The number of matches before this page.
    pub skipped: u64,
    /// The possible values of the filters.
    pub choices: Choices,
}

impl CheckPage {
    /// The page of at most this many rows after this position.
    pub fn new(query: CheckQuery, sort: Sort, after: Option<Position>, rows_per_page: usize) -> CheckPage {
        CheckPage {
            query,
            sort,
            after,
            rows_per_page,
            ordinal: 0,
            rows: Vec::new(),
            before: Vec::new(),
            total: 0,
            found: Counts::default(),
            matching: 0,
            skipped: 0,
            choices: Choices::default(),
        }
    }

    /// The position of the next page, if there is one.
    pub fn next(&self) -> Option<String> {
        let shown = self.skipped.saturating_add(saturating_u64(self.rows.len()));
        let last = self.rows.last()?;
        (shown < self.matching).then(|| last.position.to_string())
    }

    /// The position of the previous page: `None` on the first page, an empty text if the previous page is the
    /// first.
    pub fn previous(&self) -> Option<String> {
        let full = self.before.len() > self.rows_per_page;
        let start = || self.before.first().filter(|_| full).map(Position::to_string).unwrap_or_default();
        (self.skipped > 0).then(start)
    }

    fn offer(&mut self, check: &Check) {
        let choices = &mut self.choices;
        for (known, value) in [
            (&mut choices.rules, &check.rule),
            (&mut choices.sources, &check.source),
            (&mut choices.reasons, &check.reason),
        ] {
            if known.len() < CHOICES && !known.contains(value) {
                known.insert(sanitized(value));
            }
        }
    }

    fn keep(&mut self, control: &ControlHead, mut check: Check) {
        let position = self.sort.key(&check, self.ordinal);
        let is_before = |after: &Position| self.sort.compare(&position, after) != Ordering::Greater;
        if self.after.as_ref().is_some_and(is_before) {
            self.skipped = self.skipped.saturating_add(1);
            let sort = self.sort;
            let place = self.before.partition_point(|known| sort.compare(known, &position).is_lt());
            self.before.insert(place, position);
            // One more than a page: the first is the row before that page.
            if self.before.len() > self.rows_per_page.saturating_add(1) {
                self.before.remove(0);
            }
            return;
        }
        let sort = self.sort;
        let place = self.rows.partition_point(|known| sort.compare(&known.position, &position).is_lt());
        if place >= self.rows_per_page {
            return;
        }
        let criteria = control.criteria(&check.rule).iter().map(|text| sanitized(text)).collect();
        check.sanitize();
        self.rows.insert(place, ShownCheck { position, control: sanitized(&control.id), criteria, check });
        self.rows.truncate(self.rows_per_page);
    }
}

impl CheckSink for CheckPage {
    fn control(&mut self, control: &ControlHead) {
        if self.choices.controls.len() < CHOICES {
            self.choices.controls.push((sanitized(&control.id), sanitized(&control.title)));
        }
    }

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        self.ordinal = self.ordinal.saturating_add(1);
        self.total = self.total.saturating_add(1);
        self.offer(&check);
        if self.query.matches_but_status(&control.id, &check) {
            self.found.add(check.status);
            if self.query.has_status(check.status) {
                self.matching = self.matching.saturating_add(1);
                self.keep(control, check);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evidence_bundle::Status;

    use super::*;
    use crate::filter::CheckFilter;

    const SUBJECTS: [&str; 7] = ["d", "B", "a", "c", "b", "E", "b"];

    fn read(query: CheckQuery, sort: &str, after: Option<&str>) -> CheckPage {
        let after = after.map(|text| text.parse().unwrap());
        let mut page = CheckPage::new(query, sort.parse().unwrap(), after, 3);
        let control = ControlHead {
            id: "C1".to_owned(),
            title: "Title".to_owned(),
            status: Status::Fail,
            reason: "r".to_owned(),
            criteria: BTreeMap::from([("rule".to_owned(), vec!["CC9".to_owned()])]),
            expected: BTreeMap::new(),
        };
        page.control(&control);
        for (index, subject) in SUBJECTS.into_iter().enumerate() {
            let status = if index % 2 == 0 { Status::Pass } else { Status::Fail };
            let check = Check {
                rule: "rule".to_owned(),
                source: "source".to_owned(),
                subject: subject.to_owned(),
                status,
                reason: "ok".to_owned(),
                expected: None,
                actual: Some(format!("Found {subject}")),
                evidence: Vec::new(),
            };
            page.check(&control, check).unwrap();
        }
        page
    }

    fn subjects(page: &CheckPage) -> String {
        page.rows.iter().map(|row| row.check.subject.as_str()).collect()
    }

    /// Forward to the end and back to the beginning.
    #[test]
    fn pages_show_every_check_once_in_each_order() {
        for (sort, expected) in [
            ("subject", ["aBb", "bcd", "E"]),
            ("-subject", ["Edc", "Bbb", "a"]),
            ("status", ["BcE", "dab", "b"]),
            ("control", ["dBa", "cbE", "b"]),
            ("-control", ["bEb", "caB", "d"]),
            ("reason", ["dBa", "cbE", "b"]),
        ] {
            let (mut after, mut starts) = (None::<String>, vec![String::new()]);
            for (number, expected) in expected.iter().enumerate() {
                let page = read(CheckQuery::default(), sort, after.as_deref());
                assert_eq!(subjects(&page), *expected, "{sort} page {number}");
                assert_eq!((page.skipped, page.matching), (number as u64 * 3, 7));
                let previous = number.checked_sub(1).map(|index| starts[index].clone());
                assert_eq!(page.previous(), previous, "{sort} page {number}");
                assert_eq!(page.next().is_some(), number < 2);
                after = page.next();
                starts.extend(after.clone());
            }
        }
    }

    #[test]
    fn what_matches_is_shown_and_counted() {
        let query = |change: &dyn Fn(&mut CheckQuery)| {
            let mut query = CheckQuery::default();
            change(&mut query);
            let page = read(query, "subject", None);
            assert_eq!((page.total, page.rows.iter().all(|row| row.criteria == ["CC9"])), (7, true));
            (subjects(&page), page.matching)
        };
        assert_eq!(query(&|query| query.text = "FOUND b".to_owned()), ("Bbb".to_owned(), 3));
        assert_eq!(query(&|query| query.text = "rule met".to_owned()), ("aBb".to_owned(), 7));
        assert_eq!(query(&|query| query.text = "nothing".to_owned()), (String::new(), 0));
        assert_eq!(query(&|query| query.reasons = vec!["other".to_owned()]), (String::new(), 0));
        let failing = CheckFilter { statuses: vec![Status::Fail], ..CheckFilter::default() };
        assert_eq!(query(&|query| query.filter = failing.clone()), ("BcE".to_owned(), 3));
        let page = read(CheckQuery { filter: failing.clone(), ..CheckQuery::default() }, "status", None);
        assert_eq!((page.found.pass, page.found.fail), (4, 3), "of each status, whatever is shown");
        let other = CheckFilter { controls: vec!["C2".to_owned()], ..CheckFilter::default() };
        assert_eq!(query(&|query| query.filter = other.clone()), (String::new(), 0));
    }
}
