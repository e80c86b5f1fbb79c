//! `derived/report.html`: one file without scripts, external links or any other changing part.

mod accepted;
mod bar;
mod checks;
mod evidence;
mod hints;
mod missing;
mod observations;
mod population;
mod questions;
mod room;
mod settings;
mod text;

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::document::{Counts, RunRecord, ScopeRecord, SourceRun};
use evidence_bundle::path::{RUN, SCOPE};
use evidence_view::{ListRow, ManifestHead, sanitized, words};

use self::accepted::Accepted;
use self::checks::{Listed, Sections};
use self::missing::{Gathered, Missing};
use self::observations::Observations;
use self::population::Population;
use self::questions::{Parts, Question};
use self::room::Room;
use self::settings::{RulePart, SettingsPart};
use crate::documents::{Documents, waivers, whole};
use crate::origin::{CRITERIA, PROJECT, purpose};
use crate::shared::Shared;
use crate::template;

/// The page. The texts from the bundle are sanitized, and the template escapes them.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: Title,
    questions: Vec<Question>,
    listed: Listed,
    counts: Counts,
    /// The number of checks.
    total: u64,
    population: Population,
    /// The lists that auditors draw samples from.
    lists: Vec<ListRow>,
    missing: Missing,
    /// The waivers, if the bundle has them.
    accepted: Option<Accepted>,
    observations: Observations,
    /// How the requests add up.
    reconciled: String,
    settings: Vec<SettingsPart>,
    rules: Vec<RulePart>,
    /// The criteria without evidence, and the rules that were taken in or left out: names and values.
    choice: Vec<(&'static str, String)>,
    /// Whether the controls are the tool's own, and not the criteria of the framework.
    own_identifiers: bool,
    /// Whether some groups of checks list only their first rows.
    shortened: bool,
    /// How many controls the page has no room for.
    more_controls: u64,
    /// How many settings and rules the page has no room for.
    more_settings: u64,
}

/// The subject and the origin of the report.
struct Title {
    organization: String,
    /// What the evidence is for, and what it is not.
    purpose: String,
    created_at: String,
    /// The same in the manifest's form.
    created_exactly: String,
    /// When it was collected, as in "on this day, from then to then".
    collected: String,
    fixed_time: bool,
    /// Who prepared it, if the configuration names anyone.
    prepared_by: Option<String>,
    tool: String,
    /// The machine, unless the run is reproducible: its name, and its system.
    machine: Option<(String, String)>,
    command: Option<String>,
    configuration: Option<String>,
    configuration_sha256: String,
    key_id: String,
    bundle_id: String,
    complete: bool,
    sources: Vec<SourceTitle>,
    /// How many sources the page has no room for.
    more_sources: u64,
    exit_code: u8,
    /// The number of requested settings.
    requested: u64,
}

/// A source, and the account that read it.
struct SourceTitle {
    name: String,
    address: String,
    login: Option<String>,
    scopes: String,
}

impl SourceTitle {
    fn new(source: &SourceRun) -> SourceTitle {
        SourceTitle {
            name: sanitized(&source.name),
            address: sanitized(&source.api_url),
            login: source.identity.login.as_deref().map(sanitized),
            scopes: sanitized(&source.identity.scopes),
        }
    }
}

impl Title {
    fn new(manifest: &ManifestHead, run: &RunRecord, room: &mut Room) -> Title {
        let mut sources: Vec<SourceTitle> = run.sources.iter().map(SourceTitle::new).collect();
        // The name is there three times, the account twice.
        let more_sources = room.keep(&mut sources, 600, |source| {
            let login = source.login.as_deref().unwrap_or_default();
            vec![&source.name, &source.name, &source.name, &source.address, login, login, &source.scopes]
        });
        let tool = &run.tool;
        let commit = tool.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
        Title {
            organization: sanitized(&manifest.organization),
            purpose: purpose(&manifest.framework),
            created_at: text::time(&manifest.created_at),
            created_exactly: sanitized(&manifest.created_at),
            collected: text::span(&run.started_at, &run.completed_at),
            fixed_time: run.source_date_epoch.is_some(),
            prepared_by: run.prepared_by.as_deref().map(sanitized),
            tool: sanitized(&format!("{} {}{commit}", tool.name, tool.version)),
            machine: run.hostname.as_deref().map(sanitized).zip(run.platform.as_deref().map(sanitized)),
            command: run.command.as_ref().map(|words| sanitized(&words.join(" "))),
            configuration: run.config.path.as_deref().map(sanitized),
            configuration_sha256: sanitized(&run.config.sha256),
            key_id: sanitized(&manifest.signer.key_id),
            bundle_id: sanitized(&manifest.bundle_id),
            complete: manifest.complete,
            sources,
            more_sources,
            exit_code: run.exit_code,
            requested: run.sources.iter().map(|source| source.requested).fold(0, u64::saturating_add),
        }
    }

    /// The bundle's id for the style sheet, if it needs no escaping there.
    fn footer_id(&self) -> Option<&str> {
        let plain = |id: &&str| id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        Some(self.bundle_id.as_str()).filter(plain)
    }
}

/// Writes the page.
pub(crate) fn write(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    // No table comes after the page.
    shared.drop_requests();
    let manifest = shared.head(documents)?;
    let run: RunRecord = whole(documents, RUN)?;
    let scope: ScopeRecord = whole(documents, SCOPE)?;
    let waivers = waivers(documents)?;
    let accepted = waivers.as_ref().map(Accepted::new);
    let mut sections = Sections::read(documents, waivers)?;
    hints::add(documents, &mut sections)?;
    let mut missing = Gathered::default();
    let observations = Observations::read(documents, &mut sections, &mut missing)?;
    let missing = missing.with(documents, &sections)?;
    let mut room = Room::new(room::SETTINGS);
    let title = Title::new(manifest, &run, &mut room);
    let (rules, more_rules) = settings::rules(&scope, &sections, &mut room);
    let choice = settings::choice(&scope);
    let own_identifiers = scope.framework != CRITERIA;
    let reconciled = observations.reconciled(&run.sources);
    let population = Population::read(documents, run.sources)?;
    let (settings, more_settings) = settings::sources(scope, &mut room);
    let parts = Parts {
        title: &title,
        population: &population,
        observations: &observations,
        missing: &missing,
        settings: &settings,
        checks: sections.total(),
    };
    let page = Page {
        questions: questions::questions(&parts),
        title,
        counts: sections.counts(),
        total: sections.total(),
        shortened: sections.shortened(),
        more_controls: sections.more_controls(),
        more_settings: more_settings.saturating_add(more_rules),
        rules,
        choice,
        own_identifiers,
        population,
        lists: observations.lists.rows(),
        settings,
        missing,
        accepted,
        listed: sections.into_listed(),
        observations,
        reconciled,
    };
    template::write(&page, out)
}
