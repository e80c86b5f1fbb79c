//! Runs of failing observations. Only a pass repairs; a check that is not verifiable neither begins nor ends one.

use std::collections::HashMap;

use evidence_bundle::Status;
use sha2::{Digest as _, Sha256};

use super::model::{Began, Ended, Exception};
use super::period::instant;
use super::population::{Presence, Seen};
use super::results::{Found, Results};
use super::series::{Absence, Series, Stored};
use super::waivers::{Approvals, Waived};

/// The digits of a number.
const DIGITS: usize = 12;

/// The identity of a check: source, rule and the position of the subject.
type Identity = (u32, u32, usize);

/// All failures so far.
#[derive(Debug, Default)]
pub(super) struct Failures {
    ended: Vec<Exception>,
    open: HashMap<Identity, Open>,
    last_pass: HashMap<Identity, i64>,
    approvals: Approvals,
}

/// A failure that has not ended.
#[derive(Debug)]
struct Open {
    exception: Exception,
    /// Whether the last bundle does not judge the check any more.
    is_unseen: bool,
    /// The intervals of the first and the last fail, and in how many it fails.
    units: (usize, usize, usize),
}

/// A bundle whose results are taken.
struct Night<'a> {
    series: &'a Series,
    bundle: &'a Stored,
    waived: Waived<'a>,
    /// Whether it is the first of the period.
    is_first: bool,
    /// Its interval.
    unit: usize,
}

impl Failures {
    /// Takes the results of the next bundle.
    pub(super) fn bundle(
        &mut self,
        series: &Series,
        bundle: &Stored,
        seen: &Seen<'_>,
        results: &Results,
        unit: usize,
        is_first: bool,
    ) {
        let waived = Waived::of(series, bundle, &mut self.approvals);
        let night = Night { series, bundle, waived, is_first, unit };
        for (identity, found) in results {
            self.check(&night, *identity, found);
        }
        let missing: Vec<Identity> =
            self.open.keys().filter(|identity| !results.contains_key(identity)).copied().collect();
        for identity in missing {
            let (source, _, place) = identity;
            match (bundle.absence(series.names.text(source)), seen.presence(place)) {
                (Absence::NotAsked, _) => self.unseen(identity),
                (_, Some(Presence::Archived)) => self.end(identity, Ended::Archived, None),
                (_, Some(Presence::Excluded)) => self.end(identity, Ended::Excluded, None),
                (_, Some(Presence::Deleted)) => self.end(identity, Ended::Deleted, None),
                // A subject that is there, and a rule that is not applied any more.
                (_, Some(Presence::Examined | Presence::OutOfSight) | None) => self.unseen(identity),
            }
        }
    }

    fn check(&mut self, night: &Night<'_>, identity: Identity, found: &Found) {
        let now = night.bundle.created_at;
        match found.status {
            Status::Pass => {
                self.end(identity, Ended::Repaired, Some(now));
                self.last_pass.insert(identity, now);
            }
            Status::Fail => self.fail(night, identity, found),
            Status::NotVerifiable => {
                if let Some(open) = self.open.get_mut(&identity) {
                    open.is_unseen = false;
                }
            }
            Status::NotApplicable if night.series.names.text(found.reason) == "archived" => {
                self.end(identity, Ended::Archived, None);
            }
            Status::NotApplicable => self.unseen(identity),
        }
    }

