//! Keys that hold controls.

use evidence_settings::declare::{Key, Vocabulary};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;

use crate::control::Control;

/// The controls that one key takes.
pub(crate) const fn controls_of(taken: &'static [&'static str]) -> Vocabulary {
    Vocabulary {
        noun: "control",
        known: Control::IDS,
        taken,
        refusal: "this source cannot serve",
        offer: "it can serve",
    }
}

/// A list of controls, in the order documents list them.
pub(crate) fn controls(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
) -> Option<Vec<Control>> {
    let mut controls: Vec<Control> =
        decoder.list(fields, key)?.iter().filter_map(|text| Control::from_id(&text.value)).collect();
    controls.sort_unstable();
    Some(controls)
}

/// The controls of one source: its own list, or the top-level one as far as it serves it.
pub(crate) fn of_source(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    served: &[Control],
    top_level: Option<&[Control]>,
) -> Option<Vec<Control>> {
    let own = controls(decoder, fields, key);
    if fields.has(key) {
        return own;
    }
    let controls: Vec<Control> =
        top_level?.iter().copied().filter(|control| served.contains(control)).collect();
    if controls.is_empty() {
        let served = served.iter().map(|control| control.id()).collect::<Vec<_>>().join(", ");
        let complaint = Complaint::new(
            "none of the top-level `controls` is served by this source, which would collect nothing",
        )
        .help(format!("add one of {served} to `controls`, or remove the source"));
        decoder.problems.add(fields.place(), fields.path(), complaint);
        return None;
    }
    Some(controls)
}
