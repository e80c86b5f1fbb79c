//! `derived/criteria.csv`: each criterion of the framework with the rules of this run that collect evidence for it, and those
//! for which none does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use evidence_bundle::document::{Check, ScopeRecord};
use evidence_bundle::path::{MANIFEST, NORMALIZED, SCOPE};
use evidence_view::csv::{Row, Table};
use evidence_view::{CheckSink, ControlHead, each_check};

use super::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, unknown, whole};
use crate::shared::Shared;

/// `derived/criteria.csv`
pub(crate) fn criteria(
    documents: &dyn Documents,
    shared: &mut Shared,
    out: &mut dyn Write,
) -> io::Result<()> {
    let origin = Origin::of(documents, shared)?;
    let scope: ScopeRecord = whole(documents, SCOPE)?;
    let mut criteria = Criteria { scope: &scope, rules: BTreeMap::new() };
    criteria.rules.extend(scope.criteria_without_evidence.iter().map(|id| (id.clone(), Vec::new())));
    documents.open(NORMALIZED, &mut |contents| match each_check(contents, &mut criteria)? {
        true => Ok(()),
        false => Err(unknown(NORMALIZED)),
    })?;
    mark(documents, shared, &[NORMALIZED, SCOPE, MANIFEST], out)?;
    let mut table = Table::with::<3, CriterionRow<'_>>(out, &ORIGIN)?;
    for (id, rules) in &criteria.rules {
        table.row_with(&CriterionRow(id, rules), &origin.cells())?;
    }
    table.finish().map(|_| ())
}

/// The rules of each criterion.
struct Criteria<'a> {
    scope: &'a ScopeRecord,
    rules: BTreeMap<String, Vec<String>>,
}

impl CheckSink for Criteria<'_> {
    fn control(&mut self, control: &ControlHead) {
        for rule in self.scope.rules.iter().filter(|rule| rule.control == control.id) {
            for id in control.criteria(&rule.code) {
                self.rules.entry(id.clone()).or_default().push(rule.code.clone());
            }
        }
    }

    fn check(&mut self, _: &ControlHead, _: Check) -> io::Result<()> {
        Ok(())
    }
}

/// A criterion and its rules.
struct CriterionRow<'a>(&'a str, &'a [String]);

impl Row<3> for CriterionRow<'_> {
    const COLUMNS: [&'static str; 3] = ["criterion", "automated_evidence", "rules"];

    fn cells(&self) -> [Cow<'_, str>; 3] {
        let CriterionRow(id, rules) = self;
        let evidence = if rules.is_empty() { "no" } else { "yes" };
        [(*id).into(), evidence.into(), rules.join(", ").into()]
    }
}
