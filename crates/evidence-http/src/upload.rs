//! A file that is sent as a whole or not at all.
//!
//! Its length and digest are computed once. It is streamed from the disk, and its last bytes are sent only if the whole
//! still has that digest. It may be sent again, and is never in memory as a whole.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_os::file;
use sha2::{Digest as _, Sha256};

use super::watch::Watch;

/// The size of one piece.
const CHUNK: u64 = 256 * 1024;

/// An open file of known length and digest, ready to be sent.
#[derive(Debug, Clone)]
pub struct UploadFile {
    file: Arc<File>,
    bytes: u64,
    sha256: [u8; 32],
    invalidated: Arc<Mutex<Option<Invalidated>>>,
}

/// Why a file cannot be sent as it was announced.
#[derive(Debug)]
pub enum Invalidated {
    /// The file has changed since its digest was computed.
    Changed,
    /// The file cannot be read.
    Unreadable(io::Error),
}

impl UploadFile {
    /// A file from which `bytes` bytes with this digest were read.
    pub fn new(file: Arc<File>, bytes: u64, sha256: [u8; 32]) -> UploadFile {
        UploadFile { file, bytes, sha256, invalidated: Arc::default() }
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its digest in lower-case hex.
    pub fn sha256(&self) -> String {
        hex::encode(self.sha256)
    }

    /// Why it could not be sent, if the file was the cause. Returned once.
    pub fn take_invalidated(&self) -> Option<Invalidated> {
        self.lock().take()
    }

    /// `Content-Digest` (RFC 9530).
    pub(super) fn content_digest(&self) -> String {
        format!("sha-256=:{}:", STANDARD.encode(self.sha256))
    }

    /// Whether sending it again is useless.
    pub(super) fn is_invalidated(&self) -> bool {
        self.lock().is_some()
    }

    /// A body that streams the file in pieces.
    pub(super) fn body(&self, watch: &Arc<dyn Watch>) -> reqwest::Body {
        let loading =
            Loading { upload: self.clone(), done: 0, hasher: Sha256::new(), watch: Arc::clone(watch) };
        // Reading a piece blocks the thread, but only for one disk read.
        reqwest::Body::wrap_stream(futures_util::stream::unfold(loading, async |mut loading| {
            Some((loading.next()?, loading))
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Invalidated>> {
        self.invalidated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file on its way.
struct Loading {
    upload: UploadFile,
    done: u64,
    hasher: Sha256,
    watch: Arc<dyn Watch>,
}

impl Loading {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let left = self.upload.bytes.checked_sub(self.done).filter(|left| *left > 0)?;
        Some(self.piece(left.min(CHUNK)).map_err(|invalidated| {
            *self.upload.lock() = Some(invalidated);
            io::Error::other("the file changed while it was sent")
        }))
    }

    fn piece(&mut self, length: u64) -> Result<Vec<u8>, Invalidated> {
        let mut piece = vec![0; usize::try_from(length).unwrap_or_default()];
        match file::read_exact_at(&self.upload.file, &mut piece, self.done) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Invalidated::Changed),
            Err(error) => return Err(Invalidated::Unreadable(error)),
        }
        self.hasher.update(&piece);
        self.done += length;
        // Hold the last piece back until the digest of the whole is verified.
        if self.done == self.upload.bytes {
            let longer =
                self.upload.file.metadata().map_err(Invalidated::Unreadable)?.len() != self.upload.bytes;
            if longer || self.hasher.finalize_reset()[..] != self.upload.sha256 {
                return Err(Invalidated::Changed);
            }
        }
        self.watch.sent(self.done);
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    struct Nobody;

    impl Watch for Nobody {}

    fn upload(content: &[u8]) -> (tempfile::NamedTempFile, UploadFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().write_all(content).unwrap();
        let digest = Sha256::digest(content).into();
        let upload = UploadFile::new(Arc::new(file.reopen().unwrap()), content.len() as u64, digest);
        (file, upload)
    }

    /// The bytes that are sent, and why they end early if they do.
    fn sent(upload: &UploadFile, during: impl Fn(u64)) -> (Vec<u8>, Option<Invalidated>) {
        let mut loading =
            Loading { upload: upload.clone(), done: 0, hasher: Sha256::new(), watch: Arc::new(Nobody) };
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = loading.next() {
            bytes.extend(piece);
            during(loading.done);
        }
        (bytes, upload.take_invalidated())
    }

    #[test]
    fn a_file_leaves_whole() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let content: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let (_file, upload) = upload(&content);
            let (bytes, invalidated) = sent(&upload, |_| {});
            assert!(invalidated.is_none() && bytes == content, "{length}");
        }
    }

    #[test]
    fn a_file_that_changes_never_leaves_whole() {
        let content = vec![7; 3 * CHUNK as usize];
        let changes: [&dyn Fn(&File); 4] = [
            &|file| file::write_all_at(file, b"x", 0).unwrap(),
            &|file| file::write_all_at(file, b"x", 3 * CHUNK - 1).unwrap(),
            &|file| file.set_len(CHUNK).unwrap(),
            &|file| file.set_len(3 * CHUNK + 1).unwrap(),
        ];
        for (number, change) in changes.iter().enumerate() {
            for when in [0, 1] {
                let (file, upload) = upload(&content);
                if when == 0 {
                    change(file.as_file());
                }
                let (bytes, invalidated) = sent(&upload, |done| {
                    if when == 1 && done == CHUNK {
                        change(file.as_file());
                    }
                });
                // The first piece was sent before the change, and is not read again.
                if (number, when) == (0, 1) {
                    assert!(invalidated.is_none());
                    continue;
                }
                assert!(matches!(invalidated, Some(Invalidated::Changed)), "{number} {when}");
                assert!(bytes.len() < content.len(), "{number} {when}");
            }
        }
    }
}
