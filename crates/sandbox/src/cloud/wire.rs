//! Parses requests into service, operation and parameters, and writes XML like the provider.

use super::signature;
use crate::server::{Action, Call};
use std::collections::HashMap;

/// The services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    Sts,
    Iam,
    Trail,
    Logs,
    Ec2,
    Organizations,
    Rds,
    GuardDuty,
    S3,
}

impl Service {
    const ALL: [Self; 9] = [
        Self::Sts,
        Self::Iam,
        Self::Trail,
        Self::Logs,
        Self::Ec2,
        Self::Organizations,
        Self::Rds,
        Self::GuardDuty,
        Self::S3,
    ];

    /// Its name in actions and in the scope of signatures.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sts => "sts",
            Self::Iam => "iam",
            Self::Trail => "cloudtrail",
            Self::Logs => "logs",
            Self::Ec2 => "ec2",
            Self::Organizations => "organizations",
            Self::Rds => "rds",
            Self::GuardDuty => "guardduty",
            Self::S3 => "s3",
        }
    }

    /// Whether it uses JSON; the others take forms and answer in XML.
    pub(super) fn json(self) -> bool {
        matches!(self, Self::Trail | Self::Logs | Self::Organizations | Self::GuardDuty)
    }

    /// Whether the question is in the address of a GET.
    pub(super) fn rest(self) -> bool {
        matches!(self, Self::GuardDuty | Self::S3)
    }

    /// The version of the interface, which is also part of its XML namespace.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Sts => "2011-06-15",
            Self::Iam => "2010-05-08",
            Self::Trail => "2013-11-01",
            Self::Logs => "2014-03-28",
            Self::Ec2 => "2016-11-15",
            Self::Organizations => "2016-11-28",
            Self::Rds => "2014-10-31",
            Self::GuardDuty => "2017-11-28",
            Self::S3 => "2006-03-01",
        }
    }

    fn target(self) -> Option<&'static str> {
        match self {
            Self::Trail => Some("com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101"),
            Self::Logs => Some("Logs_20140328"),
            Self::Organizations => Some("AWSOrganizationsV20161128"),
            Self::Sts | Self::Iam | Self::Ec2 | Self::Rds | Self::GuardDuty | Self::S3 => None,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }
}

/// The requested operation, without its caller.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) service: Service,
    pub(super) operation: String,
    /// From the scope of the signature; empty without one.
    pub(super) region: String,
    /// The bucket or the detector in the address.
    pub(super) resource: String,
    parameters: HashMap<String, String>,
}

impl Ask {
    pub(super) fn of(call: &Call) -> Self {
        let claim = signature::Claim::of(call).ok().flatten();
        let region = claim.as_ref().map(|claim| claim.region.to_owned()).unwrap_or_default();
        let scope = claim.as_ref().and_then(|claim| Service::named(claim.service));
        if let Some(target) = call.header("x-amz-target") {
            let (prefix, operation) = target.rsplit_once('.').unwrap_or((target, ""));
            let service = Service::ALL.into_iter().find(|service| service.target() == Some(prefix));
            // For an unknown target, the service in the signature answers.
            let operation = if service.is_some() { operation } else { "" };
            let service = service.or(scope).unwrap_or(Service::Logs);
            let (operation, resource, parameters) = (operation.to_owned(), String::new(), HashMap::new());
            return Self { service, operation, region, resource, parameters };
        }
        if let Some(service) = scope.filter(|service| service.rest()) {
            return Self::of_address(service, region, call);
        }
        let text = if call.method == "GET" {
            call.query.clone()
        } else {
            String::from_utf8_lossy(&call.body).into_owned()
        };
        let parameters = crate::form::decode(&text);
        let version = parameters.get("Version").map(String::as_str).unwrap_or_default();
        let service = Service::ALL
            .into_iter()
            .filter(|service| !service.rest())
            .find(|service| !service.json() && service.version() == version);
        let service = service.or(scope).unwrap_or(Service::Sts);
        let operation = parameters.get("Action").cloned().unwrap_or_default();
        Self { service, operation, region, resource: String::new(), parameters }
    }

    /// What a path and a query ask.
    fn of_address(service: Service, region: String, call: &Call) -> Self {
        let parameters = crate::form::decode(&call.query);
        let path: Vec<&str> = call.path.split('/').filter(|part| !part.is_empty()).collect();
        let has = |name: &str| call.query.split('&').any(|pair| pair.split('=').next() == Some(name));
        let (operation, resource) = match (service, path.as_slice()) {
            (Service::GuardDuty, ["detector"]) => ("ListDetectors", ""),
            (Service::GuardDuty, ["detector", id]) => ("GetDetector", *id),
            (Service::S3, ["v20180820", "configuration", "publicAccessBlock"]) => {
                ("GetAccountPublicAccessBlock", "")
            }
            (Service::S3, []) => ("ListAllMyBuckets", ""),
            (Service::S3, [bucket]) if has("publicAccessBlock") => ("GetBucketPublicAccessBlock", *bucket),
            (Service::S3, [bucket]) if has("policyStatus") => ("GetBucketPolicyStatus", *bucket),
            (Service::S3, [bucket]) if has("acl") => ("GetBucketAcl", *bucket),
            _ => ("", ""),
        };
        let (operation, resource) = (operation.to_owned(), resource.to_owned());
        Self { service, operation, region, resource, parameters }
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The action as policies write it.
    pub(super) fn action(&self) -> String {
        format!("{}:{}", self.service.name(), self.operation)
    }

    pub(super) fn for_engine(&self) -> Action {
        Action { name: self.action(), region: self.region.clone() }
    }
}

/// Writes XML with the provider's indentation.
#[derive(Debug, Default)]
pub(super) struct Xml {
    out: String,
    depth: usize,
}

impl Xml {
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
    }

    pub(super) fn open(&mut self, name: &str) {
        self.indent();
        self.out.push_str(&format!("<{name}>\n"));
        self.depth += 1;
    }

    /// The root element, with its namespace.
    pub(super) fn root(&mut self, name: &str, service: Service) {
        let version = service.version();
        let host = service.name();
        // The namespace of this one is older than the others.
        let scheme =
            if matches!(service, Service::Ec2 | Service::Rds | Service::S3) { "http" } else { "https" };
        self.out.push_str(&format!("<{name} xmlns=\"{scheme}://{host}.amazonaws.com/doc/{version}/\">\n"));
        self.depth += 1;
    }

    pub(super) fn close(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.indent();
        self.out.push_str(&format!("</{name}>\n"));
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.indent();
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.out.push_str(&format!("<{name}>{value}</{name}>\n"));
    }

    /// A successful answer around the output of `fill`.
    pub(super) fn answer(
        service: Service,
        operation: &str,
        request_id: &str,
        fill: impl FnOnce(&mut Self),
    ) -> String {
        let mut xml = Self::default();
        let (response, result) = (format!("{operation}Response"), format!("{operation}Result"));
        xml.root(&response, service);
        xml.open(&result);
        fill(&mut xml);
        xml.close(&result);
        xml.open("ResponseMetadata");
        xml.text("RequestId", request_id);
        xml.close("ResponseMetadata");
        xml.close(&response);
        xml.out
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}
