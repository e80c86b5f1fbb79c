//! The platform while it is served.

use super::bundle;
use super::{Key, Organization, Platform, Role, StoredBundle, Verification};
use crate::clock::{Clock, http_date};
use crate::lock::lock;
use crate::server::{Answer, Backend, Call, Held, Identity, Settings, State, uuid};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Mutex;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// The backend. No `Debug`: it holds keys.
pub(super) struct Live {
    held: Held<Platform>,
    bundles: Mutex<Vec<StoredBundle>>,
}

/// The prefix of problem types.
const TYPES: &str = "urn:evidence-platform:problem:";

/// A refusal: its status and detail.
struct Refusal(u16, String);

impl Refusal {
    fn new(status: u16, detail: &str) -> Self {
        Self(status, detail.to_owned())
    }
}

/// The requested route.
enum Route<'a> {
    WhoAmI,
    Bundles,
    Verify(&'a str),
}

impl<'a> Route<'a> {
    fn of(call: &'a Call) -> Option<Self> {
        let segments: Vec<&str> = call.path.strip_prefix("/api/v1/")?.split('/').collect();
        match (call.method.as_str(), segments.as_slice()) {
            ("GET", ["whoami"]) => Some(Self::WhoAmI),
            ("POST", ["bundles"]) => Some(Self::Bundles),
            ("POST", ["bundles", id, "verify"]) => Some(Self::Verify(id)),
            _ => None,
        }
    }
}

impl Live {
    pub(super) fn new(platform: Platform, clock: Clock) -> Self {
        let bundles = Mutex::new(platform.bundles.clone());
        Self { held: Held::new(platform, clock), bundles }
    }

    fn reply(&self, platform: &Platform, call: &Call) -> Result<(u16, Value), Refusal> {
        let (key, organization) =
            principal(platform, call).ok_or_else(|| Refusal::new(401, "no valid API key was given"))?;
        let route = Route::of(call).ok_or_else(|| Refusal::new(404, "no such resource"))?;
        if key.role == Role::Read && !matches!(route, Route::WhoAmI) {
            return Err(Refusal(403, format!("a key with the role {} may not upload", key.role.name())));
        }
        match route {
            Route::WhoAmI => Ok((200, who_am_i(key, organization))),
            Route::Bundles => self.keep(platform, organization, call),
            Route::Verify(id) => {
                let known = |bundle: &StoredBundle| bundle.id == id && bundle.organization == organization.id;
                if !lock(&self.bundles).iter().any(known) {
                    return Err(Refusal::new(404, "no such bundle"));
                }
                Ok((200, verdict(&platform.verification)))
            }
        }
    }

    fn keep(&self, platform: &Platform, owner: &Organization, call: &Call) -> Result<(u16, Value), Refusal> {
        if call.body_too_large {
            let limit = platform.settings.max_body;
            return Err(Refusal(413, format!("the body is larger than {limit} bytes")));
        }
        if call.header("content-type") != Some("application/gzip") {
            return Err(Refusal::new(415, "the body must be application/gzip"));
        }
        let length = call.header("content-length").and_then(|length| length.parse().ok());
        if length != Some(call.body.len()) {
            return Err(Refusal::new(411, "the length must be announced"));
        }
        let digest = format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(&call.body)));
        match call.header("content-digest") {
            Some(said) if said == digest => {}
            Some(_) => {
                return Err(Refusal::new(400, "the SHA-256 of the body differs from Content-Digest"));
            }
            None => {
                return Err(Refusal::new(
                    400,
                    "the header Content-Digest is missing or has no valid sha-256",
                ));
            }
        }
        let mut bytes = call.body.clone();
        if platform.corrupting {
            bytes = [&call.body[..], b"!"].concat().into();
        }
        let sha256 = hex::encode(Sha256::digest(&bytes));
        let id = bundle::id(&call.body).unwrap_or_else(|| uuid(&format!("{} {sha256}", owner.id)));
        let mut bundles = lock(&self.bundles);
        let status = if bundles.iter().any(|bundle| bundle.id == id && bundle.organization == owner.id) {
            200
        } else {
            201
        };
        if status == 201 {
            let (organization, query) = (owner.id.clone(), call.query.clone());
            let (id, sha256) = (id.clone(), sha256.clone());
            bundles.push(StoredBundle { id, organization, sha256, query, bytes });
        }
        Ok((status, json!({ "bundle_id": id, "sha256": sha256, "status": "stored" })))
    }
}

