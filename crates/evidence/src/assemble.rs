//! Steps 4 to 6, up to the signature: writes the bundle's own documents into the spool, after the artifacts.
//!
//! Long lists are written row by row, so memory never holds a whole check document or the whole manifest.

mod manifest;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;

use evidence_bundle::document::{
    self, ConfigRecord, EachRow, ErrorRecord, EvidenceReference, FallibleRows, Hints, Normalized,
    NormalizedControl, Observations, Population, Rows, RowsOf, RuleRecord, RunRecord, SCHEMA_VERSION,
    ScopeRecord, SourceScope, Summary, ToolRecord, write_json, write_json_with,
};
use evidence_bundle::path::{self, BundlePath};
use evidence_bundle::write::Listed as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::collection::Collection;
use crate::config::Config;
use crate::env::Env;
use crate::evaluate::{Basis, Check, ControlResult, control_result};
use crate::hint;
use crate::observation::SourceName;
use crate::source::Source;
use crate::spool::{Reader, Spool, Text};
use evidence_rules::framework::{Control, Mapping};
use evidence_rules::rule::{Rule, Settings};
use evidence_rules::{advice_text, source_of};
use evidence_screen::Screen;

pub use self::manifest::{ManifestContext, last};

/// A list of a document whose rows are written otherwise.
const NO_ROWS: [(); 0] = [];

/// The controls of the run: those in the configuration, and those that only a source requests.
pub fn controls(config: &Config) -> Vec<&'static Control> {
    let of_sources = config.framework.controls_of(&wanted(config));
    let is_wanted = |control: &&Control| config.controls.contains(control) || of_sources.contains(control);
    config.framework.controls.iter().filter(is_wanted).collect()
}

/// The rules that the configured sources apply.
fn wanted(config: &Config) -> Vec<&'static Rule> {
    config.sources.iter().flat_map(|source| source.rules()).copied().collect()
}

/// The rules of this control that a configured source applies.
fn applied<'a>(config: &'a Config, control: &'static Control) -> impl Iterator<Item = &'static Mapping> + 'a {
    let is_applied =
        |mapping: &&Mapping| config.sources.iter().any(|source| source.rules().contains(&mapping.rule));
    control.rules.iter().filter(is_applied)
}

/// The controls at the top of the configuration that no source collects.
pub fn uncollected(config: &Config) -> Vec<ErrorRecord> {
    let collected = config.framework.controls_of(&wanted(config));
    let names: Vec<&str> = config.sources.iter().map(|source| source.kind().name.id()).collect();
    let missing = config.controls.iter().filter(|control| !collected.contains(control));
    let error = |control: &&Control| ErrorRecord {
        code: "control_not_collected".to_string(),
        message: format!(
            "no source collects evidence for {}: configure one that can, or remove it from `controls`",
            control.id
        ),
        source: names.join(", "),
        subject: control.id.to_string(),
        status: None,
        request_id: None,
    };
    missing.map(error).collect()
}

/// Judges every control.
pub fn judge(config: &Config, collection: &Collection) -> Vec<ControlResult> {
    controls(config).into_iter().map(|control| control_result(control, collection.checks.iter())).collect()
}

/// Writes `derived/observations.json`, `derived/population.json` and `derived/scope.json`: the observations, the
/// population and the settings of the run.
///
/// # Errors
///
/// Fails if the disk does.
pub fn observed(
    spool: &mut Spool,
    config: &Config,
    env: &Env,
    collection: &Collection,
    organization: &str,
    screen: &Screen,
) -> io::Result<()> {
    add(spool, path::OBSERVATIONS, |out, reader| {
        let document = Observations { schema_version: SCHEMA_VERSION.to_string(), observations: NO_ROWS };
        let rows: EachRow<'_> = &mut |add| collection.observations.each(reader, add);
        write_json_with(out, &document, &mut [RowsOf { list: "observations", rows }])
    })?;
    add(spool, path::POPULATION, |out, reader| {
        let (schema_version, sources) = (SCHEMA_VERSION.to_string(), collection.populations.clone());
        let document = Population { schema_version, sources, members: NO_ROWS };
        let rows: EachRow<'_> = &mut |add| collection.members.each(reader, add);
        write_json_with(out, &document, &mut [RowsOf { list: "members", rows }])
    })?;
    let rules = controls(config).into_iter().flat_map(|control| {
        applied(config, control).map(|mapping| RuleRecord {
            code: mapping.rule.code.to_string(),
            version: mapping.rule.version,
            source: source_of(mapping.rule).to_string(),
            kind: mapping.rule.kind.to_string(),
            control: control.id.to_string(),
            settings: config.settings.changed(mapping.rule),
            expected: mapping.rule.expectation(&config.settings).into_owned(),
            reads: mapping.rule.reads.to_string(),
            not_checked: mapping.rule.not_checked.to_string(),
        })
    });
    let record = ScopeRecord {
        schema_version: SCHEMA_VERSION.to_string(),
        framework: config.framework.id.to_string(),
        organization: organization.to_string(),
        cadence: config.cadence,
        tool: tool(),
        sources: source_scopes(config, env, screen),
        rules: rules.collect(),
        rules_included: codes(&config.choice.included),
        rules_excluded: codes(&config.choice.excluded),
        criteria_without_evidence: owned(&config.framework.without_evidence(&wanted(config))),
    };
    add(spool, path::SCOPE, |out, _| write_json(out, &record))
}

