//! What one verified bundle says that a period needs, read while it is verified.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Member, RunRecord, ScopeRecord, SourcePopulation};
use evidence_bundle::path::POPULATION;
use evidence_bundle::read::{ControlHead, ManifestHead, Row, Sink};

use super::found_waivers::FoundWaivers;
use crate::checks::{CheckReader, CheckSink};

/// Reads the facts of one bundle.
#[derive(Debug)]
pub struct Facts {
    pub(super) checks: CheckReader<Rows>,
    pub(super) members: Vec<FoundMember>,
    /// Whether the whole population was read.
    populated: bool,
    pub(super) run: Option<RunRecord>,
    pub(super) scope: Option<ScopeRecord>,
    pub(super) waivers: FoundWaivers,
    pub(super) head: Option<ManifestHead>,
    pub(super) populations: Vec<SourcePopulation>,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            checks: CheckReader::new(Rows::default()),
            members: Vec::new(),
            populated: false,
            run: None,
            scope: None,
            waivers: FoundWaivers::default(),
            head: None,
            populations: Vec::new(),
        }
    }
}

impl Facts {
    /// Reads only the checks about this subject, and its entry in the population.
    pub fn about(subject: Option<&str>) -> Facts {
        let mut facts = Facts::default();
        facts.checks.sink.only = subject.map(Into::into);
        facts
    }

    /// Whether every document has the known form.
    pub fn known(&self) -> bool {
        self.checks.known && self.populated && self.run.is_some() && self.scope.is_some()
    }
}

/// The checks of a bundle.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) checks: Vec<FoundCheck>,
    words: BTreeSet<Arc<str>>,
    /// The subject whose checks count; `None` for all.
    only: Option<Box<str>>,
}

/// A check; texts that repeat are stored once.
#[derive(Debug)]
pub(super) struct FoundCheck {
    pub(super) control: Arc<str>,
    pub(super) source: Arc<str>,
    pub(super) rule: Arc<str>,
    pub(super) subject: Box<str>,
    pub(super) status: Status,
    pub(super) reason: Arc<str>,
}

/// A member of the population.
#[derive(Debug)]
pub(super) struct FoundMember {
    pub(super) source: Box<str>,
    pub(super) name: Box<str>,
    pub(super) id: Option<Box<str>>,
    pub(super) in_scope: bool,
    pub(super) archived: bool,
}

impl Rows {
    fn is_other(&self, subject: &str) -> bool {
        self.only.as_deref().is_some_and(|only| only != subject)
    }

    fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.words.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.words.insert(Arc::clone(&text));
        text
    }
}

impl CheckSink for Rows {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        self.look(control, &check)
    }

    fn look(&mut self, control: &ControlHead, check: &Check) -> io::Result<()> {
        if self.is_other(&check.subject) {
            return Ok(());
        }
        let found = FoundCheck {
            control: self.word(&control.id),
            source: self.word(&check.source),
            rule: self.word(&check.rule),
            reason: self.word(&check.reason),
            subject: check.subject.as_str().into(),
            status: check.status,
        };
        self.checks.push(found);
        Ok(())
    }
}

impl From<&Member> for FoundMember {
    fn from(member: &Member) -> FoundMember {
        let is_archived = member.archived == Some(true)
            || member.reason.as_deref().is_some_and(|reason| reason.ends_with("archived"));
        FoundMember {
            source: member.source.as_str().into(),
            name: member.name.as_str().into(),
            id: member.id.as_deref().map(Into::into),
            in_scope: member.in_scope,
            archived: is_archived,
        }
    }
}

impl Sink for Facts {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Run(run) => self.run = Some(run.clone()),
            Row::Scope(scope) => self.scope = Some(scope.clone()),
            Row::Manifest(head) => self.head = Some(head.clone()),
            Row::Source(source) => self.populations.push(source.clone()),
            Row::Member(member) if self.checks.sink.is_other(&member.name) => {}
            Row::Member(member) => self.members.push(member.into()),
            Row::WaiverMatch(check) => self.waivers.named(check),
            Row::Waiver(waiver) => self.waivers.waiver(waiver),
            Row::End(POPULATION) => self.populated = true,
            _ => {}
        }
        self.checks.row(row)
    }
}
