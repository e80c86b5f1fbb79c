//! The provider's calls, one row each. A row defines the form of the request, the limit and the parser of the answer,
//! and the entry in the documents. Every call only reads; POST is used because the provider's protocols put the
//! parameters into the body.

use serde::Serialize;

use super::config::NAME;
use super::endpoint::{Protocol, Region, Service};
use super::found::observation;
use super::subject;
use super::trails;
use super::wire::{self, Caller, LogGroupPage, RoleLogin};
use crate::observation::{ArtifactKind, Inspection, Seen};
use crate::source::CollectionItem;
use crate::source::endpoint::{Endpoint, endpoint};
use evidence_http::{Call, Meta};
use evidence_rules::cloud::artifact::{
    ACCOUNT_SUMMARY, AUDIT_TRAILS, EVENT_SELECTORS, LOG_GROUPS, PASSWORD_POLICY, TRAIL_STATUS,
};
use evidence_rules::cloud::password;
use evidence_rules::cloud::record::{
    AccountSummary, AuditTrailsRecord, EventSelectors, LogGroupsRecord, PasswordPolicy, PasswordPolicyRecord,
    RegionLogGroups, Trail, TrailStatus,
};
use evidence_rules::cloud::retention::Retention;
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts, delivery, selection};
use evidence_rules::rule::{Verdict, reason};

/// A call and its service.
pub(super) struct Action<T: 'static> {
    pub(super) service: Service,
    /// The call's name is the permission it requires: `iam:GetAccountPasswordPolicy`.
    pub(super) call: Call<T>,
}

impl<T> Action<T> {
    /// The required permission, which is also the name in messages.
    pub(super) fn permission(&self) -> &'static str {
        self.call.name
    }

    /// The service's name for the call.
    pub(super) fn name(&self) -> &'static str {
        self.call.name.split_once(':').map_or(self.call.name, |(_, name)| name)
    }

    /// Whether each region has its own host for the call.
    pub(super) fn is_regional(&self) -> bool {
        matches!(self.service, Service::CloudTrail | Service::Logs)
    }

    /// Whether both are the same call.
    pub(super) fn is<U>(&self, other: &Action<U>) -> bool {
        self.call.name == other.call.name
    }
}

/// Log groups per page: the provider's maximum.
pub(super) const PAGE_SIZE: u64 = 50;

/// The caller's identity, a role's credentials and a password policy are each under 4 kB.
const SMALL_LIMIT: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Every call. The seeds of the fuzzer depend on the order: append new calls.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(ASSUME_ROLE.call, nothing),
    endpoint!(GET_CALLER_IDENTITY.call, nothing),
    endpoint!(GET_ACCOUNT_PASSWORD_POLICY.call, policy_offline),
    endpoint!(DESCRIBE_TRAILS.call, trails_offline),
    endpoint!(DESCRIBE_LOG_GROUPS.call, log_groups_offline),
    endpoint!(GET_TRAIL_STATUS.call, status_offline),
    endpoint!(GET_EVENT_SELECTORS.call, selectors_offline),
    endpoint!(GET_ACCOUNT_SUMMARY.call, summary_offline),
    endpoint!(DESCRIBE_REGIONS.call, nothing),
];

pub(super) static ASSUME_ROLE: Action<RoleLogin> = Action {
    service: Service::Sts,
    call: Call {
        name: "sts:AssumeRole",
        purpose: "temporary credentials of the role",
        times: "once with `mode: assume_role`, and once per entry of `accounts`; again before they expire",
        kind: Some("AssumeRole"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: wire::assumed_role,
        subject: Some(subject::ASSUMED_ROLE),
        keep: None,
    },
};

pub(super) static GET_CALLER_IDENTITY: Action<Caller> = Action {
    service: Service::Sts,
    call: Call {
        name: "sts:GetCallerIdentity",
        purpose: "the connection test: identity and account of the credentials",
        times: "once",
        kind: Some("GetCallerIdentity"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: Caller::parse,
        subject: None,
        keep: None,
    },
};

pub(super) static GET_ACCOUNT_PASSWORD_POLICY: Action<PasswordPolicy> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GetAccountPasswordPolicy",
        purpose: "`password-policy`",
        times: "once per account",
        kind: Some("GetAccountPasswordPolicy"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: wire::password_policy,
        subject: None,
        keep: None,
    },
};

pub(super) static GET_ACCOUNT_SUMMARY: Action<AccountSummary> = Action {
    service: Service::Iam,
    call: Call {
        name: "iam:GetAccountSummary",
        purpose: "`password-policy`: whether the account has users",
        times: "once per account",
        kind: Some("GetAccountSummary"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse: wire::account_summary,
        subject: None,
        keep: None,
    },
};

pub(super) static DESCRIBE_REGIONS: Action<Vec<Region>> = Action {
    service: Service::Ec2,
    call: Call {
        name: "ec2:DescribeRegions",
        purpose: "the scope: which regions of the account are enabled",
        times: "once per account, if regions are read",
        kind: Some("DescribeRegions"),
        media_type: Protocol::FORM,
        // A region takes 200 bytes; there are under 40.
        limit: SMALL_LIMIT,
        parse: wire::regions,
        subject: None,
        keep: None,
    },
};

pub(super) static DESCRIBE_TRAILS: Action<Vec<Trail>> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:DescribeTrails",
        purpose: "`audit-trail`",
        times: "once per region; also lists trails of other regions that cover this one",
        kind: Some("DescribeTrails"),
        media_type: Protocol::JSON,
        // A region shows at most a few dozen trails of about 1 kB, its own and other regions'.
        limit: MIB,
        parse: wire::trails,
        subject: Some(subject::TRAILS),
        keep: None,
    },
};

