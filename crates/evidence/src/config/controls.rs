//! Keys that hold controls, and the rules these controls need.

use evidence_settings::declare::{Key, Vocabulary};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

use evidence_rules::framework::{self, Control, Mapping};
use evidence_rules::rule::{Rule, Settings};

/// What the file says about rules outside the sources.
#[derive(Debug)]
pub(crate) struct Applied<'a> {
    /// The top-level list of controls, if it is valid.
    pub(crate) controls: Option<&'a [&'static Control]>,
    /// The numbers that the rules judge by.
    pub(crate) settings: Settings,
}

/// The controls that a key accepts.
pub(crate) const fn controls_of(taken: fn() -> Vec<&'static str>) -> Vocabulary {
    Vocabulary {
        noun: "control",
        known: all,
        taken,
        refusal: "this source cannot serve",
        offer: "it can serve",
        elsewhere: criterion,
    }
}

/// Advice for a criterion that is not a control: the controls that collect the evidence filed under it.
fn criterion(text: &str) -> Option<String> {
    let (series, number) = text.split_once('.')?;
    let letters = series.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_criterion = ["CC", "A", "C", "PI", "P"].iter().any(|known| letters.eq_ignore_ascii_case(known))
        && letters.len() < series.len()
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_criterion || framework::controls().any(|control| control.id.eq_ignore_ascii_case(text)) {
        return None;
    }
    let (mut controls, mut rules) = (Vec::new(), Vec::new());
    for control in framework::controls() {
        let filed =
            |mapping: &&Mapping| mapping.criteria.iter().any(|known| known.eq_ignore_ascii_case(text));
        let found: Vec<&str> = control.rules.iter().filter(filed).map(|mapping| mapping.rule.code).collect();
        if !found.is_empty() {
            controls.push(control.id);
            rules.extend(found);
        }
    }
    let text = quote(text);
    Some(match controls.is_empty() {
        false => format!(
            "write `controls: [{}]`: evidence that is filed under {text} ({}) is collected there",
            controls.join(", "),
            rules.join(", ")
        ),
        true => format!("no rule collects evidence for {text}; the controls are {}", all().join(", ")),
    })
}

/// Every control.
pub(crate) fn all() -> Vec<&'static str> {
    framework::controls().map(|control| control.id).collect()
}

/// The controls that use any of `rules`.
pub(crate) fn served_by(rules: &[&Rule]) -> Vec<&'static str> {
    let served = |control: &&Control| rules.iter().any(|rule| control.uses(rule));
    framework::controls().filter(served).map(|control| control.id).collect()
}

/// A list of controls, in document order.
pub(crate) fn controls(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
) -> Option<Vec<&'static Control>> {
    let named = decoder.list(fields, key)?;
    let is_named = |control: &&Control| named.iter().any(|text| text.value == control.id);
    Some(framework::controls().filter(is_named).collect())
}

/// The rules of one source to evaluate: those of the controls in its own list, else in the top-level list.
pub(crate) fn wanted(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    rules: &[&'static Rule],
    applied: &Applied<'_>,
) -> Option<Vec<&'static Rule>> {
    let own = controls(decoder, fields, key);
    let controls = if fields.has(key) { own? } else { applied.controls?.to_vec() };
    let is_wanted = |rule: &&&Rule| controls.iter().any(|control| control.uses(rule));
    let wanted: Vec<&'static Rule> = rules.iter().filter(is_wanted).copied().collect();
    if wanted.is_empty() && !fields.has(key) {
        let served = served_by(rules).join(", ");
        let complaint =
            Complaint::new("this source serves none of the top-level `controls` and would collect nothing")
                .help(format!("add one of {served} to `controls`, or remove the source"));
        decoder.problems.add(fields.place(), fields.path(), complaint);
        return None;
    }
    Some(wanted)
}