fn principal<'a>(platform: &'a Platform, call: &Call) -> Option<(&'a Key, &'a Organization)> {
    let secret = call.header("authorization")?.strip_prefix("Bearer ")?;
    let key = platform.keys.iter().find(|key| key.secret == secret && !key.revoked)?;
    let organization = platform.organizations.iter().find(|known| known.id == key.organization)?;
    Some((key, organization))
}

fn who_am_i(key: &Key, organization: &Organization) -> Value {
    let Organization { id, slug, name, trusted_keys } = organization;
    json!({
        "organization": { "id": id, "slug": slug, "name": name },
        "key_id": "key_1", "key_prefix": "evp_", "role": key.role.name(), "trusted_keys": trusted_keys,
    })
}

fn verdict(verification: &Verification) -> Value {
    match verification {
        Verification::Verified { key_id } => {
            json!({ "verified": true, "key_id": key_id, "reason": null, "detail": null })
        }
        Verification::Refused { reason, detail } => {
            json!({ "verified": false, "key_id": null, "reason": reason, "detail": detail })
        }
    }
}

/// A problem document. Its kind follows from the status and the detail.
fn problem(call: &Call, status: u16, detail: &str) -> String {
    let (code, title) = match status {
        400 if detail.starts_with("the SHA-256") => {
            ("digest-mismatch", "The body does not match the announced digest")
        }
        400 if detail.starts_with("the header") => ("digest-missing", "The digest of the body is missing"),
        401 => ("unauthenticated", "No valid API key"),
        403 => ("forbidden", "The role of the key does not allow this"),
        404 => ("not-found", "Not found"),
        409 => ("no-trusted-key", "The organization trusts no signing key"),
        413 => ("too-large", "The body is too large"),
        422 => ("bundle-refused", "The bundle is not what a trusted key signed"),
        429 | 503 => ("busy", "Too many requests at once; try again"),
        500..=599 => ("internal", "Internal error of the platform"),
        _ => ("invalid-request", "The request cannot be used"),
    };
    let mut document = json!({
        "type": format!("{TYPES}{code}"), "title": title, "status": status, "detail": detail,
        "request_id": uuid(&call.request_id),
    });
    if status == 422
        && let Some(members) = document.as_object_mut()
    {
        members.insert("reason".to_owned(), json!("signature-invalid"));
    }
    document.to_string()
}

impl Backend for Live {
    fn identify(&self, call: &Call) -> Identity {
        if call.header("authorization").is_none() {
            return Identity::Anonymous;
        }
        match principal(&self.held.now(), call) {
            Some((key, owner)) => Identity::User { login: owner.slug.clone(), kind: key.role.name() },
            None => Identity::Unknown,
        }
    }

    fn answer(&self, call: &Call) -> Answer {
        let (status, content_type, body) = match self.reply(&self.held.now(), call) {
            Ok((status, body)) => (status, JSON, body.to_string()),
            Err(Refusal(status, detail)) => (status, PROBLEM, problem(call, status, &detail)),
        };
        let mut answer = Answer::new(status, Bytes::from(body));
        answer.set_static(header::CONTENT_TYPE, content_type);
        self.dress(call, &mut answer);
        answer
    }

    fn dress(&self, call: &Call, answer: &mut Answer) {
        answer.set(header::DATE, &http_date(call.now));
        answer.set_static(header::CACHE_CONTROL, "no-store");
    }

    fn is_violation(&self, call: &Call) -> bool {
        Route::of(call).is_none()
    }

    fn failure(&self, call: &Call, status: u16) -> (&'static str, String) {
        let detail = match status {
            401 => "no valid API key was given",
            403 => "the key may not do this",
            409 => "the organization trusts no signing key yet",
            413 => "the body is larger than this platform takes",
            422 => "no trusted key made this signature over the list of checksums",
            429 | 503 => "too many requests at once; try again",
            500..=599 => "an internal error of the platform",
            _ => "the request cannot be answered",
        };
        (PROBLEM, problem(call, status, detail))
    }

    fn page(&self, status: u16) -> String {
        format!(
            "<!DOCTYPE html>\n<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\n"
        )
    }
}

impl State<Platform> for Live {
    fn change(&self, change: Box<dyn FnOnce(&mut Platform) + '_>) -> Settings {
        self.held.change(change)
    }

    fn current(&self) -> Platform {
        let platform = Platform::clone(&self.held.now());
        Platform { bundles: lock(&self.bundles).clone(), ..platform }
    }
}
