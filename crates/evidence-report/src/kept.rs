//! The documents of a bundle, held until it is verified.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read, Seek, Write};

use evidence_bundle::path::{REPORT, REQUIRED, WAIVERS};
use evidence_view::FileReader;
use sha2::{Digest as _, Sha256};

use crate::Documents;

/// The documents of a bundle, and the signer's report if it was asked for.
pub struct Kept<F> {
    /// Makes a place for a document.
    place: Box<dyn Fn() -> io::Result<F> + Send>,
    documents: BTreeMap<String, RefCell<F>>,
    with_signed: bool,
    /// The SHA-256 of the signer's report, if the bundle has one.
    signed: Option<[u8; 32]>,
}

impl<F> fmt::Debug for Kept<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("documents", &self.documents.keys()).finish_non_exhaustive()
    }
}

/// How the signer's report compares with the one made from the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signed {
    /// The bundle has no report.
    Absent,
    /// They have the same bytes.
    Same,
    /// They differ.
    Different,
}

impl<F: Read + Write + Seek> Kept<F> {
    /// Keeps each document in a place that `place` makes.
    pub fn new(place: impl Fn() -> io::Result<F> + Send + 'static) -> Kept<F> {
        Kept { place: Box::new(place), documents: BTreeMap::new(), with_signed: false, signed: None }
    }

    /// Also keeps the signer's report, as a document.
    #[must_use]
    pub fn with_signed(mut self) -> Kept<F> {
        self.with_signed = true;
        self
    }

    /// Makes the report from the documents, and compares the signer's with it.
    ///
    /// # Errors
    /// Fails like [`crate::write`].
    pub fn report(&self, out: &mut dyn Write) -> io::Result<Signed> {
        let mut made = Hashing { out, hash: Sha256::new() };
        crate::write(REPORT, self, &mut made)?;
        Ok(match self.signed {
            None => Signed::Absent,
            Some(signed) if signed == <[u8; 32]>::from(made.hash.finalize()) => Signed::Same,
            Some(_) => Signed::Different,
        })
    }
}

impl<F: Read + Write + Seek> FileReader for Kept<F> {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        let is_report = path == REPORT;
        if !is_report && path != WAIVERS && !REQUIRED.contains(&path) {
            return Ok(());
        }
        let mut kept = if is_report && !self.with_signed { None } else { Some((self.place)()?) };
        let mut nowhere = io::sink();
        let out: &mut dyn Write = kept.as_mut().map_or(&mut nowhere, |file| file);
        let mut hashing = Hashing { out, hash: Sha256::new() };
        io::copy(contents, &mut hashing)?;
        if is_report {
            self.signed = Some(hashing.hash.finalize().into());
        }
        self.documents.extend(kept.map(|file| (path.to_owned(), RefCell::new(file))));
        Ok(())
    }
}

impl<F: Read + Seek> Documents for Kept<F> {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        let file = self.documents.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut file = file.try_borrow_mut().map_err(io::Error::other)?;
        file.rewind()?;
        read(&mut BufReader::new(&mut *file))
    }
}

/// Hashes what it passes on.
struct Hashing<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
