//! `sources`: the configured sources. Each declares its keys in its own folder; they are listed in
//! [`KINDS`](crate::source::KINDS).

use std::sync::Arc;

use super::controls::Applied;
use crate::source::{KEYS, KINDS, Source};
use evidence_settings::declare::Section;
use evidence_settings::decode::{Decoder, Fields};

/// `sources`
pub(crate) static SECTION: Section = Section::new("sources", "Where evidence comes from.", KEYS).not_empty();

/// The sources, under what the rest of the file says about rules.
pub(crate) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    applied: &Applied<'_>,
) -> Option<Vec<Arc<dyn Source>>> {
    let mut sources = Vec::new();
    for (kind, key) in KINDS.iter().zip(KEYS) {
        if let Some(fields) = decoder.section(fields, key) {
            // Decode every source before unwrapping any, so that all problems are found.
            sources.push((kind.decode)(decoder, &fields, applied));
        }
    }
    sources.into_iter().collect()
}
