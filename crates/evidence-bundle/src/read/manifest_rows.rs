//! Compares the rows of a manifest with the signed list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::names::Names;
use super::reason::{Reason, VerifyError};
use crate::checksums::ChecksumList;
use crate::document::{ArtifactRecord, Excluded, FileRecord};
use crate::path::{self, MANIFEST};

/// What the rows of a manifest say about the files of the list.
pub(super) struct RowCheck<'a> {
    list: &'a ChecksumList,
    /// The size of the artifact in each row of the list, once it was read.
    artifacts: Vec<Option<u64>>,
    /// The row of the artifact that was read last.
    last_artifact: usize,
    /// The size of the file in each row of the list, as far as the files were read; 0 for the manifest, the first,
    /// whose size is not known.
    files: Vec<u64>,
    /// Every named source, with the first file that names it and its number of artifacts.
    sources: BTreeMap<String, (String, u64)>,
    /// Every control that an artifact names.
    controls: BTreeSet<String>,
    /// The sources and controls together.
    names: Names,
    /// When the first and the last artifact was collected.
    pub(super) collected: Option<(i64, i64)>,
    /// The last time that was parsed: many artifacts have the same.
    last: (String, i64),
    /// Whether artifacts of an earlier run were taken over.
    pub(super) resumed: bool,
    /// Whether the times do not come from a clock.
    pub(super) fixed_time: bool,
}

impl<'a> RowCheck<'a> {
    pub(super) fn of(list: &'a ChecksumList) -> RowCheck<'a> {
        RowCheck {
            list,
            artifacts: vec![None; list.len()],
            last_artifact: 0,
            files: vec![0],
            sources: BTreeMap::new(),
            controls: BTreeSet::new(),
            names: Names::default(),
            collected: None,
            last: (String::new(), 0),
            resumed: false,
            fixed_time: false,
        }
    }

    /// Notes that `path` names the source. Returns the source's number of artifacts.
    pub(super) fn mention(&mut self, source: &str, path: &str) -> Result<Option<&mut u64>, VerifyError> {
        if !self.sources.contains_key(source) {
            self.names.note(MANIFEST, &["source", source])?;
            self.sources.insert(source.to_owned(), (path.to_owned(), 0));
        }
        Ok(self.sources.get_mut(source).map(|(_, count)| count))
    }

    pub(super) fn artifact(&mut self, record: &ArtifactRecord) -> Result<(), VerifyError> {
        let path = &record.filename;
        let place = path.strip_prefix("sources/").and_then(|rest| rest.split_once('/'));
        if place.is_none_or(|(place, _)| place != path::encode_component(&record.source)) {
            return Err(foreign(path));
        }
        let index = self.list.position_after(self.last_artifact, path);
        self.last_artifact = index.unwrap_or(self.last_artifact);
        let (Some(digits), Some(size)) = (
            index.and_then(|index| self.list.digits(index)),
            index.and_then(|index| self.artifacts.get_mut(index)),
        ) else {
            return Err(mismatch(path, "the manifest names an artifact that the list does not"));
        };
        if record.checksum != digits {
            return Err(mismatch(path, "the checksum of the artifact differs from the list"));
        }
        if size.replace(record.size_bytes).is_some() {
            return Err(mismatch(path, "the manifest names the artifact twice"));
        }
        if let Some(count) = self.mention(&record.source, path)? {
            *count += 1;
        }
        for control in &record.controls {
            self.names.note(MANIFEST, &["control", control])?;
            if !self.controls.contains(control) {
                self.controls.insert(control.clone());
            }
        }
        self.collected_at(&record.collected_at, path)
    }

    fn collected_at(&mut self, text: &str, path: &str) -> Result<(), VerifyError> {
        if text != self.last.0 {
            let Some(time) = crate::time::parse(text) else {
                let detail = format!("{path}: collected_at is not an RFC 3339 time in whole seconds of UTC");
                return Err(VerifyError::at(Reason::TimeOrder, path, detail));
            };
            self.last = (text.to_owned(), time);
        }
        let time = self.last.1;
        let (earliest, latest) = self.collected.unwrap_or((time, time));
        self.collected = Some((earliest.min(time), latest.max(time)));
        Ok(())
    }

    /// Checks that an excluded file is not in the bundle.
    pub(super) fn excluded(&self, excluded: &Excluded) -> Result<(), VerifyError> {
        match self.list.position(&excluded.filename) {
            None => Ok(()),
            Some(_) => Err(mismatch(&excluded.filename, "the manifest says that the file was left out")),
        }
    }

    /// Checks that the rows name only sources and controls of the manifest.
    pub(super) fn check_scope(&self, sources: &[String], controls: &[String]) -> Result<(), VerifyError> {
        if let Some((source, (path, _))) = self.sources.iter().find(|(source, _)| !sources.contains(source)) {
            let detail = format!("the source {source} is not in the manifest");
            return Err(if path == MANIFEST { disagree(detail) } else { foreign(path) });
        }
        if let Some(control) = self.controls.iter().find(|control| !controls.contains(control)) {
            let detail = format!("an artifact names the control {control}, which is not in the manifest");
            return Err(disagree(detail));
        }
        for names in [sources, controls] {
            if let Some(name) =
                names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|n| n == *name))
            {
                let detail = format!("the manifest names {} twice", name.1);
                return Err(disagree(detail));
            }
        }
        Ok(())
    }

    pub(super) fn file(&mut self, record: &FileRecord) -> Result<(), VerifyError> {
        let index = self.files.len();
        if self.list.path(index) != Some(&record.path) {
            return Err(mismatch(&record.path, "the manifest and the list name different files here"));
        }
        if self.list.digits(index) != Some(&record.sha256) {
            return Err(mismatch(&record.path, "the checksum in the manifest differs from the list"));
        }
        self.files.push(record.size);
        Ok(())
    }

    /// Checks that the files are exactly those of the list without the manifest, and that every artifact is declared as
    /// one. Returns the size of every file, and the number of artifacts of each source.
    pub(super) fn sizes(self) -> Result<(Vec<u64>, BTreeMap<String, u64>), VerifyError> {
        for (index, (size, artifact)) in self.files.iter().zip(&self.artifacts).enumerate() {
            let path = self.list.path(index).unwrap_or_default();
            match artifact {
                None if path.starts_with("sources/") => {
                    return Err(mismatch(path, "the manifest does not list the file as an artifact"));
                }
                Some(artifact) if artifact != size => {
                    return Err(mismatch(path, "the manifest gives the file two sizes"));
                }
                _ => {}
            }
        }
        match self.list.row(self.files.len()) {
            Some(row) => Err(mismatch(row.path, "the manifest does not name the file")),
            None => {
                Ok((self.files, self.sources.into_iter().map(|(name, (_, count))| (name, count)).collect()))
            }
        }
    }
}

fn disagree(detail: String) -> VerifyError {
    VerifyError::at(Reason::ScopeMismatch, MANIFEST, detail)
}

fn foreign(path: &str) -> VerifyError {
    mismatch(path, "the artifact is not in the directory of its source")
}

fn mismatch(path: &str, detail: impl fmt::Display) -> VerifyError {
    VerifyError::at(Reason::ManifestMismatch, path, format!("{path}: {detail}"))
}
