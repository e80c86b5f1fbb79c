//! Judges the cloud provider's observations again.

use std::sync::Arc;

use super::facts::Artifact;
use super::group::{Judged, Row};
use crate::age::read_judged_at;
use crate::cloud::artifact::{
    AUDIT_TRAILS, DATABASES, DETECTORS, DISK_ENCRYPTION, EVENT_SELECTORS, OPEN_PORTS, PASSWORD_POLICY,
    REGIONAL, TRAIL_STATUS,
};
use crate::cloud::credentials::Credentials;
use crate::cloud::password::{KnownPolicy, PasswordFacts};
use crate::cloud::record::{AuditTrailsRecord, RegionLogGroups, Trail};
use crate::cloud::regional::Regions;
use crate::cloud::trail::integrity::Integrity;
use crate::cloud::trail::{AuditTrail, Criterion, TrailFacts, delivery, selection};
use crate::cloud::{
    OF_CREDENTIALS, OF_DATABASES, OF_DETECTORS, OF_DISK_ENCRYPTION, OF_LOG_GROUPS, OF_OPEN_PORTS,
    OF_PASSWORDS, OF_PUBLIC_ACCESS, OF_ROOT_ACCOUNT, OF_TRAILS,
};
use crate::inspection::{Judgement, Shown};
use crate::rule::{self, Judge, Reason, Settings, reason};

/// What follows from the rows of one group; `None` if a row that must be there is not.
pub(super) fn judged(rows: &[Row], settings: &Settings) -> Option<Judged> {
    let first = rows.first()?;
    let judgements = match &first.artifact {
        Some(Artifact::LogGroups(record)) => {
            let of_region = |region: &RegionLogGroups| {
                let subject = format!("{}/{}", first.subject, region.region).into();
                about(subject, OF_LOG_GROUPS, region, settings)
            };
            record.regions_read.iter().flat_map(of_region).collect()
        }
        Some(Artifact::RootAccount(record)) => first.judged_by(OF_ROOT_ACCOUNT, &**record, settings),
        Some(Artifact::CredentialReport(report)) => {
            let at = read_judged_at(&first.facts)?;
            let credentials = Credentials { report: (**report).clone(), at };
            first.judged_by(OF_CREDENTIALS, &credentials, settings)
        }
        Some(Artifact::PublicAccess(record)) => first.judged_by(OF_PUBLIC_ACCESS, &**record, settings),
        _ if REGIONAL.iter().any(|kind| *first.kind == **kind) && !is_unopened(first) => {
            let (account, _) = first.subject.split_once('/')?;
            of_regions(account.into(), rows, settings)
        }
        _ if *first.kind == PASSWORD_POLICY => first.judged_by(OF_PASSWORDS, &passwords(rows), settings),
        // Of an account that could not be opened nothing was asked, and without a region nothing was read.
        _ if *first.kind == AUDIT_TRAILS && rows.iter().any(|row| gap(row).is_none()) => {
            let (account, _) = first.subject.split_once('/').unwrap_or((&first.subject, ""));
            about(account.into(), OF_TRAILS, &trails(rows)?, settings)
        }
        _ => Vec::new(),
    };
    Some(Judged { judgements, exempt: None })
}

/// Whether the row stands for the trails of an account that could not be opened.
pub(super) fn is_unopened(row: &Row) -> bool {
    !matches!(row.shown(), Shown::Artifact | Shown::Excluded(_)) && !row.subject.contains('/')
}

/// The judgements on what the regions of an account show.
fn of_regions(account: Arc<str>, rows: &[Row], settings: &Settings) -> Vec<Judgement> {
    macro_rules! judged {
        ($($kind:ident, $artifact:ident, $judges:ident;)+) => {
            match rows.first().map(|first| first.kind) {
                $(Some(kind) if *kind == $kind => {
                    let record = |artifact: &Artifact| match artifact {
                        Artifact::$artifact(record) => Some((**record).clone()),
                        _ => None,
                    };
                    about(account, $judges, &regions(rows, record), settings)
                })+
                _ => Vec::new(),
            }
        };
    }
    judged! {
        DISK_ENCRYPTION, DiskEncryption, OF_DISK_ENCRYPTION;
        OPEN_PORTS, OpenPorts, OF_OPEN_PORTS;
        DATABASES, Databases, OF_DATABASES;
        DETECTORS, Detectors, OF_DETECTORS;
    }
}

/// What each region shows, or why it was not read.
fn regions<R>(rows: &[Row], record: impl Fn(&Artifact) -> Option<R>) -> Regions<R> {
    let of = |row: &Row| {
        let (_, region) = row.subject.split_once('/').unwrap_or_default();
        let read = row.artifact.as_ref().and_then(&record);
        (region.to_string(), read.ok_or_else(|| gap(row).unwrap_or(&reason::NO_EVIDENCE)))
    };
    Regions(rows.iter().map(of).collect())
}

/// The judgements of rules over the same facts on a subject.
fn about<F>(
    subject: Arc<str>,
    judges: &'static [&'static Judge<F>],
    facts: &F,
    settings: &Settings,
) -> Vec<Judgement> {
    let judged = rule::judged(judges, facts, settings);
    judged.map(|(rule, verdict)| Judgement { rule, subject: Arc::clone(&subject), verdict }).collect()
}

