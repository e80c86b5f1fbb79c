//! Judges `derived/observations.json`, `derived/population.json` and `derived/scope.json`: what the run observed, what
//! existed, and the settings.

use std::collections::BTreeMap;
use std::io::Read;

use super::derived::{Derived, References, number, object};
use super::names::{self, Names};
use super::reason::Reason;
use super::sink::Row;
use super::stream::{Json, Stop};
use crate::document::{
    AskedRecord, Cadence, Member, ObservationRecord, Outcome, RuleRecord, Scope, ScopeRecord,
    SourcePopulation, SourceRun, SourceScope, ToolRecord,
};
use crate::json::Object;

/// Counts of the observations of one source.
#[derive(Default)]
struct Counts {
    all: u64,
    artifacts: u64,
    nothing: u64,
    denied: u64,
    failed: u64,
    excluded: u64,
}

impl Counts {
    fn add(&mut self, outcome: Outcome) {
        self.all += 1;
        let count = match outcome {
            Outcome::Artifact => &mut self.artifacts,
            Outcome::Nothing => &mut self.nothing,
            Outcome::Denied => &mut self.denied,
            Outcome::Failed | Outcome::NotAsked => &mut self.failed,
            Outcome::Excluded => &mut self.excluded,
            // No artifact was requested.
            Outcome::Listed => return,
        };
        *count += 1;
    }

    fn agree(&self, run: &SourceRun) -> bool {
        let Counts { artifacts, nothing, denied, failed, excluded, .. } = *self;
        (artifacts, nothing, denied, failed, excluded)
            == (run.collected, run.not_found, run.denied, run.failed, run.excluded)
    }
}

