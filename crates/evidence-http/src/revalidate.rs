//! Conditional requests: asks whether an answer still holds instead of fetching it again (RFC 9110, section 13.1.2).
//!
//! A request carries the entity tag of an earlier run's answer. "Not modified" makes that answer evidence of now, and
//! costs nothing of the primary limit. Cached records are used only after the host confirms this very answer; otherwise
//! the client asks as if there were no cache. Only a resumed run takes over the killed run's answers unconfirmed, with
//! their original times.
//!
//! The kept record goes through the same parser as an answer of the host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use evidence_text::saturating_u64;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, IF_NONE_MATCH};

use super::cache::{Cache, CacheKey, CachedAnswer};
use super::call::{Call, Keeping, Parse, Reading};
use super::client::Client;
use super::reply::{Answered, CallError, Meta, Refused, Reply, RequestFailure};
use super::request::{ParseError, Request};
use super::retry::Class;
use super::trail;

impl Client {
    /// The same client, which keeps answers in `cache`.
    pub fn with_cache(mut self, cache: Option<Arc<Cache>>) -> Client {
        self.cache = cache;
        self
    }

    /// The cache, if the client has one.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_deref()
    }

    /// Whether the cache has an answer to this request with an entity tag.
    pub fn is_kept(&self, request: &Request) -> bool {
        self.cache().is_some_and(|cache| cache.find(question(request)).is_some())
    }

    /// The time, by the run's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Answers that the host confirmed to this client and its siblings.
    pub fn revalidated(&self) -> u64 {
        self.counts.revalidated.load(Ordering::Relaxed)
    }

    /// Answers taken over from a killed run.
    pub fn resumed(&self) -> u64 {
        self.counts.resumed.load(Ordering::Relaxed)
    }

    /// Asks until there is a final answer. If the cache has one, asks only whether it still holds.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] if there is no good answer.
    pub async fn ask<T>(&self, request: &Request, call: &Call<T>) -> Result<Answered<T>, CallError> {
        Ok(self.ask_for(request, false, &call.parse, call).await??)
    }

    /// Like [`Client::ask`], for the raw bytes of a file: exactly `size` of them, if known.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] if there is no good answer.
    pub async fn ask_raw(
        &self,
        request: &Request,
        call: &Call<Vec<u8>>,
        size: Option<u64>,
    ) -> Result<Answered<Vec<u8>>, CallError> {
        Ok(self.ask_for(request, true, &|bytes: &[u8]| whole((call.parse)(bytes)?, size), call).await??)
    }

    async fn ask_for<T>(
        &self,
        request: &Request,
        raw: bool,
        parse: Parse<'_, T>,
        call: &Call<T>,
    ) -> Result<Reply<T>, RequestFailure> {
        let reading = Reading { raw, limit: call.limit, parse, subject: call.subject };
        let (Some(cache), Some(keeping)) = (&self.cache, &call.keep) else {
            return self.send_for(request, reading).await;
        };
        let question = question(request);
        if let Some(kept) = cache.resumed(question, self.clock.now())
            && let Some(reply) = resumed(kept, question, parse)
        {
            self.counts.resumed.fetch_add(1, Ordering::Relaxed);
            let reply = Ok(reply);
            trail::note(request, &reply, self.clock.now());
            return reply;
        }
        if let Some(kept) = cache.find(question)
            && let Some(tag) = kept.etag.as_deref().and_then(|etag| HeaderValue::from_str(etag).ok())
            && let Ok(value) = parse(&kept.record)
        {
            let mut conditional = request.clone();
            conditional.headers.insert(IF_NONE_MATCH, tag);
            match self.send_for(&conditional, reading).await? {
                Err(Refused { class: Class::NotModified, mut meta, .. }) => {
                    if holds(&kept, &meta) {
                        cache.confirm(question, meta.received_at, meta.request_id.as_deref());
                        self.counts.revalidated.fetch_add(1, Ordering::Relaxed);
                        meta.etag = kept.etag;
                        return Ok(Ok(Answered { value, meta }));
                    }
                }
                reply => {
                    keep(cache, question, &reply, keeping, true);
                    return Ok(reply);
                }
            }
        }
        let reply = self.send_for(request, reading).await?;
        keep(cache, question, &reply, keeping, false);
        Ok(reply)
    }
}

fn question(request: &Request) -> CacheKey<'_> {
    let accept = request.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    CacheKey { path: &request.label, accept }
}

