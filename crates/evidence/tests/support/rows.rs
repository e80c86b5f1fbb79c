//! Passes documents to a judgement without verifying them: they need not agree with each other, or be complete.

use evidence_bundle::document::{Check, Member, ObservationRecord, ScopeRecord, SourcePopulation};
use evidence_bundle::path::{NORMALIZED, OBSERVATIONS, POPULATION, SCOPE};
use evidence_bundle::read::{Row, Sink as _};
use evidence_rules::repeat::Repetition;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// Passes a file.
pub(crate) fn file(repetition: &mut Repetition, path: &str, content: &[u8]) {
    if ![NORMALIZED, OBSERVATIONS, POPULATION, SCOPE].contains(&path) {
        return repetition.contents(path, 0, &mut &*content).unwrap();
    }
    let document: Value = serde_json::from_slice(content).unwrap();
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let mut pass = |row: Row<'_>| repetition.row(row).unwrap();
    match path {
        NORMALIZED => {
            for check in list(&document, "controls").iter().flat_map(|control| list(control, "checks")) {
                pass(Row::Check(&read::<Check>(&check)));
            }
        }
        OBSERVATIONS => {
            for row in list(&document, "observations") {
                pass(Row::Observation(&read::<ObservationRecord>(&row)));
            }
        }
        POPULATION => {
            for source in list(&document, "sources") {
                pass(Row::Source(&read::<SourcePopulation>(&source)));
            }
            for member in list(&document, "members") {
                pass(Row::Member(&read::<Member>(&member)));
            }
        }
        _ => pass(Row::Scope(&read::<ScopeRecord>(&document))),
    }
}
