//! The account while it is served: from a request to an answer, and the headers that every answer has.

use super::caller::{self, Caller};
use super::endpoints;
use super::refusal::Refusal;
use super::session::Sessions;
use super::wire::{Ask, Service};
use super::{
    Cloud, audit_endpoints, buckets_endpoints, logs_endpoints, metadata, organization_endpoints,
    resources_endpoints, users_endpoints,
};
use crate::clock::{Clock, http_date};
use crate::server::{Action, Answer, Backend, Call, Held, Identity, Settings, State, uuid};
use crate::throttle::Throttles;
use hyper::header::{self, HeaderName};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The backend. No `Debug`: it holds secrets.
pub(super) struct Live {
    held: Held<Cloud>,
    pub(super) sessions: Sessions,
    throttles: Throttles,
    /// How often each account's credential report was asked for.
    reports: Mutex<BTreeMap<String, u32>>,
}

/// The action that is not signed.
const BY_TOKEN: &str = "sts:AssumeRoleWithWebIdentity";

impl Live {
    pub(super) fn new(cloud: Cloud, clock: Clock) -> Self {
        Self {
            held: Held::new(cloud, clock),
            sessions: Sessions::default(),
            throttles: Throttles::default(),
            reports: Mutex::default(),
        }
    }

    fn reply(&self, cloud: &Cloud, call: &Call, ask: &Ask) -> Result<String, Refusal> {
        if call.body_too_large {
            return Err(Refusal::own(413, "RequestEntityTooLarge", "Request entity too large"));
        }
        if ask.action() == BY_TOKEN {
            let id = &uuid(&call.request_id);
            return endpoints::assume_by_token(cloud, &self.sessions, call, ask, id);
        }
        let caller = caller::authenticate(cloud, &self.sessions, call, ask)?;
        let action = ask.action();
        let names = [action.clone(), format!("{action}@{}", ask.region)];
        if self.throttles.refuses(&cloud.throttles, &names.each_ref().map(String::as_str)).is_some() {
            return Err(Refusal::throttled(ask.service));
        }
        let get_or_post = match call.method.as_str() {
            "POST" => !ask.service.rest(),
            "GET" => ask.service.rest() || !ask.service.json(),
            _ => false,
        };
        if !get_or_post || !known(ask) {
            return Err(Refusal::unknown_operation(ask.service, &ask.operation));
        }
        let own = cloud.named(&caller.account).unwrap_or(cloud);
        caller::authorize(own, &caller, ask)?;
        if ask.action() == "sts:AssumeRole" {
            let id = &uuid(&call.request_id);
            return endpoints::assume_role(cloud, &self.sessions, &caller, call, ask, id);
        }
        if ask.service == Service::Organizations && cloud.is_managed(own) {
            return Err(Refusal::denied(ask.service, ""));
        }
        if let (Service::Iam, operation @ ("GenerateCredentialReport" | "GetCredentialReport")) =
            (ask.service, ask.operation.as_str())
        {
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            let asked = reports.entry(own.account.clone()).or_default();
            let id = &uuid(&call.request_id);
            if operation == "GenerateCredentialReport" {
                *asked += 1;
                return Ok(users_endpoints::generate(*asked, own, id));
            }
            return users_endpoints::report(*asked, own, call.now.as_second(), id);
        }
        endpoint(own, &caller, call, ask)
    }
}

/// Answers for the caller's own account.
fn endpoint(cloud: &Cloud, caller: &Caller, call: &Call, ask: &Ask) -> Result<String, Refusal> {
    let (id, region) = (&uuid(&call.request_id), ask.region.as_str());
    match (ask.service, ask.operation.as_str()) {
        (Service::Sts, _) => Ok(endpoints::caller_identity(cloud, caller, id)),
        (Service::Iam, "GetAccountSummary") => Ok(endpoints::account_summary(cloud, id)),
        (Service::Iam, _) => endpoints::password_policy(cloud, id),
        (Service::Trail, "DescribeTrails") => {
            audit_endpoints::describe_trails(cloud, region, &parameters(call)?)
        }
        (Service::Trail, "GetEventSelectors") => {
            audit_endpoints::event_selectors(cloud, region, &parameters(call)?)
        }
        (Service::Trail, _) => audit_endpoints::trail_status(cloud, region, &parameters(call)?, call.now),
        (Service::Ec2, "GetEbsEncryptionByDefault") => Ok(endpoints::disk_encryption(cloud, region, id)),
        (Service::Ec2, "DescribeSecurityGroups") => resources_endpoints::security_groups(cloud, ask, id),
        (Service::Ec2, _) => Ok(endpoints::regions(cloud, id)),
        (Service::Rds, _) => resources_endpoints::databases(cloud, ask, id),
        (Service::GuardDuty, _) => resources_endpoints::detectors(cloud, ask),
        (Service::S3, _) => buckets_endpoints::answer(cloud, ask, call.header("x-amz-account-id")),
        (Service::Logs, _) => logs_endpoints::describe_log_groups(cloud, region, &parameters(call)?),
        (Service::Organizations, _) => organization_endpoints::list_accounts(cloud, &parameters(call)?),
    }
}

