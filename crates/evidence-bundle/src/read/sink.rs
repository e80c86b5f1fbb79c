//! Receives what a bundle says while it is verified.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::head::{ManifestHead, WaiversHead};
use crate::document::{
    ArtifactRecord, Check, ErrorRecord, Excluded, Hint, Member, ObservationRecord, RunRecord, ScopeRecord,
    SourcePopulation, Status, Summary, WaiverMatch, WaiverRecord, Warning,
};

/// A control without its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlHead {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The framework's own criteria under which such evidence is commonly filed, by the code of the rule.
    pub criteria: BTreeMap<String, Vec<String>>,
    /// What each rule expects, in words, by its code.
    pub expected: BTreeMap<String, String>,
}

impl ControlHead {
    /// The criteria under which the evidence of this rule is commonly filed.
    pub fn criteria(&self, rule: &str) -> &[String] {
        self.criteria.get(rule).map_or(&[], Vec::as_slice)
    }
}

/// A row of a document.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// An artifact of the manifest.
    Artifact(&'a ArtifactRecord),
    /// A warning of the manifest.
    Warning(&'a Warning),
    /// An artifact that was left out, of the manifest.
    Excluded(&'a Excluded),
    /// A collection error of the manifest.
    Error(&'a ErrorRecord),
    /// The manifest without its long lists, after them.
    Manifest(&'a ManifestHead),
    /// `run.json`.
    Run(&'a RunRecord),
    /// A hint.
    Hint(&'a Hint),
    /// The counts of controls and checks.
    Summary(&'a Summary),
    /// The next control; its checks follow. `None` if the document gives the rest of the control after them, which this
    /// program does not write.
    Control(Option<&'a ControlHead>),
    /// A check of this control.
    Check(&'a Check),
    /// The control whose checks came before.
    ControlEnd(&'a ControlHead),
    /// An observation.
    Observation(&'a ObservationRecord),
    /// The counts of a source in the population.
    Source(&'a SourcePopulation),
    /// A member of the population.
    Member(&'a Member),
    /// `derived/scope.json`.
    Scope(&'a ScopeRecord),
    /// A check that the next waiver names.
    WaiverMatch(&'a WaiverMatch),
    /// A waiver; the checks that it names came before.
    Waiver(&'a WaiverRecord<()>),
    /// The waivers without their list, after it.
    Waivers(&'a WaiversHead),
    /// The document with this path has ended.
    End(&'static str),
}

/// Receives the rows of a bundle's documents, and the bytes of files, in the order of the bundle and in one pass.
///
/// What it receives is proven only when the verification returns `Ok`: until then a later byte may still be wrong. So
/// whatever reads a bundle gives the sink away, and gets it back together with the [`VerifiedBundle`]. Of a bundle of a
/// newer version it receives rows of the manifest, or nothing.
///
/// [`VerifiedBundle`]: super::VerifiedBundle
pub trait Sink {
    /// The next row.
    ///
    /// # Errors
    /// Fails if the row cannot be kept; the verification then ends.
    fn row(&mut self, _: Row<'_>) -> io::Result<()> {
        Ok(())
    }

    /// The next file, and its size in bytes. Returns whether its bytes are wanted.
    ///
    /// # Errors
    /// Fails if the sink cannot keep them.
    fn file(&mut self, _path: &str, _size: u64) -> io::Result<bool> {
        Ok(false)
    }

    /// The next bytes of the file, if they are wanted.
    ///
    /// # Errors
    /// Fails if the bytes cannot be kept.
    fn bytes(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// A file that is not a document of the format. It need not be read to its end.
    ///
    /// # Errors
    /// Fails if the file cannot be read or kept.
    fn contents(&mut self, path: &str, size: u64, contents: &mut dyn Read) -> io::Result<()> {
        if !self.file(path, size)? {
            return Ok(());
        }
        let mut buffer = [0; 32 << 10];
        loop {
            match contents.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.bytes(buffer.get(..read).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A sink during one document.
pub(super) struct Feed<'s> {
    sink: &'s mut (dyn Sink + 's),
    wants_bytes: bool,
}

impl<'s> Feed<'s> {
    /// Begins a document.
    pub(super) fn begin(sink: &'s mut (dyn Sink + 's), path: &str, size: u64) -> io::Result<Feed<'s>> {
        let wants_bytes = sink.file(path, size)?;
        Ok(Feed { sink, wants_bytes })
    }

    pub(super) fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        self.sink.row(row)
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.wants_bytes { self.sink.bytes(bytes) } else { Ok(()) }
    }
}
