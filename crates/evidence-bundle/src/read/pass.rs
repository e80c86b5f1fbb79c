//! The pass over the listed files, after the signature over the list is verified.

use std::io::Read;

use evidence_text::saturating_u64;

use super::archive::{Archive, NextEntry};
use super::derived::{self, Derived, References};
use super::limits::{Limits, within};
use super::manifest::{self, ManifestFacts, ManifestVerdict};
use super::outcome::Failure;
use super::reason::{Reason, VerifyError, check_digest, list_error};
use super::run;
use super::sink::{Feed, Row, Sink};
use crate::checksums::{ChecksumList, ListError};
use crate::document::{RunRecord, SourcePopulation};
use crate::key::PublicKey;
use crate::path::{CHECKSUMS, MANIFEST, RUN, SIGNATURE};

/// Totals of the files after the manifest.
pub(super) struct FilesRead {
    pub(super) run: RunRecord,
    /// The total size of all files in bytes, including the manifest.
    pub(super) bytes: u64,
    /// How many checks lacked something that could not be read.
    pub(super) lacking: u64,
    /// What each source counts.
    pub(super) populations: Vec<SourcePopulation>,
}

/// The pass over the listed files, after the signature is verified.
pub(super) struct Pass<'a, R> {
    pub(super) archive: Archive<R>,
    pub(super) list: &'a ChecksumList,
    pub(super) limits: &'a Limits,
    /// Receives the rows and the files, if anything does.
    pub(super) sink: Option<&'a mut (dyn Sink + 'a)>,
}

