//! What several of the auditor's files need of the documents, so that the first of them reads it for all.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::ArtifactRecord;
use evidence_bundle::path::MANIFEST;
use evidence_view::ManifestHead;

use crate::documents::{Documents, head, rows};
use crate::requests::Requests;

/// The type of the artifacts that hold events.
const EVENTS: &str = "user_lifecycle";

/// What was read so far. See the module.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    head: Option<ManifestHead>,
    requests: Option<Requests>,
    logs: Option<Vec<ArtifactRecord>>,
    ascii: BTreeMap<String, bool>,
}

impl Shared {
    /// The manifest without its long lists.
    pub(crate) fn head(&mut self, documents: &dyn Documents) -> io::Result<&ManifestHead> {
        let head = match self.head.take() {
            Some(head) => head,
            None => head(documents)?,
        };
        Ok(self.head.insert(head))
    }

    /// The requests behind the evidence.
    pub(crate) fn requests(&mut self, documents: &dyn Documents) -> io::Result<&Requests> {
        let requests = match self.requests.take() {
            Some(requests) => requests,
            None => Requests::read(documents)?,
        };
        Ok(self.requests.insert(requests))
    }

    /// Keeps the requests.
    pub(crate) fn set_requests(&mut self, requests: Requests) {
        self.requests = Some(requests);
    }

    /// Drops the requests, which are the largest part of this.
    pub(crate) fn drop_requests(&mut self) {
        self.requests = None;
    }

    /// The artifacts that hold events.
    pub(crate) fn logs(&mut self, documents: &dyn Documents) -> io::Result<&[ArtifactRecord]> {
        let logs = match self.logs.take() {
            Some(logs) => logs,
            None => {
                let mut logs = Logs::default();
                rows(documents, MANIFEST, "artifacts", |artifact| {
                    logs.add(&artifact);
                    Ok(())
                })?;
                logs.0
            }
        };
        Ok(self.logs.insert(logs))
    }

    /// Keeps the artifacts that hold events.
    pub(crate) fn set_logs(&mut self, Logs(logs): Logs) {
        self.logs = Some(logs);
    }

    /// Whether the document has only ASCII characters.
    pub(crate) fn is_ascii(&mut self, documents: &dyn Documents, path: &str) -> io::Result<bool> {
        if let Some(known) = self.ascii.get(path) {
            return Ok(*known);
        }
        let is_ascii = is_ascii(documents, path)?;
        self.ascii.insert(path.to_owned(), is_ascii);
        Ok(is_ascii)
    }
}

/// The artifacts that hold events, among those that pass by.
#[derive(Debug, Default)]
pub(crate) struct Logs(Vec<ArtifactRecord>);

impl Logs {
    /// Keeps the artifact if it holds events.
    pub(crate) fn add(&mut self, artifact: &ArtifactRecord) {
        if artifact.artifact_type == EVENTS {
            self.0.push(artifact.clone());
        }
    }
}

fn is_ascii(documents: &dyn Documents, path: &str) -> io::Result<bool> {
    let mut is_ascii = true;
    documents.open(path, &mut |contents| {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let bytes = match contents.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => buffer.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            is_ascii &= bytes.is_ascii();
        }
    })?;
    Ok(is_ascii)
}
