//! The spool keeps artifacts on disk until the bundle is written, so that memory use does not grow with the
//! organization.
//!
//! It is one unnamed file in the output directory, on the disk that must have room for the bundle anyway. No other
//! process can open it by name, and it disappears with the process, however the process ends. Bytes are hashed when
//! they are written and never change.

mod items;
mod rows;
mod windows;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::num::NonZeroU32;
use std::path::Path;

use evidence_bundle::document::{ArtifactRecord, row_json};
use evidence_bundle::hashing::Hashing;
use evidence_bundle::path::BundlePath;
use evidence_os::file;
use evidence_text::{saturating_u64, saturating_usize};
use sha2::{Digest as _, Sha256};

use self::items::SpoolSpan;
pub use self::items::{Item, Items};
pub use self::rows::RowList;
use self::windows::Windows;
use crate::bundle_file::BUFFER;

/// The spooled files and texts, in order.
pub struct Spool {
    file: BufWriter<File>,
    length: u64,
    items: Items,
}

/// A text in the spool that is not a file of the bundle: the finding of a check.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    offset: u64,
    /// The length plus one, so that an `Option` of this type needs no extra space.
    length: NonZeroU32,
}

impl Spool {
    /// An empty spool on the disk of `directory`, which must exist.
    ///
    /// # Errors
    ///
    /// Fails if no file can be created there.
    pub fn new(directory: &Path) -> io::Result<Spool> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Spool { file: BufWriter::with_capacity(BUFFER, file), length: 0, items: Items::default() })
    }

    /// Reserves room for this many more files.
    pub fn reserve(&mut self, files: usize) {
        self.items.reserve(files);
    }

    /// Adds an artifact and its row of the manifest, whose `checksum` and `size_bytes` are computed here. Returns the
    /// number that checks use to refer to the artifact.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails.
    pub fn add_artifact(
        &mut self,
        path: &BundlePath,
        bytes: &[u8],
        mut row: ArtifactRecord,
    ) -> io::Result<u32> {
        let sha256: [u8; 32] = Sha256::digest(bytes).into();
        row.checksum = hex::encode(sha256);
        row.size_bytes = saturating_u64(bytes.len());
        let number = u32::try_from(self.items.count()).map_err(io::Error::other)?;
        let content = self.append(bytes)?;
        let row = self.append(row_json(&row)?.as_bytes())?;
        let row = Some(u32::try_from(row.length).and_then(NonZeroU32::try_from).map_err(io::Error::other)?);
        self.items.push(path, sha256, content, row);
        Ok(number)
    }

    /// Adds a text that is not a file of the bundle.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails.
    pub fn add_text(&mut self, text: &str) -> io::Result<Text> {
        let SpoolSpan { offset, length } = self.append(text.as_bytes())?;
        let length = u32::try_from(length + 1).and_then(NonZeroU32::try_from).map_err(io::Error::other)?;
        Ok(Text { offset, length })
    }

    /// Adds a document that is written piece by piece. `write` receives a writer, and a reader of everything spooled so
    /// far.
    ///
    /// # Errors
    ///
    /// Fails if `write` or the disk does.
    pub fn add_document(
        &mut self,
        path: &BundlePath,
        write: impl FnOnce(&mut dyn Write, &Reader<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.flush()?;
        let offset = self.length;
        let (sha256, length) = {
            let reader = Reader::new(self.file.get_ref(), &self.items);
            // Written by position, after everything that may be read meanwhile.
            let append = Append { file: reader.file, offset };
            let mut out = BufWriter::with_capacity(BUFFER, Hashing::new(append));
            write(&mut out, &reader)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
        };
        self.length = offset + length;
        self.items.push(path, sha256, SpoolSpan { offset, length }, None);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<SpoolSpan> {
        use std::io::Seek as _;
        let span = SpoolSpan { offset: self.length, length: saturating_u64(bytes.len()) };
        if self.file.buffer().is_empty() {
            // Documents are written by position, which does not advance the file's own position.
            self.file.get_mut().seek(io::SeekFrom::Start(self.length))?;
        }
        self.file.write_all(bytes)?;
        self.length += span.length;
        Ok(span)
    }

    /// Drops a document so that it can be written again. Its bytes remain in the file, unused.
    pub fn forget(&mut self, path: &str) {
        self.items.forget(path);
    }

    /// The spooled files, in order.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// Flushes buffered bytes and returns a reader.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails.
    pub fn reader(&mut self) -> io::Result<Reader<'_>> {
        self.file.flush()?;
        Ok(Reader::new(self.file.get_ref(), &self.items))
    }
}

