//! At the library's boundary, where it writes artifacts: every kind in every form in every text of every artifact,
//! including texts that no host lets an outsider set.

use evidence_screen::{Confidence, Screen};
use fastrand::Rng;
use serde_json::Value;

use crate::estate::{Estate, Plants};
use crate::fields::{self, Field, Filled};
use crate::forms::{FORMS, Form};
use crate::kinds::KINDS;
use crate::{full, random};

fn certain(screen: &Screen, text: &[u8]) -> Vec<&'static str> {
    let findings = screen.check(text);
    findings
        .iter()
        .filter(|finding| finding.confidence == Confidence::High)
        .map(|finding| finding.rule)
        .collect()
}

/// The document with `text` in the field's first place.
fn with(document: &Value, place: &str, text: &str) -> Value {
    fn put(value: &mut Value, steps: &[&str], text: &str) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            *value = text.into();
            return true;
        };
        match value {
            Value::Array(items) if *step == "*" => items.iter_mut().any(|item| put(item, rest, text)),
            Value::Object(members) => members.get_mut(*step).is_some_and(|member| put(member, rest, text)),
            _ => false,
        }
    }
    let mut document = document.clone();
    let steps: Vec<&str> = place.split('/').skip(1).collect();
    assert!(put(&mut document, &steps, text), "no {place} in {document}");
    document
}

/// The bytes to screen for an artifact with this text in this field; a CODEOWNERS file is screened in decoded form.
fn screened(document: &Value, field: &Field, text: &str) -> Vec<Vec<u8>> {
    if matches!(field.filled, Filled::Owners) {
        return vec![format!("# The owners\n* @acme/everyone # {text}\n/docs @acme/docs\n").into_bytes()];
    }
    vec![serde_json::to_vec_pretty(&with(document, field.place, text)).unwrap()]
}

#[test]
fn every_kind_in_every_form_in_every_text() {
    let screen = Screen::new(&[]);
    let mut random = random();
    let estate = Estate::new(Plants::default());
    let bundle = estate.lab.collect(&[]).exits(3).bundle();
    let artifacts = estate.artifacts(&bundle);
    let (mut planted, mut missed) = (0, Vec::new());
    let mut turn = 0_usize;
    for field in fields::open() {
        let (_, document) = artifacts
            .iter()
            .find(|(kind, document)| {
                *kind == field.artifact
                    && fields::texts(document).iter().any(|(place, _)| place == field.place)
            })
            .unwrap();
        for kind in KINDS {
            for form in FORMS.iter().filter(|form| form.suits(kind)) {
                turn += 1;
                // The step is coprime to the numbers of kinds and forms, so every kind occurs in every form.
                if !full() && !turn.is_multiple_of(11) {
                    continue;
                }
                planted += 1;
                let secret = kind.make(&mut random);
                let text = form.write(&secret, &mut random);
                let rules: Vec<&str> = screened(document, field, &text)
                    .iter()
                    .flat_map(|bytes| certain(&screen, bytes))
                    .collect();
                let by_its_rule = *form != Form::Plain || rules.contains(&kind.rule);
                if rules.is_empty() || !by_its_rule {
                    missed.push(format!(
                        "{} as {form:?} in {} {}: {text}",
                        kind.name, field.artifact, field.place
                    ));
                }
            }
        }
    }
    println!(
        "{} kinds, {} forms, {} fields: {planted} planted, {} missed",
        KINDS.len(),
        FORMS.len(),
        fields::open().count(),
        missed.len()
    );
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Many secrets of each kind: an entropy threshold that is too high would miss a few of them.
#[test]
fn hundreds_of_each_kind() {
    let screen = Screen::new(&[]);
    let mut random: Rng = random();
    let count = if full() { 5_000 } else { 100 };
    let mut missed = Vec::new();
    for kind in KINDS {
        for _ in 0..count {
            let secret = kind.make(&mut random);
            if !certain(&screen, secret.text.as_bytes()).contains(&kind.rule) {
                missed.push(format!("{}: {}", kind.name, secret.text));
            }
        }
    }
    println!("{} kinds, {count} of each, {} missed", KINDS.len(), missed.len());
    // About one in ten thousand random values of 20 characters looks like a name.
    assert!(missed.len() * 1_000 <= KINDS.len() * count, "{missed:#?}");
}
