//! Writes a bundle: lists the entries, signs the list, and writes only what is signed.
//!
//! The contents are streamed and hashed once more on the way, so that a file that changed after it was listed is
//! never written completely. This module never opens a file; the caller provides each one.

use std::io::{self, Read, Write};

use evidence_text::{saturating_i64, saturating_u64};
use sha2::{Digest as _, Sha256};

use crate::checksums::{self, ChecksumList, ListError, Row};
use crate::key::{SIGNATURE_BYTES, SigningKey};
use crate::path::{self, BundlePath};
use crate::{gzip, header};

/// How many of the largest artifacts to name if a bundle is too large.
const LARGEST: usize = 5;

/// A file that goes into a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the bundle.
    pub path: BundlePath,
    /// The SHA-256 of its contents.
    pub sha256: [u8; 32],
    /// The size of its contents in bytes.
    pub size: u64,
}

/// What a bundle's list says of a file. A caller with many files implements it, so that they need not be copied.
pub trait Listed {
    /// The file's path in the bundle. One that breaks a rule for paths is refused later.
    fn path(&self) -> &str;

    /// The SHA-256 of its contents.
    fn sha256(&self) -> &[u8; 32];

    /// The size of its contents in bytes.
    fn size(&self) -> u64;
}

impl Listed for Entry {
    fn path(&self) -> &str {
        self.path.as_str()
    }

    fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// Why a bundle was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A verifier would not accept the list of these entries.
    #[error("the files do not form a valid bundle")]
    List(#[source] ListError),
    /// The time is before 1970 or beyond the limit of a tar header.
    #[error("the time {created_at} does not fit into an archive")]
    Time {
        /// The time in Unix seconds.
        created_at: i64,
    },
    /// A file is larger than the limit of a tar header (8 GiB).
    #[error("{path} has {size} bytes, more than an archive can hold")]
    EntryTooLarge {
        /// The file.
        path: String,
        /// Its size in bytes.
        size: u64,
    },
    /// The fresh signature does not verify with the key's own public half.
    #[error("the new signature does not verify with the public half of its own key")]
    SelfCheck,
    /// A file could not be opened or read.
    #[error("could not read {path}")]
    Read {
        /// The file.
        path: String,
        /// The error of the reader.
        source: io::Error,
    },
    /// A file does not have the listed size.
    #[error("{path} no longer has its listed size, {listed} bytes")]
    SizeChanged {
        /// The file.
        path: String,
        /// The listed size in bytes.
        listed: u64,
    },
    /// A file does not have the listed contents.
    #[error("{path} changed after it was listed")]
    ContentsChanged {
        /// The file.
        path: String,
    },
    /// The bundle could not be written.
    #[error("could not write the bundle")]
    Write(#[from] io::Error),
    /// The finished bundle is larger than allowed.
    #[error("the bundle has {actual} bytes, more than the limit of {limit} bytes")]
    TooLarge {
        /// The size of the finished bundle in bytes.
        actual: u64,
        /// The limit in bytes.
        limit: u64,
        /// The largest artifacts with their sizes before compression, largest first.
        largest: Vec<(String, u64)>,
        /// How many files of the bundle are not artifacts.
        documents: u64,
        /// Their total size before compression, in bytes.
        documents_bytes: u64,
    },
}

/// Files in archive order, not yet signed.
#[derive(Debug)]
pub struct UnsignedBundle<E = Entry> {
    created_at: u64,
    entries: Vec<E>,
    checksums: Vec<u8>,
}

impl<E: Listed> UnsignedBundle<E> {
    /// Puts the files into archive order and makes the same checks as a verifier.
    ///
    /// `created_at` is in Unix seconds and must match the manifest.
    ///
    /// # Errors
    /// Fails with [`WriteError::List`], [`WriteError::Time`] or [`WriteError::EntryTooLarge`].
    pub fn new(created_at: i64, mut entries: Vec<E>) -> Result<UnsignedBundle<E>, WriteError> {
        let time = u64::try_from(created_at).ok().filter(|time| *time <= header::MAX_NUMBER);
        let time = time.ok_or(WriteError::Time { created_at })?;
        if let Some(large) = entries.iter().find(|entry| entry.size() > header::MAX_NUMBER) {
            return Err(WriteError::EntryTooLarge { path: large.path().to_owned(), size: large.size() });
        }
        entries.sort_unstable_by(|left, right| path::archive_order(left.path(), right.path()));
        let limit = crate::read::Limits::DEFAULT.files;
        let list = ChecksumList::parse(render(&entries), limit).map_err(WriteError::List)?;
        Ok(UnsignedBundle { created_at: time, entries, checksums: list.into_bytes() })
    }

    /// Signs the list of checksums.
    ///
    /// # Errors
    /// Fails with [`WriteError::SelfCheck`] if the signature does not verify with the public half, for example
    /// after a memory fault.
    pub fn sign(self, key: &SigningKey) -> Result<SignedBundle<E>, WriteError> {
        let UnsignedBundle { created_at, entries, checksums } = self;
        let signature = key.sign(&checksums);
        if !key.public_key().verifies(&checksums, &signature) {
            return Err(WriteError::SelfCheck);
        }
        Ok(SignedBundle { created_at, entries, checksums, signature })
    }
}

fn render<E: Listed>(entries: &[E]) -> Vec<u8> {
    checksums::render(entries.iter().map(|entry| Row { sha256: *entry.sha256(), path: entry.path() }))
}

/// A signed list and the files it names: only this can be written as a bundle.
#[derive(Debug)]
pub struct SignedBundle<E = Entry> {
    created_at: u64,
    entries: Vec<E>,
    checksums: Vec<u8>,
    signature: [u8; SIGNATURE_BYTES],
}

impl<E: Listed> SignedBundle<E> {
    /// The time of every entry, in Unix seconds.
    pub fn created_at(&self) -> i64 {
        saturating_i64(self.created_at)
    }

    /// The exact bytes of `checksums.sha256`.
    pub fn checksums(&self) -> &[u8] {
        &self.checksums
    }

    /// The exact bytes of `signature.sig`.
    pub fn signature(&self) -> &[u8; SIGNATURE_BYTES] {
        &self.signature
    }

    /// The listed files in archive order, without the list and the signature.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Writes the archive without compression and returns the writer.
    ///
    /// # Errors
    /// Fails with [`WriteError::Read`], [`WriteError::SizeChanged`], [`WriteError::ContentsChanged`] or
    /// [`WriteError::Write`].
    pub fn write_tar<W, R, F>(&self, mut out: W, mut open: F) -> Result<W, WriteError>
    where
        W: Write,
        R: Read,
        F: FnMut(&E) -> io::Result<R>,
    {
        self.produce(&mut out, &mut open)?;
        Ok(out)
    }

    /// Writes the bundle, a canonical `.tar.gz`, and returns its size in bytes.
    ///
    /// # Errors
    /// Fails like [`SignedBundle::write_tar`], and with [`WriteError::TooLarge`] if the bundle has more than `limit`
    /// bytes. Bytes beyond the limit are counted, but not written.
    pub fn write<W, R, F>(&self, out: W, limit: Option<u64>, mut open: F) -> Result<u64, WriteError>
    where
        W: Write,
        R: Read,
        F: FnMut(&E) -> io::Result<R>,
    {
        let counter = Counter { out, written: 0, limit: limit.unwrap_or(u64::MAX) };
        let mut counter = gzip::compress(counter, |mut tar| self.produce(&mut tar, &mut open))?;
        if counter.written > counter.limit {
            return Err(self.too_large(counter.written, counter.limit));
        }
        counter.flush()?;
        Ok(counter.written)
    }

    fn produce<W, R, F>(&self, out: &mut W, open: &mut F) -> Result<(), WriteError>
    where
        W: Write,
        R: Read,
        F: FnMut(&E) -> io::Result<R>,
    {
        self.write_small(out, path::CHECKSUMS, &self.checksums)?;
        self.write_small(out, path::SIGNATURE, &self.signature)?;
        let mut buffer = vec![0; 64 * 1024];
        for entry in &self.entries {
            self.write_header(out, entry.path(), entry.size())?;
            let reader =
                open(entry).map_err(|source| WriteError::Read { path: entry.path().to_owned(), source })?;
            copy(entry, reader, out, &mut buffer)?;
            write_padding(out, entry.size())?;
        }
        Ok(out.write_all(&header::END)?)
    }

    fn write_small(&self, out: &mut impl Write, path: &str, contents: &[u8]) -> Result<(), WriteError> {
        let size = saturating_u64(contents.len());
        self.write_header(out, path, size)?;
        out.write_all(contents)?;
        write_padding(out, size)
    }

    fn write_header(&self, out: &mut impl Write, path: &str, size: u64) -> Result<(), WriteError> {
        let header = header::encode(path, size, self.created_at)
            .ok_or_else(|| io::Error::other("a number does not fit into a tar header"))?;
        Ok(out.write_all(&header)?)
    }

    fn too_large(&self, actual: u64, limit: u64) -> WriteError {
        let (mut artifacts, documents): (Vec<&E>, Vec<&E>) =
            self.entries.iter().partition(|entry| entry.path().starts_with("sources/"));
        artifacts.sort_by(|left, right| {
            right.size().cmp(&left.size()).then_with(|| left.path().cmp(right.path()))
        });
        let largest =
            artifacts.into_iter().take(LARGEST).map(|entry| (entry.path().to_owned(), entry.size()));
        WriteError::TooLarge {
            actual,
            limit,
            largest: largest.collect(),
            documents: saturating_u64(documents.len()),
            documents_bytes: documents.iter().map(|entry| entry.size()).fold(0, u64::saturating_add),
        }
    }
}

fn write_padding(out: &mut impl Write, size: u64) -> Result<(), WriteError> {
    let zeros = [0; header::BLOCK];
    Ok(out.write_all(zeros.get(..header::padding(size)).unwrap_or_default())?)
}

fn copy(
    entry: &impl Listed,
    mut from: impl Read,
    out: &mut impl Write,
    buffer: &mut [u8],
) -> Result<(), WriteError> {
    let mut hasher = Sha256::new();
    let mut left = entry.size();
    loop {
        let read = match from.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(WriteError::Read { path: entry.path().to_owned(), source }),
        };
        let chunk = buffer.get(..read).unwrap_or_default();
        left = u64::try_from(read)
            .ok()
            .and_then(|read| left.checked_sub(read))
            .ok_or_else(|| WriteError::SizeChanged { path: entry.path().to_owned(), listed: entry.size() })?;
        hasher.update(chunk);
        out.write_all(chunk)?;
    }
    if left > 0 {
        return Err(WriteError::SizeChanged { path: entry.path().to_owned(), listed: entry.size() });
    }
    if <[u8; 32]>::from(hasher.finalize()) != *entry.sha256() {
        return Err(WriteError::ContentsChanged { path: entry.path().to_owned() });
    }
    Ok(())
}

/// Counts every byte and passes on those within the limit.
struct Counter<W> {
    out: W,
    written: u64,
    limit: u64,
}

impl<W: Write> Write for Counter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written = self.written.saturating_add(saturating_u64(bytes.len()));
        if self.written <= self.limit {
            self.out.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
