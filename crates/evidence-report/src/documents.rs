//! Access to the documents that the auditor's files derive from.

use std::io::{self, Read};

use evidence_bundle::path::{MANIFEST, WAIVERS};
use evidence_bundle::read::{Json, Stop};
use evidence_view::ManifestHead;
use evidence_view::waivers::Waivers;
use serde::de::DeserializeOwned;

/// The documents of one bundle.
pub trait Documents {
    /// Passes the document with this path to `read`, from its beginning. `read` need not read it to its end.
    ///
    /// # Errors
    ///
    /// Fails if the document cannot be read or `read` fails, and with [`io::ErrorKind::NotFound`] if the bundle
    /// has no such file.
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()>;
}

/// A document does not have the form that this version knows.
#[derive(Debug)]
pub struct Unknown(&'static str);

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} has an unknown form", self.0)
    }
}

impl std::error::Error for Unknown {}

pub(crate) fn unknown(path: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Unknown(path))
}

/// A whole document.
pub(crate) fn whole<T: DeserializeOwned>(documents: &dyn Documents, path: &'static str) -> io::Result<T> {
    let mut found = None;
    documents.open(path, &mut |contents| {
        found = evidence_view::document(contents);
        Ok(())
    })?;
    found.ok_or_else(|| unknown(path))
}

/// The manifest without its long lists.
pub(crate) fn head(documents: &dyn Documents) -> io::Result<ManifestHead> {
    let mut found = None;
    documents.open(MANIFEST, &mut |contents| {
        found = ManifestHead::read(contents);
        Ok(())
    })?;
    found.ok_or_else(|| unknown(MANIFEST))
}

/// The waivers; `None` if the bundle has none.
pub(crate) fn waivers(documents: &dyn Documents) -> io::Result<Option<Waivers>> {
    let mut found = None;
    let opened = documents.open(WAIVERS, &mut |contents| {
        found = Waivers::read(contents);
        Ok(())
    });
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(()) => found.map(Some).ok_or_else(|| unknown(WAIVERS)),
    }
}

/// Every row of the list with this name in a document.
pub(crate) fn rows<T: DeserializeOwned>(
    documents: &dyn Documents,
    path: &'static str,
    list: &str,
    mut take: impl FnMut(T) -> io::Result<()>,
) -> io::Result<()> {
    let mut failed = Ok(());
    documents.open(path, &mut |contents| {
        let read = evidence_view::each_row(contents, list, |row| {
            if failed.is_ok() {
                failed = take(row);
            }
        });
        read.ok_or_else(|| unknown(path))
    })?;
    failed
}

/// Passes every field of a document to `take`, which reads the lists that it knows and returns `None` for the others.
pub(crate) fn lists(
    documents: &dyn Documents,
    path: &'static str,
    mut take: impl FnMut(&mut Json<'static, &mut dyn Read>, &str) -> Option<Result<(), Stop>>,
) -> io::Result<()> {
    documents.open(path, &mut |contents| {
        let mut json = Json::new(contents);
        let read = json.object(|json, name| take(json, name).unwrap_or_else(|| json.skip()));
        read.map_err(|_| unknown(path))
    })
}
