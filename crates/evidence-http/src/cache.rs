//! What hosts answered in earlier runs, so that it need not be sent again: records with their entity tags.
//!
//! A record is what a source uses of an answer, never the answer itself. It is good for two things. A run asks the host
//! whether it still holds ([`Cache::find`]); the host's "not modified" makes it evidence of today. And a run that
//! resumes a killed one takes over what that one had read ([`Cache::taken_over`]).
//!
//! One file for each host, organization and token, readable by its owner alone, in the user's cache directory. Every
//! entry carries a tag made with the token, so that nobody without it can put words into the host's mouth. The file holds
//! neither the token nor anything it could be told by, and nothing that the screen finds a secret in. Without the file a
//! run asks for everything, and with a damaged one for what is behind the damage: it costs requests and changes nothing
//! else. Nothing is resumed from a damaged one, since it could have ended. One that was cut between two entries cannot be
//! told from that of a killed run.

mod journal;

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence_screen::{Confidence, Screen};
use jiff::{SignedDuration, Timestamp};
use ring::hmac;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use self::journal::{AnswerEntry, EntryHead, Journal, JournalSpan, KeyHash, Mark};
use super::proxy::Variables;

/// How old an answer may be that a resumed run takes over: the night of the run that was killed. What is older is
/// asked for anew, since a bundle should show one state of the organization.
const TAKEN_OVER_WITHIN: SignedDuration = SignedDuration::from_hours(24);
/// How long an answer is kept that no run asks about any more, and a file that no run opens.
const KEPT_SECONDS: i64 = 90 * 24 * 3600;
/// Bytes of outdated entries that are not worth a clean-up.
const TOLERATED: u64 = 4 * 1024 * 1024;
/// What ends the name of a file.
const SUFFIX: &str = ".records";

/// Whose answers are kept.
#[derive(Clone, Copy)]
pub struct CacheOwner<'a> {
    /// Base of the API.
    pub api_url: &'a str,
    /// The organization or account.
    pub organization: &'a str,
    /// What else all questions depend on, such as a branch.
    pub about: &'a str,
    /// The credential: what a host shows depends on who asks. Only what is derived from it is used.
    pub credential: &'a str,
}

/// What a run wants of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To collect.
    Collect {
        /// Whether to go on where a killed run ended.
        resume: bool,
    },
    /// To say what a collection would take; nothing is written.
    Plan {
        /// Whether that collection would resume a killed one.
        resume: bool,
    },
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct CacheKey<'a> {
    /// Path and query below the API's base.
    pub path: &'a str,
    /// The representation that is asked for.
    pub accept: &'a str,
}

/// An answer of the host, as it is kept.
#[derive(Debug, Clone)]
pub struct CachedAnswer {
    /// When it came, or was confirmed last by the run that is resumed.
    pub at: Timestamp,
    /// Its status: 200, 404, or 304 if it was confirmed.
    pub status: u16,
    /// Its entity tag.
    pub etag: Option<String>,
    /// The host's name for the request.
    pub request_id: Option<String>,
    /// The words of a refusal.
    pub message: Option<String>,
    /// Names of headers, in lower case, that came with it and on which more rests than on the body.
    pub headers: Vec<String>,
    /// What the source uses of the answer.
    pub record: Vec<u8>,
    /// Whether a run that resumes this one may take it over: it says something by itself.
    pub resumable: bool,
}

/// The answers of one host to one token about one organization.
pub struct Cache {
    state: Mutex<State>,
    screen: Arc<Screen>,
    writes: bool,
    resumes: bool,
}

struct State {
    journal: Journal,
    slots: HashMap<KeyHash, IndexEntry>,
    /// The number of the run that is going on, counted along the file.
    run: u32,
    /// The run that was not brought to its end: its number, and when it began.
    unfinished: Option<(u32, Timestamp)>,
    /// Bytes of entries that count.
    live: u64,
    /// Where this run's entries begin; `None` before the first.
    begun: Option<u64>,
    /// What the first will be.
    beginning: EntryHead,
    /// There was something to keep or to confirm.
    answered: bool,
    /// Writing failed: nothing more is kept.
    broken: bool,
}

