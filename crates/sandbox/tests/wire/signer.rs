//! Signed calls of the cloud, with the provider's own signer, and ways to make them invalid.

use crate::client::{Answer, raw_with_body};
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use sandbox::Server;
use sandbox::cloud::Cloud;
use std::time::{Duration, SystemTime};

/// One call.
#[derive(Clone)]
pub(crate) struct Signer<'a> {
    pub(crate) key: &'a str,
    pub(crate) secret: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) region: &'a str,
    pub(crate) shift_seconds: i64,
}

impl Signer<'static> {
    pub(crate) fn reader() -> Self {
        let (key, secret) = (sandbox::DEMO_CLOUD_ACCESS_KEY_ID, sandbox::DEMO_CLOUD_SECRET_ACCESS_KEY);
        Self { key, secret, token: None, region: "eu-west-1", shift_seconds: 0 }
    }
}

impl<'a> Signer<'a> {
    pub(crate) fn region(mut self, region: &'a str) -> Self {
        self.region = region;
        self
    }

    /// The headers of the signed request: the signed ones and those that the signer added.
    pub(crate) fn headers(
        &self,
        server: &Server<Cloud>,
        service: &str,
        own: &[(&str, &str)],
        body: &str,
    ) -> Vec<(String, String)> {
        let identity =
            Credentials::new(self.key, self.secret, self.token.map(str::to_owned), None, "test").into();
        let shift = Duration::from_secs(self.shift_seconds.unsigned_abs());
        let now = SystemTime::now();
        let time = if self.shift_seconds < 0 { now - shift } else { now + shift };
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name(service)
            .time(time)
            .settings(SigningSettings::default())
            .build()
            .unwrap()
            .into();
        let url = format!("{}/", server.url());
        let request =
            SignableRequest::new("POST", url, own.iter().copied(), SignableBody::Bytes(body.as_bytes()));
        let (made, _) = sign(request.unwrap(), &params).unwrap().into_parts();
        let mut headers: Vec<(String, String)> =
            own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.extend(made.headers().map(|(name, value)| (name.to_owned(), value.to_owned())));
        headers.push(("host".to_owned(), server.address().to_string()));
        headers
    }

    /// `sts:…` and `iam:…`; IAM is signed for its one region.
    pub(crate) fn query(&self, server: &Server<Cloud>, service: &str, parameters: &str) -> Answer {
        let version = match service {
            "iam" => "2010-05-08",
            "ec2" => "2016-11-15",
            _ => "2011-06-15",
        };
        let signer = if service == "iam" { self.clone().region("us-east-1") } else { self.clone() };
        let body = format!("{parameters}&Version={version}");
        let own = [("content-type", "application/x-www-form-urlencoded")];
        post(server, &signer.headers(server, service, &own, &body), &body)
    }

    /// `cloudtrail` and `logs`.
    pub(crate) fn json(&self, server: &Server<Cloud>, service: &str, operation: &str, body: &str) -> Answer {
        let target = target(service, operation);
        let own = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", target.as_str())];
        post(server, &self.headers(server, service, &own, body), body)
    }

    pub(crate) fn policy(&self, server: &Server<Cloud>) -> Answer {
        self.query(server, "iam", "Action=GetAccountPasswordPolicy")
    }

    pub(crate) fn identity(&self, server: &Server<Cloud>) -> Answer {
        self.query(server, "sts", "Action=GetCallerIdentity")
    }

    pub(crate) fn trails(&self, server: &Server<Cloud>) -> Answer {
        self.json(server, "cloudtrail", "DescribeTrails", "{}")
    }

    pub(crate) fn groups(&self, server: &Server<Cloud>) -> Answer {
        self.json(server, "logs", "DescribeLogGroups", "{}")
    }
}

pub(crate) fn target(service: &str, operation: &str) -> String {
    match service {
        "logs" => format!("Logs_20140328.{operation}"),
        _ => format!("com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.{operation}"),
    }
}

/// Sends the request; the headers include `Host`, as signed.
pub(crate) fn post(server: &Server<Cloud>, headers: &[(String, String)], body: &str) -> Answer {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    raw_with_body(server, "POST", "/", &headers, body)
}

/// The text of an XML element.
pub(crate) fn element(answer: &Answer, name: &str) -> Option<String> {
    let text = answer.text();
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
}