pub(super) static DESCRIBE_LOG_GROUPS: Action<LogGroupPage> = Action {
    service: Service::Logs,
    call: Call {
        name: "logs:DescribeLogGroups",
        purpose: "`log-retention`",
        times: "once per region and 50 log groups",
        kind: Some("DescribeLogGroups"),
        media_type: Protocol::JSON,
        // A page of 50 log groups, each under 2 kB.
        limit: MIB,
        parse: LogGroupPage::parse,
        subject: Some(subject::LOG_GROUPS),
        keep: None,
    },
};

pub(super) static GET_TRAIL_STATUS: Action<TrailStatus> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:GetTrailStatus",
        purpose: "`audit-trail`",
        times: "once per trail, in its home region, even if that is not configured; for the trail that passes, once in \
                every other configured region",
        kind: Some("GetTrailStatus"),
        media_type: Protocol::JSON,
        limit: SMALL_LIMIT,
        parse: wire::trail_status,
        subject: None,
        keep: None,
    },
};

pub(super) static GET_EVENT_SELECTORS: Action<EventSelectors> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:GetEventSelectors",
        purpose: "`audit-trail`",
        times: "once per trail of all regions with custom event selectors, in its home region",
        kind: Some("GetEventSelectors"),
        media_type: Protocol::JSON,
        // A trail has at most 500 conditions, each an ARN or shorter.
        limit: 2 * MIB,
        parse: wire::event_selectors,
        subject: Some(subject::EVENT_SELECTORS),
        keep: None,
    },
};

/// The account and the region for an answer that is read on its own.
const ACCOUNT: &str = "111122223333";
const REGION: &str = "eu-central-1";

/// An answer without anything to judge.
fn nothing<T>(_: T) -> Vec<CollectionItem> {
    Vec::new()
}

fn policy_offline(policy: PasswordPolicy) -> Vec<CollectionItem> {
    let verdict = password::judge(&policy);
    inspected(&PASSWORD_POLICY, "password_policy.json", &PasswordPolicyRecord { policy }, verdict)
}

/// The summary of an account without a password policy.
fn summary_offline(summary: AccountSummary) -> Vec<CollectionItem> {
    let verdict = match summary.users {
        0 => password::without_users(),
        _ => Verdict::fail(&password::PASSWORD_POLICY_MISSING, "no policy"),
    };
    inspected(&ACCOUNT_SUMMARY, "account_summary.json", &summary, verdict)
}

/// The trails of a region, whose status has not been requested.
fn trails_offline(trails: Vec<Trail>) -> Vec<CollectionItem> {
    let Some(region) = Region::new(REGION) else { return Vec::new() };
    let known = trails::merge([(&region, trails.as_slice())]);
    let record = AuditTrailsRecord {
        trail_list: known.iter().map(|known| known.trail.clone()).collect(),
        scope: Vec::new(),
        regions_read: vec![region.to_string()],
        regions_not_read: Vec::new(),
    };
    let facts = known.iter().map(|known| TrailFacts {
        name: known.name().to_string(),
        covers_all_regions: Criterion::all_regions(&known.trail.is_multi_region_trail),
        logs: Criterion::Open(&reason::NO_EVIDENCE, "status not read".to_string()),
        ..good_trail()
    });
    let facts = AuditTrail { trails: facts.collect(), unread: Vec::new() };
    inspected(&AUDIT_TRAILS, "audit_trails.json", &record, facts.judge())
}

/// The status of an otherwise good trail, as if read at the beginning of 1970.
fn status_offline(status: TrailStatus) -> Vec<CollectionItem> {
    let delivers = delivery::of(&status, Meta::default().received_at);
    let facts = TrailFacts { logs: Criterion::logging(&status), delivers, ..good_trail() };
    let facts = AuditTrail { trails: vec![facts], unread: Vec::new() };
    inspected(&TRAIL_STATUS, "trail_audit_status.json", &status, facts.judge())
}

/// The selectors of an otherwise good trail.
fn selectors_offline(selectors: EventSelectors) -> Vec<CollectionItem> {
    let facts = TrailFacts { records: selection::of(&selectors), ..good_trail() };
    let facts = AuditTrail { trails: vec![facts], unread: Vec::new() };
    inspected(&EVENT_SELECTORS, "trail_audit_event_selectors.json", &selectors, facts.judge())
}

fn good_trail() -> TrailFacts {
    let met = || Criterion::Met(String::new());
    TrailFacts {
        name: "audit".to_string(),
        logs: met(),
        covers_all_regions: met(),
        delivers: met(),
        records: met(),
    }
}

fn log_groups_offline(page: LogGroupPage) -> Vec<CollectionItem> {
    let log_groups = page.groups;
    let facts = Retention::of(&log_groups);
    let record = LogGroupsRecord {
        scope: Vec::new(),
        regions_read: vec![RegionLogGroups { region: REGION.to_string(), log_groups }],
        regions_not_read: Vec::new(),
    };
    inspected(&LOG_GROUPS, "log_groups.json", &record, facts.judge())
}

/// An artifact and its verdict.
fn inspected(
    kind: &'static ArtifactKind,
    filename: &str,
    record: &impl Serialize,
    verdict: Verdict,
) -> Vec<CollectionItem> {
    let seen = Seen::artifact(NAME, filename, record, None, &Meta::default());
    let inspection = Inspection::from(observation(kind, ACCOUNT, seen));
    let rules = kind.rules.iter();
    let judged = rules.fold(inspection, |all, rule| all.judged(rule, ACCOUNT, verdict.clone()));
    vec![CollectionItem::Inspected(judged)]
}
