//! Judges a bundle again: do its checks follow from its signed facts?
//!
//! A [`Repetition`] is a sink: it receives the rows and artifacts of a bundle while it is verified. It groups the
//! observations as the collection made them, applies the published rules to the artifacts, and compares each check:
//! its status, its reason, its text and its evidence. Nothing is judged from what is not in the bundle.

mod again;
mod altcloud;
mod cloud;
mod codehost;
mod facts;
mod group;
mod kept;
mod order;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::sync::Arc;

use evidence_bundle::document::{
    Check, Member, ObservationRecord, Outcome, RuleRecord, ScopeRecord, SourcePopulation, SourceScope,
};
use evidence_bundle::path::{NORMALIZED, OBSERVATIONS, SCOPE};
use evidence_bundle::read::{self, Judgement, Sink};
use evidence_bundle::{
    Expectations, Failure, Limits, Reason as Refusal, TrustRoot, UntrustedBundle, VerifiedBundle, VerifyError,
};

pub use self::again::{Again, Rejudged, rejudge};
use self::facts::Artifact;
use self::group::{JudgeContext, Judged, Row, SourceSettings};
use self::kept::{Kept, KeptChecks, hash};
use crate::framework::Framework;
use crate::inspection::{Conclusion, Facts, Judgement as Verdicts, Shown, conclude, withheld};
use crate::rule::{Rule, Settings, reason};
use crate::{SOURCES, reason_of, rule_of};

/// How many checks of each problem are named.
const NAMED: usize = 5;

/// The largest artifact that is read into memory before it is parsed, in bytes.
const BUFFERED: u64 = 1 << 20;

/// Verifies a bundle and judges it again. The result has its [`judgement`](VerifiedBundle::judgement).
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn verify(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
) -> Result<VerifiedBundle, Failure> {
    let mut repetition = Repetition::default();
    let verified = UntrustedBundle::new(bundle).verify_into(trust, expectations, limits, &mut repetition)?;
    repetition.complete(verified, expectations)
}

/// Verifies a bundle and judges it again while `sink` receives it.
///
/// # Errors
/// Returns a [`Failure`]: also for a bundle whose checks do not follow from its facts.
pub fn read(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<VerifiedBundle, Failure> {
    let mut repetition = Repetition::default();
    let verified = read_by(&mut repetition, bundle, trust, expectations, limits, sink)?;
    repetition.complete(verified, expectations)
}

/// Verifies a bundle while `sink` and `repetition` receive it.
fn read_by(
    repetition: &mut Repetition,
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> Result<VerifiedBundle, Failure> {
    let mut both = Both { repetition, sink };
    UntrustedBundle::new(bundle).verify_into(trust, expectations, limits, &mut both)
}

/// Judges a bundle again while another sink receives it.
struct Both<'s> {
    repetition: &'s mut Repetition,
    sink: &'s mut dyn Sink,
}

impl Sink for Both<'_> {
    fn row(&mut self, row: read::Row<'_>) -> io::Result<()> {
        self.repetition.row(row)?;
        self.sink.row(row)
    }

    fn file(&mut self, path: &str, size: u64) -> io::Result<bool> {
        self.sink.file(path, size)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.bytes(bytes)
    }

    fn contents(&mut self, path: &str, size: u64, contents: &mut dyn Read) -> io::Result<()> {
        if !self.repetition.artifacts.contains_key(&hash(path)) {
            return self.sink.contents(path, size, contents);
        }
        if !self.sink.file(path, size)? {
            return self.repetition.artifact(path, contents);
        }
        let mut shared = Shared { contents, sink: self.sink };
        self.repetition.artifact(path, &mut shared)?;
        io::copy(&mut shared, &mut io::sink()).map(drop)
    }
}

/// A reader that passes what it reads to a sink.
struct Shared<'s> {
    contents: &'s mut dyn Read,
    sink: &'s mut dyn Sink,
}

impl Read for Shared<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.contents.read(buffer)?;
        self.sink.bytes(buffer.get(..read).unwrap_or_default())?;
        Ok(read)
    }
}

