//! Credentials from a machine's own services: of a container, and of an instance (IMDSv2).
//!
//! These addresses are reachable from the machine alone. The requests go there without a proxy.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use url::Url;
use zeroize::Zeroizing;

use super::sign::Credentials;
use crate::json::object;
use crate::report::SourceWatch;
use crate::source::RunContext;
use crate::source::aws::names::NAME;
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{
    Anonymous, Answer, Call, CallError, Client, ClientSettings, Dialect, FailureKind, Meaning, ParseError,
    Request, RequestFailure, single_line,
};

/// How long an answer may take: a service that is not there does not answer at all.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The longest answer: a few fields.
const LIMIT: usize = 64 * 1024;

/// How long the token of the instance's service is valid: longer than the requests that need it.
const TOKEN_SECONDS: &str = "60";

/// The names of the headers of the instance's service.
const TTL: &str = "x-aws-ec2-metadata-token-ttl-seconds";
const TOKEN: &str = "x-aws-ec2-metadata-token";

/// A session token of the instance's service.
pub(crate) static SESSION: Call<Zeroizing<String>> = Call {
    name: "PUT /latest/api/token",
    purpose: "with `mode: instance`: a token of the instance's metadata service",
    times: "once, and again before the credentials expire",
    kind: None,
    media_type: "text/plain",
    limit: LIMIT,
    parse: word,
    subject: None,
    keep: None,
};

/// The name of the instance's role.
pub(crate) static ROLE: Call<Zeroizing<String>> = Call {
    name: "/latest/meta-data/iam/security-credentials/",
    purpose: "with `mode: instance`: the name of the instance's role",
    times: "once, and again before the credentials expire",
    kind: None,
    media_type: "text/plain",
    limit: LIMIT,
    parse: word,
    subject: None,
    keep: None,
};

/// The role's credentials.
pub(crate) static CREDENTIALS: Call<Credentials> = Call {
    name: "/latest/meta-data/iam/security-credentials/{role}",
    purpose: "with `mode: instance` or `container`: temporary credentials",
    times: "once, and again before they expire",
    kind: None,
    media_type: "application/json",
    limit: LIMIT,
    parse: credentials,
    subject: None,
    keep: None,
};

fn word(bytes: &[u8]) -> Result<Zeroizing<String>, ParseError> {
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    let is_word = !text.is_empty() && text.len() <= 2_048 && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_word
        .then(|| Zeroizing::new(text.to_string()))
        .ok_or_else(|| ParseError::Shape("not one word".to_string()))
}

fn credentials(bytes: &[u8]) -> Result<Credentials, ParseError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Issued {
        code: Option<String>,
        access_key_id: Option<String>,
        secret_access_key: Option<String>,
        token: Option<String>,
        expiration: Option<String>,
    }
    let issued: Issued =
        object(bytes).map_err(|_| ParseError::Shape("not an object with credentials".to_string()))?;
    if let Some(code) = issued.code.filter(|code| code != "Success") {
        return Err(ParseError::Shape(format!("no credentials: {}", single_line(&code))));
    }
    let missing = |name: &str| ParseError::Shape(format!("`{name}` is missing"));
    let id = issued.access_key_id.ok_or_else(|| missing("AccessKeyId"))?;
    let secret = Zeroizing::new(issued.secret_access_key.ok_or_else(|| missing("SecretAccessKey"))?);
    let token = Zeroizing::new(issued.token.ok_or_else(|| missing("Token"))?);
    let expires = issued.expiration.ok_or_else(|| missing("Expiration"))?;
    let expires: Timestamp =
        expires.parse().map_err(|_| ParseError::Shape("`Expiration` is not a time".to_string()))?;
    let made = Credentials::new(&id, &secret, Some(&token));
    Ok(made.map_err(|error| ParseError::Shape(error.to_string()))?.until(Some(expires)))
}

/// The service's protocol: only the status counts.
struct Service;

