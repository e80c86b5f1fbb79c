//! Receives the rows and artifacts of a bundle, and groups the observations as the collection made them.

use std::io::{self, Read};
use std::sync::Arc;

use evidence_bundle::Reason as Refusal;
use evidence_bundle::document::{Check, Member, ObservationRecord, Outcome, ScopeRecord, SourcePopulation};
use evidence_bundle::path::OBSERVATIONS;
use evidence_bundle::read::{self, Sink};
use evidence_text::{saturating_u32, saturating_u64, saturating_usize};

use super::facts::Artifact;
use super::group::Row;
use super::kept::{all_of, hash};
use super::order;
use super::state::{Group, Repetition, ScopedMember, basis, source_number};
use crate::framework::Framework;
use crate::inspection::Facts;
use crate::rule::{Rule, reason};
use crate::{SOURCES, reason_of, rule_of};

/// Enough for the usual artifact, in bytes.
const USUAL: usize = 2 << 10;

/// The largest artifact that is read into memory before it is parsed, in bytes.
const BUFFERED: u64 = 1 << 20;

impl Sink for Repetition {
    fn row(&mut self, row: read::Row<'_>) -> io::Result<()> {
        match row {
            read::Row::Check(check) => self.check(check),
            read::Row::Observation(record) => self.observation(record),
            read::Row::Source(source) => self.organization(source),
            read::Row::Member(member) => self.member(member),
            read::Row::Scope(scope) => self.scope(scope),
            _ => {}
        }
        Ok(())
    }

    fn contents(&mut self, path: &str, _: u64, contents: &mut dyn Read) -> io::Result<()> {
        self.artifact(path, contents)
    }
}

impl Repetition {
    fn check(&mut self, check: &Check) {
        let subject = self.subjects.number(&check.subject);
        let references = check.evidence.iter();
        let basis = all_of(references.map(|reference| basis(&reference.filename, reference.id.as_deref())));
        self.judgement.checks += 1;
        self.checks.add(check, source_number(&check.source), subject, basis);
    }

    /// Adds a row to its group.
    fn observation(&mut self, record: &ObservationRecord) {
        let Some(source) = source_number(&record.source) else { return };
        let connection = record.kind == "connection" && record.outcome == Outcome::Failed;
        let kind =
            SOURCES.get(source).and_then(|known| known.kinds.iter().find(|kind| kind.name == record.kind));
        let kind = match (kind, connection) {
            (Some(kind), _) => kind,
            (None, true) => &order::CONNECTION,
            (None, false) => {
                self.last = None;
                return;
            }
        };
        let filename = record.artifact.as_deref();
        let number = self.subjects.number(&record.subject);
        let Some(subject) = self.subjects.get(number) else { return };
        let row = Row {
            kind,
            subject: Arc::clone(&subject.name),
            number,
            outcome: record.outcome,
            reason: record.reason.as_deref().map(|code| reason_of(code).unwrap_or(&reason::HOST_ERROR)),
            detail: record.detail.as_deref().unwrap_or_default().into(),
            basis: match filename {
                Some(filename) => basis(filename, None),
                None => basis(OBSERVATIONS, Some(&record.id)),
            },
            facts: record
                .facts
                .iter()
                .map(|(name, fact)| (name.clone().into(), fact.clone()))
                .collect::<Facts>(),
            artifact: None,
        };
        let path = filename.map(hash);
        let joins = |group: &Group| order::joins(&group.rows, &row);
        let joins = self.last.filter(|group| self.groups.get(*group).is_some_and(joins));
        let number = joins.unwrap_or(self.groups.len());
        self.last = Some(number);
        let place = match joins.and_then(|number| self.groups.get_mut(number)) {
            Some(group) => {
                group.missing += usize::from(path.is_some());
                group.rows.push(row);
                group.rows.len() - 1
            }
            // Most groups have one row, and need no room for more.
            None => {
                self.groups.push(Group { source, rows: vec![row], missing: usize::from(path.is_some()) });
                0
            }
        };
        if let Some(path) = path {
            self.artifacts.insert(path, (saturating_u32(number), saturating_u32(place)));
        }
    }

