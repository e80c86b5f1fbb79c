//! Small made-up bundles of an organization, signed with a test key: as many as a test needs, at any time.

use std::fs;
use std::path::Path;

use evidence_bundle::document::{
    Cadence, Check, EvidenceReference, Hints, Member, Normalized, NormalizedControl, ObservationRecord,
    Observations, Outcome, Population, Previous, RuleRecord, ScopeRecord, Status, Summary, WaiverRecord,
    WaiverState, Waivers, WaiversFile,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, RUN, SCOPE, WAIVERS};
use evidence_bundle::waiver::{Applying, Checks, NamedCheck};
use evidence_bundle::{SigningKey, UnsignedBundle};

use crate::made_documents::{
    File, contents, entry, expected, json, manifest, population, run_record, scope, sha256,
};

/// The keys that sign: the second after a rotation.
pub(crate) fn key(number: u8) -> SigningKey {
    let mut seed = *b"a test key, and nothing but that";
    seed[0] = number;
    SigningKey::from_seed(&seed)
}

/// A repository on one night: its name, its identifier, and the result of its check.
#[derive(Clone)]
pub(crate) struct Repo(pub(crate) &'static str, pub(crate) u32, pub(crate) Status, pub(crate) &'static str);

/// What a bundle says.
#[derive(Clone)]
pub(crate) struct Night {
    pub(crate) time: i64,
    pub(crate) id: String,
    pub(crate) organization: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) key: u8,
    pub(crate) cadence: Option<Cadence>,
    pub(crate) repos: Vec<Repo>,
    pub(crate) previous: Option<Previous>,
    /// `None` without a file of waivers.
    pub(crate) waivers: Option<Vec<Accept>>,
}