/// What is in memory of an answer. There are two for each repository, so it is small.
#[derive(Clone, Copy)]
struct IndexEntry {
    answer: JournalSpan,
    /// That of `answer`.
    mark: Mark,
    confirmed: Option<JournalSpan>,
    /// The run that asked last.
    run: u32,
    /// When, in seconds since 1970, as far as 2106.
    asked: u32,
    kind: u8,
    /// Whether it can be asked for again by its entity tag.
    tagged: bool,
    resumable: bool,
}

/// Where caches are: `$XDG_CACHE_HOME/evidence`, else `~/.cache/evidence` (XDG Base Directory Specification).
pub fn directory(env: &impl Variables) -> Option<PathBuf> {
    let path = |name| env.raw(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let set = path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || path("HOME").map(|home| home.join(".cache"));
    Some(set.or_else(home)?.join("evidence"))
}

impl Cache {
    /// Opens the file of `owner` in `directory`, or makes it.
    ///
    /// # Errors
    ///
    /// If it cannot be made or read, is a link or somebody else's, or another run is using it.
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
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let path = directory.join(format!("{}{SUFFIX}", owner.derive("name").get(..32).unwrap_or_default()));
        let key = || hmac::Key::new(hmac::HMAC_SHA256, owner.derive("entries").as_bytes());
        let beginning = EntryHead::Began { at: now, resumes };
        let mut state = State::read(open_private(&path, writes)?, key(), beginning)?;
        if writes {
            sweep(directory, &path, now);
            state.journal.trim()?;
            if state.journal.is_damaged() {
                state.end();
            }
            let much = state.live.saturating_mul(2).saturating_add(TOLERATED);
            let oldest = now.as_second().saturating_sub(KEPT_SECONDS);
            let forgotten = state.slots.values().any(|slot| i64::from(slot.asked) < oldest);
            // Where there is no room for a copy, the file stays as it is.
            if (forgotten || state.journal.length() > much)
                && let Ok(new) = state.copied(directory, &key(), oldest)
            {
                let file = new.persist(&path).map_err(|error| error.error)?;
                state = State::read(file, key(), state.beginning)?;
            }
            if !resumes {
                state.unfinished = None;
            }
            state.run = state.run.saturating_add(1);
        }
        Ok(Cache { state: Mutex::new(state), screen, writes, resumes })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to this question that a host can be asked about: the last one that had an entity tag.
    pub fn find(&self, question: CacheKey<'_>) -> Option<CachedAnswer> {
        let state = self.lock();
        let slot = state.slots.get(&key(question)).filter(|slot| slot.tagged)?;
        state.read_entry(slot, question)
    }

    /// The answer that the run which is resumed had to this question, if it is not too old.
    pub fn taken_over(&self, question: CacheKey<'_>, now: Timestamp) -> Option<CachedAnswer> {
        let state = self.lock();
        let slot = state.slots.get(&key(question)).filter(|slot| slot.resumable)?;
        if !self.resumes || !state.is_of_unfinished(slot, now) {
            return None;
        }
        let mut kept = state.read_entry(slot, question)?;
        if let Some((EntryHead::Confirmed { at, request_id, .. }, _)) =
            slot.confirmed.and_then(|stretch| state.journal.entry(stretch))
        {
            kept = CachedAnswer { at, request_id, status: 304, ..kept };
        }
        Some(kept)
    }

    /// Keeps an answer, unless the screen finds something in it: in what is kept, or in `clear`, which is what an
    /// encoding hides in it.
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

    /// The host said that its answer to this question still holds.
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
        u64::try_from(counted).unwrap_or(u64::MAX)
    }

    /// How many answers of this kind would be taken over from the run that is resumed.
    pub fn count_taken_over(&self, kind: u8, now: Timestamp) -> u64 {
        let state = self.lock();
        let counted = state.slots.values().filter(|slot| {
            self.resumes && slot.resumable && slot.kind == kind && state.is_of_unfinished(slot, now)
        });
        u64::try_from(counted.count()).unwrap_or(u64::MAX)
    }

    /// When the run began that this one resumes; `None` if there is nothing to resume.
    pub fn resumed_run(&self) -> Option<Timestamp> {
        self.lock().unfinished.filter(|_| self.resumes).map(|(_, began)| began)
    }

    /// Nothing is asked any more: what is in memory for finding answers goes.
    pub fn close(&self) {
        self.lock().slots = HashMap::new();
    }

    /// The run has delivered its bundle: there is nothing to resume, neither it nor one before it. A run that read
    /// nothing and resumed none ends none that was killed.
    pub fn finish(&self) {
        let mut state = self.lock();
        if self.writes && (state.answered || state.unfinished.is_some()) {
            state.end();
        }
    }
}

