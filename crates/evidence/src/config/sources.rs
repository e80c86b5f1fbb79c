//! `sources`: which sources are configured. Each declares its keys in its own folder; the list of them is
//! [`KINDS`](crate::source::KINDS).

use std::sync::Arc;

use super::file;
use crate::control::Control;
use crate::source::{Configured, KEYS, KINDS};
use evidence_settings::declare::{Key, Section};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::problem::Complaint;

/// `sources`
pub(crate) static SECTION: Section = Section {
    path: "sources",
    summary: "Where evidence comes from.",
    keys: KEYS,
    exactly_one: &[],
    planned: &[],
    not_empty: true,
};

/// The sources; `controls` is the top-level list, if it is good.
pub(crate) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    controls: Option<&[Control]>,
) -> Option<Vec<Arc<dyn Configured>>> {
    let mut sources = Vec::new();
    for (kind, key) in KINDS.iter().zip(KEYS) {
        if let Some(fields) = decoder.section(fields, key) {
            // Each is decoded before any is asked for, so that all their problems are found.
            sources.push((kind.decode)(decoder, &fields, controls));
        }
    }
    sources.into_iter().collect()
}

/// The controls of one source: its own list, or the top-level one as far as it serves it.
pub(crate) fn controls(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    key: &'static Key,
    served: &[Control],
    top_level: Option<&[Control]>,
) -> Option<Vec<Control>> {
    let own = file::controls(decoder, fields, key);
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
