//! Screens, judges, spools and counts one source's observations as they arrive.

mod rows;

use std::io;
use std::sync::Arc;

use serde_json::Value;

use evidence_bundle::document::{
    self, AppIdentity, ArtifactRecord, ErrorRecord, Excluded, Identity, Member as MemberRecord, Outcome,
    SourcePopulation, SourceRun, Warning, is_lacking,
};

use crate::env::Env;
use crate::evaluate::{self, Basis, Check, Evidence};
use crate::forecast::Standings;
use crate::observation::{Artifact, ArtifactKind, Inspection, Observation, Seen, SourceName};
use crate::refusals::{Refusal, Refusals};
use crate::report::{Event, ObservationResult, Reporter, Tally};
use crate::source::{CollectionItem, ConnectError, Member, PopulationScope, Scope, Session};
use crate::spool::Spool;
use evidence_http::GivenUp;
use evidence_rules::framework::Framework;
use evidence_rules::rule::{Rule, Verdict, reason};
use evidence_screen::{Confidence, Screen};
use evidence_text::counted;
use evidence_text::saturating_u64;

use super::Collection;
use super::progress::Progress;

/// One source's share.
pub(super) struct Collector<'a> {
    source: SourceName,
    framework: &'static Framework,
    /// The rules that are asked of the source. Its artifacts may be evidence for others, which then have no checks.
    rules: Vec<&'static Rule>,
    screen: &'a Screen,
    env: &'a Env,
    reporter: &'a dyn Reporter,
    pub(super) part: Collection,
    tally: Tally,
    discovered: u64,
    population: SourcePopulation,
    /// The refused settings, for the warnings.
    refusals: Refusals,
    /// The number of observation rows so far.
    observations: u32,
    /// The subject that was screened last.
    last_subject: Arc<str>,
    progress: Progress,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        (source, standings): (SourceName, Option<Standings>),
        (framework, rules): (&'static Framework, &[&'static Rule]),
        screen: &'a Screen,
        env: &'a Env,
        reporter: &'a dyn Reporter,
    ) -> Collector<'a> {
        Collector {
            source,
            framework,
            rules: rules.to_vec(),
            screen,
            env,
            reporter,
            part: Collection::default(),
            tally: Tally::default(),
            discovered: 0,
            population: PopulationScope::new(document::Scope::Unreached, "", "", 0).record(source, 0, 0),
            refusals: Refusals::default(),
            observations: 0,
            last_subject: "".into(),
            progress: Progress::new(env.clock.now(), standings),
        }
    }

    /// Adds what `session` yielded.
    pub(super) fn add(
        &mut self,
        item: CollectionItem,
        session: &dyn Session,
        spool: &mut Spool,
    ) -> io::Result<()> {
        match item {
            CollectionItem::Population { discovered, expected, work, text, members, scope } => {
                self.progress.expect(expected, &work);
                self.discovered = discovered.unwrap_or(0);
                self.population = scope.record(self.source, 0, 0);
                self.population.organization = self.clean(&self.population.organization);
                members.into_iter().try_for_each(|member| self.member(member, spool))?;
                // Reserve everything at once: a growing list would be moved, and each move leaves a hole of its size.
                let room = usize::try_from(expected).unwrap_or(0);
                self.part.checks.reserve_exact(room);
                spool.reserve(room);
                self.reporter.event(Event::Population { source: self.source, expected, text: &text });
            }
            CollectionItem::Listed { kind, subject, requests } => {
                self.progress.asked(&requests);
                let subject = self.clean(&subject);
                let row = self.row(&subject, kind, Outcome::Listed, &requests);
                self.record(&row, spool)?;
            }
            CollectionItem::Warned(warning) => self.warn(warning, true),
            CollectionItem::Inspected(inspection) => {
                let requests = inspection.observations.iter().flat_map(|observation| &observation.requests);
                self.progress.observed(requests);
                self.inspected(inspection, spool)?;
                let forecast = self.progress.forecast(session, self.env.clock.now());
                self.reporter.event(Event::Answered { source: self.source, forecast });
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, session: &dyn Session) {
        let (source, tally) = (self.source, self.tally);
        let account = session.account();
        let identity = Identity {
            login: account.identity.login.map(|login| self.clean(&login)),
            id: account.identity.id.map(|id| self.clean(&id)),
            scopes: self.clean(&account.identity.scopes),
            app: account.identity.app.map(|app| self.app(app)),
        };
        self.reporter.event(Event::Collected {
            source,
            tally,
            requests: account.requests,
            revalidated: account.revalidated,
            rate_limit: account.rate_limit.as_ref(),
        });
        if let Some((answers, began)) = account.resumed.filter(|(answers, _)| *answers > 0) {
            let message = format!(
                "{} resumed from the interrupted run that began at {}: each describes the state at that time, and \
                 `collected_at` says of each artifact when it was read",
                counted(answers, "answer was", "answers were"),
                self.env.stamp_of(began)
            );
            self.warn(source.warning("resumed", message, None), true);
        }
        for given_up in account.given_up.iter().filter(|given_up| given_up.not_asked > 0) {
            self.warn(source.warning("endpoint_given_up", skipped(given_up), None), true);
        }
        for warning in std::mem::take(&mut self.refusals).warnings(source) {
            self.warn(warning, true);
        }
        self.part.populations.push(self.population.clone());
        self.part.sources.push(SourceRun {
            name: source.id().to_string(),
            api_url: account.api_url,
            identity,
            discovered: self.discovered,
            in_scope: self.population.in_scope,
            requested: tally.requested,
            collected: tally.collected,
            not_found: tally.not_found,
            denied: tally.denied,
            failed: tally.failed,
            excluded: tally.excluded,
            requests: self.of_run(account.requests),
            retries: self.of_run(account.retries),
            revalidated: self.of_run(account.revalidated),
            rate_limit: account.rate_limit.and_then(|limit| self.of_run(limit)),
            paused_seconds: self.of_run(account.paused_seconds),
            bulk: account.bulk.and_then(|bulk| self.of_run(bulk)),
        });
    }

    /// The host's words about an app, clean as every text of a document.
    fn app(&self, app: AppIdentity) -> AppIdentity {
        let permissions = app.permissions.iter();
        AppIdentity {
            slug: app.slug.map(|slug| self.clean(&slug)),
            permissions: permissions.map(|(name, level)| (self.clean(name), self.clean(level))).collect(),
            ..app
        }
    }

    /// Records a source that could not be connected: one error, and a check of each rule with that reason.
    pub(super) fn unconnected(
        &mut self,
        scope: &Scope,
        error: &ConnectError,
        spool: &mut Spool,
    ) -> io::Result<()> {
        let message = self.clean(&error.message);
        let subject: Arc<str> = self.clean(&scope.subject).into();
        let mut row = self.row(&subject, CONNECTION, Outcome::Failed, &error.asked);
        row.reason = Some(reason::CONNECTION_FAILED.code.to_string());
        row.detail = Some(message.clone());
        let number = self.record(&row, spool)?;
        for rule in &scope.rules {
            let verdict = Verdict::unknown(&reason::CONNECTION_FAILED, message.clone());
            let (source, subject) = (self.source, Arc::clone(&subject));
            let evidence = Evidence::One(Basis::Observation(number));
            self.spool_check(Check { rule, source, subject, verdict, evidence }, spool)?;
        }
        self.part.unconnected = true;
        (self.population.organization, self.population.kind) = (subject.to_string(), scope.kind.to_string());
        self.part.populations.push(self.population.clone());
        self.part.errors.push(ErrorRecord {
            code: reason::CONNECTION_FAILED.code.to_string(),
            message,
            source: self.source.id().to_string(),
            subject: subject.to_string(),
            status: None,
            request_id: None,
        });
        self.part.sources.push(SourceRun {
            name: self.source.id().to_string(),
            api_url: scope.api_url.clone(),
            identity: Identity { login: None, id: None, scopes: "not connected".to_string(), app: None },
            discovered: 0,
            in_scope: 0,
            requested: 1,
            collected: 0,
            not_found: 0,
            denied: 0,
            failed: 1,
            excluded: 0,
            requests: self.of_run(error.requests),
            retries: self.of_run(error.retries),
            revalidated: self.of_run(0),
            rate_limit: None,
            paused_seconds: self.of_run(0),
            bulk: None,
        });
        Ok(())
    }

    pub(super) fn warn(&mut self, mut warning: Warning, show: bool) {
        warning.message = self.clean(&warning.message);
        warning.subject = warning.subject.map(|subject| self.clean(&subject));
        if show {
            self.reporter.event(Event::Warning(&warning));
        }
        self.part.warnings.push(warning);
    }

    /// Redacts what must not be in a bundle: names and messages come from the host too.
    fn clean(&self, text: &str) -> String {
        self.screen.redact(text).into_owned()
    }

    fn clean_fact(&self, fact: Value) -> Value {
        match fact {
            Value::String(text) => Value::String(self.clean(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.clean_fact(item)).collect(),
            other => other,
        }
    }

    fn inspected(&mut self, mut inspection: Inspection, spool: &mut Spool) -> io::Result<()> {
        let mut bases = Vec::with_capacity(inspection.observations.len());
        let exempt = inspection.exempt.is_some();
        for observation in &mut inspection.observations {
            bases.push(self.observed(observation, exempt, spool)?);
        }
        let refused: Vec<Refusal> = inspection.observations.iter().filter_map(Refusal::of).collect();
        let mut checks = evaluate::checks(inspection, &bases);
        checks.retain(|check| self.rules.contains(&check.rule));
        // Ignore a refusal that another observation made up for.
        let open = |refusal: &Refusal| checks.iter().any(|check| *check.verdict.reason == *refusal.reason);
        // The source warns of an incomplete list itself, once for all rules.
        let open = |refusal: &Refusal| open(refusal) && refusal.reason.code != POPULATION_INCOMPLETE;
        refused.into_iter().filter(open).for_each(|refusal| self.refusals.add(refusal));
        for mut check in checks {
            self.part.lacking |= is_lacking(check.verdict.status, check.verdict.reason.code);
            check.verdict.actual = check.verdict.actual.map(|actual| self.clean(&actual));
            self.clean_subject(&mut check.subject);
            self.spool_check(check, spool)?;
        }
        Ok(())
    }

    /// Screens, spools and counts an observation. Returns the basis for its checks.
    fn observed(
        &mut self,
        observation: &mut Observation,
        exempt: bool,
        spool: &mut Spool,
    ) -> io::Result<Basis> {
        let warnings = std::mem::take(&mut observation.warnings);
        let warned = !warnings.is_empty();
        // A refusal is reported together with all others of its kind.
        let is_reported = |warning: &Warning| matches!(&observation.seen, Seen::Denied { reason, .. } if reason.code == warning.code);
        for warning in warnings.into_iter().filter(|warning| !is_reported(warning)) {
            self.warn(warning, true);
        }
        self.clean_subject(&mut observation.subject);
        let mut number = None;
        let mut path = String::new();
        if let Seen::Artifact { artifact, .. } = &observation.seen {
            path = artifact.path().to_string();
            match self.forbidden(artifact, &observation.subject) {
                Some(rule) => {
                    path = self.clean(&path);
                    let message = format!("{path} was left out as forbidden data (rule {rule})");
                    let code = reason::EXCLUDED_BY_POLICY.code;
                    let warning = self.source.warning(code, message, Some(&observation.subject));
                    // Not reported here: the outcome of the observation shows it.
                    self.warn(warning, false);
                    self.part.excluded.push(Excluded { filename: path.clone(), rule: rule.to_string() });
                    observation.seen = Seen::Withheld { rule };
                }
                None => number = Some(self.spool(observation, spool)?),
            }
        }
        // No rule applies to the subject, so nothing was asked.
        let unasked = exempt && observation.requests.is_empty();
        self.count(observation, &path, warned, unasked);
        let mut row = self.row(
            &observation.subject,
            observation.kind.name,
            outcome_of(observation),
            &observation.requests,
        );
        if let Some((reason, detail)) = observation.seen.gap() {
            (row.reason, row.detail) = (Some(reason.code.to_string()), Some(self.clean(detail)));
        }
        let facts = std::mem::take(&mut observation.facts);
        row.facts =
            facts.into_iter().map(|(name, fact)| (name.into_owned(), self.clean_fact(fact))).collect();
        row.artifact = number.map(|_| path);
        let observation = self.record(&row, spool)?;
        Ok(number.map_or(Basis::Observation(observation), Basis::Artifact))
    }

    /// Adds a member of the population.
    fn member(&mut self, member: Member, spool: &mut Spool) -> io::Result<()> {
        let Member { kind, name, id, default_branch, archived, visibility, out_of_scope } = member;
        let text = |text: Option<&str>| text.map(|text| self.clean(text));
        let row = MemberRecord {
            source: self.source.id().to_string(),
            kind: kind.to_string(),
            name: self.clean(&name),
            id: text(id.as_deref()),
            default_branch: text(default_branch.as_deref()),
            archived,
            visibility: text(visibility.as_deref()),
            in_scope: out_of_scope.is_none(),
            reason: out_of_scope.map(str::to_string),
        };
        self.population.members += 1;
        self.population.in_scope += u64::from(row.in_scope && row.kind == self.population.kind);
        self.part.members.push(&row, spool)
    }

    /// Redacts a subject. Most checks have the subject of the observation before them.
    fn clean_subject(&mut self, subject: &mut Arc<str>) {
        if Arc::ptr_eq(subject, &self.last_subject) {
            return;
        }
        let clean = self.clean(subject);
        if clean != **subject {
            *subject = clean.into();
        }
        self.last_subject = Arc::clone(subject);
    }

    /// Spools the texts of a check too: in a large organization they take up most of the memory.
    fn spool_check(&mut self, check: Check, spool: &mut Spool) -> io::Result<()> {
        self.part.checks.push(check.keep(|words| spool.add_text(&words))?);
        Ok(())
    }

    /// The rule that excludes `artifact`, if any. A merely suspicious match becomes a warning: evidence excluded by a
    /// false alarm would be lost for good.
    fn forbidden(&mut self, artifact: &Artifact, subject: &str) -> Option<&'static str> {
        let mut findings = self.screen.check(artifact.path().as_str().as_bytes());
        findings.extend(self.screen.check(artifact.bytes()));
        findings.extend(artifact.decoded().map(|decoded| self.screen.check(decoded)).unwrap_or_default());
        if let Some(finding) = findings.iter().find(|finding| finding.confidence == Confidence::High) {
            return Some(finding.rule);
        }
        if let Some(finding) = findings.first() {
            let message = format!("{} may hold a secret (rule {})", artifact.path(), finding.rule);
            self.warn(self.source.warning("possible_secret", message, Some(subject)), true);
        }
        None
    }

    /// The rules that are asked of the source and use this kind of artifact.
    fn asked_of(&self, kind: &ArtifactKind) -> Vec<&'static Rule> {
        kind.rules.iter().copied().filter(|rule| self.rules.contains(rule)).collect()
    }

    fn spool(&mut self, observation: &Observation, spool: &mut Spool) -> io::Result<u32> {
        let Seen::Artifact { artifact, at } = &observation.seen else {
            return Err(io::Error::other("only an artifact can be spooled"));
        };
        let row = ArtifactRecord {
            filename: artifact.path().to_string(),
            source: self.source.id().to_string(),
            artifact_type: observation.kind.name.to_string(),
            collected_at: self.env.stamp_of(*at),
            controls: self
                .framework
                .controls_of(&self.asked_of(observation.kind))
                .iter()
                .map(|control| control.id.to_string())
                .collect(),
            checksum: String::new(),
            size_bytes: 0,
            subject: observation.subject.to_string(),
        };
        spool.add_artifact(artifact.path(), artifact.bytes(), row)
    }

    fn count(&mut self, observation: &Observation, path: &str, warned: bool, unasked: bool) {
        self.tally.requested += 1;
        self.part.answered |= !matches!(observation.seen, Seen::Failed(_));
        let outcome = match &observation.seen {
            Seen::Artifact { artifact, .. } => {
                self.tally.collected += 1;
                ObservationResult::Written { path, bytes: saturating_u64(artifact.bytes().len()) }
            }
            Seen::Withheld { rule } => {
                self.tally.excluded += 1;
                ObservationResult::Excluded { path, rule }
            }
            Seen::Nothing { detail, .. } => {
                self.tally.not_found += 1;
                self.tally.unasked += u64::from(unasked);
                ObservationResult::Nothing { detail, warned: warned || unasked }
            }
            Seen::Denied { detail, reason } => {
                self.tally.denied += 1;
                // The warning about the list says it once for all rules.
                let warned = warned || reason.code == POPULATION_INCOMPLETE;
                ObservationResult::Denied { detail, warned }
            }
            Seen::Failed(failed) => {
                self.tally.failed += 1;
                let record = ErrorRecord {
                    code: failed.reason.code.to_string(),
                    message: self.clean(&failed.message),
                    source: self.source.id().to_string(),
                    subject: observation.subject.to_string(),
                    status: failed.status,
                    request_id: failed.request_id.as_deref().and_then(|id| self.of_run(self.clean(id))),
                };
                // A discovery problem affects every control that looks at repositories, but it is one error.
                if self.part.errors.last() != Some(&record) {
                    self.part.errors.push(record);
                }
                ObservationResult::Failed(&failed.message)
            }
        };
        let subject: &Arc<str> = &observation.subject;
        self.reporter.event(Event::Observed { source: self.source, subject, outcome });
    }
}

/// The reason for checks that an incomplete list leaves open.
const POPULATION_INCOMPLETE: &str = "population_incomplete";

/// The name of the connection test in documents.
pub(super) const CONNECTION: &str = "connection";

fn outcome_of(observation: &Observation) -> Outcome {
    match &observation.seen {
        Seen::Artifact { .. } => Outcome::Artifact,
        Seen::Nothing { .. } => Outcome::Nothing,
        Seen::Denied { .. } => Outcome::Denied,
        Seen::Withheld { .. } => Outcome::Excluded,
        Seen::Failed(_) if observation.requests.is_empty() => Outcome::NotAsked,
        Seen::Failed(_) => Outcome::Failed,
    }
}

/// How many requests were skipped, and why.
fn skipped(GivenUp { kind, failed, last, not_asked }: &GivenUp) -> String {
    let requests = counted(*not_asked, "request was", "requests were");
    format!("{kind}: {requests} skipped after {failed} consecutive failures: {last}")
}