impl Derived<'_> {
    pub(super) fn observations<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
    ) -> Result<(), Stop> {
        let mut required = None;
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        let mut named = vec![false; self.list.len()];
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "observations" => {
                json.first(&mut required, name, ())?;
                json.list(|json| {
                    let row: ObservationRecord = object(json)?;
                    self.source(&row.source)?;
                    let counts = counts.entry(row.source.clone()).or_default();
                    counts.add(row.outcome);
                    if number(&row.id) != Some((&row.source, counts.all)) {
                        let detail = format!("the observation {} does not have its number", row.id);
                        return Err(self.error(Reason::CountMismatch, detail).into());
                    }
                    self.artifact(&row, &mut named)?;
                    row.requests.iter().try_for_each(|asked| self.asked(&row.id, asked))?;
                    json.pass(Row::Observation(&row))
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        self.required(required, "observations")?;
        let none = Counts::default();
        for run in &self.run.sources {
            if !counts.get(&run.name).unwrap_or(&none).agree(run) {
                let detail = format!("the outcomes for {} are not those that the run counts", run.name);
                return Err(self.error(Reason::CountMismatch, detail).into());
            }
        }
        for (source, highest) in &self.references.observations {
            if counts.get(source).is_none_or(|counts| counts.all < *highest) {
                let detail =
                    format!("a check rests on the observation {source}:{highest}, which is not there");
                return Err(self.error(Reason::EvidenceMismatch, detail).into());
            }
        }
        Ok(())
    }

    /// Checks that the artifact of a row is in the bundle, and not of another row.
    fn artifact(&self, row: &ObservationRecord, named: &mut [bool]) -> Result<(), Stop> {
        let wrong = |what: &str| {
            let detail = format!("the observation {} {what}", row.id);
            Err(self.error(Reason::EvidenceMismatch, detail).into())
        };
        let Some(artifact) = &row.artifact else {
            return match row.outcome {
                Outcome::Artifact => wrong("does not name its artifact"),
                _ => Ok(()),
            };
        };
        if row.outcome != Outcome::Artifact {
            return wrong("names an artifact and has another outcome");
        }
        let known = self.list.position(artifact).filter(|_| artifact.starts_with("sources/"));
        match known.and_then(|index| named.get_mut(index)) {
            None => return wrong("names an artifact that is not in the bundle"),
            Some(true) => return wrong("names an artifact of another row"),
            Some(known) => *known = true,
        }
        Ok(())
    }

    fn asked(&self, id: &str, asked: &AskedRecord) -> Result<(), Stop> {
        let wrong = |what: &str| {
            let detail = format!("a request of the observation {id} {what}");
            Err(self.error(Reason::TimeOrder, detail).into())
        };
        match crate::time::parse(&asked.at) {
            None => wrong("has no RFC 3339 time in whole seconds of UTC"),
            Some(at) if at > self.facts.created_at => wrong("ended after the bundle was made"),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn population<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
        references: &mut References,
    ) -> Result<(), Stop> {
        let (mut sources, mut members) = (None, None);
        let mut found: BTreeMap<(String, String), Members> = BTreeMap::new();
        let mut groups = Names::default();
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "sources" => json.once(&mut sources, name),
            "members" => {
                json.first(&mut members, name, ())?;
                json.list(|json| {
                    let member: Member = object(json)?;
                    self.source(&member.source)?;
                    let reason = member.reason.as_deref().unwrap_or_default();
                    groups.note(self.path, &[&member.source, &member.kind, reason])?;
                    if member.in_scope == member.reason.is_some() {
                        let detail = format!("{} is either in scope or has a reason not to be", member.name);
                        return Err(self.error(Reason::CountMismatch, detail).into());
                    }
                    json.pass(Row::Member(&member))?;
                    let counts = found.entry((member.source, member.kind)).or_default();
                    counts.all += 1;
                    counts.in_scope += u64::from(member.in_scope);
                    Ok(())
                })
            }
            _ => Err(json.unknown(name)),
        })?;
        let sources: Vec<SourcePopulation> = Object::all(self.required(sources, "sources")?);
        self.required(members, "members")?;
        names::within(self.path, sources.iter().flat_map(|source| source.host_totals.keys()))?;
        self.same_sources(sources.iter().map(|source| &source.source))?;
        for (source, run) in sources.iter().zip(&self.run.sources) {
            let of = |kind: &str| found.get(&(source.source.clone(), kind.to_owned())).copied();
            let all: u64 = found.iter().filter(|((of, _), _)| *of == source.source).map(|(_, m)| m.all).sum();
            let counted = of(&source.kind).unwrap_or_default();
            let agree = all == source.members
                && counted.in_scope == source.in_scope
                // A name that the configuration gives and the source does not know is a member all the same.
                && (counted.all == source.listed || source.scope == Scope::Chosen && counted.all > source.listed)
                && source.in_scope == run.in_scope;
            if !agree {
                let detail = format!("the members of {} are not as many as it says", source.source);
                return Err(self.error(Reason::CountMismatch, detail).into());
            }
            if let Some(contradiction) = contradiction(source) {
                let detail = format!(
                    "the scope of {} is {}, but {contradiction}",
                    source.source,
                    source.scope.as_str()
                );
                return Err(self.error(Reason::CountMismatch, detail).into());
            }
        }
        sources.iter().try_for_each(|source| json.pass(Row::Source(source)))?;
        references.populations = sources;
        Ok(())
    }

    pub(super) fn scope<R: Read>(
        &self,
        json: &mut Json<'_, R>,
        version: &mut Option<String>,
    ) -> Result<(), Stop> {
        let (mut framework, mut organization, mut tool) = (None, None, None);
        let (mut sources, mut rules) = (None, None);
        let mut cadence: Option<Cadence> = None;
        let (mut rules_included, mut rules_excluded, mut criteria_without_evidence) = (None, None, None);
        json.object(|json, name| match name {
            "schema_version" => json.once(version, name),
            "framework" => json.once(&mut framework, name),
            "organization" => json.once(&mut organization, name),
            "cadence" => json.once(&mut cadence, name),
            "tool" => json.once(&mut tool, name),
            "sources" => json.once(&mut sources, name),
            "rules" => json.once(&mut rules, name),
            "rules_included" => json.once(&mut rules_included, name),
            "rules_excluded" => json.once(&mut rules_excluded, name),
            "criteria_without_evidence" => json.once(&mut criteria_without_evidence, name),
            _ => Err(json.unknown(name)),
        })?;
        let framework: String = self.required(framework, "framework")?;
        let organization: String = self.required(organization, "organization")?;
        let Object(tool): Object<ToolRecord> = self.required(tool, "tool")?;
        let sources: Vec<SourceScope> = Object::all(self.required(sources, "sources")?);
        let rules: Vec<RuleRecord> = Object::all(self.required(rules, "rules")?);
        let schema_version = version.clone().unwrap_or_default();
        let scope = ScopeRecord {
            schema_version,
            framework,
            organization,
            cadence,
            tool,
            sources,
            rules,
            rules_included: rules_included.unwrap_or_default(),
            rules_excluded: rules_excluded.unwrap_or_default(),
            criteria_without_evidence: criteria_without_evidence.unwrap_or_default(),
        };
        json.pass(Row::Scope(&scope))?;
        let ScopeRecord { framework, organization, tool, sources, rules, .. } = scope;
        let ScopeRecord { rules_included, rules_excluded, criteria_without_evidence, .. } = scope;
        let listed = rules_included.iter().chain(&rules_excluded).chain(&criteria_without_evidence);
        names::within(self.path, listed)?;
        names::within(self.path, rules.iter().map(|rule| &rule.code))?;
        names::within(self.path, rules.iter().flat_map(|rule| rule.settings.keys()))?;
        names::within(self.path, sources.iter().flat_map(|source| &source.controls))?;
        names::within(self.path, sources.iter().flat_map(|source| source.settings.keys()))?;
        let wrong = |detail: String| Err(self.error(Reason::ScopeMismatch, detail).into());
        if (&framework, &organization) != (&self.facts.framework, &self.facts.organization) {
            return wrong("the framework or the organization is not that of the manifest".to_owned());
        }
        if tool != self.run.tool {
            return wrong("the tool is not that of the run".to_owned());
        }
        if let Some(rule) = rules.iter().find(|rule| rules_excluded.contains(&rule.code)) {
            return wrong(format!("the rule {} is both applied and left out", rule.code));
        }
        self.same_sources(sources.iter().map(|source| &source.source))?;
        let accepts = |source: &SourceScope| source.settings.get("accept_unconfirmed") == Some(&true.into());
        let mut populations = sources.iter().zip(&self.references.populations);
        let partial =
            populations.find(|(source, population)| population.scope.is_incomplete(accepts(source)));
        if let Some((source, population)) = partial.filter(|_| self.facts.complete) {
            let detail = format!(
                "the manifest says that nothing is missing, but the scope of {} is {}",
                source.source,
                population.scope.as_str()
            );
            return Err(self.error(Reason::CompleteMismatch, detail).into());
        }
        let mut controls =
            sources.iter().flat_map(|source| &source.controls).chain(rules.iter().map(|rule| &rule.control));
        if let Some(control) = controls.find(|control| !self.facts.controls.contains(control)) {
            return wrong(format!("the control {control} is not in the manifest"));
        }
        for ((code, control), expected) in &self.references.rules {
            match rules.iter().find(|rule| (&rule.code, &rule.control) == (code, control)) {
                None => {
                    return wrong(format!(
                        "a check applies the rule {code} of {control}, which is not listed"
                    ));
                }
                Some(rule) if rule.expected != *expected => {
                    return wrong(format!("the results say that the rule {code} expects something else"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn same_sources<'a>(&self, sources: impl Iterator<Item = &'a String>) -> Result<(), Stop> {
        if sources.eq(&self.facts.sources) {
            return Ok(());
        }
        Err(self.error(Reason::ScopeMismatch, "the sources are not those of the manifest").into())
    }
}

/// Counts of the members of one source and kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Members {
    all: u64,
    in_scope: u64,
}

/// What the counts of a source say against its scope.
fn contradiction(source: &SourcePopulation) -> Option<&'static str> {
    let SourcePopulation { scope, listed, in_scope, host_total, members, .. } = source;
    match scope {
        Scope::Whole if listed != in_scope => Some("members of it are not in scope"),
        Scope::Whole if host_total.is_some_and(|total| total != *listed) => {
            Some("the source reports another total")
        }
        Scope::Partial if *host_total == Some(*listed) => Some("the source reports that total"),
        Scope::Unconfirmed if host_total.is_some() => Some("the source reports a total"),
        Scope::Unreached if *members > 0 => Some("it has members"),
        Scope::Whole | Scope::Chosen | Scope::Partial | Scope::Unconfirmed | Scope::Unreached => None,
    }
}