/// Reads a bundle and judges it again.
#[derive(Debug, Default)]
pub struct Repetition {
    checks: KeptChecks,
    /// The observations, in their order.
    rows: Vec<Row>,
    groups: Vec<Group>,
    /// The group of the last row, if the next one can belong to it.
    last: Option<usize>,
    /// The row of the artifact with this path.
    artifacts: HashMap<u64, u32>,
    sources: Vec<SourceScope>,
    rules: Vec<RuleRecord>,
    /// The settings of the rules that this program knows.
    settings: Settings,
    organizations: BTreeMap<String, String>,
    /// The members in scope.
    members: Vec<ScopedMember>,
    subjects: Subjects,
    judgement: Judgement,
    /// The first problems.
    problems: Vec<(Refusal, String)>,
    /// How many rows have no rule of this program.
    truncated: bool,
    /// What the rules say under the settings of `other`, if anyone asks.
    again: Option<Vec<Rejudged>>,
    /// The settings in place of those of the bundle.
    other: Option<Settings>,
}

/// Observations that were made together: rows that follow each other.
#[derive(Debug)]
struct Group {
    source: usize,
    start: usize,
    end: usize,
    /// How many artifacts of it were not read yet.
    missing: usize,
}

/// A member of the population in scope.
#[derive(Debug)]
struct ScopedMember {
    source: usize,
    kind: &'static str,
    name: Arc<str>,
}

/// What the population says of a repository.
#[derive(Debug, Default)]
struct Known {
    default_branch: Option<Arc<str>>,
    archived: bool,
}

/// Names, each stored once.
#[derive(Debug, Default)]
struct Subjects(HashMap<Arc<str>, Known>);

impl Subjects {
    fn name(&mut self, text: &str) -> Arc<str> {
        if let Some((name, _)) = self.0.get_key_value(text) {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        self.0.insert(Arc::clone(&name), Known::default());
        name
    }
}

/// The number of a source in [`SOURCES`].
fn source_number(name: &str) -> Option<usize> {
    SOURCES.iter().position(|source| source.source == name)
}

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
        let subject = self.subjects.name(&check.subject);
        let basis = hash(
            check
                .evidence
                .iter()
                .map(|reference| basis(&reference.filename, reference.id.as_deref()))
                .collect::<Vec<_>>(),
        );
        self.judgement.checks += 1;
        self.checks.add(check, subject, basis);
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
        let row = Row {
            kind,
            subject: self.subjects.name(&record.subject),
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
        let joins = |group: &Group| {
            self.rows.get(group.start..group.end).is_some_and(|rows| order::joins(rows, &row))
        };
        let joins = self.last.filter(|group| self.groups.get(*group).is_some_and(joins));
        let (number, place) = (joins.unwrap_or(self.groups.len()), self.rows.len());
        if joins.is_none() {
            self.groups.push(Group { source, start: place, end: place, missing: 0 });
        }
        self.last = Some(number);
        let Some(group) = self.groups.get_mut(number) else { return };
        group.end = place + 1;
        if let (Some(path), Ok(place)) = (path, u32::try_from(place)) {
            group.missing += 1;
            self.artifacts.insert(path, place);
        }
        self.rows.push(row);
    }

    fn organization(&mut self, source: &SourcePopulation) {
        self.organizations.insert(source.source.clone(), source.organization.clone());
    }

    fn member(&mut self, member: &Member) {
        let Some(source) = source_number(&member.source).filter(|_| member.in_scope) else { return };
        let name = self.subjects.name(&member.name);
        if member.kind == "repository" {
            let default_branch = member.default_branch.as_deref().map(|branch| self.subjects.name(branch));
            let known = Known { default_branch, archived: member.archived.unwrap_or_default() };
            self.subjects.0.insert(Arc::clone(&name), known);
        }
        // Users, trails and log groups have no check of their own.
        let mut rules = SOURCES.get(source).map(|source| source.rules).unwrap_or_default().iter();
        if let Some(rule) = rules.find(|rule| rule.kind == member.kind) {
            self.members.push(ScopedMember { source, kind: rule.kind, name });
        }
    }

