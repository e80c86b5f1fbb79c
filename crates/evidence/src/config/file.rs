//! The file as a whole: `framework`, `controls`, `sources`, `bundle`, `upload`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence_bundle::document::Cadence;
use evidence_os::shell;
use evidence_settings::declare::{Document, Format, LINE, PATH, Section, Shape, Vocabulary};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::keys;

use super::bundle::BundleConfig;
use super::controls::{Applied, RuleChoice, all, controls, controls_of};
use super::notify::NotifyConfig;
use super::period::{self, Period};
use super::upload::UploadConfig;
use super::{Config, bundle, notify, rules, sources, upload};
use crate::source::Source;
use evidence_rules::framework::{self, Control, Framework};
use evidence_rules::rule::Settings;

keys! {
    FRAMEWORK = required("framework", Shape::Text(Format::Choice(framework::IDS)),
        "The compliance framework.")
        example "soc2_type1", also &["frameworks", "standard"];
    CONTROLS = required("controls", Shape::EverythingOr(Format::Word(&ALL_CONTROLS)),
        "The controls to collect evidence for; `\"*\"` for all that the configured sources serve.")
        rule "controls of the framework, at least one, each once", example "[CC6.1, CC6.6, CC7.2]", also &["criteria"];
    PREPARED_BY = optional("prepared_by", LINE,
        "Who prepares the bundle, for `run.json`: a name, a role or a team.")
        example "Platform team, on behalf of the CISO", also &["preparer", "prepared", "author"];
    CADENCE = optional("cadence",
        Shape::OrSection { plain: &Shape::Text(Format::Choice(&["daily", "weekly"])), section: &CADENCE_SECTION },
        "How often a bundle is expected, for `evidence history`: daily, weekly, or in every number of hours. It starts no run.")
        example "daily", also &["schedule", "frequency", "interval"];
    HOURS = required("hours", Shape::Integer { minimum: 1, maximum: 8_784 },
        "The number of hours in which one bundle is expected.")
        example "6", also &["hour"];
    WAIVERS = optional("waivers", PATH,
        "A YAML file with failures that management accepts for a while: see `docs/waivers.md`. A waiver changes no result. `evidence waivers check` validates the file and shows what would apply.")
        example "waivers.yaml", also &["waiver", "exceptions", "suppressions", "accepted_risks"];
    PEOPLE = optional_section("people", &PEOPLE_SECTION)
        also &["persons", "identities"];
    MAP = required("map", PATH,
        "A CSV file with a column per source id and a row per person, for `leavers-removed` of `tsc_2017`: see `docs/sources/altcloud.md`.")
        example "people.csv", also &["file", "csv", "path"];
    PERIOD = optional_section("period", &period::SECTION)
        also &["window", "timeframe"];
    RULES = optional_section("rules", &rules::SECTION)
        also &["rule"];
    SOURCES = section("sources", &sources::SECTION)
        rule "at least one", also &["connectors", "providers"];
    BUNDLE = section("bundle", &bundle::SECTION);
    UPLOAD = optional_section("upload", &upload::SECTION)
        rule "required with `--upload`; always checked if present", also &["platform"];
    NOTIFY = optional_section("notify", &notify::SECTION)
        also &["notifications", "healthchecks", "ping"];
}

/// `cadence`, as a mapping
static CADENCE_SECTION: Section =
    Section::new("cadence", "How often a bundle is expected, in hours.", &[&HOURS]);

/// `people`
static PEOPLE_SECTION: Section =
    Section::new("people", "Who is who at the sources: without it, `leavers-removed` does not run.", &[&MAP]);

/// Every control.
static ALL_CONTROLS: Vocabulary = controls_of(all);

/// `evidence.yaml`
pub(crate) static DOCUMENT: Document = Document {
    title: "evidence configuration",
    file_name: "evidence.yaml",
    help_missing: "create one with `evidence init`, or name another file with `--config`",
    help_directory: |inside| format!("name the file in it, for example `--config {}`", shell::path(inside)),
    help_empty: "create a commented one with `evidence init`",
    help_too_large: "use `repos: \"*\"` in place of a very long list",
    template_head: TEMPLATE_HEAD,
    template_active: &["sources.codehost", "sources.codehost.branch", "bundle.signing.private_key_path"],
    root: &SECTION,
};

const TEMPLATE_HEAD: &str = "\
# Configuration of the evidence tool.
#
# Lines like this one are comments. A line like \"#revalidate: false\" is a setting with its default, or with an
# example if it has no default: remove the \"#\" to use it.
# A relative path starts at the directory of this file, not at the working directory.
# Never write a secret in this file, only the names of the environment variables that hold secrets.
# `evidence schema` prints every key with its rules as a JSON Schema for editors.
";

