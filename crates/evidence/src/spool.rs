//! The spool: where artifacts wait on disk until the bundle is written, so that memory does not grow with the
//! organization.
//!
//! One nameless file in the output directory: it is on the disk that must have room for the bundle anyway, nobody
//! else can open it, and it vanishes with the process, however the process ends. Bytes are hashed on their way in
//! and never change.

mod rows;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::num::NonZeroU32;
use std::path::Path;

use crate::number::saturating_u64;
use evidence_bundle::document::{ArtifactRecord, row_json};
use evidence_bundle::path::BundlePath;
use evidence_bundle::write::Entry;
use evidence_os::file;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

pub use self::rows::RowList;

/// What has been spooled, in order.
pub struct Spool {
    file: BufWriter<File>,
    length: u64,
    items: Vec<Item>,
}

/// A stretch of the spool's file.
#[derive(Debug, Clone, Copy)]
struct SpoolSpan {
    offset: u64,
    length: u64,
}

/// One file of the future bundle.
#[derive(Debug)]
pub struct Item {
    entry: Entry,
    /// Where the content begins.
    offset: u64,
    /// The length of the manifest's row, if the file is an artifact: on disk too, behind the content, since it is as
    /// large as many an artifact.
    row: Option<NonZeroU32>,
}

/// A text in the spool that is not a file of the bundle: what a check found, in words.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    offset: u64,
    /// One more than the length, so that where there is none takes no room of its own.
    length: NonZeroU32,
}

impl AsRef<Entry> for Item {
    fn as_ref(&self) -> &Entry {
        &self.entry
    }
}

impl Item {
    /// Path in the bundle.
    pub fn path(&self) -> &BundlePath {
        &self.entry.path
    }

    /// SHA-256 of the bytes.
    pub fn sha256(&self) -> &[u8; 32] {
        &self.entry.sha256
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.entry.size
    }

    /// Checksum as documents write it.
    pub fn checksum(&self) -> String {
        hex::encode(self.entry.sha256)
    }

    /// Whether the file is an artifact, rather than one of the bundle's own documents.
    pub fn is_artifact(&self) -> bool {
        self.row.is_some()
    }
}

impl Spool {
    /// An empty spool on the disk of `directory`, which must exist.
    ///
    /// # Errors
    ///
    /// If a file cannot be made there.
    pub fn new(directory: &Path) -> io::Result<Spool> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Spool { file: BufWriter::with_capacity(256 * 1024, file), length: 0, items: Vec::new() })
    }

    /// Makes room for so many more files.
    pub fn reserve(&mut self, files: usize) {
        self.items.reserve_exact(files);
    }

    /// Adds an artifact and its row of the manifest. `checksum` and `size_bytes` of the row are filled in here, from
    /// the bytes themselves. Returns the number by which checks refer to it.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails.
    pub fn add_artifact(
        &mut self,
        path: &BundlePath,
        bytes: &[u8],
        mut row: ArtifactRecord,
    ) -> io::Result<u32> {
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        row.checksum = hex::encode(sha256);
        row.size_bytes = saturating_u64(bytes.len());
        let number = u32::try_from(self.items.len()).map_err(io::Error::other)?;
        let content = self.append(bytes)?;
        let row = self.append(row_json(&row)?.as_bytes())?;
        let row = Some(u32::try_from(row.length).and_then(NonZeroU32::try_from).map_err(io::Error::other)?);
        let entry = Entry { path: path.clone(), sha256, size: content.length };
        self.items.push(Item { entry, offset: content.offset, row });
        Ok(number)
    }

    /// Adds a text that is not a file of the bundle.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails.
    pub fn add_text(&mut self, text: &str) -> io::Result<Text> {
        let SpoolSpan { offset, length } = self.append(text.as_bytes())?;
        let length = u32::try_from(length + 1).and_then(NonZeroU32::try_from).map_err(io::Error::other)?;
        Ok(Text { offset, length })
    }

    /// Adds a document that is written piece by piece. `write` is given where to write, and a way to read what was
    /// spooled before.
    ///
    /// # Errors
    ///
    /// Those of `write`, and those of the disk.
    pub fn add_document(
        &mut self,
        path: BundlePath,
        write: impl FnOnce(&mut dyn Write, &Reader<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.flush()?;
        let offset = self.length;
        let (sha256, length) = {
            let reader = Reader { file: self.file.get_ref(), items: &self.items };
            // Written by position, behind everything that is read meanwhile. A document is written in pieces of a few
            // bytes: they are gathered before anything is done with them.
            let append = Append { file: reader.file, offset };
            let hashing = Hashing { out: append, hash: Sha256::new(), length: 0 };
            let mut out = BufWriter::with_capacity(256 * 1024, hashing);
            write(&mut out, &reader)?;
            let hashing = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            (hashing.hash.finalize().into(), hashing.length)
        };
        self.length = offset + length;
        self.items.push(Item { entry: Entry { path, sha256, size: length }, offset, row: None });
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<SpoolSpan> {
        use std::io::Seek as _;
        let stretch = SpoolSpan { offset: self.length, length: saturating_u64(bytes.len()) };
        if self.file.buffer().is_empty() {
            // Documents are written by position, which leaves the file's own position behind.
            self.file.get_mut().seek(io::SeekFrom::Start(self.length))?;
        }
        self.file.write_all(bytes)?;
        self.length += stretch.length;
        Ok(stretch)
    }

    /// Takes a document back, to be written anew. Its bytes stay in the file and belong to nothing.
    pub fn forget(&mut self, path: &str) {
        self.items.retain(|item| item.path().as_str() != path);
    }

    /// What has been spooled, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Writes out what is still in memory, and gives a way to read.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails.
    pub fn reader(&mut self) -> io::Result<Reader<'_>> {
        self.file.flush()?;
        Ok(Reader { file: self.file.get_ref(), items: &self.items })
    }
}

