//! The file of a cache: a sequence of entries, each with a tag that only who knows its secret can make.
//!
//! Reading ends at the first fault, whether a killed run cut the file off, the disk damaged it or another program wrote
//! to it: the entries before the fault count, those after it are dropped. The journal does not decide what an entry is
//! good for.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::num::NonZeroU32;

use evidence_os::file;
use evidence_text::saturating_usize;
use jiff::Timestamp;
use ring::hmac;
use serde::{Deserialize, Serialize};

/// The tag of an entry: HMAC-SHA256 (RFC 2104).
const TAG: usize = 32;
/// Bytes before an entry's content: its length, and the tag.
const PREFIX: usize = 4 + TAG;
/// The largest entry: a CODEOWNERS file of 3 MB in base64, and its metadata.
const LONGEST: usize = 8 * 1024 * 1024;
/// The largest record: the metadata needs far less than the rest.
pub(super) const LONGEST_RECORD: usize = LONGEST - 1024 * 1024;
/// The largest file: ten times what 50,000 subjects need.
const LARGEST: u64 = 2 * 1024 * 1024 * 1024;

/// What an entry says, before the record it may bring.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum EntryHead {
    /// A run began.
    Began {
        /// When.
        at: Timestamp,
        /// Whether it resumes the run before.
        resumes: bool,
    },
    /// Earlier runs cannot be resumed: the last one delivered its bundle, or it is unknown whether it did.
    Ended,
    /// The host answered. The reduced record follows.
    Answer(AnswerEntry),
    /// The host said that its answer still holds.
    Confirmed {
        /// Of which question.
        key: KeyHash,
        /// Which answer: a later answer to the same question was not confirmed.
        answer: Mark,
        /// When.
        at: Timestamp,
        /// The host's id for the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
}

/// The metadata of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AnswerEntry {
    /// What was asked.
    pub(super) path: String,
    /// For which representation.
    pub(super) accept: String,
    /// The kind of question, as the source numbers them.
    pub(super) kind: u8,
    /// When the answer came.
    pub(super) at: Timestamp,
    /// Its status.
    pub(super) status: u16,
    /// Its entity tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    /// When it changed, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
    /// The host's id for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<String>,
    /// The words of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// Significant headers that came with it, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) headers: Vec<String>,
    /// Whether a run that resumes this one may take it over.
    #[serde(default)]
    pub(super) resumable: bool,
}

/// The hash of a question, to find it again.
pub(super) type KeyHash = Digits<16>;

/// The beginning of an entry's tag, by which another entry refers to it.
pub(super) type Mark = Digits<8>;

/// The first bytes of a hash; in the file as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Digits<const N: usize>([u8; N]);

impl<const N: usize> Digits<N> {
    /// The first digits of `hash`, which has at least as many.
    pub(super) fn first(hash: &[u8]) -> Digits<N> {
        let mut digits = [0; N];
        digits.iter_mut().zip(hash).for_each(|(place, byte)| *place = *byte);
        Digits(digits)
    }
}

impl<const N: usize> From<Digits<N>> for String {
    fn from(digits: Digits<N>) -> String {
        hex::encode(digits.0)
    }
}

impl<const N: usize> TryFrom<String> for Digits<N> {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Digits<N>, hex::FromHexError> {
        let mut bytes = [0; N];
        hex::decode_to_slice(text, &mut bytes).map(|()| Digits(bytes))
    }
}

/// The part of the file that holds one entry. Memory holds two for each answer, so it is small: the journal reads and
/// writes no file of 4 GiB or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JournalSpan {
    pub(super) offset: u32,
    pub(super) length: NonZeroU32,
}

impl JournalSpan {
    /// Its length in the file.
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.length.get())
    }

    /// `None` if one of them does not fit.
    fn new(offset: u64, length: usize) -> Option<JournalSpan> {
        let length = NonZeroU32::new(u32::try_from(length).ok()?)?;
        Some(JournalSpan { offset: u32::try_from(offset).ok()?, length })
    }
}

/// The open file.
pub(super) struct Journal {
    file: File,
    end: u64,
    /// Whether anything followed the sound part when the file was read.
    damaged: bool,
    /// The most bytes that the file may have.
    pub(super) room: u64,
    key: hmac::Key,
}