/// The whole file.
static SECTION: Section = Section::new(
    "",
    "Configuration of the evidence tool: what to collect, from where, and how to sign and deliver it.",
    &[
        &FRAMEWORK,
        &CONTROLS,
        &PREPARED_BY,
        &CADENCE,
        &WAIVERS,
        &PEOPLE,
        &PERIOD,
        &RULES,
        &SOURCES,
        &BUNDLE,
        &UPLOAD,
        &NOTIFY,
    ],
);

/// The parts of a configuration that come from the text of the file.
struct FileSettings {
    framework: &'static Framework,
    controls: Vec<&'static Control>,
    prepared_by: Option<String>,
    cadence: Option<Cadence>,
    waivers: Option<PathBuf>,
    people: Option<PathBuf>,
    settings: Settings,
    choice: RuleChoice,
    sources: Vec<Arc<dyn Source>>,
    bundle: BundleConfig,
    upload: Option<UploadConfig>,
    notify: NotifyConfig,
}

/// The configuration, if the file has no problems.
pub(crate) fn decode(
    decoder: &mut Decoder<'_, '_>,
    fields: &Fields,
    path: &Path,
    file_sha256: String,
) -> Option<Config> {
    let parts = parts(decoder, fields)?;
    let FileSettings {
        framework,
        controls,
        prepared_by,
        cadence,
        waivers,
        people,
        settings,
        choice,
        sources,
        bundle,
        upload,
        notify,
    } = parts;
    Some(Config {
        path: path.to_path_buf(),
        file_sha256,
        prepared_by,
        cadence,
        framework,
        controls,
        waivers,
        people,
        settings,
        choice,
        sources,
        bundle,
        upload,
        notify,
    })
}

fn parts(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<FileSettings> {
    // Decode every part before unwrapping any, so that all problems are found.
    let framework = decoder.text(fields, &FRAMEWORK).and_then(|text| Framework::from_id(&text.value));
    decoder.context = framework.map_or("", |framework| framework.id);
    let (mut controls, everything) = controls(decoder, fields, &CONTROLS, framework).unzip();
    let prepared_by = decoder.text(fields, &PREPARED_BY).map(|text| text.value);
    let cadence = cadence(decoder, fields);
    let waivers = decoder.path(fields, &WAIVERS);
    let people = decoder.section(fields, &PEOPLE).map(|fields| decoder.path(&fields, &MAP));
    let settings = match decoder.section(fields, &RULES) {
        Some(fields) => rules::decode(decoder, &fields, framework),
        None => Some((Settings::default(), RuleChoice::default())),
    };
    let (settings, choice) = settings.unzip();
    let period = match decoder.section(fields, &PERIOD) {
        Some(fields) => period::decode(decoder, &fields),
        None => Some(Period::usual(decoder.now)),
    };
    let applied = Applied {
        // A period that is wrong is reported; the sources are decoded to find their problems too.
        period: period.unwrap_or_else(|| Period::usual(decoder.now)),
        has_map: people.is_some(),
        framework,
        controls: controls.as_deref(),
        settings: settings.clone().unwrap_or_default(),
        choice: choice.clone().unwrap_or_default(),
    };
    let sources = decoder.section(fields, &SOURCES).map(|fields| sources::decode(decoder, &fields, &applied));
    if everything == Some(true)
        && let (Some(controls), Some(Some(sources))) = (&mut controls, &sources)
    {
        controls.retain(|control| sources.iter().any(|source| serves(&**source, control)));
    }
    let bundle = decoder.section(fields, &BUNDLE).map(|fields| bundle::decode(decoder, &fields));
    let upload = decoder.section(fields, &UPLOAD).map(|fields| upload::decode(decoder, &fields));
    let notify = match decoder.section(fields, &NOTIFY) {
        Some(fields) => notify::decode(decoder, &fields),
        None => NotifyConfig::default(),
    };
    Some(FileSettings {
        framework: framework.filter(|_| period.is_some())?,
        controls: controls?,
        prepared_by,
        cadence: cadence?,
        waivers,
        people: people.flatten(),
        settings: settings?,
        choice: choice?,
        sources: sources??,
        bundle: bundle??,
        upload: upload.flatten(),
        notify,
    })
}

/// Whether a source applies a rule of the control.
fn serves(source: &dyn Source, control: &Control) -> bool {
    source.rules().iter().any(|rule| control.uses(rule))
}

/// `None` if the value is wrong; `Some(None)` without one.
fn cadence(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Option<Cadence>> {
    if !fields.has(&CADENCE) {
        return Some(None);
    }
    if fields.has_mapping(&CADENCE) {
        let fields = decoder.section(fields, &CADENCE)?;
        return decoder.integer(&fields, &HOURS).map(|hours| Some(Cadence::Hours(hours)));
    }
    let word = decoder.text(fields, &CADENCE)?;
    Some(Some(if word.value == "weekly" { Cadence::Weekly } else { Cadence::Daily }))
}
