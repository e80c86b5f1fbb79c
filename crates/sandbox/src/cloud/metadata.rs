//! The machine's own services: credentials of an instance (second version) and of a container.
//!
//! The forms are those of the provider's documentation. The real services are at addresses that only the machine reaches;
//! here they share the account's port.

use super::session::Sessions;
use super::state::Cloud;
use crate::clock::iso_date;
use crate::server::{Answer, Call};
use hyper::header;
use serde_json::json;

const TOKEN: &str = "/latest/api/token";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
const CONTAINER: &str = "/v2/credentials/";

/// How long credentials last, in seconds.
const LIFETIME: i64 = 6 * 3600;

/// The token of the instance's service: every one is good, since nothing else can ask here.
const SESSION: &str = "AQAEAsandboxOnly==";

/// Whether a path belongs to these services.
pub(super) fn is_path(path: &str) -> bool {
    path.starts_with("/latest/") || path.starts_with(CONTAINER)
}

/// Whether a read-only client would send this.
pub(super) fn is_read(call: &Call) -> bool {
    call.method == "GET" || (call.method == "PUT" && call.path == TOKEN)
}

pub(super) fn answer(cloud: &Cloud, sessions: &Sessions, call: &Call) -> Answer {
    let (status, kind, body) = reply(cloud, sessions, call);
    let mut answer = Answer::new(status, body);
    answer.set_static(header::CONTENT_TYPE, kind);
    answer
}

fn reply(cloud: &Cloud, sessions: &Sessions, call: &Call) -> (u16, &'static str, String) {
    const TEXT: &str = "text/plain";
    const JSON: &str = "application/json";
    if let Some(id) = call.path.strip_prefix(CONTAINER) {
        let Some((role, authorization)) = cloud.container.as_ref().filter(|_| !id.is_empty()) else {
            return (404, JSON, json!({"code": "NoIdInRequest", "message": "CredentialsV2Request: No Credential ID in the request"}).to_string());
        };
        let given = call.header("authorization");
        if authorization.as_deref() != given {
            return (401, JSON, json!({"code": "AccessDenied", "message": "Unauthorized"}).to_string());
        }
        return (200, JSON, credentials(cloud, sessions, role, call, false));
    }
    if call.path == TOKEN {
        let good = call.method == "PUT" && call.header("x-aws-ec2-metadata-token-ttl-seconds").is_some();
        return if good { (200, TEXT, SESSION.to_owned()) } else { (400, TEXT, String::new()) };
    }
    if call.header("x-aws-ec2-metadata-token") != Some(SESSION) {
        return (401, TEXT, String::new());
    }
    let asked = call.path.strip_prefix(ROLES);
    match (asked, &cloud.instance_role) {
        (Some(""), Some(role)) => (200, TEXT, role.clone()),
        (Some(name), Some(role)) if name == role => {
            (200, TEXT, credentials(cloud, sessions, role, call, true))
        }
        _ => (404, "text/html", "<html><title>404 - Not Found</title></html>".to_owned()),
    }
}

fn credentials(cloud: &Cloud, sessions: &Sessions, role: &str, call: &Call, of_instance: bool) -> String {
    let now = call.now.as_second();
    let name = if of_instance { "i-0123456789abcdef0" } else { "0123456789abcdef" };
    let issued = sessions.issue(&cloud.account, role, name, now.saturating_add(LIFETIME));
    let mut body = json!({
        "AccessKeyId": issued.access_key,
        "SecretAccessKey": issued.secret,
        "Token": issued.token,
        "Expiration": iso_date(issued.expires),
    });
    if let Some(fields) = body.as_object_mut().filter(|_| of_instance) {
        fields.insert("Code".to_owned(), "Success".into());
        fields.insert("Type".to_owned(), "AWS-HMAC".into());
        fields.insert("LastUpdated".to_owned(), iso_date(now).into());
    }
    body.to_string()
}
