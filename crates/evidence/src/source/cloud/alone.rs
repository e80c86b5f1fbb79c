//! Each answer by itself, without a host: what it comes to is what the collection makes of it.
//!
//! Nothing here decides; the reading is in `wire`, the meaning in the rules.

use evidence_bundle::path::BundlePath;

use super::NAME;
use super::collect::logging;
use super::endpoint::Region;
use super::found::observed;
use super::record::{AuditTrailsRecord, LogGroupsRecord, PasswordPolicyRecord, RegionLogGroups};
use super::rules::retention::Retention;
use super::rules::trail::{AuditTrail, TrailFacts};
use super::rules::{AUDIT_TRAIL, LOG_RETENTION, PASSWORD_POLICY};
use super::trails;
use super::wire::{self, Caller, LogGroupPage};
use crate::http::{Meta, ParseError};
use crate::observation::{Record, Seen};
use crate::rule::{Facts, Rule};
use crate::source::{Answer, Found, Question};

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
    Ok(vec![observed(&PASSWORD_POLICY, ACCOUNT, artifact("password_policy.json", record))])
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
    Ok(together(&AUDIT_TRAIL, artifact("audit_trails.json", record), facts))
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
    Ok(together(&AUDIT_TRAIL, artifact("trail_audit_status.json", status), facts))
}

fn groups(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let log_groups = LogGroupPage::parse(bytes)?.groups;
    let facts = Retention::of(&log_groups);
    let record = LogGroupsRecord {
        scope: Vec::new(),
        regions_read: vec![RegionLogGroups { region: REGION.to_string(), log_groups }],
        regions_not_read: Vec::new(),
    };
    Ok(together(&LOG_RETENTION, artifact("log_groups.json", record), facts))
}

fn artifact(filename: &str, record: impl Record + 'static) -> Seen {
    Seen::artifact(NAME, filename, record, &Meta::default())
}

/// An artifact, and the question about it.
fn together(rule: &'static Rule, seen: Seen, facts: impl Facts + 'static) -> Vec<Found> {
    let evidence: Vec<BundlePath> = seen.path().cloned().into_iter().collect();
    let question = Question { rule, subject: ACCOUNT.into(), facts: Box::new(facts), evidence };
    vec![observed(rule, ACCOUNT, seen), Found::Asked(question)]
}