/// What decides what each source is asked for.
fn source_scopes(config: &Config, env: &Env, screen: &Screen) -> Vec<SourceScope> {
    let source = |source: &Arc<dyn Source>| SourceScope {
        source: source.kind().name.id().to_string(),
        controls: ids(&config.framework.controls_of(source.rules())),
        settings: source
            .settings(env)
            .into_iter()
            .map(|(name, value)| (name.to_string(), cleaned(value, screen)))
            .collect(),
    };
    config.sources.iter().map(source).collect()
}

/// The SHA-256 of the settings that decide what is collected and judged. Names of files and variables, pace and
/// concurrency are not among them.
fn settings_checksum(config: &Config, env: &Env, screen: &Screen) -> String {
    let mut settings = json!({
        "framework": config.framework.id,
        "controls": ids(&controls(config)),
        "sources": source_scopes(config, env, screen),
    });
    let rules = evidence_rules::rules().map(|rule| (rule.code, config.settings.changed(rule)));
    let rules: BTreeMap<_, _> = rules.filter(|(_, changed)| !changed.is_empty()).collect();
    if let (Value::Object(settings), false) = (&mut settings, rules.is_empty()) {
        settings.insert("rules".to_string(), json!(rules));
    }
    let choice = [("rules_included", &config.choice.included), ("rules_excluded", &config.choice.excluded)];
    for (name, rules) in choice.into_iter().filter(|(_, rules)| !rules.is_empty()) {
        if let Value::Object(settings) = &mut settings {
            settings.insert(name.to_string(), json!(codes(rules)));
        }
    }
    hex::encode(Sha256::digest(settings.to_string()))
}