/// Reads what was spooled.
pub struct Reader<'a> {
    file: &'a File,
    items: &'a Items,
    windows: Windows,
}

impl<'a> Reader<'a> {
    fn new(file: &'a File, items: &'a Items) -> Reader<'a> {
        Reader { file, items, windows: Windows::default() }
    }

    /// The spooled files, in order.
    pub fn items(&self) -> &'a Items {
        self.items
    }

    /// The bytes of `item`.
    pub fn content<'r>(&'r self, item: Item<'_>) -> impl Read + use<'r, 'a> {
        SpanReader { reader: self, span: item.content() }
    }

    /// The row of `item` in the manifest, if `item` is an artifact.
    ///
    /// # Errors
    ///
    /// Fails if the disk does.
    pub fn row(&self, item: Item<'_>) -> Option<io::Result<String>> {
        item.row().map(|span| self.utf8(span))
    }

    /// Reads a text back.
    ///
    /// # Errors
    ///
    /// Fails if the disk does.
    pub fn text(&self, text: &Text) -> io::Result<String> {
        self.utf8(SpoolSpan { offset: text.offset, length: (text.length.get() - 1).into() })
    }

    fn utf8(&self, span: SpoolSpan) -> io::Result<String> {
        let mut bytes = vec![0; usize::try_from(span.length).map_err(io::Error::other)?];
        SpanReader { reader: self, span }.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// Reads one range by position, so that any number of readers can share the file.
struct SpanReader<'r, 'a> {
    reader: &'r Reader<'a>,
    span: SpoolSpan,
}

impl Read for SpanReader<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = saturating_usize(self.span.length).min(buffer.len());
        let Some(part) = buffer.get_mut(..wanted).filter(|part| !part.is_empty()) else { return Ok(0) };
        let read = self.reader.windows.read_at(self.reader.file, part, self.span.offset)?;
        let step = saturating_u64(read);
        self.span.offset += step;
        self.span.length -= step;
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

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    fn row_of(reader: &Reader<'_>, item: Item<'_>) -> ArtifactRecord {
        serde_json::from_str(&reader.row(item).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn what_goes_in_comes_out_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(directory.path()).unwrap();
        let path = |name: &str| BundlePath::new(&format!("sources/codehost/{name}")).unwrap();
        spool.add_artifact(&path("a.json"), b"first", row("a.json")).unwrap();
        spool
            .add_document(&BundlePath::new("derived/hints.json").unwrap(), |out, reader| {
                assert_eq!(row_of(reader, reader.items().get(0).unwrap()).size_bytes, 5);
                out.write_all(b"document ")?;
                out.write_all(b"in pieces")
            })
            .unwrap();
        spool.add_artifact(&path("b.json"), b"second", row("b.json")).unwrap();
        let reader = spool.reader().unwrap();
        let texts: Vec<String> =
            reader.items().iter().map(|item| io::read_to_string(reader.content(item)).unwrap()).collect();
        assert_eq!(texts, ["first", "document in pieces", "second"]);
        let second = reader.items().get(2).unwrap();
        assert_eq!(row_of(&reader, second).checksum, second.checksum());
        assert_eq!(second.checksum(), hex::encode(Sha256::digest(b"second")));
        assert!(reader.row(reader.items().get(1).unwrap()).is_none());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the spool has no name");
    }
}