fn known(ask: &Ask) -> bool {
    matches!(
        (ask.service, ask.operation.as_str()),
        (Service::Sts, "GetCallerIdentity" | "AssumeRole")
            | (
                Service::Iam,
                "GetAccountPasswordPolicy"
                    | "GetAccountSummary"
                    | "GenerateCredentialReport"
                    | "GetCredentialReport"
            )
            | (Service::Trail, "DescribeTrails" | "GetTrailStatus" | "GetEventSelectors")
            | (Service::Logs, "DescribeLogGroups")
            | (Service::Ec2, "DescribeRegions" | "GetEbsEncryptionByDefault" | "DescribeSecurityGroups")
            | (Service::Rds, "DescribeDBInstances" | "DescribeDBClusters")
            | (Service::GuardDuty, "ListDetectors" | "GetDetector")
            | (
                Service::S3,
                "GetAccountPublicAccessBlock"
                    | "ListAllMyBuckets"
                    | "GetBucketPublicAccessBlock"
                    | "GetBucketPolicyStatus"
                    | "GetBucketAcl"
            )
            | (Service::Organizations, "ListAccounts")
    )
}

/// The parameters of a JSON service. An empty body is an empty object.
fn parameters(call: &Call) -> Result<Value, Refusal> {
    if call.body.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_slice(&call.body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => Err(Refusal::own(400, "SerializationException", "")),
    }
}

fn content_type(service: Service) -> &'static str {
    match service {
        Service::GuardDuty => "application/json",
        Service::S3 => "application/xml",
        _ if service.json() => "application/x-amz-json-1.1",
        _ => "text/xml",
    }
}

impl Backend for Live {
    fn identify(&self, call: &Call) -> Identity {
        caller::identify(&self.held.now(), &self.sessions, call)
    }

    fn answer(&self, call: &Call) -> Answer {
        let ask = Ask::of(call);
        let cloud = self.held.now();
        if metadata::is_path(&call.path) {
            return metadata::answer(&cloud, &self.sessions, call);
        }
        let (status, body, region) = match self.reply(&cloud, call, &ask) {
            Ok(body) => (200, body, None),
            Err(refusal) => {
                (refusal.status, refusal.body(ask.service, &uuid(&call.request_id)), refusal.region)
            }
        };
        let mut answer = Answer::new(status, body);
        if let Some(region) = region.filter(|_| status == 301) {
            answer.set(HeaderName::from_static("x-amz-bucket-region"), &region);
        }
        answer.set_static(header::CONTENT_TYPE, content_type(ask.service));
        self.dress(call, &mut answer);
        answer
    }

    fn dress(&self, call: &Call, answer: &mut Answer) {
        answer.set(HeaderName::from_static("x-amzn-requestid"), &uuid(&call.request_id));
        answer.set(header::DATE, &http_date(call.now));
    }

    fn is_violation(&self, call: &Call) -> bool {
        if metadata::is_path(&call.path) {
            return !metadata::is_read(call);
        }
        let ask = Ask::of(call);
        let reads = ["Get", "Describe", "List"].iter().any(|start| ask.operation.starts_with(start));
        // The credential report is made on request, which changes nothing.
        let reads = reads || ask.action() == "iam:GenerateCredentialReport";
        !(reads || ["sts:AssumeRole", BY_TOKEN].contains(&ask.action().as_str()))
            || !matches!(call.method.as_str(), "GET" | "POST")
    }

    fn action(&self, call: &Call) -> Option<Action> {
        (!metadata::is_path(&call.path)).then(|| Ask::of(call).for_engine())
    }

    fn failure(&self, call: &Call, status: u16) -> (&'static str, String) {
        let service = Ask::of(call).service;
        let refusal = Refusal::failure(service, status);
        (content_type(service), refusal.body(service, &uuid(&call.request_id)))
    }

    fn page(&self, status: u16) -> String {
        let reason = hyper::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let title = format!("{status} {}", reason.unwrap_or_default());
        format!(
            "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n"
        )
    }
}

impl State<Cloud> for Live {
    fn change(&self, change: Box<dyn FnOnce(&mut Cloud) + '_>) -> Settings {
        self.held.change(change)
    }

    fn current(&self) -> Cloud {
        Cloud::clone(&self.held.now())
    }
}