/// Reads what was spooled.
pub struct Reader<'a> {
    file: &'a File,
    items: &'a [Item],
}

impl<'a> Reader<'a> {
    /// What has been spooled, in order.
    pub fn items(&self) -> &'a [Item] {
        self.items
    }

    /// The bytes of `item`.
    pub fn content(&self, item: &Item) -> impl Read + use<'a> {
        SpanReader { file: self.file, stretch: SpoolSpan { offset: item.offset, length: item.size() } }
    }

    /// The manifest's row of `item`, as it stands in the manifest, if `item` is an artifact.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn row(&self, item: &Item) -> Option<io::Result<Box<RawValue>>> {
        let length = item.row?.get();
        let text = self.utf8(item.offset + item.size(), length);
        Some(text.and_then(|text| RawValue::from_string(text).map_err(io::Error::from)))
    }

    /// A text that was added.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn text(&self, text: &Text) -> io::Result<String> {
        self.utf8(text.offset, text.length.get() - 1)
    }

    fn utf8(&self, offset: u64, length: u32) -> io::Result<String> {
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file::read_exact_at(self.file, &mut bytes, offset)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// Reads one stretch by position, so that any number of readers share the file.
struct SpanReader<'a> {
    file: &'a File,
    stretch: SpoolSpan,
}

impl Read for SpanReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.stretch.length).unwrap_or(usize::MAX).min(buffer.len());
        let Some(part) = buffer.get_mut(..wanted) else { return Ok(0) };
        let read = file::read_at(self.file, part, self.stretch.offset)?;
        let step = saturating_u64(read);
        self.stretch.offset += step;
        self.stretch.length -= step;
        Ok(read)
    }
}

/// Writes by position.
struct Append<'a> {
    file: &'a File,
    offset: u64,
}

impl Write for Append<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = file::write_at(self.file, bytes, self.offset)?;
        self.offset += saturating_u64(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hashes and counts what passes through.
struct Hashing<W> {
    out: W,
    hash: Sha256,
    length: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        self.length += saturating_u64(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_bundle::document::RequestRecord;

    fn row(filename: &str) -> ArtifactRecord {
        ArtifactRecord {
            filename: filename.to_string(),
            source: "codehost".to_string(),
            artifact_type: "codeowners".to_string(),
            collected_at: "2026-11-21T09:05:13Z".to_string(),
            controls: vec!["CC6.6".to_string()],
            checksum: String::new(),
            size_bytes: 0,
            subject: "acme/web".to_string(),
            request: RequestRecord { path: "/x".to_string(), status: 200, etag: None, request_id: None },
        }
    }

    fn row_of(reader: &Reader<'_>, item: &Item) -> ArtifactRecord {
        serde_json::from_str(reader.row(item).unwrap().unwrap().get()).unwrap()
    }

    #[test]
    fn what_goes_in_comes_out_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(directory.path()).unwrap();
        let path = |name: &str| BundlePath::new(&format!("sources/codehost/{name}")).unwrap();
        spool.add_artifact(&path("a.json"), b"first", row("a.json")).unwrap();
        spool
            .add_document(BundlePath::new("derived/hints.json").unwrap(), |out, reader| {
                assert_eq!(row_of(reader, &reader.items()[0]).size_bytes, 5);
                out.write_all(b"document ")?;
                out.write_all(b"in pieces")
            })
            .unwrap();
        spool.add_artifact(&path("b.json"), b"second", row("b.json")).unwrap();
        let reader = spool.reader().unwrap();
        let texts: Vec<String> =
            reader.items().iter().map(|item| io::read_to_string(reader.content(item)).unwrap()).collect();
        assert_eq!(texts, ["first", "document in pieces", "second"]);
        let second = &reader.items()[2];
        assert_eq!(row_of(&reader, second).checksum, second.checksum());
        assert_eq!(second.checksum(), hex::encode(Sha256::digest(b"second")));
        assert!(reader.row(&reader.items()[1]).is_none());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the spool has no name");
    }
}
