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
pub struct Unknown(String);

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} has an unknown form", self.0)
    }
}

impl std::error::Error for Unknown {}

pub(crate) fn unknown(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Unknown(path.to_owned()))
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

/// Passes every row of the first list with this name in a document to `take`. A document without the list has no rows.
pub(crate) fn rows<T: DeserializeOwned>(
    documents: &dyn Documents,
    path: &str,
    list: &str,
    mut take: impl FnMut(T) -> io::Result<()>,
) -> io::Result<()> {
    let (mut is_found, mut failed) = (false, Ok(()));
    lists(documents, path, |json, name| {
        if name != list || std::mem::replace(&mut is_found, true) {
            return None;
        }
        Some(json.list(|json| {
            let row = json.value()?;
            if failed.is_ok() {
                failed = take(row);
            }
            Ok(())
        }))
    })?;
    failed
}

/// Passes every field of a document to `take`, which reads the lists that it knows and returns `None` for the others.
pub(crate) fn lists(
    documents: &dyn Documents,
    path: &str,
    mut take: impl FnMut(&mut Json<'static, &mut dyn Read>, &str) -> Option<Result<(), Stop>>,
) -> io::Result<()> {
    documents.open(path, &mut |contents| {
        let mut json = Json::new(contents);
        let read = json.object(|json, name| take(json, name).unwrap_or_else(|| json.skip()));
        read.map_err(|_| unknown(path))
    })
}

#[cfg(test)]
mod tests {
    use evidence_bundle::document::ArtifactRecord;

    use super::*;

    /// A bundle whose documents all have this text.
    struct Same<'a>(&'a str);

    impl Documents for Same<'_> {
        fn open(&self, _: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
            read(&mut self.0.as_bytes())
        }
    }

    #[test]
    fn rows_are_read_whatever_surrounds_them() {
        let artifact = r#"{"filename":"sources/a/b.json","source":"a","artifact_type":"b","collected_at":"x","controls":[],
            "checksum":"00","size_bytes":1,"subject":"s"}"#;
        let read = |text: &str| {
            let mut names = Vec::new();
            let outcome = rows(&Same(text), MANIFEST, "artifacts", |artifact: ArtifactRecord| {
                names.push(artifact.filename);
                Ok(())
            });
            outcome.map(|()| names).map_err(|error| error.to_string())
        };
        let manifest = format!(r#"{{"x":[{{}}],"artifacts":[{artifact}],"y":1,"artifacts":[{artifact}]}}"#);
        assert_eq!(read(&manifest), Ok(vec!["sources/a/b.json".to_owned()]));
        assert_eq!(read("{}"), Ok(Vec::new()));
        for text in ["", "[]", r#"{"artifacts":{}}"#, r#"{"artifacts":[1]}"#, r#"{"artifacts":[]"#] {
            assert_eq!(read(text), Err("manifest.json has an unknown form".to_owned()), "{text}");
        }
    }
}
