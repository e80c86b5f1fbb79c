//! The waivers of failures over a period: in which bundles they applied, when they were approved, how often they were
//! renewed.
//!
//! A failure with a waiver is still a failure: nothing here ends, shortens or hides one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evidence_bundle::document::WaiverState;

use super::accepted::{Accepted, Approval, ExceptionWaiver};
use super::model::{Change, Exception, History};
use super::period::instant;
use super::series::{Series, Stored, StoredWaiver};
use crate::words::grouped;

/// The waivers of the failures of one bundle, by source, rule and the name of the subject.
#[derive(Debug, Default)]
pub(super) struct Waived<'a>(HashMap<(u32, u32, u32), Vec<&'a StoredWaiver>>);

/// The first approval of each waiver so far, by its id.
pub(super) type Approvals = HashMap<u32, String>;

impl<'a> Waived<'a> {
    /// The waivers of this bundle. Notes when each was approved.
    pub(super) fn of(series: &Series, bundle: &'a Stored, approvals: &mut Approvals) -> Waived<'a> {
        let mut waived = Waived::default();
        for waiver in &bundle.waivers {
            let day = series.names.text(waiver.approved_at);
            let first = approvals.entry(waiver.id).or_insert_with(|| day.to_owned());
            if day < first.as_str() {
                day.clone_into(first);
            }
            for failure in &waiver.failures {
                waived.0.entry(*failure).or_default().push(waiver);
            }
        }
        waived
    }

    /// Adds what this bundle says about the waivers of a failing check to its failure.
    pub(super) fn add_to(
        &self,
        exception: &mut Exception,
        series: &Series,
        bundle: &Stored,
        check: (u32, u32, u32),
        approvals: &Approvals,
    ) {
        for waiver in &mut exception.waivers {
            waiver.state = Accepted::Removed;
        }
        let first_day = exception.first_fail.get(..10).unwrap_or_default().to_owned();
        for found in self.0.get(&check).into_iter().flatten() {
            let text = |number| series.names.text(number).to_owned();
            let (id, expires_at) = (text(found.id), text(found.expires_at));
            let place = exception.waivers.iter().position(|known| known.id == id);
            let place = place.unwrap_or_else(|| {
                exception.waivers.push(ExceptionWaiver {
                    id,
                    state: Accepted::Removed,
                    approval: Approval::SameDay,
                    approved_at: String::new(),
                    approved_by: String::new(),
                    expires_at: expires_at.clone(),
                    renewals: 0,
                    bundles: 0,
                    first_applied: None,
                    last_applied: None,
                });
                exception.waivers.len().saturating_sub(1)
            });
            let Some(waiver) = exception.waivers.get_mut(place) else { continue };
            if expires_at > waiver.expires_at {
                waiver.renewals = waiver.renewals.saturating_add(1);
            }
            waiver.expires_at = expires_at;
            waiver.state = Accepted::of(found.state);
            waiver.approved_by = text(found.approved_by);
            waiver.approved_at = approvals.get(&found.id).cloned().unwrap_or_default();
            waiver.approval = match waiver.approved_at.cmp(&first_day) {
                std::cmp::Ordering::Less => Approval::Before,
                std::cmp::Ordering::Equal => Approval::SameDay,
                std::cmp::Ordering::Greater => Approval::After,
            };
            if waiver.state == Accepted::Applied {
                let now = instant(bundle.created_at);
                waiver.bundles = waiver.bundles.saturating_add(1);
                waiver.first_applied.get_or_insert_with(|| now.clone());
                waiver.last_applied = Some(now);
            }
        }
        exception.waivers.sort_by(|a, b| a.id.cmp(&b.id));
    }
}

/// The code of a change of a waiver.
const CHANGE: &str = "waiver";

/// Which waivers came, went, expired, began, or have other dates or another approver than in the bundle before.
pub(super) fn changes(series: &Series, before: &Stored, bundle: &Stored) -> Vec<Change> {
    let terms = |bundle: &Stored| -> BTreeMap<String, String> {
        let terms = bundle.waivers.iter().map(|waiver| {
            let [id, approved_by, approved_at, expires_at] =
                [waiver.id, waiver.approved_by, waiver.approved_at, waiver.expires_at]
                    .map(|number| series.names.text(number));
            let state = match waiver.state {
                WaiverState::Expired => ", expired",
                WaiverState::NotYetValid => ", not yet valid",
                _ => "",
            };
            let term = format!("{id}, approved {approved_at} by {approved_by}, until {expires_at}{state}");
            (id.to_owned(), term)
        });
        terms.collect()
    };
    let (was, is) = (terms(before), terms(bundle));
    let ids: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let term = |terms: &BTreeMap<String, String>, id: &str| {
        terms.get(id).cloned().unwrap_or_else(|| format!("{id}, not listed"))
    };
    ids.into_iter()
        .filter(|id| was.get(*id) != is.get(*id))
        .map(|id| Change {
            time: instant(bundle.created_at),
            change: CHANGE,
            was: term(&was, id),
            is: term(&is, id),
        })
        .collect()
}

impl History {
    /// The same history without waivers: the same failures.
    #[must_use]
    pub fn without_waivers(mut self) -> History {
        self.exceptions.iter_mut().for_each(|exception| exception.waivers.clear());
        self.changes.retain(|change| change.change != CHANGE);
        self
    }

    /// How many failures a waiver accepted. `None` if no failure has one.
    pub fn waived(&self) -> Option<String> {
        if self.exceptions.iter().all(|exception| exception.waivers.is_empty()) {
            return None;
        }
        let (mut every, mut some, mut none) = (0, 0, 0);
        for exception in &self.exceptions {
            let accepted = exception.waivers.iter().map(|waiver| waiver.bundles);
            let accepted = accepted.fold(0, u64::saturating_add);
            let count = match accepted {
                0 => &mut none,
                accepted if accepted < exception.bundles => &mut some,
                _ => &mut every,
            };
            *count += 1_u64;
        }
        Some(format!(
            "a waiver accepted {} of these failures throughout, {} for a part of the time, {} never",
            grouped(every),
            grouped(some),
            grouped(none)
        ))
    }
}
