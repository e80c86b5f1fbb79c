//! The file as a whole: `framework`, `controls`, `sources`, `bundle`, `upload`.

use std::path::Path;
use std::sync::Arc;

use super::declare::{Format, Key, Presence, Section, Shape, sections};
use super::decode::{Decoder, Fields};
use super::problem::Complaint;
use super::{BundleConfig, Config, UploadConfig, bundle, secret, sources, suggest, upload};
use crate::control::{Control, Framework};
use crate::source::Configured;

static FRAMEWORK: Key = Key {
    name: "framework",
    presence: Presence::Required,
    shape: Shape::Text(Format::Choice(&[Framework::Soc2Type1.id()])),
    summary: "The compliance framework.",
    rule: "",
    example: "soc2_type1",
    synonyms: &["frameworks", "standard"],
};

static CONTROLS: Key = Key {
    name: "controls",
    presence: Presence::Required,
    shape: Shape::List { of: Format::Control(Control::ALL), may_be_empty: false },
    summary: "The controls to collect evidence for.",
    rule: "at least one, each once",
    example: "[CC6.1, CC6.6, CC7.2]",
    synonyms: &["criteria"],
};

static SOURCES: Key = Key {
    name: "sources",
    presence: Presence::Required,
    shape: Shape::Section(&sources::SECTION),
    summary: sources::SECTION.summary,
    rule: "at least one",
    example: "",
    synonyms: &["connectors", "providers"],
};

static BUNDLE: Key = Key {
    name: "bundle",
    presence: Presence::Required,
    shape: Shape::Section(&bundle::SECTION),
    summary: bundle::SECTION.summary,
    rule: "",
    example: "",
    synonyms: &[],
};

static UPLOAD: Key = Key {
    name: "upload",
    presence: Presence::Optional,
    shape: Shape::Section(&upload::SECTION),
    summary: upload::SECTION.summary,
    rule: "required with `--upload`; checked whenever it is there",
    example: "",
    synonyms: &["platform"],
};

/// The whole file.
pub(crate) static SECTION: Section = Section {
    path: "",
    summary: "Configuration of the evidence tool: what to collect, from where, and how to sign and deliver it.",
    keys: &[&FRAMEWORK, &CONTROLS, &SOURCES, &BUNDLE, &UPLOAD],
    exactly_one: &[],
    planned: &[],
    not_empty: false,
};

/// The parts of a configuration that come from the text of the file.
struct Parts {
    framework: Framework,
    controls: Vec<Control>,
    sources: Vec<Arc<dyn Configured>>,
    bundle: BundleConfig,
    upload: Option<UploadConfig>,
}

/// The configuration, if the file has no problem.
pub(crate) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    path: &Path,
    sha256: String,
) -> Option<Config> {
    let parts = parts(decoder, fields)?;
    let Parts { framework, controls, sources, bundle, upload } = parts;
    Some(Config { path: path.to_path_buf(), sha256, framework, controls, sources, bundle, upload })
}

fn parts(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Parts> {
    // Each part is read before any is asked for, so that all their problems are found.
    let framework = decoder.text(fields, &FRAMEWORK).and_then(|text| Framework::from_id(&text.value));
    let controls = controls(decoder, fields, &CONTROLS);
    let sources = decoder
        .section(fields, &SOURCES)
        .map(|fields| sources::decode(decoder, &fields, controls.as_deref()));
    let bundle = decoder.section(fields, &BUNDLE).map(|fields| bundle::decode(decoder, &fields));
    let upload = decoder.section(fields, &UPLOAD).map(|fields| upload::decode(decoder, &fields));
    Some(Parts {
        framework: framework?,
        controls: controls?,
        sources: sources??,
        bundle: bundle??,
        upload: upload.flatten(),
    })
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

/// What to say about a key that a section does not have, and the key of the section it was meant to be, if any.
pub(crate) fn advice(section: &'static Section, name: &str) -> (String, Option<&'static Key>) {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    let named = |synonyms: &[&str]| synonyms.contains(&lower.as_str());
    if let Some(key) = section.keys.iter().find(|key| named(key.synonyms)) {
        return (meant(key), Some(key));
    }
    if let Some(planned) = section.planned.iter().find(|planned| named(planned.synonyms)) {
        return (format!("did you mean `{}`? {}", planned.name, planned.message), None);
    }
    // A name that another section has, letter for letter, is in the wrong place rather than misspelt.
    let all = sections(&SECTION);
    if let Some(home) = all.iter().find(|home| home.key(name).is_some()) {
        let home = match home.path {
            "" => "the top level of the file".to_owned(),
            path => format!("`{path}`"),
        };
        return (format!("`{name}` belongs in {home}; check the indentation"), None);
    }
    let near =
        suggest::nearest(name, section.keys.iter().map(|key| key.name)).and_then(|near| section.key(near));
    if let Some(near) = near {
        return (meant(near), Some(near));
    }
    let mut advice = section.keys_in_words();
    if secret::names_secret(name) {
        advice
            .push_str("; a secret is never written in the file, only the name of the variable that holds it");
    }
    (advice, None)
}

fn meant(key: &Key) -> String {
    match key.shape {
        Shape::Text(Format::Variable) => format!(
            "did you mean `{}`? it names the environment variable; the file never holds the secret itself",
            key.name
        ),
        _ => format!("did you mean `{}`?", key.name),
    }
}

/// The complaint about a file with no value at all.
pub(crate) fn no_settings() -> Complaint {
    Complaint::new("the file has no settings").help("`evidence init` writes a commented one to start from")
}