impl CacheOwner<'_> {
    /// A text for `what` that depends on everything in here and on the version of this tool, since another version
    /// may use other parts of an answer.
    fn derive(&self, what: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.credential.as_bytes());
        let version = concat!("evidence ", env!("CARGO_PKG_VERSION"));
        let organization = self.organization.to_ascii_lowercase();
        let text = [version, what, self.api_url, &organization, self.about].join("\n");
        hex::encode(hmac::sign(&key, text.as_bytes()))
    }
}

impl State {
    fn read(file: File, key: hmac::Key, beginning: EntryHead) -> io::Result<State> {
        let mut slots: HashMap<KeyHash, IndexEntry> = HashMap::new();
        let (mut run, mut unfinished, mut live) = (0, None, 0);
        let journal = Journal::read(file, key, |stretch, mark, head| match head {
            EntryHead::Began { at, resumes } => {
                run += 1;
                if !resumes || unfinished.is_none() {
                    unfinished = Some((run, at));
                }
            }
            EntryHead::Ended => unfinished = None,
            head => learn(&mut slots, &mut live, run, (stretch, mark), &head),
        })?;
        // Among what is lost can be that the run has ended, or that another one began.
        let unfinished = unfinished.filter(|_| !journal.is_damaged());
        let (begun, answered, broken) = (None, false, false);
        Ok(State { journal, slots, run, unfinished, live, begun, beginning, answered, broken })
    }

    /// A file with the same without what has been superseded or is no longer asked for, and locked.
    fn copied(&self, directory: &Path, key: &hmac::Key, oldest: i64) -> io::Result<NamedTempFile> {
        let new = tempfile::Builder::new().suffix(SUFFIX).tempfile_in(directory)?;
        new.as_file().try_lock()?;
        let mut journal = Journal::read(new.reopen()?, key.clone(), |_, _, _| {})?;
        let (first_unfinished, began) = self.unfinished.unwrap_or((u32::MAX, Timestamp::MIN));
        let mut slots: Vec<&IndexEntry> =
            self.slots.values().filter(|slot| i64::from(slot.asked) >= oldest).collect();
        slots.sort_by_key(|slot| (slot.run, slot.answer.offset));
        let mut begun = false;
        for slot in slots {
            if slot.run >= first_unfinished && !begun {
                begun = true;
                journal.append(&EntryHead::Began { at: began, resumes: false }, &[])?;
            }
            for stretch in [Some(slot.answer), slot.confirmed].into_iter().flatten() {
                journal.copy(&self.journal, stretch)?;
            }
        }
        Ok(new)
    }

    /// Writes an entry; before the first one, that the run began. A run that reads nothing ends none that was killed.
    fn write(&mut self, head: &EntryHead, record: &[u8]) {
        self.answered = true;
        // What is that large is asked for anew.
        if self.broken || record.len() > journal::LONGEST_RECORD {
            return;
        }
        if self.begun.is_none() {
            let begun = self.journal.length();
            if self.journal.append(&self.beginning, &[]).is_err() {
                // What came now would count to the run before.
                self.broken = true;
                return;
            }
            self.begun = Some(begun);
        }
        match self.journal.append(head, record) {
            Ok(entry) => learn(&mut self.slots, &mut self.live, self.run, entry, head),
            // A full disk costs the next run some requests.
            Err(_) => self.broken = true,
        }
    }

    /// Writes that there is nothing to resume. On a full disk what this run wrote makes room for that, and where that is
    /// not enough, everything.
    fn end(&mut self) {
        let length = self.journal.length();
        for from in [length, self.begun.unwrap_or(length)] {
            self.journal.take_back(from);
            if self.journal.append(&EntryHead::Ended, &[]).is_ok() {
                return;
            }
        }
        self.journal.take_back(0);
    }