impl<R: Read> Pass<'_, R> {
    /// Reads and judges the manifest, unless it has been read already.
    pub(super) fn judge_manifest(
        &mut self,
        read: Option<Vec<u8>>,
        key: &PublicKey,
    ) -> Result<ManifestVerdict, Failure> {
        let (judged, size) = match read {
            Some(manifest) => {
                let size = saturating_u64(manifest.len());
                let feed = feed(&mut self.sink, MANIFEST, size)?;
                (manifest::judge(manifest.as_slice(), self.list, feed), size)
            }
            None => {
                let row =
                    self.list.row(0).ok_or_else(|| list_error(ListError::Required { path: MANIFEST }))?;
                let size = self.header(0)?;
                within(size, self.limits.manifest_bytes, MANIFEST)?;
                let mut contents = self.archive.contents(MANIFEST, size);
                let judged = feed(&mut self.sink, MANIFEST, size)
                    .and_then(|feed| manifest::judge(&mut contents, self.list, feed));
                // A wrong checksum takes precedence over any fault in the content.
                contents.check(&row.sha256)?;
                (judged, size)
            }
        };
        let mut facts = match judged? {
            ManifestVerdict::Agrees(facts) => facts,
            newer @ ManifestVerdict::Newer(_) => return Ok(newer),
        };
        if let Some(first) = facts.sizes.first_mut() {
            *first = size;
        }
        manifest::check_signer(&facts.signer, key)?;
        if facts.created_at != self.archive.time() {
            let archive = crate::time::format(self.archive.time()).unwrap_or_default();
            let claimed = crate::time::format(facts.created_at).unwrap_or_default();
            let detail = format!("the archive says {archive} and the manifest {claimed}");
            return Err(VerifyError::at(Reason::Mtime, MANIFEST, detail).into());
        }
        if let Some(sink) = &mut self.sink {
            let passed = sink.row(Row::Manifest(&facts)).and_then(|()| sink.row(Row::End(MANIFEST)));
            passed.map_err(Failure::CannotJudge)?;
        }
        Ok(ManifestVerdict::Agrees(facts))
    }

    /// Reads every file after the manifest.
    pub(super) fn read_files(&mut self, facts: &ManifestFacts) -> Result<FilesRead, Failure> {
        let sizes = &facts.sizes;
        let (mut run, mut references) = (None, References::default());
        let mut bytes = sizes.first().copied().unwrap_or(0);
        for (index, row) in self.list.rows().enumerate().skip(1) {
            let size = self.header(index)?;
            if sizes.get(index) != Some(&size) {
                let detail = format!("{} has {size} bytes, but the manifest says otherwise", row.path);
                return Err(VerifyError::at(Reason::ManifestMismatch, row.path, detail).into());
            }
            bytes = bytes.saturating_add(size);
            if row.path == RUN {
                within(size, self.limits.run_bytes, RUN)?;
                let (contents, sha256) = self.archive.contents(RUN, size).into_memory()?;
                check_digest(RUN, &row.sha256, &sha256)?;
                run = Some(run::judge(&contents, facts, feed(&mut self.sink, RUN, size)?)?);
                continue;
            }
            if let Some(path) = derived::document(row.path) {
                within(size, self.limits.derived_bytes, path)?;
                let run = run.as_ref().ok_or_else(|| list_error(ListError::Required { path: RUN }))?;
                let document = Derived { path, list: self.list, facts, run, references: &references };
                let found = self.judge_derived(&document, size, &row.sha256)?;
                references.add(found);
                continue;
            }
            let mut contents = self.archive.contents(row.path, size);
            let read = match &mut self.sink {
                Some(sink) => sink.contents(row.path, size, &mut contents),
                None => Ok(()),
            };
            // A damaged bundle can make the sink's read fail, so report the damage first.
            contents.check(&row.sha256)?;
            read.map_err(Failure::CannotJudge)?;
        }
        let run = run.ok_or_else(|| list_error(ListError::Required { path: RUN }))?;
        Ok(FilesRead { run, bytes, lacking: references.lacking, populations: references.populations })
    }

    /// Reads every file after the manifest of a newer version. Checks only the checksums; the sink receives nothing.
    pub(super) fn check_files(&mut self) -> Result<(), Failure> {
        for (index, row) in self.list.rows().enumerate().skip(1) {
            let size = self.header(index)?;
            self.archive.contents(row.path, size).check(&row.sha256)?;
        }
        Ok(())
    }

    /// Judges a document while reading it.
    fn judge_derived(
        &mut self,
        document: &Derived<'_>,
        size: u64,
        sha256: &[u8; 32],
    ) -> Result<References, Failure> {
        let mut contents = self.archive.contents(document.path, size);
        let judged =
            feed(&mut self.sink, document.path, size).and_then(|feed| document.judge(&mut contents, feed));
        // A wrong checksum takes precedence over any fault in the content.
        contents.check(sha256)?;
        judged
    }

    fn header(&mut self, index: usize) -> Result<u64, Failure> {
        let expected = self.list.path(index).unwrap_or_default();
        match self.archive.header(Some(expected))? {
            NextEntry::Expected(size) => Ok(size),
            NextEntry::End => Err(missing(expected).into()),
            NextEntry::Other { path, size } => Err(self.misplaced(index, expected, &path, size)),
        }
    }

    /// Explains that a file other than the expected one was found.
    fn misplaced(&mut self, index: usize, expected: &str, found: &str, size: u64) -> Failure {
        match self.list.position(found) {
            None if matches!(found, CHECKSUMS | SIGNATURE) => twice(found).into(),
            None => unlisted(found).into(),
            Some(position) if position < index => twice(found).into(),
            Some(_) => match self.comes_later(expected, found, size) {
                true => {
                    let detail = format!("{found} comes before {expected}");
                    VerifyError::at(Reason::Layout, found, detail).into()
                }
                false => missing(expected).into(),
            },
        }
    }

    fn comes_later(&mut self, expected: &str, found: &str, size: u64) -> bool {
        let (mut found, mut size) = (found.to_owned(), size);
        while self.archive.contents(&found, size).finish().is_ok() {
            match self.archive.header(Some(expected)) {
                Ok(NextEntry::Expected(_)) => return true,
                Ok(NextEntry::Other { path, size: next }) => (found, size) = (path, next),
                Ok(NextEntry::End) | Err(_) => return false,
            }
        }
        false
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        match self.archive.header(None)? {
            NextEntry::End => self.archive.finish(),
            NextEntry::Expected(_) => {
                Err(VerifyError::new(Reason::TarEnd, "bytes follow the last file").into())
            }
            NextEntry::Other { path, .. } => match self.list.position(&path) {
                Some(_) => Err(twice(&path).into()),
                None if matches!(path.as_str(), CHECKSUMS | SIGNATURE) => Err(twice(&path).into()),
                None => Err(unlisted(&path).into()),
            },
        }
    }
}

/// Begins a document for the sink.
fn feed<'s>(
    sink: &'s mut Option<&mut (dyn Sink + '_)>,
    path: &str,
    size: u64,
) -> Result<Option<Feed<'s>>, Failure> {
    let feed = match sink {
        Some(sink) => Some(Feed::begin(&mut **sink, path, size).map_err(Failure::CannotJudge)?),
        None => None,
    };
    Ok(feed)
}

fn missing(path: &str) -> VerifyError {
    VerifyError::at(Reason::MissingFile, path, format!("{path} is listed but not in the archive"))
}

fn unlisted(path: &str) -> VerifyError {
    VerifyError::at(Reason::UnlistedFile, path, format!("{path} is in the archive but not listed"))
}

fn twice(path: &str) -> VerifyError {
    VerifyError::at(Reason::Layout, path, format!("{path} is in the archive twice"))
}
