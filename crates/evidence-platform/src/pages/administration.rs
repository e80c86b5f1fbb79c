//! Pages for administrators: keys, trust, the audit log. They only show; changes are made on the command line and over the
//! API.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_view::sanitized;
use http::StatusCode;

use super::page::{Frame, page};
use super::words::{Moment, limits};
use crate::api::App;
use crate::api::bundles::page_request;
use crate::api::input::Parameters;
use crate::error::Error;
use crate::principal::{Caller, Principal};
use crate::store::{AuditRecord, KeyRow, Standing, TrustedKeyRow};
use crate::time::Time;

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    frame: Frame,
    keys: Vec<Key>,
    /// The name of the group whose keys these are; `None` for an organization.
    of_group: Option<String>,
    /// The group of the organization and its keys, which look at the organization too.
    above: Option<(String, Vec<Key>)>,
}

struct Key {
    name: String,
    prefix: String,
    role: &'static str,
    created: Moment,
    used: Option<Moment>,
    ends: Option<Moment>,
    /// The class of its state, its sign and the words.
    state: (&'static str, &'static str, &'static str),
}

/// The API keys of the organization.
///
/// # Errors
/// Fails with [`Error::Forbidden`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn keys(State(app): State<App>, principal: Principal) -> Result<Response, Error> {
    let now = app.service.clock().now();
    let keys = app.service.keys(&principal).await?.into_iter().map(|row| key(row, now)).collect();
    let above = app.service.keys_above(&principal).await?.map(|(group, keys)| {
        let valid = keys.into_iter().filter(|row| row.revoked_at.is_none() && !row.has_expired(now));
        (sanitized(&group.name), valid.map(|row| key(row, now)).collect())
    });
    page(StatusCode::OK, &Keys { frame: Frame::of(&principal), keys, of_group: None, above })
}

/// The API keys of a group, for its administrators.
///
/// # Errors
/// Fails with [`Error::Elsewhere`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn group_keys(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    let now = app.service.clock().now();
    let keys = app.service.group_keys(&caller).await?.into_iter().map(|row| key(row, now)).collect();
    let of_group = match &caller {
        Caller::Group(group) => Some(sanitized(group.name())),
        Caller::Organization(_) => None,
    };
    page(StatusCode::OK, &Keys { frame: Frame::of_caller(&caller), keys, of_group, above: None })
}

fn key(row: KeyRow, now: Time) -> Key {
    let state = match (row.revoked_at.is_some(), row.has_expired(now)) {
        (true, _) => ("not_applicable", "–", "revoked"),
        (false, true) => ("not_applicable", "–", "ended"),
        (false, false) => ("pass", "✓", "valid"),
    };
    Key {
        name: sanitized(&row.label),
        prefix: row.prefix,
        role: row.role.as_str(),
        created: Moment::of(row.created_at),
        used: row.last_used_at.map(Moment::of),
        ends: row.revoked_at.or(row.expires_at).map(Moment::of),
        state,
    }
}

#[derive(Template)]
#[template(path = "trust.html")]
struct Trust {
    frame: Frame,
    slug: String,
    keys: Vec<Trusted>,
}

struct Trusted {
    name: String,
    key_id: String,
    fingerprint: String,
    added: Moment,
    limits: Vec<String>,
    state: (&'static str, &'static str, &'static str),
}

/// The keys that the organization trusts, and when.
///
/// # Errors
/// Fails with [`Error::Forbidden`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn trust(State(app): State<App>, principal: Principal) -> Result<Response, Error> {
    let now = app.service.clock().now();
    let keys = app.service.trusted_keys(&principal).await?.into_iter().map(|row| trusted(row, now));
    let slug = principal.slug().to_owned();
    page(StatusCode::OK, &Trust { frame: Frame::of(&principal), slug, keys: keys.collect() })
}

fn trusted(row: TrustedKeyRow, now: Time) -> Trusted {
    let state = match row.standing(now) {
        Standing::Counts => ("pass", "✓", "counts now"),
        Standing::NotYet => ("not_applicable", "–", "counts later"),
        Standing::Ended => ("not_applicable", "–", "ended"),
        Standing::Revoked => ("fail", "✕", "revoked"),
    };
    Trusted {
        limits: limits(&row),
        name: sanitized(&row.label),
        key_id: row.key_id,
        fingerprint: row.fingerprint,
        added: Moment::of(row.created_at),
        state,
    }
}

#[derive(Template)]
#[template(path = "audit_log.html")]
struct AuditLog {
    frame: Frame,
    records: Vec<Record>,
    later: bool,
    next: Option<String>,
}

struct Record {
    at: Moment,
    actor: String,
    action: String,
    target: String,
    outcome: String,
    detail: String,
    request_id: String,
}

/// The audit log, newest first.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Forbidden`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn audit_log(
    State(app): State<App>,
    principal: Principal,
    parameters: Parameters,
) -> Result<Response, Error> {
    let later = parameters.has("cursor");
    let found = app.service.audit_log(&principal, &page_request(parameters)?).await?;
    let records = found.items.into_iter().map(record).collect();
    page(StatusCode::OK, &AuditLog { frame: Frame::of(&principal), records, later, next: found.next })
}

fn record(record: AuditRecord) -> Record {
    let detail = match record.detail.as_object() {
        Some(fields) => {
            let shown = |(name, value): (&String, &serde_json::Value)| match value.as_str() {
                Some(text) => format!("{name}: {text}"),
                None => format!("{name}: {value}"),
            };
            fields.iter().map(shown).collect::<Vec<_>>().join(", ")
        }
        None => String::new(),
    };
    Record {
        at: Moment::of(record.at),
        actor: record.actor,
        action: record.action,
        target: sanitized(&record.target),
        outcome: record.outcome,
        detail: sanitized(&detail),
        request_id: record.request_id,
    }
}