impl Dialect for Service {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        #[derive(Deserialize, Default)]
        struct Fault {
            #[serde(alias = "Message")]
            message: Option<String>,
        }
        let class = match answer.status {
            200 => Class::Success,
            401 | 403 => Class::Forbidden(RefusalCause::Permission),
            404 => Class::NotFound,
            429 => Class::Throttled { retry_after: None },
            500..=599 => Class::HostFault { retry_after: None },
            _ => Class::Unexpected,
        };
        let fault: Fault = answer.body.and_then(|body| object(body).ok()).unwrap_or_default();
        let message = fault.message.filter(|_| answer.status != 200).map(|message| single_line(&message));
        Meaning {
            class,
            code: None,
            message,
            request_id: None,
            permission: None,
            reading: evidence_http::quota::QuotaReading {
                limit: None,
                remaining: None,
                reset: None,
                date: None,
            },
        }
    }
}

/// A client of the service at `url`.
fn client(url: &Url, surroundings: &RunContext) -> Result<Client, String> {
    let settings = ClientSettings {
        timeout: TIMEOUT,
        max_concurrency: NonZeroUsize::MIN,
        attempts: 3,
        plain: url.scheme() == "http",
        ..ClientSettings::default()
    };
    let clock = surroundings.env.clock.clone();
    let watch = SourceWatch::new(NAME, &surroundings.reporter);
    Client::new(settings, Arc::new(Service), Arc::new(Anonymous), clock, watch)
}

fn local(text: String) -> CallError {
    CallError::Failed(RequestFailure::local(FailureKind::Transport(text)))
}

fn with_secret(request: Request, name: &'static str, secret: &str) -> Result<Request, String> {
    let mut value = HeaderValue::from_str(secret)
        .map_err(|_| "a token has characters that a header cannot hold".to_string())?;
    value.set_sensitive(true);
    let mut request = request;
    request.headers.insert(name, value);
    Ok(request)
}

/// The credentials of the instance's role, by the second version of its service.
pub(crate) async fn of_instance(base: &Url, surroundings: &RunContext) -> Result<Credentials, CallError> {
    let client = client(base, surroundings).map_err(local)?;
    let at = |path: &str| {
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
        url
    };
    let session = Request::put(at("/latest/api/token"), "/latest/api/token").header(TTL, TOKEN_SECONDS);
    let token = client.ask(&session, &SESSION).await?.value;
    surroundings.screen.learn([token.as_bytes()]);
    let path = "/latest/meta-data/iam/security-credentials/";
    let role = client
        .ask(&with_secret(Request::get(at(path), path), TOKEN, &token).map_err(local)?, &ROLE)
        .await?
        .value;
    let path = format!("{path}{}", evidence_http::call::encoded(&role));
    let request = with_secret(Request::get(at(&path), path), TOKEN, &token).map_err(local)?;
    Ok(client.ask(&request, &CREDENTIALS).await?.value)
}

/// The credentials of the container, from the address in its variables.
pub(crate) async fn of_container(
    url: &Url,
    authorization: Option<&str>,
    surroundings: &RunContext,
) -> Result<Credentials, CallError> {
    let client = client(url, surroundings).map_err(local)?;
    let mut request = Request::get(url.clone(), "container credentials");
    if let Some(authorization) = authorization {
        surroundings.screen.learn([authorization]);
        request = with_secret(request, "authorization", authorization).map_err(local)?;
    }
    Ok(client.ask(&request, &CREDENTIALS).await?.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_and_a_refusal_is_not() {
        let issued = r#"{"Code":"Success","AccessKeyId":"ASIAMADEUP","SecretAccessKey":"s3cret","Token":"t0ken",
            "Expiration":"2026-11-24T09:00:00Z","Type":"AWS-HMAC"}"#;
        let read = credentials(issued.as_bytes()).unwrap();
        assert_eq!(read.secrets(), ["s3cret", "t0ken"]);
        assert!(read.expires().is_some());
        for (from, to, said) in [
            ("\"Success\"", "\"AssumeRoleUnauthorizedAccess\"", "AssumeRoleUnauthorizedAccess"),
            ("\"Token\":\"t0ken\",", "", "`Token` is missing"),
            ("2026-11-24T09:00:00Z", "soon", "not a time"),
            ("s3cret", "s3cret s3cret", "one word"),
            ("{", "[{", "not an object"),
        ] {
            let Err(ParseError::Shape(text)) = credentials(issued.replacen(from, to, 1).as_bytes()) else {
                panic!("{from}");
            };
            assert!(text.contains(said) && !text.contains("s3cret"), "{text}");
        }
        assert!(word(b"two words").is_err());
        assert!(word(b" role\n").is_ok());
    }
}
