//! Where each answer is in the file, and what a resumed run may take over. The journal knows the file format.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::Path;

use evidence_text::saturating_u32;
use jiff::{SignedDuration, Timestamp};
use ring::hmac;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::answer::{CacheKey, CachedAnswer};
use super::file::SUFFIX;
use super::journal::{self, AnswerEntry, EntryHead, Journal, JournalSpan, KeyHash, Mark};

/// The oldest answer that a resumed run takes over: one night's work. The run asks again for older answers, since
/// a bundle should show one state of the tenant.
const TAKEN_OVER_WITHIN: SignedDuration = SignedDuration::from_hours(24);
/// The index of the file in memory: where each answer is, and which run was the last.
pub(super) struct Index {
    pub(super) journal: Journal,
    pub(super) slots: HashMap<KeyHash, IndexEntry>,
    /// The number of the current run, counted along the file.
    pub(super) run: u32,
    /// The last run that did not finish: its number, and when it began.
    pub(super) unfinished: Option<(u32, Timestamp)>,
    /// Bytes of entries that are not superseded.
    pub(super) live: u64,
    /// Where this run's entries begin; `None` before the first.
    pub(super) begun: Option<u64>,
    /// The entry that announces this run.
    pub(super) beginning: EntryHead,
    /// Whether this run had an answer to keep or to confirm.
    pub(super) answered: bool,
    /// Writing failed: this run keeps nothing more.
    pub(super) broken: bool,
}

/// Where an answer is. Memory holds two for each subject, so it is small.
#[derive(Clone, Copy)]
pub(super) struct IndexEntry {
    pub(super) answer: JournalSpan,
    /// The mark of `answer`.
    pub(super) mark: Mark,
    pub(super) confirmed: Option<JournalSpan>,
    /// The run that asked last.
    pub(super) run: u32,
    /// When it asked, in seconds since 1970, up to 2106.
    pub(super) asked: u32,
    /// What the question is about: see [`about`].
    pub(super) about: u32,
    pub(super) kind: u8,
    /// Whether the answer has an entity tag.
    pub(super) tagged: bool,
    pub(super) resumable: bool,
}

impl Index {
    pub(super) fn read(file: File, key: hmac::Key, beginning: EntryHead) -> io::Result<Index> {
        let mut slots: HashMap<KeyHash, IndexEntry> = HashMap::new();
        let (mut run, mut unfinished, mut live) = (0, None, 0);
        let journal = Journal::read(file, key, |span, mark, head| match head {
            EntryHead::Began { at, resumes } => {
                run += 1;
                if !resumes || unfinished.is_none() {
                    unfinished = Some((run, at));
                }
            }
            EntryHead::Ended => unfinished = None,
            head => learn(&mut slots, &mut live, run, (span, mark), &head),
        })?;
        // The lost part may say that the run ended, or that another began.
        let unfinished = unfinished.filter(|_| !journal.is_damaged());
        let (begun, answered, broken) = (None, false, false);
        Ok(Index { journal, slots, run, unfinished, live, begun, beginning, answered, broken })
    }