    fn organization(&mut self, source: &SourcePopulation) {
        self.organizations.insert(source.source.clone(), source.organization.clone());
    }

    fn member(&mut self, member: &Member) {
        let Some(source) = source_number(&member.source).filter(|_| member.in_scope) else { return };
        let number = self.subjects.number(&member.name);
        if member.kind == "repository"
            && let Some(subject) = self.subjects.get_mut(number)
        {
            subject.default_branch = member.default_branch.as_deref().map(Box::from);
            subject.archived = member.archived.unwrap_or_default();
        }
        // Users, trails and log groups have no check of their own.
        let mut rules = SOURCES.get(source).map(|source| source.rules).unwrap_or_default().iter();
        if let Some(rule) = rules.find(|rule| rule.kind == member.kind) {
            self.members.push(ScopedMember { source, kind: rule.kind, subject: number });
        }
    }

    fn scope(&mut self, scope: &ScopeRecord) {
        (self.sources, self.rules) = (scope.sources.clone(), scope.rules.clone());
        self.filed(scope);
        for record in self.rules.clone() {
            let Some(rule) = rule_of(&record.code) else { continue };
            if rule.version == record.version {
                self.applied.push(rule);
            } else {
                // Another version of the rule may have other limits; only who asks for this version's rules needs them.
                let _ = self.settings.read(rule, &record.settings);
                continue;
            }
            if let Err(detail) = self.settings.read(rule, &record.settings) {
                self.problem(Refusal::JudgementDiffers, detail);
            } else if record.expected != rule.expectation(&self.settings) {
                let expected = rule.expectation(&self.settings);
                let detail = format!("{} expects something else: {expected}", rule.code);
                self.problem(Refusal::JudgementDiffers, detail);
            }
        }
    }

    /// The criteria without evidence must be those of the framework's table, if the same version of the tool wrote them.
    fn filed(&mut self, scope: &ScopeRecord) {
        let known = Framework::from_id(&scope.framework);
        let Some(framework) = known.filter(|_| scope.tool.version == env!("CARGO_PKG_VERSION")) else {
            return;
        };
        let rules: Vec<&Rule> = scope.rules.iter().filter_map(|rule| rule_of(&rule.code)).collect();
        if rules.len() == scope.rules.len()
            && framework.without_evidence(&rules) != scope.criteria_without_evidence
        {
            let detail = "the criteria without evidence are not those of the applied rules".to_owned();
            self.problem(Refusal::JudgementDiffers, detail);
        }
    }

    pub(super) fn artifact(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        let Some((number, place)) = self.artifacts.remove(&hash(path)) else { return Ok(()) };
        let (number, place) = (saturating_usize(number), saturating_usize(place));
        let first = self.groups.get(number).and_then(|group| group.rows.first());
        let is_applied = first.is_some_and(|row| self.applies_to(row));
        let is_judged = is_applied || self.again.is_some();
        let Some(group) = self.groups.get_mut(number) else { return Ok(()) };
        group.missing = group.missing.saturating_sub(1);
        let is_whole = group.missing == 0;
        if let Some(row) = group.rows.get_mut(place).filter(|_| is_judged) {
            let mut bytes = Vec::with_capacity(USUAL);
            let small = contents.take(BUFFERED).read_to_end(&mut bytes)?;
            let read = if saturating_u64(small) < BUFFERED {
                Artifact::parse(row.kind, &bytes)
            } else {
                Artifact::read(row.kind, io::BufReader::new(bytes.chain(contents)))
            };
            match read {
                Some(Ok(artifact)) => row.artifact = Some(artifact),
                // Another version's record, of which this version's rules have nothing to say.
                Some(Err(_)) if !is_applied => {}
                Some(Err(error)) => self.problem(
                    Refusal::JudgementDiffers,
                    format!("{path} is not the record that the rules judge: {error}"),
                ),
                None => {}
            }
        }
        if is_whole {
            self.judge(number);
        }
        Ok(())
    }
}
