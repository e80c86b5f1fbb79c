//! The event selectors of a trail: which management events it records.

use super::home::ask;
use super::known::KnownTrail;
use super::verdict::good_trail;
use crate::json::object;
use crate::observation::Observation;
use crate::source::CollectionItem;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB};
use crate::source::aws::host::compare::differs;
use crate::source::aws::host::endpoint::{Protocol, Service};
use crate::source::aws::host::refusal::ReadResult;
use crate::source::aws::observe::{observation, unread_reason};
use crate::source::aws::topics::alone::inspected;
use evidence_http::{Call, ParseError, Subject};
use evidence_rules::cloud::artifact::EVENT_SELECTORS;
use evidence_rules::cloud::record::EventSelectors;
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts, selection};

pub(crate) static GET_EVENT_SELECTORS: Action<EventSelectors> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:GetEventSelectors",
        purpose: "`audit-trail`, `trail-integrity`",
        times: "once per trail of all regions with custom event selectors, in its home region",
        kind: Some("GetEventSelectors"),
        media_type: Protocol::JSON,
        // A trail has at most 500 conditions, each an ARN or shorter.
        limit: 2 * MIB,
        parse: event_selectors,
        subject: Some(Subject {
            // Asked about: the ARN of the trail.
            fields: "`TrailARN`",
            other: |selectors, about| {
                let arn = selectors.trail_arn.value()?;
                differs(arn == about.subject, arn, about.subject)
            },
        }),
        keep: None,
    },
};

/// `GetEventSelectors`
pub(crate) fn event_selectors(bytes: &[u8]) -> Result<EventSelectors, ParseError> {
    let selectors: EventSelectors = object(bytes)?;
    if selectors.event_selectors.is_absent() && selectors.advanced_event_selectors.is_absent() {
        return Err(ParseError::Shape("no event selectors".to_string()));
    }
    Ok(selectors)
}

/// The selectors of a trail.
pub(super) async fn read(account: &Account, known: &KnownTrail) -> ReadResult<EventSelectors> {
    ask(account, &GET_EVENT_SELECTORS, "TrailName", known).await
}

/// The observation of a trail's event selectors, which also fills in `facts`.
pub(super) fn inspect(
    account: &Account,
    known: &KnownTrail,
    stem: &str,
    read: ReadResult<EventSelectors>,
    facts: &mut TrailFacts,
) -> Observation {
    let seen = match read {
        Ok((selectors, meta)) => {
            facts.records = selection::of(&selectors);
            account.artifact(&format!("{stem}_event_selectors.json"), &selectors, &meta)
        }
        Err(unread) => unread.seen(),
    };
    if let Some(reason) = unread_reason(&seen) {
        facts.records = Criterion::Open(reason, "event selectors not read".to_string());
    }
    observation(&EVENT_SELECTORS, &known.subject(), seen)
}

/// The selectors of an otherwise good trail.
pub(crate) fn offline(selectors: EventSelectors) -> Vec<CollectionItem> {
    let facts = TrailFacts { records: selection::of(&selectors), ..good_trail() };
    let facts = AuditTrail { trails: vec![facts], unread: Vec::new() };
    inspected(&EVENT_SELECTORS, "trail_audit_event_selectors.json", &selectors, facts.judge())
}
