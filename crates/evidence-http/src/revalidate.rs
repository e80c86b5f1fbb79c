//! Conditional requests: asks whether an answer still holds instead of fetching it again (RFC 9110, section 13.1.2).
//!
//! A request carries the entity tag of an earlier run's answer, or the time at which it last changed, if the host makes its
//! tags with a token that each run has anew. "Not modified" makes that answer evidence of now, and
//! costs nothing of the primary limit. Cached records are used only after the host confirms this very answer; otherwise
//! the client asks as if there were no cache. Only a resumed run takes over the killed run's answers unconfirmed, with
//! their original times.
//!
//! The kept record goes through the same parser as an answer of the host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use evidence_text::saturating_u64;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use super::cache::{Cache, CacheKey, CachedAnswer};
use super::call::{Call, Keeping, Parse, Reading};
use super::client::Client;
use super::reply::{Answered, CallError, Meta, Refused, Reply, RequestFailure};
use super::request::{ParseError, Request};
use super::retry::{Class, http_date};
use super::trail;

/// A change so long before the answer that no later one has the same time (RFC 9110, section 8.8.2.2).
const SETTLED_SECONDS: i64 = 60;

/// The length of a file's own hash, by which a host may tag it: SHA-1 in hexadecimal digits.
const FILE_HASH: usize = 40;

impl Client {
    /// The same client, which keeps answers in `cache`.
    pub fn with_cache(mut self, cache: Option<Arc<Cache>>) -> Client {
        self.cache = cache;
        self
    }

    /// The same client, which asks by the time of the last change where the host has one. For a token that each run has anew,
    /// and with which the host makes its entity tags.
    #[must_use]
    pub fn asking_by_time(mut self, by_time: bool) -> Client {
        self.by_time = by_time;
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
    pub async fn ask<T: Send>(&self, request: &Request, call: &Call<T>) -> Result<Answered<T>, CallError> {
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

    async fn ask_for<T: Send>(
        &self,
        request: &Request,
        raw: bool,
        parse: Parse<'_, T>,
        call: &Call<T>,
    ) -> Result<Reply<T>, RequestFailure> {
        let reading = || Reading { raw, limit: call.limit, parse, subject: call.subject };
        let (Some(cache), Some(keeping)) = (&self.cache, &call.keep) else {
            return self.send_for(request, reading()).await;
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
            && let time = kept.last_modified.as_deref().filter(|_| self.by_time)
            && let Some(validator) = time.or(kept.etag.as_deref())
            && let Ok(validator) = HeaderValue::from_str(validator)
            && let Ok(value) = parse(&kept.record)
        {
            let by_time = time.is_some();
            let mut conditional = request.clone();
            // A host that gets both ignores the time.
            let name = if by_time { IF_MODIFIED_SINCE } else { IF_NONE_MATCH };
            conditional.headers.insert(name, validator);
            match self.send_for(&conditional, reading()).await? {
                Err(Refused { class: Class::NotModified, mut meta, .. }) => {
                    if holds(&kept, &meta, by_time) {
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
        let reply = self.send_for(request, reading()).await?;
        keep(cache, question, &reply, keeping, false);
        Ok(reply)
    }
}

fn question(request: &Request) -> CacheKey<'_> {
    let accept = request.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    CacheKey { path: &request.label, accept }
}

/// Whether "not modified" is about the kept answer. After a redirect it is not: a file with the same content has the
/// same tag at another address. By time, the host must name the very time of the kept answer: a change that was dated back is
/// "not modified since" too. Another hash of the file contradicts; other tags depend on the token and say nothing.
fn holds(kept: &CachedAnswer, meta: &Meta, by_time: bool) -> bool {
    let same = |tag: &str| match kept.etag.as_deref() {
        Some(etag) if by_time => opaque(etag) == opaque(tag) || !(is_file_hash(etag) && is_file_hash(tag)),
        etag => etag.is_some_and(|etag| opaque(etag) == opaque(tag)),
    };
    let same_time = || meta.header("last-modified") == kept.last_modified.as_deref();
    meta.redirected_to.is_none()
        && meta.etag.as_deref().is_none_or(same)
        && (!by_time || same_time())
        && kept.headers.iter().all(|name| meta.headers.contains_key(name))
}

/// Whether a tag is the hash of a file, which no token changes.
fn is_file_hash(etag: &str) -> bool {
    let text = opaque(etag).trim_matches('"');
    text.len() == FILE_HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// When the answer last changed, if no later change can have the same time.
fn settled(meta: &Meta) -> Option<String> {
    let time = |name: &str| http_date(meta.header(name)?);
    let settled = time("last-modified")?.saturating_add(SETTLED_SECONDS) <= time("date")?;
    settled.then(|| meta.header("last-modified").map(str::to_string)).flatten()
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
        last_modified: settled(meta).filter(|_| keeping.dated),
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
            last_modified: None,
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
            assert_eq!(holds(&kept, &meta, false), expected, "{kept:?} {meta:?}");
        }
    }

    #[test]
    fn by_time_only_the_very_time_of_the_kept_answer_confirms_it() {
        const THEN: &str = "Fri, 30 Oct 2026 15:04:05 GMT";
        let file = |digit: char| format!("W/\"{}\"", digit.to_string().repeat(FILE_HASH));
        let of_token = |digit: char| format!("W/\"{}\"", digit.to_string().repeat(64));
        for (etag, now, time, expected) in [
            (file('a'), Some(file('a')), Some(THEN), true),
            (file('a'), None, Some(THEN), true),
            // The same time, and another file.
            (file('a'), Some(file('b')), Some(THEN), false),
            // Dated back, and later.
            (file('a'), None, Some("Thu, 29 Oct 2026 15:04:05 GMT"), false),
            (file('a'), Some(file('a')), Some("Sat, 31 Oct 2026 15:04:05 GMT"), false),
            (file('a'), Some(file('a')), None, false),
            // Tags that depend on the token.
            (of_token('a'), Some(of_token('b')), Some(THEN), true),
            (of_token('a'), Some(of_token('b')), None, false),
        ] {
            let kept = CachedAnswer { last_modified: Some(THEN.to_string()), ..kept(&etag, &[]) };
            let mut meta = said(now.as_deref(), &[], None);
            if let Some(time) = time {
                meta.headers.insert("last-modified", HeaderValue::from_str(time).unwrap());
            }
            assert_eq!(holds(&kept, &meta, true), expected, "{etag} {now:?} {time:?}");
            let elsewhere = Meta { redirected_to: Some("/things/1".to_string()), ..meta };
            assert!(!holds(&kept, &elsewhere, true));
        }
    }

    #[test]
    fn a_time_counts_once_it_has_passed_by_a_minute() {
        let at = |last: Option<&'static str>, date: Option<&'static str>| {
            let mut meta = Meta::default();
            for (name, value) in [("last-modified", last), ("date", date)] {
                value.map(|value| meta.headers.insert(name, HeaderValue::from_static(value)));
            }
            settled(&meta).is_some()
        };
        let changed = Some("Fri, 30 Oct 2026 15:04:05 GMT");
        assert!(at(changed, Some("Fri, 30 Oct 2026 15:05:05 GMT")));
        assert!(!at(changed, Some("Fri, 30 Oct 2026 15:05:04 GMT")));
        assert!(!at(changed, None) && !at(None, changed) && !at(Some("soon"), changed));
    }
}
