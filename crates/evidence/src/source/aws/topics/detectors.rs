//! The detectors of threats in each region.

use futures_util::FutureExt as _;
use serde::Deserialize;

use super::regional::Regional;
use crate::json::object;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult, Unread, host_error};
use crate::source::aws::topic::Topic;
use crate::source::{CollectionItem, Source as _};
use evidence_http::{Call, ParseError};
use evidence_rules::cloud::OF_DETECTORS;
use evidence_rules::cloud::artifact::DETECTORS;
use evidence_rules::cloud::threat_detection::{Detector, Detectors};
use evidence_rules::field::Field;

/// The maximum number of pages of a region, which has one detector.
const MAXIMUM_PAGES: usize = 10;

/// The detectors.
pub(crate) static TOPIC: Topic = Topic {
    name: REGIONS.name,
    kind: Some(&DETECTORS),
    required: |config| config.collects(&DETECTORS),
    counted: None,
    open: |account| REGIONS.open(account).boxed(),
};

static REGIONS: Regional<Detectors> = Regional {
    kind: &DETECTORS,
    name: "detectors",
    lost: "whether this region is watched for threats is not known",
    judges: OF_DETECTORS,
    permissions: &[LIST_DETECTORS.call.name, GET_DETECTOR.call.name],
    read: |account, region| read(account, region).boxed(),
};

pub(crate) static LIST_DETECTORS: Action<DetectorPage> = Action {
    service: Service::GuardDuty,
    call: Call {
        name: "guardduty:ListDetectors",
        purpose: "`threat-detection`",
        times: "once per region",
        kind: Some("ListDetectors"),
        media_type: Protocol::REST_JSON,
        limit: SMALL_LIMIT,
        parse: page,
        subject: None,
        keep: None,
    },
};

pub(crate) static GET_DETECTOR: Action<DetectorStatus> = Action {
    service: Service::GuardDuty,
    call: Call {
        name: "guardduty:GetDetector",
        purpose: "`threat-detection`",
        times: "once per detector, of which a region has at most one",
        kind: Some("GetDetector"),
        media_type: Protocol::REST_JSON,
        // With tags and the settings of every plan.
        limit: MIB,
        parse: status,
        subject: None,
        keep: None,
    },
};

/// A page of `ListDetectors`
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DetectorPage {
    #[serde(rename = "detectorIds")]
    ids: Vec<String>,
    #[serde(rename = "nextToken", default)]
    next: Option<String>,
}

/// `GetDetector`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DetectorStatus {
    status: Field<String>,
}

/// `ListDetectors`
pub(super) fn page(bytes: &[u8]) -> Result<DetectorPage, ParseError> {
    let page: DetectorPage = object(bytes)?;
    // The id becomes part of an address.
    let is_id = |id: &String| {
        (1..=300).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match page.ids.iter().all(is_id) {
        true => Ok(page),
        false => Err(ParseError::Shape("an id of a detector with other characters".to_string())),
    }
}

/// `GetDetector`
pub(super) fn status(bytes: &[u8]) -> Result<DetectorStatus, ParseError> {
    object(bytes)
}

async fn read(account: &Account, region: &Region) -> ReadResult<Detectors> {
    let (host, about) = (account.host(&LIST_DETECTORS, region)?, region.as_str());
    let mut detectors = Vec::new();
    let mut token = String::new();
    for _ in 0..MAXIMUM_PAGES {
        let query: Vec<_> = (!token.is_empty()).then(|| ("nextToken", token.clone())).into_iter().collect();
        let answer = host.ask_at(&LIST_DETECTORS, &["detector"], &query, about).await;
        let (page, mut meta) = refusal::of(&LIST_DETECTORS, Some(region), answer)?;
        for id in page.ids {
            let answer = host.ask_at(&GET_DETECTOR, &["detector", &id], &[], about).await;
            let (detector, received) = refusal::of(&GET_DETECTOR, Some(region), answer)?;
            detectors.push(Detector { detector_id: id, status: detector.status });
            meta = received;
        }
        match page.next.unwrap_or_default() {
            next if next.is_empty() => return Ok((Detectors { detectors }, meta)),
            next if next == token => break,
            next => token = next,
        }
    }
    let text = format!("{} in {region}: the list does not end", LIST_DETECTORS.permission());
    Err(Unread::Failed(host_error(text)))
}

/// What a list means without the detectors.
pub(super) fn page_offline(page: DetectorPage) -> Vec<CollectionItem> {
    let detector = |id: String| Detector { detector_id: id, status: Field::Absent };
    REGIONS.offline(Detectors { detectors: page.ids.into_iter().map(detector).collect() })
}

/// What a detector means on its own.
pub(super) fn status_offline(detector: DetectorStatus) -> Vec<CollectionItem> {
    let detector = Detector { detector_id: "1".to_string(), status: detector.status };
    REGIONS.offline(Detectors { detectors: vec![detector] })
}