    /// A locked copy of the file without superseded entries and those that no run asks for.
    pub(super) fn copied(&self, directory: &Path, key: &hmac::Key, oldest: i64) -> io::Result<NamedTempFile> {
        let new = tempfile::Builder::new().suffix(SUFFIX).tempfile_in(directory)?;
        // On Windows only this handle, or a clone of it, can read and write the locked file.
        new.as_file().try_lock()?;
        let mut journal = Journal::read(new.as_file().try_clone()?, key.clone(), |_, _, _| {})?;
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
            for span in [Some(slot.answer), slot.confirmed].into_iter().flatten() {
                journal.copy(&self.journal, span)?;
            }
        }
        Ok(new)
    }

    /// Writes an entry, preceded by the run's beginning if it is the first. So a run that reads nothing does not end
    /// a killed one.
    pub(super) fn write(&mut self, head: &EntryHead, record: &[u8]) {
        self.answered = true;
        // The next run asks again for a record this large.
        if self.broken || record.len() > journal::LONGEST_RECORD {
            return;
        }
        if self.begun.is_none() {
            let begun = self.journal.length();
            if self.journal.append(&self.beginning, &[]).is_err() {
                // Further entries would count as the previous run's.
                self.broken = true;
                return;
            }
            self.begun = Some(begun);
        }
        match self.journal.append(head, record) {
            Ok(entry) => learn(&mut self.slots, &mut self.live, self.run, entry, head),
            // A full disk only costs the next run some requests.
            Err(_) => self.broken = true,
        }
    }

    /// Writes that there is nothing to resume. On a full disk it makes room by dropping this run's entries, and then
    /// all entries.
    pub(super) fn end(&mut self) {
        let length = self.journal.length();
        for from in [length, self.begun.unwrap_or(length)] {
            self.journal.take_back(from);
            if self.journal.append(&EntryHead::Ended, &[]).is_ok() {
                return;
            }
        }
        self.journal.take_back(0);
    }

    pub(super) fn read_entry(&self, slot: &IndexEntry, question: CacheKey<'_>) -> Option<CachedAnswer> {
        let (EntryHead::Answer(answer), record) = self.journal.entry(slot.answer)? else { return None };
        let asked = answer.path == question.path && answer.accept == question.accept;
        let AnswerEntry { at, status, etag, last_modified, request_id, message, headers, resumable, .. } =
            answer;
        asked.then_some(CachedAnswer {
            at,
            status,
            etag,
            last_modified,
            request_id,
            message,
            headers,
            record,
            resumable,
        })
    }

    pub(super) fn is_of_unfinished(&self, slot: &IndexEntry, now: Timestamp) -> bool {
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
    let (span, mark) = entry;
    let asked = |at: &Timestamp| saturating_u32(at.as_second().max(0));
    match head {
        EntryHead::Answer(answer) => {
            let question = CacheKey { path: &answer.path, accept: &answer.accept };
            let slot = IndexEntry {
                answer: span,
                mark,
                confirmed: None,
                run,
                asked: asked(&answer.at),
                about: about(&answer.path),
                kind: answer.kind,
                tagged: answer.status == 200 && answer.etag.is_some(),
                resumable: answer.resumable,
            };
            *live += span.bytes();
            if let Some(before) = slots.insert(key(question), slot) {
                *live = live.saturating_sub(before.bytes());
            }
        }
        EntryHead::Confirmed { key, answer, at, .. } => {
            if let Some(slot) = slots.get_mut(key).filter(|slot| slot.mark == *answer) {
                let before = slot.confirmed.replace(span).map_or(0, JournalSpan::bytes);
                *live = (*live + span.bytes()).saturating_sub(before);
                (slot.run, slot.asked) = (run, asked(at));
            }
        }
        EntryHead::Began { .. } | EntryHead::Ended => {}
    }
}

impl IndexEntry {
    pub(super) fn bytes(&self) -> u64 {
        self.answer.bytes() + self.confirmed.map_or(0, JournalSpan::bytes)
    }
}

/// The subject of a question: the beginning of its path, such as `/repos/{owner}/{name}`, or a path that has no more than
/// that. Hashed, since it serves only to count subjects.
fn about(path: &str) -> u32 {
    let end = path.match_indices('/').nth(3).map_or(path.len(), |(at, _)| at);
    let mut hash = DefaultHasher::new();
    hash.write(path.get(..end).unwrap_or(path).as_bytes());
    saturating_u32(hash.finish() >> 32)
}

pub(super) fn key(question: CacheKey<'_>) -> KeyHash {
    let mut hash = Sha256::new();
    hash.update(question.accept.as_bytes());
    hash.update([0]);
    hash.update(question.path.as_bytes());
    KeyHash::first(&hash.finalize())
}