    fn scope(&mut self, scope: &ScopeRecord) {
        (self.sources, self.rules) = (scope.sources.clone(), scope.rules.clone());
        self.filed(scope);
        for record in self.rules.clone() {
            let Some(rule) = rule_of(&record.code) else { continue };
            if rule.version != record.version {
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
        if rules.len() != scope.rules.len() {
            return;
        }
        if framework.without_evidence(&rules) != scope.criteria_without_evidence {
            let detail = "the criteria without evidence are not those of the applied rules".to_owned();
            self.problem(Refusal::JudgementDiffers, detail);
        }
    }

    fn artifact(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        let Some(place) = self.artifacts.remove(&hash(path)) else { return Ok(()) };
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        let number = self.groups.partition_point(|group| group.end <= place);
        let Some(group) = self.groups.get_mut(number) else { return Ok(()) };
        group.missing = group.missing.saturating_sub(1);
        let is_whole = group.missing == 0;
        let first = self.rows.get(group.start);
        let is_judged = first.is_some_and(|row| self.judges(row));
        if let Some(row) = self.rows.get_mut(place).filter(|_| is_judged) {
            let mut bytes = Vec::new();
            let small = contents.take(BUFFERED).read_to_end(&mut bytes)?;
            let read = if u64::try_from(small).unwrap_or(u64::MAX) < BUFFERED {
                Artifact::read(row.kind, bytes.as_slice())
            } else {
                Artifact::read(row.kind, io::BufReader::new(bytes.chain(contents)))
            };
            match read {
                Some(Ok(artifact)) => row.artifact = Some(artifact),
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

    /// Judges a group and forgets it.
    fn judge(&mut self, number: usize) {
        let Some(group) = self.groups.get_mut(number) else { return };
        let (range, source_number) = (group.start..group.end, group.source);
        group.start = group.end;
        // They leave the memory that they need beside their places with this list.
        let rows: Vec<Row> = self.rows.get_mut(range).unwrap_or_default().iter_mut().map(Row::take).collect();
        let Some(first) = rows.first() else { return };
        let source = SOURCES.get(source_number).map_or("", |source| source.source);
        if *first.kind == order::CONNECTION {
            self.unconnected(source, first);
            return;
        }
        if !self.judges(first) {
            return;
        }
        let all = hash(rows.iter().map(|row| row.basis).collect::<Vec<_>>());
        if let (Some(screen), false) = (excluded(&rows), source_number == 0) {
            // Which parts of such an artifact were judged is not known without it.
            let verdict = withheld(screen);
            for rule in first.kind.rules {
                self.judgement.repeated += self.checks.take_all(rule, &verdict, all);
            }
            return;
        }
        let settings = self.sources.iter().find(|scope| scope.source == source).map(|scope| &scope.settings);
        let known = self.subjects.0.get(&first.subject);
        let around = JudgeContext {
            rules: &self.settings,
            only_read: false,
            settings: SourceSettings(settings),
            default_branch: known.and_then(|known| known.default_branch.as_deref()),
            archived: known.is_some_and(|known| known.archived),
        };
        let by = |around: JudgeContext<'_>| match source_number {
            0 => codehost::judged(&rows, around),
            1 => cloud::judged(&rows, around.rules),
            _ => Some(altcloud::judged(&rows, around.rules)),
        };
        let judged = by(around);
        let observed: Vec<_> = rows.iter().map(Row::observed).collect();
        if let Some(again) = &mut self.again {
            let other = self.other.as_ref().unwrap_or(&self.settings);
            let judged = by(JudgeContext { rules: other, only_read: true, ..around });
            let Judged { judgements, exempt } = judged.unwrap_or_default();
            let concluded = conclude(&observed, judgements, exempt).into_iter();
            again.extend(concluded.map(|Conclusion { judgement, .. }| Rejudged { source, judgement }));
        }
        let Some(Judged { judgements, exempt }) = judged else {
            let detail = format!("the observations of {} are not those that the rules need", first.subject);
            self.problem(Refusal::ChecksIncomplete, detail);
            return;
        };
        for Conclusion { judgement, on } in conclude(&observed, judgements, exempt) {
            let basis = on.and_then(|index| rows.get(index)).map_or(all, |row| hash(vec![row.basis]));
            self.expect(source, &judgement, basis);
        }
    }

    /// A source that could not be connected has a check of each of its rules.
    fn unconnected(&mut self, source: &str, row: &Row) {
        let rules: Vec<_> = self
            .rules
            .iter()
            .filter(|rule| rule.source == source)
            .filter_map(|rule| rule_of(&rule.code))
            .collect();
        for rule in rules {
            let verdict = crate::rule::Verdict::unknown(&reason::CONNECTION_FAILED, &*row.detail);
            self.expect(source, &row.judged(rule, verdict), hash(vec![row.basis]));
        }
    }

    /// Compares a check that follows from the facts with the one in the bundle.
    fn expect(&mut self, source: &str, expected: &Verdicts, basis: u64) {
        let Verdicts { rule, subject, .. } = expected;
        if !applies(&self.rules, rule) {
            // A rule that was not applied has no check; one that is not known here is counted at the end.
            return;
        }
        match self.checks.take(source, expected, basis) {
            Kept::Same => self.judgement.repeated += 1,
            Kept::Differs(found) => {
                let detail = format!("{} of {subject}: {found}", rule.code);
                self.problem(Refusal::JudgementDiffers, detail);
            }
            Kept::Missing => {
                let detail = format!("{} of {subject} is missing", rule.code);
                self.problem(Refusal::ChecksIncomplete, detail);
            }
        }
    }

    /// The version in the bundle of a rule that this program does not know in that version.
    fn unknown(&self, code: &str) -> Option<u32> {
        let applied = self.rules.iter().find(|rule| rule.code == code)?;
        (rule_of(code).is_none_or(|rule| rule.version != applied.version)).then_some(applied.version)
    }

    fn problem(&mut self, refusal: Refusal, detail: String) {
        if self.problems.len() < NAMED {
            self.problems.push((refusal, detail));
        } else {
            self.truncated = true;
        }
    }

    /// The verified bundle with its judgement.
    ///
    /// # Errors
    /// Fails if a check does not follow from the facts, is missing, or is not one that the rules give.
    fn complete(
        self,
        mut bundle: VerifiedBundle,
        expectations: &Expectations,
    ) -> Result<VerifiedBundle, Failure> {
        let judgement = self.finish(&bundle.tool_version)?;
        if expectations.judgement && !judgement.is_complete() {
            let Judgement { checks, repeated, not_repeated } = &judgement;
            let rules: Vec<String> =
                not_repeated.keys().map(|(rule, version)| format!("{rule} version {version}")).collect();
            let detail = format!(
                "{repeated} of {checks} checks were judged again; unknown here: {}",
                rules.join(", ")
            );
            return Err(VerifyError::at(Refusal::JudgementNotRepeated, SCOPE, detail).into());
        }
        bundle.judgement = Some(judgement);
        Ok(bundle)
    }

    /// Whether a rule that is judged uses the observation.
    fn judges(&self, row: &Row) -> bool {
        let mut rules = row.kind.rules.iter();
        rules.any(|rule| self.again.is_some() || applies(&self.rules, rule))
    }

    /// Judges the groups whose artifacts are not all there.
    fn judge_the_rest(&mut self) {
        for number in 0..self.groups.len() {
            self.judge(number);
        }
    }

    /// Judges what is left and counts. `tool_version` is the version that made the bundle.
    ///
    /// # Errors
    /// Fails if a check does not follow from the facts, is missing, or is not one that the rules give.
    pub fn finish(mut self, tool_version: &str) -> Result<Judgement, VerifyError> {
        self.judge_the_rest();
        for rule in self.rules.clone() {
            let Some(version) = self.unknown(&rule.code) else { continue };
            if tool_version == env!("CARGO_PKG_VERSION") {
                let detail = format!("version {tool_version} has no rule {} in version {version}", rule.code);
                self.problem(Refusal::JudgementDiffers, detail);
            }
            let left = self.checks.take_rule(&rule.code);
            if left > 0 {
                self.judgement.not_repeated.insert((rule.code, version), left);
            }
        }
        self.members_have_checks();
        for left in self.checks.left(NAMED) {
            self.problem(Refusal::ChecksIncomplete, format!("{left} does not follow from any observation"));
        }
        let Some((reason, _)) = self.problems.first() else { return Ok(self.judgement) };
        let reason = *reason;
        let mut details: Vec<String> = self.problems.into_iter().map(|(_, detail)| detail).collect();
        if self.truncated {
            details.push("and more".to_owned());
        }
        Err(VerifyError::at(reason, NORMALIZED, details.join("; ")))
    }

    /// Every member in scope has exactly one check of each rule about its kind, and no check has another subject.
    fn members_have_checks(&mut self) {
        let mut problems = Vec::new();
        // Names that were redacted can be the same.
        let mut named: HashMap<(usize, &str), BTreeMap<&str, u64>> = HashMap::new();
        for member in &self.members {
            let names = named.entry((member.source, member.kind)).or_default();
            *names.entry(&member.name).or_default() += 1;
        }
        let none = BTreeMap::new();
        for rule in &self.rules {
            let Some(known) = rule_of(&rule.code) else { continue };
            let Some(source) = source_number(&rule.source).filter(|_| self.unknown(&rule.code).is_none())
            else {
                continue;
            };
            let organization = self.organizations.get(&rule.source).map(String::as_str);
            let counts = self.checks.subjects_of(known);
            let members = named.get(&(source, known.kind)).unwrap_or(&none);
            if !matches!(known.kind, "organization" | "directory") {
                for (name, times) in members {
                    match counts.get(name).copied().unwrap_or(0) {
                        count if count == *times => {}
                        // Of an account of which no region could be read, each region has a check.
                        0 if known.kind == "account"
                            && counts.keys().any(|subject| is_within(subject, name)) => {}
                        0 => problems.push(format!("{} of {name} is missing", rule.code)),
                        count => problems.push(format!("{} of {name} is there {count} times", rule.code)),
                    }
                }
            } else if counts.is_empty() {
                problems.push(format!("{} of {} is missing", rule.code, organization.unwrap_or_default()));
            }
            if known.kind == "repository" {
                let is_known = |subject: &str| Some(subject) == organization || members.contains_key(subject);
                let other = counts.keys().find(|subject| !is_known(subject));
                problems
                    .extend(other.map(|subject| {
                        format!("{} of {subject}, which is not in the population", rule.code)
                    }));
            }
            if problems.len() > NAMED {
                break;
            }
        }
        problems.into_iter().for_each(|detail| self.problem(Refusal::ChecksIncomplete, detail));
    }
}

/// Whether the bundle applies the rule, in the version that this program knows.
fn applies(rules: &[RuleRecord], rule: &Rule) -> bool {
    rules.iter().any(|applied| applied.code == rule.code && applied.version == rule.version)
}

/// The rule of the screen that excluded an artifact of a group, if one was.
fn excluded(rows: &[Row]) -> Option<&str> {
    rows.iter().find_map(|row| match row.shown() {
        Shown::Excluded(rule) => Some(rule),
        _ => None,
    })
}

/// Whether a subject is a part of an account.
fn is_within(subject: &str, account: &str) -> bool {
    subject.strip_prefix(account).is_some_and(|rest| rest.starts_with('/'))
}

/// What a check refers to: a file, or a row of the observations.
fn basis(filename: &str, id: Option<&str>) -> u64 {
    match id {
        Some(id) => hash((OBSERVATIONS, id)),
        None => hash(filename),
    }
}