/// A waiver of the protection of one repository: its id, the repository, its first and its last day.
#[derive(Clone)]
pub(crate) struct Accept(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

/// A time in words.
pub(crate) fn at(text: &str) -> i64 {
    evidence_bundle::time::parse(text).unwrap()
}

/// A repository that passes.
pub(crate) fn good(name: &'static str, id: u32) -> Repo {
    Repo(name, id, Status::Pass, "ok")
}

/// A repository that fails.
pub(crate) fn bad(name: &'static str, id: u32) -> Repo {
    Repo(name, id, Status::Fail, "branch_unprotected")
}

impl Night {
    pub(crate) fn new(time: &str, repos: Vec<Repo>) -> Night {
        Night {
            time: at(time),
            id: format!("b-{}", time.replace([':', 'T', 'Z'], "-").trim_end_matches('-')),
            organization: "acme",
            tool: "0.0.1",
            key: 1,
            cadence: None,
            repos,
            previous: None,
            waivers: None,
        }
    }

    /// Writes the bundle. Returns what the next one says of it.
    pub(crate) fn write(&self, path: &Path) -> Previous {
        let (bytes, list) = self.bundle();
        fs::write(path, bytes).unwrap();
        Previous { bundle_id: self.id.clone(), checksums_sha256: list }
    }

    fn bundle(&self) -> (Vec<u8>, String) {
        let time = evidence_bundle::time::format(self.time).unwrap();
        let mut files = self.documents(&time);
        let key = key(self.key);
        let mut manifest = manifest(&files, &key);
        manifest.created_at = time;
        manifest.bundle_id.clone_from(&self.id);
        manifest.organization = self.organization.to_owned();
        manifest.tool_version = self.tool.to_owned();
        manifest.controls = vec!["CC6.1".to_owned(), "CC7.2".to_owned()];
        manifest.complete = self.is_complete();
        manifest.previous.clone_from(&self.previous);
        files.insert(0, (MANIFEST.to_owned(), json(&manifest)));
        let mut entries: Vec<_> = files.iter().map(entry).collect();
        let list: String = {
            let line = |(path, contents): &File| format!("{}  {path}\n", hex::encode(sha256(contents)));
            files.iter().map(line).collect()
        };
        entries.sort_by_key(|entry| files.iter().position(|(path, _)| path == entry.path.as_str()));
        let unsigned = UnsignedBundle::new(self.time, entries).unwrap();
        let mut out = Vec::new();
        unsigned.sign(&key).unwrap().write(&mut out, None, |entry| contents(&files, entry)).unwrap();
        (out, hex::encode(sha256(list.as_bytes())))
    }

    fn is_complete(&self) -> bool {
        self.repos.iter().all(|repo| repo.3 != "permission_denied")
    }

    fn documents(&self, time: &str) -> Vec<File> {
        let subjects: Vec<String> = std::iter::once("acme".to_owned())
            .chain(self.repos.iter().map(|repo| repo.0.to_owned()))
            .collect();
        let row = |(number, subject): (usize, &String)| ObservationRecord {
            facts: Default::default(),
            id: format!("codehost:{}", number + 1),
            source: "codehost".to_owned(),
            subject: subject.clone(),
            // No kind that a rule is about, so that nobody judges it again.
            kind: "made_up".to_owned(),
            outcome: Outcome::Listed,
            reason: None,
            detail: None,
            artifact: None,
            requests: Vec::new(),
        };
        let observations: Observations = Observations {
            schema_version: "1.0".to_owned(),
            observations: subjects.iter().enumerate().map(row).collect(),
        };
        let observations = json(&observations);
        let checksum = hex::encode(sha256(&observations));
        let check = |number: usize, rule: &str, subject: &str, status: Status, reason: &str| Check {
            rule: rule.to_owned(),
            source: "codehost".to_owned(),
            subject: subject.to_owned(),
            status,
            reason: reason.to_owned(),
            expected: None,
            actual: Some("made up".to_owned()),
            evidence: vec![EvidenceReference {
                filename: OBSERVATIONS.to_owned(),
                checksum: checksum.clone(),
                id: Some(format!("codehost:{number}")),
            }],
        };
        let two_factor = vec![check(1, "two-factor-required", "acme", Status::Pass, "ok")];
        let protection = self.repos.iter().zip(2..).map(|(Repo(name, _, status, reason), number)| {
            check(number, "branch-protection", name, *status, reason)
        });
        let mut summary = Summary::default();
        let mut control = |id: &str, checks: Vec<Check>| {
            let mut counts = evidence_bundle::document::Counts::default();
            checks.iter().for_each(|check| counts.add(check.status));
            checks.iter().for_each(|check| summary.checks.add(check.status));
            summary.controls.add(counts.status());
            let first = checks.iter().find(|check| check.status == counts.status());
            NormalizedControl {
                id: id.to_owned(),
                title: format!("Control {id}"),
                status: counts.status(),
                reason: first.map_or("no_evidence", |check| &check.reason).to_owned(),
                criteria: checks.iter().map(|check| (check.rule.clone(), vec![id.to_owned()])).collect(),
                expected: expected(&checks),
                checks,
            }
        };
        let controls = vec![control("CC6.1", two_factor), control("CC7.2", protection.collect())];
        let normalized: Normalized = Normalized {
            schema_version: "1.0".to_owned(),
            framework: "soc2_type1".to_owned(),
            summary,
            controls,
        };
        let mut run = run_record(0);
        (run.started_at, run.completed_at) = (time.to_owned(), time.to_owned());
        run.duration_seconds = 0;
        run.tool.version = self.tool.to_owned();
        run.exit_code = if self.is_complete() { 0 } else { 3 };
        let count = u64::try_from(self.repos.len()).unwrap();
        (run.sources[0].discovered, run.sources[0].in_scope) = (count, count);
        let hints: Hints = Hints { schema_version: "1.0".to_owned(), hints: Vec::new() };
        let waivers = self
            .waivers
            .as_ref()
            .map(|waivers| (WAIVERS.to_owned(), json(&self.waivers_of(waivers, &normalized))));
        let mut files = vec![
            (RUN.to_owned(), json(&run)),
            (HINTS.to_owned(), json(&hints)),
            (NORMALIZED.to_owned(), json(&normalized)),
            (OBSERVATIONS.to_owned(), observations),
            (POPULATION.to_owned(), json(&self.population(count))),
            (SCOPE.to_owned(), json(&self.scope())),
        ];
        files.extend(waivers);
        files
    }

    /// The document that the tool would write: the waivers applied to the checks.
    fn waivers_of(&self, waivers: &[Accept], normalized: &Normalized) -> Waivers {
        let mut checks = Checks::default();
        for control in &normalized.controls {
            for Check { source, rule, subject, status, reason, .. } in &control.checks {
                let (control, status) = (&*control.id, *status);
                checks.add(NamedCheck { control, source, rule, subject, status, reason });
            }
        }
        let checks = checks.sorted();
        let mut applying = Applying::new(&checks, self.time);
        let waiver = |Accept(id, subject, first, last): &Accept| {
            let record = WaiverRecord {
                id: (*id).to_owned(),
                control: None,
                rule: "branch-protection".to_owned(),
                source: "codehost".to_owned(),
                subjects: vec![(*subject).to_owned()],
                globs: Vec::new(),
                reasons: Vec::new(),
                reason: "Frozen, and replaced in the first quarter".to_owned(),
                owner: "jane.doe@acme.example".to_owned(),
                approved_by: "john.roe@acme.example".to_owned(),
                approved_at: (*first).to_owned(),
                expires_at: (*last).to_owned(),
                ticket: None,
                compensating: None,
                compensating_check: None,
                self_approved: false,
                state: WaiverState::Unused,
                matches: (),
            };
            let applied = applying.apply(&record).unwrap();
            let matches = applied.named.iter().map(|number| checks.get(*number).unwrap().record()).collect();
            WaiverRecord { state: applied.state, ..record.with(matches) }
        };
        let waivers = waivers.iter().map(waiver).collect();
        Waivers {
            schema_version: "1.0".to_owned(),
            file: WaiversFile { path: Some("waivers.yaml".to_owned()), sha256: hex::encode(sha256(b"[]")) },
            summary: applying.summary(),
            waivers,
        }
    }

    fn population(&self, count: u64) -> Population {
        let mut population = population();
        let template = population.members.remove(0);
        let member = |Repo(name, id, ..): &Repo| Member {
            name: (*name).to_owned(),
            id: Some(id.to_string()),
            ..template.clone()
        };
        population.members = self.repos.iter().map(member).collect();
        population.members.sort_by(|a, b| a.name.cmp(&b.name));
        let source = &mut population.sources[0];
        source.organization = self.organization.to_owned();
        (source.listed, source.in_scope, source.members) = (count, count, count);
        source.host_total = Some(count);
        source.host_totals =
            [("public_repos".to_owned(), count), ("total_private_repos".to_owned(), 0)].into();
        population
    }

    fn scope(&self) -> ScopeRecord {
        let mut scope = scope(&["CC6.1".to_owned(), "CC7.2".to_owned()]);
        let rules = std::mem::take(&mut scope.rules);
        let protection = |rule: &RuleRecord| RuleRecord {
            code: "branch-protection".to_owned(),
            kind: "repository".to_owned(),
            ..rule.clone()
        };
        scope.rules = vec![rules[0].clone(), protection(&rules[1])];
        scope.organization = self.organization.to_owned();
        scope.cadence = self.cadence;
        scope.tool.version = self.tool.to_owned();
        scope
    }
}
