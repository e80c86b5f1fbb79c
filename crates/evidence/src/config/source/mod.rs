//! `sources`: which sources there are. Each has a file of its own; a new one is that file and a line here.

pub(super) mod codehost;

use super::Sources;
use super::declare::{Key, Planned, Presence, Section, Shape};
use super::decode::{Decoder, Fields};
use crate::control::Control;

static CODEHOST: Key = Key {
    name: "codehost",
    presence: Presence::Optional,
    shape: Shape::Section(&codehost::SECTION),
    summary: codehost::SECTION.summary,
    rule: "",
    example: "",
    synonyms: &["github", "gh", "code_host", "git", "githost", "scm", "vcs"],
};

/// `sources`
pub(super) static SECTION: Section = Section {
    path: "sources",
    summary: "Where evidence comes from.",
    keys: &[&CODEHOST],
    exactly_one: &[],
    planned: &[
        Planned {
            name: "cloud",
            synonyms: &["aws", "amazon"],
            message: "the source `cloud` is known, but this version does not collect from it yet",
        },
        Planned {
            name: "altcloud",
            synonyms: &["alt_cloud", "gcp", "google", "gsuite", "workspace", "google_workspace"],
            message: "the source `altcloud` is known, but this version does not collect from it yet",
        },
    ],
    not_empty: true,
};

/// The sources; `controls` is the top-level list, if it is good.
pub(super) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    controls: Option<&[Control]>,
) -> Option<Sources> {
    let codehost = match decoder.section(fields, &CODEHOST) {
        Some(fields) => Some(codehost::decode(decoder, &fields, controls)?),
        None => None,
    };
    Some(Sources { codehost })
}