impl Journal {
    /// Reads the entries of the file up to the first fault; new entries are appended there.
    ///
    /// # Errors
    ///
    /// Fails if the disk cannot be read.
    pub(super) fn read(
        mut file: File,
        key: hmac::Key,
        mut each: impl FnMut(JournalSpan, Mark, EntryHead),
    ) -> io::Result<Journal> {
        file.rewind()?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let (mut end, mut entry) = (0, Vec::new());
        while let Some(mark) = next(&mut reader, &key, &mut entry)? {
            let Some((head, _)) = split(&entry) else { break };
            let Some(span) = JournalSpan::new(end, PREFIX + entry.len()) else { break };
            each(span, mark, head);
            end += span.bytes();
        }
        let file = reader.into_inner();
        let damaged = file.metadata()?.len() > end;
        Ok(Journal { file, end, damaged, room: LARGEST, key })
    }

    /// Whether bytes follow the sound part that are not a sound entry.
    pub(super) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.end
    }

    /// Cuts off everything after the last sound entry.
    ///
    /// # Errors
    ///
    /// Fails if the disk cannot be written.
    pub(super) fn trim(&self) -> io::Result<()> {
        self.file.set_len(self.end)
    }

    /// Removes the entries from this position on. Needs no room on the disk.
    pub(super) fn take_back(&mut self, end: u64) {
        if self.file.set_len(end).is_ok() {
            self.end = end;
        }
    }

    /// Appends an entry, at once and as a whole.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails, or the entry or the file is too large.
    pub(super) fn append(&mut self, head: &EntryHead, record: &[u8]) -> io::Result<(JournalSpan, Mark)> {
        let mut entry = vec![0; PREFIX];
        serde_json::to_writer(&mut entry, head)?;
        entry.push(b'\n');
        entry.extend_from_slice(record);
        let length = entry.len() - PREFIX;
        let announced = u32::try_from(length).ok().filter(|_| length <= LONGEST);
        let span = JournalSpan::new(self.end, entry.len());
        let Some((announced, span)) = announced.zip(span) else {
            return Err(io::Error::other("the entry is too large"));
        };
        let tag = hmac::sign(&self.key, entry.get(PREFIX..).unwrap_or_default());
        for (place, byte) in entry.iter_mut().zip(announced.to_le_bytes().iter().chain(tag.as_ref())) {
            *place = *byte;
        }
        if self.end + span.bytes() > self.room {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file::write_all_at(&self.file, &entry, self.end)?;
        self.end += span.bytes();
        Ok((span, Mark::first(tag.as_ref())))
    }

    /// Copies an entry of another journal with the same key.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails.
    pub(super) fn copy(&mut self, from: &Journal, span: JournalSpan) -> io::Result<()> {
        let mut entry = vec![0; usize::try_from(span.bytes()).map_err(io::Error::other)?];
        file::read_exact_at(&from.file, &mut entry, u64::from(span.offset))?;
        file::write_all_at(&self.file, &entry, self.end)?;
        self.end += span.bytes();
        Ok(())
    }

    /// The entry there and its record, if the file has not changed.
    pub(super) fn entry(&self, span: JournalSpan) -> Option<(EntryHead, Vec<u8>)> {
        let mut entry = vec![0; usize::try_from(span.bytes()).ok()?];
        file::read_exact_at(&self.file, &mut entry, u64::from(span.offset)).ok()?;
        let content = entry.split_off(PREFIX.min(entry.len()));
        hmac::verify(&self.key, &content, entry.get(4..)?).ok()?;
        let (head, record) = split(&content)?;
        let record = record.to_vec();
        Some((head, record))
    }
}

/// Reads the next entry's content into `entry` and returns its mark; `None` at the end of the sound
/// part.
fn next(reader: &mut BufReader<File>, key: &hmac::Key, entry: &mut Vec<u8>) -> io::Result<Option<Mark>> {
    let mut prefix = [0; PREFIX];
    if !whole(reader.read_exact(&mut prefix))? {
        return Ok(None);
    }
    let (length, tag) = prefix.split_at(4);
    let length = length.try_into().map_or(0, u32::from_le_bytes);
    let content = saturating_usize(length);
    if content > LONGEST {
        return Ok(None);
    }
    entry.resize(content, 0);
    if !whole(reader.read_exact(entry))? || hmac::verify(key, entry, tag).is_err() {
        return Ok(None);
    }
    Ok(Some(Mark::first(tag)))
}

/// Whether the read was complete; a file that ends early is not a disk failure.
fn whole(read: io::Result<()>) -> io::Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn split(content: &[u8]) -> Option<(EntryHead, &[u8])> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let (head, record) = content.split_at(end);
    Some((serde_json::from_slice(head).ok()?, record.get(1..)?))
}
