//! `derived/report.html`: one file without script, links to the outside, or anything else that could change.

mod checks;
mod evidence;
mod hints;
mod looks;
mod population;
mod settings;

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::document::{Counts, ErrorRecord, Excluded, RunRecord, ScopeRecord, SourceRun, Warning};
use evidence_bundle::path::{RUN, SCOPE};
use evidence_view::{First, ManifestHead, sanitized, words};

use self::checks::{ControlSection, Sections};
use self::looks::Looks;
use self::population::SourcePart;
use self::settings::{RulePart, SettingsPart};
use crate::documents::{Documents, head, whole};

/// The page. Texts of the bundle in it are sanitized; the template escapes them.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: Title,
    controls: Vec<ControlSection>,
    counts: Counts,
    /// How many checks there are.
    total: u64,
    sources: Vec<SourcePart>,
    errors: First<ErrorRecord>,
    excluded: First<Excluded>,
    warnings: First<Warning>,
    looks: Looks,
    settings: Vec<SettingsPart>,
    rules: Vec<RulePart>,
    /// Whether some groups of checks list only their first rows.
    shortened: bool,
}

/// What the report is about, and whose it is.
struct Title {
    organization: String,
    framework: String,
    created_at: String,
    started_at: String,
    completed_at: String,
    fixed_time: bool,
    tool: String,
    hostname: String,
    command: String,
    configuration: String,
    configuration_sha256: String,
    key_id: String,
    bundle_id: String,
    complete: bool,
    sources: Vec<String>,
    exit_code: u8,
}

impl Title {
    fn new(manifest: &ManifestHead, run: &RunRecord) -> Title {
        let tool = &run.tool;
        let commit = tool.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
        let scopes = |source: &SourceRun| {
            let login = source.identity.login.as_deref().unwrap_or("not reported");
            format!("{} at {}, as {login}", source.name, source.api_url)
        };
        Title {
            organization: sanitized(&manifest.organization),
            framework: framework(&manifest.framework),
            created_at: sanitized(&manifest.created_at),
            started_at: sanitized(&run.started_at),
            completed_at: sanitized(&run.completed_at),
            fixed_time: run.source_date_epoch.is_some(),
            tool: sanitized(&format!("{} {}{commit}", tool.name, tool.version)),
            hostname: sanitized(&run.hostname),
            command: sanitized(&run.command.join(" ")),
            configuration: sanitized(&run.config.path),
            configuration_sha256: sanitized(&run.config.sha256),
            key_id: sanitized(&manifest.signer.key_id),
            bundle_id: sanitized(&manifest.bundle_id),
            complete: manifest.complete,
            sources: run.sources.iter().map(|source| sanitized(&scopes(source))).collect(),
            exit_code: run.exit_code,
        }
    }
}

/// The name of a framework as people write it.
fn framework(id: &str) -> String {
    match id {
        "soc2_type1" => "SOC 2 Type 1".to_owned(),
        _ => sanitized(id),
    }
}

/// Writes the page.
pub(crate) fn write(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let manifest = head(documents)?;
    let run: RunRecord = whole(documents, RUN)?;
    let scope: ScopeRecord = whole(documents, SCOPE)?;
    let mut sections = Sections::read(documents)?;
    hints::add(documents, &mut sections)?;
    let looks = Looks::read(documents, &mut sections)?;
    let page = Page {
        title: Title::new(&manifest, &run),
        counts: sections.counts(),
        total: sections.total(),
        shortened: sections.shortened(),
        rules: settings::rules(&scope, &sections),
        settings: settings::sources(scope),
        sources: population::sources(documents, run.sources)?,
        errors: manifest.left_out.errors,
        excluded: manifest.left_out.excluded,
        warnings: manifest.left_out.warnings,
        controls: sections.into_controls(),
        looks,
    };
    page.write_into(&mut io::BufWriter::new(out))
}
