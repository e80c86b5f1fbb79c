//! The artifacts of a bundle as a searchable list, and single files of the bundle.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use evidence_bundle::document::{ArtifactRecord, AskedRecord};
use evidence_bundle::read::{Row, Sink};
use serde::Deserialize;

use crate::rows::Truncated;
use crate::sanitize::{NAMES, Sanitize as _, sanitized_lines};

/// The most bytes of a file to show as text.
const TEXT_BYTES: usize = 1 << 20;

/// A search in the list of artifacts.
#[derive(Debug)]
pub struct ArtifactSearch {
    needle: String,
    skip: u64,
    /// How many artifacts match.
    pub found: u64,
    /// The first of them, after the skipped ones.
    pub artifacts: Truncated<ArtifactRecord>,
}

impl ArtifactSearch {
    /// Finds `text` in paths, subjects, types and sources, and controls with that name; an empty text matches
    /// everything. Skips the first `skip` matches.
    pub fn new(text: &str, skip: u64) -> ArtifactSearch {
        let (needle, artifacts) = (text.to_lowercase(), Truncated::default());
        ArtifactSearch { needle, skip, found: 0, artifacts }
    }

    fn matches(&self, artifact: &ArtifactRecord) -> bool {
        let haystacks = [&artifact.filename, &artifact.subject, &artifact.artifact_type, &artifact.source];
        haystacks.iter().any(|text| text.to_lowercase().contains(&self.needle))
            || artifact.controls.iter().any(|control| control.to_lowercase() == self.needle)
    }
}

impl Sink for ArtifactSearch {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        let Row::Artifact(artifact) = row else { return Ok(()) };
        if self.matches(artifact) {
            if self.found >= self.skip {
                self.artifacts.push_with(|| artifact.clone());
            }
            self.found = self.found.saturating_add(1);
        }
        Ok(())
    }
}

/// One file of a bundle.
#[derive(Debug)]
pub struct FileContents {
    path: String,
    /// Its size in bytes; `None` if the bundle has no such file.
    pub size: Option<u64>,
    /// Its record in the manifest, if it is an artifact.
    pub artifact: Option<ArtifactRecord>,
    /// The requests behind it, if it is an artifact.
    pub requests: Vec<AskedRecord>,
    bytes: Vec<u8>,
}

/// The text of a file.
#[derive(Debug)]
pub enum FileText {
    /// The complete text, with deceptive characters escaped.
    Whole(String),
    /// It is too large.
    TooLarge,
    /// It is not UTF-8.
    NotText,
}

/// The text that a record holds in base64, as of a CODEOWNERS file, with deceptive characters escaped. `None` for any
/// other document.
pub fn decoded(document: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Record {
        content: String,
        encoding: String,
    }
    let Record { content, encoding } = serde_json::from_str(document).ok()?;
    if encoding != "base64" {
        return None;
    }
    let bytes = BASE64.decode(content).ok()?;
    Some(sanitized_lines(&String::from_utf8_lossy(&bytes)))
}

impl FileContents {
    /// The text that it holds in base64, if it does.
    pub fn decoded(&self) -> Option<String> {
        let whole = u64::try_from(self.bytes.len()).ok() == self.size;
        str::from_utf8(&self.bytes).ok().filter(|_| whole).and_then(decoded)
    }

    /// The file with this path.
    pub fn new(path: String) -> FileContents {
        FileContents { path, size: None, artifact: None, requests: Vec::new(), bytes: Vec::new() }
    }

    /// Its text.
    pub fn text(&self) -> FileText {
        let whole = u64::try_from(self.bytes.len()).ok() == self.size;
        match (whole, str::from_utf8(&self.bytes)) {
            (true, Ok(text)) => FileText::Whole(sanitized_lines(text)),
            (true, Err(_)) => FileText::NotText,
            (false, _) => FileText::TooLarge,
        }
    }
}

impl Sink for FileContents {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Artifact(artifact) if artifact.filename == self.path => {
                let mut artifact = artifact.clone();
                artifact.sanitize();
                self.artifact = Some(artifact);
            }
            Row::Observation(row) if self.artifact.is_some() && row.artifact.as_ref() == Some(&self.path) => {
                self.requests = row.requests.iter().take(NAMES).cloned().collect();
                self.requests.iter_mut().for_each(AskedRecord::sanitize);
            }
            _ => {}
        }
        Ok(())
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        let is_wanted = path == self.path;
        if is_wanted {
            self.size = Some(size);
        }
        Ok(is_wanted)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = TEXT_BYTES.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_record_with_base64_is_decoded() {
        let record = |content: &str, encoding: &str| {
            decoded(&format!(
                r#"{{"name":"CODEOWNERS","content":"{content}","encoding":"{encoding}","size":1}}"#
            ))
        };
        assert_eq!(
            record("KiBAYWNtZS9hbGwKL2RvY3MgIAo=", "base64").as_deref(),
            Some("* @acme/all\n/docs  \n")
        );
        // Escapes, bytes that are no text, and what is no base64.
        assert_eq!(record("G1sySgDi gK4=", "base64"), None);
        assert_eq!(record("G1sySg==", "base64").as_deref(), Some("\\u{1b}[2J"));
        assert_eq!(record("/w==", "base64").as_deref(), Some("\u{fffd}"));
        assert_eq!(record("KiBA", "none"), None);
        for other in ["", "[]", "{}", r#"{"content":1,"encoding":"base64"}"#] {
            assert_eq!(decoded(other), None, "{other}");
        }
    }
}