    fn fail(&mut self, night: &Night<'_>, identity: Identity, found: &Found) {
        let Night { series, bundle, waived, is_first, unit } = night;
        let now = bundle.created_at;
        let name = |number| series.names.text(number).to_owned();
        let last_pass = self.last_pass.get(&identity).copied();
        let open = self.open.entry(identity).or_insert_with(|| {
            let (source, rule, subject) = (name(identity.0), name(identity.1), name(found.subject));
            Open {
                exception: Exception {
                    number: number(&[&source, &rule, &subject, &bundle.bundle_id]),
                    control: name(found.control),
                    source,
                    rule,
                    subject,
                    reason: name(found.reason),
                    began: match last_pass {
                        Some(_) => Began::Regression,
                        None if *is_first => Began::Start,
                        None => Began::FirstSight,
                    },
                    last_pass: last_pass.map(instant),
                    first_fail: instant(now),
                    last_fail: instant(now),
                    first_pass: None,
                    ended: Ended::Open,
                    bundles: 0,
                    unseen: 0,
                    waivers: Vec::new(),
                    seconds: [last_pass, Some(now), Some(now), None],
                },
                is_unseen: false,
                units: (*unit, *unit, 1),
            }
        });
        open.is_unseen = false;
        let (first, last, failing) = open.units;
        let failing = failing.saturating_add(usize::from(last != *unit));
        open.units = (first, *unit, failing);
        let exception = &mut open.exception;
        exception.subject = name(found.subject);
        exception.last_fail = instant(now);
        exception.bundles = exception.bundles.saturating_add(1);
        exception.unseen = unit.saturating_sub(first).saturating_add(1).saturating_sub(failing);
        let [last_pass, first_fail, ..] = exception.seconds;
        exception.seconds = [last_pass, first_fail, Some(now), None];
        let check = (identity.0, identity.1, found.subject);
        waived.add_to(exception, series, bundle, check, &self.approvals);
    }

    fn unseen(&mut self, identity: Identity) {
        if let Some(open) = self.open.get_mut(&identity) {
            open.is_unseen = true;
        }
    }

    fn end(&mut self, identity: Identity, ended: Ended, first_pass: Option<i64>) {
        if let Some(Open { mut exception, .. }) = self.open.remove(&identity) {
            exception.ended = ended;
            exception.first_pass = first_pass.map(instant);
            let [last_pass, first_fail, last_fail, _] = exception.seconds;
            exception.seconds = [last_pass, first_fail, last_fail, first_pass];
            self.ended.push(exception);
        }
    }

    /// All failures, by their beginning.
    pub(super) fn finish(self) -> Vec<Exception> {
        let open = self.open.into_values().map(|Open { mut exception, is_unseen, .. }| {
            if is_unseen {
                exception.ended = Ended::OutOfSight;
            }
            exception
        });
        let mut all: Vec<Exception> = self.ended.into_iter().chain(open).collect();
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        all
    }
}

fn order(exception: &Exception) -> (Option<i64>, [&str; 4]) {
    let Exception { control, source, rule, subject, seconds: [_, first_fail, ..], .. } = exception;
    (*first_fail, [control, source, rule, subject])
}

/// The beginning of the SHA-256 of these texts with `|` between them.
fn number(parts: &[&str]) -> String {
    let digest = hex::encode(Sha256::digest(parts.join("|")));
    digest.get(..DIGITS).unwrap_or_default().to_owned()
}

impl Exception {
    /// How long it failed, in seconds: at least, and at most if both ends are known.
    pub fn duration(&self) -> (i64, Option<i64>) {
        let [last_pass, first_fail, last_fail, first_pass] = self.seconds;
        let span = |from: Option<i64>, to: Option<i64>| Some(to?.saturating_sub(from?));
        (span(first_fail, last_fail).unwrap_or_default(), span(last_pass, first_pass))
    }

    /// How long it failed, in words.
    pub fn duration_words(&self) -> String {
        match self.duration() {
            (least, Some(most)) => format!("between {} and {}", span(least), span(most)),
            (0, None) => "seen once".to_owned(),
            (least, None) => format!("at least {}", span(least)),
        }
    }
}

/// A length of time in words: whole days, hours or minutes.
pub fn span(seconds: i64) -> String {
    let (count, noun) = match seconds {
        172_800.. => (seconds / 86_400, "day"),
        7_200.. => (seconds / 3_600, "hour"),
        _ => (seconds.max(0) / 60, "minute"),
    };
    crate::words::counted(u64::try_from(count).unwrap_or_default(), noun)
}
