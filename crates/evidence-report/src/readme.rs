//! `derived/README.txt`: what the bundle is and how to check it, for a reader without the program.

use std::io::{self, Write};

use askama::Template;
use evidence_bundle::document::{RuleRecord, ScopeRecord};
use evidence_bundle::path::{POPULATION, SCOPE};
use evidence_view::{sanitized, scope, waivers};
use serde::de::IgnoredAny;

use crate::documents::{self, Documents, whole};
use crate::origin::{CRITERIA, PROJECT, listed, purpose};
use crate::shared::Shared;
use crate::template;

/// The column of the values.
const VALUE: usize = 15;
/// The column of a rule's texts.
const SHEET: usize = 15;
/// The column of the key, which is longer than other values.
const KEY: usize = 2;
/// The width of a line.
const COLUMNS: usize = 80;

/// ASCII, at most 80 columns, so that every system shows the file correctly.
#[derive(Template)]
#[template(path = "README.txt", escape = "none")]
struct Readme {
    purpose: String,
    project: &'static str,
    rules: Vec<RuleSheet>,
    scopes: Vec<String>,
    organization: String,
    bundle_id: String,
    created_at: String,
    tool: String,
    key_id: String,
    complete: bool,
    /// How many failures have a waiver, if the bundle has waivers.
    accepted: Option<String>,
    /// Whether the controls are the tool's own, and not the criteria of the framework.
    own_identifiers: bool,
    /// The criteria without automated evidence; empty if there are none.
    without_evidence: String,
    /// The rules that the configuration leaves out; empty if there are none.
    left_out: String,
}

/// What a rule reads, judges and does not check.
struct RuleSheet {
    name: String,
    reads: String,
    expected: String,
    not_checked: String,
}

impl RuleSheet {
    fn new(rule: &RuleRecord) -> RuleSheet {
        let text = |text: &str| wrapped(&sanitized(text), SHEET);
        RuleSheet {
            name: wrapped(&format!("{} (control {}, version {})", rule.code, rule.control, rule.version), 0),
            reads: text(&rule.reads),
            expected: text(&format!("requires: {}", rule.expected)),
            not_checked: text(&rule.not_checked),
        }
    }
}

pub(crate) fn write(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    let manifest = shared.head(documents)?;
    let population: evidence_bundle::document::Population<IgnoredAny> = whole(documents, POPULATION)?;
    let scope: ScopeRecord = whole(documents, SCOPE)?;
    let waivers = documents::waivers(documents)?;
    let readme = Readme {
        purpose: wrapped(&purpose(&manifest.framework), 0),
        project: PROJECT,
        rules: scope.rules.iter().map(RuleSheet::new).collect(),
        own_identifiers: scope.framework != CRITERIA,
        without_evidence: wrapped(&listed(&scope.criteria_without_evidence), 2),
        left_out: wrapped(&listed(&scope.rules_excluded), 2),
        scopes: population.sources.iter().map(|source| wrapped(&scope::sentence(source), VALUE)).collect(),
        organization: folded(&manifest.organization, VALUE),
        bundle_id: folded(&manifest.bundle_id, VALUE),
        created_at: folded(&format!("{} (claimed by the signer)", manifest.created_at), VALUE),
        tool: folded(&format!("evidence {}", manifest.tool_version), VALUE),
        key_id: folded(&manifest.signer.key_id, KEY),
        complete: manifest.complete,
        accepted: waivers.map(|waivers| wrapped(&waivers::sentence(&waivers.summary), VALUE)),
    };
    template::write(&readme, out)
}

/// The sentence in ASCII, in lines that begin at this column and break between words.
fn wrapped(text: &str, column: usize) -> String {
    let mut lines = String::new();
    let mut used = column;
    // `folded` breaks a word that is longer than a line.
    let text: String = text.split(' ').map(|word| folded(word, column) + " ").collect();
    for word in text.split_whitespace() {
        if used > column && used + 1 + word.len() > COLUMNS {
            lines.push('\n');
            lines.push_str(&" ".repeat(column));
            used = column;
        } else if used > column {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += word.len();
    }
    lines
}

/// The text in ASCII, in lines that begin at this column and end before the last one.
fn folded(text: &str, column: usize) -> String {
    let mut folded = String::new();
    let mut used = column;
    for character in sanitized(text).chars() {
        let shown =
            if character.is_ascii() { character.to_string() } else { character.escape_unicode().to_string() };
        if used + shown.len() > COLUMNS {
            folded.push('\n');
            folded.push_str(&" ".repeat(column));
            used = column;
        }
        used += shown.len();
        folded.push_str(&shown);
    }
    folded
}
