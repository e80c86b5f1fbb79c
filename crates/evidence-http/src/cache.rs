//! Answers of earlier runs, kept with their entity tags, so that hosts need not send them again.
//!
//! A record holds what a source uses of an answer, never the answer itself. It has two uses. A run asks the host
//! whether the record still holds ([`Cache::find`]); the host's "not modified" makes it evidence of today. And a run
//! that resumes a killed one takes over what that run had read ([`Cache::resumed`]).
//!
//! The user's cache directory has one file for each host, tenant and account, readable by its owner alone. Every
//! entry carries a tag made with the owner's secret, so that only who knows the secret can forge an answer. The file
//! holds neither the secret nor anything that identifies it, and nothing in which the screen finds a secret. A missing or
//! damaged file costs only requests: without the file, a run asks for everything; with a damaged one, for everything
//! after the damage. A run never resumes from a damaged file, since the lost part may say that the run ended. A file
//! that was cut between two entries looks the same as that of a killed run.

mod answer;
mod file;
mod index;
mod journal;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence_screen::{Confidence, Screen};
use evidence_text::saturating_u64;
use jiff::Timestamp;
use ring::hmac;

pub use self::answer::{CacheKey, CachedAnswer};
pub use self::file::directory;
use self::file::{KEPT_SECONDS, SUFFIX, open_private, sweep};
use self::index::{Index, key};
use self::journal::{AnswerEntry, EntryHead};

/// Bytes of outdated entries that are not worth a clean-up.
const TOLERATED: u64 = 4 * 1024 * 1024;

/// Whose answers the cache keeps.
#[derive(Clone, Copy)]
pub struct CacheOwner<'a> {
    /// Base of the API.
    pub api_url: &'a str,
    /// Whose data the answers hold: the host's customer, by the name that a user gave.
    pub tenant: &'a str,
    /// What else all questions depend on, such as a branch.
    pub about: &'a str,
    /// The account that asks, if it is known: what a host shows depends on it.
    pub account: &'a str,
    /// What only a trusted run knows. The cache uses only values derived from it.
    pub secret: &'a [u8],
}

/// What a run does with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To collect.
    Collect {
        /// Whether to resume a killed run.
        resume: bool,
    },
    /// To estimate a collection; writes nothing.
    Plan {
        /// Whether that collection would resume a killed one.
        resume: bool,
    },
}

/// The answers of one host to one account about one tenant.
pub struct Cache {
    state: Mutex<Index>,
    screen: Arc<Screen>,
    writes: bool,
    resumes: bool,
}

