//! Each answer by itself, without a host: what it comes to is what the collection makes of it.
//!
//! Nothing here decides; the reading is in `wire`, the meaning in the rules.

use serde::Serialize;

use super::NAME;
use super::artifact::{AUDIT_TRAILS, LOG_GROUPS, PASSWORD_POLICY, TRAIL_STATUS};
use super::collect::logging;
use super::endpoint::Region;
use super::found::observation;
use super::record::{AuditTrailsRecord, LogGroupsRecord, PasswordPolicyRecord, RegionLogGroups};
use super::rules::password;
use super::rules::retention::Retention;
use super::rules::trail::{AuditTrail, TrailFacts};
use super::trails;
use super::wire::{self, Caller, LogGroupPage};
use crate::http::{Meta, ParseError};
use crate::observation::{ArtifactKind, Inspection, Seen};
use crate::rule::Verdict;
use crate::source::{Answer, Found};

/// An account and a region that the answers are about.
const ACCOUNT: &str = "111122223333";
const REGION: &str = "eu-central-1";

pub(super) static ANSWERS: &[Answer] = &[
    Answer { call: "GetCallerIdentity", read: caller },
    Answer { call: "AssumeRole", read: role },
    Answer { call: "GetAccountPasswordPolicy", read: policy },
    Answer { call: "DescribeTrails", read: trails },
    Answer { call: "GetTrailStatus", read: status },
    Answer { call: "DescribeLogGroups", read: groups },
];

fn caller(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    Caller::parse(bytes).map(|_| Vec::new())
}

fn role(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    wire::assumed_role(bytes).map(|_| Vec::new())
}

fn policy(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let record = PasswordPolicyRecord { policy: wire::password_policy(bytes)? };
    let verdict = password::judge(&record.policy);
    Ok(inspected(&PASSWORD_POLICY, "password_policy.json", &record, verdict))
}

/// The trails of a region, whose status nobody has asked for.
fn trails(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let trails = wire::trails(bytes)?;
    let Some(region) = Region::new(REGION) else { return Ok(Vec::new()) };
    let known = trails::merge([(&region, trails.as_slice())]);
    let record = AuditTrailsRecord {
        trail_list: known.iter().map(|known| known.trail.clone()).collect(),
        scope: Vec::new(),
        regions_read: vec![region.to_string()],
        regions_not_read: Vec::new(),
    };
    let mut facts = AuditTrail::default();
    for known in &known {
        facts.trails.push(TrailFacts {
            name: known.name().to_string(),
            multi_region: known.trail.is_multi_region_trail.value().copied(),
            logging: logging(&Default::default()),
            delivery_error: None,
        });
    }
    Ok(inspected(&AUDIT_TRAILS, "audit_trails.json", &record, facts.judge()))
}

fn status(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let status = wire::trail_status(bytes)?;
    let facts = TrailFacts {
        name: "audit".to_string(),
        multi_region: Some(true),
        logging: logging(&status),
        delivery_error: status.latest_delivery_error.value().cloned(),
    };
    let facts = AuditTrail { trails: vec![facts], unread: Vec::new() };
    Ok(inspected(&TRAIL_STATUS, "trail_audit_status.json", &status, facts.judge()))
}

fn groups(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let log_groups = LogGroupPage::parse(bytes)?.groups;
    let facts = Retention::of(&log_groups);
    let record = LogGroupsRecord {
        scope: Vec::new(),
        regions_read: vec![RegionLogGroups { region: REGION.to_string(), log_groups }],
        regions_not_read: Vec::new(),
    };
    Ok(inspected(&LOG_GROUPS, "log_groups.json", &record, facts.judge()))
}

/// An artifact, and what it shows.
fn inspected(
    kind: &'static ArtifactKind,
    filename: &str,
    record: &impl Serialize,
    verdict: Verdict,
) -> Vec<Found> {
    let seen = Seen::artifact(NAME, filename, record, None, &Meta::default());
    let inspection = Inspection::from(observation(kind, ACCOUNT, seen));
    let inspection = kind
        .rules
        .iter()
        .fold(inspection, |inspection, rule| inspection.judged(rule, ACCOUNT, verdict.clone()));
    vec![Found::Inspected(inspection)]
}