/// Whether "not modified" is about the kept answer. After a redirect it is not: a file with the same content has the
/// same tag at another address.
fn holds(kept: &CachedAnswer, meta: &Meta) -> bool {
    let same = |tag: &str| kept.etag.as_deref().is_some_and(|etag| opaque(etag) == opaque(tag));
    meta.redirected_to.is_none()
        && meta.etag.as_deref().is_none_or(same)
        && kept.headers.iter().all(|name| meta.headers.contains_key(name))
}

/// The tag without its weakness mark, for the comparison of RFC 9110, section 8.8.3.2.
fn opaque(etag: &str) -> &str {
    let etag = etag.trim();
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// The killed run's reply.
fn resumed<T>(kept: CachedAnswer, question: CacheKey<'_>, parse: Parse<'_, T>) -> Option<Reply<T>> {
    let meta = Meta {
        path: question.path.to_string(),
        status: kept.status,
        etag: kept.etag,
        request_id: kept.request_id,
        headers: Box::new(HeaderMap::new()),
        redirected_to: None,
        received_at: kept.at,
    };
    match kept.status {
        404 => Some(Err(Refused {
            class: Class::NotFound,
            code: None,
            message: kept.message,
            permission: None,
            meta,
        })),
        _ => Some(Ok(Answered { value: parse(&kept.record).ok()?, meta })),
    }
}

/// Keeps a reply that a later run can ask about or take over: a good answer, or "not found". `replaces` says that the
/// cache holds an older answer, which this one must replace so that no run asks about it again.
fn keep<T>(cache: &Cache, question: CacheKey<'_>, reply: &Reply<T>, keeping: &Keeping<T>, replaces: bool) {
    let resumable = (keeping.resumable)(reply);
    let (meta, message, value) = match reply {
        Ok(answered) => (&answered.meta, None, Some(&answered.value)),
        Err(refused) if refused.class == Class::NotFound && (resumable || replaces) => {
            (&refused.meta, refused.message.clone(), None)
        }
        Err(_) => return,
    };
    // The answer of another address says nothing about this one.
    if meta.redirected_to.is_some() || (value.is_some() && meta.etag.is_none() && !resumable) {
        return;
    }
    let present = |name: &&&str| meta.headers.contains_key(**name);
    let kept = CachedAnswer {
        at: meta.received_at,
        status: meta.status,
        etag: meta.etag.clone(),
        request_id: meta.request_id.clone(),
        message,
        headers: keeping.headers.iter().filter(present).map(ToString::to_string).collect(),
        record: value.map(keeping.reduce).unwrap_or_default(),
        resumable,
    };
    cache.keep(question, keeping.kind, &kept, value.and_then(keeping.clear).as_deref());
}

/// A file's bytes, if they are complete: raw bytes have no form that shows a missing part.
fn whole(bytes: Vec<u8>, size: Option<u64>) -> Result<Vec<u8>, ParseError> {
    let length = saturating_u64(bytes.len());
    match size.filter(|size| *size != length) {
        Some(size) => Err(ParseError::Broken(format!("{length} bytes, but the host reported {size}"))),
        None => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(etag: &str, headers: &[&str]) -> CachedAnswer {
        CachedAnswer {
            at: Timestamp::UNIX_EPOCH,
            status: 200,
            etag: Some(etag.to_string()),
            request_id: None,
            message: None,
            headers: headers.iter().map(ToString::to_string).collect(),
            record: Vec::new(),
            resumable: false,
        }
    }

    fn said(etag: Option<&str>, headers: &[&'static str], redirected_to: Option<&str>) -> Meta {
        let mut meta = Meta { etag: etag.map(str::to_string), ..Meta::default() };
        meta.redirected_to = redirected_to.map(str::to_string);
        headers.iter().for_each(|name| drop(meta.headers.insert(*name, HeaderValue::from_static("x"))));
        meta
    }

    #[test]
    fn not_modified_is_about_what_was_kept_or_about_nothing() {
        let table = [
            (kept("W/\"1\"", &[]), said(Some("W/\"1\""), &[], None), true),
            (kept("W/\"1\"", &[]), said(Some("\"1\""), &[], None), true),
            (kept("W/\"1\"", &[]), said(None, &[], None), true),
            (kept("W/\"1\"", &[]), said(Some("W/\"2\""), &[], None), false),
            (kept("W/\"1\"", &[]), said(None, &[], Some("/things/1")), false),
            (kept("W/\"1\"", &["link"]), said(None, &["link"], None), true),
            (kept("W/\"1\"", &["link"]), said(None, &["date"], None), false),
            (kept("W/\"1\"", &["link", "date"]), said(None, &["date"], None), false),
        ];
        for (kept, meta, expected) in table {
            assert_eq!(holds(&kept, &meta), expected, "{kept:?} {meta:?}");
        }
    }
}