fn passwords(rows: &[Row]) -> PasswordFacts {
    let policy = rows.first().map(|first| match &first.artifact {
        Some(Artifact::PasswordPolicy(record)) => KnownPolicy::Set(record.policy.clone()),
        _ => KnownPolicy::not_shown(first.shown()),
    });
    let users = rows.iter().find_map(|row| match &row.artifact {
        Some(Artifact::AccountSummary(summary)) => Some(summary.users),
        _ => None,
    });
    PasswordFacts { policy: policy.unwrap_or(KnownPolicy::not_shown(Shown::Artifact)), users }
}

/// The reason of a row without an artifact.
fn gap(row: &Row) -> Option<&'static Reason> {
    match row.shown() {
        Shown::Nothing(reason, _) | Shown::Denied(reason, _) | Shown::Failed(reason, _) => Some(reason),
        Shown::Artifact | Shown::Excluded(_) => None,
    }
}

fn trails(rows: &[Row]) -> Option<AuditTrail> {
    let mut facts = AuditTrail::default();
    let first = rows.first()?;
    let record = match &first.artifact {
        Some(Artifact::AuditTrails(record)) => record,
        // The artifact was excluded, and with it every judgement on it.
        _ if matches!(first.shown(), Shown::Excluded(_)) => return Some(facts),
        _ => return None,
    };
    for not_read in &record.regions_not_read {
        let reason = crate::reason_of(&not_read.reason)?;
        facts.unread.push((format!("the trails of {}", not_read.region), reason));
    }
    if record.regions_not_read.is_empty() {
        let is_found = |entry: &&String| record.trail_list.iter().any(|trail| trail.is_meant_by(entry));
        for entry in record.scope.iter().filter(|entry| !is_found(entry)) {
            facts.unread.push((format!("the trail {entry}"), &reason::NOT_FOUND));
        }
    }
    let mut rows = rows.iter().skip_while(|row| *row.kind == AUDIT_TRAILS);
    for trail in &record.trail_list {
        facts.trails.push(of_trail(trail, &mut rows)?);
    }
    let mut looked_at = 0;
    while let Some((index, of_trail)) =
        facts.trails.iter_mut().enumerate().skip(looked_at).find(|(_, trail)| trail.is_good())
    {
        looked_at = index + 1;
        elsewhere(record, record.trail_list.get(index)?, &mut rows, of_trail)?;
        if of_trail.is_good() {
            break;
        }
    }
    rows.next().is_none().then_some(facts)
}

/// The facts about one trail, from its status and its event selectors.
fn of_trail<'a>(trail: &Trail, rows: &mut impl Iterator<Item = &'a Row>) -> Option<TrailFacts> {
    let mut facts = TrailFacts {
        name: trail.name().to_string(),
        logs: Criterion::Met(String::new()),
        covers_all_regions: Criterion::all_regions(&trail.is_multi_region_trail),
        delivers: Criterion::Met(String::new()),
        records: Criterion::Met(String::new()),
        integrity: Integrity::of(trail),
    };
    let status =
        rows.next().filter(|row| *row.kind == TRAIL_STATUS && !row.facts.contains_key(delivery::REGION))?;
    if let Some(Artifact::TrailStatus(record)) = &status.artifact {
        facts.logs = Criterion::logging(record);
        facts.delivers = delivery::of(record, delivery::read_judged_at(&status.facts)?);
    } else if let Some(reason) = gap(status) {
        facts.logs = Criterion::Open(reason, "status not read".to_string());
        facts.delivers = facts.logs.clone();
    }
    if trail.needs_selectors() {
        let selectors = rows.next().filter(|row| *row.kind == EVENT_SELECTORS)?;
        if let Some(Artifact::EventSelectors(record)) = &selectors.artifact {
            facts.records = selection::of(record);
        } else if let Some(reason) = gap(selectors) {
            facts.records = Criterion::Open(reason, "event selectors not read".to_string());
        }
    }
    Some(facts)
}

/// Adds what the other regions say of a trail that would pass: each of them must have a row.
fn elsewhere<'a>(
    record: &AuditTrailsRecord,
    trail: &Trail,
    rows: &mut impl Iterator<Item = &'a Row>,
    facts: &mut TrailFacts,
) -> Option<()> {
    let all = record.regions_read.iter().chain(record.regions_not_read.iter().map(|region| &region.region));
    let mut left: Vec<&str> =
        all.map(String::as_str).filter(|region| Some(*region) != trail.home()).collect();
    let (mut failed, mut open) = (None, None);
    while !left.is_empty() {
        let row = rows.next().filter(|row| *row.kind == TRAIL_STATUS)?;
        let region = row.facts.get(delivery::REGION)?.as_str()?;
        left.remove(left.iter().position(|other| *other == region)?);
        if let Some(Artifact::TrailStatus(status)) = &row.artifact {
            failed = failed.or_else(|| delivery::elsewhere(status, region));
        } else if let Some(reason) = gap(row) {
            open = open.or(Some(Criterion::Open(reason, format!("status in {region} not read"))));
        }
    }
    if let Some(delivers) = failed.or(open) {
        facts.delivers = delivers;
    }
    Some(())
}
