//! The real binary against hosts whose answers contain secrets: the tool excludes the artifact, the manifest names the
//! rule, and neither the output nor any file contains a trace of the secret.

use std::collections::{BTreeMap, BTreeSet};

use evidence_screen::{Confidence, PATTERNS};
use fastrand::Rng;
use serde_json::Value;

use crate::common::{Bundle, Run, repository, strong};
use crate::estate::{Answer, Estate, Plants};
use crate::fields::{self, Field, Filled};
use crate::forms::{FORMS, Form};
use crate::kinds::{KINDS, Kind, Secret};
use crate::search::Traces;
use crate::{full, random};

/// A planted secret.
struct Planted {
    kind: &'static Kind,
    form: Form,
    field: &'static Field,
    secret: Secret,
    /// The secret's repository, or empty.
    repository: String,
}

impl Planted {
    fn new(kind: &'static Kind, form: Form, field: &'static Field, random: &mut Rng) -> Planted {
        Planted { kind, form, field, secret: kind.make(random), repository: String::new() }
    }

    fn shown(&self) -> String {
        format!("{} as {:?} in {} {}", self.kind.name, self.form, self.field.artifact, self.field.place)
    }

    /// Whether the manifest's `filename` is the artifact that contains the secret.
    fn is_in(&self, filename: &str) -> bool {
        let artifact = self.field.artifact;
        match artifact {
            "branch_protection" | "codeowners" => {
                filename == format!("sources/codehost/repo_acme_{}_{artifact}.json", self.repository)
            }
            "trail_status" => filename.ends_with("_status.json") && filename.contains("/trail_"),
            "trail_event_selectors" => filename.ends_with("_event_selectors.json"),
            _ => filename.ends_with(&format!("/{artifact}.json")),
        }
    }
}

/// A line of a CODEOWNERS file with the text in its comment.
fn owners(text: &str) -> String {
    format!("# The owners\n* @acme/everyone # {text}\n/docs @acme/docs\n")
}

fn certain_rules() -> BTreeSet<&'static str> {
    PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High).map(|rule| rule.id).collect()
}

