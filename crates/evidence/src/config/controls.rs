//! Keys that hold controls, and the rules these controls need.

use evidence_settings::declare::{Key, Vocabulary};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;

use crate::framework::{self, Control};
use crate::rule::Rule;

/// The controls that a key accepts.
pub(crate) const fn controls_of(taken: fn() -> Vec<&'static str>) -> Vocabulary {
    Vocabulary {
        noun: "control",
        known: all,
        taken,
        refusal: "this source cannot serve",
        offer: "it can serve",
    }
}

/// Every control.
pub(crate) fn all() -> Vec<&'static str> {
    framework::controls().map(|control| control.id).collect()
}

/// The controls that use any of `rules`.
pub(crate) fn served_by(rules: &[&Rule]) -> Vec<&'static str> {
    let served = |control: &&Control| rules.iter().any(|rule| control.rests_on(rule));
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
    top_level: Option<&[&'static Control]>,
) -> Option<Vec<&'static Rule>> {
    let own = controls(decoder, fields, key);
    let controls = if fields.has(key) { own? } else { top_level?.to_vec() };
    let is_wanted = |rule: &&&Rule| controls.iter().any(|control| control.rests_on(rule));
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
