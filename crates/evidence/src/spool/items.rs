//! The list of the spooled files. Their paths lie one after the other in a few long texts: a text of its own for each
//! of 100,000 paths, among the short-lived texts of a collection, would keep much more memory than it fills.

use std::num::NonZeroU32;

use evidence_bundle::path::BundlePath;
use evidence_bundle::write::Listed;
use evidence_text::{saturating_u32, saturating_usize};

/// The spooled files, in order.
#[derive(Debug, Default)]
pub struct Items {
    files: Vec<File>,
    paths: Paths,
}

/// A range of the spool's file.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpoolSpan {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// What is kept of a file.
#[derive(Debug)]
struct File {
    path: PathSpan,
    sha256: [u8; 32],
    content: SpoolSpan,
    /// The length of the manifest's row, if the file is an artifact.
    row: Option<NonZeroU32>,
}

/// One file of the future bundle.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    file: &'a File,
    paths: &'a Paths,
}

impl Items {
    /// Reserves room for this many more files.
    pub(super) fn reserve(&mut self, files: usize) {
        self.files.reserve_exact(files);
    }

    pub(super) fn push(
        &mut self,
        path: &BundlePath,
        sha256: [u8; 32],
        content: SpoolSpan,
        row: Option<NonZeroU32>,
    ) {
        let path = self.paths.push(path.as_str());
        self.files.push(File { path, sha256, content, row });
    }

    /// Drops the files with this path. The path itself stays, unused.
    pub(super) fn forget(&mut self, path: &str) {
        self.files.retain(|file| self.paths.get(file.path) != path);
    }

    /// The number of files.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// The file with this number, from 0.
    pub fn get(&self, number: usize) -> Option<Item<'_>> {
        self.files.get(number).map(|file| Item { file, paths: &self.paths })
    }

    /// The files, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Item<'_>> + ExactSizeIterator {
        self.files.iter().map(|file| Item { file, paths: &self.paths })
    }

    /// The last file with this path.
    pub fn find(&self, path: &str) -> Option<Item<'_>> {
        self.iter().rev().find(|item| item.path() == path)
    }
}

impl Item<'_> {
    /// The checksum, formatted for documents.
    pub fn checksum(&self) -> String {
        hex::encode(self.file.sha256)
    }

    /// Whether the file is an artifact, as opposed to one of the bundle's own documents.
    pub fn is_artifact(&self) -> bool {
        self.file.row.is_some()
    }

    pub(super) fn content(&self) -> SpoolSpan {
        self.file.content
    }

    /// Where the manifest's row is, if the file is an artifact. It is on disk too, after the content, since it can be as
    /// large as the artifact.
    pub(super) fn row(&self) -> Option<SpoolSpan> {
        let SpoolSpan { offset, length } = self.file.content;
        self.file.row.map(|row| SpoolSpan { offset: offset + length, length: row.get().into() })
    }
}

impl Listed for Item<'_> {
    fn path(&self) -> &str {
        self.paths.get(self.file.path)
    }

    fn sha256(&self) -> &[u8; 32] {
        &self.file.sha256
    }

    fn size(&self) -> u64 {
        self.file.content.length
    }
}

/// Paths one after the other, in texts of [`Paths::CHUNK`] bytes that never grow.
#[derive(Debug, Default)]
struct Paths(Vec<String>);

/// A path: a range of one of the texts.
#[derive(Debug, Clone, Copy)]
struct PathSpan {
    /// The text's number times [`Paths::CHUNK`], plus the offset in it.
    start: u32,
    length: u32,
}

impl Paths {
    const CHUNK: usize = 64 * 1024;

    fn push(&mut self, path: &str) -> PathSpan {
        let fits = |text: &&mut String| text.capacity() - text.len() >= path.len();
        if self.0.last_mut().filter(fits).is_none() {
            self.0.push(String::with_capacity(Paths::CHUNK));
        }
        let before = Paths::CHUNK * self.0.len().saturating_sub(1);
        let start = self.0.last_mut().map_or(0, |text| {
            text.push_str(path);
            text.len() - path.len()
        });
        PathSpan { start: saturating_u32(before + start), length: saturating_u32(path.len()) }
    }

    fn get(&self, span: PathSpan) -> &str {
        let (start, length) = (saturating_usize(span.start), saturating_usize(span.length));
        let (chunk, start) = (start / Paths::CHUNK, start % Paths::CHUNK);
        self.0.get(chunk).and_then(|text| text.get(start..start + length)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back_from_the_text_that_holds_it() {
        let path = |number: usize| format!("sources/codehost/{number}{}.json", "x".repeat(number % 150));
        let mut paths = Paths::default();
        let spans: Vec<PathSpan> = (0..3000).map(|number| paths.push(&path(number))).collect();
        assert!(paths.0.len() > 3 && paths.0.iter().all(|text| text.capacity() == Paths::CHUNK));
        assert!(spans.iter().enumerate().all(|(number, span)| paths.get(*span) == path(number)));
    }
}
