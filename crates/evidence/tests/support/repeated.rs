//! Judges what a source found again, as a verifier does from the documents of a bundle.

#[path = "rows.rs"]
mod rows;

use evidence::config::Config;
use evidence::env::Env;
use evidence::evaluate::{self, Basis, Check};
use evidence::observation::{Observation, Seen};
use evidence::source::{CollectionItem, Member};
use evidence_bundle::path::{NORMALIZED, OBSERVATIONS, POPULATION, SCOPE};
use evidence_rules::repeat::Repetition;
use serde_json::{Value, json};

/// The documents of a bundle with one source, as far as judgement needs them.
pub(crate) struct Repeated {
    source: &'static str,
    scope: Value,
    rows: Vec<Value>,
    checks: Vec<Value>,
    members: Vec<Value>,
    population: Value,
    artifacts: Vec<(String, Vec<u8>)>,
    /// The rules that are asked of the source.
    rules: Vec<&'static str>,
}

impl Repeated {
    pub(crate) fn new(config: &Config, env: &Env) -> Repeated {
        let source = &config.sources[0];
        let name = source.kind().name.id();
        let settings: serde_json::Map<String, Value> =
            source.settings(env).into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let rules: Vec<Value> = source
            .rules()
            .iter()
            .map(|rule| {
                json!({"code": rule.code, "version": rule.version, "source": name, "kind": rule.kind, "control": "C",
                    "settings": config.settings.changed(rule), "expected": rule.expectation(&config.settings),
                    "reads": "", "not_checked": ""})
            })
            .collect();
        let scope = json!({"schema_version": "1.0", "framework": config.framework.id, "organization": "acme",
            "tool": {"name": "evidence", "version": "0.1.0"},
            "sources": [{"source": name, "controls": [], "settings": settings}], "rules": rules,
            "criteria_without_evidence": config.framework.without_evidence(source.rules())});
        Repeated {
            source: name,
            scope,
            rows: Vec::new(),
            checks: Vec::new(),
            members: Vec::new(),
            population: Value::Null,
            artifacts: Vec::new(),
            rules: source.rules().iter().map(|rule| rule.code).collect(),
        }
    }

    pub(crate) fn add(&mut self, item: &CollectionItem) {
        match item {
            CollectionItem::Population { members, scope, .. } => {
                let name = evidence::observation::SourceName::new(self.source);
                self.population = json!([scope.clone().record(name, 0, 0)]);
                self.members = members.iter().map(|member| self.member(member)).collect();
            }
            CollectionItem::Listed { kind, subject, .. } => {
                self.row(json!({"subject": &**subject, "kind": kind, "outcome": "listed"}));
            }
            CollectionItem::Warned(_) => {}
            CollectionItem::Inspected(inspection) => {
                let observations = inspection.observations.iter();
                let references: Vec<Value> = observations.map(|one| self.observation(one)).collect();
                let bases: Vec<Basis> = (0..).take(references.len()).map(Basis::Observation).collect();
                let checks = evaluate::checks(inspection.clone(), &bases);
                for check in checks {
                    if self.rules.contains(&check.rule.code) {
                        self.check(&check, &references);
                    }
                }
            }
        }
    }

    fn member(&self, member: &Member) -> Value {
        json!({"source": self.source, "kind": member.kind, "name": &*member.name,
            "default_branch": member.default_branch.as_deref(), "archived": member.archived,
            "in_scope": member.out_of_scope.is_none()})
    }

    /// Adds a row and returns its identifier.
    fn row(&mut self, mut row: Value) -> String {
        let id = format!("{}:{}", self.source, self.rows.len() + 1);
        (row["id"], row["source"], row["requests"]) = (json!(id), json!(self.source), json!([]));
        self.rows.push(row);
        id
    }

    /// Adds the row of an observation and returns the reference to it.
    fn observation(&mut self, one: &Observation) -> Value {
        let outcome = match &one.seen {
            Seen::Artifact { .. } => "artifact",
            Seen::Nothing { .. } => "nothing",
            Seen::Denied { .. } => "denied",
            Seen::Withheld { .. } => "excluded",
            Seen::Failed(_) => "failed",
        };
        let mut row =
            json!({"subject": &*one.subject, "kind": one.kind.name, "outcome": outcome, "facts": one.facts});
        if let Some((reason, detail)) = one.seen.gap() {
            (row["reason"], row["detail"]) = (json!(reason.code), json!(detail));
        }
        if let Seen::Artifact { artifact, .. } = &one.seen {
            let path = artifact.path().to_string();
            row["artifact"] = json!(path);
            self.row(row);
            self.artifacts.push((path.clone(), artifact.bytes().to_vec()));
            return json!({"filename": path, "checksum": ""});
        }
        json!({"filename": OBSERVATIONS, "checksum": "", "id": self.row(row)})
    }

    fn check(&mut self, check: &Check, references: &[Value]) {
        let of = |basis: &Basis| match basis {
            Basis::Observation(index) => references[usize::try_from(*index).unwrap()].clone(),
            Basis::Artifact(_) => unreachable!("the bases are the numbers of the observations"),
        };
        let evidence: Vec<Value> = check.evidence.all().iter().map(of).collect();
        self.checks.push(json!({"rule": check.rule.code, "source": self.source, "subject": &*check.subject,
            "status": check.verdict.status, "reason": check.verdict.reason.code,
            "actual": check.verdict.actual, "evidence": evidence}));
    }

    /// Panics unless every check follows from the facts, and none is missing.
    #[track_caller]
    pub(crate) fn agrees(self) {
        let mut repetition = Repetition::default();
        let mut file = |path: &str, content: &[u8]| rows::file(&mut repetition, path, content);
        let rows = self.rows.clone();
        let documents = [
            (NORMALIZED, json!({"controls": [{"checks": self.checks}]})),
            (OBSERVATIONS, json!({"observations": self.rows})),
            (POPULATION, json!({"sources": self.population, "members": self.members})),
            (SCOPE, self.scope),
        ];
        for (path, document) in &documents {
            file(path, document.to_string().as_bytes());
        }
        self.artifacts.iter().for_each(|(path, content)| file(path, content));
        let judged = repetition.finish("0.1.0");
        assert!(judged.is_ok(), "{judged:?}\n{rows:#?}\n{:#?}", documents[0].1);
        let judged = judged.unwrap();
        assert_eq!(judged.checks, judged.repeated);
    }
}