/// Asserts that a rule excludes each secret; for the plain form it must be the rule of the secret's kind.
fn assert_excluded(bundle: &Bundle, planted: &[Planted]) {
    let manifest = bundle.manifest();
    let excluded: Vec<(String, String)> = manifest["excluded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["filename"].as_str().unwrap().to_string(), row["rule"].as_str().unwrap().to_string()))
        .collect();
    for (filename, rule) in &excluded {
        assert!(certain_rules().contains(rule.as_str()), "{rule}");
        assert!(bundle.file(filename).is_none(), "{filename} is in the bundle");
    }
    for plant in planted {
        let rules: Vec<&str> = excluded
            .iter()
            .filter(|(filename, _)| plant.is_in(filename))
            .map(|(_, rule)| rule.as_str())
            .collect();
        assert!(!rules.is_empty(), "not left out: {}: {:?}", plant.shown(), plant.secret);
        // A text can match two rules; the manifest names the first match.
        let named = plant.form != Form::Plain
            || rules
                .iter()
                .any(|rule| rule.starts_with(plant.kind.rule) || plant.secret.text.contains("://"));
        assert!(named, "{}: {rules:?}", plant.shown());
    }
}

/// Searches everything: the output, the bundle packed and unpacked, every other file, and all file names.
fn assert_no_trace(estate: &Estate, run: &Run, traces: &Traces) {
    traces.absent("stdout", run.stdout.as_bytes());
    traces.absent("stderr", run.stderr.as_bytes());
    for name in estate.lab.output() {
        let bundle = Bundle::open(&estate.lab.path("evidence-bundles").join(name));
        for (path, content) in &bundle.entries {
            traces.absent(path, path.as_bytes());
            traces.absent(path, content);
            for (place, text) in
                serde_json::from_slice(content).iter().flat_map(|value: &Value| fields::texts(value))
            {
                traces.absent(&format!("{path} {place}"), text.as_bytes());
            }
        }
    }
    traces.absent_below(&estate.lab.path(""), &estate.given());
}

/// Repositories per host: the traces of more secrets take too much memory.
const REPOSITORIES: usize = 600;

/// A separate repository for each kind and form in each text of a repository's artifacts.
#[test]
fn in_repositories() {
    let mut random = random();
    let mut turn = 0_usize;
    let mut waiting = Vec::new();
    for field in fields::open() {
        let everywhere = field.place.ends_with("contexts/*") || matches!(field.filled, Filled::Owners);
        let is_repositorys = everywhere || matches!(field.artifact, "branch_protection" | "codeowners");
        for kind in KINDS.iter().filter(|_| is_repositorys) {
            for form in FORMS.iter().filter(|form| form.suits(kind)) {
                turn += 1;
                // More cases for comments and names of checks than for other texts.
                if full() || turn.is_multiple_of(if everywhere { 5 } else { 23 }) {
                    let mut plant = Planted::new(kind, *form, field, &mut random);
                    plant.repository = format!("r{}", waiting.len());
                    waiting.push(plant);
                }
            }
        }
    }
    let fields: BTreeSet<&str> = waiting.iter().map(|plant| plant.field.place).collect();
    for planted in waiting.chunks(REPOSITORIES) {
        let mut plants = Plants::default();
        for plant in planted {
            let text = plant.form.write(&plant.secret, &mut random);
            let name = plant.repository.clone();
            match plant.field.filled {
                Filled::Answers([(Answer::Protection, place)]) => {
                    // The tool accepts only such a URL as the address of a protection.
                    let end = match *place {
                        "/url" => format!("end/repos/acme/{name}/branches/main/protection"),
                        _ => "end".to_string(),
                    };
                    plants.protections.push((name, place, format!("ci {text} {end}")));
                }
                Filled::Answers([(Answer::Contents, place)]) => plants.contents.push((name, place, text)),
                Filled::Owners => plants.owners.push((name, owners(&text))),
                Filled::Answers(_) | Filled::Ours => panic!("{} is not a repository's", plant.shown()),
            }
        }
        let estate = Estate::new(plants);
        let run = estate.lab.collect(&["--verbose"]).exits(3);
        let bundle = run.bundle();
        assert_excluded(&bundle, planted);
        let excluded = bundle.manifest()["excluded"].as_array().unwrap().len();
        assert_eq!(excluded, planted.len(), "nothing else is left out");
        let traces = Traces::of(planted.iter().map(|plant| plant.secret.core.as_str()));
        assert_no_trace(&estate, &run, &traces);
    }
    let secrets = waiting.len();
    println!("{secrets} planted in {} fields of repositories, {secrets} left out, 0 leaks", fields.len());
}

/// One secret per run and artifact, for artifacts that occur once.
#[test]
fn in_artifacts_of_which_there_is_one() {
    let mut random = random();
    // Grouped by answer, and so by artifact: one of each per run.
    let mut waiting: BTreeMap<&str, Vec<Planted>> = BTreeMap::new();
    let mut turn = 0_usize;
    for (number, field) in fields::open().enumerate() {
        let single = match field.filled {
            Filled::Answers([(Answer::Protection | Answer::Contents, _), ..]) | Filled::Owners => false,
            Filled::Answers(_) => true,
            Filled::Ours => false,
        };
        if !single {
            continue;
        }
        for (index, kind) in KINDS.iter().enumerate() {
            for (place, form) in FORMS.iter().enumerate().filter(|(_, form)| form.suits(kind)) {
                turn += 1;
                // Every field three times, each time with a different kind and form.
                let chosen = (index + 7 * number) % 21 == 0 && place == (index + number) % FORMS.len();
                if full() || chosen {
                    let plant = Planted::new(kind, *form, field, &mut random);
                    waiting.entry(field.artifact).or_default().push(plant);
                }
            }
        }
    }
    assert!(turn > 0);
    let (mut secrets, mut runs) = (0, 0);
    while waiting.values().any(|plants| !plants.is_empty()) {
        let mut planted: Vec<Planted> = Vec::new();
        let mut plants = Plants::default();
        for queue in waiting.values_mut() {
            let Some(plant) = queue.pop() else { continue };
            let Filled::Answers(places) = plant.field.filled else { continue };
            // Two artifacts can contain the same answer: a second secret would overwrite the first.
            let taken = |place: &(Answer, &str)| {
                plants.single.iter().any(|(answer, known, _)| (*answer, *known) == *place)
            };
            if places.iter().any(taken) {
                queue.push(plant);
                continue;
            }
            let text = plant.form.write(&plant.secret, &mut random);
            plants.single.extend(places.iter().map(|(answer, place)| (*answer, *place, text.clone())));
            planted.push(plant);
        }
        let estate = Estate::new(plants);
        let flag = if runs % 3 == 0 { "--quiet" } else { "--verbose" };
        let run = estate.lab.collect(&[flag]);
        assert_excluded(&run.bundle(), &planted);
        let traces = Traces::of(planted.iter().map(|plant| plant.secret.core.as_str()));
        assert_no_trace(&estate, &run, &traces);
        secrets += planted.len();
        runs += 1;
    }
    println!("{secrets} planted in {runs} runs, {secrets} left out, 0 leaks");
}

/// Names of repositories and branches, which also occur in paths and subjects.
#[test]
fn as_names() {
    let mut random = random();
    let legal = |text: &str| {
        text.chars().all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
    };
    let kinds: Vec<&Kind> = KINDS
        .iter()
        .filter(|kind| {
            let text = kind.make(&mut random).text;
            // A name has at most 100 characters.
            legal(&text) && text.len() <= 100 && kind.rule != "vault-token"
        })
        .collect();
    assert!(kinds.len() > 25, "{}", kinds.len());
    let file = || sandbox::codehost::File::text("* @acme/everyone\n");
    let mut plants = Plants::default();
    let mut secrets = Vec::new();
    for kind in &kinds {
        let name = kind.make(&mut random).text;
        plants.repositories.push(repository(&name).protection("main", strong()).file("CODEOWNERS", file()));
        secrets.push(name);
    }
    let estate = Estate::new(plants);
    let run = estate.lab.collect(&["--verbose"]).exits(3);
    let mut excluded = run.bundle().manifest()["excluded"].as_array().unwrap().len();
    assert_no_trace(&estate, &run, &Traces::of(secrets.iter().map(String::as_str)));
    assert_eq!(excluded, 2 * kinds.len(), "both artifacts of each");
    // The configuration names the branch and must not contain a secret: the tool sends no requests.
    for kind in kinds.iter().step_by(if full() { 1 } else { 9 }) {
        let branch = kind.make(&mut random).text;
        let other = repository("other").default_branch(&branch).protection(&branch, strong());
        let plants = Plants { repositories: vec![other.file("CODEOWNERS", file())], ..Plants::default() };
        let estate = Estate::new(plants).branch(&branch);
        let run = estate.lab.collect(&["--verbose"]);
        // If the configuration check does not know the format, the tool requests the branch and excludes the artifact.
        assert!(matches!(run.code, Some(1 | 3)), "{}", run.all());
        assert_no_trace(&estate, &run, &Traces::of([branch.as_str()]));
        excluded += usize::from(run.code == Some(3));
        secrets.push(branch);
    }
    println!("{} planted as names, {excluded} artifacts left out, 0 leaks", secrets.len());
}