/// Redacts what must not be in a bundle: a configuration can name a branch that observations like a token.
fn cleaned(value: Value, screen: &Screen) -> Value {
    match value {
        Value::String(text) => screen.redact(&text).into_owned().into(),
        Value::Array(items) => items.into_iter().map(|item| cleaned(item, screen)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, cleaned(value, screen))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn ids(controls: &[&'static Control]) -> Vec<String> {
    controls.iter().map(|control| control.id.to_string()).collect()
}

fn codes(rules: &[&'static Rule]) -> Vec<String> {
    rules.iter().map(|rule| rule.code.to_string()).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn tool() -> ToolRecord {
    ToolRecord {
        name: "evidence".to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        commit: option_env!("EVIDENCE_COMMIT").map(str::to_string),
    }
}

/// `derived/normalized.json`
pub fn normalized(
    spool: &mut Spool,
    config: &Config,
    collection: &Collection,
    results: &[ControlResult],
) -> io::Result<()> {
    let mut summary = Summary::default();
    results.iter().for_each(|result| summary.controls.add(result.status));
    collection.checks.iter().for_each(|check| summary.checks.add(check.verdict.status));
    let observations = observations_checksum(spool);
    add(spool, path::NORMALIZED, |out, reader| {
        let controls = results.iter().map(|result| {
            let checks = || collection.checks.iter().filter(|check| result.control.uses(check.rule));
            NormalizedControl {
                id: result.control.id.to_string(),
                title: result.control.title.to_string(),
                status: result.status,
                reason: result.reason.code.to_string(),
                criteria: applied(config, result.control).map(Mapping::criteria).collect(),
                expected: applied(config, result.control)
                    .map(|mapping| expected(mapping, &config.settings))
                    .collect(),
                checks: FallibleRows::new(
                    checks().map(|check| normalized_check(check, &observations, reader)),
                ),
            }
        });
        let document = Normalized {
            schema_version: SCHEMA_VERSION.to_string(),
            framework: config.framework.id.to_string(),
            summary,
            controls: Rows::new(controls),
        };
        write_json(out, &document)
    })
}

fn normalized_check(
    check: &Check<Text>,
    observations: &str,
    reader: &Reader<'_>,
) -> io::Result<document::Check> {
    Ok(document::Check {
        rule: check.rule.code.to_string(),
        source: check.source.id().to_string(),
        subject: check.subject.to_string(),
        status: check.verdict.status,
        reason: check.verdict.reason.code.to_string(),
        expected: None,
        actual: actual(check, reader)?,
        evidence: evidence(check, observations, reader),
    })
}

/// What a rule expects, by its code.
fn expected(Mapping { rule, .. }: &Mapping, settings: &Settings) -> (String, String) {
    (rule.code.to_string(), rule.expectation(settings).into_owned())
}

/// The finding in words.
fn actual(check: &Check<Text>, reader: &Reader<'_>) -> io::Result<Option<String>> {
    check.verdict.actual.as_ref().map(|text| reader.text(text)).transpose()
}

/// The checksum of `derived/observations.json`.
fn observations_checksum(spool: &Spool) -> String {
    spool.items().find(path::OBSERVATIONS).map(|document| document.checksum()).unwrap_or_default()
}

/// The evidence behind a check. `observations` is the checksum of the observations.
fn evidence(check: &Check<Text>, observations: &str, reader: &Reader<'_>) -> Vec<EvidenceReference> {
    let reference = |basis: &Basis| reference(check.source, *basis, observations, reader);
    check.evidence.all().iter().filter_map(reference).collect()
}

fn reference(
    source: SourceName,
    basis: Basis,
    observations: &str,
    reader: &Reader<'_>,
) -> Option<EvidenceReference> {
    Some(match basis {
        Basis::Artifact(number) => {
            let item = reader.items().get(usize::try_from(number).ok()?)?;
            EvidenceReference { filename: item.path().to_string(), checksum: item.checksum(), id: None }
        }
        Basis::Observation(number) => EvidenceReference {
            filename: path::OBSERVATIONS.to_string(),
            checksum: observations.to_string(),
            id: Some(format!("{}:{number}", source.id())),
        },
    })
}

/// `derived/hints.json`
pub fn hints(spool: &mut Spool, config: &Config, collection: &Collection) -> io::Result<()> {
    let hints = hint::ordered(&collection.checks);
    let control =
        |check: &Check<Text>| config.framework.control_of(check.rule).map_or("", |control| control.id);
    let observations = observations_checksum(spool);
    add(spool, path::HINTS, |out, reader| {
        // Keyed by a hash of the id, since a large organization has a hint for every repository. Two ids with the same
        // hash share a counter, which keeps them unique.
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut id = move |check: &Check<Text>| {
            let id = format!("{}:{}:{}", control(check), hint::code(check), check.subject);
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            let count = seen.entry(hasher.finish()).or_default();
            *count += 1;
            if *count == 1 { id } else { format!("{id}:{count}") }
        };
        let rows = hints.iter().map(|(check, title, advice)| {
            io::Result::Ok(document::Hint {
                id: id(check),
                control: control(check).to_string(),
                rule: check.rule.code.to_string(),
                reason: hint::code(check).to_string(),
                severity: advice.severity,
                category: advice.category,
                source: check.source.id().to_string(),
                subject: check.subject.to_string(),
                title: title.to_string(),
                detail: actual(check, reader)?.unwrap_or_default(),
                remediation: advice_text(&config.settings, check.rule, advice.remediation).into_owned(),
                evidence: evidence(check, &observations, reader),
            })
        });
        let hints = FallibleRows::new(rows);
        write_json(out, &Hints { schema_version: SCHEMA_VERSION.to_string(), hints })
    })
}

/// What `run.json` contains besides the sources.
pub struct RunInfo {
    /// When the run began.
    pub started: Timestamp,
    /// The command line.
    pub command: Vec<String>,
    /// The exit code the run will have if the bundle can be written.
    pub exit_code: u8,
}

/// `run.json`
pub fn run(
    spool: &mut Spool,
    config: &Config,
    env: &Env,
    collection: &Collection,
    screen: &Screen,
    context: &RunInfo,
) -> io::Result<()> {
    let of_run = !env.is_reproducible();
    let completed = env.clock.now();
    let seconds = match env.fixed_time() {
        Some(_) => 0,
        None => completed.as_second() - context.started.as_second(),
    };
    let record = RunRecord {
        started_at: env.stamp_of(context.started),
        completed_at: env.stamp_of(completed),
        // If the clock was set back meanwhile, the duration is unknown and recorded as 0.
        duration_seconds: u64::try_from(seconds).unwrap_or(0),
        source_date_epoch: env.fixed_time(),
        hostname: of_run.then(|| env.hostname()),
        platform: of_run.then(|| format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)),
        tool: tool(),
        command: of_run.then(|| context.command.clone()),
        config: ConfigRecord {
            path: of_run.then(|| config.path.display().to_string()),
            file_sha256: of_run.then(|| config.file_sha256.clone()),
            sha256: settings_checksum(config, env, screen),
        },
        prepared_by: config.prepared_by.as_deref().map(|name| screen.redact(name).into_owned()),
        exit_code: context.exit_code,
        sources: collection.sources.clone(),
    };
    add(spool, path::RUN, |out, _| write_json(out, &record))
}

fn add(
    spool: &mut Spool,
    path: &str,
    write: impl FnOnce(&mut dyn io::Write, &Reader<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let path = BundlePath::new(path).map_err(io::Error::other)?;
    spool.add_document(&path, write)
}
