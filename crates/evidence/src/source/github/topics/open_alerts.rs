//! The open vulnerability alerts of the organization, without what they are about.

use std::collections::BTreeMap;

use evidence_http::{Call, Meta, recorded};
use evidence_text::saturating_u64;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::json::Object;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::github::host::api::{Api, JSON, MIB};
use crate::source::github::host::{Host, refusal};
use crate::source::github::names::NAME;
use crate::source::github::topic::{Inspect, Requests, Topic};
use evidence_rules::codehost::artifact::OPEN_ALERTS;
use evidence_rules::codehost::security::{OpenAlert, OpenAlerts, RepositoryAlert};

/// The open alerts. They are judged with the security settings of each repository.
pub(crate) static TOPIC: Topic = Topic {
    name: "open alerts",
    kind: &OPEN_ALERTS,
    asks_for_its_artifact: true,
    requests: |host| {
        let known = host.shared.alert_requests().unwrap_or(1);
        Requests { least: known, most: known, usual: [0; 3], in_bulk: None }
    },
    kept_as: || [None, None],
    inspect: Inspect::Organization { by: inspect, warned: false },
};

/// The most pages: 100,000 alerts.
const MOST_PAGES: u64 = 1_000;

/// A page of the open alerts.
pub(crate) static ALERTS: Call<Vec<Alert>> = Call {
    name: "/orgs/{org}/dependabot/alerts?state=open&severity={severity}&sort=created&direction=asc&per_page=100",
    purpose: "`vulnerabilities-in-time`",
    times: "once per 100 open alerts of high and critical severity; with `framework: tsc_2017`",
    kind: None,
    media_type: JSON,
    limit: 16 * MIB,
    parse: |bytes| Ok(Object::all(serde_json::from_slice(bytes)?)),
    subject: None,
    keep: None,
};

/// An alert, without the advisory, the package and the file.
#[derive(Deserialize)]
pub(crate) struct Alert {
    number: u64,
    created_at: String,
    security_vulnerability: Object<Vulnerability>,
    repository: Object<Place>,
}

#[derive(Deserialize)]
struct Vulnerability {
    severity: String,
}

#[derive(Deserialize)]
struct Place {
    full_name: String,
}

fn inspect(host: &Host) -> BoxFuture<'_, Inspection> {
    observe(host).boxed()
}

async fn observe(host: &Host) -> Inspection {
    let (found, requests) = recorded(read(&host.api())).await;
    let seen = match found {
        Ok((alerts, meta)) => {
            let mut of: BTreeMap<String, Vec<OpenAlert>> = BTreeMap::new();
            for RepositoryAlert { repository, alert } in &alerts {
                of.entry(repository.to_ascii_lowercase()).or_default().push(alert.clone());
            }
            host.shared.alerts(of, saturating_u64(requests.len()));
            Seen::artifact(NAME, "open_alerts.json", &OpenAlerts { alerts }, None, &meta)
        }
        Err(seen) => seen,
    };
    Observation { requests, ..Observation::new(NAME, &OPEN_ALERTS, host.config.org.as_str(), seen) }.into()
}

/// Reads the alerts, by repository and number.
async fn read(api: &Api<'_>) -> Result<(Vec<RepositoryAlert>, Meta), Seen> {
    let parameters = [("org", api.organization), ("severity", "critical,high")];
    let found = api.linked_pages(&ALERTS, &parameters, MOST_PAGES, |_| true).await;
    let (alerts, meta) = found.map_err(|problem| refusal::unread_of_organization("open alerts", problem))?;
    let mut alerts: Vec<RepositoryAlert> = alerts.into_iter().map(Alert::kept).collect();
    let key = |found: &RepositoryAlert| (found.repository.clone(), found.alert.number);
    alerts.sort_by_key(key);
    alerts.dedup_by_key(|found| key(found));
    Ok((alerts, meta))
}

impl Alert {
    fn kept(self) -> RepositoryAlert {
        let Object(Vulnerability { severity }) = self.security_vulnerability;
        let Object(Place { full_name: repository }) = self.repository;
        RepositoryAlert {
            repository,
            alert: OpenAlert { number: self.number, severity, created_at: self.created_at },
        }
    }
}