    fn read_entry(&self, slot: &IndexEntry, question: CacheKey<'_>) -> Option<CachedAnswer> {
        let (EntryHead::Answer(answer), record) = self.journal.entry(slot.answer)? else { return None };
        let asked = answer.path == question.path && answer.accept == question.accept;
        let AnswerEntry { at, status, etag, request_id, message, headers, resumable, .. } = answer;
        asked.then_some(CachedAnswer { at, status, etag, request_id, message, headers, record, resumable })
    }

    fn is_of_unfinished(&self, slot: &IndexEntry, now: Timestamp) -> bool {
        let oldest = now.as_second().saturating_sub(TAKEN_OVER_WITHIN.as_secs());
        let recent = (oldest..=now.as_second()).contains(&i64::from(slot.asked));
        self.unfinished.is_some_and(|(run, _)| slot.run >= run) && recent
    }
}

fn learn(
    slots: &mut HashMap<KeyHash, IndexEntry>,
    live: &mut u64,
    run: u32,
    entry: (JournalSpan, Mark),
    head: &EntryHead,
) {
    let (stretch, mark) = entry;
    let asked = |at: &Timestamp| u32::try_from(at.as_second().max(0)).unwrap_or(u32::MAX);
    match head {
        EntryHead::Answer(answer) => {
            let question = CacheKey { path: &answer.path, accept: &answer.accept };
            let slot = IndexEntry {
                answer: stretch,
                mark,
                confirmed: None,
                run,
                asked: asked(&answer.at),
                kind: answer.kind,
                tagged: answer.status == 200 && answer.etag.is_some(),
                resumable: answer.resumable,
            };
            *live += stretch.bytes();
            if let Some(before) = slots.insert(key(question), slot) {
                *live = live.saturating_sub(before.bytes());
            }
        }
        EntryHead::Confirmed { key, answer, at, .. } => {
            if let Some(slot) = slots.get_mut(key).filter(|slot| slot.mark == *answer) {
                let before = slot.confirmed.replace(stretch).map_or(0, JournalSpan::bytes);
                *live = (*live + stretch.bytes()).saturating_sub(before);
                (slot.run, slot.asked) = (run, asked(at));
            }
        }
        EntryHead::Began { .. } | EntryHead::Ended => {}
    }
}

impl IndexEntry {
    fn bytes(&self) -> u64 {
        self.answer.bytes() + self.confirmed.map_or(0, JournalSpan::bytes)
    }
}

fn key(question: CacheKey<'_>) -> KeyHash {
    let mut hash = Sha256::new();
    hash.update(question.accept.as_bytes());
    hash.update([0]);
    hash.update(question.path.as_bytes());
    KeyHash::first(&hash.finalize())
}

/// The file for its owner alone, and for this process alone. Whoever only reads has none where there is none.
fn open_private(path: &Path, writes: bool) -> io::Result<File> {
    let found = fs::symlink_metadata(path);
    // A link that somebody put there would lead into a file of their choice.
    if found.as_ref().is_ok_and(|found| !found.is_file() || found.nlink() != 1) {
        return Err(io::Error::other("it is a link or not a regular file"));
    }
    if !writes && found.is_err() {
        return tempfile::tempfile();
    }
    let mut options = OpenOptions::new();
    options.read(true).write(writes).create(writes).truncate(false).mode(0o600);
    let file = options.open(path)?;
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => io::Error::other("another run is using it"),
        fs::TryLockError::Error(error) => error,
    })?;
    let (found, opened) = (fs::symlink_metadata(path)?, file.metadata()?);
    if (found.dev(), found.ino()) != (opened.dev(), opened.ino()) {
        return Err(io::Error::other("another run is using it"));
    }
    if writes {
        // Fails on somebody else's file.
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Removes the files of tokens and organizations that no run asks with any more.
fn sweep(directory: &Path, except: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let oldest = now.as_second().saturating_sub(KEPT_SECONDS);
    for entry in entries.flatten() {
        let path = entry.path();
        let is_ours = path.to_string_lossy().ends_with(SUFFIX) && path != except;
        let found = entry.metadata().ok().filter(fs::Metadata::is_file);
        if is_ours && found.is_some_and(|found| found.mtime() < oldest) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests;
