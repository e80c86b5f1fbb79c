//! The documents of a bundle, held until it is verified.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufReader, Read, Seek, Write};

use evidence_bundle::hashing::Hashing;
use evidence_bundle::path::{REPORT, REQUIRED, WAIVERS};
use evidence_bundle::read::Sink;
use sha2::{Digest as _, Sha256};

use crate::Documents;

/// The documents of a bundle, and the signer's report if it was asked for.
pub struct Kept<F> {
    /// Makes a place for a document.
    place: Box<dyn Fn() -> io::Result<F> + Send>,
    documents: BTreeMap<String, RefCell<F>>,
    /// The path of the document that is being read.
    current: String,
    with_signed: bool,
    /// The SHA-256 of the signer's report so far, if the bundle has one.
    signed: Option<Sha256>,
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
        Kept {
            place: Box::new(place),
            documents: BTreeMap::new(),
            current: String::new(),
            with_signed: false,
            signed: None,
        }
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
        let mut made = Hashing::new(out);
        crate::write(REPORT, self, &mut made)?;
        Ok(match &self.signed {
            None => Signed::Absent,
            Some(signed) if signed.clone().finalize()[..] == made.finish().0 => Signed::Same,
            Some(_) => Signed::Different,
        })
    }
}

impl<F: Read + Write + Seek> Sink for Kept<F> {
    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        let is_report = path == REPORT;
        if !is_report && path != WAIVERS && !REQUIRED.contains(&path) {
            return Ok(false);
        }
        if is_report {
            self.signed = Some(Sha256::new());
        }
        path.clone_into(&mut self.current);
        if !is_report || self.with_signed {
            self.documents.insert(path.to_owned(), RefCell::new((self.place)()?));
        }
        Ok(true)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(signed) = self.signed.as_mut().filter(|_| self.current == REPORT) {
            signed.update(bytes);
        }
        match self.documents.get_mut(&self.current) {
            Some(file) => file.get_mut().write_all(bytes),
            None => Ok(()),
        }
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