impl Cache {
    /// Opens the file of `owner` in `directory`, or creates it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be created or read, is a link or belongs to another user, or another
    /// run is using it.
    pub fn open(
        directory: &Path,
        owner: CacheOwner<'_>,
        purpose: Purpose,
        screen: Arc<Screen>,
        now: Timestamp,
    ) -> io::Result<Cache> {
        let (writes, resumes) = match purpose {
            Purpose::Collect { resume } => (true, resume),
            Purpose::Plan { resume } => (false, resume),
        };
        if writes {
            evidence_os::file::create_directory(directory)?;
        }
        let path = directory.join(format!("{}{SUFFIX}", owner.derive("name").get(..32).unwrap_or_default()));
        let key = || hmac::Key::new(hmac::HMAC_SHA256, owner.derive("entries").as_bytes());
        let beginning = EntryHead::Began { at: now, resumes };
        let mut state = Index::read(open_private(&path, writes)?, key(), beginning)?;
        if writes {
            sweep(directory, &path, now);
            state.journal.trim()?;
            if state.journal.is_damaged() {
                state.end();
            }
            let much = state.live.saturating_mul(2).saturating_add(TOLERATED);
            let oldest = now.as_second().saturating_sub(KEPT_SECONDS);
            let forgotten = state.slots.values().any(|slot| i64::from(slot.asked) < oldest);
            // Without room for a copy, keep the file unchanged.
            if (forgotten || state.journal.length() > much)
                && let Ok(new) = state.copied(directory, &key(), oldest)
            {
                let beginning = state.beginning.clone();
                let file = evidence_os::file::replace(new, &path, state)?;
                state = Index::read(file, key(), beginning)?;
            }
            if !resumes {
                state.unfinished = None;
            }
            state.run = state.run.saturating_add(1);
        }
        Ok(Cache { state: Mutex::new(state), screen, writes, resumes })
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last answer to this question, if it has an entity tag to ask the host about.
    pub fn find(&self, question: CacheKey<'_>) -> Option<CachedAnswer> {
        let state = self.lock();
        let slot = state.slots.get(&key(question)).filter(|slot| slot.tagged)?;
        state.read_entry(slot, question)
    }

    /// The resumed run's answer to this question, if it is not too old.
    pub fn resumed(&self, question: CacheKey<'_>, now: Timestamp) -> Option<CachedAnswer> {
        let state = self.lock();
        let slot = state.slots.get(&key(question)).filter(|slot| slot.resumable)?;
        if !self.resumes || !state.is_of_unfinished(slot, now) {
            return None;
        }
        let mut kept = state.read_entry(slot, question)?;
        if let Some((EntryHead::Confirmed { at, request_id, .. }, _)) =
            slot.confirmed.and_then(|span| state.journal.entry(span))
        {
            kept = CachedAnswer { at, request_id, status: 304, ..kept };
        }
        Some(kept)
    }

    /// Keeps an answer, unless the screen finds a secret in it or in `clear`, the decoded form of what the record
    /// encodes.
    pub fn keep(&self, question: CacheKey<'_>, kind: u8, kept: &CachedAnswer, clear: Option<&[u8]>) {
        let suspicious = |text: &[u8]| self.suspicious(text);
        if !self.writes || suspicious(&kept.record) || clear.is_some_and(suspicious) {
            return;
        }
        let head = EntryHead::Answer(AnswerEntry {
            path: question.path.to_string(),
            accept: question.accept.to_string(),
            kind,
            at: kept.at,
            status: kept.status,
            etag: kept.etag.clone(),
            last_modified: kept.last_modified.clone(),
            request_id: kept.request_id.clone(),
            message: kept.message.clone(),
            headers: kept.headers.clone(),
            resumable: kept.resumable,
        });
        let said = serde_json::to_vec(&head).unwrap_or_default();
        if !suspicious(&said) {
            self.lock().write(&head, &kept.record);
        }
    }

    /// Notes that the host confirmed its answer to this question.
    pub fn confirm(&self, question: CacheKey<'_>, at: Timestamp, request_id: Option<&str>) {
        if self.writes {
            let request_id = request_id.filter(|id| !self.suspicious(id.as_bytes())).map(str::to_string);
            let key = key(question);
            let mut state = self.lock();
            if let Some(answer) = state.slots.get(&key).map(|slot| slot.mark) {
                state.write(&EntryHead::Confirmed { key, answer, at, request_id }, &[]);
            }
        }
    }

    fn suspicious(&self, text: &[u8]) -> bool {
        self.screen.check(text).iter().any(|finding| finding.confidence == Confidence::High)
    }

    /// How many answers of this kind the host can be asked about.
    pub fn count(&self, kind: u8) -> u64 {
        let state = self.lock();
        let counted = state.slots.values().filter(|slot| slot.kind == kind && slot.tagged).count();
        saturating_u64(counted)
    }

    /// How many answers of this kind would be taken over from the run that is resumed.
    pub fn count_taken_over(&self, kind: u8, now: Timestamp) -> u64 {
        let state = self.lock();
        let counted = state.slots.values().filter(|slot| {
            self.resumes && slot.resumable && slot.kind == kind && state.is_of_unfinished(slot, now)
        });
        saturating_u64(counted.count())
    }

    /// About how many subjects there is an answer of these kinds that the host can be asked about, or that the run that is
    /// resumed has asked for; and how many the latter are.
    pub fn count_subjects(&self, kinds: &[u8], now: Timestamp) -> (u64, u64) {
        let state = self.lock();
        let (mut known, mut asked) = (HashSet::new(), HashSet::new());
        for slot in state.slots.values().filter(|slot| kinds.contains(&slot.kind)) {
            let is_asked = self.resumes && state.is_of_unfinished(slot, now);
            if is_asked {
                asked.insert(slot.about);
            }
            if is_asked || slot.tagged {
                known.insert(slot.about);
            }
        }
        (saturating_u64(known.len()), saturating_u64(asked.len()))
    }

    /// When the resumed run began; `None` if there is nothing to resume.
    pub fn resumed_run(&self) -> Option<Timestamp> {
        self.lock().unfinished.filter(|_| self.resumes).map(|(_, began)| began)
    }

    /// Frees the memory for finding answers, once there are no more questions.
    pub fn close(&self) {
        self.lock().slots = HashMap::new();
    }

    /// Notes that the run delivered its bundle, so that neither it nor an earlier run can be resumed. A run that
    /// read nothing and resumed nothing leaves an earlier killed run resumable.
    pub fn finish(&self) {
        let mut state = self.lock();
        if self.writes && (state.answered || state.unfinished.is_some()) {
            state.end();
        }
    }
}

impl CacheOwner<'_> {
    /// A text for `what` that depends on all fields and on the version of this tool, since another version may use
    /// other parts of an answer.
    fn derive(&self, what: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.secret);
        let version = concat!("evidence ", env!("CARGO_PKG_VERSION"));
        let tenant = self.tenant.to_ascii_lowercase();
        let text = [version, what, self.api_url, &tenant, self.about, self.account].join("\n");
        hex::encode(hmac::sign(&key, text.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
